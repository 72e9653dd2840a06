"""Compare the goodput and speed of airtcp with ns-2 and ns-3 on 20 points of one grid.

Downloads of 1 to 20 stations. Each peer simulates each point by its own script; airtcp simulates
the same cell under that peer's rules as a sweep, including its store. CPU time is user and system
time per simulated second. A single run of a peer has no confidence interval, so part of each
difference is the random variation of that run.

    apt-get install ns2; sh validation/ns3/build.sh          # the peers
    .venv/bin/python benches/side_by_side.py                 # both; minutes
    .venv/bin/python benches/side_by_side.py --peers ns-2 --write

Exit status 1 if ns-2 takes less than 100 times as long as airtcp, ns-3 less than 1000 times.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from airtcp.results import Results
from airtcp.results import open as opened
from airtcp.scenario import Scenario, loads
from airtcp.stats import student_interval
from airtcp.sweep.execute import execute
from airtcp.sweep.spec import sweep_of
from airtcp.sweep.workers import LocalCrew

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))
sys.path.insert(0, str(Path(__file__).parent))
from peers import ns2, ns3
from readme import processor, replace

VALIDATION = Path(__file__).parents[1] / "validation"
STATIONS = range(1, 21)
REPLICATIONS = 10
WARMUP_S, WINDOW = 10, 4
NS3_WARMUP_S = 5


@dataclass(frozen=True)
class Peer:
    """A peer: its cell in airtcp, the varied group, its runner, and the required speed ratio."""

    cell: Callable[[int], Scenario]
    group: str
    point: Callable[[int, int], tuple[float, float]]
    claim: float
    warmup_s: int


def spent(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def child(command: list[str]) -> tuple[str, float]:
    """Return a command's output and its CPU time."""
    before = spent(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout, spent(resource.RUSAGE_CHILDREN) - before


def ns2_cell(seconds: int) -> Scenario:
    text = ns2.download(
        stations=1,
        application=ns2.ENDLESS,
        window=WINDOW,
        ssthresh=WINDOW,
        warmup=WARMUP_S,
        duration=seconds,
        replications=REPLICATIONS,
    )
    return loads(text)


def ns2_point(stations: int, seconds: int) -> tuple[float, float]:
    """Return the goodput of a traced run, and the CPU time of an equally long untraced one."""
    folder = VALIDATION / "ns2"
    options = [f"--stations={stations}", f"--window={WINDOW}"]
    point = [f"--warmup={WARMUP_S}", f"--duration={seconds}", "--seeds=2"]
    said, _ = child([sys.executable, str(folder / "run.py"), "persistent", *options, *point])
    rows = list(csv.reader(said.splitlines()))
    goodput = next(float(row[3]) for row in rows if row[2] == "goodput_bps")
    whole = f"--seconds={seconds + WARMUP_S}"
    timed, _ = child([sys.executable, str(folder / "speed.py"), *options, whole])
    return goodput, float(json.loads(timed)["cpu_s"])


def ns3_cell(seconds: int) -> Scenario:
    cell = ns3.CELL.format(
        header_bits=224,
        edca="",
        rules=ns3.RULES,
        ap_queue=100,
        station_queue=100,
        n=1,
        duration=seconds,
    )
    return loads(cell + ns3.TCP.format(direction="download", every=2))


def ns3_point(stations: int, seconds: int) -> tuple[float, float]:
    options = {
        "group": "tcp-download",
        "stations": stations,
        "every": 2,
        "ap-queue": 100,
        "duration": float(seconds),
        "run": 1,
    }
    command = [str(VALIDATION / "ns3" / "cell"), *(f"--{key}={v}" for key, v in options.items())]
    said, cpu_s = child(command)
    return float(json.loads(said)["goodput_bps"]), cpu_s


PEERS = {
    "ns-2": Peer(ns2_cell, "node", ns2_point, 100.0, WARMUP_S),
    "ns-3": Peer(ns3_cell, "station", ns3_point, 1000.0, NS3_WARMUP_S),
}


def swept(peer: Peer, seconds: int, store: Path) -> tuple[Results, float]:
    """Sweep all points in airtcp, and return the CPU time per simulated second of each."""
    axes = {f"stations.{peer.group}.count": list(STATIONS)}
    before = spent(resource.RUSAGE_SELF)
    done = execute(sweep_of(peer.cell(seconds), axes), store, crew=LocalCrew(1))
    cpu_s = spent(resource.RUSAGE_SELF) - before
    simulated_s = done.runs * (seconds + peer.warmup_s)
    return opened(store), cpu_s / simulated_s


def compared(name: str, peer: Peer, seconds: int) -> tuple[list[str], float]:
    """Return the rows of a peer, and the ratio of CPU times."""
    with tempfile.TemporaryDirectory() as folder:
        # Import before timing starts.
        swept(peer, 1, Path(folder) / "first")
        ours, ours_s = swept(peer, seconds, Path(folder) / "store")
    column = ours.table[f"stations.{peer.group}.count"].to_pylist()
    values = ours.table["goodput_bps"].to_pylist()
    rows, differences, cpu = [], [], 0.0
    for stations in STATIONS:
        theirs, cpu_s = peer.point(stations, seconds)
        mine = [value for at, value in zip(column, values, strict=True) if at == stations]
        interval = student_interval(mine)
        assert interval.mean is not None
        difference = interval.mean / theirs - 1.0
        differences.append(abs(difference))
        cpu += cpu_s
        half = 100 * (interval.relative_half_width or 0.0)
        rows.append(
            f"| {name} | {stations} | {theirs / 1e6:.3f} Mb/s | {interval.mean / 1e6:.3f} Mb/s "
            f"± {half:.1f} % | {100 * difference:+.1f} % | "
            f"{1e3 * cpu_s / (seconds + peer.warmup_s):.1f} ms |"
        )
        print(rows[-1], flush=True)
    simulated_s = len(STATIONS) * (seconds + peer.warmup_s)
    times = cpu / simulated_s / ours_s
    rows.append(
        f"| {name} | all | | | {100 * statistics.median(differences):.1f} % (median) | "
        f"{1e3 * cpu / simulated_s:.1f} ms; airtcp {1e3 * ours_s:.4f} ms: **{times:.0f} times** |"
    )
    print(rows[-1], flush=True)
    return rows, times


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--seconds", type=int, default=20, help="measured seconds per point")
    parser.add_argument("--write", action="store_true", help="update the table in the README")
    arguments = parser.parse_args()
    for name, there, how in (
        ("ns-2", shutil.which("ns"), "apt-get install ns2"),
        ("ns-3", (VALIDATION / "ns3" / "cell").exists(), "sh validation/ns3/build.sh"),
    ):
        if name in arguments.peers and not there:
            sys.exit(f"{name} is not here: {how}")
    load = os.getloadavg()[0]
    lines = [
        "| peer | stations | its goodput | airtcp's | difference | CPU for a simulated second |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    missed = []
    for name in arguments.peers:
        rows, times = compared(name, PEERS[name], arguments.seconds)
        lines += rows
        if times < PEERS[name].claim:
            missed.append(f"{name} takes {times:.0f} times as long, less than the claim")
    if arguments.write:
        table = "\n".join(lines)
        machine = f"{arguments.seconds} s measured, {processor()}, load {load:.1f}."
        replace("side by side", f"{machine}\n\n{table}")
    if missed:
        sys.exit("; ".join(missed))


if __name__ == "__main__":
    main()
