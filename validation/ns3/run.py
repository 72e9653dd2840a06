"""Run ns-3 on one point of a group, over several runs, and print the rows of the table.

Parameters are those of tests/reference/ns3.csv; build.sh builds `cell`.

    python3 run.py tcp-download --stations 5 --every 2 --runs 5
    python3 run.py tcp-upload-dcf --stations 10 --ap-queue 20 --duration 200
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from rows import MOST_RUNS, print_rows

CELL = Path(__file__).with_name("cell")
#: Groups, and their default measured seconds.
GROUPS = {"tcp-download": 100, "tcp-upload-dcf": 100, "tcp-upload-edca": 60, "udp-both-ways": 60}


def run(arguments: list[str], number: int) -> dict[str, float]:
    """Run one independent simulation."""
    command = [str(CELL), *arguments, f"--run={number}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ns-3 failed: {done.stderr}")
    metrics: dict[str, float] = json.loads(done.stdout)
    return metrics


def label(args: argparse.Namespace) -> str:
    """Return the parameters in the format of the table."""
    parts = [f"n={args.stations}"]
    if args.group != "udp-both-ways":
        parts.append(f"every={args.every}")
    if args.group in ("tcp-download", "udp-both-ways"):
        parts.append("control=2Mb/s")
    if args.group in ("tcp-download", "tcp-upload-dcf"):
        parts.append(f"ap_queue={args.ap_queue}")
    return " ".join(parts)


def parse_arguments() -> argparse.Namespace:
    """Parse the arguments; defaults are as in the table."""
    parser = argparse.ArgumentParser(description="run ns-3 on one point of a group")
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--stations", type=int, default=1)
    parser.add_argument("--every", type=int, help="segments per ACK; default 2 for downloads")
    parser.add_argument("--ap-queue", type=int, default=100, help="packets")
    parser.add_argument("--duration", type=float, help="s of measured time")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    args = parser.parse_args()
    if not 1 <= args.runs <= MOST_RUNS:
        parser.error(f"--runs must be 1 .. {MOST_RUNS}")
    args.every = args.every or (2 if args.group == "tcp-download" else 1)
    args.duration = args.duration or GROUPS[args.group]
    return args


def main() -> None:
    """Run all seeds of one point and print its rows."""
    args = parse_arguments()
    if not CELL.exists():
        sys.exit(f"{CELL} is not there: ./build.sh makes it")
    arguments = [
        f"--group={args.group}",
        f"--stations={args.stations}",
        f"--every={args.every}",
        f"--ap-queue={args.ap_queue}",
        f"--duration={args.duration}",
    ]
    numbers = range(1, args.runs + 1)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        runs = list(pool.map(lambda number: run(arguments, number), numbers))
    print_rows(args.group, label(args), runs)


if __name__ == "__main__":
    main()
