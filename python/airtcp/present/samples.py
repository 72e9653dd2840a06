"""Samples and intervals for a picture, from rows of a table of results.

A sample is one replication. Everything else that varies within a group is averaged within the
replication, so that intervals hold for independent runs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import scaled
from airtcp.labels import PARTS, flows_of, label_of
from airtcp.metrics import metric
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.results import Results

#: Samples by step of `by` and step of `x`.
Samples = dict[Any, dict[Any, list[float | None]]]
Intervals = dict[Any, dict[Any, Interval]]

#: Descriptions of metrics that only cells have, by their path below the cell's name.
_SHARES_OF_CELLS: Final = {
    "airtime.own": "own share of airtime",
    "airtime.heard": "airtime of other cells",
    "airtime.idle": "share of idle time",
    "failures.same_slot": "share of transmissions that collide in the same slot",
    "failures.hidden": "share of transmissions lost to hidden stations",
    "failures.neighbour": "share of transmissions lost to other cells",
}


@dataclass(frozen=True)
class Side:
    """A column for an axis of a picture: its values, label and scale."""

    name: str
    label: str
    factor: float
    #: The distinct values in their order; for texts, the order in the table.
    steps: tuple[Any, ...]

    @property
    def is_text(self) -> bool:
        """Whether the values are categories rather than numbers."""
        return any(isinstance(step, str | bool) or step is None for step in self.steps)

    def at(self, value: Any) -> float:
        """Return the position of a value on the axis."""
        return float(self.steps.index(value)) if self.is_text else value / self.factor

    def told(self, value: Any) -> str:
        """Format a value."""
        if value is None:
            return "none"
        if isinstance(value, str | bool):
            return str(value).lower() if isinstance(value, bool) else value
        return f"{value / self.factor:.4g}"


def side_of(results: Results, name: str) -> Side:
    """Return the column with a name. Raises QuestionError if there is none, or several."""
    column = results.column(name)
    values = results.table.column(column).unique().to_pylist()
    numbers = [value for value in values if type(value) in (int, float)]
    unit, label = unit_and_label(results, column)
    if len(numbers) < len(values):
        if column in results.metrics and numbers:
            # Some replications have no value of this metric.
            values = numbers
        else:
            return Side(column, label, 1.0, tuple(values))
    if not numbers:
        return Side(column, label, 1.0, tuple(values))
    factor, shown = scaled(max(map(abs, numbers)), unit)
    return Side(column, f"{label} ({shown})" if shown else label, factor, tuple(sorted(values)))


def unit_and_label(results: Results, column: str) -> tuple[str, str]:
    """Return the base unit of a column, and its label."""
    for axis in results.axes:
        if axis.name == column:
            return axis.unit, column
    whose, _, share = column.removeprefix("cells.").partition(".")
    if column.startswith("cells.") and share in _SHARES_OF_CELLS:
        return "", f"cell {whose}'s {_SHARES_OF_CELLS[share]}"
    of, _, name = column.rpartition(".")
    found = metric(name)
    if not of:
        return found.unit, found.label
    scope, _, part = of.rpartition(".")
    if scope == "cells":
        return found.unit, label_of(found, f"cell {part}")
    if part in PARTS:
        return found.unit, label_of(found, flows_of(scope, part))
    return found.unit, f"{found.label}, {of}"


def samples_of(results: Results, up: Side, across: Side | None, lines: Side | None) -> Samples:
    """Return one number per replication and group: the mean over everything else that varies."""
    table = results.table
    count = len(table)

    def column(side: Side | None) -> list[Any]:
        return [None] * count if side is None else table.column(side.name).to_pylist()

    gathered: dict[tuple[Any, Any], dict[tuple[int, int], list[float]]] = {}
    keys = zip(table["seed"].to_pylist(), table["replication"].to_pylist(), strict=True)
    rows = zip(column(lines), column(across), keys, column(up), strict=True)
    for line, place, sample, value in rows:
        found = gathered.setdefault((line, place), {}).setdefault(sample, [])
        if value is not None:
            found.append(value)
    samples: Samples = {}
    for line in [None] if lines is None else lines.steps:
        for place in [None] if across is None else across.steps:
            if (line, place) in gathered:
                means = [
                    math.fsum(values) / len(values) if values else None
                    for values in gathered[line, place].values()
                ]
                samples.setdefault(line, {})[place] = means
    return samples


def intervals_of(results: Results, samples: Samples) -> Intervals:
    """Return the confidence interval of the mean of each group, at the level of the table."""
    level = results.contents.confidence
    return {
        line: {place: student_interval(values, level) for place, values in places.items()}
        for line, places in samples.items()
    }


def caption(results: Results, kind: str, shown: Sequence[str], samples: Samples) -> str:
    """Return the caption of a picture of some kind (`plot_table.KINDS`)."""
    counts = {len(values) for places in samples.values() for values in places.values()}
    least, most = min(counts), max(counts)
    n = str(most) if least == most else f"{least} to {most}"
    runs = "replication" if most == 1 else "replications"
    parts = []
    if kind == "line":
        level = f"{100 * results.contents.confidence:g} %"
        parts.append(f"Means and {level} intervals of {n} {runs}" if most > 1 else f"{n} {runs}")
    elif kind == "heat":
        parts.append(f"Means of {n} {runs}")
    elif kind == "scatter":
        parts.append("One dot for each replication of each point")
    else:
        parts.append(f"Distribution over {n} {runs}")
    others = _averaged(results, shown)
    if others and kind != "scatter":
        parts.append(f"each the mean over {', '.join(others)}")
    return f"{'; '.join(parts)}."


def _averaged(results: Results, shown: Collection[str]) -> list[str]:
    """Return the axes over which a picture averages."""
    table = results.table
    return [
        axis.name
        for axis in results.axes
        # Different seeds are different replications, not an average.
        if axis.name not in shown
        and table.column(axis.name) != table.column("seed")
        and len(table.column(axis.name).unique()) > 1
    ]
