"""Compare 20-second runs with long runs: coverage of their intervals, and of Student's.

    nice -n 19 .venv/bin/python validation/accuracy/short_runs.py [--write]     # three minutes

All replications of a run begin in the same state, and 20 s are short for deep queues and for the
windows of endless connections, so plain intervals are too narrow. The scenarios and the long runs
are those of glances.
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
    """Counts of runs with a metric, by kind of result and by whether it is correct.

    `student_holds` counts Student's intervals that contain the mean; every run has one. `intervals`
    and `bounds` count the results that airtcp reports instead.
    """

    runs: int = 0
    student_holds: int = 0
    intervals: int = 0
    hold: int = 0
    bounds: int = 0
    bounds_hold: int = 0

    def add(self, student: Interval, told: Interval, mean: float, doubt: float) -> None:
        """Compare a run with the mean of a long run and its half width, and count it."""
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
    """Simulate all scenarios with a long run, and count by metric."""
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
    """Count, print, and with `--write` store the counts."""
    parser = argparse.ArgumentParser(description="measure the coverage of intervals of short runs")
    parser.add_argument("--write", action="store_true", help=f"store the counts in {SHORT.name}")
    write = parser.parse_args().write
    found = {metric: asdict(one) for metric, one in tallies().items()}
    lines = ",\n".join(f"{json.dumps(metric)}: {json.dumps(one)}" for metric, one in found.items())
    print(lines)
    if write:
        SHORT.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
