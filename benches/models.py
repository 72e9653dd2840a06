"""Measure how fast the models respond, and check them against the budget of a slider.

Python and its libraries are loaded before timing starts.

    .venv/bin/python benches/models.py           # measure and print; status 1 if over budget
    .venv/bin/python benches/models.py --write   # and update benches/README.md
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import airtcp
import numpy as np
from airtcp.models import bianchi
from airtcp.models.processor_sharing import sojourn_tail
from airtcp_papers.leith import model as leith
from airtcp_papers.miorandi import model as miorandi

sys.path.insert(0, str(Path(__file__).parent))
from readme import processor, replace
from run import ROOT, best_seconds


class Call(NamedTuple):
    """A call and its budget in milliseconds."""

    name: str
    budget_ms: float
    call: Callable[[], object]


def calls() -> list[Call]:
    """Return one vectorized call of each model, and `predict` on every example."""
    table, corrected = miorandi.Parameters.table_1(), miorandi.CORRECTED
    few, many = np.linspace(1.0, 200.0, 10_000), np.linspace(1.0, 1000.0, 10_000)
    stations, times = np.arange(1, 201), np.linspace(0.0, 40.0, 200)
    figures = leith.Parameters.of_figures()
    found = [
        Call(
            "Fig. 8 of paper M, 1 .. 200 stations",
            20.0,
            lambda: miorandi.session_delay(
                stations, table, think_time_s=10.0, mean_size_bytes=30_000
            ),
        ),
        Call(
            "P_C of paper M as printed, 10,000 points",
            50.0,
            lambda: miorandi.collision_probability(few, table),
        ),
        Call(
            "P_C of paper M corrected, 10,000 points",
            50.0,
            lambda: miorandi.collision_probability(many, table, corrected),
        ),
        Call(
            "tau of Bianchi, 10,000 points",
            50.0,
            lambda: bianchi.fixed_point(many, 32, 5),
        ),
        Call(
            "tau of Bianchi with a retry limit, 10,000 points",
            50.0,
            lambda: bianchi.fixed_point(many, 32, 5, 6),
        ),
        Call(
            "throughput of paper L, 10,000 points",
            50.0,
            lambda: leith.throughput(many, 32, 5, 2, figures),
        ),
        Call("(26) of paper H, 200 times", 50.0, lambda: sojourn_tail(times, 0.78)),
        Call(
            "(26) of paper H, 200 loads",
            50.0,
            lambda: sojourn_tail(10.0, np.linspace(0.0, 0.99, 200)),
        ),
    ]
    for path in sorted((ROOT / "python/airtcp/examples").glob("*.toml")):
        found.append(_predict(path))
    return found


def _predict(path: Path) -> Call:
    scenario = airtcp.load(path)
    return Call(f"predict, example {path.stem}", 100.0, lambda: airtcp.predict(scenario))


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description="Measure the speed of the models")
    parser.add_argument("--write", action="store_true", help="update the table in README.md")
    write = parser.parse_args().write
    load = os.getloadavg()[0]
    lines = ["| what | measured | budget |", "| --- | --- | --- |"]
    over = []
    for name, budget, call in calls():
        took = 1e3 * best_seconds(call)
        lines.append(f"| {name} | {took:.1f} ms | {budget:.0f} ms |")
        if took > budget:
            over.append(name)
    table = "\n".join(lines)
    print(table)
    if write:
        machine = f"Best of 9 on {os.cpu_count()} cores of {processor()}, load {load:.1f}."
        replace("models", f"{machine}\n\n{table}")
    if over:
        sys.exit(f"Over budget (load {load:.1f}): {', '.join(over)}")


if __name__ == "__main__":
    main()
