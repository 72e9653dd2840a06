"""Verdicts: whether a scenario meets its targets. Attributes are the keys of the JSON.

The overall verdict follows from the verdicts on single targets, which `airtcp.judge.verdicts`
measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from airtcp.amounts import quantity_with_interval
from airtcp.metrics import METRICS
from airtcp.results.notebook import html_table
from airtcp.results.plain import Record, plain

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.stats import Interval

#: The state of a target, or of all: the interval lies on the good side of the bound ("holds"), on
#: the bad side ("fails"), or on both.
State = Literal["holds", "fails", "unknown"]
_STATES: Final = {"holds": "met", "fails": "missed", "unknown": "inconclusive"}


@dataclass(frozen=True)
class Target:
    """A condition to meet: one of `[targets]`, or a default of a traffic profile.

    `profile` is the profile's word and `source` the reason for its bound. Both are empty if the
    file sets the target.
    """

    condition: Condition
    profile: str = ""
    source: str = ""

    @property
    def text(self) -> str:
        """The target in one line: "call p95 packet_delay < 50 ms"."""
        return self.condition.text


@dataclass(frozen=True)
class Judged:
    """A target with its measured value.

    `interval` is in the unit of the metric. `margin` is the distance of its mean from the bound,
    divided by the bound: positive on the good side; None if the mean is unknown or the bound is 0.
    """

    target: Target
    interval: Interval
    state: State

    @property
    def margin(self) -> float | None:
        """The distance from the bound, divided by the bound; positive if the target is met."""
        bound, mean = self.target.condition.bound, self.interval.mean
        if mean is None:
            mean = self.interval.low
        if mean is None or bound == 0.0:
            return None
        excess = (mean - bound) / bound
        return excess if self.target.condition.above else -excess

    def to_dict(self) -> dict[str, Any]:
        """Return `target`, `value`, `low`, `high`, `state`, `margin`, `profile`, `source`."""
        return {
            "target": self.target.text,
            "value": self.interval.mean,
            "low": self.interval.low,
            "high": self.interval.high,
            "state": self.state,
            "margin": self.margin,
            "profile": self.target.profile or None,
            "source": self.target.source or None,
        }


@dataclass(frozen=True)
class Growth(Record):
    """The capacity as quick simulations see it, with all groups growing or shrinking in proportion.

    `holds_at` is the largest simulated number of stations that meets all targets (0: there is
    none), and `fails_at` the smallest that misses `target`. `present` is the scenario's own number.
    The values come from short runs, and have no confidence interval.
    """

    target: str
    present: int
    holds_at: int
    fails_at: int
    glances: int


@dataclass(frozen=True)
class Verdict:
    """The verdict on all targets of a scenario.

    `written`: the file sets the targets; otherwise its traffic profiles do.
    `confidence` is the level of the intervals of single targets. It is chosen so that the whole
    verdict has the confidence level of the scenario. `growth` is set if it was searched and found.
    """

    targets: tuple[Judged, ...]
    written: bool
    confidence: float
    growth: Growth | None = None

    def __repr__(self) -> str:
        met = sum(one.state == "holds" for one in self.targets)
        open_ = sum(one.state == "unknown" for one in self.targets)
        more = f", {open_} inconclusive" if open_ else ""
        return f"<Verdict: meets {met} of {len(self.targets)} targets{more}>"

    def _repr_html_(self) -> str:
        """Return a row for each target with its value and state as HTML for notebooks."""
        rows = [
            (
                one.target.text,
                quantity_with_interval(one.interval, METRICS[one.target.condition.metric].unit),
                _STATES[one.state],
            )
            for one in self.targets
        ]
        return html_table(repr(self)[1:-1], ("target", "measured", ""), rows)

    @property
    def state(self) -> State:
        """The overall state: one failed target fails all."""
        states = {one.state for one in self.targets}
        if "fails" in states:
            return "fails"
        return "unknown" if "unknown" in states or not states else "holds"

    @property
    def nearest(self) -> Judged | None:
        """The deciding target: the one furthest beyond its bound, or nearest to it."""
        known = [one for one in self.targets if one.state == self.state] or list(self.targets)
        return min(known, key=_room, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `state`, `targets`, `written`, `confidence`, `nearest`, `growth`."""
        nearest = self.nearest
        return {
            "state": self.state,
            "targets": plain(self.targets),
            "written": self.written,
            "confidence": self.confidence,
            "nearest": None if nearest is None else nearest.target.text,
            "growth": plain(self.growth),
        }


def _room(one: Judged) -> float:
    return float("-inf") if one.margin is None else one.margin
