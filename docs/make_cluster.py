"""Measures what a chunk costs on a Dask cluster, and writes what 1,000 cores would give.

Knows one sweep, a cluster of two processes here, and the table of cluster.md.

    .venv/bin/python docs/make_cluster.py
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from typing import Any

from airtcp.scenario import loads
from airtcp.sweep import execute as module
from airtcp.sweep.crews import crew_of
from airtcp.sweep.execute import execute
from airtcp.sweep.spec import sweep_of
from tables import put

PAGE = Path(__file__).parent / "cluster.md"
SCENARIO = """
[phy]
standard = "802.11b"
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
POINTS = 1500
CORES = 1000
#: The longest that a chunk becomes.
CHUNK_S = module._LONGEST_S


def own_cpu_s() -> float:
    """What this process has used so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measured(chunk_s: float, folder: Path) -> tuple[float, int]:
    """CPU time of this process, in which the scheduler is, for a sweep in such chunks; how many."""
    axes = {"run.seed": {"from": 1, "to": POINTS, "step": 1}}
    chunks = 0

    made = module._Run._take

    def take(*arguments: Any) -> Any:
        """As it is, and counted."""
        nonlocal chunks
        chunks += 1
        return made(*arguments)

    module._FIRST_S, module._SHARE = chunk_s, 0.0  # type: ignore[misc]
    module._Run._take = take  # type: ignore[method-assign]
    try:
        with crew_of(2, "local") as crew:
            begin = own_cpu_s()
            execute(sweep_of(loads(SCENARIO), axes), folder, crew=crew)
            return own_cpu_s() - begin, chunks
    finally:
        module._Run._take = made  # type: ignore[method-assign]


def main() -> None:
    """Measure, and replace the table."""
    with tempfile.TemporaryDirectory() as folder:
        short, many = measured(0.02, Path(folder) / "many")
        long, few = measured(0.4, Path(folder) / "few")
    each_s = (short - long) / (many - few)
    lines = [
        f"A chunk costs the process that hands it out {1e3 * each_s:.1f} ms of CPU: {many} chunks "
        f"against {few} for the same {POINTS:,} points.",
        "",
        "| a run takes | chunks of | chunks a second | one core at the scheduler | "
        "a million runs |",
        "| --- | --- | --- | --- | --- |",
    ]
    for run_s, told in ((1e-3, "1 ms"), (1.0, "1 s"), (60.0, "1 min")):
        chunk_s = max(CHUNK_S, run_s)
        rate = CORES / chunk_s
        busy = rate * each_s
        # Where the scheduler is the narrow place, it says how long all takes.
        whole_s = max(1.0, busy) * 1e6 * run_s / CORES
        lines.append(
            f"| {told} | {chunk_s:.0f} s | {rate:.0f} | {100 * busy:.0f} % busy | "
            f"{whole_s:,.0f} s |"
        )
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(put(page, "cluster", "\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
