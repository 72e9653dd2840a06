"""Which remedies carry a scenario further, tried on the same random numbers.

Knows remedies as scenarios, and in which order they get runs. First each is tried where the end is,
just beyond it, with few replications; the half that helps least is dropped, the rest gets twice as
many, and so on (successive halving: Jamieson and Talwalkar, AISTATS 2016). For the best of those
that help there, the end itself is sought. All differences are paired with the scenario as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from airtcp.amounts import percent
from airtcp.exceptions import QuestionError
from airtcp.plan.search import Found, Search
from airtcp.remedies import Changed, Remedy, changed, named, together
from airtcp.remedies.apply import lines_for
from airtcp.results.plans import Gain, Verdict
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.plan.axis import Axis

#: Replications of the first round of all remedies.
_FIRST: Final = 4
#: Remedies that are never dropped for being in the worse half.
_KEPT: Final = 6
#: A remedy that loses so much of the goodput does not help times of transfers, whatever these say;
#: of other metrics it is said what it costs.
_LOST: Final = 0.05
#: Metrics of transfers that have ended.
_TIMES: Final = ("transfer_time", "page_time")
#: Remedies of which the end is sought.
_SOUGHT: Final = 5
#: Remedies that are named on the way.
_SHOWN: Final = 3


@dataclass
class _Candidate:
    remedy: Remedy
    changed: Changed
    search: Search
    #: The condition is about times of transfers, which those that never end have none of.
    of_survivors: bool = False
    #: The paired differences of the excess where the end was; negative is good.
    change: Interval = field(default_factory=lambda: Interval(None, None, None, 0))
    #: The same of the goodput of all, over what it was.
    carried: Interval = field(default_factory=lambda: Interval(None, None, None, 0))
    found: Found | None = None
    #: The condition does not hold anywhere any more.
    endless: bool = False

    @property
    def score(self) -> float:
        """Tell how much the excess grows, the less the better."""
        return 0.0 if self.change.mean is None else self.change.mean

    @property
    def costs(self) -> bool:
        """Tell whether much less gets through."""
        mean, most = self.carried.mean, self.carried.high
        return mean is not None and mean < -_LOST and most is not None and most < 0.0

    @property
    def starves(self) -> bool:
        """Tell whether much less gets through and transfers that never end are in no mean."""
        return self.of_survivors and self.costs

    @property
    def helps(self) -> bool:
        """Tell whether the interval says that it helps where the end was."""
        return self.change.high is not None and self.change.high < 0.0 and not self.starves


class Ranking:
    """The remedies of a scenario whose end has been found; `gains` are what is known so far."""

    def __init__(
        self,
        base: Search,
        found: Found,
        conditions: Sequence[Condition],
        search_of: Callable[[str, Axis], Search],
        *,
        confidence: float,
        tell: Callable[[str], None] | None,
    ) -> None:
        binding = found.binding
        self.left_out: dict[str, str] = {}
        self._base = base
        self._found = found
        self._condition = conditions[binding or 0]
        self._search_of = search_of
        self._confidence = confidence
        self._tell = tell
        self._candidates: list[_Candidate] = []
        self._both: _Candidate | None = None
        # Just beyond the end, at a value that has all replications of the base.
        well_known = [place for place in base.places if len(base.runs(place)) >= found.n]
        beyond = [place for place in well_known if place > found.index]
        self._place = min(beyond) if beyond else max(well_known)
        self._scenario = named(base.axis.scenario)

    @property
    def place(self) -> int:
        """The index at which all remedies are tried."""
        return self._place

    def run(self, remedies: Sequence[Remedy]) -> None:
        """Try the remedies. KeyboardInterrupt if interrupted: `gains` has what is known."""
        for remedy in remedies:
            new = changed(self._scenario, remedy)
            if isinstance(new, str):
                self.left_out[remedy.name] = new
            else:
                self._candidates.append(self._candidate(remedy, new))
        self._halve()
        for one in self._promising()[:_SOUGHT]:
            self._seek(one)
        self._two_at_once()

    def gains(self) -> list[Gain]:
        """The remedies that were tried, the best first."""
        known = [self._gain(one) for one in self._candidates if one.change.n]
        return sorted(known, key=_order)

    def both(self) -> Gain | None:
        """The best two at once."""
        return None if self._both is None or not self._both.change.n else self._gain(self._both)

    def _candidate(self, remedy: Remedy, new: Changed) -> _Candidate:
        search = self._search_of(remedy.name, self._base.axis.of(new.scenario))
        return _Candidate(remedy, new, search, self._condition.metric.startswith(_TIMES))

    def _halve(self) -> None:
        left = list(self._candidates)
        most = len(self._base.runs(self._place))
        n = min(_FIRST, most)
        while left:
            self._say(f"{len(left)} remedies, {n} replications each", left)
            self._simulate(left, n)
            if n >= most:
                return
            # Who is surely worse will not come back; of the others the better half goes on.
            left = sorted(
                (
                    one
                    for one in left
                    if not one.starves and (one.change.low is None or one.change.low <= 0.0)
                ),
                key=lambda one: one.score,
            )
            left = left[: max(_KEPT, (len(left) + 1) // 2)]
            n = min(2 * n, most)

    def _simulate(self, candidates: Sequence[_Candidate], n: int) -> None:
        # All at once, so that no processor waits for the last run of each.
        try:
            Search.simulate_together([one.search for one in candidates], self._place, n)
        finally:
            for one in candidates:
                one.change = self._change(one)
                one.carried = self._carried(one)

    def _change(self, one: _Candidate) -> Interval:
        before = self._base.samples(self._condition, self._place)
        after = one.search.samples(self._condition, self._place)
        common = sorted(before.keys() & after.keys())
        return student_interval((after[run] - before[run] for run in common), self._confidence)

    def _carried(self, one: _Candidate) -> Interval:
        before, after = (
            {run.index: run.answer["metrics"]["goodput_bps"] for run in search.runs(self._place)}
            for search in (self._base, one.search)
        )
        common = sorted(before.keys() & after.keys())
        mean = sum(before[run] for run in common) / max(len(common), 1)
        return student_interval(
            ((after[run] - before[run]) / (mean or 1.0) for run in common), self._confidence
        )

    def _promising(self) -> list[_Candidate]:
        return sorted((one for one in self._candidates if one.helps), key=lambda one: one.score)

    def _seek(self, one: _Candidate) -> None:
        self._say(f"how far it goes with {one.remedy.title}", self._candidates)
        try:
            one.found = one.search.find(self._start(one))
        except QuestionError:
            one.endless = True
        except KeyboardInterrupt:
            one.found = one.search.known()
            raise

    def _start(self, one: _Candidate) -> int:
        """Guess the end: as much further as the excess at the old one is less, roughly."""
        bound = self._condition.bound
        fall = -one.score / bound if bound else 0.0
        axis = self._base.axis
        number = axis.numbers[self._found.index]
        if not axis.whole:
            return min(self._found.index + round(fall * len(axis) / 4), len(axis) - 1)
        further = number * (1.0 + min(fall, 1.0))
        return max(axis.nearest(further), self._place)

    def _two_at_once(self) -> None:
        best = [one for one in self._ranked() if one.found is not None or one.endless]
        for other in range(1, len(best)):
            for one in range(other):
                pair = best[one].remedy, best[other].remedy
                new = together(self._scenario, pair)
                if isinstance(new, str):
                    continue
                remedy = replace(
                    pair[0],
                    name=" + ".join(each.name for each in pair),
                    title=" and ".join(each.title for each in pair),
                    source="; ".join(each.source for each in pair),
                    where=tuple(dict.fromkeys([*pair[0].where, *pair[1].where])),
                    apply="",
                    notes=(),
                )
                self._both = self._candidate(remedy, new)
                n = len(self._base.runs(self._place))
                self._say("the best two at once", self._candidates)
                self._simulate([self._both], n)
                self._seek(self._both)
                return

    def _ranked(self) -> list[_Candidate]:
        by_name = {one.remedy.name: one for one in self._candidates}
        return [by_name[gain.name] for gain in self.gains() if gain.verdict == "gains"]

    def _gain(self, one: _Candidate) -> Gain:
        condition = self._condition
        before = student_interval(
            self._base.samples(condition, self._place).values(), self._confidence
        )
        sign = 1.0 if condition.above else -1.0
        change = _times(sign, one.change)
        gain = self._moved(one)
        lines = lines_for(one.remedy, one.changed, self._scenario)
        notes, cost = lines.notes, ""
        if one.costs and one.carried.mean is not None:
            why = ": long transfers do not end any more" if one.starves else ""
            cost = f"{percent(-one.carried.mean)} of the goodput is lost{why}"
            notes = [*notes, cost]
        if one.endless:
            notes = [*notes, "the condition holds nowhere any more"]
        return Gain(
            name=one.remedy.name,
            title=one.remedy.title,
            source=one.remedy.source,
            where=one.remedy.where,
            changes=one.changed.changes,
            verdict=_verdict(one, gain),
            metric=condition.text,
            before=None if before.mean is None else condition.bound + sign * before.mean,
            change=change,
            gain=gain,
            answer=None if one.found is None else one.found.answer,
            apply={tool: tuple(told) for tool, told in lines.by_tool.items()},
            notes=tuple(notes),
            cost=cost,
        )

    def _moved(self, one: _Candidate) -> Interval | None:
        """Tell how far the end moves, paired; in values of the axis, positive where it helps."""
        if one.found is None or one.found.binding is None or self._found.binding is None:
            return None
        before = self._found.crossings[self._found.binding]
        after = one.found.crossings[one.found.binding]
        axis = self._base.axis
        common = sorted(before.parts.keys() & after.parts.keys())
        sign = 1.0 if axis.numbers[-1] > axis.numbers[0] else -1.0
        moved = [
            sign
            * (
                _number(axis, after.at + after.parts[run])
                - _number(axis, before.at + before.parts[run])
            )
            for run in common
        ]
        return student_interval(moved, self._confidence)

    def _say(self, words: str, candidates: Sequence[_Candidate]) -> None:
        if self._tell is None:
            return
        known = [one for one in candidates if one.change.n]
        if known:
            best = sorted((one for one in known if not one.starves), key=lambda one: one.score)
            names = ", ".join(one.remedy.name for one in best[:_SHOWN])
            words = f"{words}; best so far: {names}"
        self._tell(words)


def _number(axis: Axis, place: float) -> float:
    """The value at a place between two indices; beyond the ends on the line of the last two."""
    below = min(max(int(place), 0), len(axis) - 2)
    low, high = axis.numbers[below], axis.numbers[below + 1]
    return low + (place - below) * (high - low)


def _verdict(one: _Candidate, gain: Interval | None) -> Verdict:
    if one.starves:
        return "loses"
    if one.endless:
        return "gains"
    interval = gain if gain is not None else _times(-1.0, one.change)
    if interval.low is None or interval.high is None:
        return "none"
    if interval.low > 0.0:
        return "gains"
    return "loses" if interval.high < 0.0 else "none"


def _order(gain: Gain) -> tuple[int, float, float]:
    rank: Mapping[Verdict, int] = {"gains": 0, "none": 1, "loses": 2}
    moved = 0.0 if gain.gain is None or gain.gain.mean is None else gain.gain.mean
    change = gain.change.mean or 0.0
    better = -abs(change) if gain.verdict == "gains" else abs(change)
    endless = (
        gain.verdict == "gains"
        and gain.gain is None
        and bool(gain.notes)
        and (gain.notes[-1] == "the condition holds nowhere any more")
    )
    return (rank[gain.verdict], float("-inf") if endless else -moved, better)


def _times(factor: float, interval: Interval) -> Interval:
    if interval.mean is None:
        return interval
    ends = [None if end is None else factor * end for end in (interval.low, interval.high)]
    low, high = ends if factor > 0.0 else reversed(ends)
    return Interval(factor * interval.mean, low, high, interval.n)
