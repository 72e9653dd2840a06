"""The distance of a simulation from a measurement: a sum over metrics, on a log scale.

Each metric contributes log(1 + z^2) for a difference of z standard deviations. This is the loss of
the Cauchy distribution, up to a constant; it keeps one unexplained metric from dominating the
others.
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

#: Relative model error of any simulation: values that differ by this much agree.
FLOOR: Final = 0.05
#: Differences up to this count as none, whatever the intervals say.
LITTLE: Final = 0.1
#: A change is ruled out if it moves a value away from the measured one by this much (a factor of
#: 2), and by `_SURE` standard deviations.
FAR: Final = 0.7
_SURE: Final = 4.0
#: Verdicts that make a metric part of the gap.
_APART: Final = frozenset({"too high", "too low", "far too high", "far too low"})
#: Values well below these, by unit, count as equal: rare events, and times and rates near zero.
_SMALL: Final = {"s": 1e-4, "b/s": 1e3, "": 0.005}
#: The same for numbers of events, which have no unit either.
_FEW: Final = 5.0
_COUNTED: Final = frozenset({"tcp_retransmissions", "tcp_timeouts"})


@dataclass(frozen=True)
class Axis:
    """A measured metric with its simulated value and the spread of their difference.

    `spread` is on the scale of `logarithm`.
    """

    metric: str
    of: str
    measured: float
    base: float
    spread: float
    is_gap: bool

    def is_against(self, value: float | None) -> bool:
        """Whether a value is far from the measured one while the simulation was nearer.

        False for counts of events, which may jump from none to hundreds between two strengths.
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
        """Return the loss of a value. A missing value has the loss of the simulation."""
        told = self.base if value is None else value
        apart = logarithm(self.metric, self.measured) - logarithm(self.metric, told)
        return math.log1p((apart / self.spread) ** 2)


def logarithm(metric: str, value: float) -> float:
    """Return the logarithm of a value, bounded below by the metric's `small` value."""
    return math.log(max(value, 0.0) + small(metric))


def small(metric: str) -> float:
    """Return the value below which all values of a metric count as equal, in its unit."""
    if metric in _COUNTED:
        return _FEW
    return _SMALL.get(METRICS[metric].unit, _SMALL[""])


def axes_of(beside: Measured) -> list[Axis]:
    """Return the measured metrics that both sides have and that can be compared.

    A metric affected by something outside the scenario is left out.
    """
    rows = [row for row in beside.rows if beside.is_comparable(row.metric)]
    return [axis for row in rows if (axis := _axis(row)) is not None]


def _axis(row: MeasuredRow) -> Axis | None:
    measured, base = row.measured.mean, row.simulation.mean
    if measured is None or base is None:
        return None
    wide = [row.simulation.half_width, _own_width(row)]
    # Half the width of a 95 % interval is about two standard deviations.
    half = math.hypot(*(one for one in wide if one is not None)) / 2.0
    spread = math.hypot(half / (max(measured, base, 0.0) + small(row.metric)), FLOOR)
    verdict = next((one.verdict for one in row.answers if one.by == "simulation"), "")
    apart = abs(logarithm(row.metric, measured) - logarithm(row.metric, base))
    return Axis(row.metric, row.of, measured, base, spread, verdict in _APART and apart > LITTLE)


def _own_width(row: MeasuredRow) -> float | None:
    """Return the half width of the measured value, by default of one more replication."""
    own = row.measured.half_width
    return of_one_more(row.simulation).half_width if own is None else own


def total(axes: Sequence[Axis], values: Sequence[float | None]) -> float:
    """Return the distance of values from the measured ones."""
    return math.fsum(axis.loss(value) for axis, value in zip(axes, values, strict=True))


def carried(axis: Axis, before: float | None, after: float | None) -> float | None:
    """Return the simulated mean with a change, from replications on common random numbers.

    The change moves the logarithm of the mean as far as it moves that replication's logarithm.
    """
    if after is None:
        return None
    if before is None:
        return after
    moved = logarithm(axis.metric, after) - logarithm(axis.metric, before)
    scale = small(axis.metric)
    return max((axis.base + scale) * math.exp(moved) - scale, 0.0)


def value_in(run: Replication, axis: Axis, without: str | None = None) -> float | None:
    """Return a metric of one replication. The group `without` is not counted.

    None if the metric of all flows cannot be computed without that group.
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
    """Whether a UDP sender does not affect a metric: it is of TCP, or of the AP's frames."""
    return metric.startswith(
        ("rtt", "path_rtt", "tcp_", "transfer_time", "page_time", "ap_queue")
    ) or metric.endswith("_ap")
