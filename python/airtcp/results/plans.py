"""The answer of `airtcp.plan`: how far a scenario carries, what shows it, and what moves it.

Knows the shape of the answer, whose attributes are the keys of its JSON. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from airtcp.amounts import quantity_with_interval
from airtcp.pictured import Pictured
from airtcp.results.advice import Effect, Finding
from airtcp.results.notebook import frame, html_table
from airtcp.results.provenance import Provenance, canonical_json, head
from airtcp.stats import Interval

if TYPE_CHECKING:
    import pandas as pd

    from airtcp.conditions import Condition
    from airtcp.scenario import Scenario

#: Why the work ended: it was done, the user interrupted it, or its time was over.
PlanStopped = Literal["done", "interrupted", "time"]

#: The effect of a remedy on the end: it gains; it does and somebody else is badly served then; its
#: interval holds no gain that matters; the interval is too wide to say; the few runs it got do not
#: tell, but it cannot be the best; it loses.
Verdict = Literal["gains", "costs others", "none", "cannot tell", "behind", "loses"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The last value of `vary` at which no condition holds; it is between `low` and `high`.

    That holds with the probability `confidence`. All in the base unit `unit` (s, b/s, B, % as a
    fraction, or none). `low` or `high` is None where the runs do not bound it.
    """

    vary: str
    value: float
    low: float | None
    high: float | None
    unit: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of one depth at one value: of models a number for each metric, else an interval.

    `metrics` goes by the texts of the conditions; of models also those of which only a mean is
    known, with `by`, the source.
    """

    value: float
    depth: Literal["model", "glance", "simulation"]
    metrics: dict[str, float | Interval]
    by: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The evidence as it stands in the JSON."""
        shown = {
            name: one.to_dict() if isinstance(one, Interval) else one
            for name, one in self.metrics.items()
        }
        return {"value": self.value, "depth": self.depth, "metrics": shown, "by": self.by}


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of a remedy: the move of the end, and the effect where the end was.

    `gain` is the paired difference of the ends, in values of the axis and positive where it helps;
    None where it was not sought, because the remedy did not help where the end was. `metric` is the
    condition that holds there, `before` its mean at the end, and `change` the paired difference.
    `cost` says in words what of the goodput it loses there; empty where that is little.
    """

    name: str
    title: str
    source: str
    where: tuple[str, ...]
    changes: Mapping[str, Any]
    verdict: Verdict
    metric: str
    before: float | None
    change: Interval
    gain: Interval | None = None
    answer: Answer | None = None
    apply: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cost: str = ""
    research: bool = False
    problem: str = ""
    endless: bool = False
    wins: tuple[Effect, ...] = ()
    loses: tuple[Effect, ...] = ()
    hurts: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Keys `name`, `gain`, `low`, `high`, `apply`, and the rest."""
        gain = self.gain or Interval(None, None, None, 0)
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "where": list(self.where),
            "changes": dict(self.changes),
            "verdict": self.verdict,
            "gain": gain.mean,
            "low": gain.low,
            "high": gain.high,
            "answer": None if self.answer is None else asdict(self.answer),
            "metric": self.metric,
            "before": self.before,
            "change": self.change.to_dict(),
            "apply": {tool: list(lines) for tool, lines in self.apply.items()},
            "notes": list(self.notes),
            "cost": self.cost,
            "research": self.research,
            "problem": self.problem,
            "endless": self.endless,
            "wins": [one.to_dict() for one in self.wins],
            "loses": [one.to_dict() for one in self.loses],
            "hurts": list(self.hurts),
        }


@dataclass(frozen=True, repr=False)
class Plan(Pictured):
    """The reach of a scenario.

    `answer` is None where an interruption came before the end was enclosed. `unsteady` says why
    the runs cannot tell yet how far it is for sure, or no better, and how long would do: they are
    too short for their traffic where the answer is, which may then be too far. `guess` is where
    models saw the end (None: they cannot tell) and `guessed_by` the source. `remedies` are ranked,
    the best first; `together` is what the best two do at once, None if there are no two. `left_out`
    has the remedies that cannot be applied, with the reason.
    """

    scenario: Scenario
    provenance: Provenance
    conditions: tuple[Condition, ...]
    label: str
    answer: Answer | None
    unsteady: str | None
    guess: float | None
    guessed_by: str
    evidence: list[Evidence]
    remedies: list[Gain]
    together: Gain | None
    left_out: dict[str, str]
    runs: int
    simulated_s: float
    wall_s: float
    cpu_s: float
    stopped: PlanStopped
    limits: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        if self.answer is None:
            return f"<Plan of {self.scenario.title!r}: no answer yet>"
        answer = self.answer
        return f"<Plan of {self.scenario.title!r}: {answer.vary} {answer.value:g} " + (
            f"({answer.low} to {answer.high})>"
        )

    @property
    def is_bounded(self) -> bool:
        """Tell whether it is known how far the scenario surely carries."""
        answer = self.answer
        return answer is not None and answer.low is not None and answer.high is not None

    @property
    def until(self) -> list[str]:
        """The conditions as they were asked."""
        return [one.text for one in self.conditions]

    def to_pandas(self) -> pd.DataFrame:
        """A row for each condition at each value that was looked at: what `evidence` says of it.

        `mean`, `low`, `high`, `n` are those of the simulation; what a model says has no more than
        a `mean`. Needs pandas, which airtcp does not.
        """
        rows: list[tuple[object, ...]] = []
        for one in self.evidence:
            for name, said in one.metrics.items():
                interval = said if isinstance(said, Interval) else Interval(said, None, None, 0)
                ends = (interval.mean, interval.low, interval.high, interval.n)
                rows.append((one.value, one.depth, name, *ends))
        return frame(("value", "depth", "metric", "mean", "low", "high", "n"), rows)

    def _repr_html_(self) -> str:
        """As notebooks show it: the answer, and what each remedy does."""
        unit = self.conditions[0].about.unit
        axis_unit = "" if self.answer is None else self.answer.unit
        rows = [
            (
                one.title,
                "" if one.gain is None else quantity_with_interval(one.gain, axis_unit),
                quantity_with_interval(one.change, unit),
                one.verdict,
            )
            for one in self.remedies
        ]
        head = ("remedy", "carries further by", "changes the metric by", "") if rows else ()
        return html_table(repr(self)[1:-1], head, rows)

    def to_dict(self) -> dict[str, Any]:
        """Keys `answer`, `until`, `evidence`, `remedies` and what is beside them."""
        return {
            **head(self.scenario, self.provenance),
            "answer": None if self.answer is None else asdict(self.answer),
            "unsteady": self.unsteady,
            "until": self.until,
            "guess": None if self.guess is None else {"value": self.guess, "by": self.guessed_by},
            "evidence": [one.to_dict() for one in self.evidence],
            "remedies": [one.to_dict() for one in self.remedies],
            "together": None if self.together is None else self.together.to_dict(),
            "left_out": self.left_out,
            "limits": [
                {
                    "problem": one.problem,
                    "title": one.title,
                    "groups": list(one.groups),
                    "evidence": one.evidence,
                }
                for one in self.limits
            ],
            "runs": self.runs,
            "simulated_s": self.simulated_s,
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "stopped": self.stopped,
        }

    def to_json(self) -> str:
        """The plan as canonical JSON: equal plans are equal bytes, `wall_s`, `cpu_s` aside."""
        return canonical_json(self.to_dict())
