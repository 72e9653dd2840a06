"""Percentiles of the pooled samples of all replications, and their intervals.

A mean of the replications' percentiles is not the percentile: if one replication of four has the
long delays, the 99th percentile of all samples is among these. So samples are pooled. The interval
is Woodruff's (JASA 47, 1952): the times x at which the share F(x) of samples up to x differs from
the level by no more than its error. A jackknife over replications gives that error. With few
samples beyond the level the upper end is exact for binomial numbers. F grows with x, so the
percentiles of one quantity, and both ends of their intervals, are in order.

Transfers and pages in progress at the end of the measured time are known to last longer than their
age. F is the estimator of Kaplan and Meier (JASA 53, 1958). Those that began before the measured
time count from their age on. A quantile that F does not reach has only a lower bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates.accounts import bin_bounds_s
from airtcp.estimates.skewness import Law
from airtcp.stats import Interval, student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from airtcp.estimates.traffic import Run, Traffic

    Array = NDArray[np.float64]

_PERCENTS: Final = (50, 90, 95, 99)
_BASES: Final = (
    *("transfer_time", "page_time", "rtt", "path_rtt"),
    *("ap_queue_delay", "packet_delay", "reorder_delay"),
)
#: The percentile metrics of each quantity; and for each metric its quantity and level.
BY_BASE: Final = {base: [f"{base}_p{one}_s" for one in _PERCENTS] for base in _BASES}
PERCENTILES: Final = {
    f"{base}_p{percent}_s": (base, percent / 100.0) for base in _BASES for percent in _PERCENTS
}
#: With fewer samples on the rarer side of a percentile, its upper end is exact (`_surely_beyond`).
#: With fewer than `_FEWEST` samples in all, only transfers in progress give a bound.
_FEWEST_BEYOND: Final = 10.0
_FEWEST: Final = 10
#: The least design effect of few samples, because transfers of one replication are correlated. In
#: eight networks with 40 to 300 transfers, one of 107 upper limits at 95 % was too low with 1.5,
#: and four of 180 with 1.
_LEAST_EFFECT: Final = 1.5
#: The fewest replications that allow a lower bound.
FEWEST_RUNS: Final = 4
#: The maximum number of times at which samples of transfers and pages are counted.
_MOST_TIMES: Final = 4096


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile of pooled samples: its interval, and one number for each replication.

    The numbers vary like the jackknife's pseudo-values, and their mean is the percentile of all
    samples. A quantile is a step function of its samples, so the jackknife's correction of bias
    would overshoot.
    """

    interval: Interval
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Distribution:
    """The samples of each replication by intervals of time, from `low_s` to `high_s`.

    `ended` and `at_risk` have a row for each replication: the number of samples in an interval, and
    the number that reach it.
    """

    low_s: Array
    high_s: Array
    ended: Array
    at_risk: Array

    @cached_property
    def number(self) -> float:
        """The number of samples."""
        return float(self.ended.sum())

    @cached_property
    def least_part(self) -> float:
        """The number of samples of the replication with the fewest, over the average number."""
        counts = self.ended.sum(axis=1)
        return float(counts.min() / counts.mean()) if counts.any() else 1.0

    @cached_property
    def law(self) -> Law | None:
        """The law of the samples that ended; None with few."""
        if self.number < _FEWEST:
            return None
        weights = self.ended.sum(axis=0) / self.number
        times_s = (self.low_s + self.high_s) / 2.0
        off_s = times_s - float(weights @ times_s)
        deviation = float(weights @ off_s**2) ** 0.5
        return Law(deviation, float(weights @ off_s**3) / deviation**3 if deviation else 0.0)

    @cached_property
    def _shares(self) -> Array:
        """F at the end of each interval: over all replications, and with each one left out."""
        ended, at_risk = self.ended.sum(axis=0), self.at_risk.sum(axis=0)
        rows = np.concatenate([ended[None], ended - self.ended])
        of = np.concatenate([at_risk[None], at_risk - self.at_risk])
        hazard = np.divide(rows, of, out=np.zeros_like(rows), where=of > 0.0)
        return np.asarray(1.0 - np.cumprod(1.0 - np.minimum(1.0, hazard), axis=1))

    def percentile(self, q: float, confidence: float) -> Percentile | None:
        """Return the `q` quantile, or with few samples a lower bound; None if neither exists."""
        runs = int((self.ended.sum(axis=1) > 0.0).sum())
        if self.number < _FEWEST or not runs:
            return self._bound(q)
        shares = self._shares
        n = len(shares) - 1
        places = [self._place(row, q) for row in shares]
        whole_s = self._at(shares[0], places[0], q)
        if n < 2:
            return None if whole_s is None else Percentile(Interval(whole_s, None, None, n), ())
        without = shares[1:]
        jackknife = (n - 1) * np.mean((without - without.mean(axis=0)) ** 2, axis=0)
        error = np.sqrt(jackknife + q * (1.0 - q) / self.number)
        doubt = student_quantile(confidence, n - 1) * error
        low_s = float(self.low_s[self._place(shares[0] + doubt, q, most=len(doubt) - 1)])
        surely = np.flatnonzero(shares[0] - doubt < q - 1e-12)
        beyond = int(surely[-1]) + 1 if len(surely) else 0
        few = self.number * min(q, 1.0 - q) < _FEWEST_BEYOND
        if few:
            beyond = len(self.high_s)
        if whole_s is not None and beyond == len(self.high_s) and runs >= FEWEST_RUNS:
            beyond = self._surely_beyond(q, confidence, float(jackknife[places[0]]))
        if whole_s is None or beyond == len(self.high_s):
            low = low_s if runs >= FEWEST_RUNS and low_s > 0.0 else None
            return Percentile(Interval(None, low, None, n), ())
        low_s, high_s = min(low_s, whole_s), max(float(self.high_s[beyond]), whole_s)
        without_s = np.array(
            [
                whole_s if (one := self._at(row, place, q)) is None else one
                for row, place in zip(without, places[1:], strict=True)
            ]
        )
        values = whole_s + (n - 1) * (without_s.mean() - without_s)
        return Percentile(Interval(whole_s, low_s, high_s, n), tuple(values.tolist()))

    def _surely_beyond(self, q: float, confidence: float, jackknife: float) -> int:
        """Return the first interval by whose end F surely exceeds `q`; their number if none does.

        With few samples beyond a quantile the error of F is not normal. So F has the limit of
        Clopper and Pearson (Biometrika 26, 1934) for the effective number of samples, which is
        smaller by the design effect (Korn and Graubard, Survey Methodology 24, 1998). `jackknife`
        is the variance of F at the quantile.
        """
        from scipy.special import betaincinv

        effect = max(_LEAST_EFFECT, jackknife * self.number / (q * (1.0 - q)))
        of = self.number / effect
        ended = np.minimum(self._shares[0], 1.0) * of
        least = betaincinv(np.maximum(ended, 1e-9), of - ended + 1.0, (1.0 - confidence) / 2.0)
        return self._place(least, q)

    def reached_s(self, q: float) -> float | None:
        """Return the `q` quantile of the pooled samples, however few there are.

        If too many samples did not end, return the longest time observed; None without samples.
        """
        if not self.at_risk.size:
            return None
        row = self._shares[0]
        found = self._at(row, self._place(row, q), q)
        return float(self.high_s[-1]) if found is None else found

    def _bound(self, q: float) -> Percentile | None:
        """Return a lower bound of the `q` quantile from few ended samples, or None."""
        observed = int((self.at_risk[:, :1] > 0.0).sum())
        low_s = self.outlasted_s(q) if observed >= FEWEST_RUNS else None
        if low_s is None:
            return None
        return Percentile(Interval(None, low_s, None, len(self.ended)), ())

    def outlasted_s(self, q: float) -> float | None:
        """Return a time that the `q` quantile exceeds, from samples of which few have ended.

        If k of n observed samples have ended by some time, at most k + 2 (3 + sqrt(k)) are expected
        to have ended. That is about twice the error of a Poisson number, because samples of one
        replication are correlated. None if too few samples are in progress.
        """
        if not self.at_risk.size:
            return None
        ended = self.ended.sum(axis=0).cumsum()
        seen = self.at_risk.sum(axis=0) + ended - self.ended.sum(axis=0)
        most = (ended + 2.0 * (3.0 + np.sqrt(ended))) / np.maximum(seen, 1.0)
        beyond = np.flatnonzero(most >= q)
        place = int(beyond[0]) if len(beyond) else len(most)
        return (float(self.high_s[place - 1]) if place else 0.0) or None

    @staticmethod
    def _place(row: Array, q: float, most: int | None = None) -> int:
        """Return the first interval at whose end F reaches `q`, or the number of intervals."""
        found = np.flatnonzero(row >= q - 1e-12)
        place = int(found[0]) if len(found) else len(row)
        return place if most is None else min(place, most)

    def _at(self, row: Array, place: int, q: float) -> float | None:
        """Interpolate linearly in an interval."""
        if place == len(row):
            return None
        below = row[place - 1] if place else 0.0
        part = (q - below) / (row[place] - below) if row[place] > below else 1.0
        low, high = self.low_s[place], self.high_s[place]
        return float(low + (high - low) * min(1.0, max(0.0, part)))


