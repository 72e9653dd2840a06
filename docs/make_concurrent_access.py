"""Make the table of docs/papers/concurrent-access.md: how to split downloads over two cells.

Points are those of `airtcp reproduce H.concurrent`, with fewer jobs. Seeds are fixed, so
every run gives the same table.

    .venv/bin/python docs/make_concurrent_access.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import airtcp_papers
import tables
from airtcp_papers.common.bench import Bench, Settings
from airtcp_papers.hoekstra.concurrent import split

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "papers" / "concurrent-access.md"
FOLDER = Path(airtcp_papers.__file__).parent / "hoekstra"
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9)
JOBS = 200_000


def splits_table() -> str:
    """Return mean transfer times in units of beta_eff, by load and splitting method."""
    bench = Bench(FOLDER, FOLDER, Settings(quick=True, threads=1))
    head = ["load of each cell", "1 / (1 - load)", "at random", "fewest", "one server of both"]
    head += ["fewest : at random", "fewest : one server"]
    rows = []
    for load in LOADS:
        point = split(bench, load, JOBS)
        rows.append(
            [
                f"{load:g}",
                f"{1.0 / (1.0 - load):.3f}",
                *(tables.shown(point.interval(name)) for name in ("static", "least", "pooled")),
                tables.shown(point.ratio("least", "static")),
                tables.shown(point.ratio("least", "pooled")),
            ]
        )
    return tables.markdown(head, rows)


TABLES: Mapping[str, Callable[[], str]] = {"splits": splits_table}


if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
