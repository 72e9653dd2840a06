"""Intervals of a mean over time, from consecutive samples of one run.

Samples of neighbouring seconds depend on each other, but their means over a tenth of the run hardly
do, so the method is batch means (A. Law, "Simulation modeling and analysis", 5th edition, 9.5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airtcp.stats import Interval, student_interval

_BATCHES: Final = 10
#: Fewer samples than this do not determine the spread of their mean.
_LEAST: Final = 5


def of_the_test(
    values: dict[str, dict[str, Interval]],
) -> tuple[dict[str, dict[str, Interval]], str]:
    """Return values by direction; of a test with one direction as overall values, and it."""
    if len(values) != 1:
        return values, ""
    ((direction, found),) = values.items()
    return {"": found}, direction


def mean_over_time(
    samples: Sequence[float], mean: float | None = None, confidence: float = 0.95
) -> Interval:
    """Return the interval of the mean by batch means, shifted to `mean` if that is known better.

    With fewer than five samples, the result is one value without an interval. Raises ValueError
    without samples and `mean`.
    """
    if not samples and mean is None:
        raise ValueError("a mean needs samples")
    if len(samples) < _LEAST:
        value = sum(samples) / len(samples) if mean is None else mean
        return Interval(value, None, None, 1)
    count = min(_BATCHES, len(samples) // 2) if len(samples) >= 2 * _LEAST else len(samples)
    size = len(samples) // count
    # Samples that do not fill a batch are dropped at the beginning, where a run has not settled.
    kept = samples[len(samples) - count * size :]
    batches = [sum(kept[i * size : (i + 1) * size]) / size for i in range(count)]
    interval = student_interval(batches, confidence)
    if mean is None:
        mean = sum(samples) / len(samples)
    return interval.shifted(mean - (interval.mean or 0.0))
