"""Run ns-2 on one point of a scenario, over several seeds, and print the rows of the table.

The rows have the columns of rows.csv: group, parameters, metric, mean, half width of the 95 %
interval, number of runs.

    python3 run.py persistent --stations 5 --window 1 --seeds 10
    python3 run.py web --stations 20 --window 1 --sizes exp --seeds 5
"""

from __future__ import annotations

import argparse
import concurrent.futures
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

sys.path.insert(0, str(Path(__file__).parents[1]))
from rows import MOST_RUNS, print_rows

SCENARIO = Path(__file__).with_name("scenario.tcl")
PACKET_BYTES = 1000
MEAN_FILE_BYTES = 30_000
PARETO_SHAPE = 1.5


def require_ns() -> str:
    """Return the path of the ns-2 binary, or exit with a message."""
    path = shutil.which("ns")
    if path is None:
        sys.exit("ns-2 is not installed: there is no `ns` on the path (Debian: apt install ns2)")
    return path


@dataclass(frozen=True)
class Point:
    """A point of a group. `files` is 0 for endless downloads; times are in seconds."""

    group: str
    stations: int
    window: int
    ack_every: int
    ack_timer: float
    initial_window: int
    initial_ssthresh: int
    radius: int
    warmup: float
    duration: float
    files: int
    think: float
    sizes: str

    def label(self) -> str:
        """Return the parameters in the format of the table."""
        common = f"W={self.window} d={self.ack_every}"
        if self.files == 0:
            return f"nc={self.stations} {common} r={self.radius}m"
        text = f"nsta={self.stations} {common} dist={self.sizes} files={self.files}"
        text += f" think={self.think:g}"
        if self.group == "web":
            text += f" r={self.radius}m"
        if self.ack_every > 1:
            text += f" tau={self.ack_timer:g}"
        if self.initial_window != 1:
            text += f" winit={self.initial_window}"
        return text


@dataclass
class Node:
    """Medium access of one node in the measured time: RTS with and without response."""

    answered: int = 0
    failed: int = 0
    pending: bool = False

    def on_rts(self) -> None:
        """Count a new RTS; the previous one was lost if no CTS has come."""
        self.failed += self.pending
        self.pending = True

    def on_cts(self) -> None:
        """Count the CTS of the pending RTS, if that lies in the measured time."""
        self.answered += self.pending
        self.pending = False


