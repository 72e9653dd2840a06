"""The result of `airtcp.plan`: the capacity of a scenario, its limits, and what raises it.

Attributes are the keys of the JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from airtcp.amounts import quantity_with_interval
from airtcp.pictured import Pictured
from airtcp.results.advice import Effect
from airtcp.results.notebook import frame, html_table
from airtcp.results.plain import Record, of_fields
from airtcp.results.provenance import Provenance, Result, head
from airtcp.stats import Interval

if TYPE_CHECKING:
    import pandas as pd

    from airtcp.conditions import Condition
    from airtcp.scenario import Scenario

#: Why the work ended: it was complete, the user interrupted it, or the time limit was reached.
PlanStopped = Literal["done", "interrupted", "time"]

#: The effect of a change on the capacity: it raises it; raises it but costs somebody half of their
#: goodput; has no significant effect; or lowers it.
Verdict = Literal["gains", "costs others", "none", "loses"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The last value of `vary` that meets every target; it lies between `low` and `high`.

    This is true with probability `confidence`. All values are in the base unit `unit` (s, b/s, B, %
    as a fraction, or none). `low` or `high` is None if the runs give no bound.
    """

    vary: str
    value: float
    low: float | None
    high: float | None
    unit: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Limit(Record):
    """A target missed beyond the answer, and the first simulated value that misses it."""

    target: str
    at: float


@dataclass(frozen=True, slots=True)
class Evidence(Record):
    """The results at one value: an interval for each target, by the target's text."""

    value: float
    depth: Literal["simulation"]
    metrics: dict[str, Interval]


@dataclass(frozen=True, slots=True)
class Gain:
    """A change of the scenario, and the capacity with it.

    `gain` is the increase of the capacity in values of the axis, positive if the change helps.
    `answer` is None if no limit was found up to the end of the axis (`endless`) or the time was
    over. `limits` are the targets missed first with the change, and `never` those missed at every
    value, which the capacity leaves out.
    """

    name: str
    title: str
    source: str
    where: tuple[str, ...]
    cost: str
    changes: Mapping[str, Any]
    verdict: Verdict
    gain: Interval
    answer: Answer | None = None
    limits: tuple[Limit, ...] = ()
    apply: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    endless: bool = False
    never: tuple[str, ...] = ()
    wins: tuple[Effect, ...] = ()
    loses: tuple[Effect, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `name`, `gain`, `low`, `high`, `apply`, and the others."""
        return of_fields(self) | {
            "research": self.cost == "research",
            "gain": self.gain.mean,
            "low": self.gain.low,
            "high": self.gain.high,
        }


@dataclass(frozen=True, repr=False)
class Plan(Pictured, Result):
    """The capacity of a scenario.

    `conditions` are the targets that bound it: those of the scenario or of its traffic; conditions
    of `until` replace targets about the same metric. `answer` is None if the smallest value meets
    no target or misses one of `until`, or an interruption came before the capacity was bracketed.
    `unsteady` says why the runs at the answer are too short for their traffic, and which duration
    would suffice (the capacity may be less); None if they are not. `limits` are the targets missed
    first, and `never` those missed at every value, which `answer` leaves out. `present` is the
    scenario's own value. `remedies` are the changes whose capacity was searched, best first.
    `tried` counts the candidates, and `left_out` has the reasons why others were not tried.
    """

    scenario: Scenario
    provenance: Provenance
    until: tuple[str, ...]
    conditions: tuple[Condition, ...]
    label: str
    present: float | None
    answer: Answer | None
    unsteady: Mapping[str, Any] | None
    limits: tuple[Limit, ...]
    never: tuple[str, ...]
    evidence: list[Evidence]
    remedies: list[Gain]
    tried: int
    left_out: dict[str, str]
    runs: int
    simulated_s: float
    wall_s: float
    cpu_s: float
    stopped: PlanStopped

    def __repr__(self) -> str:
        if self.answer is None:
            return f"<Plan of {self.scenario.title!r}: no answer>"
        answer = self.answer
        never = f"; missed at any value: {', '.join(self.never)}" if self.never else ""
        return f"<Plan of {self.scenario.title!r}: {answer.vary} {answer.value:g} " + (
            f"({answer.low} to {answer.high}){never}>"
        )

    @property
    def best(self) -> Gain | None:
        """The feasible change that raises the capacity most."""
        return next(
            (
                one
                for one in self.remedies
                if one.verdict == "gains" and one.cost in ("setting", "spectrum")
            ),
            None,
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each target at each simulated value. Needs pandas."""
        rows: list[tuple[object, ...]] = [
            (one.value, one.depth, name, told.mean, told.low, told.high, told.n)
            for one in self.evidence
            for name, told in one.metrics.items()
        ]
        return frame(("value", "depth", "metric", "mean", "low", "high", "n"), rows)

    def _repr_html_(self) -> str:
        """Return the answer and the effect of each change as HTML for notebooks."""
        unit = "" if self.answer is None else self.answer.unit
        rows = [
            (one.title, quantity_with_interval(one.gain, unit), one.verdict)
            for one in self.remedies
        ]
        columns = ("change", "raises the capacity by", "") if rows else ()
        return html_table(repr(self)[1:-1], columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `answer`, `until`, `evidence`, `remedies` and the others."""
        return {
            **head(self.scenario, self.provenance),
            **of_fields(self, "scenario", "provenance", "conditions", "label"),
            "targets": [one.text for one in self.conditions],
        }
