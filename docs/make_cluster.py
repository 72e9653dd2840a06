"""Measure the scheduling cost per chunk on a Dask cluster, and extrapolate to 1,000 cores.

Run `.venv/bin/python docs/make_cluster.py`.
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from airtcp.amounts import duration
from airtcp.results.table import Writer
from airtcp.scenario import loads
from airtcp.sweep import execute
from airtcp.sweep.points import points_of
from airtcp.sweep.spec import sweep_of
from airtcp.sweep.work import Chunk, Done, Task, Work, pack
from airtcp.sweep.workers import Ended, crew_of
from tables import put

PAGE = Path(__file__).parent / "howto" / "sweeps.md"
SCENARIO = """
[phy]
standard = "802.11b"
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
CHUNKS = 200
CORES = 1000
#: Maximum length of a chunk.
CHUNK_S = execute._LONGEST_S


def own_cpu_s() -> float:
    """Return the CPU time that this process has used."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def chunk_cpu_s(folder: Path) -> float:
    """Return this process's CPU time per chunk of one run; it contains the scheduler.

    The chunk is dispatched, computed elsewhere, and its row written to a store.
    """
    axes = {"run.seed": {"from": 1, "to": CHUNKS, "step": 1}}
    points = points_of(sweep_of(loads(SCENARIO), axes))
    about = execute.contents_of(points.sweep, points)
    work = Work(about.metrics, points.sweep.often)
    ended: Ended = SimpleQueue()
    with crew_of(2, "local") as crew, Writer.open(folder, about) as writer:
        places = crew.more(0, work, ended)
        begin = own_cpu_s()
        waiting = list(range(CHUNKS))
        for place in places:
            place.submit(Chunk((Task(waiting[0], pack(points.json(waiting.pop(0))), (0,)),), 1.0))
        left, kept = CHUNKS, time.perf_counter()
        columns: dict[str, list[Any]] = {"point": [], "replication": [], "seed": []}
        rows: list[bytes] = []
        while left:
            place, done = ended.get()
            assert isinstance(done, Done)
            left -= 1
            ((number, replication, seed, row),) = done.rows
            rows.append(row)
            for name, value in zip(columns, (str(number), replication, seed), strict=True):
                columns[name].append(value)
            if waiting:
                task = Task(waiting[0], pack(points.json(waiting.pop(0))), (0,))
                place.submit(Chunk((task,), 1.0))
            # As in a sweep, rows of some time go into one file.
            if not left or time.perf_counter() - kept > execute._KEEP_EACH_S:
                writer.add(columns | execute._columns(about.metrics, rows))
                columns, rows = {name: [] for name in columns}, []
                kept = time.perf_counter()
        return (own_cpu_s() - begin) / CHUNKS


def taken_s(run_s: float, work_s: float, each_s: float) -> float:
    """Return how long the cores take for this work, in chunks that grow as in a sweep.

    The scheduler limits the number of busy cores: chunk duration over scheduling cost.
    """
    elapsed = 0.0
    while work_s > 0.0:
        chunk_s = max(run_s, execute._FIRST_S, min(CHUNK_S, execute._SHARE * elapsed))
        busy = min(CORES, chunk_s / each_s)
        step = min(max(0.1, 0.01 * elapsed), work_s / busy)
        work_s -= busy * step
        elapsed += step
    return elapsed


def main() -> None:
    """Measure, and update the table."""
    with tempfile.TemporaryDirectory() as folder:
        each_s = chunk_cpu_s(Path(folder))
    lines = [
        f"A chunk costs the process that hands it out {1e3 * each_s:.1f} ms of CPU, the scheduler "
        f"and the store included (mean of {CHUNKS}).",
        "",
        "| a run takes | a million runs on one core | on 1,000 | of their time used |",
        "| --- | --- | --- | --- |",
    ]
    for run_s, told in ((1e-3, "1 ms"), (0.1, "100 ms"), (1.0, "1 s"), (60.0, "1 min")):
        work_s = 1e6 * run_s
        whole_s = taken_s(run_s, work_s, each_s)
        share = work_s / CORES / whole_s
        lines.append(f"| {told} | {duration(work_s)} | {duration(whole_s)} | {100 * share:.0f} % |")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(put(page, "cluster", "\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
