"""Statistics over independent replications: Student-t intervals, stopping rules, fairness.

A sample is one number per replication.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

#: Replications in the first round of a run with a target precision.
FIRST_ROUND = 5

#: An interval with a larger relative half width is too wide to decide anything.
WIDE: Final = 0.20

#: An estimate from runs outside steady state is rejected above this relative half width.
WIDE_ESTIMATE: Final = 0.25


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over replications and its confidence interval.

    `mean` is None if no replication has a value. `low` and `high` are None if fewer than two
    replications have one: a single replication says nothing about its spread. If only one bound is
    set, the replications were too short for more than that bound; a mean next to it covers the
    measured time only. All three are in the unit of the samples. `n` counts the replications with a
    value.

    >>> Interval(mean=10.0, low=9.0, high=11.0, n=5).half_width
    1.0
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int

    def __str__(self) -> str:
        """Return the interval without its unit: "169 ± 10 (n = 8)", "≥ 7.1 (n = 5)"."""
        if self.mean is None:
            known = "no value" if self.low is None else f"≥ {self.low:.4g}"
        elif self.half_width is None:
            known = f"{self.mean:.4g}"
        else:
            known = f"{self.mean:.4g} ± {self.half_width:.2g}"
        return f"{known} (n = {self.n})"

    @property
    def is_known(self) -> bool:
        """Whether there is a mean or a lower bound above zero."""
        return self.mean is not None or bool(self.low)

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, in the unit of the samples; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2.0

    @property
    def relative_half_width(self) -> float | None:
        """Half width over the absolute mean; 0 if all samples are zero; None if unknown."""
        half_width = self.half_width
        if half_width is None or self.mean is None:
            return None
        if half_width == 0.0:
            return 0.0
        return half_width / abs(self.mean) if self.mean != 0.0 else math.inf

    def shifted(self, by: float) -> Interval:
        """Return the interval shifted by a constant, in the unit of the samples."""
        low, mean, high = (
            None if one is None else one + by for one in (self.low, self.mean, self.high)
        )
        return Interval(mean, low, high, self.n)

    def scaled(self, factor: float) -> Interval:
        """Return the interval multiplied by `factor`, which is 0 or more."""
        low, mean, high = (
            None if one is None else factor * one for one in (self.low, self.mean, self.high)
        )
        return Interval(mean, low, high, self.n)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the interval as in results: keys `mean`, `low`, `high`, `n`."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "n": self.n}


def student_interval(samples: Iterable[float | None], confidence: float = 0.95) -> Interval:
    """Return the Student-t interval of the mean of independent samples.

    Samples that are None (the quantity does not exist in that replication) are skipped. The
    interval is mean ± t(1 - (1 - confidence)/2; n - 1) s / sqrt(n) with s the sample standard
    deviation. It is exact for normal samples.

    Raises ValueError if `confidence` is not in (0, 1) or a sample is not finite.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    values = [float(sample) for sample in samples if sample is not None]
    n = len(values)
    if n == 1 and math.isfinite(values[0]):
        # Fast path: a sweep computes about fifty of these per point. Adding 0.0 removes the sign of
        # -0.0, as sums do.
        return Interval(values[0] + 0.0, None, None, 1)
    if not all(map(math.isfinite, values)):
        raise ValueError("samples must be finite numbers")
    if n == 0:
        return Interval(None, None, None, 0)
    # Relative to the first sample, so that equal samples have exactly their value as the mean.
    mean = values[0] + math.fsum(value - values[0] for value in values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    half_width = student_quantile(confidence, n - 1) * math.sqrt(variance / n)
    return Interval(mean, mean - half_width, mean + half_width, n)


def ratio_interval(
    above: Sequence[float], below: Sequence[float], confidence: float = 0.95
) -> Interval:
    """Return the interval of the ratio of two means, from pairs of samples.

    This is the ratio of the means over replications, not the mean of ratios: a replication with a
    small denominator has little weight. The error is that of above - ratio * below, divided by the
    mean of `below` (Cochran, Sampling Techniques, 3rd edition, 6.3). There is no mean if `below`
    sums to 0. Raises ValueError as `student_interval`, and if the numbers of samples differ.
    """
    pairs = list(zip(above, below, strict=True))
    total = math.fsum(below)
    if not total:
        return Interval(None, None, None, 0)
    ratio = math.fsum(above) / total
    mean = total / len(pairs)
    found = student_interval([(one - ratio * other) / mean for one, other in pairs], confidence)
    return replace(found, mean=0.0).shifted(ratio)


def joint(interval: Interval, confidence: float, intervals: int) -> Interval:
    """Widen an interval so that `intervals` of its kind cover their means simultaneously.

    Bonferroni: each has the level 1 - (1 - confidence) / intervals instead of `confidence`.
    """
    if interval.mean is None or interval.half_width is None or intervals < 2:
        return interval
    level = 1.0 - (1.0 - confidence) / intervals
    degrees = interval.n - 1
    wider = student_quantile(level, degrees) / student_quantile(confidence, degrees)
    half_width = interval.half_width * wider
    return Interval(
        interval.mean, interval.mean - half_width, interval.mean + half_width, interval.n
    )


def of_one_more(interval: Interval) -> Interval:
    """Return the prediction interval for one more sample, at the level of the interval.

    For a normal law, the mean of n samples is known to within t s / sqrt(n). One more sample
    differs from it by up to t s sqrt(1 + 1/n).
    """
    if interval.mean is None or interval.half_width is None:
        return interval
    half_width = interval.half_width * math.sqrt(interval.n + 1)
    return Interval(
        interval.mean, interval.mean - half_width, interval.mean + half_width, interval.n
    )


def is_precise(intervals: Sequence[Interval], precision: float) -> bool:
    """Whether every interval is at most ±`precision` times its mean (0.02 is 2 %)."""
    return widest(intervals) <= precision


def next_round(intervals: Sequence[Interval], precision: float, n: int, limit: int) -> int:
    """Return the number of replications after the next round, given that `n` are not enough.

    A half width shrinks as 1/sqrt(n), so the widest interval needs n (width/precision)^2
    replications. The rule adds a tenth because the estimate is noisy, and it at most doubles the
    number per round because an estimate from few samples is very noisy. It depends only on results
    in the order of the replications, not on the number of threads.
    """
    return next_round_by(widest(intervals), precision, n, limit)


def next_round_by(width: float, precision: float, n: int, limit: int) -> int:
    """Return the number of replications as `next_round` does, from the widest half width."""
    wanted = 2 * n
    if math.isfinite(width):
        wanted = min(wanted, math.ceil(1.1 * n * (width / precision) ** 2))
    return min(limit, max(n + 1, wanted))


def widest(intervals: Sequence[Interval]) -> float:
    """Return the largest relative half width; 0 for no intervals, infinity if one is unknown."""
    widths = [interval.relative_half_width for interval in intervals]
    return max((math.inf if width is None else width for width in widths), default=0.0)


def jain_index(values: Iterable[float]) -> float | None:
    """Return Jain's index of some numbers: 1 if all are equal, None if none is above 0.

    The index is the squared sum over n times the sum of squares (Jain, Chiu and Hawe, DEC-TR-301,
    1984).

    >>> jain_index([1.0, 1.0, 0.0])
    0.6666666666666666
    """
    all_values = list(values)
    squares = len(all_values) * math.fsum(one * one for one in all_values)
    return math.fsum(all_values) ** 2 / squares if squares else None


@cache
def student_quantile(confidence: float, degrees_of_freedom: float) -> float:
    """Return the half width of a Student-t confidence interval in standard errors."""
    # Importing SciPy takes a noticeable fraction of a second, so it happens here.
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, 0.5 + confidence / 2.0))
