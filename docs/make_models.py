"""Make the tables of docs/model-accuracy.md: every model beside simulations, over small grids.

The grids, and the reasons why a model leaves the simulation where it does, are in model_grids.py.
Takes all numbers from the installed airtcp; scenarios and seeds are fixed, so that whoever
runs this gets the same tables. A model that is more than 5 % off needs a reason, or nothing is
written.

    .venv/bin/python docs/make_models.py            # all tables, about a minute on one core
    .venv/bin/python docs/make_models.py downloads  # one of them
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import tables
from airtcp import predict, simulate
from airtcp.amounts import quantity_with_interval
from airtcp.metrics import METRICS
from airtcp.scenario import loads
from airtcp.stats import Interval
from model_grids import GRIDS, Grid

PAGE = Path(__file__).parents[1] / "docs" / "model-accuracy.md"
CLOSE, FAR = 0.01, 0.05


@dataclass(frozen=True, slots=True)
class Row:
    """What one source says about one metric: its differences from the simulation, by point."""

    source: str
    differences: Mapping[str, float]
    within: Mapping[float, list[str]]


def rows_of(
    grid: Grid, points: Sequence[str] | None = None, *, replications: int | None = None
) -> tuple[dict[str, dict[str, Interval]], dict[str, list[Row]]]:
    """By metric: the simulation of each point, and a row for each source; best first."""
    chosen = list(grid.points if points is None else points)
    simulated: dict[str, dict[str, Interval]] = {name: {} for name in grid.metrics}
    differences: dict[str, dict[str, dict[str, float]]] = {name: {} for name in grid.metrics}
    within: dict[tuple[str, str, float], list[str]] = {}
    for point in chosen:
        scenario = loads(grid.points[point])
        measured = simulate(scenario, replications=replications).metrics
        said = predict(scenario).model
        for name in grid.metrics:
            interval = measured[name]
            simulated[name][point] = interval
            for entry in said.get(name, []):
                if interval.mean is None or isinstance(entry.value, list):
                    continue
                # Nothing can be said in per cent of nothing: both are.
                off = entry.value / interval.mean - 1.0 if interval.mean else entry.value
                differences[name].setdefault(entry.source, {})[point] = off
                slack = (interval.half_width or 0.0) / interval.mean if interval.mean else 0.0
                for bound in (CLOSE, FAR):
                    if abs(off) - slack <= bound:
                        within.setdefault((name, entry.source, bound), []).append(point)
    rows = {
        name: [
            Row(source, offs, {b: within.get((name, source, b), []) for b in (CLOSE, FAR)})
            for source, offs in by_source.items()
        ]
        for name, by_source in differences.items()
    }
    return simulated, rows


def table(grid: Grid) -> str:
    """A grid in Markdown. ValueError where a model is off and no reason is known."""
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
