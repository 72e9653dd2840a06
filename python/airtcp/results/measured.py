"""Measurements of a real network, and how answers stand to them; attributes are the keys of JSON.

Knows the shape. Reads no file (`airtcp.importer`), judges nothing (`airtcp.compare`) and
explains nothing (`airtcp.gaps`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from airtcp.stats import Interval

#: A change that closes less than this part of a gap explains nothing.
EXPLAINS: Final = 0.5


@dataclass(frozen=True)
class Unfollowed:
    """A condition of a measurement that a scenario may not have.

    It moves `metrics`, or all if there are none. With `above_bps` it holds only for a scenario
    whose goodput is above this rate, with `upto_bps` only for one whose goodput is not.
    """

    sentence: str
    metrics: tuple[str, ...] = ()
    above_bps: float | None = None
    upto_bps: float | None = None

    def moves(self, metric: str) -> bool:
        """True if it moves the values of a metric."""
        return not self.metrics or metric in self.metrics

    def holds_at(self, goodput_bps: float) -> bool:
        """True for a scenario with this goodput. Rates have a tolerance of 5 %."""
        if self.above_bps is not None and goodput_bps <= 1.05 * self.above_bps:
            return False
        return self.upto_bps is None or goodput_bps <= 1.05 * self.upto_bps


@dataclass(frozen=True)
class Measurement:
    """The values of a file of measurements.

    `values` has intervals of metrics, in the unit of each, of everything (`""`), of a direction
    (`download`, `upload`), a group, or a direction of a group (`laptop/download`). An interval
    without `low` and `high` is one value, of which the file does not tell the spread. `counts` has
    numbers of events in `duration_s` seconds, by metric. `others` are sentences of what was
    measured and no metric is. `direction` is that of the values of everything, if it is one.
    """

    source: str
    values: Mapping[str, Mapping[str, Interval]]
    duration_s: float | None = None
    counts: Mapping[str, float] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    direction: str = ""
    unfollowed: tuple[Unfollowed, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer beside a measured value: of the simulation, or of a model by its source.

    `difference` is answer over measured value less one; None where that is zero.
    """

    by: str
    value: float
    difference: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """A measured metric with the answers beside it, the simulation first.

    `of` is empty for everything, else group and direction, such as `laptop/download`.
    """

    metric: str
    of: str
    measured: Interval
    simulation: Interval
    answers: tuple[Answer, ...]

    def to_dict(self) -> dict[str, Any]:
        """The row as it stands in results.json."""
        return {
            "metric": self.metric,
            "of": self.of or None,
            "measured": self.measured.to_dict(),
            "simulation": self.simulation.to_dict(),
            "answers": [
                {
                    "by": one.by,
                    "value": one.value,
                    "difference": one.difference,
                    "verdict": one.verdict,
                }
                for one in self.answers
            ],
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """A change of the scenario with which it would give more of what was measured.

    `share` is the part of the gap that it closes; negative where it widens it. `set` has values by
    key path; empty for a neighbour, which no key path makes: `written` is a piece of a scenario
    file. `values` has each measured metric as the changed scenario gives it; None where it has
    none. `against` are the metrics that the change moves far away from what was measured: with
    any, the measurement itself rules it out.
    """

    kind: str
    title: str
    share: float
    set: Mapping[str, Any]
    written: str
    values: tuple[tuple[str, str, float | None], ...]
    against: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The explanation as it stands in results.json."""
        return {
            "kind": self.kind,
            "title": self.title,
            "share": self.share,
            "set": dict(self.set),
            "written": self.written or None,
            "values": [
                {"metric": metric, "of": of or None, "value": value}
                for metric, of, value in self.values
            ],
            "against": [{"metric": metric, "of": of or None} for metric, of in self.against],
        }


@dataclass(frozen=True)
class Gap:
    """The measured metrics that simulation is too far from, and what was tried to explain them.

    `rows` has metric and scope of each. `explanations` are of one kind each, the one that closes
    most first; those from `EXPLAINS` on count. `untried` has the reason by kind.
    """

    rows: tuple[tuple[str, str], ...]
    explanations: tuple[Explanation, ...] = ()
    untried: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def state(self) -> str:
        """`no gap`, `explained`, or `none of these`."""
        if not self.rows:
            return "no gap"
        return "explained" if self.best else "none of these"

    @property
    def best(self) -> tuple[Explanation, ...]:
        """The explanations that close enough of the gap to be one."""
        return tuple(one for one in self.explanations if one.share >= EXPLAINS and not one.against)

    def to_dict(self) -> dict[str, Any]:
        """Keys `state`, `rows`, `explanations`, `untried`."""
        return {
            "state": self.state,
            "rows": [{"metric": metric, "of": of or None} for metric, of in self.rows],
            "explanations": [one.to_dict() for one in self.explanations],
            "untried": dict(self.untried),
        }


@dataclass(frozen=True)
class Measured:
    """A measurement beside the answers of a scenario.

    `without` has values without an answer, `unfollowed` the conditions of the measurement that the
    scenario does not have.
    """

    measurement: Measurement
    rows: tuple[MeasuredRow, ...]
    without: tuple[str, ...]
    gap: Gap | None = None
    unfollowed: tuple[Unfollowed, ...] = ()

    def is_comparable(self, metric: str) -> bool:
        """True if nothing that was not followed moves a metric."""
        return not any(one.moves(metric) for one in self.unfollowed)

    def to_dict(self) -> dict[str, Any]:
        """Keys `source`, `rows`, `without`, `unfollowed`, and `gap` if there is one."""
        told: dict[str, Any] = {
            "source": self.measurement.source,
            "rows": [row.to_dict() for row in self.rows],
            "without": list(self.without),
            "unfollowed": [one.sentence for one in self.unfollowed],
        }
        return told if self.gap is None else told | {"gap": self.gap.to_dict()}
