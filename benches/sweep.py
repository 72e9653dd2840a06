"""Measure a sweep of 10,000 small points: overhead per point, and speedup on a second core.

CPU time (user and system) covers this process and its workers. The speedup is wall time, the best
of several rounds that alternate between one core and two. The speedup of the core alone in the
same rounds is printed next to it: on a shared machine, it bounds that of the sweep. Independent of
other load is the CPU time before the first chunk and after the last one, which uses one core only.
With it, Amdahl's law gives the speedup of two idle cores.

    .venv/bin/python benches/sweep.py            # measure and print; status 1 if over budget
    .venv/bin/python benches/sweep.py --write    # and update benches/README.md
    .venv/bin/python benches/sweep.py --points 2000
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from airtcp import _core
from airtcp.results import open as opened
from airtcp.run.numbers import metric_names
from airtcp.scenario import loads
from airtcp.sweep.execute import execute
from airtcp.sweep.points import Points, points_of
from airtcp.sweep.spec import sweep_of
from airtcp.sweep.work import Work
from airtcp.sweep.workers import Ended, LocalCrew, Worker

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
start_spread = "0 s"
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


@dataclass(frozen=True)
class Spent:
    """Seconds of a sweep: wall time, CPU time, and the CPU time that only one core can spend.

    `kept` is the wall time for which its threads waited for a processor, averaged over workers.
    """

    wall: float
    cpu: float
    serial: float
    kept: float


def drawn(points: Points, most: int = 2000) -> list[str]:
    """Draw points, and return their resolved forms."""
    numbers = random.Random(1).sample(range(len(points)), min(most, len(points)))
    return [points.json(number) for number in numbers]


def core(texts: Sequence[str]) -> None:
    """Run each form in the core: parse, run, return the metrics."""
    names, control = list(metric_names()), _core.RunControl()
    for text in texts:
        _core.Simulation(text).run_metrics(1, 0, control, names)


def clocked(texts: Sequence[str], threads: int) -> float:
    """Return the wall time of the core for these runs on `threads` threads."""
    each = [
        threading.Thread(target=core, args=(texts[first::threads],)) for first in range(threads)
    ]
    begin = time.perf_counter()
    for thread in each:
        thread.start()
    for thread in each:
        thread.join()
    return time.perf_counter() - begin


def spent() -> float:
    """Return the CPU time of this process and of its finished children."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def delays() -> dict[int, float]:
    """Return how long each thread of this process has waited for a processor (schedstat)."""
    files = Path("/proc/self/task").glob("*/schedstat")
    return {int(file.parent.name): 1e-9 * int(file.read_text().split()[1]) for file in files}


class Watched(LocalCrew):
    """The worker pool of sweeps, which records its first request: planning ends there."""

    asked: float | None = None
    before: Mapping[int, float]

    def more(self, hired: int, work: Work, ended: Ended) -> list[Worker]:
        """Note the time of the first request, then hire workers as usual."""
        if self.asked is None:
            self.asked, self.before = spent(), delays()
        return super().more(hired, work, ended)


def sweep(points: int, threads: int, store: Path) -> Spent:
    """Measure a sweep."""
    axes = {**AXES, "run.seed": {"from": 1, "to": points // 20, "step": 1}}
    crew, last, now = Watched(threads), 0.0, delays()

    def progress(_: object) -> None:
        nonlocal last, now
        last, now = spent(), delays()

    own, start = threading.get_native_id(), delays()
    cpu, begin = spent(), time.perf_counter()
    done = execute(sweep_of(loads(SCENARIO), axes), store, crew=crew, progress=progress)
    wall, end = time.perf_counter() - begin, spent()
    assert done.runs == points, done
    assert crew.asked is not None
    waited = sum(delay for thread, delay in now.items() if thread not in crew.before) / threads
    alone = crew.before[own] - start[own] + delays()[own] - now[own]
    return Spent(wall, end - cpu, crew.asked - cpu + end - last, waited + alone)


def pin(processors: set[int]) -> None:
    """Pin all threads of this process to these processors."""
    for task in Path("/proc/self/task").iterdir():
        # Threads of the previous sweep may just be ending.
        with suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), processors)


@contextmanager
def one_core() -> Iterator[None]:
    """Run on one processor only."""
    allowed = os.sched_getaffinity(0)
    pin({min(allowed)})
    try:
        yield
    finally:
        pin(allowed)


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the table in the README")
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=5, help="rounds; the best counts")
    arguments = parser.parse_args()
    points = arguments.points
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        # Import everything before timing starts.
        sweep(40, 1, folder / "first")
        seeds = {"run.seed": {"from": 1, "to": points // 20, "step": 1}}
        texts = drawn(points_of(sweep_of(loads(SCENARIO), {**AXES, **seeds})))
        begin = time.process_time()
        core(texts)
        core_s = (time.process_time() - begin) / len(texts)
        one, two, gains = [], [], []
        for turn in range(arguments.turns):
            with one_core():
                one.append(sweep(points, 1, folder / f"one-{turn}"))
            two.append(sweep(points, 2, folder / f"two-{turn}"))
            gains.append(clocked(texts, 1) / clocked(texts, 2))
        stores = [opened(folder / f"{name}-0") for name in ("one", "two")]
        assert all(store.table.equals(stores[0].table) for store in stores)
        files = list((folder / "two-0").iterdir())
        size = sum(file.stat().st_size for file in files)
        begin = time.process_time()
        assert len(opened(folder / "two-0").sql(QUESTION)) == 5
        query = time.process_time() - begin
    cpu, serial = min(each.cpu for each in one), min(each.serial for each in two)
    wall = min(each.wall for each in one)
    amdahl = cpu / (serial + (cpu - serial) / 2)
    beyond = 1e3 * (cpu / points - core_s)
    rows = [
        ("core alone, a run", f"{1e3 * core_s:.3f} ms", ""),
        ("one core, a point, CPU time", f"{1e3 * cpu / points:.3f} ms", ""),
        ("of that beyond the core", f"{beyond:.3f} ms", "5 ms"),
        ("one core, the sweep by the clock", f"{wall:.2f} s", ""),
        ("before the first chunk and after the last, CPU time", f"{serial:.2f} s", ""),
        ("so two cores are, by Amdahl's law", f"{amdahl:.2f} times one", ""),
        ("by the clock", f"{wall / min(each.wall for each in two):.2f} times one", ""),
        (
            "less what its threads waited for a processor",
            f"{cpu / min(each.wall - each.kept for each in two):.2f} times one",
            "",
        ),
        ("of the core alone, in the same minutes", f"{max(gains):.2f} times one", ""),
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
    # Wall time depends on other load.
    if beyond > 5.0 or size > 50e6 or query > 1.0:
        sys.exit(f"Over budget (load {load:.1f})")


if __name__ == "__main__":
    main()
