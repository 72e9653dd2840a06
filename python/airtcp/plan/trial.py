"""Remedies tried where the end is, beside the scenario as it was, on the same random numbers.

Knows a place of the axis, differences there and which remedies may still win by them. Does not know
what a remedy changes, nor how far it carries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from airtcp.plan.crossing import in_ratios
from airtcp.plan.halving import Spread, moderated, of_two, pooled, survivors
from airtcp.plan.search import Found, Search
from airtcp.remedies import Changed, Remedy
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.conditions import Condition

#: Replications of the first round of many remedies.
_FIRST: Final = 1
#: The next round has so many times as many.
_MORE: Final = 1.5
#: So few have no spread in common worth the name.
_FEW: Final = 6
#: From so many replications on a difference is judged by its own spread.
OWN: Final = 5
#: A remedy that loses so much of the goodput does not help times of transfers, whatever these say;
#: of other metrics it is said what it costs.
_LOST: Final = 0.05
#: Ideas of research, which nobody can buy, that are kept for being the best among themselves.
_IDEAS: Final = 1
#: Metrics of transfers that have ended.
_TIMES: Final = ("transfer_time", "page_time")


@dataclass
class Candidate:
    """A remedy under trial: `search` seeks its end, `found` is that."""

    remedy: Remedy
    changed: Changed
    search: Search
    #: The paired differences of the excess where the end was; negative is good.
    change: Interval = field(default_factory=lambda: Interval(None, None, None, 0))
    #: The goodput of all after the change, over that before.
    carried: Interval = field(default_factory=lambda: Interval(None, None, None, 0))
    found: Found | None = None
    #: The condition does not hold anywhere any more.
    endless: bool = False
    #: It cannot be the best by as much as matters, and got no more runs.
    dropped: bool = False

    @property
    def score(self) -> float:
        """Tell how much the excess grows, the less the better."""
        return 0.0 if self.change.mean is None else self.change.mean

    @property
    def costs(self) -> bool:
        """Tell whether much less gets through."""
        mean, most = self.carried.mean, self.carried.high
        return mean is not None and mean < -_LOST and most is not None and most < 0.0


class Trial:
    """Candidates at the place just beyond the end of `base` where it has most replications."""

    def __init__(self, base: Search, found: Found, condition: Condition, confidence: float) -> None:
        self.candidates: list[Candidate] = []
        self.crossing = None if found.binding is None else found.crossings[found.binding]
        self._base = base
        self._found = found
        self._condition = condition
        self._confidence = confidence
        beyond = [place for place in base.places if place > found.index]
        self.most = base.most
        most = max(len(base.runs(place)) for place in beyond or base.places)
        known = [one for one in beyond or base.places if len(base.runs(one)) == most]
        self.place = min(known) if beyond else max(known)

    @property
    def first(self) -> int:
        """The replications of the first round."""
        return min(_FIRST if len(self.candidates) > _FEW else OWN, self.most)

    def halve(self, keep: int, say: Callable[[Sequence[Candidate], int], None]) -> None:
        """Try all candidates, and drop those that cannot be the best, until `keep` surely help.

        `say` is told what is run next. KeyboardInterrupt if interrupted: `candidates` then have
        what is known.
        """
        left = more = list(self.candidates)
        n = self.first
        while more:
            say(more, n)
            self.simulate(more, n)
            alive = [one for one in left if not self.starves(one)]
            kept = self._survivors(alive, keep)
            for one in left:
                one.dropped = one not in kept
            left = kept
            deployable = [one for one in left if not one.remedy.research]
            ideas = [one for one in left if one.remedy.research]
            many = len(deployable) > keep
            unsure = [one for one in deployable if many or not self.helps(one)]
            if n >= self.most or not unsure:
                return
            # Of ideas it is enough that the best one helps.
            more = [*unsure, *(ideas if not any(map(self.helps, ideas[:_IDEAS])) else ())]
            n = min(math.ceil(_MORE * n), self.most)

    def simulate(self, candidates: Sequence[Candidate], n: int) -> None:
        """Give all of them `n` replications at the place, and judge by all that there is."""
        searches = [self._base, *(one.search for one in candidates)]
        try:
            # All at once, so that no processor waits for the last run of each.
            Search.simulate_together([(one, self.place) for one in searches], n)
        finally:
            self.judge()

    def judge(self) -> None:
        """Take the differences of all candidates, by what has ended."""
        ratios, in_units = self._differences(self.candidates)
        carried = [self._carried(one) for one in self.candidates]
        spread = pooled([list(one.values()) for one in ratios], self._unpaired(in_units=in_units))
        spread_carried = pooled(carried, self._unpaired_carried())
        before = self._samples(self._base)
        for one, goodput in zip(self.candidates, carried, strict=True):
            after = self._samples(one.search)
            change = [after[run] - before[run] for run in sorted(before.keys() & after.keys())]
            # The spread that candidates have in common is one of ratios: times what is divided.
            unit = 1.0 if in_units or not after else self._metric(after)
            one.change = self._interval(change, Spread(spread.variance * unit**2, spread.degrees))
            one.carried = self._interval(goodput, spread_carried)

    def starves(self, one: Candidate) -> bool:
        """Tell whether much less gets through and transfers that never end are in no mean."""
        return one.costs and self._condition.metric.startswith(_TIMES)

    def helps(self, one: Candidate) -> bool:
        """Tell whether the interval says that it helps where the end was."""
        return one.change.high is not None and one.change.high < 0.0 and not self.starves(one)

    def further(self, one: Candidate) -> float:
        """Guess how much further the end lies, in steps of the axis."""
        if self.crossing is None or self.crossing.slope <= 0.0:
            return 0.0
        (samples,), in_units = self._differences([one])
        if not samples:
            return 0.0
        rise = math.fsum(samples.values()) / len(samples)
        return -rise / self._slope(in_units=in_units)

    def before(self) -> float | None:
        """The metric of the scenario as it was at the place."""
        samples = self._samples(self._base)
        return self._metric(samples) if samples else None

    def _survivors(self, candidates: Sequence[Candidate], keep: int) -> list[Candidate]:
        """The candidates that may still carry furthest; ideas of research among themselves."""
        leagues = (
            ([one for one in candidates if not one.remedy.research], keep),
            ([one for one in candidates if one.remedy.research], _IDEAS),
        )
        return [one for league, most in leagues if league for one in self._best_of(league, most)]

    def _best_of(self, candidates: Sequence[Candidate], keep: int) -> list[Candidate]:
        """The candidates that may still carry furthest, by as much as the end is to be known."""
        samples, in_units = self._differences(candidates)
        margin = 0.0
        if self.crossing is not None:
            numbers, index = self._base.axis.numbers, self._found.index
            index = min(index, len(numbers) - 2)
            steps = self._base.asked(self._found) / abs(numbers[index + 1] - numbers[index])
            margin = max(steps * self._slope(in_units=in_units), 0.0)
        spread = self._unpaired(in_units=in_units)
        order = survivors(dict(enumerate(samples)), margin, keep=keep, spread=spread)
        return [candidates[number] for number in order]

    def _slope(self, *, in_units: bool) -> float:
        """The rise of the base from one step of the axis to the next, in ratios or in the unit."""
        assert self.crossing is not None
        slope, bound = self.crossing.slope, self._condition.bound
        if self.crossing.ratios == (not in_units):
            return slope
        return slope * bound if in_units else slope / bound

    def _interval(self, samples: Sequence[float], spread: Spread) -> Interval:
        # A remedy that changes nothing has no spread, whatever that of the others is.
        if 0 < len(samples) < OWN and len(self.candidates) > _FEW and any(samples):
            return moderated(samples, spread, self._confidence)
        return student_interval(samples, self._confidence)

    def _differences(self, candidates: Sequence[Candidate]) -> tuple[list[dict[int, float]], bool]:
        """Measure how far each candidate lies above the base, and tell whether in the unit.

        As logarithms of ratios where all metrics are positive: then remedies vary alike.
        """
        bound, falls = self._condition.bound, not self._condition.above
        rows = [self._samples(one) for one in (self._base, *(each.search for each in candidates))]
        logarithms = [
            row and in_ratios(row, bound, falls=falls) if bound > 0.0 else None for row in rows
        ]
        ratios = [row for row in logarithms if row is not None]
        in_units = len(ratios) < len(rows)
        before, *after = rows if in_units else ratios
        return [
            {run: one[run] - before[run] for run in sorted(before.keys() & one.keys())}
            for one in after
        ], in_units

    def _unpaired(self, *, in_units: bool) -> Spread:
        """The spread of a difference that is not paired, by the replications of the base.

        In pairs it is less, for what both have in common goes.
        """
        row = self._samples(self._base)
        known = None
        if row and not in_units:
            known = in_ratios(row, self._condition.bound, falls=not self._condition.above)
        return of_two(list((known or row).values()))

    def _unpaired_carried(self) -> Spread:
        """The spread of a difference of goodputs over their mean, not paired."""
        runs = self._base.runs(self.place)
        goodputs = [float(run.answer["metrics"]["goodput_bps"]) for run in runs]
        mean = math.fsum(goodputs) / max(len(goodputs), 1) or 1.0
        return of_two([one / mean for one in goodputs])

    def _samples(self, search: Search) -> dict[int, float]:
        return search.samples(self._condition, self.place)

    def _metric(self, samples: Mapping[int, float]) -> float:
        """The mean of the metric, from how far it is beyond the condition."""
        sign = 1.0 if self._condition.above else -1.0
        return self._condition.bound + sign * math.fsum(samples.values()) / len(samples)

    def _carried(self, one: Candidate) -> list[float]:
        before, after = (
            {run.index: run.answer["metrics"]["goodput_bps"] for run in search.runs(self.place)}
            for search in (self._base, one.search)
        )
        common = sorted(before.keys() & after.keys())
        mean = sum(before[run] for run in common) / max(len(common), 1)
        return [(after[run] - before[run]) / (mean or 1.0) for run in common]
