"""What the witnesses share beside `peers.samples`: whether two samples differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, variance

from scipy.special import stdtrit


def difference(
    left: Sequence[float], right: Sequence[float], confidence: float
) -> tuple[float, float]:
    """Difference of two means of independent samples, and half width of its interval.

    Welch: the variances may differ, degrees of freedom after Satterthwaite. Samples without any
    spread (nothing ever collides) give a half width of zero, and then must be equal.
    """
    parts = [variance(values) / len(values) for values in (left, right)]
    spread = sum(parts)
    if spread == 0.0:
        return fmean(left) - fmean(right), 0.0
    sizes = (len(left), len(right))
    degrees = spread**2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    quantile = float(stdtrit(degrees, 0.5 + confidence / 2.0))
    return fmean(left) - fmean(right), quantile * math.sqrt(spread)
