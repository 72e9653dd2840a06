"""Compare the flow-level simulator with Ciw's processor-sharing node on the same systems.

Both simulate M/G/1-PS with the same load and size distribution in the same call, one thread each.
Both are measured in CPU time from the empty system to the last number, so the ratio is comparable
across machines. Their random numbers differ; the results should agree within their confidence
intervals.

    .venv/bin/python benches/flow.py           # a table, about a minute
    .venv/bin/python benches/flow.py --quick   # fewer jobs
    .venv/bin/python benches/flow.py --json
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ciw  # type: ignore[import-untyped]
from airtcp.distributions import Deterministic, Distribution, Exponential, Hyperexponential, Pareto
from airtcp.stats import Interval, student_interval
from airtcp_papers.common.flows import processor_sharing

LOAD = 0.8
CONFIDENCE = 0.99
REPLICATIONS = 10


@dataclass(frozen=True)
class Law:
    """A size distribution with mean 1, as airtcp writes it and as a sampler for Ciw."""

    name: str
    sizes: Distribution
    draw: Callable[[], float]


# Squared coefficient of variation 10; each branch contributes half of the work.
SCV = 10.0
FIRST = (1 + math.sqrt((SCV - 1) / (SCV + 1))) / 2

LAWS = (
    Law("deterministic", Deterministic(value=1.0), lambda: 1.0),
    Law("exponential", Exponential(mean=1.0), lambda: random.expovariate(1.0)),
    Law(
        "hyperexponential, scv 10",
        Hyperexponential(probability=1 - FIRST, mean_1=0.5 / (1 - FIRST), mean_2=0.5 / FIRST),
        lambda: random.expovariate(2 * (FIRST if random.random() < FIRST else 1 - FIRST)),
    ),
    Law("Pareto, shape 1.5", Pareto(shape=1.5, scale=1 / 3), lambda: random.paretovariate(1.5) / 3),
)


class Sizes(ciw.dists.Distribution):  # type: ignore[misc]
    """Draw sizes and store each with its job, because Ciw's records omit them."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self.draw = draw

    def sample(self, t: float | None = None, ind: Any = None) -> float:
        """Return the size of the job `ind`."""
        ind.size = self.draw()
        return float(ind.size)


def ciw_replication(law: Law, seed: int, jobs: int) -> tuple[float, float]:
    """Return the mean slowdown of the last 90 % of jobs in Ciw, and the CPU seconds of the run."""
    begin = time.process_time()
    ciw.seed(seed)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=LOAD)],
        service_distributions=[Sizes(law.draw)],
        number_of_servers=[math.inf],
    )
    simulation = ciw.Simulation(network, node_class=ciw.PSNode)
    simulation.simulate_until_max_customers(jobs, method="Finish")
    measured = simulation.nodes[-1].all_individuals[jobs // 10 : jobs]
    records = [(job.data_records[0], job.size) for job in measured]
    slowdowns = [(record.exit_date - record.arrival_date) / size for record, size in records]
    return math.fsum(slowdowns) / len(slowdowns), time.process_time() - begin


def beside_ciw(law: Law, ciw_jobs: int, our_jobs: int) -> dict[str, Any]:
    """Return slowdowns with intervals, and nanoseconds per job, of both simulators."""
    theirs = [ciw_replication(law, seed, ciw_jobs) for seed in range(REPLICATIONS)]
    ciw_slowdown = student_interval([slowdown for slowdown, _ in theirs], CONFIDENCE)
    ciw_ns = 1e9 * sum(seconds for _, seconds in theirs) / (REPLICATIONS * ciw_jobs)

    begin = time.process_time()
    result = processor_sharing(
        law.sizes, capacity=1.0, load=LOAD, jobs=our_jobs, confidence=CONFIDENCE,
        replications=REPLICATIONS, threads=1,
    )  # fmt: skip
    done = result.counts["completed"] + REPLICATIONS * result.warmup_jobs
    our_ns = 1e9 * (time.process_time() - begin) / done
    return {
        "sizes": law.name,
        "theory": 1 / (1 - LOAD),
        "ciw": ciw_slowdown.to_dict(),
        "airtcp": result.slowdown.to_dict(),
        "ciw_ns_per_job": ciw_ns,
        "airtcp_ns_per_job": our_ns,
        "ratio": ciw_ns / our_ns,
    }


def many_jobs(jobs: int) -> dict[str, Any]:
    """Return the wall time of many jobs on all processors."""
    begin = time.perf_counter()
    result = processor_sharing(
        Exponential(mean=1.0), capacity=1.0, load=LOAD, jobs=jobs // 10, warmup_jobs=0
    )
    return {"jobs": result.counts["completed"], "wall_s": time.perf_counter() - begin}


def as_text(interval: dict[str, float]) -> str:
    """Format mean and half width."""
    read = Interval(**interval)  # type: ignore[arg-type]
    return f"{read.mean:.3f} +- {read.half_width:.3f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Compare flow-level simulation with Ciw")
    parser.add_argument("--quick", action="store_true", help="fewer jobs")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    arguments = parser.parse_args()
    fewer = 5 if arguments.quick else 1
    answer: dict[str, Any] = {
        "load": LOAD,
        "confidence": CONFIDENCE,
        "rows": [beside_ciw(law, 50_000 // fewer, 2_000_000 // fewer) for law in LAWS],
        "many": many_jobs(50_000_000 // fewer),
    }
    if arguments.json:
        print(json.dumps(answer, indent=2))
        return
    print(f"Mean slowdown of M/G/1-PS at a load of {LOAD}; {CONFIDENCE:.0%} intervals.\n")
    print("| sizes | theory | Ciw | airtcp | Ciw, ns per job | airtcp, ns per job | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in answer["rows"]:
        print(
            f"| {row['sizes']} | {row['theory']:.3f} | {as_text(row['ciw'])} "
            f"| {as_text(row['airtcp'])} | {row['ciw_ns_per_job']:.0f} "
            f"| {row['airtcp_ns_per_job']:.0f} | {row['ratio']:.0f} |"
        )
    many = answer["many"]
    print(
        f"\n{many['jobs'] / 1e6:.0f} million jobs: {many['wall_s']:.1f} s on "
        f"{os.cpu_count()} processors (load of the machine: {os.getloadavg()[0]:.1f})."
    )


if __name__ == "__main__":
    main()
