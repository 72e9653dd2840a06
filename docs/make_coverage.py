"""Make the tables of docs/explanation/intervals.md: the coverage of confidence intervals.

The numbers come from validation/intervals/measured.json, which takes hours to make:

    .venv/bin/python validation/intervals/measure.py truths DIR
    .venv/bin/python validation/intervals/measure.py run DIR
    .venv/bin/python validation/intervals/measure.py judge DIR --write
    .venv/bin/python docs/make_coverage.py

validation/accuracy/short_runs.py --write makes those of short runs in minutes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "validation"))

import tables  # noqa: E402
from accuracy.short_runs import SHORT  # noqa: E402
from airtcp.metrics import METRICS as METRICS_OF_ALL  # noqa: E402
from intervals import judge  # noqa: E402
from intervals.cells import (  # noqa: E402
    LAWS,
    LEAST,
    LOADS,
    METRICS,
    PLACES,
    POOLED,
    REPLICATIONS,
    systems,
)
from intervals.judge import Verdict  # noqa: E402
from intervals.measure import MEASURED  # noqa: E402
from intervals.profiles import METRICS as OF_PAGES  # noqa: E402
from intervals.profiles import profiles  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "intervals.md"
NAMES = {
    "transfer_time_s": "transfer time",
    "goodput_bps": "goodput",
    "transfer_time_p90_s": "its p90",
    "page_time_s": "page time",
    "page_time_p90_s": "its p90",
}


@cache
def measured() -> Any:
    """Read the measurements."""
    return json.loads(MEASURED.read_text("utf-8"))


@cache
def verdicts() -> tuple[Verdict, ...]:
    """Return the verdict on each cell."""
    return tuple(map(judge.verdict_of, measured()["cells"]))


def pooled() -> str:
    """Return the coverage of each law and load."""
    of_pools = {(pool.law, pool.load): pool for pool in map(judge.pool_of, measured()["pools"])}
    rows = [[law, *(_pool(of_pools.get((law, load))) for load in LOADS)] for law in LAWS]
    return tables.markdown(["law", *(f"load {load:g}" for load in LOADS)], rows)


def gains() -> str:
    """Return the gain of intervals at each place: Student's width over their width."""
    rows = [
        [f"{place}, {law}", *(_gain(place, law, metric) for metric in METRICS)]
        for place in PLACES
        for law in LAWS
    ]
    return tables.markdown(["place, law", *(NAMES[metric] for metric in METRICS)], rows)


def cells() -> str:
    """Return for every cell the coverage of its intervals, and of Student's."""
    return _cells(systems(), METRICS)


def pages() -> str:
    """Return for every cell of pages the coverage of its intervals, and of Student's."""
    return _cells(profiles(), OF_PAGES)


def _cells(of: Iterable[str], metrics: Sequence[str]) -> str:
    found = {(one.system, one.replications, one.metric): one for one in verdicts()}
    kinds = [(metric, count) for metric in metrics for count in REPLICATIONS]
    rows = [
        [name, *(_cell(found.get((name, count, metric))) for metric, count in kinds)] for name in of
    ]
    return tables.markdown(
        ["system", *(f"{NAMES[metric]}, {count}" for metric, count in kinds)], rows
    )


def rules() -> str:
    """Return the rules, and the measurements."""
    judged = [one for one in verdicts() if one.is_judged and not one.is_declined]
    of_pools = [judge.pool_of(record) for record in measured()["pools"]]
    declined = sum(one.is_declined for one in verdicts())
    narrower = [one for one in verdicts() if one.gain is not None and one.gain >= 0.995]
    printing = [one for one in verdicts() if one.gain is not None]
    blocks = sorted({one.blocks for one in verdicts()})
    rows = [
        ["blocks of a cell", "400", _range(blocks)],
        ["cells, of which print intervals and are judged", "", _of(judged, verdicts())],
        [
            f"pools with {POOLED[0]:.0%} to {POOLED[1]:.0%}",
            "all",
            _of([pool for pool in of_pools if pool.is_met], of_pools),
        ],
        [
            f"judged cells below {LEAST:.0%}",
            "none",
            str(sum(1 for one in judged if (one.coverage or 0.0) < LEAST)),
        ],
        ["cells that print no interval", "fewer than a third", f"{declined} of {len(verdicts())}"],
        [
            "cells whose median interval is no wider than Student's",
            "all",
            _of(narrower, printing),
        ],
        [
            "goodput over that of the closed loop with its mean time, less 1, at most",
            "0",
            f"{max(abs(loop or 0.0) for loop, _ in measured()['truths'].values()):.2%}",
        ],
        [
            "truths off the plain means of the same long runs, in half widths of these, at most",
            "about 1",
            f"{max(off for _, off in measured()['truths'].values()):.1f}",
        ],
    ]
    return tables.markdown(["", "asked", "measured"], rows)


def _pool(pool: judge.Pool | None) -> str:
    if pool is None:
        return "none"
    return f"{pool.coverage:.1%} ({pool.low:.1%} to {min(pool.high, 1.0):.1%}), {pool.cells} cells"


def _gain(place: str, law: str, metric: str) -> str:
    known = [
        [
            one.gain
            for one in verdicts()
            if one.gain is not None
            and not one.is_declined
            and (one.metric, one.replications) == (metric, count)
            and one.system.startswith(f"{place}-{law}-")
        ]
        for count in REPLICATIONS
    ]
    return ", ".join(f"{median(each):.1f}" if each else "none" for each in known)


def _cell(one: Verdict | None) -> str:
    if one is None:
        return ""
    if one.is_declined:
        return f"none ({one.plain_coverage:.0%})"
    mark = "" if one.is_judged else "?"
    return f"{one.coverage:.0%}{mark} ({one.plain_coverage:.0%})"


def short() -> str:
    """Return the coverage of intervals and bounds of 20-second runs."""
    tallies: dict[str, dict[str, int]] = json.loads(SHORT.read_text("utf-8"))
    head = ["metric", "runs", "Student's hold", "intervals told", "hold", "bounds told", "hold"]
    rows = []
    for metric, one in tallies.items():
        told = [
            text
            for count, right in (("intervals", "hold"), ("bounds", "bounds_hold"))
            for text in (str(one[count]), _share(one[right], one[count]))
        ]
        held = _share(one["student_holds"], one["runs"])
        rows.append([METRICS_OF_ALL[metric].label, str(one["runs"]), held, *told])
    return tables.markdown(head, rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def _of(some: Sequence[object], of: Sequence[object]) -> str:
    return f"{len(some)} of {len(of)}"


def _range(values: Sequence[int]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"


TABLES: dict[str, Callable[[], str]] = {
    "rules": rules,
    "pooled": pooled,
    "gains": gains,
    "cells": cells,
    "pages": pages,
    "short": short,
}


def main(names: Iterable[str]) -> None:
    """Make the named tables, or all."""
    tables.remake(PAGE, TABLES, list(names))


if __name__ == "__main__":
    main(sys.argv[1:])