def distribution(traffic: Traffic, base: str) -> Distribution | None:
    """Return the distribution of a quantity, such as `rtt`; None if the runs did not record it."""
    if any(run.accounts is None for run in traffic.runs):
        return None
    if base == "transfer_time" or base == "page_time":
        return _of_lasting(traffic, pages=base == "page_time")
    return _of_delays(traffic, base)


def _of_delays(traffic: Traffic, base: str) -> Distribution | None:
    scopes = None if traffic.group is None else traffic.scopes_of_part
    found = []
    for run in traffic.runs:
        assert run.accounts is not None
        if run.accounts.delays is None:
            return None
        found.append(run.accounts.delays.of(base, scopes))
    ended = np.zeros((len(found), max(map(len, found))))
    for row, counts in zip(ended, found, strict=True):
        row[: len(counts)] = counts
    bins = np.flatnonzero(ended.any(axis=0))
    ended = ended[:, bins]
    at_risk = ended[:, ::-1].cumsum(axis=1)[:, ::-1]
    low_s, high_s = bin_bounds_s(bins)
    return Distribution(low_s, high_s, ended, at_risk)


def _of_lasting(traffic: Traffic, *, pages: bool) -> Distribution | None:
    found = [_lasting(traffic, run, pages=pages) for run in traffic.runs]
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return None
    # With few ended samples, those in progress provide the times for a bound.
    few = sum(len(one[0]) for one in known) < _FEWEST
    times = np.unique(np.concatenate([one[1 if few else 0] for one in known]))
    if len(times) > _MOST_TIMES:
        times = times[np.linspace(0, len(times) - 1, _MOST_TIMES).round().astype(int)]
    before = np.concatenate([[-1.0], times[:-1]])
    rows, at_risk = [], []
    for ended_s, until_s, from_s in known:
        places = np.searchsorted(times, ended_s)
        rows.append(np.bincount(places, minlength=len(times)).astype(float))
        # At risk are the samples that last beyond the end of the previous interval, without those
        # that enter observation later.
        reach = len(until_s) - np.searchsorted(np.sort(until_s), before, side="right")
        later = len(from_s) - np.searchsorted(np.sort(from_s), times, side="left")
        at_risk.append((reach - later).astype(float))
    if not len(times):
        return Distribution(times, times, np.zeros((len(known), 0)), np.zeros((len(known), 0)))
    return Distribution(times, times, np.stack(rows), np.stack(at_risk))


