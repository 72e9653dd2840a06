"""Run ns-3 on points of 802.11n, ac and ax, and print the rows of the table.

Parameters of a point are the options of `modern` (made by build.sh). A run ends when the interval
of the goodput over its batches of time is within 1 %. With `runs=N` a row is the mean over N runs
instead of over the batches of one: for Minstrel-HT, which draws its sampling order once per run.
Options after ` -- ` are not part of the point.

    python3 modern.py "standard=ac dir=up stations=5 udp=1" "standard=n window=16 delay=0.001"
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1]))
from rows import print_rows

MODERN = Path(__file__).with_name("modern")


def measured(parameters: str) -> list[dict[str, float]]:
    """Return the measurements of each batch of one run, or of several runs on average."""
    head, _, runs = parameters.partition(" runs=")
    if not runs:
        return batches(head)
    each = [batches(f"{head} run={run}") for run in range(1, int(runs) + 1)]
    shared = set.intersection(*(set(batch) for run in each for batch in run))
    return [{name: fmean(batch[name] for batch in run) for name in sorted(shared)} for run in each]


def batches(parameters: str) -> list[dict[str, float]]:
    """Return the measurements of each batch of one run."""
    options = [f"--{one.replace('_', '-')}" for one in parameters.split()]
    done = subprocess.run([MODERN, *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ns-3 failed: {parameters}: {done.stderr}")
    found: list[dict[str, float]] = json.loads(done.stdout)
    return found


def group(parameters: str) -> str:
    """Return the group of a point, by its parameters."""
    kinds = {"mix=": "mixed", "+": "links", "manager=": "rates"}
    return next((kind for part, kind in kinds.items() if part in parameters), "long")


def main() -> None:
    """Print the rows of each point."""
    if not MODERN.exists():
        sys.exit(f"{MODERN} is not there: ./build.sh makes it")
    for parameters in sys.argv[1:]:
        point = parameters.partition(" -- ")[0]
        print_rows(group(point), point, measured(parameters.replace(" -- ", " ")))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
