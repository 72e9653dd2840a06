"""Figures with sliders: what each declares, and the resulting curves.

A paper's module `sliders` declares its figures: the sliders, the function that draws the models'
curves (the item uses the same one), and the scenario that simulates the figure. A figure without
its own curves asks `airtcp.predict` along a key of that scenario.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from airtcp.exceptions import QuestionError
from airtcp.predict import predict
from airtcp.scenario import Scenario, load
from airtcp.units import format_time_ns

from airtcp_papers.common.bench import QUICK_DURATION, QUICK_REPLICATIONS
from airtcp_papers.common.catalogue import SOURCES
from airtcp_papers.common.chart import Series

#: The value of every slider, by name.
Values = Mapping[str, float]
Changes = Mapping[str, Any]


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

    points: Sequence[tuple[float, Any]]
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


def figures() -> dict[str, Movable]:
    """Return all figures with sliders by item, in the order of papers."""
    found = {}
    for source in SOURCES.values():
        module = importlib.import_module(f"airtcp_papers.{source.package}.sliders")
        for one in module.FIGURES:
            found[one.item] = one
    return found


#: Items without sliders, and why.
WITHOUT: Final[Mapping[str, str]] = {
    "M.table1": "a table of parameters: nothing follows from them in it",
    "M.backlog": "its model has one number, 1 + 1/d, that follows from d alone",
    "M.remarks": "a table of what the text states without a figure",
    "M.text": "a table of what the text states without a figure",
    "B.mixed": "bursts beside uploads have no model",
    "B.text": "a table of what the text states without a figure",
    "L.text": "a table of what the text states without a figure",
    "G.text": "compares starts of skipping; its numbers have no model",
    "M.timer": "delayed ACKs of many users wait for a timer that no model has",
    "L.aifs": "its one parameter is its axis; L.cwmin has a slider beside it",
    "H.files": "samples of one law; nothing else follows from them in it",
    "H.intervals": "how well a run tells the mean that H.fig1 draws",
    "H.sizes": "single transfers of one simulation; its line is that of H.fig1, in proportion",
    "H.standards": "one axis of four loads; its sliders would be those of H.fig1",
    "H.table1": "a table of parameters: nothing follows from them in it",
    "H.table2": "a table of parameters; what follows from them are the figures H.fig1 to H.fig5",
    "H.terms": "a table of terms at the parameters of the test bed; what follows is H.fig1",
    "B.supply": "read out of traces, and of bursts that no model has",
    "G.lengths": "compares points of G.fig3 to G.fig6, which have the sliders",
    "G.steady": "read out of traces; its numbers have no model",
    "G.windows": "read out of traces; its numbers have no model",
    "H.testbed-means": "measured in real time; its models are those of H.fig1",
    "H.testbed-number": "measured in real time; its models are those of H.fig5",
    "H.testbed-tail-1-MB": "measured in real time; its model is that of H.fig4",
    "H.testbed-tails": "measured in real time; its models are those of H.fig2 and H.fig3",
}


@lru_cache(maxsize=32)
def _scenario(file: Path) -> Scenario:
    """Return a parsed scenario file, cached."""
    return load(file)
