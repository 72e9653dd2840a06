"""Measure how fast airtcp is, and write the results into benches/README.md.

Contains the measurements of whole runs of the core; those of the models are in `models.py`.
ns-2 runs next to airtcp in the same call if it is installed, so the ratio is comparable across
machines.

    make bench                               # measure and print
    .venv/bin/python benches/run.py --write  # and update benches/README.md
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from readme import processor, replace

HERE = Path(__file__).parent
ROOT = HERE.parent
SCENARIOS = HERE / "scenarios"

#: Timed runs of the core: name, scenario, counted event, and its unit.
RUNS = (
    ("10 endless downloads", "downloads-10", "mac_exchanges", "exchange"),
    ("10 active of 2000 stations", "downloads-10-of-2000", "mac_exchanges", "exchange"),
    ("20 flows, EDCA, per-flow queues, SACK", "categories-20", "mac_exchanges", "exchange"),
    ("50 saturated stations", "saturated-50", "mac_attempts", "transmission"),
    # Each MPDU carries one segment.
    ("1 download over 802.11ax", "download-ax", "tcp_segments", "MPDU"),
    ("20 downloads over 802.11n", "downloads-20-n", "tcp_segments", "MPDU"),
)

Row = tuple[str, str, str]


def best_seconds(call: Callable[[], object], repeats: int = 9) -> float:
    """Return the minimum wall time of several calls, since noise only adds."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def rust_rows() -> list[Row]:
    """Time whole runs of the core."""
    return [
        (name, f"{core_cpu(scenario, counted):.0f} ns per {unit}", "CPU time, best of 5")
        for name, scenario, counted, unit in RUNS
    ]


def core_cpu(name: str, counted: str, repeats: int = 5) -> float:
    """Return the core's CPU nanoseconds per counted event on one thread, best of several runs."""
    from airtcp import _core, scenario

    simulation = _core.Simulation(scenario.load(SCENARIOS / f"{name}.toml").to_json())
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        answer, *_ = simulation.run(1, 0, _core.RunControl())
        spent = time.process_time() - begin
        best = min(best, spent * 1e9 / json.loads(answer)["counts"][counted])
    return best


def ns2_rows() -> list[Row]:
    """Run ten downloads in ns-2 and then in airtcp."""
    if shutil.which("ns") is None:
        return [("ns-2 beside airtcp", "not measured", "ns-2 is not installed (apt install ns2)")]
    ours = core_cpu("downloads-10", "mac_exchanges")
    finished = subprocess.run(
        [sys.executable, str(ROOT / "validation" / "ns2" / "speed.py"), "--stations", "10"],
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(finished.stdout)
    theirs = answer["cpu_s"] * 1e9 / answer["mac_exchanges"]
    return [
        ("10 endless downloads, ns-2", f"{theirs:.0f} ns per exchange", "CPU time, same scenario"),
        ("10 endless downloads, airtcp", f"{ours:.0f} ns per exchange", "CPU time, best of 5"),
        ("airtcp against ns-2", f"{theirs / ours:.0f} times", "quotient of the two above"),
    ]


def memory_row() -> Row:
    """Return the peak memory of a process that simulates 2000 stations."""
    code = (
        "import sys; from airtcp import _core; from pathlib import Path;"
        "_core.Simulation(Path(sys.argv[1]).read_text()).run(1, 0, _core.RunControl())"
    )
    resolved = ROOT / "target/resolved/downloads-10-of-2000.json"
    subprocess.run([sys.executable, "-c", code, str(resolved)], check=True)
    # ru_maxrss of the children: the largest of those that ended, in KiB on Linux.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return ("10 active of 2000 stations, peak memory", f"{peak:.0f} MiB", "whole process")


def measure() -> list[Row]:
    """Return all rows. Memory comes first: the system reports the peak of all child processes."""
    return [memory_row(), *rust_rows(), *ns2_rows()]


def as_table(rows: list[Row]) -> str:
    lines = ["| what | measured | how |", "| --- | --- | --- |"]
    lines += [f"| {what} | {value} | {how} |" for what, value, how in rows]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description="Measure the speed of airtcp")
    parser.add_argument("--write", action="store_true", help="update the table in README.md")
    write = parser.parse_args().write
    load = os.getloadavg()[0]
    rows = measure()
    table = as_table(rows)
    print(table)
    if load > 0.5:
        print(f"The machine was busy (load {load:.1f}): times are too long.", file=sys.stderr)
    if write:
        machine = f"Measured on {os.cpu_count()} cores of {processor()}, load {load:.1f}."
        replace("table", f"{machine}\n\n{table}")


if __name__ == "__main__":
    main()
