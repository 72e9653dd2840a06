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
from airtcp_papers.common.item import Data, Outcome, Value, item
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


@item(
    "H.testbed-means",
    title="Fig. 1 with real TCP: mean transfer times",
    caption="Mean time of an FTP download in units of beta_eff, against rho_eff, by the kernel's "
    "TCP, ProFTPD and clients of FTP over the simulated air in real time: the simulation of hours "
    "times what the testbed took for the same transfers over what they took in the simulation, of "
    "runs of half a minute. Beside it that simulation, with Linux at both ends, and the models, "
    "the refined one also with as many ACKs as were counted on the testbed.",
    states="Both models match a test bed of real machines that ran for 140 hours.",
)
def means(bench: Bench) -> Outcome:
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
    return Outcome(
        data=_rows(points),
        found="So much longer than the simulation of the same transfers the testbed takes: "
        + "; ".join(
            f"{law} "
            + ", ".join(
                f"{_percent(one.over_simulation)} (rho_eff {one.point.rho:.2f})" for one in mine
            )
            for law, mine in points.items()
        )
        + ". The refined model with as many ACKs as were counted there says "
        + "; ".join(
            f"{law} "
            + ", ".join(f"{one.refined_s():.2f} s ({mean(one.mean_s):.2f} s)" for one in mine)
            for law, mine in points.items()
        )
        + f", the testbed's means in brackets. {_trust(every)}",
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
        figure=chart(series, x=x, y=y, columns=2),
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


@item(
    "H.testbed-tails",
    title="Fig. 2 and 3 with real TCP: tails of transfer times",
    caption="Probability that a download takes longer than t, exponential and hyperexponential "
    "sizes, one every 0.40 s: dotted lines are the simulation of hours with Linux at both ends, "
    "markers that and what the testbed has over the simulation of its own transfers; the line is "
    "(26) of the refined model, which is for exponential sizes.",
    states="Model and test bed are extremely close for exponential sizes, and match closely for "
    "hyperexponential ones.",
)
def tails(bench: Bench) -> Outcome:
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
    x, y = "t (s)", "P(R > t)"
    return Outcome(
        data=table_of(series, x=x, y=y),
        found=_found(points, apart),
        values={f"apart_{law}": value for law, value in apart.items()},
        figure=chart(series, x=x, y=y, x_limits=(0.0, 8.0), y_limits=(0.0, 1.02), columns=2),
    )


@item(
    "H.testbed-tail-1-MB",
    title="Fig. 4 with real TCP: tail of transfer times, files of 1 MB",
    caption="As Fig. 2 and 3 for files of 1 MB, one every 1.93 s, in runs of two minutes. The line "
    "is processor sharing, simulated as flows on the transfers of the simulation of hours.",
    states="Processor sharing with the effective service time matches the test bed closely.",
)
def large(bench: Bench) -> Outcome:
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
    x, y = "t (s)", "P(R > t)"
    ratio = _percent(one.over_simulation)
    return Outcome(
        data=table_of(series, x=x, y=y),
        found=f"The testbed's mean is {ratio} from that of the simulation of its transfers. "
        + _found({"deterministic": one}, {"deterministic": apart}),
        values={"apart_deterministic": apart, "over_simulation": one.over_simulation},
        figure=chart(series, x=x, y=y, x_limits=(0.0, 40.0), y_limits=(0.0, 1.02), columns=3),
    )


@item(
    "H.testbed-number",
    title="Fig. 5 with real TCP: downloads in progress",
    caption="Probability that at least n downloads are in progress with one every 0.40 s: dotted "
    "lines are the simulation of hours with Linux at both ends, markers that and what the testbed "
    "has over the simulation of its own transfers; the line is rho_eff^n of (30).",
    states="The number is nearly geometric with rho_eff, whatever the law of sizes.",
)
def numbers(bench: Bench) -> Outcome:
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
    return Outcome(
        data=table_of(series, x="n", y=y),
        found=_found(points, apart),
        values={f"apart_{law}": value for law, value in apart.items()},
        figure=chart(series, x=x, y=y, y_limits=(0.0, 1.02), columns=2, whole_x=True),
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
