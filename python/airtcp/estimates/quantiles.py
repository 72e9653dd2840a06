"""Percentiles of the transfer time and the page time, freed from what was drawn.

Knows the times of transfers and pages in the order of their end, and the books. Does not know how
controls are subtracted (`regression`).

The percentile q is where the number of transfers that took no longer, less q times the number of
all, is zero. This difference is a sum, which is freed from controls like any other, at some times
around the percentile of what was seen (J. Hsu and B. Nelson, "Control variates for quantile
estimation", Management Science 36(7), 1990, count so, too). Those in progress at the end count as
longer than they are old (E. Kaplan and P. Meier, "Nonparametric estimation from incomplete
observations", JASA 53, 1958), among transfers that began in the measured time.

Sizes without a variance are another matter. One transfer that lasts for all of a window makes all
others in it slow, and one of ten times its size no slower, so that a straight line through the
bytes drawn goes too far: 802.11ax, Pareto, 20 replications: 3 % above the truth, or .7 standard
deviations, where the percentile that is not freed from bytes lies 1 to 4 % below it. Then the
estimate is the mean of both, and what they are apart is part of its interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates.regression import adjusted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from airtcp.estimates.traffic import Traffic

    Array = NDArray[np.float64]

_PERCENTS: Final = (50, 90, 95, 99)
#: The percentiles of transfers and of pages by the names of their metrics.
OF_TRANSFERS: Final = {f"transfer_time_p{percent}_s": percent / 100.0 for percent in _PERCENTS}
OF_LOADING: Final = {f"page_time_p{percent}_s": percent / 100.0 for percent in _PERCENTS}
PERCENTILES: Final = OF_TRANSFERS | OF_LOADING
#: Times at which transfers are counted, and the part of the rarer side that they reach to.
_GRID: Final = 25
_REACH: Final = 0.6
#: Transfers of a replication on the rarer side, without which a percentile is that of few numbers.
_FEWEST: Final = 5.0
_FEWEST_PAGES: Final = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Percentile:
    """A percentile as numbers around it in seconds, one for each replication.

    They vary as the jackknife's pseudo-values do, and their mean is the quantile of all: a quantile
    is a step function of its numbers, whose bias the jackknife would overshoot with noise of its
    own, which no interval sees. `doubt_s` comes to their half width: half of what two ways to the
    percentile are apart, 0 where there is one way.
    """

    values: Array
    doubt_s: float = 0.0


def percentile(traffic: Traffic, q: float, *, pages: bool = False) -> Percentile | None:
    """Return the `q` quantile of the transfer time, or of the page time.

    None where there are too few transfers, where the books do not tell when they ended, where a
    step of the distribution is near, or where the controls move it further than what was seen
    tells.
    """
    of_runs = [traffic.times_s(run, pages=pages) for run in traffic.runs]
    times_s = [parts for parts in of_runs if parts is not None]
    if len(times_s) < len(traffic.runs):
        return None
    every = np.concatenate([one for parts in times_s for one in parts])
    rarer = min(q, 1.0 - q)
    if len(every) * rarer < (_FEWEST_PAGES if pages else _FEWEST) * len(traffic.runs):
        return None
    grid = np.quantile(every, q + _REACH * rarer * np.linspace(-1.0, 1.0, _GRID))
    if not (np.diff(grid) > 0.0).all():
        return None
    totals = np.stack([_counts(parts, traffic.windows, grid, q) for parts in times_s])
    begun = _of_begun(traffic, q, pages=pages)
    if begun is None:
        return None
    not_ended = begun - _leaving_out([np.concatenate(parts) for parts in times_s], q)
    is_doubtful = traffic.has_infinite_variance and traffic.has_true_sizes
    ways = [traffic.controls, traffic.pauses] if is_doubtful else [traffic.controls]
    found = [_around(totals, controls, grid, not_ended) for controls in ways]
    known = [one for one in found if one is not None]
    if len(known) < len(ways):
        return None
    doubt_s = abs(float(known[0].mean() - known[-1].mean())) / 2.0
    return Percentile(np.mean(known, axis=0), doubt_s)


def _around(totals: Array, controls: Array, grid: Array, not_ended: Array) -> Array | None:
    """The numbers around the root of counts that are freed from controls.

    To it and to those that leave a replication out comes what transfers in progress move it by.
    None if a root lies beyond the ends of `grid`.
    """
    freed = adjusted(totals, controls)
    roots = [_root(row, grid) for row in (freed.whole, *freed.without)]
    if any(one is None for one in roots):
        return None
    whole_s, *without_s = np.array(roots, dtype=float) + not_ended
    n = len(without_s)
    return np.asarray(whole_s + (n - 1) * (np.mean(without_s) - np.array(without_s)))


def _leaving_out(of_runs: list[Array], q: float) -> Array:
    """The quantile of the numbers of all replications, and of all but each one."""
    values, owner = _joined(of_runs)
    found = [np.quantile(values, q)]
    found += [np.quantile(values[owner != one], q) for one in range(len(of_runs))]
    return np.array(found)


def _joined(of_runs: list[Array]) -> tuple[Array, NDArray[np.int64]]:
    """Sort the numbers of all replications, and tell the replication of each."""
    values = np.concatenate(of_runs)
    owner = np.repeat(np.arange(len(of_runs)), [len(one) for one in of_runs])
    order = np.argsort(values, kind="stable")
    return values[order], owner[order]


def _of_begun(traffic: Traffic, q: float, *, pages: bool) -> Array | None:
    """The quantile of those that began in the measured time, by Kaplan and Meier.

    Of all replications, and of all but each one. It is the longest time that was seen where more
    than its rest is in progress at all times. None if none has ended.
    """
    ended, ages = [], []
    for run in traffic.runs:
        of_all = traffic.lasting(run, pages=pages)
        assert of_all is not None
        own = np.isin(of_all.scopes, traffic.scopes)
        own[of_all.carried_over_index] = False
        ended.append(of_all.times_s[own])
        age_s = of_all.under_way_age_s[np.isin(of_all.under_way_entry, traffic.recurrent)]
        ages.append(age_s[age_s <= traffic.measured_s])
    (times, of_time), (lasting, of_age) = _joined(ended), _joined(ages)
    found = [_kaplan_meier(times, lasting, q)]
    for one in range(len(traffic.runs)):
        found.append(_kaplan_meier(times[of_time != one], lasting[of_age != one], q))
    return None if None in found else np.array(found, dtype=float)


def _kaplan_meier(times: Array, lasting: Array, q: float) -> float | None:
    """The quantile of `times`, where others last for longer than `lasting`; both are sorted."""
    if not len(times):
        return None
    # Of those that had not ended before: in progress at the same age, or ended later.
    at_risk = np.arange(len(times), 0, -1) + len(lasting) - np.searchsorted(lasting, times)
    survival = np.cumprod(1.0 - 1.0 / at_risk)
    place = int(np.searchsorted(-survival, q - 1.0))
    return float(times[min(place, len(times) - 1)])


def _counts(parts: list[Array], windows: int, grid: Array, q: float) -> Array:
    """Count those that are no longer than each time of `grid`, less `q` times all, by windows."""
    each = len(parts) // windows
    joined = [np.sort(np.concatenate(parts[i * each : (i + 1) * each])) for i in range(windows)]
    return np.array([np.searchsorted(part, grid, side="right") - q * len(part) for part in joined])


def _root(differences: Array, grid: Array) -> float | None:
    """Find the time at which the difference is zero; None beyond the ends of `grid`."""
    rising = np.maximum.accumulate(differences)
    if not rising[0] <= 0.0 <= rising[-1]:
        return None
    return float(np.interp(0.0, rising, grid))
