"""Figures with sliders: what each declares, and the resulting curves.

`sliders.toml` in a paper's folder declares its sliders and figures. MODULE.FUNCTION names one of a
module in that folder. A slider:

    [sliders.users]
    label = "Web users"
    values = [1, 2, 5, 10, 20, 30, 40]
    paper = 10                                     # the paper's value
    texts = [...]                                  # how values are labelled, by default as numbers
    keys."stations.laptop.count" = "{users}"       # key paths, with values that name sliders
    each."ap.queue.limit" = [...]                  # the same as lists: one for each value
    off = 0                                        # at this value nothing changes

Several sliders with one `name` may differ in the rest. {text} stands for the value's label. "none"
removes a key, and "-" leaves it. `keys` may be a function of all values. Without `keys` and `each`
only the equations have the parameter. A figure:

    [figures."M.fig8"]
    sliders = ["size", "users"]
    paper = { users = 1 }                          # where it differs from the sliders'
    x = "stations"                                 # axes; by default items.toml has them
    y = "mean session delay (s)"
    read = [40, "40 stations"]                     # where curves are read out in words
    curves = "sessions.delays"                     # a function of the sliders by name
    opens = { file = "web", axis = "stations.laptop.count", metric = "transfer_time_s" }

`curves` draws what the item draws, too. A figure with `asked` instead asks `airtcp.predict` along
the axis of that scenario; see `Asked`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from airtcp.data import beside
from airtcp.exceptions import QuestionError
from airtcp.predict import predict
from airtcp.scenario import Scenario, load
from airtcp.units import format_time_ns

from airtcp_papers.common.bench import QUICK_DURATION, QUICK_REPLICATIONS
from airtcp_papers.common.catalogue import SOURCES, Paper
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import words_of

#: The value of every slider, by name.
Values = Mapping[str, float]
Changes = Mapping[str, Any]
#: An x, and the value of the scenario's axis there.
Point = tuple[float, Any]
#: The file with the sliders of a paper, in its folder.
FILE: Final = "sliders.toml"


@dataclass(frozen=True, slots=True)
class Slider:
    """A parameter: its values (one is the paper's) and how they are labelled.

    `keys` maps the values of all sliders to changes of the scenario (key paths with values in
    written form). It is None if only the equations have the parameter.
    """

    name: str
    label: str
    values: Sequence[float]
    paper: float
    texts: Sequence[str] | None = None
    keys: Callable[[Values], Changes] | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A curve that `predict` computes along the scenario: its label and changed keys."""

    label: str
    keys: Changes = field(default_factory=dict)
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """How `predict` computes a figure: x, and the value of the scenario's axis at x.

    `per` is the figure's unit in units of the metric. `relative` divides every value by the first.
    """

    points: Sequence[Point]
    lines: Sequence[Line] = (Line("models"),)
    per: float = 1.0
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Opens:
    """The scenario file that simulates a figure: its varied key, and the drawn metric."""

    file: str
    axis: str
    metric: str
    keys: Changes = field(default_factory=dict)
    view: Literal["explore", "timeline"] = "explore"


@dataclass(frozen=True, slots=True)
class Movable:
    """A figure with sliders.

    `x` and `y` label its axes. `read` is an x with its name, where the curves are read out in
    words. `curves` takes the sliders by name. Give `curves`, `asked` or neither.
    """

    item: str
    sliders: Sequence[Slider]
    x: str = ""
    y: str = ""
    read: tuple[float, str] = (0.0, "")
    curves: Callable[..., Sequence[Series]] | None = None
    asked: Asked | None = None
    opens: Opens | None = None
    log_x: bool = False

    @property
    def paper(self) -> dict[str, float]:
        """Return the paper's values of the sliders."""
        return {slider.name: float(slider.paper) for slider in self.sliders}

    @property
    def folder(self) -> Path:
        """Return the folder with the scenario files of its paper."""
        return SOURCES[self.item.partition(".")[0]].folder

    def taken(self, values: Values) -> dict[str, float]:
        """Return all values, by default the paper's. Raises QuestionError for other values."""
        known = {slider.name: slider for slider in self.sliders}
        for name, value in values.items():
            if name not in known:
                allowed = f"allowed: {', '.join(known)}" if known else "the figure has none"
                raise QuestionError(f'"{name}" is no slider; {allowed}')
            if value not in known[name].values:
                allowed = ", ".join(f"{number:g}" for number in known[name].values)
                raise QuestionError(f"{name}: {value:g} is not on it; allowed: {allowed}")
        return self.paper | {name: float(value) for name, value in values.items()}

    def series(self, values: Values) -> list[Series]:
        """Return the curves at these values; none if only a simulation makes the figure."""
        if self.curves is not None:
            return list(self.curves(**values))
        return [] if self.asked is None else self._asked(values, self.asked)

    def changes(self, values: Values) -> dict[str, Any]:
        """Return the scenario keys that the sliders change."""
        found: dict[str, Any] = {} if self.opens is None else dict(self.opens.keys)
        for slider in self.sliders:
            if slider.keys is not None:
                found |= slider.keys(values)
        return found

    def text(self) -> str:
        """Return the text of the paper's scenario file."""
        assert self.opens is not None
        return (self.folder / f"{self.opens.file}.toml").read_text(encoding="utf-8")

    def quick(self) -> dict[str, Any]:
        """Return the keys that shorten a run as `airtcp reproduce --quick` does."""
        assert self.opens is not None
        run = _scenario(self.folder / f"{self.opens.file}.toml").run
        assert run.replications is not None, "the papers' scenarios say how many"
        return {
            "run.duration": format_time_ns(round(QUICK_DURATION * run.duration_ns)),
            "run.replications": min(run.replications, QUICK_REPLICATIONS),
        }

    def _asked(self, values: Values, asked: Asked) -> list[Series]:
        assert self.opens is not None
        changes = self.changes(values)
        found = []
        for line in asked.lines:
            scenario = _scenario(self.folder / f"{line.file or self.opens.file}.toml")
            x: list[float] = []
            y: list[float] = []
            for at, value in asked.points:
                one = scenario.vary({**changes, **line.keys, self.opens.axis: value})
                best = predict(one).best(self.opens.metric)
                if best is not None and not isinstance(best.value, list):
                    x.append(at)
                    y.append(best.value / asked.per)
            if asked.relative and y:
                y = [value / y[0] for value in y]
            if y:
                found.append(Series(line.label, x, y, "model"))
        return found


@cache
def figures() -> dict[str, Movable]:
    """Return all figures with sliders by item, in the order of papers."""
    return {name: figure for source in SOURCES.values() for name, figure in _figures(source)}


def _figures(source: Paper) -> Iterator[tuple[str, Movable]]:
    beside_it = str(source.folder / "__init__.py")
    told, items = beside(beside_it, FILE), words_of(beside_it)

    def known(name: str) -> Callable[..., Any]:
        module, _, function = name.partition(".")
        named = importlib.import_module(f"airtcp_papers.{source.package}.{module}")
        found: Callable[..., Any] = getattr(named, function)
        return found

    for name, entry in told["figures"].items():
        yield name, _figure(name, {**items[name], **entry}, told["sliders"], known)


def _figure(
    name: str,
    told: Mapping[str, Any],
    sliders: Mapping[str, Mapping[str, Any]],
    known: Callable[[str], Callable[..., Any]],
) -> Movable:
    own, is_drawn = told.get("paper", {}), "curves" in told or "asked" in told
    asked, opens = told.get("asked"), told.get("opens")
    if asked is not None:
        points, lines = asked["points"], asked.get("lines", [{"label": "models"}])
        points = known(points)() if isinstance(points, str) else [(x, at) for x, at in points]
        asked = Asked(**{**asked, "points": points, "lines": [Line(**line) for line in lines]})
    return Movable(
        item=name,
        sliders=[_slider(one, sliders[one], own, known) for one in told["sliders"]],
        x=told["x"] if is_drawn else "",
        y=told["y"] if is_drawn else "",
        read=tuple(told.get("read", (0.0, ""))),
        curves=known(told["curves"]) if "curves" in told else None,
        asked=asked,
        opens=None if opens is None else Opens(**opens),
        log_x=told.get("log_x", False),
    )


def _slider(
    table: str,
    told: Mapping[str, Any],
    paper: Mapping[str, float],
    known: Callable[[str], Callable[..., Changes]],
) -> Slider:
    name, keys = told.get("name", table), told.get("keys", {})
    steps, texts = told["values"], told.get("texts")

    def changes(values: Values) -> Changes:
        if values[name] == told.get("off"):
            return {}
        place = steps.index(values[name])
        fields = dict(values) | ({} if texts is None else {"text": texts[place]})
        written = {path: _written(value, fields) for path, value in keys.items()}
        written |= {path: listed[place] for path, listed in told.get("each", {}).items()}
        return {
            path: None if value == "none" else value
            for path, value in written.items()
            if value != "-"
        }

    function = known(keys) if isinstance(keys, str) else changes if keys or "each" in told else None
    return Slider(name, told["label"], steps, paper.get(name, told["paper"]), texts, function)


def _written(value: Any, fields: Mapping[str, Any]) -> Any:
    """Return a value in written form, with numbers or a label instead of names in braces."""
    if isinstance(value, dict):
        return {key: _written(one, fields) for key, one in value.items()}
    if isinstance(value, list):
        return [_written(one, fields) for one in value]
    if not isinstance(value, str):
        return value
    if value[1:-1] in fields and value != "{text}":
        return int(fields[value[1:-1]])
    numbers = {k: one if isinstance(one, str) else f"{one:g}" for k, one in fields.items()}
    return value.format_map(numbers)


@lru_cache(maxsize=32)
def _scenario(file: Path) -> Scenario:
    """Return a parsed scenario file, cached."""
    return load(file)
