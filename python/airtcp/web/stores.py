"""Stores of sweeps that the operator has named: their contents, and pictures.

Each number equals the one in the picture of `airtcp plot`. Pages refer to a store only by its name
and never see paths of this machine. Rows are selected by steps of axes, not by SQL, which could
read other files.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity_with_interval, scaled
from airtcp.document import Column, Table
from airtcp.document.page import Element, element, tabled
from airtcp.exceptions import OutputError, QuestionError
from airtcp.web import parts
from airtcp.web.bodies import Choice, Look
from airtcp.web.pickers import pickers

if TYPE_CHECKING:
    from airtcp.present.samples import Intervals, Side
    from airtcp.results import Results

_COLOURS: Final = ("simulated", "model", "second", "third", "fourth", "fifth")
#: The most lines: one per color.
_MOST_LINES: Final = len(_COLOURS)
#: The most steps of an axis to choose from; axes with more are averaged.
_MOST_STEPS: Final = 200
_MOST_CELLS: Final = 2500
#: The sweep to show if no store is named: eight points, three replications of two seconds.
_SAMPLE: Final = "sample"
_SAMPLE_RUN: Final = {"run.warmup": "1 s", "run.duration": "2 s", "run.replications": 3}
_SAMPLE_AXES: Final[dict[str, list[Any]]] = {
    "stations.station.count": [1, 2, 5, 10],
    "phy.data_rate": ["2 Mb/s", "11 Mb/s"],
}


def named(folders: Sequence[Path]) -> dict[str, Path]:
    """Return stores by the names that pages use. Raises OutputError for a folder without a store.

    The name is the folder's name, with a number appended if two folders have the same name.
    """
    from airtcp.results.query import open as opened

    stores: dict[str, Path] = {}
    for folder in folders:
        opened(folder)
        whole = folder.resolve()
        name, number = whole.name or "store", 2
        while name in stores:
            name, number = f"{whole.name}-{number}", number + 1
        stores[name] = whole
    return stores


def stamp(folder: Path) -> int:
    """Return a number that changes whenever the store is written."""
    try:
        return (folder / "store.json").stat().st_mtime_ns
    except OSError:
        return 0


def listed(stores: Mapping[str, Path], asked: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return axes with their steps, and metrics, of every store, or why one cannot be read.

    With what a page may choose, after what it has chosen.
    """
    told = []
    for name, folder in (stores or sample()).items():
        try:
            told.append(_described(name, _opened(name, folder)))
        except OutputError as error:
            told.append({"name": name, "problem": str(error)})
    chosen = Choice().model_dump() | dict(asked or {})
    shown = pickers(told, chosen, is_sample=not stores, most_lines=_MOST_LINES)
    return {"stores": told, "sample": not stores} | shown


@lru_cache(maxsize=1)
def sample() -> dict[str, Path]:
    """Sweep an example, once for each process, for a page that has no store."""
    import pyarrow as pa

    from airtcp.examples import directory
    from airtcp.scenario.load import load
    from airtcp.sweep import sweep

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    folder = Path(tempfile.mkdtemp(prefix="sample-")) / _SAMPLE
    base = load(str(directory() / "persistent-downloads.toml")).vary(_SAMPLE_RUN)
    sweep(base, _SAMPLE_AXES, to=folder, threads=1)
    return {_SAMPLE: folder}


def look(body: Mapping[str, Any], stores: Mapping[str, Path]) -> dict[str, Any]:
    """Return a metric along an axis: lines or a map. Raises QuestionError, OutputError."""
    from airtcp.present.samples import caption, intervals_of, samples_of, side_of

    asked = Look.model_validate({name: one for name, one in body.items() if name != "made"})
    stores = stores or sample()
    if asked.store not in stores:
        there = ", ".join(stores) or "none; airtcp web --store DIR opens one"
        raise QuestionError(f'there is no store "{asked.store}"; allowed: {there}')
    found = _where(_opened(asked.store, stores[asked.store]), asked.where)
    _check_axes(found, asked)
    up, across = side_of(found, asked.y), side_of(found, asked.x)
    lines = None if asked.by is None else side_of(found, asked.by)
    if up.is_text:
        raise QuestionError(f"{up.name} has no numbers to draw; allowed: another metric")
    samples = samples_of(found, up, across, lines)
    shown = [side.name for side in (up, across, lines) if side is not None]
    intervals = intervals_of(found, samples)
    told: dict[str, Any] = {
        "kind": asked.kind,
        "caption": caption(found, asked.kind, shown, samples),
        "shell": _command(asked),
    }
    if asked.kind == "heat":
        if lines is None:
            raise QuestionError("a heat map needs a second axis; allowed: a vertical axis")
        told |= _map(found, intervals, up, across, lines)
    else:
        told |= _lines(found, intervals, up, across, lines)
    return told | {"parts": _parts(told)}


