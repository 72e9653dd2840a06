"""Run ns-3 on points of 802.11n, ac and ax, and print the rows of the table.

Knows how to start `modern` (build.sh makes it), and that parameters of a point are its options.
Knows nothing of airtcp. A run ends once the interval of the goodput over its batches of time is
within 1 %.

    python3 modern.py "standard=ac dir=up stations=5 udp=1" "standard=n window=16 delay=0.001"
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from rows import print_rows

MODERN = Path(__file__).with_name("modern")


def batches(parameters: str) -> list[dict[str, float]]:
    """What was measured in each batch of time of one run."""
    options = [f"--{one.replace('_', '-')}" for one in parameters.split()]
    done = subprocess.run([MODERN, *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ns-3 failed: {parameters}: {done.stderr}")
    measured: list[dict[str, float]] = json.loads(done.stdout)
    return measured


def main() -> None:
    """Print the rows of each point."""
    if not MODERN.exists():
        sys.exit(f"{MODERN} is not there: ./build.sh makes it")
    for parameters in sys.argv[1:]:
        print_rows("long", parameters, batches(parameters))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
