"""Intervals of what simulations say, and of ratios and differences of them.

Knows replications and metrics. Two simulations are compared replication by replication, which
uses that random streams are common where the scenarios are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from airtcp.metrics import quantity, quantity_with_interval
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


def scaled(simulations: Sequence[Simulation], metric: str, unit: float) -> list[Value]:
    """A metric of several simulations in another unit: Mb/s with 1e6, milliseconds with 1e-3."""
    return [mapped(one, metric, lambda value: value / unit) for one in simulations]


def flow_goodputs(simulation: Simulation, index: int) -> list[float]:
    """The goodput of each flow in one replication, b/s."""
    return [flow["goodput_bps"] for flow in simulation.runs[index].answer["flows"]]


def mean(value: Value) -> float:
    """The number itself, or the mean of an interval. Raises ValueError if there is none."""
    if not isinstance(value, Interval):
        return float(value)
    if value.mean is None:
        raise ValueError("an interval without samples has no mean")
    return value.mean


def largest_gap(model: Sequence[float], simulated: Sequence[Value]) -> float:
    """The largest |model / simulation - 1| over points."""
    return max(abs(m / mean(s) - 1.0) for m, s in zip(model, simulated, strict=True))


def mean_gap(model: Sequence[float], simulated: Sequence[Value]) -> float:
    """The mean |model / simulation - 1| over points."""
    return fmean(abs(m / mean(s) - 1.0) for m, s in zip(model, simulated, strict=True))


def words(value: Value, unit: str = "") -> str:
    """A number as people read it, with its half width if it has one."""
    if isinstance(value, Interval):
        return quantity_with_interval(value, unit)
    return quantity(float(value), unit)
