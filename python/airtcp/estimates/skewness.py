"""Intervals of few numbers from a skewed law.

Knows numbers that are independent and alike. Does not know what they are.

Where a few huge transfers carry the mean, replications that have none of them are low, and are
sure of themselves: Student's interval misses on one side. Hall's transformation (P. Hall, "On the
removal of skewness by transformation", Journal of the Royal Statistical Society B 54, 1992) makes
one arm of the interval longer, by the third moment of what was seen. Of few numbers that moment
says little about which arm, so that both are as long as the longer one. On a shared processor with
Pareto sizes Student's intervals of estimates held the mean time in 87 to 94 of 100, and these in 91
to 96.

The skewness that n numbers tell has an error of sqrt(6 / n). Where that of what is drawn is known,
from the law of sizes, and smaller than this, it is taken instead: of 20 replications of an hour of
the demo .26, beside .64 +- .55 of their own, which made intervals a sixth wider than Student's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def skewed_interval(
    values: Array, confidence: float, most: float | None, skewness: float = math.inf
) -> Interval:
    """Return the interval of the mean of `values`, with the longer arm of Hall's on both sides.

    The half width is at least Student's and, beyond that, at most `most`, if given. `skewness` is
    that of what was drawn for one of the values, infinite where it is not known.
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
    """Return the interval of the mean of `values`, with the longer arm of Johnson's on both sides.

    `skewness` is known and that of one of the values. The first terms of the expansion (N. J.
    Johnson, "Modified t tests and confidence intervals for asymmetrical populations", Journal of
    the American Statistical Association 73, 1978), which of few values stay finite: of 5 at 95 %
    the arms are 1 + .4 g times as long as Student's, of 20 they are 1 + .17 g times.
    """
    student = student_interval(values, confidence)
    mean, half_width = student.mean, student.half_width
    if mean is None or not half_width:
        return student
    known = np.array([one for one in values if one is not None])
    error = float(known.std(ddof=1)) / len(known) ** 0.5
    quantile = half_width / error
    longer = half_width + error * skewness * (2.0 * quantile**2 + 1.0) / (6.0 * len(known) ** 0.5)
    return Interval(mean, mean - longer, mean + longer, student.n)


def _longer_arm(skewness: float, n: int, quantile: float) -> float:
    """The longer arm in standard errors: the inverse of T + g T^2/(3 sqrt n) + g^2 T^3/(27 n).

    Hall's (1.2) with the correction g / (6 sqrt n) of the median, where g is the skewness.
    """
    slope = skewness / (3.0 * n**0.5)
    if abs(slope) < 1e-9:
        return quantile
    ends = np.array([-quantile, quantile]) - slope / 2.0
    return float(np.abs((np.cbrt(1.0 + 3.0 * slope * ends) - 1.0) / slope).max())
