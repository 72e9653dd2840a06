"""Measurements of a real network next to results; attributes are the keys of the JSON.

`airtcp.importer` reads measurements, `airtcp.compare` judges them, and `airtcp.gaps` explains
differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from airtcp.results.plain import of_fields

if TYPE_CHECKING:
    from airtcp.stats import Interval

#: An explanation must close at least this fraction of the gap.
EXPLAINS: Final = 0.5


@dataclass(frozen=True)
class Unfollowed:
    """A condition of a measurement that a scenario may not reproduce.

    It affects `metrics`, or all metrics if that is empty. With `above_bps` it applies only to a
    scenario whose goodput is above this rate.
    """

    sentence: str
    metrics: tuple[str, ...] = ()
    above_bps: float | None = None

    def moves(self, metric: str) -> bool:
        """Whether it affects the values of a metric."""
        return not self.metrics or metric in self.metrics

    def holds_at(self, goodput_bps: float) -> bool:
        """Whether it applies at this goodput. Rates have a tolerance of 5 %."""
        return self.above_bps is None or goodput_bps > 1.05 * self.above_bps


@dataclass(frozen=True)
class Measurement:
    """The values of a file of measurements.

    `values` has intervals of metrics, in the unit of each, by scope: all flows (`""`), a direction
    (`download`, `upload`), a group, or a direction of a group (`laptop/download`). An interval
    without `low` and `high` is a single value of unknown spread. `counts` has numbers of events in
    `duration_s` seconds, by metric. `others` are sentences about measured values that are not
    metrics. `direction` is set if all values are of one direction.
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
    """A simulated or predicted value next to a measured one.

    `difference` is the relative difference from the measured value; None if that is zero.
    """

    by: str
    value: float
    difference: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """A measured metric with the simulated and predicted values, the simulation first.

    `of` is empty for all flows, otherwise group and direction, such as `laptop/download`.
    """

    metric: str
    of: str
    measured: Interval
    simulation: Interval
    answers: tuple[Answer, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as in results.json."""
        return of_fields(self) | {"of": self.of or None}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A change of the scenario that brings its results closer to the measurement.

    `share` is the fraction of the gap that it closes; negative if it widens the gap. `set` has
    values by key path. It is empty for a neighbour, which no key path can add; then `written` is a
    piece of a scenario file. `values` has each measured metric with the change; None if the changed
    scenario has no value. `against` lists the metrics that the change moves far away from the
    measurement: if there are any, the measurement rules it out.
    """

    kind: str
    title: str
    share: float
    set: Mapping[str, Any]
    written: str
    values: tuple[tuple[str, str, float | None], ...]
    against: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as in results.json."""
        return of_fields(self) | {
            "written": self.written or None,
            "values": [
                {"metric": metric, "of": of or None, "value": value}
                for metric, of, value in self.values
            ],
            "against": [{"metric": metric, "of": of or None} for metric, of in self.against],
        }


@dataclass(frozen=True)
class Gap:
    """The measured metrics that differ too much from the simulation, and the explanations tried.

    `rows` has metric and scope of each. `explanations` has one per kind, the one that closes most
    first; those from `EXPLAINS` on count. `untried` has the reason by kind.
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
        """The explanations that close enough of the gap."""
        return tuple(one for one in self.explanations if one.share >= EXPLAINS and not one.against)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `state`, `rows`, `explanations`, `untried`."""
        return {
            "state": self.state,
            "rows": [{"metric": metric, "of": of or None} for metric, of in self.rows],
            "explanations": [one.to_dict() for one in self.explanations],
            "untried": dict(self.untried),
        }


@dataclass(frozen=True)
class Measured:
    """A measurement next to the results of a scenario.

    `without` lists values without a simulated counterpart, and `unfollowed` the conditions of the
    measurement that the scenario does not reproduce.
    """

    measurement: Measurement
    rows: tuple[MeasuredRow, ...]
    without: tuple[str, ...]
    gap: Gap | None = None
    unfollowed: tuple[Unfollowed, ...] = ()

    def is_comparable(self, metric: str) -> bool:
        """Whether no unreproduced condition affects a metric."""
        return not any(one.moves(metric) for one in self.unfollowed)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `source`, `rows`, `without`, `unfollowed`, and `gap` if there is one."""
        record: dict[str, Any] = {
            "source": self.measurement.source,
            "rows": [row.to_dict() for row in self.rows],
            "without": list(self.without),
            "unfollowed": [one.sentence for one in self.unfollowed],
        }
        return record if self.gap is None else record | {"gap": self.gap.to_dict()}
