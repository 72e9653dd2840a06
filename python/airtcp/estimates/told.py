"""One estimate as it is told, and how it is told wider, within bounds, or as a lower bound alone.

Knows intervals. Does not know how an estimate is made (`estimate`), nor when runs are too short
(`steadiness`, `startup`, `pages`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from airtcp.estimates.pages import Growth
from airtcp.estimates.percentiles import FEWEST_RUNS
from airtcp.estimates.steadiness import Steadiness
from airtcp.stats import Interval, student_interval

#: Ways to an estimate: the mean over replications; sums freed from what was drawn; Little's law
#: (mean number in progress over rate) of such sums; the same where users think, transfer, and
#: think again, so that the rate, the time to think and the transfer time determine each other.
Estimator = Literal["plain", "controls", "little", "closed loop"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of a metric; `airtcp.estimates` says what its fields are."""

    metric: str
    interval: Interval
    plain: Interval
    estimator: Estimator
    gain: float | None
    values: tuple[float | None, ...]
    steadiness: Steadiness


def plain_estimate(metric: str, values: Sequence[float | None], confidence: float) -> Estimate:
    """Estimate by the mean over replications, as what has no books is: a cell is one such thing."""
    interval = student_interval(values, confidence)
    return Estimate(metric, interval, interval, "plain", None, tuple(values), Steadiness("steady"))


def wider(interval: Interval, doubt: float) -> Interval:
    """Add a doubt to a half width."""
    mean, wide = interval.mean, interval.half_width
    if mean is None or wide is None:
        return interval
    return Interval(mean, mean - wide - doubt, mean + wide + doubt, interval.n)


def within(interval: Interval, *, least: float = 0.0, most: float | None = None) -> Interval:
    """Give an interval, if it has a half width, one of at least and at most so much.

    Noise of coefficients from few replications alone makes that of a goodput or percentile wider
    than the plain one.
    """
    mean, wide = interval.mean, interval.half_width
    if mean is None or wide is None:
        return interval
    half = max(wide, least) if most is None else min(max(wide, least), most)
    return interval if half == wide else Interval(mean, mean - half, mean + half, interval.n)


def hold_each_other(one: Interval, other: Interval) -> bool:
    """Tell whether the means of two intervals lie no further apart than their half widths."""
    if one.mean is None or one.half_width is None or other.mean is None:
        return True
    return abs(one.mean - other.mean) <= one.half_width


def as_wide_as_plain(told: Estimate, steadiness: Steadiness) -> Estimate:
    """Give a mean over a start-up that draws explain the spread that it has without them."""
    mean, wide = told.interval.mean, told.plain.half_width
    if mean is None or wide is None or wide <= (told.interval.half_width or 0.0):
        return replace(told, steadiness=steadiness)
    interval = Interval(mean, mean - wide, mean + wide, told.interval.n)
    return replace(told, interval=interval, gain=1.0, steadiness=steadiness)


def declined(improved: Estimate, steadiness: Steadiness, at_least: float | None) -> Estimate:
    """Say what is known of a metric whose runs are too short: that it is no less than so much.

    An interval may reach below zero; what is known does not.
    """
    # No metric is negative: a bound of zero says nothing. Nor does one of few replications.
    few = improved.interval.n < FEWEST_RUNS
    at_least = None if few or at_least is None or at_least <= 0.0 else at_least
    return replace(
        improved,
        interval=Interval(None, at_least, None, improved.interval.n),
        gain=None,
        steadiness=replace(steadiness, at_least=at_least),
    )


def gain_of(plain: Interval, interval: Interval) -> float | None:
    """Return the squared ratio of half widths, plain over improved; None without two of them."""
    if not plain.half_width or not interval.half_width:
        return None
    return (plain.half_width / interval.half_width) ** 2


def grown(told: Estimate, growth: Growth, confidence: float) -> Estimate:
    """Let an interval reach as far as pages in progress are yet to grow, and may grow."""
    interval = told.interval
    unsure = student_interval(growth.values.tolist(), confidence).half_width
    if interval.mean is None or interval.low is None or interval.high is None or unsure is None:
        return told
    high = interval.high * (1.0 + max(0.0, growth.mean + unsure))
    low = interval.low / (1.0 + max(0.0, unsure - growth.mean))
    return replace(told, interval=Interval(interval.mean, low, high, interval.n))
