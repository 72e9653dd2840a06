"""Predictions of models, and models next to simulation.

Values come from the models (`airtcp.predict`) and the simulator (`airtcp.run`), and differences
from `airtcp.compare`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.metrics import METRICS
from airtcp.results.notebook import frame, html_table
from airtcp.results.objects import HEADLINES, OfSimulation, Simulation
from airtcp.results.plain import Record, plain
from airtcp.results.provenance import Provenance, Result, head
from airtcp.stats import Interval

if TYPE_CHECKING:
    import pandas as pd

    from airtcp.results.advice import Advice
    from airtcp.results.glance import Glance
    from airtcp.results.measured import Measured
    from airtcp.results.testbed import TestbedResult
    from airtcp.results.verdict import Verdict
    from airtcp.scenario import ResolvedScenario


@dataclass(frozen=True, slots=True)
class Predicted:
    """The value of one model for one metric.

    `value` is in the metric's unit (a list for a distribution). `by` is the module that computed
    it, and `source` paper and equation. `assumes` lists the model's assumptions, and `broken` the
    assumptions that the scenario violates, with the effect on the value.
    """

    value: float | list[float]
    by: str
    source: str
    assumes: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


#: The predictions of models: for each metric, best first.
Model = dict[str, list[Predicted]]


@dataclass(frozen=True, repr=False)
class Prediction(Result):
    """The result of `airtcp.predict`: the models' values for each metric, best first.

    `uncovered` says why no model covers the scenario; None if at least one does. `unanswered` has
    the models that apply but have no value: their source, and the reason. `glance` is a quick
    simulation, if models leave something open or it was requested.

    With the `cafe` of `airtcp.load`:

    >>> prediction = airtcp.predict(cafe)
    >>> list(prediction.by_source("goodput_bps"))[0] == prediction.best("goodput_bps").source
    True
    """

    scenario: ResolvedScenario
    provenance: Provenance
    model: Model
    uncovered: str | None
    unanswered: dict[str, str] = field(default_factory=dict)
    glance: Glance | None = None

    def __repr__(self) -> str:
        best = {name: self.best(name) for name in HEADLINES}
        told = [
            f"{METRICS[name].label} {quantity(one.value, METRICS[name].unit)} ({one.source})"
            for name, one in best.items()
            if one is not None and not isinstance(one.value, list)
        ]
        if self.glance is not None:
            told += [
                f"{METRICS[name].label} {text} ({self.glance.source})"
                for name, text in self.glance.shown()
                if name in HEADLINES and self.best(name) is None
            ]
        return f"<Prediction of {self.scenario.title!r}: {'; '.join(told) or self.uncovered}>"

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each value of a model: `metric`, `value`, `by`, `source`, best first.

        Needs pandas, which airtcp does not require.
        """
        return frame(
            ("metric", "value", "by", "source"),
            [
                (name, one.value, one.by, one.source)
                for name, entries in self.model.items()
                for one in entries
                if not isinstance(one.value, list)
            ],
        )

    def _repr_html_(self) -> str:
        """Return the best model of each metric as HTML for notebooks."""
        rows = []
        for name in self.model:
            one = self.best(name)
            if one is not None and not isinstance(one.value, list):
                known = METRICS.get(name)
                label, unit = (known.label, known.unit) if known else (name, "")
                rows.append((label, quantity(one.value, unit), one.source))
        if self.glance is not None:
            source = self.glance.source
            rows += [(METRICS[name].label, text, source) for name, text in self.glance.shown()]
        return html_table(repr(self)[1:-1], ("metric", "best answer", "source"), rows)

    def best(self, metric: str) -> Predicted | None:
        """Return the best prediction of a metric, None if there is none."""
        return next(iter(self.model.get(metric, ())), None)

    def by_source(self, metric: str) -> dict[str, Predicted]:
        """Return the predictions of a metric by paper and equation, best first; empty without any.

        No source has two predictions of a metric.
        """
        return {entry.source: entry for entry in self.model.get(metric, ())}

    def to_dict(self) -> dict[str, Any]:
        """Return keys `scenario`, `provenance`, `model`, `uncovered`, `unanswered`, `glance`."""
        return head(self.scenario, self.provenance) | {
            "model": plain(self.model),
            "uncovered": self.uncovered,
            "unanswered": self.unanswered,
            "glance": None if self.glance is None else self.glance.part(),
        }


@dataclass(frozen=True, slots=True)
class Row(Record):
    """One row of the comparison: a model's value of a metric, next to the simulation.

    `difference` is the relative difference of the model from the simulation; None if the simulated
    mean is zero, or the runs were too short for one.
    """

    metric: str
    model: float
    by: str
    source: str
    simulation: Interval
    difference: float | None
    verdict: str


@dataclass(frozen=True, repr=False)
class Comparison(OfSimulation):
    """The result of `airtcp.compare`: models next to simulation, and their differences.

    `testbed` is set if the scenario was also run on a testbed; `missing` says why a requested
    testbed run was impossible. `measured` has measurements of a real network, next to the results.
    `advice` is set by `airtcp.advise`, and `verdict` by `airtcp.verdict`.

    With the `cafe` of `airtcp.load`:

    >>> row = airtcp.compare(cafe).comparison[0]
    >>> row.difference == row.model / row.simulation.mean - 1
    True
    """

    scenario: ResolvedScenario
    provenance: Provenance
    model: Model
    uncovered: str | None
    simulation: Simulation
    comparison: list[Row]
    unanswered: dict[str, str] = field(default_factory=dict)
    testbed: TestbedResult | None = None
    missing: str | None = None
    measured: Measured | None = None
    advice: Advice | None = None
    verdict: Verdict | None = None

    def __repr__(self) -> str:
        about = f"{self.simulation._in_short()}; {len(self.comparison)} predictions beside it"
        return f"<Comparison of {self.scenario.title!r}: {about}>"

    def _repr_html_(self) -> str:
        """Return the best model of each metric, next to the simulation, as HTML for notebooks."""
        best = {row.metric: row for row in reversed(self.comparison)}
        rows = []
        for name in self.simulation.shown:
            label, unit = METRICS[name].label, METRICS[name].unit
            measured = quantity_with_interval(self.metrics[name], unit)
            if name in best:
                row = best[name]
                rows.append((label, measured, quantity(row.model, unit), row.source, row.verdict))
            else:
                rows.append((label, measured, "", "", ""))
        head = ("metric", "simulation", "best model", "source", "verdict")
        return html_table(repr(self)[1:-1], head, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys of a prediction, `simulation`, `comparison`, and the optional keys.

        The optional keys are `verdict`, `advice`, `measured` and `testbed`.
        """
        told = head(self.scenario, self.provenance) | {
            "model": plain(self.model),
            "uncovered": self.uncovered,
            "unanswered": self.unanswered,
            "simulation": self.simulation.to_dict(),
            "comparison": plain(self.comparison),
        }
        if self.verdict is not None:
            told["verdict"] = self.verdict.to_dict()
        if self.measured is not None:
            told["measured"] = self.measured.to_dict()
        if self.advice is not None:
            told["advice"] = self.advice.to_dict()
            told |= self.advice.summary()
        if self.testbed is not None:
            return told | {"testbed": self.testbed.measured()}
        return told if self.missing is None else told | {"testbed": {"missing": self.missing}}
