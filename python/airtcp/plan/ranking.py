"""Which remedies carry a scenario further, tried on the same random numbers.

Knows remedies as scenarios, and in which order they get runs. First all are tried where the end is,
just beyond it, with one replication; those that may still win get more, and so on
(`trial`, `halving`). For the best of those that are left the end itself is sought, near where it is
thought to be (`Search`, beside another). All differences are paired with the scenario as it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from airtcp.advice.effects import effects, gathered, newly_unhappy
from airtcp.advice.problems import PROBLEMS, findings
from airtcp.advice.reading import Reading
from airtcp.amounts import percent
from airtcp.exceptions import QuestionError
from airtcp.plan.axis import STATIONS
from airtcp.plan.beside import Other
from airtcp.plan.search import Found, Search
from airtcp.plan.trial import OWN, Candidate, Trial
from airtcp.remedies import (
    Changed,
    Remedy,
    as_written,
    catalogue,
    changed,
    meet,
    named,
    together,
)
from airtcp.remedies.apply import lines_for
from airtcp.results.advice import Goal
from airtcp.results.plans import Gain, Verdict
from airtcp.run.points import TimeIsOver
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.plan.axis import Axis
    from airtcp.results import Provenance, SimulationResult
    from airtcp.results.advice import Effect, Finding

#: Remedies that are not dropped for being behind the best.
_KEPT: Final = 3
#: Remedies of which the end is sought at most; and if ends lie much further than was thought.
_SOUGHT: Final = 3
_SOUGHT_FURTHER: Final = 5
#: Remedies that are named on the way.
_SHOWN: Final = 3
#: A change of the metric by a smaller part of it is no gain.
_LITTLE: Final = 0.1
#: A first guess of an end goes so far at most, over the value as it was.
_FURTHEST: Final = 2.0

#: A search of a name along an axis beside the scenario as it was.
SearchOf = Callable[[str, "Axis", Other], Search]


class Ranking:
    """The remedies of a scenario whose end has been found; `gains` are what is known so far."""

    def __init__(
        self,
        base: Search,
        found: Found,
        conditions: Sequence[Condition],
        search_of: SearchOf,
        *,
        confidence: float,
        provenance: Provenance,
        tell: Callable[[str], None] | None,
    ) -> None:
        self.limits: tuple[Finding, ...] = ()
        self.left_out: dict[str, str] = {}
        self._base = base
        self._found = found
        self._condition = conditions[found.binding or 0]
        self._search_of = search_of
        self._confidence = confidence
        self._provenance = provenance
        self._tell = tell
        self._trial = Trial(base, found, self._condition, confidence)
        self._both: Candidate | None = None
        self._scenario = named(base.axis.scenario)
        self._before: SimulationResult | None = None
        #: The problem that each remedy is against, by the remedy's name.
        self._against: dict[str, str] = {}

    @property
    def place(self) -> int:
        """The index at which all remedies are tried."""
        return self._trial.place

    def run(self, remedies: Sequence[Remedy], *, more: bool) -> None:
        """Try the remedies; `more`: also those against the problems that are found at the end.

        KeyboardInterrupt if interrupted: `gains` has what is known.
        """
        self._before = self._result(self._base)
        self.limits = tuple(findings(self._before))
        against = {
            name: one.title
            for one in reversed(self.limits)
            for name in PROBLEMS[one.problem].remedies
        }
        self._against = against
        also = [one for one in catalogue() if more and one.name in against and one not in remedies]
        for remedy in [*also, *remedies]:
            new = changed(self._scenario, remedy)
            if not isinstance(new, str) and self._varies(new):
                new = "it changes what is varied"
            if isinstance(new, str):
                self.left_out[remedy.name] = new
            else:
                self._trial.candidates.append(self._candidate(remedy, new))
        self._trial.halve(
            _KEPT, lambda left, n: self._say(f"{len(left)} remedies, {n} replications each")
        )
        helpful = self._in_order(self._trial.helps)
        left = [one for one in helpful if not one.dropped]
        contenders = [one for one in left if not one.remedy.research][:_SOUGHT]
        if not contenders:
            # Somebody can buy the best of the others, however far behind it is.
            contenders = [*helpful[:1], *(one for one in left[:_SOUGHT] if one is not helpful[0])]
        for one in contenders:
            self._seek(one, self._start([one]))
        if any(map(self._is_beyond_guess, contenders)):
            # A metric is near the best it can be where an end lies much further than the slope
            # says, and its value at the old end says little of how far a remedy carries: those that
            # are not behind by much there may be the best.
            alike = self._in_order(lambda one: not self._trial.starves(one))[:_SOUGHT_FURTHER]
            self._say(f"{len(alike)} remedies that are nearly alike, {OWN} replications each")
            self._trial.simulate(alike, min(OWN, self._trial.most))
            for one in alike:
                if one not in contenders and self._trial.helps(one):
                    self._seek(one, self._start([one]))
        self._two_at_once()

    def gains(self) -> list[Gain]:
        """The remedies that were tried, the best first."""
        order = sorted((self._gain(one) for one in self._tried if one.change.n), key=_order)
        return _named_first(order)

    def both(self) -> Gain | None:
        """The best two at once."""
        return None if self._both is None or not self._both.change.n else self._gain(self._both)

    def _in_order(self, wanted: Callable[[Candidate], bool]) -> list[Candidate]:
        """The remedies that are wanted, the best first, and ideas of research last."""
        found = filter(wanted, self._tried)
        return sorted(found, key=lambda one: (one.remedy.research, one.score))

    @property
    def _tried(self) -> list[Candidate]:
        return [one for one in self._trial.candidates if one is not self._both]

    def _candidate(self, remedy: Remedy, new: Changed) -> Candidate:
        def half_width(found: Found) -> float:
            moved = self._moved(found)
            return math.inf if moved is None or moved.half_width is None else moved.half_width

        crossing = self._trial.crossing
        slope = crossing.slope if crossing is not None and crossing.ratios else None
        most = self._base.most if crossing is None else len(crossing.parts)
        other = Other(self.place, slope, half_width, most)
        search = self._search_of(remedy.name, self._base.axis.of(new.scenario), other)
        return Candidate(remedy, new, search)

    def _seek(self, one: Candidate, start: int) -> None:
        self._say(f"how far it goes with {one.remedy.title}")
        try:
            one.found = one.search.find(start)
        except QuestionError:
            one.endless = True
        except (KeyboardInterrupt, TimeIsOver):
            one.found = one.search.known()
            raise
        finally:
            self._trial.judge()

    def _start(self, candidates: Sequence[Candidate]) -> int:
        """Guess the end with remedies at once: as much further as each of them moves it."""
        crossing = self._trial.crossing
        if crossing is None:
            return self.place
        further = 0.0
        for one in candidates:
            ends = [] if one.found is None else [each.at for each in one.found.crossings.values()]
            further += min(ends) - crossing.at if ends else self._trial.further(one)
        at = crossing.at + min(further, _FURTHEST * self._found.index)
        return min(max(math.ceil(at), self.place), len(self._base.axis) - 1)

    def _is_beyond_guess(self, one: Candidate) -> bool:
        """Tell whether an end lies more than twice as far as it was thought to, if it is known."""
        if one.found is None or one.found.binding is None or self._trial.crossing is None:
            return one.endless
        moved = one.found.crossings[one.found.binding].at - self._trial.crossing.at
        return moved > 2.0 * max(self._trial.further(one), 1.0)

    def _two_at_once(self) -> None:
        best = self._ranked()
        for other in range(1, len(best)):
            for one in range(other):
                two = best[one], best[other]
                pair = [each.remedy for each in two]
                new = together(self._scenario, pair)
                if isinstance(new, str):
                    continue
                remedy = replace(
                    pair[0],
                    name=" + ".join(each.name for each in pair),
                    title=" and ".join(each.title for each in pair),
                    source="; ".join(each.source for each in pair),
                    where=tuple(dict.fromkeys([*pair[0].where, *pair[1].where])),
                    research=any(each.research for each in pair),
                    apply="",
                    notes=(),
                )
                self._both = self._candidate(remedy, new)
                self._trial.candidates.append(self._both)
                self._say("the best two at once")
                self._trial.simulate([self._both], self._trial.first)
                self._seek(self._both, self._start(two))
                return

    def _ranked(self) -> list[Candidate]:
        """The remedies that gain, of those whose end was sought, the best first."""
        by_name = {
            one.remedy.name: one for one in self._tried if one.found is not None or one.endless
        }
        gains = _named_first(sorted(map(self._gain, by_name.values()), key=_order))
        return [
            by_name[gain.name] for gain in gains if gain.verdict == "gains" and not gain.research
        ]

    def _gain(self, one: Candidate) -> Gain:
        condition = self._condition
        sign = 1.0 if condition.above else -1.0
        gain = None if one.found is None else self._moved(one.found)
        lines = lines_for(one.remedy, one.changed, self._scenario)
        notes, cost = lines.notes, ""
        starves = self._trial.starves(one)
        if one.costs and one.carried.mean is not None:
            why = ": long transfers do not end any more" if starves else ""
            cost = f"{percent(-one.carried.mean)} of the goodput is lost{why}"
            notes = [*notes, cost]
        wins, loses, hurts = self._others(one)
        verdict = "loses" if starves else self._verdict(one, gain)
        return Gain(
            name=one.remedy.name,
            title=one.remedy.title,
            source=one.remedy.source,
            where=one.remedy.where,
            changes=as_written(self._base.axis.scenario, self._scenario, one.changed.changes),
            verdict="costs others" if verdict == "gains" and hurts else verdict,
            metric=condition.text,
            before=self._trial.before(),
            change=_times(sign, one.change),
            gain=gain,
            answer=None if one.found is None else one.found.answer,
            apply={tool: tuple(told) for tool, told in lines.by_tool.items()},
            notes=tuple(notes),
            cost=cost,
            research=one.remedy.research,
            problem=self._against.get(one.remedy.name, ""),
            endless=one.endless,
            wins=wins,
            loses=loses,
            hurts=hurts,
        )

    def _result(self, search: Search) -> SimulationResult:
        """The replications at the place as a result."""
        scenario = search.scenario(self.place)
        runs = search.runs(self.place)
        return gathered(scenario, self._provenance, runs, confidence=self._confidence)

    def _others(
        self, one: Candidate
    ) -> tuple[tuple[Effect, ...], tuple[Effect, ...], tuple[str, ...]]:
        """Tell who else wins and loses at the place, and who is badly served with it alone."""
        own, after = self._base.runs(self.place), one.search.runs(self.place)
        if self._before is None or not after:
            return (), (), ()
        asked = self._condition
        goal = None if asked.group is None else Goal(asked.metric, asked.group, asked.part)
        wins, loses, _ = effects(Reading(self._before), own, after, goal)
        return wins, loses, tuple(newly_unhappy(self._before, self._result(one.search)))

    def _varies(self, new: Changed) -> bool:
        """Tell whether a remedy changes the axis itself."""
        path, groups = self._base.axis.path, self._scenario.stations
        varied = [f"stations.{one.name}.count" for one in groups] if path == STATIONS else [path]
        return any(meet(one, key) for one in varied for key in new.changes)

    def _verdict(self, one: Candidate, gain: Interval | None) -> Verdict:
        """Judge by how far the end moves; if that is not sure, by what changes where it was."""
        if one.endless:
            return "gains"
        for interval in (gain, _times(-1.0, one.change)):
            if interval is None or interval.low is None or interval.high is None:
                continue
            if interval.low > 0.0:
                return "gains"
            if interval.high < 0.0:
                return "loses"
        if gain is not None and gain.high is not None:
            return "none" if gain.high <= self._base.asked(self._found) else "cannot tell"
        before, least = self._trial.before(), one.change.low
        if before and least is not None and -least <= _LITTLE * abs(before):
            return "none"
        return "behind" if one.dropped else "cannot tell"

    def _moved(self, found: Found) -> Interval | None:
        """Tell how far the end moves, paired; in values of the axis, positive where it helps."""
        if found.binding is None or self._trial.crossing is None:
            return None
        before, after = self._trial.crossing, found.crossings[found.binding]
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

    def _say(self, words: str) -> None:
        if self._tell is None:
            return
        known = [one for one in self._tried if one.change.n and not self._trial.starves(one)]
        if known:
            best = sorted(known, key=lambda one: (one.dropped, one.score))
            words += f"; best so far: {', '.join(one.remedy.name for one in best[:_SHOWN])}"
        self._tell(words)


def _number(axis: Axis, place: float) -> float:
    """The value at a place between two indices; beyond the ends on the line of the last two."""
    below = min(max(int(place), 0), len(axis) - 2)
    low, high = axis.numbers[below], axis.numbers[below + 1]
    return low + (place - below) * (high - low)


def _order(gain: Gain) -> tuple[bool, int, float, float]:
    rank: Mapping[Verdict, int] = {
        "gains": 0,
        "costs others": 1,
        "cannot tell": 2,
        "none": 3,
        "behind": 4,
        "loses": 5,
    }
    moved = 0.0 if gain.gain is None or gain.gain.mean is None else gain.gain.mean
    change = gain.change.mean or 0.0
    better = -abs(change) if rank[gain.verdict] < 2 else abs(change)
    moved = math.inf if gain.endless else moved
    return (gain.research, rank[gain.verdict], -moved, better)


def _named_first(order: Sequence[Gain]) -> list[Gain]:
    """Put remedies against a problem that was found before others that go no further for sure."""
    lead = order[0] if order else None
    if lead is None or lead.verdict != "gains" or lead.gain is None or lead.gain.low is None:
        return list(order)
    least = lead.gain.low
    alike = [
        one
        for one in order
        if one.verdict == lead.verdict
        and one.research == lead.research
        and one.gain is not None
        and one.gain.high is not None
        and one.gain.high >= least
    ]
    first = [one for one in alike if one.problem]
    return [*first, *(one for one in order if one not in first)]


def _times(factor: float, interval: Interval) -> Interval:
    if interval.mean is None:
        return interval
    ends = [None if end is None else factor * end for end in (interval.low, interval.high)]
    low, high = ends if factor > 0.0 else reversed(ends)
    return Interval(factor * interval.mean, low, high, interval.n)
