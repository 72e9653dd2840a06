"""Intervals of simulated numbers, and of their ratios and differences.

Two simulations are compared replication by replication. This uses common random numbers where the
scenarios share random streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.item import Value


def samples(simulation: Simulation, metric: str) -> list[float | None]:
    """Return a metric of each replication."""
    return [run.answer["metrics"][metric] for run in simulation.runs]


def ratio(above: Simulation, below: Simulation, metric: str) -> Interval:
    """Return the ratio of two simulations' metric, over pairs of replications."""
    return paired(above, below, metric, lambda left, right: left / right)


def difference(left: Simulation, right: Simulation, metric: str) -> Interval:
    """Return the difference of two simulations' metric, over pairs of replications."""
    return paired(left, right, metric, lambda one, other: one - other)


def paired(
    left: Simulation, right: Simulation, metric: str, combine: Callable[[float, float], float]
) -> Interval:
    """Return the interval of two simulations' metric, combined over pairs of replications."""
    pairs = zip(samples(left, metric), samples(right, metric), strict=True)
    return student_interval(
        [combine(one, other) for one, other in pairs if one is not None and other is not None],
        left.confidence,
    )


def paired_runs(
    left: Simulation, right: Simulation, number: Callable[[Simulation, int], float]
) -> Interval:
    """Return the difference of a computed number of two simulations, over pairs of replications."""
    return student_interval(
        [number(left, run) - number(right, run) for run in range(len(left.runs))],
        left.confidence,
    )


def quotients(
    above: Simulation, below: Simulation, number: Callable[[Simulation, int], float]
) -> Interval:
    """Return the ratio of a computed number of two simulations, over pairs of replications."""
    return student_interval(
        [number(above, run) / number(below, run) for run in range(len(above.runs))],
        above.confidence,
    )


def over_runs(simulation: Simulation, number: Callable[[int], float | None]) -> Interval:
    """Return the interval of a number per replication; `number` takes the index into `runs`."""
    return student_interval(
        [number(index) for index in range(len(simulation.runs))], simulation.confidence
    )


def mapped(simulation: Simulation, metric: str, change: Callable[[float], float]) -> Interval:
    """Return the interval of a metric after `change` is applied to each replication's value."""
    return student_interval(
        [None if value is None else change(value) for value in samples(simulation, metric)],
        simulation.confidence,
    )


def scaled(simulations: Sequence[Simulation], metric: str, unit: float) -> list[Interval]:
    """Return a metric of several simulations in a unit: Mb/s with 1e6, milliseconds with 1e-3."""
    return [mapped(one, metric, lambda value: value / unit) for one in simulations]


def flow_goodputs(simulation: Simulation, index: int) -> list[float]:
    """Return the goodput of each flow in one replication, b/s."""
    return [flow["goodput_bps"] for flow in simulation.runs[index].answer["flows"]]


def error_of(value: Interval, runs: float) -> float:
    """Return the standard error of a mean over `runs` replications, from a 95 % interval.

    A run of the paper that is half as long as ours counts as half a run. Raises ValueError for an
    interval without a spread.
    """
    from scipy.special import stdtrit

    if value.half_width is None:
        raise ValueError("one replication says nothing about its own spread")
    return float(value.half_width / stdtrit(value.n - 1, 0.975) * (value.n / runs) ** 0.5)


def mean(value: Value) -> float:
    """Return the number itself, or the mean of an interval. Raises ValueError if there is none."""
    if not isinstance(value, Interval):
        return float(value)
    if value.mean is None:
        raise ValueError("an interval without samples has no mean")
    return value.mean


def changed(value: Interval, change: Callable[[float], float]) -> Interval:
    """Return an interval after a monotone change, applied to its mean and ends."""
    if value.mean is None:
        return value
    if value.low is None or value.high is None:
        return Interval(change(value.mean), None, None, value.n)
    ends = sorted((change(value.low), change(value.high)))
    return Interval(change(value.mean), ends[0], ends[1], value.n)


def magnitude(value: Interval) -> Interval:
    """Return the interval of the absolute value."""
    if value.mean is None or value.low is None or value.high is None:
        return Interval(None if value.mean is None else abs(value.mean), None, None, value.n)
    ends = (abs(value.low), abs(value.high))
    low = 0.0 if value.low <= 0.0 <= value.high else min(ends)
    return Interval(abs(value.mean), low, max(ends), value.n)


def off(value: Interval, one: float = 1.0) -> Interval:
    """Return the absolute relative distance of a value from `one`."""
    return magnitude(changed(value, lambda ratio: ratio / one - 1.0))


def gap(model: float, simulated: Interval) -> Interval:
    """Return |model / simulation - 1|."""
    return magnitude(changed(simulated, lambda value: model / value - 1.0))


def most(values: Iterable[Interval]) -> Interval:
    """Return the largest of several numbers, each with its interval.

    Each end is the largest of the ends. If every interval covers its number, the result covers the
    largest number.
    """
    return _extreme(list(values), max)


def least(values: Iterable[Interval]) -> Interval:
    """Return the smallest of several numbers; its ends are the smallest ends, as in `most`."""
    return _extreme(list(values), min)


def _extreme(values: list[Interval], pick: Callable[[list[float]], float]) -> Interval:
    n = min(value.n for value in values)
    mean = pick([value.mean for value in values if value.mean is not None])
    low, high = ([getattr(value, end) for value in values] for end in ("low", "high"))
    if None in low or None in high:
        return Interval(mean, None, None, n)
    return Interval(mean, pick(low), pick(high), n)


def largest_gap(model: Sequence[float], simulated: Sequence[Interval]) -> Interval:
    """Return the largest |model / simulation - 1| over points."""
    return most(gap(m, s) for m, s in zip(model, simulated, strict=True))


def words(value: Value, unit: str = "") -> str:
    """Return a number for people to read, with its half width if it has one."""
    if isinstance(value, Interval):
        return quantity_with_interval(value, unit)
    return quantity(float(value), unit)
