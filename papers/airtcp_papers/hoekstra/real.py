"""Reproduce paper H, Fig. 1 to 5, with this machine's kernel TCP, ProFTPD and FTP clients.

`real_points` makes the points; this file draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from airtcp.models.processor_sharing import sojourn_tail
from airtcp.stats import Interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series, chart, table_of
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Data, Value
from airtcp_papers.common.measure import changed, mean
from airtcp_papers.hoekstra.real_points import (
    CONFIDENCE,
    REAL_LAWS,
    REAL_PLACES,
    RealPoint,
    measured,
)
from airtcp_papers.hoekstra.testbed import STATED, FloatArray, service_s, tail

_MOST_FLOWS = 15


def _trust(points: Sequence[RealPoint]) -> str:
    """Summarize how trustworthy the runs are."""
    runs = sum(len(one.runs) for one in points)
    late_us = 1e6 * max(one.late_p99_s for one in points)
    return (
        f"{sum(one.trusted for one in points)} of {runs} runs are to be trusted; 99 % of the "
        f"packets of the latest were at most {late_us:.0f} us late."
    )


@item("H.testbed-means")
def means(bench: Bench) -> Found:
    points = {law: [measured(bench, law, place) for place in REAL_PLACES] for law in REAL_LAWS}
    rhos = np.linspace(points[REAL_LAWS[0]][0].point.rho, points[REAL_LAWS[0]][-1].point.rho, 25)
    refined, basic = (
        service_s("exponential"),
        service_s("exponential", model="basic", beacons=False),
    )
    series = [
        Series("refined model (29)", rhos.tolist(), (1.0 / (1.0 - rhos)).tolist(), "model", 0),
        Series("basic model", rhos.tolist(), _basic(rhos, refined, basic), "dotted", 1),
        _with_acks(list(points.values())),
    ]
    for number, (law, mine) in enumerate(points.items(), 2):
        at = [one.point.rho for one in mine]
        simulated: list[Value] = [_scaled(one.point.adjusted) for one in mine]
        series.append(Series(f"{law}, simulation", at, simulated, "simulation", number))
    for number, (law, mine) in enumerate(points.items(), 2):
        at = [one.point.rho for one in mine]
        real: list[Value] = [_scaled(one.mean_s) for one in mine]
        series.append(Series(f"{law}, testbed", at, real, "points", number))
    every = [one for mine in points.values() for one in mine]
    x, y = "effective load rho_eff", "E[R] / beta_eff"
    return Found(
        data=_rows(points),
        figure=chart(series, x=x, y=y, columns=2),
        values={
            f"over_simulation_{law}_{place + 1}": one.over_simulation
            for law, mine in points.items()
            for place, one in zip(REAL_PLACES, mine, strict=True)
        }
        | {
            f"segments_per_ack_{law}_{place + 1}": one.packets.segments_per_ack
            for law, mine in points.items()
            for place, one in zip(REAL_PLACES, mine, strict=True)
        },
        told={
            "each": "; ".join(
                f"{law} "
                + ", ".join(
                    f"{_percent(one.over_simulation)} (rho_eff {one.point.rho:.2f})" for one in mine
                )
                for law, mine in points.items()
            ),
            "model": "; ".join(
                f"{law} "
                + ", ".join(f"{one.refined_s():.2f} s ({mean(one.mean_s):.2f} s)" for one in mine)
                for law, mine in points.items()
            ),
            "trust_every": _trust(every),
        },
    )


def _with_acks(points: Sequence[Sequence[RealPoint]]) -> Series:
    """Return the refined model with the testbed's ACKs, averaged over laws (it has none)."""
    by_load = list(zip(*points, strict=True))
    at = [same[0].point.rho for same in by_load]
    times = [
        sum(one.refined_s() / service_s(one.point.law) for one in same) / len(same)
        for same in by_load
    ]
    return Series("refined, testbed's ACKs", at, times, "dotted", 0)


def _basic(rhos: FloatArray, refined_s: float, basic_s: float) -> list[float]:
    """Return (29) of the basic model at loads of the refined one, in units of its beta_eff."""
    gaps_s = refined_s / rhos
    found: list[float] = (basic_s / (1.0 - basic_s / gaps_s) / refined_s).tolist()
    return found


def _scaled(value: Interval) -> Interval:
    unit_s = service_s("exponential")
    return changed(value, lambda time_s: time_s / unit_s)


def _percent(ratio: Interval) -> str:
    """Format a ratio minus one as a percentage."""
    half = "" if ratio.half_width is None else f" ± {100 * ratio.half_width:.1f}"
    return f"{100 * (mean(ratio) - 1):+.1f}{half} %"


