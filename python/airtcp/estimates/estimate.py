"""Choose the estimator of a metric and compute its estimate.

`regression` subtracts controls. `steadiness` decides whether the state is steady.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates.formulas import (
    ACTIVE,
    COLUMNS,
    DELIVERED,
    FORMULAS,
    IMPROVED,
    UNITS,
    Formula,
)
from airtcp.estimates.loops import renewal
from airtcp.estimates.pages import MOST_GROWTH, OF_PAGES, Found, Loading, loading
from airtcp.estimates.percentiles import PERCENTILES, Distribution, distribution
from airtcp.estimates.regression import Adjusted, adjusted
from airtcp.estimates.skewness import lengthened, skewed_interval, with_longer_upper_arm
from airtcp.estimates.startup import MOST as MOST_STARTUP
from airtcp.estimates.startup import Startup, Unseen, startups, unseen
from airtcp.estimates.steadiness import Judgement, Steadiness, judge, rounded_up
from airtcp.estimates.told import (
    Estimate,
    Estimator,
    as_wide_as_plain,
    declined,
    gain_of,
    grown,
    hold_each_other,
    of_starving,
    plain_estimate,
    pooled_interval,
    reaching,
    wider,
    within,
)
from airtcp.estimates.traffic import Run, Traffic, measured
from airtcp.stats import WIDE_ESTIMATE, Interval, ratio_interval, student_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from airtcp.scenario import ResolvedScenario

    Array = NDArray[np.float64]


class Estimates:
    """The estimates of all metrics of one traffic, computed from shared sums."""

    def __init__(
        self,
        runs: Sequence[Run],
        scenario: ResolvedScenario,
        *,
        group: str | None,
        part: str,
        confidence: float,
    ) -> None:
        if not runs:
            raise ValueError("there is no replication to estimate from")
        self._traffic = Traffic(runs, scenario, group, part)
        self._confidence = confidence
        self._distributions: dict[str, Distribution | None] = {}

    def of(self, metric: str) -> Estimate:
        """Estimate one metric. Raises KeyError if the runs do not have it."""
        return self._with_doubts(self._of(metric))

    def plain(self, metric: str) -> Estimate:
        """Estimate one metric by its mean over replications. Raises KeyError."""
        return self._with_doubts(self._plain(metric))

    def of_values(self, metric: str, values: Array) -> Estimate:
        """Estimate one metric from these values, one for each replication."""
        return self._with_doubts(self._improved(self._plain(metric), "controls", values))

    def _with_doubts(self, estimate: Estimate) -> Estimate:
        """Widen or decline an estimate if the runs are too short for their traffic."""
        metric = estimate.metric
        lacking = self._lacking(metric)
        if estimate.estimator != "plain" and self.judgement.steadiness.state == "unsteady":
            # The estimate already accounts for a growth that the runs show.
            seen = self.judgement.steadiness
            return as_wide_as_plain(estimate, seen) if metric in _GOES_ON else estimate
        if lacking is None or estimate.interval.mean is None:
            return self._as_wide_as_unseen(self._as_long_as_skewed(estimate))
        if metric in _GOES_ON:
            return as_wide_as_plain(estimate, lacking)
        return declined(estimate, lacking, estimate.interval.low)

    def samples(self, metric: str) -> list[float | None]:
        """Return the measured value of each replication. Raises KeyError."""
        traffic = self._traffic
        return [measured(run, metric, traffic.group, traffic.part) for run in traffic.runs]

    @property
    def flows(self) -> int:
        """The number of flows."""
        return self._traffic.users(self._traffic.entries)

    def _plain(self, metric: str) -> Estimate:
        return plain_estimate(metric, self.samples(metric), self._confidence)

    def _of(self, metric: str) -> Estimate:
        told = self._plain(metric)
        plain = told.plain
        if metric in PERCENTILES:
            return self._of_percentile(told)
        if metric in MEANS and plain.n:
            return self._of_delay(told)
        if metric not in IMPROVED or not self.can_improve or plain.n < len(told.values):
            return told
        if plain.n == 1:
            is_told = self.judgement.steadiness.state != "unsteady" or metric in _GOES_ON
            return told if is_told else declined(told, self.judgement.steadiness, plain.mean)
        if metric in OF_PAGES and (by_pages := self._of_pages(told)) is not None:
            return by_pages
        return self._of_loops(told) or self._of_sums(told)

    def _of_percentile(self, estimate: Estimate) -> Estimate:
        """Estimate a percentile from the pooled samples of all replications.

        For transfers and pages, correct it for the expected growth of the number in progress.
        """
        base, q = PERCENTILES[estimate.metric]
        of = self._distribution(base)
        if of is None or len(estimate.values) < 2:
            return estimate
        found = of.percentile(q, self._confidence)
        n = len(estimate.values)
        interval = Interval(None, None, None, n) if found is None else found.interval
        if self._starves(of):
            interval = of_starving(base, interval)
        values = found.values if found is not None and found.values else estimate.values
        estimate = replace(estimate, interval=interval, plain=interval, values=values)
        if base not in _OF_LASTING or not self.can_improve:
            return estimate
        loading, judgement = self._loading, self.judgement.steadiness
        of_pages = base == "page_time"
        if loading is not None and loading.growth is not None and (of_pages or loading.is_all):
            estimate = grown(estimate, loading.growth, self._confidence)
        if judgement.state == "unsteady":
            return declined(estimate, judgement, estimate.interval.low)
        return estimate

    def _of_delay(self, estimate: Estimate) -> Estimate:
        """Estimate a mean delay, with the skewness of delays and the mean over all packets.

        The mean over replications is off if a replication with long queues has more packets than
        others. So the interval also reaches the mean over all packets. That mean is the estimate if
        some replications have few packets: one in which a station starves would weigh as much as
        any other, and the mean of the network may lie outside the means of its groups.
        """
        of = self._distribution(MEANS[estimate.metric])
        if of is None or len(of.ended) < 2 or not of.number:
            return estimate
        counts = of.ended.sum(axis=1)
        values = np.array([one or 0.0 for one in estimate.values])
        pooled = pooled_interval(values, counts, self._confidence)
        few = of.least_part < _FEW_PACKETS
        interval = pooled if few else reaching(estimate.interval, pooled.mean)
        interval = with_longer_upper_arm(estimate.values, interval, self._confidence, of.law)
        if few and self._starves(of):
            interval = ratio_interval((values * counts).tolist(), counts.tolist(), self._confidence)
            interval = of_starving(MEANS[estimate.metric], interval)
        return replace(estimate, interval=interval, plain=interval)

    def _starves(self, of: Distribution) -> bool:
        """Return True if endless flows starve in some replication: almost no samples."""
        return self._traffic.is_endless and of.least_part < _STARVED

    def _distribution(self, base: str) -> Distribution | None:
        if base not in self._distributions:
            self._distributions[base] = distribution(self._traffic, base)
        return self._distributions[base]

    def _of_pages(self, estimate: Estimate) -> Estimate | None:
        """Estimate a metric from pages in progress; None if that method does not apply."""
        found = None if self._loading is None else self._loading.of(estimate.metric)
        if found is None:
            return None
        if self._growing is not None:
            as_is = self._as_long_as_skewed(self._improved(estimate, "little", found.as_is))
            bound = declined(as_is, self._growing, as_is.interval.low)
            return replace(bound, values=tuple(found.values.tolist()))
        return self._settled(estimate, found)

    def _settled(self, estimate: Estimate, found: Found) -> Estimate:
        """Estimate a metric for the number of pages in progress that the steady state has."""
        settled = self._as_long_as_skewed(self._improved(estimate, "little", found.values))
        interval = wider(settled.interval, found.doubt)
        return replace(settled, interval=interval, gain=gain_of(settled.plain, interval))

    @cached_property
    def _growing(self) -> Steadiness | None:
        """The verdict that pages may grow by more than an interval can cover; else None."""
        loading = self._loading
        found = None if loading is None else loading.of("page_time_s")
        if loading is None or loading.growth is None or found is None:
            return None
        interval = wider(self._lengthened(found.values.tolist()), found.doubt)
        mean, wide = interval.mean, interval.half_width
        if mean is None or wide is None or abs(loading.growth.mean) < MOST_GROWTH:
            return None
        by = wide / (WIDE_ESTIMATE * mean)
        if by <= 1.0:
            return None
        enough_s = max(self._traffic.measured_s * by, loading.startup_s / MOST_STARTUP)
        return Steadiness("unsteady", loading.reason, simulate_s=rounded_up(enough_s))

    def _of_loops(self, estimate: Estimate) -> Estimate | None:
        """Estimate a goodput from page times; None if that gains nothing or contradicts the runs.

        If pages take a large part of the run, only quick pages have ended, and the renewal identity
        gives too high a goodput. The measured goodput is too low, because pages in progress have
        not delivered all their bytes.
        """
        grows = self.judgement.steadiness.state == "unsteady"
        if estimate.metric not in _GOES_ON or grows:
            return None
        found = renewal(self._traffic, self._confidence)
        if found is None:
            return None
        flows = 1 if estimate.metric == "goodput_bps" else self.flows
        values = tuple(None if one is None else one / flows for one in found.values)
        plain, page_s = estimate.plain, found.page_time_s
        if plain.mean is None or None in values:
            return None
        whole_s = self._traffic.warmup_s + self._traffic.measured_s
        if page_s is None or not plain.mean:
            return None
        # A short run contains few slow pages.
        slow_bps = found.slow_bps if page_s > SHORT * whole_s else 0.0
        if slow_bps > _MOST_SLOW * found.most_bps:
            return None
        interval = self._lengthened(values)
        interval = within(interval, least=found.least_half_width_bps / flows)
        interval = wider(interval, (found.doubt_bps + slow_bps) / flows)
        gain = gain_of(plain, interval)
        if interval.mean is None or gain is None or gain < 1.0:
            return None
        if abs(interval.mean - plain.mean) > _FAR * (plain.half_width or 0.0):
            # The runs have not reached the state in which the identity holds.
            return None
        return replace(
            estimate, interval=interval, estimator="closed loop", gain=gain, values=values
        )

    @cached_property
    def judgement(self) -> Judgement:
        """The verdict about the steady state of the traffic."""
        if self._growing is not None:
            return Judgement(self._growing)
        return judge(self._traffic)

    def _lacking(self, metric: str) -> Steadiness | None:
        """Return why the runs are too short for the law of sizes, even if nothing grows."""
        if metric not in IMPROVED or not self.can_improve:
            return None
        for one in self._startups:
            if one.is_short:
                return Steadiness("unsteady", one.reason, simulate_s=rounded_up(one.enough_s))
            is_rare = one.is_rare and self._traffic.is_heavy and len(self._traffic.runs) > 1
            if is_rare and metric in _OF_LARGE:
                return Steadiness("cannot tell", one.rarity)
        if metric in _OF_LARGE and len(self._traffic.runs) > 1:
            for missing in self._unseen:
                if missing.is_much:
                    enough_s = rounded_up(missing.enough_s)
                    return Steadiness("unsteady", missing.reason, simulate_s=enough_s)
        return None

    def _as_long_as_skewed(self, estimate: Estimate) -> Estimate:
        """Lengthen the interval of page times by the skewness of the law of page sizes.

        A replication has few pages, and a few large ones dominate its mean.
        """
        if estimate.metric != "page_time_s" or not self.can_improve or estimate.interval.n < 2:
            return estimate
        interval = self._lengthened(estimate.values)
        if (estimate.interval.half_width or 0.0) >= (interval.half_width or 0.0):
            return estimate
        plain = self._lengthened(self.samples(estimate.metric))
        gain = None if estimate.estimator == "plain" else gain_of(plain, interval)
        return replace(estimate, interval=interval, plain=plain, gain=gain)

    def _lengthened(self, values: Sequence[float | None]) -> Interval:
        """Return the interval of values from page times, lengthened for skewed page sizes."""
        skewness = self._traffic.skewness_of_pages
        if skewness is None or not math.isfinite(skewness):
            return student_interval(values, self._confidence)
        return lengthened(values, self._confidence, skewness)

    def _as_wide_as_unseen(self, estimate: Estimate) -> Estimate:
        """Add the share of bytes in sizes that were never drawn to Student's half width.

        An interval that is already wider stays.
        """
        mean, wide = estimate.interval.mean, estimate.interval.half_width
        if (
            estimate.metric not in _OF_LARGE
            or estimate.estimator == "plain"
            or mean is None
            or not wide
        ):
            return estimate
        share = max((one.share for one in self._unseen), default=0.0)
        interval = wider(student_interval(estimate.values, self._confidence), share * abs(mean))
        if wide >= (interval.half_width or 0.0):
            return estimate
        return replace(estimate, interval=interval, gain=gain_of(estimate.plain, interval))

    @cached_property
    def _loading(self) -> Loading | None:
        """The pages in progress; None with a single replication."""
        known = len(self._traffic.runs) > 1
        return loading(self._traffic) if known and self.can_improve else None

    @cached_property
    def _startups(self) -> list[Startup]:
        return startups(self._traffic)

    @cached_property
    def _unseen(self) -> list[Unseen]:
        return unseen(self._traffic)

    @property
    def has_accounts(self) -> bool:
        """True if every replication has accounts."""
        return self._traffic.has_accounts

    @cached_property
    def can_improve(self) -> bool:
        """True if there are accounts, and traffic whose transfers recur."""
        return self._traffic.has_accounts and self._traffic.is_recurrent

    def _improved(
        self, estimate: Estimate, estimator: Estimator, values: Array, doubt: float = 0.0
    ) -> Estimate:
        """Return the estimate with these values, or the plain one if the values are implausible.

        `doubt` is added to Student's half width.

        Values must be finite, and their mean must lie between zero and the highest possible
        goodput. For goodputs, the plain estimate stays if its interval is narrower and the two do
        not agree.
        """
        if not np.isfinite(values).all() or not 0.0 <= values.mean() <= self._most(estimate.metric):
            return estimate
        if doubt:
            interval = wider(student_interval(values.tolist(), self._confidence), doubt)
        elif self._traffic.is_heavy:
            skewness = self._traffic.skewness
            interval = skewed_interval(
                values, self._confidence, estimate.plain.half_width, skewness
            )
        else:
            interval = student_interval(values.tolist(), self._confidence)
        if estimate.metric in _GOES_ON:
            free, interval = interval, within(interval, most=estimate.plain.half_width)
            if interval is not free and not hold_each_other(interval, estimate.plain):
                return estimate
        return replace(
            estimate,
            interval=interval,
            estimator=estimator,
            gain=gain_of(estimate.plain, interval),
            values=tuple(values.tolist()),
        )

    def _most(self, metric: str) -> float:
        """Return an upper bound of a metric: for goodputs the fastest rate of the stations."""
        if metric not in _GOES_ON:
            return math.inf
        return self._traffic.fastest_bps / (1 if metric == "goodput_bps" else self.flows)

    def _of_sums(self, estimate: Estimate) -> Estimate:
        estimator, formula = FORMULAS[estimate.metric](self._traffic)
        if formula is None or (estimate.metric in _GOES_ON and self._units < _FEWEST):
            return estimate
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self._freed.pseudo_values(formula)
            improved = self._improved(estimate, estimator, values)
            steadiness, rates = self.judgement.steadiness, self.judgement.rates
            if estimate.metric in _GOES_ON:
                return improved
            if rates is None:
                if steadiness.state != "unsteady":
                    return improved
                begun = self._improved(estimate, estimator, self._begun.pseudo_values(formula))
                return declined(improved, steadiness, begun.interval.low)
            # Outside steady state the growth is not a control variate, because its mean is not
            # zero. The interval then has to reach the second estimate, from the rate of bytes.
            by_bytes = float(formula(self._by_bytes(rates)))
        return self._between(improved, by_bytes, formula)

    def _between(self, improved: Estimate, by_bytes: float, formula: Formula) -> Estimate:
        """Widen an interval by its distance from the estimate by bytes, or decline the estimate."""
        interval, steadiness = improved.interval, self.judgement.steadiness
        if interval.mean is None or interval.half_width is None:
            return improved
        half_width = interval.half_width + abs(by_bytes - interval.mean)
        if not half_width <= WIDE_ESTIMATE * abs(interval.mean):
            begun = self._improved(improved, "controls", self._begun.pseudo_values(formula))
            if improved.metric in _GOES_ON:
                return replace(begun, steadiness=steadiness)
            lows = [one for one in (interval.low, begun.interval.low) if one is not None]
            return declined(improved, steadiness, min(lows))
        mean = interval.mean
        interval = Interval(mean, mean - half_width, mean + half_width, interval.n)
        gain = gain_of(improved.plain, interval)
        return replace(improved, interval=interval, gain=gain, steadiness=steadiness)

    @cached_property
    def _totals(self) -> Array:
        traffic = self._traffic
        totals = [traffic.sums(name, traffic.recurrent) for name in COLUMNS]
        totals.append(traffic.sums("delivered_bytes", traffic.entries))
        return np.stack(totals, axis=2)

    @cached_property
    def _units(self) -> float:
        """The number of transfers or pages that began. A regression on few of them fits noise."""
        return float(self._totals[..., UNITS].sum())

    @cached_property
    def _freed(self) -> Adjusted:
        """The sums adjusted for all controls, including the growth of bytes in progress."""
        return adjusted(self._totals, self._traffic.controls)

    @cached_property
    def _begun(self) -> Adjusted:
        """The sums adjusted only for the draws."""
        return adjusted(self._totals, self._traffic.draws)

    def _by_bytes(self, rates: float) -> Array:
        """Return the sums that match the rate by bytes, for users who wait for transfers."""
        traffic = self._traffic
        thought_s = adjusted(traffic.thought_s[..., None], traffic.draws).whole[0]
        sums = self._begun.whole * rates
        sums[ACTIVE] = traffic.users(traffic.recurrent) * traffic.measured_s - thought_s * rates
        sums[DELIVERED] = self._begun.whole[DELIVERED]
        return np.asarray(sums)


#: Metrics whose mean is dominated by large transfers.
_OF_LARGE: Final = frozenset({"active_flows", "transfer_time_s", "page_time_s"})
#: Metrics whose mean over the measured time is valid even without a steady state.
_GOES_ON: Final = frozenset({"goodput_bps", "flow_goodput_bps"})

#: A replication has few packets if it has less than this part of the average.
_FEW_PACKETS: Final = 0.5
#: Endless flows starve in a replication with less than this part of the average samples.
_STARVED: Final = 0.1
#: The fewest transfers or pages whose draws can improve the estimate of a goodput.
_FEWEST: Final = 10
#: Pages are short if they take at most this part of a run. At a tenth, goodputs from them were too
#: high by more than their standard deviation (docs/explanation/intervals.md, "Pages of today").
SHORT: Final = 0.05
#: The largest part of a goodput that may be uncertain because pages in progress take longer.
_MOST_SLOW: Final = 0.1
#: If an estimate is this many half widths from the measured goodput, the runs are in another state.
_FAR: Final = 3.0


#: Mean delays, by their quantity; and the quantities of transfers and pages, whose number in
#: progress takes time to settle.
MEANS: Final = {
    f"{base}_s": base
    for base in ("rtt", "path_rtt", "ap_queue_delay", "packet_delay", "reorder_delay")
}
_OF_LASTING: Final = ("transfer_time", "page_time")
