"""Make the tables of accuracy.md: every model against simulations, on small grids.

validation/accuracy has the grids, and the reasons for deviations of models. All numbers come from
the installed airtcp. Scenarios and seeds are fixed, so every run gives the same tables. A model
that is more than 5 % off needs a reason; otherwise nothing is written.

    .venv/bin/python docs/make_models.py            # all tables, about a minute on one core
    .venv/bin/python docs/make_models.py downloads  # one of them
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import tables
from airtcp.amounts import quantity_with_interval
from airtcp.metrics import METRICS
from airtcp.stats import Interval

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "accuracy.md"

sys.path.insert(0, str(ROOT / "validation"))
from accuracy.compared import CLOSE, FAR, Row, rows_of  # noqa: E402
from accuracy.grids import GRIDS, Grid  # noqa: E402


def table(grid: Grid) -> str:
    """Write a grid in Markdown. Raise ValueError if a model is off without a known reason."""
    simulated, rows = rows_of(grid)
    head = [grid.axis, *grid.points, "within 1 %", "within 5 %", "elsewhere"]
    lines = []
    for name in grid.metrics:
        label, unit = METRICS[name].label, METRICS[name].unit
        cells = [_shown(simulated[name][point], unit) for point in grid.points]
        lines.append([f"**{label}**", *cells, "", "", ""])
        lines.extend(_cells(grid, name, row) for row in rows[name])
    return tables.markdown(head, lines)


def _cells(grid: Grid, metric: str, row: Row) -> list[str]:
    offs = [_percent(row.differences.get(point)) for point in grid.points]
    close, fair = row.within[CLOSE], row.within[FAR]
    why = ""
    if len(fair) < len(row.differences):
        why = grid.why.get(f"{row.source}: {metric}") or grid.why.get(row.source, "")
        if not why:
            raise ValueError(f"{grid.axis}: {row.source} is off in {metric}, and nothing says why")
    return [row.source, *offs, _points(close, row), _points(fair, row), why]


def _points(points: Sequence[str], row: Row) -> str:
    if len(points) == len(row.differences):
        return "all"
    return "; ".join(points) if any("," in point for point in points) else ", ".join(points)


def _percent(off: float | None) -> str:
    if off is None:
        return ""
    return f"{100 * off:+.1f}" if abs(off) < 1.0 else f"{100 * off:+.0f}"


def _shown(interval: Interval, unit: str) -> str:
    return quantity_with_interval(interval, unit)


TABLES = {name: partial(table, grid) for name, grid in GRIDS.items()}

if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
