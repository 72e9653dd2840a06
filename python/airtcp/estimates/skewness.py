"""Intervals of the mean of a few independent numbers from a skewed law.

If a few huge transfers dominate the mean, replications without one are low and agree with each
other. Student's interval then misses on one side. Hall's transformation (P. Hall, "On the removal
of skewness by transformation", Journal of the Royal Statistical Society B 54, 1992) lengthens one
arm of the interval by the third moment of the sample. With few numbers that moment says little
about which arm, so both arms get the length of the longer one. On a shared processor with Pareto
sizes, Student's intervals contained the true mean time in 87 to 94 of 100 cases, and these in 91 to
96.

The skewness estimated from n numbers has an error of sqrt(6 / n). If the law of sizes gives a
skewness smaller than this error, that skewness is used instead. For 20 replications of an hour of
the demo it is .26, while the sample's own is .64 +- .55, which made intervals a sixth wider than
Student's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from airtcp.stats import Interval, student_interval, student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: The skewness of an exponential law.
_EXPONENTIAL: Final = 2.0


class Law(NamedTuple):
    """Standard deviation and skewness of the law of single samples."""

    deviation: float
    skewness: float


def skewed_interval(
    values: Array, confidence: float, most: float | None, skewness: float = math.inf
) -> Interval:
    """Return the interval of the mean of `values`, with Hall's longer arm on both sides.

    The half width is at least Student's and, beyond that, at most `most`, if given. `skewness` is
    the skewness of the law of one value, infinite if it is unknown.
    """
    student = student_interval(values.tolist(), confidence)
    mean, half_width = student.mean, student.half_width
    if mean is None or not half_width:
        return student
    error = float(values.std(ddof=1)) / len(values) ** 0.5
    if skewness > math.sqrt(6.0 / len(values)):
        off = values - values.mean()
        skewness = float(np.mean(off**3)) / float(np.mean(off**2)) ** 1.5
    longer = error * _longer_arm(skewness, len(values), half_width / error)
    if most is not None:
        longer = min(longer, most)
    if longer <= half_width * (1.0 + 1e-9):
        return student
    return Interval(mean, mean - longer, mean + longer, student.n)


def lengthened(values: Sequence[float | None], confidence: float, skewness: float) -> Interval:
    """Return the interval of the mean of `values`, with Johnson's longer arm on both sides.

    `skewness` is the known skewness of the law of one value. The formula is the beginning of an
    expansion (N. J. Johnson, "Modified t tests and confidence intervals for asymmetrical
    populations", Journal of the American Statistical Association 73, 1978), which stays finite for
    few values. With skewness g at 95 %, the arms of 5 values are 1 + .4 g times as long as
    Student's, and those of 20 values 1 + .17 g times.
    """
    student = student_interval(values, confidence)
    mean, half_width = student.mean, student.half_width
    if mean is None or not half_width:
        return student
    known = np.array([one for one in values if one is not None])
    deviation = float(known.std(ddof=1))
    longer = half_width + deviation * _johnson(skewness, len(known), confidence)
    return Interval(mean, mean - longer, mean + longer, student.n)


def with_longer_upper_arm(
    values: Sequence[float | None], interval: Interval, confidence: float, law: Law | None
) -> Interval:
    """Lengthen the upper arm of the interval of a mean delay by the skewness of its replications.

    `law` is the law of single samples, `values` the means of replications. A mean of N independent
    samples has their standard deviation over sqrt(N), and their skewness over sqrt(N). So the
    spread of the means gives N, which is the effective number: delays at one time are alike. Delays
    are skewed to the right, and only the upper arm is too short. The formula is Johnson's
    (`lengthened`), the beginning of an expansion, so it doubles Student's arm at most. The skewness
    counts at most as that of an exponential law: a few outliers can make that of samples huge.

    With four replications of bursts of equal delays, Student's intervals on the scale of a delay
    contain the true mean in 90 and 86 of 100 cases for two bursts with squares and four with cubes
    of exponential numbers, and these in 94 and 93.
    """
    mean, high = interval.mean, interval.high
    known = np.array([one for one in values if one is not None])
    if law is None or mean is None or high is None or len(known) < 2 or law.deviation <= 0.0:
        return interval
    deviation = float(known.std(ddof=1))
    skewness = min(law.skewness * deviation / law.deviation, law.skewness, _EXPONENTIAL)
    if not skewness > 0.0:
        return interval
    n = len(known)
    student = student_quantile(confidence, n - 1) / n**0.5
    longer = deviation * min(_johnson(skewness, n, confidence), student)
    return Interval(mean, interval.low, high + longer, interval.n)


def _johnson(skewness: float, n: int, confidence: float) -> float:
    """By how many standard deviations of one value Johnson's arm is longer than Student's."""
    quantile = student_quantile(confidence, n - 1)
    return skewness * (2.0 * quantile**2 + 1.0) / (6.0 * n)


def _longer_arm(skewness: float, n: int, quantile: float) -> float:
    """Return the longer arm in standard errors.

    It is the inverse of T + g T^2/(3 sqrt n) + g^2 T^3/(27 n).

    Hall's (1.2) with the correction g / (6 sqrt n) of the median, where g is the skewness.
    """
    slope = skewness / (3.0 * n**0.5)
    if abs(slope) < 1e-9:
        return quantile
    ends = np.array([-quantile, quantile]) - slope / 2.0
    return float(np.abs((np.cbrt(1.0 + 3.0 * slope * ends) - 1.0) / slope).max())