def _parts(told: dict[str, Any]) -> list[Any]:
    """Return the picture of a metric with its values, as parts of the page."""
    name = told["label"] if told["kind"] == "heat" else told["y"]["label"]
    columns = [Column(name, right=place > 0) for place, name in enumerate(told["head"])]
    values = tabled(Table(columns, told["rows"]), told["caption"])
    return [
        element("h2", {}, name),
        parts.muted(told["caption"]),
        heat(told) if told["kind"] == "heat" else _picture(told),
        parts.fold("The values as a table", values),
        parts.code("On a terminal", told["shell"], "h3"),
    ]


def _picture(told: dict[str, Any]) -> Element:
    x, y, by = told["x"], told["y"], told["by"]
    series = [
        {
            "name": f"{by} = {one['name']}" if by else one["name"],
            "kind": "both",
            "colour": colour,
            "joined": x["names"] is None,
            "data": one["data"],
        }
        for one, colour in zip(told["series"], _COLOURS, strict=False)
    ]
    each = f", a line for each {by}" if by else ""
    label = f"{y['label']} over {x['label']}{each}. {told['caption']} The values are in the table."
    return parts.curves(label, 360, legend=bool(by), series=series, x=x, y=y)


def _described(name: str, found: Results) -> dict[str, Any]:
    from airtcp.present.samples import side_of, unit_and_label

    axes = []
    for column in found.axes:
        steps = side_of(found, column.name).steps
        axes.append(
            {
                "name": column.name,
                "unit": column.unit,
                "count": len(steps),
                "steps": [{"value": step, "text": _told(step, column.unit)} for step in steps]
                if len(steps) <= _MOST_STEPS
                else [],
            }
        )
    metrics = [
        {"name": metric, "label": unit_and_label(found, metric)[1]}
        for metric in found.metrics
        if found.table.column(metric).null_count < len(found)
    ]
    return {
        "name": name,
        "problem": None,
        "rows": len(found),
        "points": found.points,
        "version": found.contents.version,
        "axes": axes,
        "metrics": metrics,
    }


def _check_axes(found: Results, asked: Look) -> None:
    if not len(found):
        raise QuestionError(
            "the store has no rows for these values yet; allowed: other values of its axes"
        )
    axes = [column.name for column in found.axes]
    for name in (asked.x, asked.by):
        if name is not None and name not in axes:
            raise QuestionError(f'"{name}" is not an axis; allowed: {", ".join(axes)}')
    if asked.y not in found.metrics:
        raise QuestionError(f'"{asked.y}" is not a metric of this store; allowed: its metrics')
    if asked.by == asked.x:
        raise QuestionError("both axes are the same; allowed: two different axes, or one")
    steps = 1 if asked.by is None else len(found.table.column(asked.by).unique())
    if asked.kind == "line" and steps > _MOST_LINES:
        raise QuestionError(
            f"{asked.by} has {steps} steps, too many for lines; allowed: {_MOST_LINES} at most, or "
            "a heat map"
        )
    if steps * len(found.table.column(asked.x).unique()) > _MOST_CELLS:
        raise QuestionError(f"that would be more than {_MOST_CELLS} values; allowed: other axes")


def _lines(
    found: Results, intervals: Intervals, up: Side, across: Side, lines: Side | None
) -> dict[str, Any]:
    from airtcp.present.samples import unit_and_label

    unit, label = unit_and_label(found, up.name)
    x_unit, x_label = unit_and_label(found, across.name)
    series = []
    rows = []
    for line, places in intervals.items():
        name = "" if lines is None else _told(line, unit_and_label(found, lines.name)[0])
        data = []
        for place, one in places.items():
            if one.mean is None:
                continue
            text = quantity_with_interval(one, unit)
            at = across.at(place) if across.is_text else place
            data.append({"x": at, "y": one.mean, "low": one.low, "high": one.high, "text": text})
            rows.append([*([name] if lines else []), _told(place, x_unit), text, f"{one.n}"])
        series.append({"name": name, "data": data})
    names = [_told(step, x_unit) for step in across.steps] if across.is_text else None
    return {
        "x": {"label": x_label, "unit": x_unit, "names": names},
        "y": {"label": label, "unit": "" if unit == "1" else unit},
        "by": None if lines is None else lines.name,
        "series": series,
        "head": [*([lines.name] if lines else []), x_label, label, "replications"],
        "rows": rows,
    }


