"""Run ns-2 on uploads as in paper G, over several seeds, and print the rows of uploads.csv.

`goodput_bps` is the file size over its time, or the bytes that arrived in 1000 s. One of two ACKs
is skipped from the first packet on, because an unmodified ns-2 can do no other.

    python3 uploads.py --delay 15ms --skip 1 --retries off --seeds 10
    python3 uploads.py --defaults 2002 --seeds 31

With the defaults of 2002 some runs of ns-2 abort in its MAC. Their goodput counts until then, and
`whole_runs` is the fraction of completed runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from ns2.run import PACKET_BYTES, require_ns
from rows import MOST_RUNS, print_rows

SCENARIO = Path(__file__).with_name("uploads.tcl")
PACKETS = 10_000
#: Defaults of the ns-2 version that paper G used.
OLD = "2002"


def run_seed(
    ns: str, delay: str, skip: int, retries: bool, defaults: str, seed: int
) -> dict[str, float]:
    """Run one independent simulation."""
    settings = {
        "packets": PACKETS,
        "delay": delay,
        "skip": skip,
        "retries": int(retries),
        "seed": seed,
        "defaults": defaults,
    }
    command = [ns, str(SCENARIO), *(f"{name}={value}" for name, value in settings.items())]
    result = subprocess.run(command, capture_output=True, text=True, check=defaults != OLD)
    told = [line for line in result.stdout.splitlines() if line.startswith(("REPORT", "SOFAR"))]
    packets, seconds, timeouts = (float(word) for word in told[-1].split()[1:])
    goodput = {"goodput_bps": 8.0 * PACKET_BYTES * packets / seconds}
    if defaults == OLD:
        whole = told[-1].startswith("REPORT")
        return goodput | {"timeouts_per_s": timeouts / seconds, "whole_runs": float(whole)}
    return goodput | {"tcp_timeouts": timeouts, "finished_flows": float(packets >= PACKETS)}


def main() -> None:
    """Run all seeds of one point and print its rows."""
    parser = argparse.ArgumentParser(description="run ns-2 on an upload of 10 MB, as in paper G")
    parser.add_argument("--delay", default="2ms", help="delay of the wired link, such as 15ms")
    parser.add_argument("--skip", type=int, choices=[0, 1], default=0, help="ACKs to skip")
    parser.add_argument("--retries", choices=["on", "off"], default="off", help="MAC retries")
    parser.add_argument(
        "--defaults", choices=["2.35", OLD], default="2.35", help="defaults of this ns-2 version"
    )
    parser.add_argument("--seeds", type=int, default=5, help="number of runs, at most 31")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    args = parser.parse_args()
    if not 1 <= args.seeds <= MOST_RUNS:
        parser.error(f"--seeds must be 1 .. {MOST_RUNS}")
    ns = require_ns()
    retries = args.retries == "on"
    with ThreadPoolExecutor(args.jobs) as pool:
        runs = list(
            pool.map(
                lambda seed: run_seed(ns, args.delay, args.skip, retries, args.defaults, seed),
                range(1, args.seeds + 1),
            )
        )
    label = f"MB=10 retries={args.retries} skip={args.skip} delay={args.delay}"
    if args.defaults == OLD:
        label += f" defaults={OLD}"
    print_rows("upload-wired", label, runs)


if __name__ == "__main__":
    main()
