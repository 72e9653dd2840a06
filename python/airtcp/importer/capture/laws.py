"""Laws of sizes and times by the values that were seen, those included that the end cut off.

Knows that a capture ends before what is long, so that short values are seen too often. Does not
know scenarios beyond how an empirical law is written.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Final

#: More values than these do not tell more: each so many-th of them in order stands for the others.
_MOST_VALUES: Final = 100_000


def completed(values: Sequence[float], cut: Sequence[float]) -> list[float]:
    """The values, and for each that was cut off what it would have become.

    That is the mean of those beyond it, one that was cut off later among them: the mean of the
    product-limit estimate (Kaplan, Meier 1958) where its weight goes to the right. Beyond the
    largest value, where nothing was seen, a law without memory adds the mean.
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
    """Values in order, not too many of them."""
    ordered = sorted(values)
    if len(ordered) <= _MOST_VALUES:
        return ordered
    step = len(ordered) / _MOST_VALUES
    return [ordered[int((i + 0.5) * step)] for i in range(_MOST_VALUES)]


def table(column: str, values: Sequence[float], digits: int) -> bytes:
    """A CSV file of one column."""
    lines = [column, *(f"{value:.{digits}f}" for value in thinned(values))]
    return ("\n".join(lines) + "\n").encode()


def median(values: Sequence[float]) -> float:
    """The middle value, of an even number the lower one of two."""
    return sorted(values)[(len(values) - 1) // 2]
