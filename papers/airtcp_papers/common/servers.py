"""Flow-level simulation of several networks: jobs that are split, or that slow each other down.

Each network is a processor-sharing server as in `flows`; a single one gives the same results.

- Concurrent access of paper H, section V: an arriving job is assigned to one server, and stays
  there.
- Cells that hear each other: each has its own jobs, and is served at a fraction of its capacity
  alone while others are busy.

Sizes, capacities and times are in the units of `flows`.

Source: Hoekstra, van der Mei and Diaz-Feraren 2013, section V; M/G/1 processor sharing for each
part of a Poisson stream that is split at random.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

from airtcp.distributions import Distribution
from airtcp.run import flow_core
from airtcp.stats import Interval, student_interval
from numpy.typing import ArrayLike

from airtcp_papers.common.flow_arguments import (
    Effort,
    Length,
    arrivals,
    effort,
    law_of,
    replicate,
)
from airtcp_papers.common.flow_arguments import capacities as checked_capacities


@dataclass(frozen=True, slots=True)
class ServerResult:
    """The measurements of one server: means over replications.

    `share` is the fraction of departed jobs that it served. `sojourn_s` is their mean sojourn time,
    None in replications without a job. `active` is the time average of the jobs present,
    `work_per_s` the capacity used, and `completed_per_s` the departures per second.
    """

    share: Interval
    sojourn_s: Interval
    active: Interval
    work_per_s: Interval
    completed_per_s: Interval


@dataclass(frozen=True, eq=False)
class ServersResult:
    """The measurements of each server, and of all together.

    `runs` has the core's record of each replication and server, `effort` how much was simulated,
    and `system` with the seed and `generator` all that is needed to reproduce the result.
    """

    system: dict[str, Any]
    servers: tuple[ServerResult, ...]
    effort: Effort
    generator: str
    runs: tuple[list[dict[str, Any]], ...]

    @property
    def sojourns_s(self) -> list[float]:
        """The mean time from arrival to departure in each replication, seconds."""
        return [
            math.fsum(s["completed"] * s["mean_sojourn_s"] for s in run if s["completed"])
            / self.effort.jobs
            for run in self.runs
        ]

    @property
    def sojourn_s(self) -> Interval:
        """The mean time from arrival to departure over all servers, seconds."""
        return student_interval(self.sojourns_s, self.effort.confidence)

    @property
    def active(self) -> Interval:
        """The time average of the jobs present in all servers."""
        actives = [math.fsum(server["mean_active"] for server in run) for run in self.runs]
        return student_interval(actives, self.effort.confidence)


def concurrent_processor_sharing(
    sizes: Distribution,
    *,
    capacities: Sequence[ArrayLike],
    split: Literal["least"] | Sequence[float],
    load: float | None = None,
    arrival_rate: float | None = None,
    interarrival: Distribution | None = None,
    **length: Unpack[Length],
) -> ServersResult:
    """Simulate parallel processor-sharing servers to which arriving jobs are assigned.

    Args:
        sizes: the distribution of sizes, in any unit of work.
        capacities: C_1, C_2, ... of each server, or one number for each, in that unit per second.
        split: "least" sends a job to the server with the fewest jobs; ties go to the fastest, then
            to the first. A list of shares draws the server of each job at random.
        load: arrival rate times mean size over the sum of the last capacities; Poisson arrivals.
        arrival_rate: Poisson arrivals per second, of all servers together.
        interarrival: the distribution of independent interarrival times in seconds. Exactly one of
            `load`, `arrival_rate` and `interarrival` must be given.
        length: how much to simulate; see `Length`.

    Raises:
        ValueError: an argument is out of range, or a server is overloaded.
        TypeError: an argument is not a distribution of `airtcp.scenario`.
        SimulationError: a conservation law was violated; the counts cannot be trusted.

    >>> result = concurrent_processor_sharing(
    ...     Exponential(mean=1.0), capacities=[1.0, 1.0], split=[0.5, 0.5], load=0.5, jobs=100_000
    ... )
    >>> result.sojourn_s.low < 2.0 < result.sojourn_s.high  # 1 / (1 - load) in either
    True
    """
    tables = [checked_capacities(capacity) for capacity in capacities]
    size_law = law_of("sizes", sizes)
    served = math.fsum(table[-1] for table in tables)
    if isinstance(split, str):
        if split != "least":
            raise ValueError(f'split must be "least" or a share for each server, not {split!r}')
        rule: dict[str, Any] = {"kind": "least"}
    else:
        rule = {"kind": "random", "shares": [float(share) for share in split]}
    system = {
        "interarrival": arrivals(sizes, served, load, arrival_rate, interarrival),
        "sizes": size_law,
        "capacities": tables,
        "split": rule,
    }
    return _simulate(flow_core.ConcurrentFlows, system, effort(**length))


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
        come: dict[str, Any]
        if self.interarrival is not None and self.sources is None:
            come = {"kind": "open", "interarrival": law_of("interarrival", self.interarrival)}
        elif self.interarrival is None and self.sources is not None and self.think_times:
            think_times = law_of("think_times", self.think_times)
            come = {"kind": "closed", "sources": self.sources, "think_times": think_times}
        else:
            raise ValueError("a queue has either interarrival, or sources and think_times")
        return {
            "arrivals": come,
            "sizes": law_of("sizes", self.sizes),
            "capacity": checked_capacities(self.capacity),
        }


def coupled_processor_sharing(
    queues: Sequence[FlowQueue],
    speeds: Callable[[tuple[bool, ...]], Sequence[float]],
    **length: Unpack[Length],
) -> ServersResult:
    """Simulate processor-sharing servers that slow each other down, each with jobs of its own.

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
    >>> result.servers[0].sojourn_s.low < 2.0 < result.servers[0].sojourn_s.high  # one server
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
    return _simulate(flow_core.CoupledFlows, system, effort(**length))


def _simulate(
    core: type[flow_core.ConcurrentFlows | flow_core.CoupledFlows],
    system: dict[str, Any],
    spent: Effort,
) -> ServersResult:
    simulation, control = core(json.dumps(system)), flow_core.FlowControl()

    def one(index: int) -> list[dict[str, Any]]:
        told = simulation.run(spent.seed, index, spent.warmup, spent.jobs, control)
        answer: list[dict[str, Any]] = json.loads(told)
        return answer

    runs = replicate(one, spent.replications, spent.threads, control)
    servers = tuple(_server(answers, runs, spent.confidence) for answers in zip(*runs, strict=True))
    return ServersResult(system, servers, spent, flow_core.GENERATOR, runs)


def _server(
    answers: Sequence[dict[str, Any]],
    runs: Sequence[Sequence[dict[str, Any]]],
    confidence: float,
) -> ServerResult:
    def over(values: Iterable[float | None]) -> Interval:
        return student_interval(values, confidence)

    jobs = [math.fsum(server["completed"] for server in run) for run in runs]
    return ServerResult(
        share=over(one["completed"] / all_ for one, all_ in zip(answers, jobs, strict=True)),
        sojourn_s=over(one["mean_sojourn_s"] for one in answers),
        active=over(one["mean_active"] for one in answers),
        work_per_s=over(one["work_per_s"] for one in answers),
        completed_per_s=over(one["completed"] / one["seconds"] for one in answers),
    )
