"""Measures a sweep of 10,000 small points: what one costs beyond the core, what a second core does.

Knows one sweep and its budgets. CPU time, user and system, of this process and of those beside it:
on a machine that others use too, a wall clock says little. What two cores would take if nobody
else used them is what one process does alone, and half of all the rest. Only the clock shows what
two threads of one process take, which wait for each other.

    .venv/bin/python benches/sweep.py            # measure and print; status 1 if over budget
    .venv/bin/python benches/sweep.py --write    # and replace the table of benches/README.md
    .venv/bin/python benches/sweep.py --points 2000
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from airtcp import _core
from airtcp.results import open as opened
from airtcp.scenario import loads
from airtcp.sweep.execute import execute
from airtcp.sweep.points import Points, points_of
from airtcp.sweep.spec import sweep_of
from airtcp.sweep.work import Work
from airtcp.sweep.workers import Crew, Ended, LocalCrew, Thread, Worker

sys.path.insert(0, str(Path(__file__).parent))
from readme import processor, replace

#: Two seconds of ten stations.
SCENARIO = """
[phy]
standard = "802.11b"
[ap]
queue = { discipline = "fifo", limit = 100 }
[[stations]]
name = "laptop"
count = 10
[[flows]]
stations = "laptop"
direction = "download"
application = { kind = "bulk" }
[run]
warmup = "0 s"
duration = "2 s"
replications = 1
"""
AXES = {
    "flows.laptop.tcp.receive_window.segments": [2, 4, 8, 16],
    "ap.queue.limit": {"from": 20, "to": 500, "points": 5, "scale": "log"},
}
QUESTION = """
    SELECT "ap.queue.limit", avg(goodput_bps), count(*) FROM results GROUP BY ALL ORDER BY 1
"""


def core_s(points: Points, most: int = 1000) -> float:
    """CPU time of the core for a run: parse, run, JSON both ways; the mean of points drawn."""
    numbers = random.Random(1).sample(range(len(points)), min(most, len(points)))
    texts = [points.json(number) for number in numbers]
    begin = time.process_time()
    for text in texts:
        answer, _ = _core.Simulation(text).run(1, 0, _core.RunControl())
        json.loads(answer)
    return (time.process_time() - begin) / len(numbers)


def spent(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


class Threads(LocalCrew):
    """So many threads of this process: what the crew of sweeps is measured against."""

    def more(
        self, hired: int, work: Work, ended: Ended, left_s: float | None, elapsed_s: float
    ) -> list[Worker]:
        """All at once."""
        return [Thread(work, ended) for _ in range(self.threads - hired)]


def sweep(
    points: int, crew: Crew, store: Path, made: int | None = None
) -> tuple[float, float, float]:
    """CPU time of this process, of those beside it, and wall time of a sweep."""
    seeds = points // 20
    axes = {**AXES, "run.seed": {"from": 1, "to": seeds, "step": 1}}
    before = spent(resource.RUSAGE_SELF), spent(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = execute(sweep_of(loads(SCENARIO), axes), store, crew=crew)
    wall = time.perf_counter() - begin
    assert done.runs == (points if made is None else made), done
    after = spent(resource.RUSAGE_SELF), spent(resource.RUSAGE_CHILDREN)
    return after[0] - before[0], after[1] - before[1], wall


def main() -> None:
    """Measure, print, and replace the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the table of the README")
    parser.add_argument("--points", type=int, default=10_000)
    arguments = parser.parse_args()
    points = arguments.points
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        # Imports are paid for once, before anything is measured.
        sweep(40, LocalCrew(1), Path(folder) / "first")
        seeds = {"run.seed": {"from": 1, "to": points // 20, "step": 1}}
        core = core_s(points_of(sweep_of(loads(SCENARIO), {**AXES, **seeds})))
        alone, _, wall = sweep(points, LocalCrew(1), Path(folder) / "one")
        here, beside, shared = sweep(points, LocalCrew(2), Path(folder) / "two")
        serial, _, _ = sweep(points, LocalCrew(1), Path(folder) / "two", made=0)
        _, _, threads = sweep(points, Threads(2), Path(folder) / "threads")
        one, two = opened(Path(folder) / "one"), opened(Path(folder) / "two")
        assert one.table.equals(two.table)
        files = list((Path(folder) / "two").iterdir())
        size = sum(file.stat().st_size for file in files)
        begin = time.process_time()
        assert len(opened(Path(folder) / "two").sql(QUESTION)) == 5
        query = time.process_time() - begin
    # What comes before the first chunk is for one; all else is shared, whoever is ready takes more.
    faster = alone / (serial + (here + beside - serial) / 2)
    rows = [
        ("core alone, a run", f"{1e3 * core:.3f} ms", ""),
        ("one worker, a point", f"{1e3 * alone / points:.3f} ms", ""),
        ("of that beyond the core", f"{1e3 * (alone / points - core):.3f} ms", "0.3 ms"),
        ("two workers: this process, the one beside it", f"{here:.2f} s, {beside:.2f} s", ""),
        ("the sweep once more, with nothing to do", f"{serial:.2f} s", ""),
        ("one worker over two that share what can be shared", f"{faster:.2f} times", "1.8 times"),
        ("the same by the clock", f"{wall / shared:.2f} times", ""),
        ("the same by the clock with two threads instead", f"{wall / threads:.2f} times", ""),
        (f"the store: {len(files)} files", f"{size / 1e6:.1f} MB", "50 MB"),
        ("open it, ask a question in SQL", f"{query:.2f} s", "1 s"),
    ]
    lines = ["| what | measured | budget |", "| --- | --- | --- |"]
    lines += [f"| {what} | {measured} | {budget} |" for what, measured, budget in rows]
    table = "\n".join(lines)
    print(table)
    if arguments.write:
        machine = f"{points:,} points, {os.cpu_count()} cores of {processor()}, load {load:.1f}."
        replace("sweep", f"{machine}\n\n{table}")
    beyond = 1e3 * (alone / points - core)
    if beyond > 0.3 or faster < 1.8 or size > 50e6 or query > 1.0:
        sys.exit(f"Over budget (load {load:.1f})")


if __name__ == "__main__":
    main()
