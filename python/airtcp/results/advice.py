"""The advice on a scenario: the cause, the changes that were tried, and the recommended one.

Attributes are the keys of the JSON. They hold identifiers and numbers only; `airtcp.messages` has
their English. `airtcp.judge` simulates the changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from airtcp.results.plain import Record, of_fields, plain

if TYPE_CHECKING:
    from airtcp.results.verdict import State
    from airtcp.stats import Interval

#: The effect of a change. "helps": it meets more targets, or the same targets with more room.
#: "costs others": it helps, but somebody misses a target or loses half of their goodput. "no gain":
#: no relevant effect. "harms": it makes things worse.
Outcome = Literal["helps", "costs others", "no gain", "harms"]


@dataclass(frozen=True)
class Effect(Record):
    """The effect of a change on one group in one direction.

    `before` and `after` are means over the same replications, in the unit of the metric.
    """

    metric: str
    group: str
    part: str
    before: float
    after: float


@dataclass(frozen=True)
class TargetChange(Record):
    """A target without and with a change.

    `before` and `after` are ratios of the measured value to the bound, above one if the target is
    missed (None: nothing was measured). `value` is the measured value with the change, in the
    metric's unit.
    """

    target: str
    state: State
    before: float | None
    after: float | None
    value: float | None


@dataclass(frozen=True)
class Trial:
    """A simulated change of the scenario, and its effect.

    `name` joins the names of its remedies with " + ". `set` has its key paths (None removes a key),
    `apply` the lines for device configuration by program, and `cost` what it takes (a word of
    `airtcp.judge.candidates.COSTS`). `met`, `missed` and `open` count targets. `worst` is the
    largest ratio of a value to its bound. `breaks` are the targets met without the change and
    missed with it. `before`, `after` and `difference` are values of `metric`, the metric of the
    worst target.
    """

    name: str
    title: str
    source: str
    where: tuple[str, ...]
    cost: str
    set: Mapping[str, Any]
    outcome: Outcome
    met: int
    missed: int
    open: int
    worst: float
    targets: tuple[TargetChange, ...]
    breaks: tuple[str, ...]
    wins: tuple[Effect, ...]
    loses: tuple[Effect, ...]
    apply: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]
    replications: int
    simulated_s: float
    metric: str | None
    before: Interval
    after: Interval
    difference: Interval

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as in the JSON."""
        return of_fields(self) | {"research": self.cost == "research"}


@dataclass(frozen=True)
class Cause:
    """A counterfactual that restores targets: an experiment that is only possible in a simulator.

    `problem` is its identifier (`airtcp.judge.counterfactual`), or two joined by " + ". `each` has
    the affected groups of each of them. With it, `met` of the `of` remaining targets are met,
    compared with `met_before`. `gain` is the factor by which the worst target moves closer to its
    bound. What limits endless transfers without a target has no targets (`of` is 0): `gain` is the
    factor by which their goodput grows, from `goodput_before_bps` to `goodput_after_bps`.
    """

    problem: str
    each: tuple[tuple[str, ...], ...]
    met_before: int
    met: int
    of: int
    worst_before: float
    worst: float
    gain: float
    goodput_before_bps: float | None = None
    goodput_after_bps: float | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        """The affected groups."""
        return tuple(group for groups in self.each for group in groups)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `problem`, `groups` and `evidence`, the numbers."""
        return {
            "problem": self.problem,
            "groups": list(self.groups),
            "evidence": {
                "met_before": self.met_before,
                "met": self.met,
                "of": self.of,
                "worst_before": self.worst_before,
                "worst": self.worst,
                "gain": self.gain,
                "goodput_before_bps": self.goodput_before_bps,
                "goodput_after_bps": self.goodput_after_bps,
            },
        }


@dataclass(frozen=True, repr=False)
class Advice:
    """The cause of missed targets, the changes that were tried, and the recommended one.

    `causes` has the counterfactuals that restore most targets, or that raise the goodput of endless
    transfers without a target, best first, and `trials` the changes, best first. `recommended` is
    the change to make. `opportunity` is a free change, if no target is missed, that makes somebody
    much better off and nobody worse off. `without_effect` lists changes that make no difference.
    `unfit` has the reasons why other changes cannot be tried here, and `left_out` lists changes
    that the budget did not reach. `odds` is a lower bound on the probability that the recommended
    change is the best of all that were tried.
    """

    trials: tuple[Trial, ...] = ()
    causes: tuple[Cause, ...] = ()
    recommended: Trial | None = None
    opportunity: Trial | None = None
    as_is: tuple[int, int, int] = (0, 0, 0)
    odds: float | None = None
    tried: int = 0
    without_effect: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict)
    #: Ctrl-C came before all trials had ended.
    interrupted: bool = False

    def __repr__(self) -> str:
        best = self.best
        text = "no change recommended" if best is None else f"recommends {best.title}"
        return f"<Advice: {text}; {self.tried} changes tried>"

    @property
    def best(self) -> Trial | None:
        """The change to make, if there is one."""
        return self.recommended or self.opportunity

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the causes as in the JSON; the first one has the changes that were tried."""
        remedies = [one.to_dict() for one in self.trials]
        first = [one.to_dict() for one in self.causes] or [
            {"problem": "unknown", "groups": [], "evidence": {}}
        ]
        if not self.causes and not remedies:
            return []
        return [
            one | {"remedies": remedies if place == 0 else []} for place, one in enumerate(first)
        ]

    def summary(self) -> dict[str, Any]:
        """Return the keys `recommended`, `opportunity` and `tried` of the JSON of a run."""
        return {
            "recommended": plain(self.recommended),
            "opportunity": plain(self.opportunity),
            "tried": {
                "changes": self.tried,
                "without_effect": list(self.without_effect),
                "left_out": list(self.left_out),
                "unfit": dict(self.unfit),
                "odds": self.odds,
            },
        }
