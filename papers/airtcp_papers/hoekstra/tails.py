"""Reproduce paper H, Fig. 2 to 5: distributions of transfer times and of downloads."""

from __future__ import annotations

import math

import numpy as np
from airtcp.models.processor_sharing import sojourn_tail
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Kind, Series, chart, table_of
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import magnitude, mean, most, off, over_runs
from airtcp_papers.hoekstra.testbed import (
    LAWS,
    STATED,
    FloatArray,
    Point,
    gaps,
    observe,
    service_of,
    tail,
)

#: A tail is drawn down to this value.
_LEAST = 1e-3
_MOST_FLOWS = 25


def _stated(bench: Bench, law: str) -> Point:
    return observe(bench, law, gaps(law)[STATED], transfer_times=True, beacons=False)


def _packets(point: Point, at: FloatArray) -> list[Interval]:
    times = [run.transfer_times_s for run in point.packets.runs]
    return tail(times, at, point.packets.confidence)


def _flows(point: Point, at: FloatArray) -> list[float]:
    times = [run.sojourns_s for run in point.flows]
    return [mean(value) for value in tail(times, at, point.packets.confidence)]


def _apart(measured: list[Interval], expected: list[float]) -> float:
    """Return the largest distance between two tails (Kolmogorov-Smirnov), at the drawn points."""
    return max(abs(mean(one) - other) for one, other in zip(measured, expected, strict=True))


#: Quantiles from the median transfer to the slowest hundredth.
_QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99)
#: P(N >= n) is judged as long as the model's value is at least this.
_JUDGED = 0.01


def _from_26(point: Point, at: FloatArray) -> Interval:
    """Return the largest distance of the packets' tail from (26), at the drawn points.

    (26) is exact for processor sharing of exponential sizes, so flows of the same transfers stand
    for it: the sample of arrivals and sizes moves both tails alike.
    """
    packets, flows = _above(point, at)
    return most(
        magnitude(student_interval(some.tolist(), point.packets.confidence))
        for some in (packets - flows).T
    )


