"""One estimate as reported, and functions that widen it, limit it or reduce it to a lower bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from airtcp.estimates.pages import Growth
from airtcp.estimates.percentiles import FEWEST_RUNS
from airtcp.estimates.steadiness import Steadiness
from airtcp.stats import Interval, student_interval

#: The estimators: the mean over replications; sums adjusted for the draws; Little's law (mean
#: number in progress over rate) of such sums; and the closed loop of users who think and transfer
#: in turn, in which the rate, the think time and the transfer time determine each other.
Estimator = Literal["plain", "controls", "little", "closed loop"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of a metric; `airtcp.estimates` describes its fields."""

    metric: str
    interval: Interval
    plain: Interval
    estimator: Estimator
    gain: float | None
    values: tuple[float | None, ...]
    steadiness: Steadiness


def plain_estimate(metric: str, values: Sequence[float | None], confidence: float) -> Estimate:
    """Return the mean over replications, for values without a variance-reducing estimator."""
    interval = student_interval(values, confidence)
    return Estimate(metric, interval, interval, "plain", None, tuple(values), Steadiness("steady"))


def wider(interval: Interval, doubt: float) -> Interval:
    """Add an uncertainty to the half width of an interval."""
    mean, wide = interval.mean, interval.half_width
    if mean is None or wide is None:
        return interval
    return Interval(mean, mean - wide - doubt, mean + wide + doubt, interval.n)


def within(interval: Interval, *, least: float = 0.0, most: float | None = None) -> Interval:
    """Limit the half width of an interval to the range from `least` to `most`.

    With few replications, noise of the coefficients can make the interval of a goodput or
    percentile wider than the plain one.
    """
    mean, wide = interval.mean, interval.half_width
    if mean is None or wide is None:
        return interval
    half = max(wide, least) if most is None else min(max(wide, least), most)
    return interval if half == wide else Interval(mean, mean - half, mean + half, interval.n)


def lower_end(interval: Interval) -> Interval:
    """Return the lower end alone, as a bound; nothing with few replications."""
    low = interval.low if interval.n >= FEWEST_RUNS else None
    return Interval(None, low, None, interval.n)


def hold_each_other(one: Interval, other: Interval) -> bool:
    """True if the mean of `other` lies within the interval `one`."""
    if one.mean is None or one.half_width is None or other.mean is None:
        return True
    return abs(one.mean - other.mean) <= one.half_width


def as_wide_as_plain(estimate: Estimate, steadiness: Steadiness) -> Estimate:
    """Give a mean whose runs contain start-up the half width of the plain estimate."""
    mean, wide = estimate.interval.mean, estimate.plain.half_width
    if mean is None or wide is None or wide <= (estimate.interval.half_width or 0.0):
        return replace(estimate, steadiness=steadiness)
    interval = Interval(mean, mean - wide, mean + wide, estimate.interval.n)
    return replace(estimate, interval=interval, gain=1.0, steadiness=steadiness)


def declined(improved: Estimate, steadiness: Steadiness, at_least: float | None) -> Estimate:
    """Reduce an estimate to a lower bound, because the runs are too short.

    An interval may reach below zero. The lower bound does not.
    """
    # No metric is negative, so a bound of zero says nothing. Nor does a bound from few
    # replications.
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


def grown(estimate: Estimate, growth: Growth, confidence: float) -> Estimate:
    """Widen an interval to include the expected growth of pages in progress and its uncertainty."""
    interval = estimate.interval
    unsure = student_interval(growth.values.tolist(), confidence).half_width
    if interval.mean is None or interval.low is None or interval.high is None or unsure is None:
        return estimate
    high = interval.high * (1.0 + max(0.0, growth.mean + unsure))
    low = interval.low / (1.0 + max(0.0, unsure - growth.mean))
    return replace(estimate, interval=Interval(interval.mean, low, high, interval.n))
