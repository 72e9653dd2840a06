"""Runs of twenty seconds beside long runs: what their intervals hold, and what Student's would.

    nice -n 19 .venv/bin/python validation/accuracy/short_runs.py [--write]     # three minutes

All replications of a run begin alike, and twenty seconds are short for deep queues and for windows
of endless connections: their intervals are as narrow as if they were right. The scenarios and the
long runs are those of glances.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from airtcp import simulate
from airtcp.stats import Interval, student_interval

sys.path.insert(0, str(Path(__file__).parents[1]))

from accuracy.glances import METRICS, STORED, scenarios

SHORT: Final = Path(__file__).with_name("short_runs.json")
WARMUP_S: Final = 2
MEASURED_S: Final = 20
REPLICATIONS: Final = 5
SEEDS: Final = (1, 2, 3)


@dataclass
class Tally:
    """The runs that have a metric, and how many of these tell it in which way, and rightly.

    `student_holds` counts Student's intervals, of which each run has one; `intervals` and `bounds`
    are what is told instead, where anything is.
    """

    runs: int = 0
    student_holds: int = 0
    intervals: int = 0
    hold: int = 0
    bounds: int = 0
    bounds_hold: int = 0

    def add(self, student: Interval, told: Interval, mean: float, doubt: float) -> None:
        """Count a run beside the mean of a long one, which is known within a doubt."""
        self.runs += 1
        self.student_holds += _holds(student, mean, doubt)
        if told.half_width is not None:
            self.intervals += 1
            self.hold += _holds(told, mean, doubt)
        elif told.low is not None or told.high is not None:
            self.bounds += 1
            self.bounds_hold += _holds(told, mean, doubt)


def _holds(told: Interval, mean: float, doubt: float) -> bool:
    above = told.low is None or told.low - doubt <= mean
    return above and (told.high is None or mean <= told.high + doubt)


def tallies() -> dict[str, Tally]:
    """Simulate all scenarios with a long run, and count metric by metric."""
    stored = json.loads(STORED.read_text("utf-8"))
    found = {metric: Tally() for metric in METRICS}
    for name, scenario in scenarios().items():
        for seed in SEEDS:
            short = scenario.with_run(
                warmup_ns=WARMUP_S * 10**9,
                duration_ns=MEASURED_S * 10**9,
                replications=REPLICATIONS,
                seed=seed,
            )
            run = simulate(short)
            for metric, (mean, doubt) in stored[name]["metrics"].items():
                student = student_interval(run.simulation.values(metric))
                if student.half_width is not None:
                    found[metric].add(student, run.metrics[metric], mean, doubt or 0.0)
    return found


def main() -> None:
    """Count, print, and store what was counted if asked."""
    parser = argparse.ArgumentParser(description="count what intervals of short runs hold")
    parser.add_argument("--write", action="store_true", help=f"store it in {SHORT.name}")
    write = parser.parse_args().write
    found = {metric: asdict(one) for metric, one in tallies().items()}
    lines = ",\n".join(f"{json.dumps(metric)}: {json.dumps(one)}" for metric, one in found.items())
    print(lines)
    if write:
        SHORT.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