def _below(point: Point, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return P(R <= t) of packets and of flows: replications in rows, times in columns."""
    packets, flows = (
        np.array([np.searchsorted(np.sort(one), at, side="right") / one.size for one in runs])
        for runs in (
            [run.transfer_times_s for run in point.packets.runs],
            [run.sojourns_s for run in point.flows],
        )
    )
    return packets, flows


def _above(point: Point, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return P(R > t) of both, as `_below`."""
    packets, flows = _below(point, at)
    return 1.0 - packets, 1.0 - flows


def _distance(point: Point, at: FloatArray) -> Interval:
    """`_apart` for each replication: packets against flows of the same transfers."""
    below, others = _below(point, at)
    return student_interval(np.abs(below - others).max(axis=1), point.packets.confidence)


def _quantiles_off(point: Point) -> Interval:
    """Return the largest relative difference between quantiles of packets and of flows."""
    return most(
        off(
            student_interval(
                [
                    float(
                        np.quantile(packets.transfer_times_s, q) / np.quantile(flows.sojourns_s, q)
                    )
                    for packets, flows in zip(point.packets.runs, point.flows, strict=True)
                ],
                point.packets.confidence,
            )
        )
        for q in _QUANTILES
    )


def _tail_decades(point: Point, at: FloatArray) -> Interval:
    """Return by how many powers of ten P(R > t) differs at most between packets and flows.

    Only times t at which the flows' tail is large enough count. The interval is over replications,
    linearised as in `_decades_at`.
    """
    packets, flows = _above(point, at)
    judged = np.flatnonzero(flows.mean(axis=0) >= _JUDGED)
    return most(
        magnitude(_log_ratio(packets[:, place], flows[:, place], point.packets.confidence))
        for place in judged
    )


def _judged(point: Point, at: FloatArray) -> dict[str, Value]:
    """Return the distances between the tails of packets and of flows."""
    return {
        "apart": _distance(point, at),
        "quantiles_off": _quantiles_off(point),
        "decades": _tail_decades(point, at),
    }


def _log_ratio(ours: FloatArray, theirs: FloatArray, confidence: float) -> Interval:
    """Return log10 of a ratio of means; its interval is linearised."""
    ratio = float(ours.mean() / theirs.mean())
    parts = (ours / ours.mean() - theirs / theirs.mean()) / math.log(10.0)
    return student_interval((math.log10(ratio) + parts).tolist(), confidence)


def _decades(point: Point) -> Interval:
    """Return by how many powers of ten P(N >= n) differs at most from rho_eff^n."""
    judged = [n for n in range(1, _MOST_FLOWS + 1) if point.rho**n >= _JUDGED]
    return most(magnitude(_decades_at(point, n)) for n in judged)


def _decades_at(point: Point, n: int) -> Interval:
    """Return log10 of P(N >= n) over rho_eff^n; its interval is linearised.

    rho_eff^n is exact for processor sharing. The sample of transfers moves packets and flows alike,
    so packets are compared with flows of the same transfers.
    """
    return _log_ratio(*_both_at_least(point, n), point.packets.confidence)


def _steps(point: Point) -> Interval:
    """Return the largest distance of P(N >= n) from rho_eff^n, estimated as in `_decades_at`."""
    apart = []
    for n in range(1, _MOST_FLOWS + 1):
        packets, flows = _both_at_least(point, n)
        apart.append(
            magnitude(student_interval((packets - flows).tolist(), point.packets.confidence))
        )
    return most(apart)


def _both_at_least(point: Point, n: int) -> tuple[FloatArray, FloatArray]:
    """Return P(N >= n) of packets and of flows, for each replication."""
    by_packets, by_flows = _DISTRIBUTIONS
    packets = [math.fsum(run.answer[by_packets][n:]) for run in point.packets.runs]
    flows = [math.fsum(run.answer[by_flows][n:]) for run in point.flows]
    return np.array(packets), np.array(flows)


#: Names of the distribution of the number of active flows: for packets, and for flows.
_DISTRIBUTIONS = ("active_flows_distribution", "active_distribution")


def _shown(values: list[Interval]) -> list[Value]:
    """Drop the intervals that would reach zero on a logarithmic axis."""
    return [
        value if value.low is not None and value.low > _LEAST / 10 else mean(value)
        for value in values
    ]


def _marks(label: str, at: FloatArray, values: list[Interval], colour: int) -> Series:
    """Return every fourth point of the packets, so that markers do not hide the lines."""
    return Series(label, at[::4].tolist(), _shown(values[::4]), "simulation", colour)


_AT = np.linspace(0.0, 14.0, 57)


def tails(*, size: float = 200e3, gap: float = 0.40) -> list[Series]:
    """Fig. 2: (26) with beta_eff and rho_eff of the refined model, with and without beacons."""
    found: list[Series] = []
    for beacons in (False, True):
        beta_s = service_of(size, beacons=beacons)
        chances = np.asarray(sojourn_tail(_AT, beta_s / gap, beta_s)).tolist()
        label = "with beacons (22)" if beacons else f"{beta_s:.3f} s and {beta_s / gap:.2f}"
        kind: Kind = "dotted" if beacons else "model"
        found.append(Series(f"(26), {label}", _AT.tolist(), chances, kind, len(found)))
    return found


def numbers(*, size: float = 200e3, gap: float = 0.40) -> list[Series]:
    """Fig. 5: the geometric law (30)."""
    rho = service_of(size, beacons=False) / gap
    n = list(range(_MOST_FLOWS + 1))
    return [Series(f"(30), rho_eff = {rho:.2f}", n, [rho**one for one in n], "model", 0)]


@item("H.fig2")
def fig2(bench: Bench) -> Found:
    point = _stated(bench, "exponential")
    found = _packets(point, _AT)
    curves = tails()
    model = [mean(p) for p in curves[0].y]
    series = [*curves, _marks("packets", _AT, found, 2)]
    apart = _apart(found, _flows(point, _AT))
    return Found(
        series,
        values={
            **_judged(point, _AT),
            "apart_26": _from_26(point, _AT),
            "mean_of_26": _mean_of_tail(point.rho) * (1.0 - point.rho),
        },
        told={
            "found": found,
            "model": model,
            "apart_found_model": _apart(found, model),
            "farthest": apart,
        },
    )


def _mean_of_tail(rho: float) -> float:
    """Return the integral of (26) in units of beta."""
    at = np.linspace(0.0, 60.0 / (1.0 - rho), 6001)
    return float(np.trapezoid(np.asarray(sojourn_tail(at, rho, 1.0)), at))


@item("H.fig3")
def fig3(bench: Bench) -> Found:
    at = _AT
    series, apart = [], {}
    values: dict[str, Value] = {}
    for number, law in enumerate(("hyperexponential", "Pareto-2")):
        point = _stated(bench, law)
        found, shared = _packets(point, at), _flows(point, at)
        apart[law] = _apart(found, shared)
        values |= {f"{name}_{law}": value for name, value in _judged(point, at).items()}
        series += [
            Series(f"{law}, flows", at.tolist(), shared, "model", number),
            _marks(f"{law}, packets", at, found, number),
        ]
    return Found(
        series,
        values=values,
        told={"farthest": apart},
    )


@item("H.fig4")
def fig4(bench: Bench) -> Found:
    at = np.linspace(0.0, 50.0, 51)
    point = _stated(bench, "deterministic")
    found, shared = _packets(point, at), _flows(point, at)
    series = [
        Series("flows", at.tolist(), shared, "model", 0),
        _marks("packets", at, found, 0),
    ]
    apart = _apart(found, shared)
    return Found(
        series,
        values=_judged(point, at),
        told={"farthest": apart},
    )


def _at_least(point: Point, n: int) -> Interval:
    """Return P(N >= n) of the packets."""
    return over_runs(point.packets, lambda answer: sum(answer["active_flows_distribution"][n:]))


@item("H.fig5")
def fig5(bench: Bench) -> Found:
    (curve,) = numbers()
    counts = list(range(_MOST_FLOWS + 1))
    points = {law: _stated(bench, law) for law in LAWS}
    rho = points["exponential"].rho
    series = [curve]
    apart = {}
    for number, (law, point) in enumerate(points.items(), 1):
        found = [_at_least(point, n) for n in counts]
        apart[law] = _apart(found, [point.rho**n for n in counts])
        series.append(Series(law, counts, _shown(found), "simulation", number))
    ratio = mean(_at_least(points["exponential"], 10)) / rho**10
    return Found(
        data=table_of(series, x="n", y="P(N >= n)"),
        figure=chart(
            series,
            x="downloads in progress n",
            y="P(N >= n)",
            y_scale="log",
            y_limits=(_LEAST, 1.2),
            columns=3,
            whole_x=True,
        ),
        values={
            "apart_exponential": _steps(points["exponential"]),
            "apart_any": most(map(_steps, points.values())),
            **{f"decades_{law}": _decades(point) for law, point in points.items()},
        },
        told={
            "farthest": apart,
            "ratio": ratio,
        },
    )
