"""Empirical distributions of sizes and times, including values cut off by the end of the capture.

A capture cuts off long values, so that short ones are over-represented; this module corrects for
that.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Final

#: With more values than this, evenly spaced order statistics represent them.
_MOST_VALUES: Final = 100_000


def completed(values: Sequence[float], cut: Sequence[float]) -> list[float]:
    """Return the values, and an estimate for each value that was cut off.

    The estimate is the mean of the larger values, including cut-off values already completed. It is
    the mean of the product-limit estimate (Kaplan, Meier 1958) with weight redistributed to the
    right. Beyond the largest value, a memoryless distribution adds the mean.
    """
    known = sorted(values)
    mean = sum(known) / len(known) if known else 0.0
    suffix = [0.0]
    for value in reversed(known):
        suffix.append(suffix[-1] + value)
    late_sum, late_count = 0.0, 0
    found = []
    for value in sorted(cut, reverse=True):
        beyond = len(known) - bisect.bisect_right(known, value)
        count = beyond + late_count
        one = (suffix[beyond] + late_sum) / count if count else value + mean
        found.append(max(one, value))
        late_sum, late_count = late_sum + found[-1], late_count + 1
    return known + found


def thinned(values: Sequence[float]) -> list[float]:
    """Return the values in order, thinned to the limit."""
    ordered = sorted(values)
    if len(ordered) <= _MOST_VALUES:
        return ordered
    step = len(ordered) / _MOST_VALUES
    return [ordered[int((i + 0.5) * step)] for i in range(_MOST_VALUES)]


def table(column: str, values: Sequence[float], digits: int) -> bytes:
    """Return a CSV file of one column."""
    lines = [column, *(f"{value:.{digits}f}" for value in thinned(values))]
    return ("\n".join(lines) + "\n").encode()


def median(values: Sequence[float]) -> float:
    """Return the median; the lower one of two for an even number."""
    return sorted(values)[(len(values) - 1) // 2]
