"""Intervals of simulated numbers, and of their ratios and differences.

Two simulations are compared replication by replication. This uses common random numbers where the
scenarios share random streams.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.item import Value

#: The record of a replication: `answer` of one of a simulation's `runs`.
Answer = Mapping[str, Any]
#: The name of a metric, or a number computed from the record of a replication.
Quantity = str | Callable[[Answer], float | None]


def samples(simulation: Simulation, quantity: Quantity) -> list[float | None]:
    """Return a quantity of each replication."""
    if isinstance(quantity, str):
        return [run.answer["metrics"][quantity] for run in simulation.runs]
    return [quantity(run.answer) for run in simulation.runs]


def ratio(above: Simulation, below: Simulation, quantity: Quantity) -> Interval:
    """Return the ratio of a quantity of two simulations, over pairs of replications."""
    return paired(above, below, quantity, operator.truediv)


def difference(left: Simulation, right: Simulation, quantity: Quantity) -> Interval:
    """Return the difference of a quantity of two simulations, over pairs of replications."""
    return paired(left, right, quantity, operator.sub)


def paired(
    left: Simulation,
    right: Simulation,
    quantity: Quantity,
    combine: Callable[[float, float], float],
) -> Interval:
    """Return the interval of a quantity combined over pairs of replications."""
    pairs = zip(samples(left, quantity), samples(right, quantity), strict=True)
    return student_interval(
        [combine(one, other) for one, other in pairs if one is not None and other is not None],
        left.confidence,
    )


def over_runs(simulation: Simulation, quantity: Quantity) -> Interval:
    """Return the interval of a quantity over replications."""
    return student_interval(samples(simulation, quantity), simulation.confidence)


def mapped(simulation: Simulation, metric: str, change: Callable[[float], float]) -> Interval:
    """Return the interval of a metric after `change` is applied to each replication's value."""
    return student_interval(
        [None if value is None else change(value) for value in samples(simulation, metric)],
        simulation.confidence,
    )


def scaled(simulations: Sequence[Simulation], metric: str, unit: float) -> list[Interval]:
    """Return a metric of several simulations in a unit: Mb/s with 1e6, milliseconds with 1e-3."""
    return [mapped(one, metric, lambda value: value / unit) for one in simulations]


def ap_share(answer: Answer) -> float:
    """Return the access point's share of all successful transmissions of a replication."""
    stations = answer["stations"]
    everybody = sum(station["successes"] for station in stations)
    return float(
        next(station["successes"] for station in stations if station["name"] == "ap") / everybody
    )


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


def less(one: Interval, other: Interval) -> Interval:
    """Return the difference of two numbers; its interval is conservative, from the ends."""
    difference = mean(one) - mean(other)
    if None in (one.low, one.high, other.low, other.high):
        return Interval(difference, None, None, one.n)
    low, high = one.low - other.high, one.high - other.low  # type: ignore[operator]
    return Interval(difference, low, high, one.n)


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