def _map(
    found: Results, intervals: Intervals, up: Side, across: Side, lines: Side
) -> dict[str, Any]:
    from airtcp.present.samples import unit_and_label

    unit, label = unit_and_label(found, up.name)
    cells = []
    for line in lines.steps:
        known = [intervals.get(line, {}).get(place) for place in across.steps]
        cells.append(
            [
                None
                if one is None or one.mean is None
                else {"value": one.mean, "text": quantity_with_interval(one, unit)}
                for one in known
            ]
        )

    def side(one: Side) -> dict[str, Any]:
        of, named_ = unit_and_label(found, one.name)
        return {"label": named_, "steps": [_told(step, of) for step in one.steps]}

    across_told, up_told = side(across), side(lines)
    return {
        "label": label,
        "unit": "" if unit == "1" else unit,
        "across": across_told,
        "up": up_told,
        "cells": cells,
        "head": [lines.name, *across_told["steps"]],
        "rows": [
            [name, *("–" if one is None else one["text"] for one in row)]
            for name, row in zip(up_told["steps"], cells, strict=True)
        ],
    }


def _where(found: Results, where: Mapping[str, Any]) -> Results:
    """Return the rows with the given steps of axes. Raises QuestionError."""
    import pyarrow as pa

    table = found.table
    for name, wanted in where.items():
        if name not in [column.name for column in found.axes]:
            raise QuestionError(f'"{name}" is not an axis; allowed: an axis of the store')
        values = table.column(name).to_pylist()
        table = table.filter(pa.array([value == wanted for value in values], pa.bool_()))
    return replace(found, table=table) if where else found


def _opened(name: str, folder: Path) -> Results:
    """Open a store in its current state. Raises OutputError, which names no path."""
    try:
        return _read(folder, stamp(folder))
    except OutputError as error:
        if not folder.exists():
            raise OutputError(
                f'the store "{name}" is no longer where it was when airtcp web started: put it '
                "back, then reload"
            ) from None
        raise OutputError(str(error).replace(str(folder), name)) from None


@lru_cache(maxsize=4)
def _read(folder: Path, made: int) -> Results:
    from airtcp.results.query import open as opened

    return opened(folder)


def _told(value: Any, unit: str) -> str:
    """Format a step of an axis."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        factor, name = scaled(float(value), unit)
        return f"{value / factor:.6g} {name}".strip()
    return str(value)


def _command(asked: Look) -> str:
    """Return the command line that draws the same picture, from the store's parent folder."""
    words = ["airtcp", "plot", asked.store, "--x", asked.x, "--y", asked.y]
    if asked.by is not None:
        words += ["--by", asked.by]
    if asked.kind != "line":
        words += ["--kind", asked.kind]
    if asked.where:
        conditions = (f'"{name}" {_equals(value)}' for name, value in asked.where.items())
        words += ["--where", " AND ".join(conditions)]
    return shlex.join(words)


def _equals(value: Any) -> str:
    if value is None:
        return "IS NULL"
    if isinstance(value, str):
        return "= '" + value.replace("'", "''") + "'"
    return f"= {str(value).lower()}"


#: From dark blue to yellow with increasing lightness, so that it is readable without colors.
_STOPS: Final = (
    (0, 34, 78), (53, 69, 108), (102, 105, 112), (148, 142, 119), (200, 184, 102), (254, 232, 56),
)  # fmt: skip
_WIDTH: Final = 720
_TOP, _BOTTOM, _RIGHT, _ROW, _MOST_HIGH = 8, 48, 8, 40, 420
_LETTER: Final = 7.5


