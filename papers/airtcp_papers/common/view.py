"""Figures of the papers with sliders: their curves, and their scenario in the explorer.

`airtcp_papers.common.sliders` declares the figures, and `airtcp_papers` simulates their points.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from airtcp.exceptions import QuestionError
from airtcp.stats import Interval

from airtcp_papers.common.chart import Kind, Series
from airtcp_papers.common.item import Outcome
from airtcp_papers.common.sliders import Movable, figures

_COLOURS: Final = ("model", "simulated", "third", "fourth")
#: The kinds drawn as points: simulations, and numbers printed in a paper.
_POINTS: Final[tuple[Kind, ...]] = ("simulation", "points", "paper", "marks", "bars")
_UNIT: Final = re.compile(r"(.*) \(([^()]*)\)")
#: The name of the column with the series in the tables of all items.
_SERIES: Final = "series"


def catalogue() -> list[dict[str, Any]]:
    """Return all figures with their sliders, in the order of the papers."""
    return [
        {
            "item": one.item,
            "curves": one.curves is not None or one.asked is not None,
            "scenario": None if one.opens is None else one.opens.file,
            "view": None if one.opens is None else one.opens.view,
            "sliders": [
                {
                    "name": slider.name,
                    "label": slider.label,
                    "values": list(slider.values),
                    "texts": list(slider.texts or (f"{value:g}" for value in slider.values)),
                    "paper": slider.paper,
                }
                for slider in one.sliders
            ],
        }
        for one in figures().values()
    ]


def figure(item: str, values: Mapping[str, float]) -> dict[str, Any]:
    """Return a figure at values of its sliders, by default the paper's.

    Keys: `x` and `y` (label, unit), `series` (name, kind, colour, data of x and y), `words`, and
    `open`, the scenario behind the figure with the changes of the sliders, or None. Raises
    QuestionError for an unknown figure or value.
    """
    known = figures()
    if item not in known:
        raise QuestionError(f'there is no figure "{item}" here; allowed: {", ".join(known)}')
    one = known[item]
    taken = one.taken(values)
    moved, paper = one.series(taken), _of_paper(item)
    if taken == one.paper:
        series = [_drawn(curve, place) for place, curve in enumerate(paper)]
    else:
        printed = [curve for curve in paper if curve.kind == "paper"]
        lines = [curve for curve in paper if curve.kind != "paper"]
        series = [
            *(_drawn(c, place) for place, c in enumerate(moved) if c.kind != "paper"),
            *(_drawn(c, place, of_paper=True) for place, c in enumerate(lines)),
            *(_drawn(c, place) for place, c in enumerate(printed, len(moved))),
        ]
    label, unit = _axis(one.y)
    return {
        "item": item,
        "x": {"label": one.x, "unit": "", "log": one.log_x},
        "y": {"label": label, "unit": unit},
        "series": series,
        "words": _words(one, moved, None if taken == one.paper else paper),
        "open": _open(one, taken),
    }


def points(item: str, outcome: Outcome) -> list[dict[str, Any]]:
    """Return the simulated points with intervals that a reproduced item adds to its curves.

    Empty if the item's table does not have curves over the same axis.
    """
    one = figures().get(item)
    columns = list(outcome.data.columns)
    if one is None or columns[0] != _SERIES or _axis(one.x)[0] != _axis(columns[1])[0]:
        return []
    drawn = {curve.label for curve in _of_paper(item)}
    found: dict[str, list[dict[str, Any]]] = {}
    for name, x, y, low, high in outcome.data.rows:
        if name not in drawn and isinstance(x, int | float) and isinstance(y, int | float):
            data = found.setdefault(str(name), [])
            data.append({"x": float(x), "y": float(y), "low": low, "high": high})
    return [
        {
            "name": name,
            "kind": "points",
            "mark": "dot",
            "colour": _COLOURS[place % 4],
            "dash": False,
            "data": data,
        }
        for place, (name, data) in enumerate(found.items(), 1)
    ]


@lru_cache(maxsize=128)
def _of_paper(item: str) -> tuple[Series, ...]:
    """Return the figure's own curves."""
    one = figures()[item]
    return tuple(one.series(one.paper))


def _drawn(curve: Series, place: int, *, of_paper: bool = False) -> dict[str, Any]:
    data = []
    for x, y in zip(curve.x, curve.y, strict=True):
        value = y.mean if isinstance(y, Interval) else float(y)
        data.append({"x": float(x), "y": value})
    return {
        "name": f"{curve.label}, as in the paper" if of_paper else curve.label,
        "kind": "points" if curve.kind in _POINTS else "line",
        # A number that the paper prints has a mark of its own.
        "mark": "diamond" if curve.kind == "paper" else "dot",
        "colour": _COLOURS[place % len(_COLOURS)],
        "dash": of_paper,
        "data": data,
    }


def _axis(name: str) -> tuple[str, str]:
    """Return the quantity of an axis, and its unit."""
    found = _UNIT.fullmatch(name)
    return (name, "") if found is None else (found[1], found[2])


def _words(one: Movable, moved: Sequence[Series], paper: Sequence[Series] | None) -> str:
    """Describe the curves at the position where the figure is read."""
    at, where = one.read
    label, unit = _axis(one.y)
    if not moved:
        return "Only a simulation makes this figure: open its scenario, and simulate it there."
    told = []
    lines = [curve for curve in moved if curve.kind != "paper"]
    for place, curve in enumerate(lines):
        value = _at(curve, at)
        if value is None:
            continue
        text = f"{_number(value)}{f' {unit}' if unit else ''}"
        if len(lines) > 1:
            text += f" ({curve.label})"
        before = None if paper is None else _at(paper[place], at)
        told.append(text if before is None else f"{text}, in the paper {_number(before)}")
    if not told:
        return f"No curve has a value at {where} with these parameters."
    return f"{label[0].upper()}{label[1:]} at {where}: {'; '.join(told)}."


def _number(value: float) -> str:
    return f"{value:.4g}"


def _at(curve: Series, at: float) -> float | None:
    """Return a curve's value at x by linear interpolation."""
    import numpy as np

    if not curve.x or not min(curve.x) <= at <= max(curve.x):
        return None
    values = [y.mean if isinstance(y, Interval) else y for y in curve.y]
    order = np.argsort(curve.x)
    return float(np.interp(at, np.array(curve.x)[order], np.array(values, dtype=float)[order]))


def _open(one: Movable, taken: Mapping[str, float]) -> dict[str, Any] | None:
    if one.opens is None:
        return None
    return {
        "text": one.text(),
        "changes": one.quick() | one.changes(taken),
        "axis": one.opens.axis,
        "metric": one.opens.metric,
        "view": one.opens.view,
    }