def _rows(points: Mapping[str, Sequence[RealPoint]]) -> Data:
    """Return the numbers of the figure, one point per row."""
    columns = ["sizes", "1/lambda (s)", "rho_eff", "basic model (s)", "refined model (s)"]
    columns += ["simulation (s)", "low", "high", "testbed (s)", "low ", "high "]
    columns += ["testbed / simulation of its transfers", "low  ", "high  "]
    columns += ["segments for each ACK", "further packets", "refined model with these (s)"]
    columns += ["runs", "trusted", "99 % of packets late by at most (us)"]
    rows = []
    for law, mine in points.items():
        for one in mine:
            basic = service_s(law, model="basic", beacons=False)
            basic_s = basic / (1.0 - basic / one.point.gap_s)
            long, real, ratio = one.point.adjusted, one.mean_s, one.over_simulation
            rows.append(
                [
                    *(law, one.point.gap_s, one.point.rho, basic_s, one.point.model_s),
                    *(long.mean, long.low, long.high, real.mean, real.low, real.high),
                    *(ratio.mean, ratio.low, ratio.high),
                    *(one.packets.segments_per_ack, one.packets.further, one.refined_s()),
                    *(len(one.runs), one.trusted, 1e6 * one.late_p99_s),
                ]
            )
    return Data(columns, rows)


@item("H.testbed-tails")
def tails(bench: Bench) -> Found:
    points = {law: measured(bench, law, STATED) for law in REAL_LAWS}
    at = np.linspace(0.0, 8.0, 33)
    first = points[REAL_LAWS[0]].point
    model = np.asarray(sojourn_tail(at, first.rho, first.beta_s)).tolist()
    series = [Series("(26), exponential", at.tolist(), model, "model", 0)]
    apart = {}
    for number, (law, one) in enumerate(points.items(), 2):
        # Avoid markers of two laws at the same times.
        places = slice(number - 1, None, 3)
        real, simulated = one.tail(at), one.long_tail(at)
        apart[law] = _farthest(real, simulated)
        series += [
            Series(f"{law}, simulation", at.tolist(), simulated, "dotted", number),
            Series(f"{law}, testbed", at[places].tolist(), list(real[places]), "points", number),
        ]
    return Found(
        series,
        values={f"apart_{law}": value for law, value in apart.items()},
        told={"each": _found(points, apart)},
    )


@item("H.testbed-tail-1-MB")
def large(bench: Bench) -> Found:
    one = measured(bench, "deterministic")
    at = np.linspace(0.0, 40.0, 41)
    flows = tail([run.sojourns_s for run in one.point.flows], at, CONFIDENCE)
    real, simulated = one.tail(at), one.long_tail(at)
    model: list[Value] = [mean(value) for value in flows]
    apart = _farthest(real, simulated)
    series = [
        Series("processor sharing", at.tolist(), model, "model", 0),
        Series("simulation", at.tolist(), simulated, "dotted", 2),
        Series("testbed", at[1::2].tolist(), list(real[1::2]), "points", 2),
    ]
    ratio = _percent(one.over_simulation)
    return Found(
        series,
        values={"apart_deterministic": apart, "over_simulation": one.over_simulation},
        told={"ratio": ratio, "each": _found({"deterministic": one}, {"deterministic": apart})},
    )


@item("H.testbed-number")
def numbers(bench: Bench) -> Found:
    points = {law: measured(bench, law, STATED) for law in REAL_LAWS}
    at = list(range(_MOST_FLOWS + 1))
    rho = points[REAL_LAWS[0]].point.rho
    series = [Series("(30)", at, [rho**n for n in at], "model", 0)]
    apart = {}
    for number, (law, one) in enumerate(points.items(), 2):
        real, simulated = one.at_least(at), one.long_at_least(at)
        apart[law] = _farthest(real, simulated)
        series += [
            Series(f"{law}, simulation", at, simulated, "dotted", number),
            Series(
                f"{law}, testbed",
                at[number - 1 :: 2],
                list(real[number - 1 :: 2]),
                "points",
                number,
            ),
        ]
    x, y = "downloads in progress n", "P(N >= n)"
    return Found(
        data=table_of(series, x="n", y=y),
        figure=chart(series, x=x, y=y, y_limits=(0.0, 1.02), columns=2, whole_x=True),
        values={f"apart_{law}": value for law, value in apart.items()},
        told={"each": _found(points, apart)},
    )


def _farthest(real: Sequence[Interval], simulated: Sequence[float]) -> float:
    """Return the largest distance between two curves, at the given points."""
    return max(abs(mean(one) - other) for one, other in zip(real, simulated, strict=True))


def _found(points: Mapping[str, RealPoint], apart: Mapping[str, float]) -> str:
    """Describe the distance between the testbed and the simulation of its transfers."""
    count = {law: sum(run.real_times_s.size for run in one.runs) for law, one in points.items()}
    return (
        "Testbed and simulation of the same transfers are "
        + " and ".join(
            f"{value:.3f} apart at most ({law}, {count[law]} transfers)"
            for law, value in apart.items()
        )
        + f". {_trust(list(points.values()))}"
    )
