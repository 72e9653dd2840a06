"""Describe items: what their functions return, and the words and axes around it.

A paper's module has one function per item:

    @item("M.fig1")
    def fig1(bench: Bench) -> Found: ...

and `items.toml` in the same folder has a table for it:

    ["M.fig1"]
    title = "Collision probability against backlogged nodes"
    caption = "How often an attempt collides ..."    # describes the figure, in our own words
    states = "Rises from 0 to above 0.5 ..."         # what the paper claims about it
    printed = "The diamond is 0.060 ..."             # which points are the paper's, if any
    found = "Two nodes collide with {two_nodes} ..." # the result in words, see `filled`
    x = "backlogged nodes"                           # axes, with units in brackets
    y = "collision probability"
    chart = { whole_x = true }                       # further arguments of `chart`
    columns = ["what", "mean", "low", "high"]        # or a table,
    rows = { share = "share of the time" }           # with names of numbers, and what they are
    still = "a table of parameters"                  # why it has no sliders, if it has none

`ITEMS` of the paper's package names the module. Nothing else is needed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.data import beside

from airtcp_papers.common.chart import Series, chart, table_of, table_with_ends
from airtcp_papers.common.item import REGISTRY, Data, Item, Outcome, Value
from airtcp_papers.common.measure import mean, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp_papers.common.bench import Bench

#: The file with the words of a paper's items, in its folder.
FILE: Final = "items.toml"
_FIELD: Final = re.compile(r"\{(\w+)([^{}:]*)(?::([^{}]*))?\}")
_STEP: Final = re.compile(r"\.(\w+)|\[([^]]+)\]")
_NUMBER: Final = re.compile(r"[+,]?(\.\d+)?[dfgep%]")


@dataclass(frozen=True, slots=True)
class Found:
    """What the function of an item returns.

    `series` are the curves of its figure, and `axes` arguments of `chart` that depend on the run.
    `data` and `figure` replace the table of the curves' points and their chart; a table has no
    figure. `values` are the numbers that claims check, by name. `told` has what else the words use.
    """

    series: Sequence[Series] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    told: Mapping[str, object] = field(default_factory=dict)
    data: Data | None = None
    figure: Figure | None = None
    axes: Mapping[str, Any] = field(default_factory=dict)


def item(
    name: str,
) -> Callable[[Callable[[Bench], Found]], Callable[[Bench], Outcome]]:
    """Register a function as an item: it then returns the item's outcome, with words and figure.

    Raises ValueError if the name is taken.
    """

    def register(make: Callable[[Bench], Found]) -> Callable[[Bench], Outcome]:
        if name in REGISTRY:
            raise ValueError(f"there are two items {name}")
        about = words_of(sys.modules[make.__module__].__file__ or "")[name]

        @wraps(make)
        def outcome(bench: Bench) -> Outcome:
            return _outcome(make(bench), about)

        title, caption, states = (about[key] for key in ("title", "caption", "states"))
        more = (about.get(key, "") for key in ("still", "printed"))
        REGISTRY[name] = Item(name, title, caption, states, outcome, *more)
        return outcome

    return register


def items(make: Callable[..., Found], cases: Mapping[str, Mapping[str, Any]]) -> None:
    """Register a function as several items, each with arguments of its own, by name."""
    for name, arguments in cases.items():
        item(name)(wraps(make)(partial(make, **arguments)))


def words_of(module: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the words of all items beside a file of a paper's folder, by name."""
    return _read(Path(module).parent)


@cache
def _read(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    return beside(str(folder / "__init__.py"), FILE)


def _outcome(found: Found, about: Mapping[str, Any]) -> Outcome:
    data, figure = found.data, found.figure
    numbers: dict[str, Any] = {**found.values, **found.told}
    if "rows" in about:
        told = {what: numbers[name] for name, what in about["rows"].items()}
        data = table_with_ends(about["columns"], told)
        numbers["each"] = "; ".join(f"{what}: {words(value)}" for what, value in told.items())
    if found.series:
        axes = {"x": about["x"], "y": about["y"]}
        data = data or table_of(found.series, **axes)
        figure = figure or chart(found.series, **axes, **about.get("chart", {}), **found.axes)
    assert data is not None, "an item has curves or a table"
    return Outcome(data, filled(about["found"], numbers), dict(found.values), figure)


def filled(text: str, told: Mapping[str, Any]) -> str:
    """Put numbers into a text with fields such as {gain}, {gains[d = 2]:s} or {gap:.1%}.

    A number is written with its interval, and in the unit after a colon. The mean alone is written
    after a format of Python, such as .2f; with % at its end in per cent, with p without the sign.
    Brackets and dots lead into what `told` has, as in Python, with texts and integers unquoted.
    {gains} of a mapping lists its numbers, each with its key in brackets.
    """

    def one(match: re.Match[str]) -> str:
        value = told[match[1]]
        for name, key in _STEP.findall(match[2]):
            value = getattr(value, name) if name else value[_key(key)]
        return _written(value, match[3] or "")

    return _FIELD.sub(one, text)


def _key(text: str) -> str | int:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def _written(value: Any, spec: str) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{_written(one, spec)} ({key})" for key, one in value.items())
    if isinstance(value, str | int):
        return format(value, spec)
    if not _NUMBER.fullmatch(spec):
        return words(value, spec)
    if spec[-1] in "%p":
        return f"{100.0 * mean(value):{spec[:-1]}f}{' %' if spec[-1] == '%' else ''}"
    return format(mean(value), spec)
