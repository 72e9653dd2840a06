"""Measure how often the confidence interval of `airtcp plan` contains the true value.

For each case, one sweep finds the true limit by simulating every value with many replications.
Then plans with other seeds, run as a user would run them, state their intervals. A 95 % interval
should contain the truth in 19 of 20 plans; the benchmark requires 17.

    .venv/bin/python benches/coverage.py           # all cases, about half an hour of two processors
    .venv/bin/python benches/coverage.py pages     # one
    .venv/bin/python benches/coverage.py --json
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import airtcp
from airtcp.conditions import parse_condition
from airtcp.plan.axis import axis_of
from airtcp.stats import student_interval

SEEDS = 20
LEAST = 17
#: Seeds of the sweeps, far from those of the plans.
_SWEEP_SEED = 1_000_003

#: The cafe of the planning guide.
_CAFE = """
phy = { standard = "802.11g" }
ap = { queue = { limit = 100 } }
stations = [{ name = "laptop", count = 10 }]
flows = [{ stations = "laptop", direction = "download", application = { kind = "web", \
size = { distribution = "exponential", mean = "500 kB" }, \
think_time = { distribution = "exponential", mean = "10 s" } } }]
run = { warmup = "20 s", duration = "100 s", replications = 10 }
"""
_CELL = """
phy = {{ standard = "{standard}" }}
stations = [{{ name = "laptop", count = 10 }}]
flows = [{{ stations = "laptop", direction = "download", application = {application} }}]
run = {{ warmup = "5 s", duration = "{duration}", replications = 20 }}
"""
_PAGES = (
    '{ kind = "web", size = { distribution = "exponential", mean = "30 kB" }, '
    'think_time = { distribution = "exponential", mean = "5 s" } }'
)
_FILES = (
    '{ kind = "ftp", interarrival = { distribution = "exponential", mean = "4 s" }, '
    'size = { distribution = "pareto", mean = "60 kB", shape = 1.9 } }'
)


@dataclass(frozen=True)
class Case:
    """A question to `plan`, and the values that the sweep simulates."""

    scenario: str
    until: str
    values: range
    replications: int


CASES = {
    "cafe": Case(_CAFE, "p90 transfer_time > 2 s", range(46, 66, 2), 200),
    "pages": Case(
        _CELL.format(standard="802.11b", application=_PAGES, duration="60 s"),
        "p90 transfer_time > 1 s",
        range(100, 136, 4),
        200,
    ),
    "files": Case(
        _CELL.format(standard="802.11b", application=_FILES, duration="60 s"),
        "transfer_time > 500 ms",
        range(28, 48, 2),
        400,
    ),
    "bulk": Case(
        _CELL.format(standard="802.11g", application='{ kind = "bulk" }', duration="10 s"),
        "flow_goodput < 1 Mb/s",
        range(14, 30),
        40,
    ),
}


def truth(case: Case) -> tuple[int, int, int]:
    """Return the limit found by the sweep, and its range given the noise of the sweep."""
    axis = axis_of(airtcp.load(case.scenario), "stations")
    condition = parse_condition(case.until)
    means, lows, highs = {}, {}, {}
    for value in case.values:
        result = airtcp.simulate(
            axis.at(axis.nearest(value)), replications=case.replications, seed=_SWEEP_SEED
        )
        excess = [
            condition.excess(one)
            for one in result.simulation.values(condition.metric)
            if one is not None
        ]
        interval = student_interval(excess, 0.95)
        assert interval.mean is not None
        assert interval.low is not None
        assert interval.high is not None
        means[value], lows[value], highs[value] = interval.mean, interval.low, interval.high
    return _last(means), _last(highs), _last(lows)


def _last(excess: dict[int, float]) -> int:
    """Return the last value that meets the condition, interpolated linearly."""
    values = sorted(excess)
    for left, right in pairwise(values):
        if excess[left] <= 0.0 < excess[right]:
            part = -excess[left] / (excess[right] - excess[left])
            return int(left + part * (right - left) + 1e-9)
    raise SystemExit(f"no end among {values[0]} to {values[-1]}: {excess}")


def measure(case: Case, seeds: int) -> dict[str, Any]:
    """Return the truth, the results of the plans, and how many of them contain it."""
    end, least, most = truth(case)
    scenario = airtcp.load(case.scenario)
    stated, runs, cpu_s = [], [], []
    for seed in range(1, seeds + 1):
        begin = time.process_time()
        answer = (
            plan := airtcp.plan(
                scenario, vary="stations", until=case.until, seed=seed, remedies=False
            )
        ).answer
        assert answer is not None
        stated.append((answer.value, answer.low, answer.high))
        runs.append(plan.runs)
        cpu_s.append(time.process_time() - begin)
    held = sum(
        (low is None or low <= end) and (high is None or end <= high) for _, low, high in stated
    )
    return {
        "until": case.until,
        "truth": end,
        "truth_between": [least, most],
        "held": held,
        "of": seeds,
        "mean_width": sum((high or end) - (low or end) for _, low, high in stated) / seeds,
        "mean_runs": sum(runs) / seeds,
        "mean_cpu_s": sum(cpu_s) / seeds,
        "stated": stated,
    }


def main() -> None:
    """Measure the named cases and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], default=[])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {name: measure(CASES[name], options.seeds) for name in options.cases or CASES}
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print("| case | until | truth (sweep) | held | mean width | mean runs | CPU s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, one in found.items():
        least, most = one["truth_between"]
        print(
            f"| {name} | {one['until']} | {one['truth']} ({least} to {most}) | "
            f"{one['held']} of {one['of']} | {one['mean_width']:.1f} | {one['mean_runs']:.0f} | "
            f"{one['mean_cpu_s']:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
