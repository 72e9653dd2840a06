"""One estimate as reported, and functions that widen it, limit it or reduce it to a lower bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from airtcp.estimates.limits import LONGEST_ARM, confined
from airtcp.estimates.pages import Growth
from airtcp.estimates.percentiles import FEWEST_RUNS
from airtcp.estimates.steadiness import Steadiness
from airtcp.stats import Interval, student_interval, student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

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


def reaching(interval: Interval, other: float | None) -> Interval:
    """Lengthen the arm towards another estimate by the distance of that estimate."""
    mean, low, high = interval.mean, interval.low, interval.high
    if mean is None or low is None or high is None or other is None:
        return interval
    by = other - mean
    return Interval(mean, low + min(0.0, by), high + max(0.0, by), interval.n)


def pooled_interval(values: Array, counts: Array, confidence: float) -> Interval:
    """Return the interval of a mean over all samples of replications, which have unequal numbers.

    `values` are the means of replications over their `counts` samples. The error is that of the
    jackknife: if one replication has most of the samples, their scatter about the ratio is small
    and says nothing. There is a mean if any replication has samples, and an interval if two have.
    """
    runs, counted = len(counts), counts > 0.0
    n, sums, counts = int(counted.sum()), (values * counts)[counted], counts[counted]
    mean = float(sums.sum() / counts.sum())
    if n < 2:
        return Interval(mean, None, None, runs)
    without = (sums.sum() - sums) / (counts.sum() - counts)
    error = float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))
    arm = student_quantile(confidence, n - 1) * error
    return Interval(mean, mean - arm, mean + arm, runs)


def lower_end(interval: Interval) -> Interval:
    """Return the lower end alone, as a bound; nothing with few replications."""
    low = interval.low if interval.n >= FEWEST_RUNS else None
    return Interval(None, low, None, interval.n)


def of_starving(base: str, interval: Interval) -> Interval:
    """Return the interval of a delay if flows starve in some runs: a lower bound, or nothing.

    A starving flow waits for its ACKs, so its round trips are longer than those that ended.
    """
    if base in ("rtt", "path_rtt"):
        return lower_end(interval)
    return Interval(None, None, None, interval.n)


def hold_each_other(one: Interval, other: Interval) -> bool:
    """Return True if the mean of `other` lies within the interval `one`."""
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

    An interval may reach below zero. The lower bound does not: if the end does, it is computed on
    the scale of the metric (`airtcp.estimates.limits`). The steadiness has no such bound, which
    says little about the size of the metric.
    """
    # No metric is negative, so a bound of zero says nothing. Nor does a bound from few
    # replications.
    few = improved.interval.n < FEWEST_RUNS
    low = None if few or at_least is None else on_scale(improved, at_least)
    at_least = None if low is None or at_least is None or at_least <= 0.0 else at_least
    return replace(
        improved,
        interval=Interval(None, low, None, improved.interval.n),
        gain=None,
        steadiness=replace(steadiness, at_least=at_least),
    )


def on_scale(estimate: Estimate, low: float) -> float | None:
    """Return the lower end of an interval above zero; None if next to nothing is known."""
    mean = estimate.interval.mean
    if low > 0.0 or not mean or mean < 0.0:
        return low if low > 0.0 else None
    end = confined(estimate.metric, Interval(mean, low, None, estimate.interval.n)).low
    return end if end is not None and (mean - low) / mean < LONGEST_ARM else None


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
