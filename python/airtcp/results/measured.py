"""Measurements of a real network, and how answers stand to them; attributes are the keys of JSON.

Knows the shape. Reads no file (`airtcp.importer`) and judges nothing (`airtcp.compare`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airtcp.stats import Interval


@dataclass(frozen=True)
class Measurement:
    """The values of a file of measurements.

    `values` has intervals of metrics, in the unit of each, of everything (`""`) and of a direction
    (`download`, `upload`). An interval without `low` and `high` is one value, of which the file
    does not tell the spread. `counts` has numbers of events in `duration_s` seconds, by metric.
    `others` are sentences of what was measured and no metric is.
    """

    source: str
    values: Mapping[str, Mapping[str, Interval]]
    duration_s: float | None = None
    counts: Mapping[str, float] = field(default_factory=dict)
    others: tuple[str, ...] = ()


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


@dataclass(frozen=True)
class Measured:
    """A measurement beside the answers of a scenario; `without` has values without an answer."""

    measurement: Measurement
    rows: tuple[MeasuredRow, ...]
    without: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Keys `source`, `rows`, `without`."""
        return {
            "source": self.measurement.source,
            "rows": [row.to_dict() for row in self.rows],
            "without": list(self.without),
        }
