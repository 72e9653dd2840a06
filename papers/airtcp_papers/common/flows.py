"""Flow-level simulation: jobs that share a capacity equally, in replications on threads.

A job stands for a file transfer, and the capacity for the total goodput of all transfers in
progress.

Sizes are in any unit of work and capacities in that unit per second: sizes in bytes need capacities
in bytes per second, which is C_k of paper M, (10), divided by 8. Times are in seconds.

Source: M/G/1 processor sharing, whose mean slowdown is 1/(1 - load) for any distribution of sizes
(Kleinrock, Queueing Systems, volume 2, chapter 4); paper M, section 4.2, for capacities C_k and for
the closed system; paper H for file transfers as M/G/1-PS.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from airtcp.distributions import Distribution
from airtcp.run import flow_core
from airtcp.stats import Interval, student_interval
from numpy.typing import ArrayLike, NDArray

from airtcp_papers.common.flow_arguments import (
    Effort,
    Length,
    arrivals,
    effort,
    law_of,
    replicate,
    whole,
)
from airtcp_papers.common.flow_arguments import capacities as checked_capacities

FloatArray = NDArray[np.float64]


def processor_sharing(
    sizes: Distribution,
    *,
    capacity: ArrayLike,
    load: float | None = None,
    arrival_rate: float | None = None,
    interarrival: Distribution | None = None,
    limit: int | None = None,
    transfers_of: str | None = None,
    keep_jobs: bool = False,
    **length: Unpack[Length],
) -> FlowResult:
    """Simulate an open processor-sharing system: M/G/1-PS, or with a state-dependent capacity.

    While k jobs are present, each is served at C_k / k.

    Args:
        sizes: the distribution of sizes, in any unit of work.
        capacity: C_1, C_2, ... in that unit per second; the last value applies to more jobs; a
            single number applies to any number.
        load: arrival rate times mean size over the last capacity; Poisson arrivals.
        arrival_rate: Poisson arrivals per second.
        interarrival: the distribution of independent interarrival times in seconds. Exactly one of
            `load`, `arrival_rate` and `interarrival` must be given.
        limit: a job that arrives while this many are present is blocked: lost, and counted.
            Required at a load of 1 or
            more.
        transfers_of: name of an `ftp` flow of one station, such as `client/0`. Given the same laws
            (sizes in bytes), seed and replication, the n-th job is that flow's n-th transfer in
            `airtcp.simulate`: packets and flows on common random numbers.
        keep_jobs: keep size and sojourn time of every measured job, 16 bytes each.
        length: how much to simulate; see `Length`.

    Raises:
        ValueError: an argument is out of range, or the load is 1 or more and there is no limit.
        TypeError: an argument is not a distribution of `airtcp.scenario`.
        SimulationError: a conservation law was violated; the counts cannot be trusted.

    >>> from airtcp.distributions import Pareto
    >>> files = Pareto(shape=1.5, scale=10_000)  # bytes
    >>> result = processor_sharing(files, capacity=500_000, load=0.5, jobs=100_000)
    >>> result.slowdown.low < 2.0 < result.slowdown.high
    True
    """
    table = checked_capacities(capacity)
    size_law = law_of("sizes", sizes)
    system = {
        "kind": "open",
        "interarrival": arrivals(sizes, table[-1], load, arrival_rate, interarrival),
        "sizes": size_law,
        "capacity": table,
        "limit": None if limit is None else whole("limit", limit, 1),
        "transfers_of": transfers_of,
    }
    return _simulate(system, effort(**length), keep_jobs)


def closed_processor_sharing(
    sizes: Distribution,
    *,
    sources: int,
    think_times: Distribution,
    capacity: ArrayLike,
    keep_jobs: bool = False,
    **length: Unpack[Length],
) -> FlowResult:
    """Simulate the closed system of paper M, section 4.2: sources that think between jobs.

    Each of `sources` thinks for a time drawn from `think_times` in seconds, sends a job, waits
    until it is served, and thinks again. All begin with thinking. The other arguments are as in
    `processor_sharing`. The corresponding model is the
    paper's (16).

    Raises:
        ValueError: an argument is out of range.
        TypeError: an argument is not a distribution of `airtcp.scenario`.
        SimulationError: a conservation law was violated; the counts cannot be trusted.

    >>> from airtcp.distributions import Deterministic, Exponential
    >>> result = closed_processor_sharing(
    ...     Exponential(mean=1.0), sources=2, think_times=Deterministic(value=1.0),
    ...     capacity=1.0, jobs=100_000,
    ... )
    >>> result.active_distribution.round(2)  # (16): 1, 2 and 2 fifths
    array([0.2, 0.4, 0.4])
    """
    system = {
        "kind": "closed",
        "sources": whole("sources", sources, 1),
        "think_times": law_of("think_times", think_times),
        "sizes": law_of("sizes", sizes),
        "capacity": checked_capacities(capacity),
    }
    return _simulate(system, effort(**length), keep_jobs)


@dataclass(frozen=True, slots=True)
class SizeClass:
    """The completed jobs with sizes from `low`, a power of two, to below `high`, the next one.

    `jobs` counts the jobs of all replications. With M/G/1-PS the mean slowdown is the same in every
    class.
    """

    low: float
    high: float
    jobs: int
    sojourn_s: Interval
    slowdown: Interval


@dataclass(frozen=True, eq=False)
class FlowReplication:
    """The core's result of one replication, and its jobs by departure time if they were kept."""

    index: int
    answer: dict[str, Any]
    sojourns_s: FloatArray
    sizes: FloatArray