def heat(told: dict[str, Any]) -> Element:
    """Return the map of a store's values, with its scale of colors."""
    across, up, cells = told["across"], told["up"], told["cells"]
    values = [cell["value"] for row in cells for cell in row if cell] or [0.0]
    least, most = min(values), max(values)
    factor, unit = scaled(max(abs(least), abs(most)), told["unit"])
    left = min(150.0, 34 + _LETTER * max(len(one) for one in up["steps"]))
    wide = (_WIDTH - left - _RIGHT) / len(across["steps"])
    tall = max(16.0, min(_ROW, _MOST_HIGH / len(up["steps"])))
    bottom = _TOP + tall * len(up["steps"])
    every, rows = -int(-40 // wide), -int(-14 // tall)
    ends = [f"{one / factor:.3g}" for one in (least, most)]

    def cell(i: int, j: int, one: dict[str, Any] | None) -> list[Element]:
        x, y = left + wide * i, bottom - tall * (j + 1)
        size = {"x": x, "y": y, "width": max(1.0, wide - 1), "height": tall - 1}
        if one is None:
            return [element("rect", {"class": "empty"} | size, element("title", {}, "no value"))]
        colour = _colour((one["value"] - least) / (most - least) if most > least else 0.5)
        said = f"{up['label']} {up['steps'][j]}, {across['label']} {across['steps'][i]}"
        title = element("title", {}, f"{said}: {one['text']}")
        drawn = [element("rect", size | {"fill": _css(colour)}, title)]
        text = f"{one['value'] / factor:.3g}"
        if wide > _LETTER * len(text) + 4:
            ink = "#ffffff" if _is_dark(colour) else "#101317"
            place = {"x": x + wide / 2, "y": y + tall / 2 + 4, "text-anchor": "middle"}
            drawn.append(element("text", {"class": "cell", "fill": ink} | place, text))
        return drawn

    def name(text: str, **place: Any) -> Element:
        return element("text", {"class": "name", "text-anchor": "middle"} | place, text)

    middle = f"translate(12 {(_TOP + bottom) / 2}) rotate(-90)"
    label = (
        f"{told['label']} over {across['label']} and {up['label']}: from {ends[0]} to {ends[1]} "
        f"{unit}. The values are in the table below."
    )
    picture = element(
        "svg",
        {"viewBox": f"0 0 {_WIDTH} {bottom + _BOTTOM}", "role": "img", "class": "chart heat",
         "aria-label": label},
        [cell(i, j, one) for j, row in enumerate(cells) for i, one in enumerate(row)],
        [
            element(
                "text",
                {"x": left + wide * (i + 0.5), "y": bottom + 16, "text-anchor": "middle"},
                one,
            )
            for i, one in enumerate(across["steps"]) if i % every == 0
        ],
        [
            element(
                "text",
                {"x": left - 6, "y": bottom - tall * (j + 0.5) + 4, "text-anchor": "end"},
                one if len(one) <= 15 else f"{one[:14]}…",
            )
            for j, one in enumerate(up["steps"]) if j % rows == 0
        ],
        name(across["label"], x=left + (_WIDTH - left) / 2, y=bottom + 38),
        name(up["label"], transform=middle),
    )  # fmt: skip
    scroll = {"class": "film", "tabindex": "0", "role": "region", "aria-label": told["label"]}
    return element("div", {}, element("div", scroll, picture), _scale(ends[0], ends[1], unit))


def _scale(least: str, most: str, unit: str) -> Element:
    """Return the scale of colors."""
    steps = 40
    bars = [
        element(
            "rect", {"x": 4 * one, "width": 5, "height": 12, "fill": _css(_colour(one / steps))}
        )
        for one in range(steps)
    ]
    drawn = element("svg", {"width": 161, "height": 12}, bars)
    return element(
        "p", {"class": "heat-scale", "aria-hidden": "true"}, least, drawn, f"{most} {unit}"
    )


def _colour(share: float) -> tuple[int, ...]:
    place = share * (len(_STOPS) - 1)
    below = min(int(place), len(_STOPS) - 2)
    pairs = zip(_STOPS[below], _STOPS[below + 1], strict=True)
    return tuple(round(one + (place - below) * (other - one)) for one, other in pairs)


def _css(colour: tuple[int, ...]) -> str:
    return f"rgb({' '.join(str(one) for one in colour)})"


def _is_dark(colour: tuple[int, ...]) -> bool:
    """Return whether white is more readable on a color than black: relative luminance of WCAG 2."""
    shares = [one / 255 for one in colour]
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179
