"""The distance of a simulation from a measurement: a sum over metrics, on a log scale.

Knows scales of metrics and the spread of both sides. Each metric counts by log(1 + z^2) of its
difference z in standard deviations, so that one that nothing explains does not drown the others:
it is the loss of Cauchy's law, up to a constant. Does not know what a scenario was changed into.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from airtcp.metrics import METRICS
from airtcp.stats import of_one_more

if TYPE_CHECKING:
    from airtcp.results import Replication
    from airtcp.results.measured import Measured, MeasuredRow

#: No simulation is nearer to a network than this: it is the difference up to which answers agree.
FLOOR: Final = 0.05
#: A difference up to this is none, whatever the intervals say: answers are close up to it.
LITTLE: Final = 0.1
#: A change that moves a value away from the measured one by this much is ruled out (a factor of 2),
#: if it is so many standard deviations, too.
FAR: Final = 0.7
_SURE: Final = 4.0
#: Verdicts on a simulation that is not as it was measured.
_APART: Final = frozenset({"too high", "too low", "far too high", "far too low"})
#: Values far below these, by unit, are alike: rare events, and times and rates near nothing.
_SMALL: Final = {"s": 1e-4, "b/s": 1e3, "": 0.005}
#: Of numbers of events, for which the unit is empty, too.
_FEW: Final = 5.0
_COUNTED: Final = frozenset({"tcp_retransmissions", "tcp_timeouts"})


@dataclass(frozen=True)
class Axis:
    """A measured metric: its value, that of the simulation, and the spread of their difference.

    `spread` is on the scale of `logarithm`.
    """

    metric: str
    of: str
    measured: float
    base: float
    spread: float
    is_gap: bool

    def is_against(self, value: float | None) -> bool:
        """True if a value is far from the measured one, and that of the simulation was nearer.

        Numbers of events rule nothing out: between two strengths they go from none to hundreds.
        """
        if value is None or self.metric in _COUNTED:
            return False
        apart, before = (
            abs(logarithm(self.metric, self.measured) - logarithm(self.metric, one))
            for one in (value, self.base)
        )
        is_far = apart > max(FAR, _SURE * self.spread)
        return is_far and apart > FAR + before

    def loss(self, value: float | None) -> float:
        """Return the loss of a value; one that is not there has that of the simulation."""
        told = self.base if value is None else value
        apart = logarithm(self.metric, self.measured) - logarithm(self.metric, told)
        return math.log1p((apart / self.spread) ** 2)


def logarithm(metric: str, value: float) -> float:
    """The logarithm of a value, or of what is small for its metric where it is far below it."""
    return math.log(max(value, 0.0) + small(metric))


def small(metric: str) -> float:
    """A value below which all values of a metric are alike, in its unit."""
    if metric in _COUNTED:
        return _FEW
    return _SMALL.get(METRICS[metric].unit, _SMALL[""])


def axes_of(beside: Measured) -> list[Axis]:
    """The measured metrics of which both sides have a value, and that can be compared.

    A metric that something moves which the scenario does not follow explains nothing.
    """
    rows = [row for row in beside.rows if beside.is_comparable(row.metric)]
    return [axis for row in rows if (axis := _axis(row)) is not None]


def _axis(row: MeasuredRow) -> Axis | None:
    measured, base = row.measured.mean, row.simulation.mean
    if measured is None or base is None:
        return None
    wide = [row.simulation.half_width, _own_width(row)]
    # Half an interval of some 95 % is two standard deviations.
    half = math.hypot(*(one for one in wide if one is not None)) / 2.0
    spread = math.hypot(half / (max(measured, base, 0.0) + small(row.metric)), FLOOR)
    verdict = next((one.verdict for one in row.answers if one.by == "simulation"), "")
    apart = abs(logarithm(row.metric, measured) - logarithm(row.metric, base))
    return Axis(row.metric, row.of, measured, base, spread, verdict in _APART and apart > LITTLE)


def _own_width(row: MeasuredRow) -> float | None:
    """The spread of the measured value; of one without it that of one more replication."""
    own = row.measured.half_width
    return of_one_more(row.simulation).half_width if own is None else own


def total(axes: Sequence[Axis], values: Sequence[float | None]) -> float:
    """The distance of values from the measured ones."""
    return math.fsum(axis.loss(value) for axis, value in zip(axes, values, strict=True))


def carried(axis: Axis, before: float | None, after: float | None) -> float | None:
    """The simulation's mean with a change, by replications on common random numbers.

    The change moves the mean by as many logarithms as it moves the replication.
    """
    if after is None:
        return None
    if before is None:
        return after
    moved = logarithm(axis.metric, after) - logarithm(axis.metric, before)
    scale = small(axis.metric)
    return max((axis.base + scale) * math.exp(moved) - scale, 0.0)


def value_in(run: Replication, axis: Axis, without: str | None = None) -> float | None:
    """The value of a metric in one replication; of `without`, a group, nothing is counted.

    None where the metric of everything cannot be told without that group.
    """
    answer = run.answer
    if axis.of:
        group, _, part = axis.of.partition("/")
        found = next((one for one in answer["groups"] if one["name"] == group), None)
        table = None if found is None else found[part or "all"]
        return None if table is None else _number(table, axis.metric)
    if without is None or _is_of_tcp_or_ap(axis.metric):
        return _number(answer["metrics"], axis.metric)
    own = [one["all"] for one in answer["groups"] if one["name"] != without]
    if axis.metric == "goodput_bps":
        return math.fsum(one["goodput_bps"] for one in own)
    return _number(own[0], axis.metric) if len(own) == 1 else None


def _number(table: Mapping[str, Any], metric: str) -> float | None:
    value: float | None = table.get(metric)
    return value


def _is_of_tcp_or_ap(metric: str) -> bool:
    """Tell whether a sender of UDP has no part in a metric: it is of TCP, or of the AP's frames."""
    return metric.startswith(
        ("rtt", "path_rtt", "tcp_", "transfer_time", "page_time", "ap_queue")
    ) or metric.endswith("_ap")
