"""Verdicts: does a scenario hold its targets; attributes are the keys of the JSON.

Knows the shape of a verdict, and how one follows from those of single targets. Measures nothing:
that is `airtcp.advice.verdicts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.stats import Interval

#: The state of a target, or of all: the interval lies on the good side of the bound, on the bad
#: one, or on both.
State = Literal["holds", "fails", "unknown"]


@dataclass(frozen=True)
class Target:
    """A condition that shall hold: one of `[targets]`, or one of a profile of traffic.

    `profile` is the profile's word and `source` the reason for its bound; both are empty where a
    file has the target.
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
    """A target beside what was measured.

    `interval` is in the unit of the metric. `margin` is the distance of its mean from the bound,
    over the bound: positive on the good side; None where either is not known, or the bound is 0.
    """

    target: Target
    interval: Interval
    state: State

    @property
    def margin(self) -> float | None:
        """The distance from the bound, over the bound; positive where the target holds."""
        bound, mean = self.target.condition.bound, self.interval.mean
        if mean is None:
            mean = self.interval.low
        if mean is None or bound == 0.0:
            return None
        excess = (mean - bound) / bound
        return excess if self.target.condition.above else -excess

    def to_dict(self) -> dict[str, Any]:
        """Keys `target`, `value`, `low`, `high`, `state`, `margin`, `profile`, `source`."""
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
class Growth:
    """The end of what carries, as glances see it, where all groups grow or shrink in proportion.

    `holds_at` is the largest number of stations that was looked at at which all targets hold (0:
    there is none), `fails_at` the smallest at which `target` does not; `present` is that of the
    scenario. The numbers are of short looks, whose chance is not in them.
    """

    target: str
    present: int
    holds_at: int
    fails_at: int
    glances: int

    def to_dict(self) -> dict[str, Any]:
        """Keys `target`, `present`, `holds_at`, `fails_at`, `glances`."""
        return {
            "target": self.target,
            "present": self.present,
            "holds_at": self.holds_at,
            "fails_at": self.fails_at,
            "glances": self.glances,
        }


@dataclass(frozen=True)
class Verdict:
    """The verdict on all targets of a scenario.

    `written`: they are those of the file, else those of its profiles of traffic. `confidence` is
    the level of the intervals of single targets, at which the verdict is right as often as the
    scenario asks for. `growth` is there if it was looked for and seen.
    """

    targets: tuple[Judged, ...]
    written: bool
    confidence: float
    growth: Growth | None = None

    @property
    def state(self) -> State:
        """The state of all: one that fails fails them all."""
        states = {one.state for one in self.targets}
        if "fails" in states:
            return "fails"
        return "unknown" if "unknown" in states or not states else "holds"

    @property
    def nearest(self) -> Judged | None:
        """The target that decides: the one that is furthest beyond its bound, or nearest to it."""
        known = [one for one in self.targets if one.state == self.state] or list(self.targets)
        return min(known, key=_room, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Keys `state`, `targets`, `written`, `confidence`, `nearest`, `growth`."""
        nearest = self.nearest
        return {
            "state": self.state,
            "targets": [one.to_dict() for one in self.targets],
            "written": self.written,
            "confidence": self.confidence,
            "nearest": None if nearest is None else nearest.target.text,
            "growth": None if self.growth is None else self.growth.to_dict(),
        }


def _room(one: Judged) -> float:
    return float("-inf") if one.margin is None else one.margin
