"""Intervals of what simulations say, and of ratios and differences of them.

Knows replications and metrics. Two simulations are compared replication by replication, which
uses that random streams are common where the scenarios are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.reproduce.item import Value
from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval


def samples(simulation: Simulation, metric: str) -> list[float | None]:
    """A metric of each replication."""
    return [run.answer["metrics"][metric] for run in simulation.runs]


def ratio(above: Simulation, below: Simulation, metric: str) -> Interval:
    """The ratio of a metric of two simulations, over pairs of replications."""
    return paired(above, below, metric, lambda left, right: left / right)


def difference(left: Simulation, right: Simulation, metric: str) -> Interval:
    """The difference of a metric of two simulations, over pairs of replications."""
    return paired(left, right, metric, lambda one, other: one - other)


def paired(
    left: Simulation, right: Simulation, metric: str, combine: Callable[[float, float], float]
) -> Interval:
    """The interval of a combination of two simulations' metric, over pairs of replications."""
    pairs = zip(samples(left, metric), samples(right, metric), strict=True)
    return student_interval(
        [combine(one, other) for one, other in pairs if one is not None and other is not None],
        left.confidence,
    )


def paired_runs(
    left: Simulation, right: Simulation, number: Callable[[Simulation, int], float]
) -> Interval:
    """The difference of any number of two simulations, over pairs of replications."""
    return student_interval(
        [number(left, run) - number(right, run) for run in range(len(left.runs))],
        left.confidence,
    )


def over_runs(simulation: Simulation, number: Callable[[int], float | None]) -> Interval:
    """The interval of any number of a replication; `number` takes the index into `runs`."""
    return student_interval(
        [number(index) for index in range(len(simulation.runs))], simulation.confidence
    )


def mapped(simulation: Simulation, metric: str, change: Callable[[float], float]) -> Interval:
    """The interval of a metric that is changed in each replication."""
    return student_interval(
        [None if value is None else change(value) for value in samples(simulation, metric)],
        simulation.confidence,
    )


def scaled(simulations: Sequence[Simulation], metric: str, unit: float) -> list[Interval]:
    """A metric of several simulations in another unit: Mb/s with 1e6, milliseconds with 1e-3."""
    return [mapped(one, metric, lambda value: value / unit) for one in simulations]


def flow_goodputs(simulation: Simulation, index: int) -> list[float]:
    """The goodput of each flow in one replication, b/s."""
    return [flow["goodput_bps"] for flow in simulation.runs[index].answer["flows"]]


def error_of(value: Interval, runs: float) -> float:
    """One standard error of the mean of `runs` replications like those of an interval of 95 %.

    A paper's run that is half as long as ours counts as half a run. Raises ValueError for an
    interval that says nothing about its spread.
    """
    from scipy.special import stdtrit

    if value.half_width is None:
        raise ValueError("one replication says nothing about its own spread")
    return float(value.half_width / stdtrit(value.n - 1, 0.975) * (value.n / runs) ** 0.5)


def mean(value: Value) -> float:
    """The number itself, or the mean of an interval. Raises ValueError if there is none."""
    if not isinstance(value, Interval):
        return float(value)
    if value.mean is None:
        raise ValueError("an interval without samples has no mean")
    return value.mean


def changed(value: Interval, change: Callable[[float], float]) -> Interval:
    """An interval under a monotone change of its numbers: the ends move with it."""
    if value.mean is None:
        return value
    if value.low is None or value.high is None:
        return Interval(change(value.mean), None, None, value.n)
    ends = sorted((change(value.low), change(value.high)))
    return Interval(change(value.mean), ends[0], ends[1], value.n)


def magnitude(value: Interval) -> Interval:
    """The interval of the absolute value."""
    if value.mean is None or value.low is None or value.high is None:
        return Interval(None if value.mean is None else abs(value.mean), None, None, value.n)
    ends = (abs(value.low), abs(value.high))
    low = 0.0 if value.low <= 0.0 <= value.high else min(ends)
    return Interval(abs(value.mean), low, max(ends), value.n)


def off(value: Interval, one: float = 1.0) -> Interval:
    """How far a ratio is from `one`, relative to it and without its sign."""
    return magnitude(changed(value, lambda ratio: ratio / one - 1.0))


def gap(model: float, simulated: Interval) -> Interval:
    """|model / simulation - 1|."""
    return magnitude(changed(simulated, lambda value: model / value - 1.0))


def most(values: Iterable[Interval]) -> Interval:
    """The greatest of several numbers, each with its interval.

    Either end is the greatest of the ends: where each interval covers its number, this one covers
    the greatest of them.
    """
    return _extreme(list(values), max)


def least(values: Iterable[Interval]) -> Interval:
    """The least of several numbers; ends as of `most`."""
    return _extreme(list(values), min)


def _extreme(values: list[Interval], pick: Callable[[list[float]], float]) -> Interval:
    n = min(value.n for value in values)
    mean = pick([value.mean for value in values if value.mean is not None])
    low, high = ([getattr(value, end) for value in values] for end in ("low", "high"))
    if None in low or None in high:
        return Interval(mean, None, None, n)
    return Interval(mean, pick(low), pick(high), n)


def largest_gap(model: Sequence[float], simulated: Sequence[Interval]) -> Interval:
    """The largest |model / simulation - 1| over points."""
    return most(gap(m, s) for m, s in zip(model, simulated, strict=True))


def words(value: Value, unit: str = "") -> str:
    """A number as people read it, with its half width if it has one."""
    if isinstance(value, Interval):
        return quantity_with_interval(value, unit)
    return quantity(float(value), unit)
