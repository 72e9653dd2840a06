"""The changes that raise a capacity.

Candidates compete just beyond the capacity (`airtcp.judge.race`). The capacity is searched again
with each of the best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from airtcp.conditions import Condition, parse_condition
from airtcp.judge.candidates import COSTS, EASY, Candidate, singles
from airtcp.judge.race import Race, cost
from airtcp.judge.recommend import effects_of, lines_of
from airtcp.phrases import phrase
from airtcp.plan.axis import STATIONS
from airtcp.plan.search import Found, Search
from airtcp.remedies import as_written, meet, named, together
from airtcp.results.plans import Answer, Gain
from airtcp.results.plans import Verdict as Word
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.plan.axis import Axis
    from airtcp.scenario import Scenario

#: The changes compete at these multiples of the capacity. The value is the number of easy changes
#: whose capacity is searched after the competition. At twice the capacity even short runs show
#: which changes gain most; closer to it, the short runs of the office example have no losses and
#: complete no page. A change with a small gain helps only close to the capacity.
_BEYOND: Final = {2.0: 3, 1.25: 1}
#: The work of the competition, in the core's counts: about two seconds of CPU time.
_BUDGET: Final = 2e7
#: This part of the best gain is about as much.
_AS_MUCH: Final = 0.9
#: A smaller relative gain counts as none.
_LITTLE: Final = 0.03


def target_of(condition: Condition) -> Condition:
    """Return the target that is missed when a stop condition holds."""
    old, new = (">", "<") if condition.above else ("<", ">")
    return replace(condition, text=condition.text.replace(old, new, 1), above=not condition.above)


def is_refused(search: Search, asked: Sequence[str]) -> bool:
    """Whether a condition of `until` holds at every value."""
    return any(target_of(parse_condition(text)).text in search.never for text in asked)


@dataclass(frozen=True)
class _Arena:
    """The index of a value of the axis, and the race of the changes there."""

    index: int
    scenario: Scenario
    race: Race


@dataclass
class _Sought:
    candidate: Candidate
    arena: _Arena
    search: Search
    found: Found | None = None
    endless: bool = False


class Changes:
    """The changes of a scenario whose capacity was searched.

    `found` is None if no value meets a target, or one of `asked`.
    """

    def __init__(
        self,
        base: Search,
        found: Found | None,
        settings: dict[str, Any],
        names: frozenset[str],
        asked: Sequence[str],
    ) -> None:
        self.left_out: dict[str, str] = {}
        self.tried = 0
        self._base, self._found, self._settings = base, found, settings
        self._names, self._asked = names, asked
        self._named = named(base.axis.scenario)
        self._sought: list[_Sought] = []

    def _candidates(self, scenario: Scenario) -> list[Candidate]:
        """Return the changes of a scenario that may compete, and remember why others may not."""
        every, unfit = singles(scenario)
        self.left_out = {name: why for name, why in unfit.items() if name in self._names}
        candidates = []
        for one in every:
            if one.name not in self._names:
                continue
            if self._varies(one):
                self.left_out[one.name] = phrase("plan.remedies.changes_varied")
            elif one.cost != "usage":
                candidates.append(one)
        return candidates

    @staticmethod
    def _beyond(axis: Axis, index: int, times: float) -> int:
        if axis.whole:
            number = axis.numbers[index] * times
            here = axis.nearest(math.ceil(number))
        else:
            here = index + max(1, len(axis) // 20)
        return min(max(here, index + 1), len(axis) - 1)

    def run(self, start: int) -> None:
        """Let the changes compete, and search the capacity with the best.

        They compete beyond the capacity, or at `start` if some target is missed at every value.
        Raises as `Search.find`.
        """
        axis, found = self._base.axis, self._found
        places = {start: max(_BEYOND.values())}
        if found is not None and not self._base.never:
            places = {}
            for times, most in _BEYOND.items():
                places.setdefault(self._beyond(axis, found.index, times), most)
        contenders: list[tuple[Candidate, _Arena]] = []
        for index, most in places.items():
            arena = self._compete(index)
            new = self._contenders(arena.race, [one for one, _ in contenders], most)
            contenders += [(one, arena) for one in new]
        for one, arena in contenders:
            changed = self._with(one)
            if isinstance(changed, str):
                self.left_out[one.name] = changed
                continue
            along = Search(one.name, axis.of(changed), **self._settings)
            along.never_known = not self._base.never
            mine = _Sought(one, arena, along)
            self._sought.append(mine)
            mine.found = along.find(arena.index, rough=True)
            open_ended = mine.found is not None and mine.found.answer.high is None
            mine.endless = open_ended and not along.never
        ends = [one for one in self._sought if one.found is not None and not one.endless]
        easy = [one for one in ends if one.candidate.cost in EASY]
        # The best change is confirmed, and so is one that costs somebody half of their goodput.
        # Once confirmed, a change may no longer be the best.
        for costly in (False, True):
            alike = [one for one in easy if one.arena.race.halves(one.candidate) == costly]
            confirmed: list[_Sought] = []
            while alike:
                best = min(alike, key=lambda one: (len(one.search.never), -self._moved(one)))
                if any(best is one for one in confirmed):
                    break
                best.search.confirm()
                best.found = best.search.known()
                confirmed.append(best)

    def _compete(self, index: int) -> _Arena:
        """Race the changes at a value of the axis."""
        search = self._base
        scenario = named(search.axis.at(index)).with_run(warmup_ns=search.warmup_ns)
        candidates = self._candidates(scenario)
        search.simulate([index])
        place = search.places[index]
        runs = search.points.ended(("", index, place.longer))
        run = scenario.run
        length_s = ((run.warmup_ns or 0) + place.longer * run.duration_ns) / 1e9
        rate = max(sum(map(cost, runs)) / len(runs) / length_s, 1.0)
        race = Race(
            scenario,
            search.provenance,
            search.points,
            _BUDGET,
            rate,
            search.confidence,
            whole=False,
            targets=search.targets,
            place=f"at {index}, ",
        )
        self.tried = len(candidates)
        race.run_to_end(candidates)
        return _Arena(index, scenario, race)

    def _moved(self, one: _Sought) -> float:
        """Return how much a change raises the capacity, in values of the axis."""
        if one.found is None:
            return -math.inf
        numbers = self._base.axis.numbers
        sign = 1.0 if numbers[-1] > numbers[0] else -1.0
        return sign * (one.found.answer.value - self._before)

    @property
    def _before(self) -> float:
        """The capacity without a change: none if no value meets a target."""
        if self._found is not None:
            return self._found.answer.value
        return 0.0 if self._base.axis.whole else self._base.axis.numbers[0]

    @staticmethod
    def _contenders(race: Race, have: Sequence[Candidate], most: int) -> list[Candidate]:
        """Return the changes whose capacity is searched next, the best first.

        `have` are those that are searched already. The new ones are at most `most` settings or
        wider channels, the best hardware if `have` has none, and, in the first competition, the
        best setting by which a group loses half of its goodput. Of changes that miss about as few
        targets, single ones come before pairs: their capacities differ by more.
        """
        names = {one.name for one in have}
        better = [one for one in race.ranked() if race.improves(one) and one.name not in names]
        costly = [one for one in better if race.halves(one) and one.cost == "setting"]
        known = [one for one in better if not race.halves(one)]
        known.sort(key=lambda one: (race.misses(one) // 2, len(one.remedies)))
        easy: list[Candidate] = []
        for one in known:
            if one.cost in EASY and not any(each.is_part_of(one) for each in [*have, *easy]):
                easy.append(one)
        rest = [one for one in known if one.cost == "hardware"]
        if have:
            costly = []
            if any(one.cost == "hardware" for one in have):
                rest = []
        return [*easy[:most], *rest[:1], *costly[:1]]

    def _with(self, one: Candidate) -> Scenario | str:
        """Return the scenario of the axis with a change, or the reason why it is invalid."""
        new = together(self._named, one.remedies)
        if isinstance(new, str):
            return new
        if new.scenario.hash() == self._named.hash():
            return phrase("plan.remedies.no_effect")
        return new.scenario

    def _varies(self, one: Candidate) -> bool:
        """Whether a change affects the varied key itself."""
        path, groups = self._base.axis.path, self._named.stations
        varied = [f"stations.{each.name}.count" for each in groups] if path == STATIONS else [path]
        return any(meet(each, key) for each in varied for key in one.changes)

    def gains(self) -> list[Gain]:
        """Return the changes with their capacity: first the one that supports most.

        A setting comes before one that uses more spectrum if it supports about as much.
        """
        gains = {one.candidate.name: self._gain(one) for one in self._sought}

        def state(one: _Sought) -> tuple[bool, int, bool]:
            gain = gains[one.candidate.name]
            return gain.verdict != "gains", len(gain.never), not gain.endless

        left = sorted(self._sought, key=lambda one: (state(one), -self._moved(one)))
        found = []
        while left:
            first = left[0]
            enough = _AS_MUCH * self._moved(first)
            alike = [one for one in left if state(one) == state(first)]
            alike = [one for one in alike if one is first or self._moved(one) >= enough]
            found.append(min(alike, key=lambda one: COSTS.index(one.candidate.cost)))
            left.remove(found[-1])
        return _sure([gains[one.candidate.name] for one in found], len(self._base.never))

    def _gain(self, one: _Sought) -> Gain:
        axis, before = self._base.axis, self._found
        moved = Interval(None, None, None, 0)
        if one.found is not None:
            after = one.found.answer
            mean = self._moved(one)
            half = math.hypot(_half(None if before is None else before.answer), _half(after))
            moved = Interval(mean, mean - half, mean + half, 2)
        least = max(1.0 if axis.whole else 0.0, _LITTLE * abs(self._before))
        word: Word = "none"
        more = len(self._base.never) - len(one.search.never)
        if more < 0 or one.found is None or is_refused(one.search, self._asked):
            pass
        elif more > 0 or one.endless or (moved.mean is not None and moved.mean >= least):
            word = "costs others" if one.arena.race.halves(one.candidate) else "gains"
        elif moved.mean is not None and moved.mean <= -least:
            word = "loses"
        candidate = one.candidate
        base, now = one.arena.race.change(candidate)
        wins, loses = effects_of(base, now)
        lines, notes = lines_of(candidate, one.arena.scenario)
        return Gain(
            name=candidate.name,
            title=candidate.title,
            source=candidate.source,
            where=candidate.where,
            cost=candidate.cost,
            changes=as_written(axis.scenario, self._named, candidate.changes),
            verdict=word,
            gain=moved,
            answer=None if one.found is None or one.endless else one.found.answer,
            limits=() if one.found is None else one.found.limits,
            apply=lines,
            notes=notes,
            endless=one.endless,
            never=one.search.never,
            wins=wins,
            loses=loses,
        )


def _sure(gains: Sequence[Gain], never: int) -> list[Gain]:
    """Return the gains; if one is certain, the verdict on uncertain ones becomes "none".

    A gain is certain if its interval is above 0, if no limit was found, or if the change meets a
    target that the network without it misses at every value. `never` is the number of these.
    """

    def is_unsure(one: Gain) -> bool:
        is_above = one.gain.low is not None and one.gain.low > 0.0
        return one.verdict == "gains" and not (is_above or one.endless or len(one.never) < never)

    if not any(one.verdict == "gains" and not is_unsure(one) for one in gains):
        return list(gains)
    return [replace(one, verdict="none") if is_unsure(one) else one for one in gains]


def _half(answer: Answer | None) -> float:
    """Return half the width of an answer's interval.

    Without an upper end it is the distance of the lower end, and 0 without an interval.
    """
    if answer is None or answer.low is None:
        return 0.0
    if answer.high is None:
        return answer.value - answer.low
    return (answer.high - answer.low) / 2.0
