"""Which runs decide how far a scenario carries, and what they say.

Knows conditions, an axis, and replications on common random numbers; decides by results alone where
to look next and when it is enough, so that the answer depends on scenario and seed, not on threads
or time. Statistics are those of `crossing`.

First the end is enclosed by pairs of replications, from where models see it or from what the
scenario has, in growing steps. Then four places around it get more replications, in rounds, until
the interval of the end is narrow or the scenario's own number of replications is reached. The two
that are nearest to the end get all of a round and the outer two a third: of a parabola through four
places like these its value in the middle hangs on the inner ones eight times as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from airtcp.exceptions import QuestionError
from airtcp.plan.crossing import Crossing, cross, monotone_crossing
from airtcp.plan.places import Places
from airtcp.results.plans import Answer

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.estimates import Estimate, Steadiness
    from airtcp.plan.axis import Axis
    from airtcp.run.points import Points

#: Replications that enclose the end.
_PILOTS: Final = 2
#: Replications of the first round at the places around it.
FIRST: Final = 5
#: Replications at most where the scenario has a precision instead of a number.
MOST: Final = 40
#: The half width that is asked for, as a part of the value.
TARGET: Final = 0.05
#: With so many replications, or all, a width is taken for what it looks like.
_MANY: Final = 10
#: From this part of the most replications on, a round takes them all.
_NEARLY: Final = 0.75
#: The part of a round that the outer places get, and at least.
_OUTER: Final = 1 / 3
_LEAST_OUTER: Final = 3
#: The reach of the places from the end, as a part of the value.
_WINDOW: Final = 0.15
#: They go further where nothing is sure, up to so many times.
_WIDEST: Final = 5.0
#: The factor of the value by which one goes on to look for the end, but for the first step, which
#: goes as far as the places do.
_GROWTH: Final = 1.5
#: Rounds in which the places may move; each brings more samples, so it ends earlier.
MOVES: Final = 12


@dataclass(frozen=True)
class Found:
    """The end: the last index without a condition, and the interval it lies in for sure.

    `crossings` has the crossing of each condition that has one, by its number.
    """

    answer: Answer
    index: int
    crossings: dict[int, Crossing]

    @property
    def binding(self) -> int | None:
        """The condition that holds first."""
        if not self.crossings:
            return None
        return min(self.crossings, key=lambda number: self.crossings[number].at)


class Search(Places):
    """The search for the end of one scenario. `name` is what its points go by."""

    def __init__(
        self,
        name: str,
        axis: Axis,
        conditions: Sequence[Condition],
        points: Points[tuple[str, int]],
        *,
        warmup_ns: int,
        most: int,
        confidence: float,
        target: float = TARGET,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """Take what there is to search.

        `warmup_ns` is that of all runs, `most` the replications at a place, and `target` the half
        width that is asked for, over the value.
        """
        super().__init__(name, axis, points, warmup_ns=warmup_ns, confidence=confidence, tell=tell)
        self._conditions = list(conditions)
        self.most = max(most, _PILOTS)
        # The end is that of the condition that holds first: all intervals have to be right.
        self._confidence = 1.0 - (1.0 - confidence) / len(self._conditions)
        self._target = target
        self._wider = 1.0
        self._good: int | None = None
        self._bad: int | None = None

    def find(self, start: int) -> Found:
        """The end, from `start` on.

        Raises QuestionError if a condition holds at the first value already, or none at the last;
        KeyboardInterrupt if interrupted: `known` then says what is known.
        """
        self._enclose(start)
        n = min(FIRST, self.most)
        for _ in range(MOVES):
            before = self._count()
            found = self._round(n)
            if found is None:
                # The end is not where it was thought to be: the same again, around it. Where there
                # is nothing new to see there, chance hides it.
                if self._count() == before:
                    if n >= self.most:
                        break
                    n = min(2 * n, self.most)
                continue
            width = self._width(found)
            if width <= self._enough(n):
                return self._looked_at(found, n)
            if math.isinf(width) and n >= min(self.most, 2 * FIRST) and self._wider < _WIDEST:
                # No place is far enough from the end to be sure of, and that not for few runs.
                self._wider *= _GROWTH
            elif n >= self.most:
                return self._looked_at(found, n)
            asked = 2.0 * n if math.isinf(width) else 1.1 * n * width**2
            n = max(min(n + 1, self.most), math.ceil(min(2.0 * n, asked)))
            # A last round for a few more would cost a look and tell little.
            n = self.most if n > _NEARLY * self.most else n
        known = self.known()
        assert known is not None
        return known

    def _count(self) -> int:
        """Count the replications that have ended."""
        return sum(len(self.runs(place)) for place in self.places)

    def _looked_at(self, found: Found, n: int) -> Found:
        """The end by `n` replications at itself as well, if the grid is coarse."""
        if not self._is_coarse(self._span(found.index)) or found.index in self.places:
            return found
        self.simulate({found.index: n})
        return self._found() or found

    def known(self) -> Found | None:
        """Say what can be said of the end by what has ended; None if it is not enclosed."""
        found = self._found()
        if found is not None or self._good is None or self._bad is None:
            return found
        return self._enclosed(self._good)

    # Enclosing.

    def _enclose(self, start: int) -> None:
        here, growth = start, 1.0 + _WINDOW
        while self._good is None or self._bad is None:
            self.simulate({here: _PILOTS})
            if self._beyond(here):
                if here == 0:
                    self.simulate({here: self.most})
                    if self._beyond(here):
                        raise self._error("holds already at", here)
                    self._good = 0
                    here = min(1, len(self.axis) - 1)
                    continue
                self._bad = here
                here = self._step(here, up=False, growth=growth)
            else:
                if here == len(self.axis) - 1:
                    raise self._error("does not hold even at", here)
                self._good = here
                here = self._step(here, up=True, growth=growth)
            growth = _GROWTH

    def _step(self, index: int, *, up: bool, growth: float = _GROWTH) -> int:
        axis = self.axis
        if axis.whole:
            number = axis.numbers[index]
            grows = (axis.numbers[-1] > axis.numbers[0]) == up
            further = number * growth if grows else number / growth
            new = axis.nearest(math.ceil(further) if grows else math.floor(further))
        else:
            jump = max(1, len(axis) // 12)
            new = index + jump if up else index - jump
        new = max(new, index + 1) if up else min(new, index - 1)
        return min(max(new, 0), len(axis) - 1)

    def _beyond(self, place: int) -> bool:
        """Tell whether a condition holds in the mean. Raises QuestionError if it has no value."""
        for condition in self._conditions:
            samples = self.samples(condition, place)
            if not samples:
                if self._never_ends(condition, place):
                    return True
                raise QuestionError(
                    f'--until "{condition.text}": {condition.label} has no value at '
                    f"{self.axis.name(place)}; allowed: a longer run, or a metric that it has"
                )
            if math.fsum(samples.values()) > 0.0:
                return True
        return False

    def _never_ends(self, condition: Condition, place: int) -> bool:
        """Tell whether none of the transfers ended in a run that is longer than the bound."""
        run = self.axis.scenario.run
        return (
            ("transfer_time" in condition.metric or "page_time" in condition.metric)
            and condition.above
            and condition.bound < run.duration_ns / 1e9
            and all(
                (one.answer["metrics"]["active_flows"] or 0.0) > 0.0 for one in self.runs(place)
            )
        )

    def _error(self, what: str, place: int) -> QuestionError:
        told = []
        for one in self._conditions:
            interval = self.estimated(one, place).interval
            if interval.mean is not None:
                told.append(f"{one.label} {quantity_of(one, interval.mean)}")
            elif interval.low is not None:
                told.append(f"{one.label} at least {quantity_of(one, interval.low)}")
        texts = " or ".join(f'"{condition.text}"' for condition in self._conditions)
        hint = (
            "a condition that does not hold there, or another --from"
            if place == 0
            else "a condition that holds somewhere, or another --to"
        )
        # Of transfers that never end there is no mean, nor of such as begin but to be long.
        ended = any(flow["transfers"] for run in self.runs(place) for flow in run.answer["flows"])
        none = "runs are too short to tell" if ended else "no transfer ended"
        seen = ", ".join(told) or none
        return QuestionError(
            f"--until {texts}: {what} {self.axis.name(place)} ({seen}); allowed: {hint}"
        )

    # Deciding.

    def _round(self, n: int) -> Found | None:
        """Give `n` replications to the places around the end, and say what they tell."""
        centre = self._estimate()
        span = self._span(centre)
        wanted = self._design(centre, span, n)
        self.simulate(wanted)
        self._update(list(wanted))
        found = self._found()
        if found is None:
            return None
        moved = abs(self._at(found) - centre)
        return found if moved <= span else None

    def _estimate(self) -> float:
        """Say where the end is thought to be, by all samples."""
        assert self._good is not None
        assert self._bad is not None
        known = self.known()
        if known is not None and known.crossings:
            at = self._at(known)
            if (
                self._good <= at <= self._bad
                or max(map(len, map(self.runs, self.places))) > _PILOTS
            ):
                return at
        ends = []
        for condition in self._conditions:
            means = {
                place: math.fsum(samples.values()) / len(samples)
                for place in self.places
                if (samples := self.samples(condition, place))
            }
            end = monotone_crossing(means)
            if end is not None:
                ends.append(end)
        return min(ends) if ends else (self._good + self._bad) / 2

    def _span(self, centre: float) -> float:
        """Tell how far the places go from the end, in steps of the grid."""
        if self.axis.whole:
            number = abs(self.axis.numbers[self._clipped(centre)])
            return max(1.5, self._wider * _WINDOW * number)
        return max(2.0, self._wider * _WINDOW * len(self.axis) / 4)

    @staticmethod
    def _is_coarse(span: float) -> bool:
        """Tell whether places that go so far from the end are few steps apart."""
        return span < 4.0

    def _design(self, centre: float, span: float, n: int) -> dict[int, int]:
        """Four places around the end with their replications, of which the nearest two get `n`.

        Fewer places where the grid is coarse; old ones if they are near.
        """
        known = set(self.places)
        outer = min(n, max(_LEAST_OUTER, math.ceil(_OUTER * n)))
        found: dict[int, int] = {}
        for part in (-0.35, 0.35, -1.0, 1.0):
            wanted = centre + part * span
            # On a coarse grid what is rounded towards the end would be too near to it.
            outwards = math.floor if part < 0.0 else math.ceil
            place = self._clipped(outwards(wanted) if self._is_coarse(span) else wanted)
            near = [one for one in known - found.keys() if abs(one - wanted) <= span / 3]
            place = min(near, key=lambda one: (abs(one - wanted), one)) if near else place
            found.setdefault(place, n if abs(part) < 1.0 else outer)
        return dict(sorted(found.items()))

    def _update(self, places: Sequence[int]) -> None:
        """Enclose the end by the better samples."""
        verdicts = {place: self._beyond(place) for place in places}
        good = [place for place in places if not verdicts[place]]
        bad = [place for place in places if verdicts[place]]
        if not bad:
            # All is well here: the end is further.
            self._good = max(good)
            if self._bad is None or self._bad <= self._good:
                self._bad = self._search_outwards(self._good, up=True)
        elif not good:
            self._bad = min(bad)
            if self._good is None or self._good >= self._bad:
                self._good = self._search_outwards(self._bad, up=False)
        else:
            self._good, self._bad = min(good), max(bad)

    def _search_outwards(self, here: int, *, up: bool) -> int:
        n = max(len(self.runs(here)), _PILOTS)
        while True:
            if here == (len(self.axis) - 1 if up else 0):
                what = "does not hold even at" if up else "holds already at"
                raise self._error(what, here)
            here = self._step(here, up=up)
            self.simulate({here: n})
            if self._beyond(here) == up:
                return here

    def _found(self) -> Found | None:
        crossings = {}
        for number, condition in enumerate(self._conditions):
            crossing = self._crossing(condition)
            if crossing is not None:
                crossings[number] = crossing
        if not crossings:
            return None
        at = min(one.at for one in crossings.values())
        index = self._clipped(math.floor(at + 1e-9))
        return Found(self._of_crossings(index, crossings), index, crossings)

    def _crossing(self, condition: Condition) -> Crossing | None:
        """The crossing of one condition, by the places that are near it."""
        samples = {place: self.samples(condition, place) for place in self.places}
        samples = {place: runs for place, runs in samples.items() if len(runs) > 1}
        if len(samples) < 2:
            return None
        means = {place: math.fsum(runs.values()) / len(runs) for place, runs in samples.items()}
        rough = monotone_crossing(means)
        if rough is None:
            return None
        span = 1.7 * self._span(rough)
        near = {place: runs for place, runs in samples.items() if abs(place - rough) <= span}
        if len(near) < 2 or monotone_crossing({place: means[place] for place in near}) is None:
            # No curve through what is far away: the nearest on both sides, which enclose it.
            below = max(place for place in samples if place <= rough)
            above = min(place for place in samples if place > rough)
            near = {place: samples[place] for place in (below, above)}
        falls = not condition.above
        return cross(near, self._confidence, bound=condition.bound, falls=falls)

    def _of_crossings(self, index: int, crossings: Mapping[int, Crossing]) -> Answer:
        lows = [one.low for one in crossings.values()]
        highs = [one.high for one in crossings.values() if one.high is not None]
        low = None if None in lows else min(one for one in lows if one is not None)
        high = min(highs) if highs else None
        first = None if low is None else min(self._clipped(math.floor(low)), index)
        last = None if high is None else max(self._clipped(math.floor(high)), index)
        return self._of_indices(index, first, last)

    def _enclosed(self, good: int) -> Found:
        """Say what the enclosure says where no curve can be drawn: nothing for sure."""
        return Found(self._of_indices(good, None, None), good, {})

    def _of_indices(self, index: int, first: int | None, last: int | None) -> Answer:
        axis = self.axis
        low = None if first is None else axis.numbers[first]
        high = None if last is None else axis.numbers[last]
        if axis.numbers[-1] < axis.numbers[0]:
            low, high = high, low
        return Answer(axis.path, axis.numbers[index], low, high, axis.unit, self._level)

    def as_known(self, found: Found) -> tuple[Answer, Steadiness | None]:
        """Tell the end as it is known by runs that may drift, and why it is known no better.

        Where a mean may be off, the end may be by as many places as the metric takes to grow so
        far. Where runs before the end only bound a metric on the side that is well, a condition may
        hold there already: how far it surely carries is not known. Beyond the end a bound tells as
        much as a mean.
        """
        before = [place for place in self.places if found.crossings and place <= self._at(found)]
        if not before:
            return found.answer, None
        wider, why, is_bounded = {}, None, True
        for number, crossing in found.crossings.items():
            condition = self._conditions[number]
            told = self.estimated(condition, before[-1])
            doubt = self._doubt(told, self.by_chance(condition, before[-1]))
            wider[number] = crossing.widened(doubt, condition.bound)
            if told.steadiness.state == "unsteady":
                why = why or told.steadiness
                if (told.interval.high if condition.above else told.interval.low) is None:
                    why, is_bounded = told.steadiness, False
        answer = (
            self._of_crossings(found.index, wider) if wider != found.crossings else found.answer
        )
        if not is_bounded:
            falls = self.axis.numbers[-1] < self.axis.numbers[0]
            answer = replace(answer, high=None) if falls else replace(answer, low=None)
        return answer, why if not is_bounded or answer != found.answer else None

    @staticmethod
    def _doubt(told: Estimate, by_chance: Estimate) -> float:
        """Say by how much a mean may be off, beyond chance."""
        known, chance = (one.interval.half_width or 0.0 for one in (told, by_chance))
        return math.sqrt(max(0.0, known * known - chance * chance))

    def _at(self, found: Found) -> float:
        return min(one.at for one in found.crossings.values())

    def asked(self, found: Found) -> float:
        """The half width that is asked for, in values of the axis, and a step of whole ones."""
        return max(self._target * abs(found.answer.value), 1.0 if self.axis.whole else 0.0)

    def _width(self, found: Found) -> float:
        """The half width that there is over the one that is asked for; 1 or less is enough."""
        answer = found.answer
        if answer.low is None or answer.high is None:
            return math.inf
        return (answer.high - answer.low) / 2 / self.asked(found)

    def _enough(self, n: int) -> float:
        """The width that is enough: few samples of what is skewed look narrower than they are."""
        return min(1.0, n / min(self.most, _MANY))

    def _clipped(self, place: float) -> int:
        return min(max(round(place), 0), len(self.axis) - 1)


def quantity_of(condition: Condition, value: float) -> str:
    """A value of the metric of a condition, for people."""
    from airtcp.amounts import quantity

    return quantity(value, condition.about.read_in, 3)