@dataclass
class Tally:
    """The counts of a trace. Node 0 is the access point; sequence number 0 is the SYN."""

    count: int
    nodes: list[Node] = field(init=False)
    delivered: list[int] = field(init=False)
    next_seq: list[int] = field(init=False)
    held: list[set[int]] = field(init=False)
    to_receiver: list[float] = field(default_factory=list)
    to_sender: list[float] = field(default_factory=list)
    file_packets: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Create one entry per node in every list."""
        self.nodes = [Node() for _ in range(self.count)]
        self.delivered = [0] * self.count
        self.next_seq = [0] * self.count
        self.held = [set() for _ in range(self.count)]


def draw_packets(rng: random.Random, sizes: str) -> int:
    """Draw a file size in whole packets of 1000 bytes."""
    if sizes == "exp":
        size = rng.expovariate(1 / MEAN_FILE_BYTES)
    else:
        scale = MEAN_FILE_BYTES * (PARETO_SHAPE - 1) / PARETO_SHAPE
        size = scale * rng.paretovariate(PARETO_SHAPE)
    return max(1, math.ceil(size / PACKET_BYTES))


def expected_packets(sizes: str) -> float:
    """Return the exact mean of `draw_packets`: the sum over k >= 0 of P(size > 1000 k bytes)."""
    if sizes == "exp":
        return 1 / (1 - math.exp(-PACKET_BYTES / MEAN_FILE_BYTES))
    scale = MEAN_FILE_BYTES * (PARETO_SHAPE - 1) / PARETO_SHAPE
    first = math.ceil(scale / PACKET_BYTES)
    last = 100_000
    total: float = first + sum(
        (scale / (PACKET_BYTES * k)) ** PARETO_SHAPE for k in range(first, last)
    )
    # Approximate the remaining sum by an integral, from half a step before its first term.
    rest = (scale / PACKET_BYTES) ** PARETO_SHAPE * (last - 0.5) ** (1 - PARETO_SHAPE)
    return float(total + rest / (PARETO_SHAPE - 1))


def write_workload(point: Point, seed: int, folder: Path) -> Path:
    """Write one line per station: think time, packets, think time, packets, ..."""
    rng = random.Random(seed)
    path = folder / "workload"
    with path.open("w") as file:
        for _ in range(point.stations):
            for _ in range(point.files):
                think = rng.expovariate(1 / point.think)
                file.write(f"{think:.9f} {draw_packets(rng, point.sizes)} ")
            file.write("\n")
    return path


@contextmanager
def ns_trace(ns: str, settings: dict[str, object]) -> Iterator[TextIO]:
    """Start ns-2 and yield its trace, line by line, while it runs."""
    read_end, write_end = os.pipe()
    arguments = [f"{name}={value}" for name, value in settings.items()]
    command = [ns, str(SCENARIO), *arguments, f"trace=/dev/fd/{write_end}"]
    with tempfile.TemporaryFile() as noise:
        process = subprocess.Popen(command, pass_fds=[write_end], stdout=noise, stderr=noise)
        os.close(write_end)
        with os.fdopen(read_end) as trace:
            yield trace
        if process.wait() != 0:
            noise.seek(0)
            raise RuntimeError(f"ns-2 failed: {noise.read().decode(errors='replace')}")


def read_trace(trace: TextIO, point: Point) -> Tally:
    """Count attempts, responses and in-order packets, and time the files.

    Every frame uses RTS/CTS. A file has arrived when all its packets are there in order.
    """
    count = point.stations + 1
    tally = Tally(count)
    begin = [0.0] * count
    packets = [0] * count
    for line in trace:
        parts = line.split()
        now = float(parts[1])
        if parts[0] == "BEGIN":
            station = int(parts[2])
            begin[station], packets[station] = now, int(parts[3])
            tally.next_seq[station] = 0
            tally.held[station].clear()
            tally.file_packets.append(packets[station])
        elif parts[0] == "END":
            tally.to_sender.append(now - begin[int(parts[2])])
        elif parts[3] == "MAC":
            if now < point.warmup:
                continue
            node = tally.nodes[int(parts[2][1:-1])]
            if parts[0] == "s" and parts[6] == "RTS":
                node.on_rts()
            elif parts[0] == "r" and parts[6] == "CTS":
                node.on_cts()
        elif parts[3] == "AGT" and parts[0] == "r" and parts[6] == "tcp":
            station = int(parts[2][1:-1])
            tally.held[station].add(int(parts[-4][1:]))
            while tally.next_seq[station] in tally.held[station]:
                tally.held[station].remove(tally.next_seq[station])
                tally.next_seq[station] += 1
                if tally.next_seq[station] > 1 and now >= point.warmup:
                    tally.delivered[station] += 1
                if tally.next_seq[station] == packets[station] + 1:
                    tally.to_receiver.append(now - begin[station])
    return tally


def collision_probability(nodes: list[Node]) -> float:
    """Return failed attempts over all attempts."""
    failed = sum(node.failed for node in nodes)
    return failed / (failed + sum(node.answered for node in nodes))


def metrics_of(tally: Tally, point: Point) -> dict[str, float]:
    """Return the metrics of one run."""
    result = {
        "collision_probability": collision_probability(tally.nodes),
        "collision_probability_ap": collision_probability(tally.nodes[:1]),
        "collision_probability_stations": collision_probability(tally.nodes[1:]),
    }
    if point.files == 0:
        shares = tally.delivered[1:]
        result["goodput_bps"] = sum(shares) * PACKET_BYTES * 8 / point.duration
        squares = sum(share * share for share in shares)
        result["jain_index"] = sum(shares) ** 2 / (len(shares) * squares)
        return result
    wanted = point.stations * point.files
    if len(tally.to_sender) != wanted or len(tally.to_receiver) != wanted:
        raise RuntimeError(f"{wanted} files asked for, {len(tally.to_sender)} came to an end")
    mean_packets = sum(tally.file_packets) / wanted
    adjustment = expected_packets(point.sizes) / mean_packets
    result["transfer_time_s"] = sum(tally.to_receiver) / wanted
    last_ack = sum(tally.to_sender) / wanted
    result["transfer_time_to_last_ack_s"] = last_ack
    result["transfer_time_to_last_ack_adjusted_s"] = last_ack * adjustment
    return result


def run_seed(ns: str, point: Point, seed: int) -> dict[str, float]:
    """Run one independent simulation."""
    settings: dict[str, object] = {
        "stations": point.stations,
        "radius": point.radius,
        "window": point.window,
        "initial": point.initial_window,
        "ssthresh": point.initial_ssthresh,
        "ackevery": point.ack_every,
        "acktimer": point.ack_timer,
        "duration": point.warmup + point.duration,
        "seed": seed,
    }
    with tempfile.TemporaryDirectory() as folder:
        if point.files > 0:
            settings["workload"] = write_workload(point, seed, Path(folder))
        with ns_trace(ns, settings) as trace:
            tally = read_trace(trace, point)
    return metrics_of(tally, point)


def parse_arguments() -> tuple[Point, argparse.Namespace]:
    """Parse the arguments; defaults are by group, as in the table."""
    parser = argparse.ArgumentParser(description="run ns-2 on one point of a scenario")
    parser.add_argument("group", choices=["persistent", "web", "single"])
    parser.add_argument("--stations", type=int, default=1)
    parser.add_argument("--window", type=int, default=1, help="TCP window in packets")
    parser.add_argument("--ack-every", type=int, choices=[1, 2], default=1)
    parser.add_argument(
        "--ack-timer", type=float, default=0.1, help="delayed-ACK timer in s, for --ack-every 2"
    )
    parser.add_argument("--initial-window", type=int, default=1)
    parser.add_argument(
        "--initial-ssthresh",
        type=int,
        help="packets; default 20 (persistent), the window (web and single)",
    )
    parser.add_argument("--radius", type=int, default=100, help="m, all stations on a circle")
    parser.add_argument("--warmup", type=float, help="s; default 10 (W <= 8) or 60 + 15 n")
    parser.add_argument("--duration", type=float, default=200.0, help="s of measured time")
    parser.add_argument("--files", type=int, help="per station; default 300 (web), 10000 (single)")
    parser.add_argument("--think", type=float, help="s, mean; default 10 (web), 0.2 (single)")
    parser.add_argument("--sizes", choices=["exp", "pareto"], default="exp")
    parser.add_argument("--seeds", type=int, default=5, help="number of runs, at most 31")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    args = parser.parse_args()
    if not 1 <= args.seeds <= MOST_RUNS:
        parser.error(f"--seeds must be 1 .. {MOST_RUNS}")
    endless = args.group == "persistent"
    if not endless and args.initial_ssthresh is not None:
        parser.error("--initial-ssthresh: the agents are reset before each file, to the window")
    # 0 keeps ns-2's default. 20 was chosen by its result; see README.md.
    ssthresh = (args.initial_ssthresh or 20) if endless else 0
    warmup = 0.0
    if endless:
        by_window = 10.0 if args.window <= 8 else 60.0 + 15.0 * args.stations
        warmup = by_window if args.warmup is None else args.warmup
    files, think = {"persistent": (0, 0.0), "web": (300, 10.0), "single": (10_000, 0.2)}[args.group]
    point = Point(
        group=args.group,
        stations=args.stations,
        window=args.window,
        ack_every=args.ack_every,
        ack_timer=args.ack_timer,
        initial_window=args.initial_window,
        initial_ssthresh=ssthresh,
        radius=args.radius,
        warmup=warmup,
        duration=args.duration,
        files=files if endless or args.files is None else args.files,
        think=think if endless or args.think is None else args.think,
        sizes=args.sizes,
    )
    return point, args


def main() -> None:
    """Run all seeds of one point and print its rows."""
    point, args = parse_arguments()
    ns = require_ns()
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        seeds = range(1, args.seeds + 1)
        runs = list(pool.map(run_seed, [ns] * args.seeds, [point] * args.seeds, seeds))
    print_rows(point.group, point.label(), runs)


if __name__ == "__main__":
    main()
