"""Compare every model with simulations on a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accuracy.grids import Grid
from airtcp import predict, simulate
from airtcp.scenario import loads
from airtcp.stats import Interval

CLOSE, FAR = 0.01, 0.05


@dataclass(frozen=True, slots=True)
class Row:
    """The differences of one source from the simulation in one metric, by point."""

    source: str
    differences: Mapping[str, float]
    within: Mapping[float, list[str]]


def rows_of(
    grid: Grid, points: Sequence[str] | None = None, *, replications: int | None = None
) -> tuple[dict[str, dict[str, Interval]], dict[str, list[Row]]]:
    """Simulate the points and ask the models. Return both by metric, most accurate source first."""
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
                # A relative difference from zero is undefined: use the value itself.
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
