"""Estimate the whole network, its groups and their directions so that the parts add up.

Each part has an estimate from its own draws, which say more about it than the draws of all other
parts. The sum of the parts is a second estimate of the whole, next to the one from all draws
together. The gap between the two is near zero and has mean zero. The gap of each replication is
shared among the parts in proportion to the variances of their values. So a part with little
variance, such as calls at a constant rate, takes almost nothing. These are the weights of least
squares for numbers that must add up and are measured independently of each other. The intervals
come from the resulting values, so they match the reported numbers. Some gaps fit no part, such as
the gap of calls whose windows resemble the draws of others by chance. They are noise of regression
coefficients. Then the whole and the parts use their means over replications.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates.estimate import MEANS, Estimates
from airtcp.estimates.formulas import IMPROVED
from airtcp.estimates.percentiles import PERCENTILES
from airtcp.estimates.told import Estimate, declined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from airtcp.estimates.traffic import Run
    from airtcp.scenario import ResolvedScenario

    Array = NDArray[np.float64]

#: The metrics whose parts add up to the whole.
_ADD_UP: Final = ("goodput_bps", "active_flows")
#: The metrics whose whole is a mean of the parts.
_AMONG: Final = ("transfer_time_s", "page_time_s", *MEANS)
_DIRECTIONS: Final = ("download", "upload")
#: Number of places if there is one group with one direction: the network, the group, the direction.
_ONE_WAY: Final = 3
#: A gap below this part of the values is a rounding error.
_NOTHING: Final = 1e-12

#: A place is the whole network, or a part "all", "download" or "upload" of a group.
_EVERYTHING: Final = (None, "all")
_Place = tuple[str | None, str]

#: The estimates of each group and its parts, by metric.
GroupEstimates = dict[str, dict[str, dict[str, Estimate]]]


def estimate(
    runs: Sequence[Run],
    scenario: ResolvedScenario,
    metric: str,
    *,
    group: str | None = None,
    part: str = "all",
    confidence: float | None = None,
) -> Estimate:
    """Estimate a metric of the whole network, or of a part of a group, from replications.

    The estimate of a single group is not adjusted to add up with other groups; see
    `improved_groups`.

    Raises KeyError for a metric, group or part that the runs do not have, ValueError without a run.
    """
    level = scenario.run.confidence if confidence is None else confidence
    if (group, part) == _EVERYTHING and metric in _ADD_UP:
        return Tree(runs, scenario, level).whole(metric)
    return Estimates(runs, scenario, group=group, part=part, confidence=level).of(metric)


def improved(
    runs: Sequence[Run], scenario: ResolvedScenario | None, confidence: float
) -> dict[str, Estimate]:
    """Estimate all metrics of the whole network that have an estimator other than the plain mean.

    Empty without a scenario or accounts.
    """
    if scenario is None or not runs:
        return {}
    tree = Tree(runs, scenario, confidence)
    metrics = (*MEANS, *(IMPROVED if tree.can_improve else PERCENTILES))
    return {name: tree.whole(name) for name in metrics} if tree.has_accounts else {}


def improved_groups(
    runs: Sequence[Run], scenario: ResolvedScenario | None, confidence: float
) -> GroupEstimates:
    """Estimate metrics of groups and directions with an estimator other than the plain mean.

    Goodputs and active flows of groups add up to those of the network, and those of directions to
    those of the group. Empty without a scenario or accounts.
    """
    if scenario is None or not runs or any(run.accounts is None for run in runs):
        return {}
    return Tree(runs, scenario, confidence).groups()


class Tree:
    """The estimates of the whole network, of its groups, and of their directions.

    Raises ValueError without a run.
    """

    def __init__(self, runs: Sequence[Run], scenario: ResolvedScenario, confidence: float) -> None:
        if not runs:
            raise ValueError("there is no replication to estimate from")
        self._runs, self._scenario, self._confidence = runs, scenario, confidence
        self._of = {place: self._estimates(place) for place in _places(runs[0])}
        self._known: dict[str, dict[_Place, Estimate]] = {}

    def _estimates(self, place: _Place) -> Estimates:
        group, part = place
        return Estimates(
            self._runs, self._scenario, group=group, part=part, confidence=self._confidence
        )

    @property
    def has_accounts(self) -> bool:
        """True if all replications have accounts."""
        return self._of[_EVERYTHING].has_accounts

    @property
    def can_improve(self) -> bool:
        """True if there are accounts, and traffic whose transfers recur."""
        return self._of[_EVERYTHING].can_improve

    def whole(self, metric: str) -> Estimate:
        """Estimate a metric of the whole network. Raises KeyError if the runs do not have it."""
        of_all = self._of[_EVERYTHING]
        if metric == "flow_goodput_bps" and of_all.flows:
            return _of_a_flow(of_all, self.whole("goodput_bps"))
        told = of_all.of(metric)
        if metric in _AMONG:
            below = [place for place in self._of if _is_below(place, _EVERYTHING)]
            # Objects of their own do not keep the samples of mean delays, which take much memory.
            of = self._estimates if metric in MEANS else self._of.__getitem__
            return _among(told, [of(place).of(metric) for place in below])
        # With one group in one direction there is nothing to add up.
        if metric not in _ADD_UP or told.estimator == "plain" or len(self._of) <= _ONE_WAY:
            return told
        return self._told(metric)[_EVERYTHING]

    def groups(self) -> GroupEstimates:
        """Estimate all parts; empty if none has an estimator other than the plain mean."""
        if not self.has_accounts:
            return {}
        improves = any(one.can_improve for one in self._of.values())
        found: GroupEstimates = {}
        for place, one in self._of.items():
            group, part = place
            if group is None:
                continue
            metrics = IMPROVED if one.can_improve else PERCENTILES
            own = {name: one.of(name) for name in (*MEANS, *metrics)}
            for metric in _ADD_UP if improves else ():
                told = self._told(metric)[place]
                if told.estimator != "plain" or one.can_improve:
                    own[metric] = told
            if "goodput_bps" in own and one.flows:
                own["flow_goodput_bps"] = _of_a_flow(one, own["goodput_bps"])
            found.setdefault(group, {})[part] = own
        return found

    def _told(self, metric: str) -> dict[_Place, Estimate]:
        """Return estimates of a metric for the whole network and all parts that add up."""
        if metric not in self._known:
            told = self._shared_out(metric)
            if told is None:
                told = {place: one.plain(metric) for place, one in self._of.items()}
            self._known[metric] = told
        return self._known[metric]

    def _shared_out(self, metric: str) -> dict[_Place, Estimate] | None:
        """Adjust the estimates of parts so that they add up, from the whole network down.

        Returns None if no part can be adjusted. If a part has no mean, parts cannot add up, and
        each one keeps its own estimate.
        """
        told = {place: one.of(metric) for place, one in self._of.items()}
        if any(None in (one.interval.mean, *one.values) for one in told.values()):
            return told
        for place in (_EVERYTHING, *(one for one in self._of if one[0] and one[1] == "all")):
            below = [one for one in self._of if _is_below(one, place)]
            parts = np.array([told[one].values for one in below], dtype=float)
            values = _shared(np.array(told[place].values, dtype=float), parts)
            if values is None:
                return None
            for one, row in zip(below, values, strict=True):
                if row.tolist() != list(told[one].values):
                    told[one] = self._of[one].of_values(metric, row)
                    if told[one].estimator == "plain":
                        return None
        return told


def _among(told: Estimate, groups: Sequence[Estimate]) -> Estimate:
    """Move a mean of all transfers or packets to the nearest mean of a group, if it lies outside.

    Separate regressions can put it there, or groups that lead in turns: the mean over replications
    of a quantity that lies among its parts in each of them. The interval keeps its width.

    If the runs are too short for a mean, their mixture of groups may be another one later. So the
    lower bound of all is at most the lowest bound of a group, and unknown if a group has none.
    """
    mean = told.interval.mean
    if mean is None and told.interval.low is not None:
        lows = [one.interval.low for one in groups if one.interval.n]
        known = [one for one in lows if one is not None]
        low = min([told.interval.low, *known]) if len(known) == len(lows) else None
        return declined(told, told.steadiness, low)
    means = [one.interval.mean for one in groups if one.interval.n or one.interval.mean is not None]
    known = [one for one in means if one is not None]
    if mean is None or not known or len(known) < len(means):
        return told
    by = min(max(mean, min(known)), max(known)) - mean
    if not by:
        return told
    values = tuple(None if one is None else one + by for one in told.values)
    return replace(told, interval=told.interval.shifted(by), values=values)


def _places(run: Run) -> Iterator[_Place]:
    yield _EVERYTHING
    for record in run.answer.get("groups", ()):
        for part in ("all", *_DIRECTIONS):
            if record[part] is not None:
                yield record["name"], part


def _is_below(one: _Place, other: _Place) -> bool:
    """Return True if a place is a direct part of another."""
    if other[0] is None:
        return one[0] is not None and one[1] == "all"
    return one[0] == other[0] and one[1] != "all"


def _of_a_flow(estimates: Estimates, goodput: Estimate) -> Estimate:
    """Estimate the goodput per flow from the total goodput, with the same estimator."""
    if goodput.estimator == "plain":
        return estimates.plain("flow_goodput_bps")
    values = np.array(goodput.values, dtype=float) / estimates.flows
    return estimates.of_values("flow_goodput_bps", values)


def _shared(whole: Array, parts: Array) -> Array | None:
    """Distribute the gap between a whole and its parts; None if no part can take it.

    `parts` has a row for each part, with a value for each replication, as `whole` has.
    """
    gap = whole - parts.sum(axis=0)
    if np.abs(gap).max() <= _NOTHING * np.abs(whole).max():
        return parts
    spread = parts.var(axis=1, ddof=1) if len(whole) > 1 else np.zeros(len(parts))
    if not spread.sum() > 0.0:
        return None
    shared = np.asarray(parts + (spread / spread.sum())[:, None] * gap)
    return None if (shared.mean(axis=1) < 0.0).any() else shared
