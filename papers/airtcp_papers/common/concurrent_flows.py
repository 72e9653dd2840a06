"""Flow-level simulation of several networks in parallel: jobs are split among them.

Concurrent access of paper H, section V: each network is a processor-sharing server; an arriving job
is assigned to one server and stays there. The servers behave as in `flows`; a single
network gives the same results.

Sizes, capacities and times are in the units of `flows`.

Source: Hoekstra, van der Mei and Diaz-Feraren 2013, section V; M/G/1 processor sharing for each
part of a Poisson stream that is split at random.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

from airtcp import __version__
from airtcp.distributions import Distribution
from airtcp.run import flow_core
from airtcp.stats import Interval, student_interval
from numpy.typing import ArrayLike

from airtcp_papers.common.flow_arguments import Length, arrivals, effort, law_of, replicate_servers
from airtcp_papers.common.flow_arguments import capacities as checked_capacities


@dataclass(frozen=True, slots=True)
class ServerResult:
    """The measurements of one server: means over replications.

    `share` is the fraction of departed jobs that it served. `sojourn_s` is their mean sojourn time,
    None in replications without a job. `active` is the time average of the jobs present.
    `work_per_s` is the capacity used.
    """

    share: Interval
    sojourn_s: Interval
    active: Interval
    work_per_s: Interval


@dataclass(frozen=True, eq=False)
class ConcurrentResult:
    """The measurements of all servers together, and of each.

    `sojourn_s` is the mean time from arrival to departure in seconds, and `active` the time average
    of the jobs present, both over all servers. `sojourns_s` has the mean of each replication.
    """

    system: dict[str, Any]
    sojourn_s: Interval
    active: Interval
    servers: tuple[ServerResult, ...]
    sojourns_s: tuple[float, ...]
    warmup_jobs: int
    confidence: float
    version: str
    seed: int
    generator: str


def concurrent_processor_sharing(
    sizes: Distribution,
    *,
    capacities: Sequence[ArrayLike],
    split: Literal["least"] | Sequence[float],
    load: float | None = None,
    arrival_rate: float | None = None,
    interarrival: Distribution | None = None,
    **length: Unpack[Length],
) -> ConcurrentResult:
    """Simulate parallel processor-sharing servers.

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
    spent = effort(**length)
    confidence = spent.confidence
    runs = replicate_servers(flow_core.ConcurrentFlows(json.dumps(system)), spent)
    sojourns = tuple(
        math.fsum(s["completed"] * s["mean_sojourn_s"] for s in run if s["completed"]) / spent.jobs
        for run in runs
    )
    actives = [math.fsum(server["mean_active"] for server in run) for run in runs]
    return ConcurrentResult(
        system=system,
        sojourn_s=student_interval(sojourns, confidence),
        active=student_interval(actives, confidence),
        servers=tuple(
            _server([run[i] for run in runs], spent.jobs, confidence) for i in range(len(tables))
        ),
        sojourns_s=sojourns,
        warmup_jobs=spent.warmup,
        confidence=confidence,
        version=__version__,
        seed=spent.seed,
        generator=flow_core.GENERATOR,
    )


def _server(answers: Sequence[dict[str, Any]], jobs: int, confidence: float) -> ServerResult:
    def over(name: str) -> Interval:
        return student_interval([answer[name] for answer in answers], confidence)

    return ServerResult(
        share=student_interval([answer["completed"] / jobs for answer in answers], confidence),
        sojourn_s=over("mean_sojourn_s"),
        active=over("mean_active"),
        work_per_s=over("work_per_s"),
    )
