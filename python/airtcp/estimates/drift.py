"""Detect drift: replications that are not yet in steady state, whose two halves differ.

All replications start alike, so they drift alike, and their intervals are narrow around a wrong
mean. Suppose that a metric approaches its steady state M as M + (m - M) exp(-t / tau). Let D be the
difference between the second and the first half of the measured time T. Then the mean over T is off
by D coth(T / (4 tau)) / 2: by half of D in a long run, by twice D if T = tau.

The evidence is the core's record of the first half, and windows that grow in it. `steadiness`,
`startup` and `pages` handle transfers that have not come yet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity
from airtcp.estimates.cells import groups_by_cell
from airtcp.estimates.steadiness import Steadiness, rounded_up
from airtcp.estimates.told import Estimate, declined, gain_of, plain_estimate
from airtcp.estimates.traffic import Run, Traffic, measured, metrics_of
from airtcp.estimates.windows import Windows
from airtcp.labels import PARTS, spoken
from airtcp.metrics import METRICS
from airtcp.phrases import phrase
from airtcp.scenario.keys.traffic import has_end
from airtcp.stats import WIDE_ESTIMATE, Interval, student_interval, student_quantile

if TYPE_CHECKING:
    from airtcp.estimates.parts import GroupEstimates
    from airtcp.scenario import ResolvedScenario

#: The metrics that serve as evidence of drift, and the risk that any of them shows a drift by
#: chance.
_EVIDENCE: Final = (
    "goodput_bps",
    "rtt_s",
    "path_rtt_s",
    "ap_queue_delay_s",
    "packet_delay_s",
    "ap_queue_packets",
    "packet_loss",
    "ap_queue_drop_probability",
    "station_queue_drop_probability",
    "collision_probability",
    "failed_ppdu_ratio",
    "mean_backlogged_nodes",
)
_RISK: Final = 0.05
#: A mean is off by at most this many times the difference of the halves, after subtracting what
#: chance explains at this level.
_TIMES: Final = 2.0
_CHANCE: Final = 0.5
#: Instead of `_TIMES` if the halves differ widely: the steady state may be further away.
_TIMES_FAR: Final = 3.0
#: The confidence level at which a difference of the halves counts as growth.
_SURE: Final = 0.99
#: The metrics that grow with queues, and that have only a lower bound while they grow.
_OF_WAITS: Final = re.compile(r"(rtt|delay)(_p\d+)?_s$|queue_packets$")
#: The metrics that follow from congestion windows: delays and losses.
_OF_WINDOWS: Final = re.compile(
    r"(rtt|delay)(_p\d+)?_s$|(queue_packets|packet_loss|r_factor|queue_drop_probability)$"
)
#: The metrics that grow with bursts of other traffic, of which a run may show few.
_OF_LOAD: Final = re.compile(
    r"(rtt|delay)(_p\d+)?_s$|(last_ack_s|jitter_s|queue_packets|r_factor|backlogged_nodes)$"
)
#: The fewest pages and files that show the queueing delays of all traffic.
FEWEST_UNITS: Final = 30
#: If a window is halved, the mean over part of a sawtooth differs from the mean over a whole one by
#: at most this share.
_TOOTH: Final = 1.0 / 3.0
_GOODPUTS: Final = frozenset({"goodput_bps", "flow_goodput_bps"})
#: Metrics without this correction: those of transfers, which correct for unfinished transfers
#: themselves, and counts, which halve in half the time.
_OTHERS: Final = re.compile(r"(transfer|page)_time|^tcp_")
_COUNTS: Final = re.compile(r"^tcp_")
#: The number of pages or transfers in progress settles within this many times of one.
_SETTLED: Final = 10.0
#: The halves may differ by this part of the mean without harm.
_HARMLESS: Final = 0.05
#: The metrics for which a lower bound is reported.
_FELT: Final = re.compile(r"_(s|bps|packets|loss)$")
#: Allowed error of a mean after the recommended measured time, as a share of the mean.
_LEFT: Final = 0.05
#: Number of sawteeth in the recommended measured time.
_TEETH: Final = 10.0


@dataclass(frozen=True, slots=True)
class Moved:
    """The second half of the measured time minus the first half, and its standard error."""

    by: float
    error: float
    n: int

    def surely(self, level: float) -> float:
        """Return the squared difference minus what chance explains at a level, but at least 0."""
        chance = student_quantile(level, self.n - 1) * self.error
        return max(0.0, self.by * self.by - chance * chance)

    def grows(self, mean: float) -> bool:
        """Return True if the growth is certain: the steady state lies above all measured values.

        The difference is significant, and a large part of the mean over both halves.
        """
        return self.by > WIDE_ESTIMATE * mean and self.surely(_SURE) > 0.0


@dataclass(frozen=True, eq=False)
class Drift:
    """The drift of some replications of `scenario`, with intervals at `confidence`.

    Without a scenario there is no drift. The evidence is the metrics of the whole network, or of
    `groups`, the groups of one cell. A cell neither delays nor hides another one that it does not
    hear. `growth` says why the times of their transfers and pages are higher later, if they are and
    the runs last few of these times: then so are delays and losses.
    """

    runs: Sequence[Run]
    scenario: ResolvedScenario | None
    confidence: float
    groups: tuple[str, ...] | None = None
    growth: Steadiness | None = None

    def of_everything(self, known: Mapping[str, Estimate]) -> dict[str, Estimate]:
        """Return the estimates of the whole network, corrected for drift.

        Adds plain estimates of drifting metrics to the `known` ones.
        """
        if not self.is_known or self.is_finite:
            return dict(known)
        of_all = self._with(self._growth(known))
        if not of_all._is_any:
            return dict(known)
        return of_all._told(known, None, "all", self.runs[0].answer["metrics"])

    def of_groups(self, known: GroupEstimates) -> GroupEstimates:
        """Do the same for all groups and their parts, with the evidence of their own cell."""
        if not self.is_known or self.is_finite:
            return known
        of_cells = {id(one): one for one in self._by_group.values()}
        grown = {
            key: one._with(
                self._growth(*(known.get(name, {}).get("all", {}) for name in one.groups or ()))
            )
            for key, one in of_cells.items()
        }
        found: GroupEstimates = {}
        for record in self.runs[0].answer["groups"]:
            name = record["name"]
            of_cell = grown[id(self._by_group[name])]
            if not of_cell._is_any:
                if name in known:
                    found[name] = known[name]
                continue
            for part in PARTS:
                if record[part] is not None:
                    own = known.get(name, {}).get(part, {})
                    told = of_cell._told(own, name, part, record[part])
                    found.setdefault(name, {})[part] = told
        return found

    def _with(self, growth: Steadiness | None) -> Drift:
        """Return this with a growth; without one itself, with what it has computed."""
        return self if growth is None else replace(self, growth=growth)

    def of_cells(self, known: Mapping[str, Estimate]) -> dict[str, Estimate]:
        """Return the goodput of each cell, which is the sum of its groups, corrected for drift."""
        if not self.is_known or self.scenario is None:
            return dict(known)
        groups = dict(groups_by_cell(self.scenario))
        found = dict(known)
        for cell, one in known.items():
            of_cell = self._by_group[groups[cell][0]] if groups[cell] else None
            if of_cell is not None and of_cell._is_any:
                found[cell] = of_cell._as_known(one, partial(self._surplus_of, groups[cell]))
        return found

    @cached_property
    def _by_group(self) -> dict[str, Drift]:
        """Map each group to the drift of its cell."""
        assert self.scenario is not None
        found: dict[int, list[str]] = {}
        for group in self.scenario.stations:
            found.setdefault(group.cell or 0, []).append(group.name)
        return {
            name: of_cell
            for names in found.values()
            for of_cell in [replace(self, groups=tuple(names))]
            for name in names
        }

    @cached_property
    def is_known(self) -> bool:
        """True if there is a scenario and several replications with records of first halves."""
        has_several = self.scenario is not None and len(self.runs) > 1
        return has_several and all(run.answer.get("halfway") for run in self.runs)

    @cached_property
    def is_finite(self) -> bool:
        """True if a flow has a beginning or an end, so that there is no steady state."""
        return self.scenario is not None and any(map(has_end, self.scenario.flows))

    @cached_property
    def seen_of(self) -> tuple[str, str | None] | None:
        """The metric with the largest relative drift, and its group if any; None without drift."""
        if not self.is_known:
            return None
        answer = self.runs[0].answer
        places = [
            (name, group)
            for group in self.groups or (None,)
            for name in _EVIDENCE
            if name in (metrics_of(answer, group, "all") or {})
        ]
        found = {
            (name, group): moved
            for name, group in places
            if (moved := self.moved(name, group)) is not None
            and moved.error > 0.0
            and self._mean(name, group)
        }
        level = 1.0 - _RISK / max(1, len(found))
        sure = {place: one.by for place, one in found.items() if one.surely(level)}
        return max(sure, key=lambda place: abs(sure[place]) / self._mean(*place), default=None)

    @cached_property
    def windows(self) -> Windows:
        """The congestion windows of endless connections in both halves."""
        assert self.scenario is not None
        return Windows.of_replications(self.runs, self.scenario, self.groups)

    def _growth(self, *known: Mapping[str, Estimate]) -> Steadiness | None:
        """Return why times of transfers and pages have only lower bounds; None if they have more.

        None also if each replication lasts many of these times: few pages may be too few for a mean
        of their times, and yet fill the queues as later ones do.
        """
        assert self.scenario is not None
        run = self.scenario.run
        span_s = run.whole_s
        found = [
            one
            for of_part in known
            for metric in ("page_time_s", "transfer_time_s")
            if (one := of_part.get(metric)) is not None
            and one.interval.mean is None
            and one.steadiness.state == "unsteady"
        ]
        lows_s = [low for one in found if (low := one.steadiness.at_least) is not None]
        if not found or (lows_s and span_s >= _SETTLED * max(lows_s)):
            return None
        return replace(found[0].steadiness, at_least=None)

    @cached_property
    def _is_any(self) -> bool:
        """True if anything drifts."""
        if not self.is_known or self.is_finite:
            return False
        return self._is_early or self.seen_of is not None

    def _told(
        self, known: Mapping[str, Estimate], group: str | None, part: str, metrics: Iterable[str]
    ) -> dict[str, Estimate]:
        found = dict(known)
        for metric in metrics:
            estimate = known.get(metric)
            if estimate is None:
                samples = [measured(run, metric, group, part) for run in self.runs]
                estimate = plain_estimate(metric, samples, self.confidence)
            told = self._as_known(estimate, partial(self.moved, metric, group, part))
            if told is not estimate:
                found[metric] = told
        return found

    def _as_known(self, estimate: Estimate, moves: Callable[[], Moved | None]) -> Estimate:
        """Correct an estimate for the drift that `moves` returns.

        If the metric surely drifts while windows grow, only one end of its interval remains. The
        mean is still the mean of the measured time.
        """
        mean, wide = estimate.interval.mean, estimate.interval.half_width
        if mean == 0.0 and _COUNTS.match(estimate.metric) and self._is_early:
            # Losses come when windows and queues are full.
            return replace(estimate, interval=Interval(None, None, None, estimate.interval.n))
        if mean is None or not wide:
            return estimate
        if self.windows.are_cut_seldom and _OF_WINDOWS.search(estimate.metric):
            # All replications start alike, so they show the same part of a sawtooth.
            wide = math.hypot(wide, _TOOTH * mean)
            interval = Interval(mean, mean - wide, mean + wide, estimate.interval.n)
            estimate = replace(estimate, interval=interval, gain=None)
        if self._lacking is not None and _OF_LOAD.search(estimate.metric):
            return _bounded(estimate, self._lacking)
        if _OTHERS.search(estimate.metric):
            return estimate
        moved = moves()
        if moved is None or not moved.surely(_CHANCE):
            return estimate
        # A verdict from transfers in progress takes precedence.
        state = estimate.steadiness if estimate.steadiness.state == "unsteady" else self._state
        is_sure = moved.surely(self.confidence) > 0.0
        if is_sure and _OF_WINDOWS.search(estimate.metric) and self.windows.grow:
            return _one_ended(estimate, moved, state)
        if estimate.estimator != "plain" and estimate.metric not in _GOODPUTS:
            return estimate
        if _OF_WAITS.search(estimate.metric) and moved.grows(mean):
            return _one_ended(estimate, moved, state)
        half_width = math.sqrt(wide * wide + _TIMES**2 * moved.surely(_CHANCE))
        if is_sure and half_width > WIDE_ESTIMATE * abs(mean):
            half_width = math.hypot(wide, _TIMES_FAR * moved.by)
        interval = Interval(mean, mean - half_width, mean + half_width, estimate.interval.n)
        gain = None if estimate.gain is None else gain_of(estimate.plain, interval)
        return replace(estimate, interval=interval, gain=gain, steadiness=state)

    @cached_property
    def _is_early(self) -> bool:
        """True if the runs are too short for the losses of their traffic."""
        return self.windows.grow or self.windows.are_cut_seldom or self._lacking is not None

    @property
    def _lacking(self) -> Steadiness | None:
        """The verdict if later there is more traffic in progress than in these runs; else None."""
        return self._few or self.growth

    @cached_property
    def _few(self) -> Steadiness | None:
        """The verdict if so few pages and files began that bursts may be missing; else None."""
        if self.scenario is None:
            return None
        traffic = Traffic(self.runs, self.scenario, None, "all")
        recurrent = [
            entry
            for entry in traffic.recurrent
            if self.groups is None or traffic.flow(entry).stations in self.groups
        ]
        if not recurrent or not traffic.has_accounts:
            return None
        number = traffic.units_begun(recurrent)
        if number >= FEWEST_UNITS:
            return None
        reason = phrase("estimates.drift.few", number=number, least=FEWEST_UNITS)
        times = 2.0 * FEWEST_UNITS / max(1.0, number)
        return Steadiness("unsteady", reason, simulate_s=rounded_up(times * traffic.measured_s))

    @cached_property
    def _state(self) -> Steadiness:
        """The verdict: the metric that drifts most, and a measured time that is long enough.

        Growing windows are reported first, because they cause other drifts. A harmless drift is not
        reported.
        """
        if self.windows.grow:
            return Steadiness("unsteady", self.windows.growth)
        if self.windows.are_cut_seldom:
            enough_s = rounded_up(_TEETH * self.windows.tooth_s)
            return Steadiness("unsteady", self.windows.sawtooth, simulate_s=enough_s)
        if self.seen_of is None:
            return self._lacking or Steadiness("steady")
        name, group = self.seen_of
        moved = self.moved(name, group)
        assert moved is not None
        mean, unit = self._mean(name, group), METRICS[name].unit
        if abs(moved.by) < _HARMLESS * mean:
            return Steadiness("steady")
        first, second = mean - moved.by / 2.0, mean + moved.by / 2.0
        reason = phrase(
            "estimates.drift.halves",
            metrics=spoken(METRICS[name]),
            first=quantity(max(0.0, first), unit, 3),
            second=quantity(max(0.0, second), unit, 3),
        )
        # The remaining error is half the difference of the halves, and it falls as 1 / T.
        times = abs(moved.by) / 2.0 / (_LEFT * mean)
        enough_s = rounded_up(max(2.0, times) * self.windows.measured_s)
        return Steadiness("unsteady", reason, simulate_s=enough_s)

    def _mean(self, metric: str, group: str | None) -> float:
        values = [measured(run, metric, group, "all") or 0.0 for run in self.runs]
        return math.fsum(values) / len(values)

    def moved(self, metric: str, group: str | None = None, part: str = "all") -> Moved | None:
        """Return the difference of the halves over replications; None if one lacks the metric.

        The second half follows from the whole and the first half. That is exact for averages over
        time.
        """
        # The core leaves metrics without a value out of the first half.
        return _surplus(
            [
                (
                    measured(run, metric, group, part),
                    (metrics_of(run.answer["halfway"], group, part) or {}).get(metric),
                )
                for run in self.runs
            ]
        )

    def _surplus_of(self, groups: Collection[str]) -> Moved | None:
        """Return the difference of the halves of the total goodput of some groups."""

        def goodput(answer: Mapping[str, Any]) -> float:
            own = [one["all"]["goodput_bps"] for one in answer["groups"] if one["name"] in groups]
            return math.fsum(one or 0.0 for one in own)

        return _surplus((goodput(run.answer), goodput(run.answer["halfway"])) for run in self.runs)


def _surplus(halves: Iterable[tuple[float | None, float | None]]) -> Moved | None:
    """Return the difference of the halves, given pairs of the whole and the first half."""
    differences = []
    for whole, first in halves:
        if whole is None or first is None:
            return None
        differences.append(2.0 * (whole - first))
    interval = student_interval(differences, _CHANCE)
    half_width = interval.half_width or 0.0
    error = half_width / student_quantile(_CHANCE, interval.n - 1)
    return Moved(interval.mean or 0.0, error, interval.n)


def _bounded(estimate: Estimate, state: Steadiness) -> Estimate:
    """Reduce an estimate to the bound that more load leaves: it lowers R, and raises the others."""
    if estimate.metric != "r_factor":
        return declined(estimate, state, estimate.interval.low)
    interval = Interval(None, None, estimate.interval.high, estimate.interval.n)
    return replace(estimate, interval=interval, gain=None, steadiness=state)


def _one_ended(estimate: Estimate, moved: Moved, state: Steadiness) -> Estimate:
    """Remove the end of an interval towards which the metric drifts."""
    low, high = estimate.interval.low, estimate.interval.high
    if moved.by < 0.0:
        low = None
    else:
        high = None
    at_least = low if (low or 0.0) > 0.0 and _FELT.search(estimate.metric) else None
    return replace(
        estimate,
        interval=Interval(estimate.interval.mean, low, high, estimate.interval.n),
        gain=None,
        steadiness=replace(state, at_least=at_least),
    )
