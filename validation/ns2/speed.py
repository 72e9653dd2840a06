"""Measure ns-2's CPU time per MAC exchange without a trace, and print JSON.

A benchmark runs it next to its own.

    python3 speed.py --stations 10 --window 1000 --seconds 100
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from ns2.run import SCENARIO, require_ns


def main() -> None:
    """Run ns-2 once and print CPU time, exchanges and their ratio."""
    parser = argparse.ArgumentParser(description="measure the CPU time of ns-2 per MAC exchange")
    parser.add_argument(
        "--stations", type=int, default=10, help="stations with one endless download each"
    )
    parser.add_argument("--window", type=int, default=1000, help="TCP window in packets")
    parser.add_argument("--seconds", type=float, default=100.0, help="simulated time")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    settings = {
        "stations": args.stations,
        "window": args.window,
        "ssthresh": 20,
        "duration": args.seconds,
        "seed": args.seed,
        "summary": 1,
    }
    command = [
        require_ns(),
        str(SCENARIO),
        *(f"{name}={value}" for name, value in settings.items()),
    ]
    before = os.times()
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    after = os.times()
    if finished.returncode != 0:
        sys.exit(f"ns-2 failed: {finished.stdout}{finished.stderr}")
    counted = re.search(r"^exchanges (\d+)$", finished.stdout, re.MULTILINE)
    if counted is None:
        sys.exit(f"ns-2 reported no exchanges: {finished.stdout}{finished.stderr}")
    cpu_s = after.children_user - before.children_user
    cpu_s += after.children_system - before.children_system
    exchanges = int(counted[1])
    answer = {
        "program": "ns-2",
        "stations": args.stations,
        "window": args.window,
        "simulated_s": args.seconds,
        "cpu_s": round(cpu_s, 3),
        # One exchange per data packet and TCP ACK that arrived.
        "mac_exchanges": exchanges,
        "simulated_s_per_cpu_s": round(args.seconds / cpu_s, 2),
        "cpu_us_per_mac_exchange": round(cpu_s * 1e6 / exchanges, 3),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
