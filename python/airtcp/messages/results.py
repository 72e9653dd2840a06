"""The screen of `airtcp results` and of the end of a sweep: what each point measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity_with_interval
from airtcp.document import Column, Lines, Part, Table
from airtcp.messages import words
from airtcp.metrics import metric
from airtcp.stats import student_interval

if TYPE_CHECKING:
    from airtcp.results.query import Results

#: The metrics that users feel, the most important first: a narrow screen drops the last ones.
_FELT: Final = (
    "goodput_bps",
    "packet_delay_p95_s",
    "packet_loss",
    "page_time_p90_s",
    "transfer_time_s",
    "jain_index",
    "rtt_s",
    "collision_probability",
)
#: Maximum number of points in the table.
POINTS: Final = 30
#: Maximum number of values in the line of an axis.
_STEPS: Final = 8


def parts(found: Results) -> Iterator[Part]:
    """Yield a table of the points with 95 % intervals, and how to see more."""
    yield table(found)
    rows = words.plural(len(found), "row")
    lines = [f"{rows}, ± 95 %. --json names the columns, for --sql; --out writes them to a table."]
    if found.points > POINTS:
        more = words.plural(found.points - POINTS, "more point")
        lines = [f"{more}. The axes:", *_axes(found), *lines]
    yield Lines([(one, "dim") for one in lines])


def table(found: Results) -> Table:
    """Return the means of the metrics that users feel, a row for each point."""
    import pyarrow.compute as pc

    felt = [one for one in _FELT if one in found.metrics]
    points = found.table.column("point")
    shown = found.table.select(["point", *(one.name for one in found.axes), *felt])
    # A store may have millions of rows.
    shown = shown.filter(pc.is_in(points, points.unique().slice(0, POINTS)))
    rows = shown.to_pydict()
    of_points: dict[str, list[int]] = {}
    for at, point in enumerate(rows["point"]):
        of_points.setdefault(point, []).append(at)
    seen = [one for one in felt if any(value is not None for value in rows[one])]
    columns = [Column(f"{one.name}{_unit(one.unit)}", right=True) for one in found.axes]
    columns += [
        Column(words.short(metric(one)), right=True, rank=place) for place, one in enumerate(seen)
    ]
    return Table(
        columns,
        [
            [_step(rows[one.name][places[0]]) for one in found.axes]
            + [
                quantity_with_interval(
                    student_interval(rows[one][at] for at in places), metric(one).read_in
                )
                for one in seen
            ]
            for places in of_points.values()
        ],
    )


def _axes(found: Results) -> Iterator[str]:
    for column in found.axes:
        steps = [_step(one) for one in found.table.column(column.name).unique().to_pylist()]
        if len(steps) > _STEPS:
            steps = [*steps[: _STEPS - 1], f"... {steps[-1]} ({len(steps)} in all)"]
        yield f"  {column.name}: {', '.join(steps)}{_unit(column.unit)}"


def _unit(unit: str | None) -> str:
    return f" {unit}" if unit else ""


def _step(value: Any) -> str:
    """Format a value of an axis so that an SQL condition finds it."""
    return f"{value:.15g}" if isinstance(value, float) else "–" if value is None else str(value)
