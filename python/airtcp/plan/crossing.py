"""The zero of a noisy curve: the statistics of a capacity.

Knows samples of several replications at several places, on common random numbers. Does not know
what was measured.

The means of the replications give a curve. Near the crossing the logarithm of the metric is taken
for a parabola (a straight line where there are fewer than four places), by least squares: what
grows as a channel fills up grows in ratios, ever faster, and a parabola through the values
themselves crosses too late by as much as the interval is wide. At any place x the curve is a
function of the means at the places, and how far each replication moves it is known to first order
(the delta method). So there are independent values at x, whose mean has a Student-t interval,
corrected for skewness. The crossing is where the mean is zero, and its interval holds all x at
which that interval holds zero: Fieller's way (J. Roy. Statist. Soc. B 16, 1954), which asks for no
derivative.

Places need not have equally many replications: a mean of n of them weighs in the fit as n, and each
of the n moves the curve by more than one of many would.

A metric may leap, as the delay of calls does at one more than the air carries. No parabola does,
and it may cross on the wrong side of a place of which its own replications leave no doubt, or pass
by one at more than twice or less than half of what these say. Then the crossing is between places
that are in no doubt, and its interval all that lies between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from airtcp.stats import Interval, student_interval, student_quantile

#: Places from which on a curve is a parabola and no line.
_PARABOLA: Final = 4
#: The level at which a place has no doubt on which side of the crossing it is.
_NO_DOUBT: Final = 0.999
#: A curve that passes by a place by more, in logarithms, is none for it: a factor of two.
_LEAP: Final = math.log(2.0)
#: The part of a step by which an interval ends before a place that is beyond the crossing.
_BEFORE: Final = 1e-6


@dataclass(frozen=True)
class Crossing:
    """The zero at which the mean curve rises from below, and an interval that holds it for sure.

    `low` and `high` are None where no place looked at excludes a crossing beyond it. `parts` has
    for each replication how far it moves the crossing: they sum to zero, and what a crossing and
    that of another curve on the same random numbers are apart has the interval of their
    differences. `slope` is how much the curve rises there from one place to the next; `ratios`
    tells that it is a curve of logarithms.
    """

    at: float
    low: float | None
    high: float | None
    parts: dict[int, float]
    slope: float
    ratios: bool
    #: The distance by which the curve passes by a place that is in no doubt, in logarithms.
    passes_by: float = 0.0

    def widened(self, doubt: float, bound: float) -> Crossing:
        """Widen the interval by the places in which the curve rises by a doubt about the metric.

        At the crossing the metric is at its `bound`.
        """
        if not doubt:
            return self
        if self.slope <= 0.0:
            return replace(self, low=None, high=None)
        by = (math.log1p(doubt / bound) if self.ratios else doubt) / self.slope
        return replace(
            self,
            low=None if self.low is None else self.low - by,
            high=None if self.high is None else self.high + by,
        )


def cross(
    samples: Mapping[int, Mapping[int, float]],
    confidence: float,
    *,
    bound: float = 0.0,
    falls: bool = False,
    resolution: float = 0.05,
) -> Crossing | None:
    """The crossing of curves that rise, from `samples[place][replication]`.

    Samples are how far a metric is above `bound`, or below it if it `falls`. The curve is one of
    logarithms where bound and means of the metric are positive; where `bound` is not, one of the
    samples themselves. Places with fewer than two replications are left out. None if fewer than two
    are left, or the mean does not cross zero within them, or a quarter of their extent beyond.
    """
    places = sorted(place for place in samples if len(samples[place]) > 1)
    if len(places) < 2:
        return None

    def curve(places: Sequence[int]) -> Crossing | None:
        return _curve(samples, places, confidence, bound=bound, falls=falls, resolution=resolution)

    found = curve(places)
    return None if found is None else _beside_places(found, samples, places, curve)


def _beside_places(
    found: Crossing,
    samples: Mapping[int, Mapping[int, float]],
    places: Sequence[int],
    curve: Callable[[Sequence[int]], Crossing | None],
) -> Crossing:
    """The crossing of a curve, or one between places of which it is on the wrong side."""
    sides = {place: student_interval(list(samples[place].values()), _NO_DOUBT) for place in places}
    below = max((p for p, one in sides.items() if (one.high or 0.0) < 0.0), default=-math.inf)
    above = min((p for p, one in sides.items() if (one.low or 0.0) > 0.0), default=math.inf)
    if below <= found.at <= above and found.passes_by <= _LEAP:
        return found
    # The nearest by its mean on a side on which no place is without doubt.
    left, right = below, above
    if math.isinf(left):
        rest = (p for p, one in sides.items() if p < above and (one.mean or 0.0) <= 0.0)
        left = max(rest, default=math.inf)
    if math.isinf(right):
        rest = (p for p, one in sides.items() if p > below and (one.mean or 0.0) > 0.0)
        right = min(rest, default=-math.inf)
    between = curve((int(left), int(right))) if left < right else None
    if between is None:
        return found
    low = between.low if math.isinf(below) else float(left)
    high = between.high if math.isinf(above) else right - _BEFORE
    return replace(between, low=low, high=high)


def _curve(
    samples: Mapping[int, Mapping[int, float]],
    places: Sequence[int],
    confidence: float,
    *,
    bound: float,
    falls: bool,
    resolution: float,
) -> Crossing | None:
    """The crossing of the curve of some places, whatever each of them says by itself."""
    rows = [samples[place] for place in places]
    ratios = bound > 0.0
    if ratios:
        logarithms = [in_ratios(row, bound, falls=falls) for row in rows]
        ratios = None not in logarithms
        rows = [row for row in logarithms if row is not None] if ratios else rows
    runs = sorted(set().union(*rows))
    values = np.array([_spread(row, runs) for row in rows])
    middle, extent = places[0], places[-1] - places[0]
    degree = 2 if len(places) >= _PARABOLA else 1
    weights = np.sqrt([len(row) for row in rows])
    # Coefficients of each replication, the highest power first.
    fits = np.polyfit((np.array(places) - middle) / extent, values, degree, w=weights)
    grid = np.arange(-0.25, 1.25 + 1e-9, resolution / max(extent, 1e-9))
    if len(grid) > 4001:
        grid = np.linspace(-0.25, 1.25, 4001)
    curves: NDArray[np.float64] = sum(
        fits[degree - power] * grid[:, None] ** power for power in range(degree + 1)
    )
    means = curves.mean(axis=1)
    rising = np.flatnonzero((means[:-1] <= 0.0) & (means[1:] > 0.0))
    if not len(rising):
        return None
    # A parabola may cross twice: the rise that is nearest to the middle is meant.
    first = int(rising[np.argmin(np.abs(grid[rising] - 0.5))])
    step = grid[first + 1] - grid[first]
    slope = (means[first + 1] - means[first]) / step
    at = grid[first] - means[first] / slope
    least, most = _intervals(curves, confidence)
    below, above = most <= 0.0, least > 0.0
    low = _last(np.flatnonzero(below[: first + 1]))
    high = _first(np.flatnonzero(above[first:]))
    here = sum(fits[degree - power] * at**power for power in range(degree + 1))
    parts = -(here - here.mean()) / slope * extent
    fitted = np.polyval(fits.mean(axis=1), (np.array(places) - middle) / extent)
    doubts = [student_interval(list(row.values()), _NO_DOUBT).half_width or 0.0 for row in rows]
    off = np.abs(values.mean(axis=1) - fitted)
    return Crossing(
        at=float(middle + at * extent),
        low=None if low is None else float(middle + grid[low] * extent),
        high=None if high is None else float(middle + grid[first + high] * extent),
        parts={run: float(part) for run, part in zip(runs, parts, strict=True)},
        slope=float(slope / extent),
        ratios=ratios,
        passes_by=float(np.max(off, where=off > doubts, initial=0.0)) if ratios else 0.0,
    )


def in_ratios(excess: Mapping[int, float], bound: float, *, falls: bool) -> dict[int, float] | None:
    """The logarithm of the mean over the bound, with what each replication moves it by.

    None where the mean is not positive.
    """
    sign = -1.0 if falls else 1.0
    mean = bound + sign * math.fsum(excess.values()) / len(excess)
    if mean <= 0.0:
        return None
    at = math.log(mean / bound)
    return {run: sign * (at + (bound + sign * e - mean) / mean) for run, e in excess.items()}


def _spread(row: Mapping[int, float], runs: Sequence[int]) -> list[float]:
    """The samples of a place, as if it had all of `runs`: their mean and its variance stay.

    A replication that is missing lies at the mean, and those that are there lie so much further
    from it that the mean of N values varies as that of the n does: by N (N - 1) / n (n - 1) in
    squares.
    """
    n, total = len(row), len(runs)
    mean = math.fsum(row.values()) / n
    further = math.sqrt(total * (total - 1) / (n * (n - 1)))
    return [mean + further * (row[run] - mean) if run in row else mean for run in runs]


def monotone_crossing(means: Mapping[int, float]) -> float | None:
    """Say where means that rise but for chance cross zero: by the nearest isotonic curve, linearly.

    None if all of them are on one side.
    """
    places = sorted(means)
    curve = _isotonic([means[place] for place in places])
    for (left, low), (right, high) in zip(
        zip(places, curve, strict=True), list(zip(places, curve, strict=True))[1:], strict=False
    ):
        if low <= 0.0 < high:
            return left + (right - left) * (0.0 - low) / (high - low)
    return None


def paired(one: Crossing, other: Crossing, confidence: float) -> Interval:
    """Tell how far `other` lies beyond `one`, with the interval of the paired difference."""
    common = sorted(one.parts.keys() & other.parts.keys())
    moved = [other.at - one.at + other.parts[run] - one.parts[run] for run in common]
    return student_interval(moved, confidence)


def _isotonic(values: Sequence[float]) -> list[float]:
    """The rising sequence that is nearest in squares: pool adjacent violators."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (right, n), (left, m) = blocks.pop(), blocks.pop()
            blocks.append(((left * m + right * n) / (m + n), m + n))
    return [mean for mean, n in blocks for _ in range(n)]


