"""Flow-level simulation of networks that slow each other down, each with its own jobs.

The networks are cells that hear each other: while others are busy, a cell is served at a fraction
of its capacity alone. The servers behave as in `flows`; a single queue gives the same
results.

Sizes, capacities and times are in the units of `flows`.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from airtcp import __version__
from airtcp.distributions import Distribution
from airtcp.run import flow_core
from airtcp.stats import Interval, student_interval
from numpy.typing import ArrayLike

from airtcp_papers.common.flow_arguments import (
    Length,
    capacities,
    effort,
    law_of,
    replicate_servers,
)


@dataclass(frozen=True, slots=True)
class FlowQueue:
    """A queue: the distribution of sizes, the capacities C_1, C_2, ... if isolated, and arrivals.

    Arrivals have either `interarrival`, the distribution of independent interarrival times, or
    `sources` that think for `think_times` between their jobs.
    """

    sizes: Distribution
    capacity: ArrayLike
    interarrival: Distribution | None = None
    sources: int | None = None
    think_times: Distribution | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the queue in the form that the core reads. Raises ValueError, TypeError."""
        arrivals: dict[str, Any]
        if self.interarrival is not None and self.sources is None:
            arrivals = {
                "kind": "open",
                "interarrival": law_of("interarrival", self.interarrival),
            }
        elif self.interarrival is None and self.sources is not None and self.think_times:
            arrivals = {
                "kind": "closed",
                "sources": self.sources,
                "think_times": law_of("think_times", self.think_times),
            }
        else:
            raise ValueError("a queue has either interarrival, or sources and think_times")
        return {
            "arrivals": arrivals,
            "sizes": law_of("sizes", self.sizes),
            "capacity": capacities(self.capacity),
        }


@dataclass(frozen=True, slots=True)
class QueueResult:
    """The measurements of one queue: means over replications.

    `sojourn_s` is the mean sojourn time of its jobs, None in replications without one. `active` is
    the time average of the jobs present, `work_per_s` the capacity used, and `completed_per_s` the
    departures per second.
    """

    sojourn_s: Interval
    active: Interval
    work_per_s: Interval
    completed_per_s: Interval


@dataclass(frozen=True, eq=False)
class CoupledResult:
    """The measurements of all queues together, and of each.

    For each replication, `sojourns_s` has the mean sojourn time of the jobs of each queue (None
    without jobs), and `shares` the fraction of departed jobs that belong to each queue.
    """

    system: dict[str, Any]
    queues: tuple[QueueResult, ...]
    sojourns_s: tuple[tuple[float | None, ...], ...]
    shares: tuple[tuple[float, ...], ...]
    warmup_jobs: int
    confidence: float
    version: str
    seed: int
    generator: str


def coupled_processor_sharing(
    queues: Sequence[FlowQueue],
    speeds: Callable[[tuple[bool, ...]], Sequence[float]],
    **length: Unpack[Length],
) -> CoupledResult:
    """Simulate processor-sharing servers that slow each other down.

    Args:
        queues: 1 to 12 queues.
        speeds: returns the speeds of all queues, given which are busy. Speeds of busy queues are
            above 0 and at most 1.
        length: how much to simulate; see `Length`. Each queue has random numbers of its own.

    Raises:
        ValueError: an argument is out of range, or a queue is overloaded even alone.
        TypeError: an argument is not a distribution of `airtcp.scenario`.
        SimulationError: a conservation law was violated; the counts cannot be trusted.

    >>> queue = FlowQueue(Exponential(mean=1.0), [1.0], interarrival=Exponential(mean=4.0))
    >>> result = coupled_processor_sharing(
    ...     [queue, queue], lambda busy: [0.5 if all(busy) else 1.0] * 2, jobs=100_000
    ... )
    >>> result.queues[0].sojourn_s.low < 2.0 < result.queues[0].sojourn_s.high  # one server
    True
    """
    # Bit i of a set's number stands for queue i.
    sets = [one[::-1] for one in itertools.product((False, True), repeat=len(queues))]
    system = {
        "queues": [queue.to_dict() for queue in queues],
        "speeds": [
            [float(speed) for speed in speeds(one)] if any(one) else [1.0] * len(queues)
            for one in sets
        ],
    }
    spent = effort(**length)
    confidence = spent.confidence
    runs = replicate_servers(flow_core.CoupledFlows(json.dumps(system)), spent)
    return CoupledResult(
        system=system,
        queues=tuple(_queue([run[i] for run in runs], confidence) for i in range(len(queues))),
        sojourns_s=tuple(
            tuple(each["mean_sojourn_s"] if each["completed"] else None for each in run)
            for run in runs
        ),
        shares=tuple(
            tuple(each["completed"] / math.fsum(of["completed"] for of in run) for each in run)
            for run in runs
        ),
        warmup_jobs=spent.warmup,
        confidence=confidence,
        version=__version__,
        seed=spent.seed,
        generator=flow_core.GENERATOR,
    )


def _queue(answers: Sequence[dict[str, Any]], confidence: float) -> QueueResult:
    def over(name: str) -> Interval:
        return student_interval([answer[name] for answer in answers], confidence)

    return QueueResult(
        sojourn_s=over("mean_sojourn_s"),
        active=over("mean_active"),
        work_per_s=over("work_per_s"),
        completed_per_s=student_interval(
            [answer["completed"] / answer["seconds"] for answer in answers], confidence
        ),
    )