@dataclass(frozen=True, eq=False)
class FlowResult:
    """The measurements, with intervals over replications.

    Attributes:
        system: the system as the core ran it: laws, capacities, limit or sources.
        sojourn_s: mean time from arrival to departure, seconds.
        slowdown: mean ratio of the sojourn time to the time the job would take alone, at C_1.
        active: time average of the number of jobs present.
        completed_per_s: departures per second.
        work_per_s: work done per second, which is the capacity used.
        blocked_fraction: blocked arrivals over arrivals.
        active_distribution: fraction of time with 0, 1, 2, ... jobs present.
        by_size: the jobs by size, ascending.
        counts: `offered`, `blocked`, `completed` while measured; `events`, warm-up included.
        warmup_jobs: jobs of a replication that were not measured.
        confidence: the level of all intervals.
        seed, generator: with `system`, all that is needed to reproduce the result.
        runs: the single replications.
    """

    system: dict[str, Any]
    sojourn_s: Interval
    slowdown: Interval
    active: Interval
    completed_per_s: Interval
    work_per_s: Interval
    blocked_fraction: Interval
    active_distribution: FloatArray
    by_size: tuple[SizeClass, ...]
    counts: dict[str, int]
    warmup_jobs: int
    confidence: float
    seed: int
    generator: str
    runs: tuple[FlowReplication, ...] = field(repr=False)

    def sojourn_quantile_s(self, q: float) -> Interval:
        """Return the `q` quantile of the sojourn time in seconds; exact to 1/256 per replication.

        Raises ValueError if `q` is not between 0 and 1.
        """
        samples = [_quantile(run.answer["sojourn_histogram"], q) for run in self.runs]
        return student_interval(samples, self.confidence)


_COUNTS = ("offered", "blocked", "completed", "events")


def _simulate(system: dict[str, Any], spent: Effort, keep_jobs: bool) -> FlowResult:
    confidence = spent.confidence
    core = flow_core.FlowSimulation(json.dumps(system))
    control = flow_core.FlowControl()

    def one(index: int) -> FlowReplication:
        answer, *kept = core.run(spent.seed, index, spent.warmup, spent.jobs, keep_jobs, control)
        sojourns, sizes = (np.frombuffer(numbers, dtype="<f8") for numbers in kept)
        return FlowReplication(index, json.loads(answer), sojourns, sizes)

    runs = replicate(one, spent.replications, spent.threads, control)
    answers = [run.answer for run in runs]

    def over(value: Callable[[dict[str, Any]], float | None]) -> Interval:
        return student_interval([value(answer) for answer in answers], confidence)

    return FlowResult(
        system=system,
        sojourn_s=over(operator.itemgetter("mean_sojourn_s")),
        slowdown=over(operator.itemgetter("mean_slowdown")),
        active=over(operator.itemgetter("mean_active")),
        completed_per_s=over(lambda answer: _quotient(answer["completed"], answer["seconds"])),
        work_per_s=over(operator.itemgetter("work_per_s")),
        blocked_fraction=over(lambda answer: _quotient(answer["blocked"], answer["offered"])),
        active_distribution=_mean_columns([answer["active_distribution"] for answer in answers]),
        by_size=_by_size(answers, confidence),
        counts={name: sum(answer[name] for answer in answers) for name in _COUNTS},
        warmup_jobs=spent.warmup,
        confidence=confidence,
        seed=spent.seed,
        generator=flow_core.GENERATOR,
        runs=runs,
    )


def _quantile(bins: dict[str, Any], q: float) -> float:
    """Return the `q` quantile of numbers in bins, of which none is empty."""
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"q must lie between 0 and 1, not {q}")
    counts = np.asarray(bins["counts"])
    ranks = np.cumsum(counts)
    rank = q * float(ranks[-1])
    index = min(int(np.searchsorted(ranks, rank)), len(ranks) - 1)
    share = 1.0 - (float(ranks[index]) - rank) / float(counts[index])
    low, high = bins["low"][index], bins["high"][index]
    return float(low + share * (high - low))


def _by_size(answers: list[dict[str, Any]], confidence: float) -> tuple[SizeClass, ...]:
    found: dict[float, list[dict[str, Any]]] = {}
    for answer in answers:
        for each in answer["size_classes"]:
            found.setdefault(each["low"], []).append(each)
    return tuple(
        SizeClass(
            low=low,
            high=found[low][0]["high"],
            jobs=sum(each["jobs"] for each in found[low]),
            sojourn_s=student_interval([each["mean_sojourn_s"] for each in found[low]], confidence),
            slowdown=student_interval([each["mean_slowdown"] for each in found[low]], confidence),
        )
        for low in sorted(found)
    )


def _mean_columns(rows: list[list[float]]) -> FloatArray:
    """Return the mean of the rows; shorter rows are padded with zeros."""
    total = np.zeros(max(len(row) for row in rows))
    for row in rows:
        total[: len(row)] += row
    return np.asarray(total / len(rows))


def _quotient(part: float, whole: float) -> float | None:
    """Divide; None for a measurement without arrivals, or of zero length."""
    return part / whole if whole > 0 else None
