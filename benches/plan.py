"""Measure the CPU time of `airtcp plan` with remedies for the guide's cafe, in two versions.

Versions alternate, each in its own process, so import time counts. A version is a checkout with a
built core.

    .venv/bin/python benches/plan.py                          # this one
    .venv/bin/python benches/plan.py CHECKOUT --seeds 1 2 3   # this one and another, in turns
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from coverage import CASES

HERE = Path(__file__).parents[1]
_ASKED = """
import json, resource, sys
import airtcp
text, until, seed = json.load(sys.stdin)
plan = airtcp.plan(
    airtcp.load(text), vary="stations", until=until, seed=seed, threads=1, limit_s=1e6
)
used = resource.getrusage(resource.RUSAGE_SELF)
answer = plan.answer
print(json.dumps({
    "cpu_s": used.ru_utime + used.ru_stime,
    "runs": plan.runs,
    "answer": [answer.value, answer.low, answer.high],
    "best": [
        one.name for one in plan.remedies
        if one.verdict == "gains" and not getattr(one, "research", False)
    ],
}))
"""


def measured(checkout: Path, seed: int) -> dict[str, Any]:
    """Run a version, and return its result and cost."""
    case = CASES["cafe"]
    done = subprocess.run(
        [sys.executable, "-c", _ASKED],
        input=json.dumps([case.scenario, case.until, seed]),
        env=os.environ | {"PYTHONPATH": str(checkout / "python")},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure each seed with alternating versions; print a line per seed and the overall ratio."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", nargs="?", type=Path, help="a checkout to compare with")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--rounds", type=int, default=1, help="rounds; the minimum counts")
    options = parser.parse_args()
    checkouts = [HERE] if options.other is None else [options.other.resolve(), HERE]
    for checkout in checkouts:
        # Compile modules before measuring, so that the first version does not pay for it.
        subprocess.run([sys.executable, "-m", "compileall", "-q", checkout / "python"], check=True)
    total_s = dict.fromkeys(checkouts, 0.0)
    for seed in options.seeds:
        rounds = [
            {checkout: measured(checkout, seed) for checkout in checkouts}
            for _ in range(options.rounds)
        ]
        took = {
            checkout: min((one[checkout] for one in rounds), key=lambda found: found["cpu_s"])
            for checkout in checkouts
        }
        for checkout in checkouts:
            found = took[checkout]
            total_s[checkout] += found["cpu_s"]
            value, low, high = found["answer"]
            print(
                f"{checkout.name} seed {seed}: {found['cpu_s']:.2f} s, {found['runs']} runs, "
                f"{value} ({low} to {high}), {', '.join(found['best'])}",
                flush=True,
            )
    if options.other is not None:
        print(f"quotient of all: {total_s[HERE] / total_s[checkouts[0]]:.3f}")


if __name__ == "__main__":
    main()