def _intervals(
    samples: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of the intervals of the means of rows: Student's t, corrected for skewness.

    Hall's cubic (J. Roy. Statist. Soc. B 54, 1992, (2)): with T = (mean - mu) sqrt(n) / s and the
    skewness g, T + g T^2 / (3 sqrt n) + g^2 T^3 / (27 n) + g / (6 sqrt n) is near Student's law.
    Means of transfer times lean to the right, and Student's own intervals are then too low.
    """
    n = samples.shape[1]
    mean, deviation = samples.mean(axis=1), samples.std(axis=1, ddof=1)
    safe = np.where(deviation > 0.0, deviation, 1.0)
    g = ((samples - mean[:, None]) ** 3).mean(axis=1) / safe**3 / math.sqrt(n)
    student = student_quantile(confidence, n - 1)

    def quantile(x: float) -> NDArray[np.float64]:
        # The cubic solved for T; where there is no skewness it is Student's quantile itself.
        straight = np.abs(g) < 1e-6
        skewness = np.where(straight, 1.0, g)
        root = np.cbrt(1.0 + skewness * (x - skewness / 6.0))
        return np.where(straight, x, 3.0 * (root - 1.0) / skewness)

    width = deviation / math.sqrt(n)
    return mean - quantile(student) * width, mean - quantile(-student) * width


def _last(indices: NDArray[np.intp]) -> int | None:
    return int(indices[-1]) if len(indices) else None


def _first(indices: NDArray[np.intp]) -> int | None:
    return int(indices[0]) if len(indices) else None