def _lasting(traffic: Traffic, run: Run, *, pages: bool) -> tuple[Array, Array, Array] | None:
    """Return how long samples took, until when each was observed, and from when on."""
    of_all = traffic.lasting(run, pages=pages)
    if of_all is None or len(of_all.times_s) != len(of_all.scopes):
        return None
    accounts = run.accounts
    assert accounts is not None
    mine = np.isin(of_all.scopes, traffic.scopes_of_part)
    begun_s = np.zeros(len(of_all.times_s))
    if pages:
        # The core does not record the ages of pages at the beginning, so carried-over pages are
        # left out.
        mine[of_all.carried_over_index] = False
    else:
        begun_s[accounts.carried_over_index] = accounts.carried_over_age_s
    ages_s = of_all.under_way_age_s[np.isin(of_all.under_way_entry, traffic.ending)]
    before_s = np.maximum(0.0, ages_s - traffic.measured_s)
    if pages:
        ages_s, before_s = ages_s[before_s == 0.0], before_s[before_s == 0.0]
    ended_s = of_all.times_s[mine]
    return (
        ended_s,
        np.concatenate([ended_s, ages_s]),
        np.concatenate([begun_s[mine], before_s]),
    )


def in_order(metrics: dict[str, Interval]) -> None:
    """Sort the percentiles of each quantity, and both ends of their intervals.

    Percentiles of one distribution are in order. After widening they may not be.
    """
    for names in BY_BASE.values():
        low = mean = high = -math.inf
        for name in names:
            one = metrics.get(name)
            if one is None:
                continue
            low = max(low, -math.inf if one.low is None else one.low)
            mean = max(mean, -math.inf if one.mean is None else one.mean)
            high = max(high, -math.inf if one.high is None else one.high)
            metrics[name] = Interval(
                None if one.mean is None else mean,
                None if one.low is None else low,
                None if one.high is None else max(high, mean, low),
                one.n,
            )
        of_mean = metrics.get(names[0].replace("_p50", ""))
        if of_mean is not None and of_mean.mean is None and of_mean.low is not None:
            # A lower bound of a mean above all percentiles comes from few samples, so it is
            # reduced.
            last = max(low, mean, high)
            if 0.0 < last < of_mean.low:
                metrics[names[0].replace("_p50", "")] = Interval(None, last, None, of_mean.n)
