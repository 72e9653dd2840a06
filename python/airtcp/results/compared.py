"""Answers of models, and models beside simulation: result objects.

Knows the shape of answers. Computes nothing: numbers come from the models (`airtcp.predict`) and
from the simulator (`airtcp.run`), and what is between them from `airtcp.compare`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.metrics import METRICS
from airtcp.pictured import Pictured
from airtcp.results.notebook import frame, html_table
from airtcp.results.objects import HEADLINES, Simulation
from airtcp.results.provenance import Provenance, canonical_json, head
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
    """The answer of one model about one metric.

    `value` is in the metric's unit (a list for a distribution), `by` the module that computed it,
    `source` paper and equation, `assumes` what the model takes for granted, and `broken` what of
    that the scenario does not meet, with what this does to the answer.
    """

    value: float | list[float]
    by: str
    source: str
    assumes: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


#: The predictions of models: for each metric, best first.
Model = dict[str, list[Predicted]]


@dataclass(frozen=True, repr=False)
class Prediction:
    """The answer of `airtcp.predict`: per metric what models say, best first.

    `uncovered` says why no model covers the scenario; None when at least one does. `unanswered`
    has the models that might have an answer and have none: their source, and why. `glance` is a
    short simulation, where models leave something open or it was asked for.

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
        """A row for each number that a model says: `metric`, `value`, `by`, `source`, best first.

        Needs pandas, which airtcp does not.
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
        """As notebooks show it: the best model of each metric."""
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
        """The best prediction of a metric, None if there is none."""
        return next(iter(self.model.get(metric, ())), None)

    def by_source(self, metric: str) -> dict[str, Predicted]:
        """The predictions of a metric by paper and equation, best first; empty if there are none.

        No source has two predictions of a metric.
        """
        return {entry.source: entry for entry in self.model.get(metric, ())}

    def to_dict(self) -> dict[str, Any]:
        """Keys `scenario`, `provenance`, `model`, `uncovered`, `unanswered`, `glance`."""
        return head(self.scenario, self.provenance) | {
            "model": _model_dict(self.model),
            "uncovered": self.uncovered,
            "unanswered": self.unanswered,
            "glance": None if self.glance is None else self.glance.part(),
        }

    def to_json(self) -> str:
        """The prediction as canonical JSON."""
        return canonical_json(self.to_dict())


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison: what a model says about a metric, beside the simulation.

    `difference` is model over simulation less one; None when the simulated mean is zero, or the
    runs were too short for one.
    """

    metric: str
    model: float
    by: str
    source: str
    simulation: Interval
    difference: float | None
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """The row as it stands in results.json."""
        return {
            "metric": self.metric,
            "model": self.model,
            "by": self.by,
            "source": self.source,
            "simulation": self.simulation.to_dict(),
            "difference": self.difference,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, repr=False)
class Comparison(Pictured):
    """The answer of `airtcp.compare`: models beside simulation, and their differences.

    `testbed` is there if the scenario was run on a testbed, too; `missing` says why it was not
    although that was asked for. `measured` has what a real network did, beside the answers.
    `advice` is there if problems were looked for (`airtcp.advise`), `verdict` if it was judged by
    targets (`airtcp.verdict`).

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

    @property
    def metrics(self) -> dict[str, Interval]:
        """Short for `simulation.metrics`."""
        return self.simulation.metrics

    def to_pandas(self) -> pd.DataFrame:
        """Short for `simulation.to_pandas`: a row for each replication."""
        return self.simulation.to_pandas()

    def _repr_html_(self) -> str:
        """As notebooks show it: of each metric the best model, beside the simulation."""
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
        """The keys of a prediction, `simulation`, `comparison`, and what there is of others.

        These are `verdict`, `advice`, `measured` and `testbed`.
        """
        told = head(self.scenario, self.provenance) | {
            "model": _model_dict(self.model),
            "uncovered": self.uncovered,
            "unanswered": self.unanswered,
            "simulation": self.simulation.to_dict(),
            "comparison": [row.to_dict() for row in self.comparison],
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

    def to_json(self) -> str:
        """The result as canonical JSON: equal results are equal bytes, `wall_s`, `cpu_s` aside."""
        return canonical_json(self.to_dict())


def _model_dict(model: Model) -> dict[str, Any]:
    return {name: [asdict(predicted) for predicted in entries] for name, entries in model.items()}
