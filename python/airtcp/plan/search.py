"""Search for the capacity of one scenario along an axis: where a target is first missed.

Replications at different values use common random numbers, and each value has the outcome of all
targets (`airtcp.judge.outcome`). First, single replications in growing steps bracket the end. The
bracket is then narrowed where the worst ratio of a value to its bound crosses one. Finally the
values next to the end are simulated for longer, and a line through the logarithms of ratio and
value gives the end with its interval. The result depends only on scenario and seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from airtcp.judge.outcome import NOTHING, Outcome, TargetOutcome, gathered, outcome
from airtcp.judge.race import cost
from airtcp.results.plans import Answer, Limit
from airtcp.stats import student_quantile

if TYPE_CHECKING:
    from airtcp.plan.axis import Axis
    from airtcp.results import Provenance
    from airtcp.results.verdict import Target
    from airtcp.run.points import Points
    from airtcp.scenario import Scenario

#: The growth factor of the value while searching outwards. If some targets are missed at every
#: value, the others are followed up to `_OTHERS` times the start.
_GROWTH: Final = 1.5
_OTHERS: Final = 4.0
#: The bracket is narrow enough if its two sides are this close, relatively or in steps.
_NEAR: Final = 0.06
#: The places around the end to simulate for longer, relative to it, and the factor of the length.
_AROUND: Final = (0.93, 1.0, 1.1)
_LONGER: Final = 2.5
#: The end is known if the upper end of its interval is within this factor of the lower one. Until
#: then the runs around it double in length, within this work of a search: about six seconds. The
#: places may move with the end `_MOVES` times for each length, and no run is longer than `_LONGEST`
#: times the file's.
_KNOWN: Final = 1.3
_MOVES: Final = 8
_LONGEST: Final = 20.0
_MOST: Final = 8e7
#: The standard errors that a value is from its bound if it is surely on this side.
_SURE: Final = 2.0
#: The regression line uses places within this factor of the end.
_WINDOW: Final = 1.5
#: A larger ratio says little about the crossing of the bound.
_FAR: Final = math.log(NOTHING)
#: Its exponential is finite.
_LARGEST_EXPONENT: Final = 700.0


@dataclass
class Place:
    """A simulated value of the axis: its replications, their length, and the outcome."""

    index: int
    replications: int
    longer: float
    outcome: Outcome


@dataclass
class Found:
    """The end: the last index that meets every target, and the targets missed beyond it."""

    answer: Answer
    index: int
    limits: tuple[Limit, ...] = ()


@dataclass
class Search:
    """The search along `axis`. `name` is the prefix of its keys in `points`.

    `fixed` says that the file gives the run length.
    """

    name: str
    axis: Axis
    targets: Sequence[Target]
    points: Points[Any]
    provenance: Provenance
    warmup_ns: int
    replications: int
    confidence: float
    fixed: bool = True
    tell: Callable[[str], None] | None = None
    places: dict[int, Place] = field(default_factory=dict)
    #: The targets that are missed at every value; `never_known` means that they are given.
    never: tuple[str, ...] = ()
    never_known: bool = False
    spent: float = 0.0

    def find(self, start: int, *, rough: bool = False) -> Found | None:
        """Return the end, searching from `start`; None if even the smallest value meets no target.

        A `rough` end is not confirmed by longer runs. Raises KeyboardInterrupt or TimeIsOver;
        `known` then returns what is known.
        """
        if not self.never_known:
            self.simulate([0], longer=_LONGER)
            self._leave_out()
        self._bracket(max(start, 1))
        if not rough:
            self.confirm()
        return self.known()

    def known(self) -> Found | None:
        """Return the end as known from the completed runs.

        None if it is not bracketed, or if even the smallest value meets no target.
        """
        good, bad = self._good, self._bad
        if good is None or self._is_hopeless:
            return None
        axis = self.axis
        if bad is None:
            value = axis.numbers[good]
            return Found(Answer(axis.path, value, value, None, axis.unit, self.confidence), good)
        at, low, high = self._crossing(good, bad)
        index = min(max(math.floor(at + 1e-9), 0), len(axis) - 1)
        first, last = (
            min(max(math.floor(one + 1e-9), 0), len(axis) - 1)
            for one in (min(low, at), max(high, at))
        )
        ends = sorted(axis.numbers[one] for one in (first, last))
        answer = Answer(
            axis.path, axis.numbers[index], ends[0], ends[1], axis.unit, self.confidence
        )
        return Found(answer, index, self._limits(index))

    def steadiness(self, index: int) -> dict[str, Any] | None:
        """Return why the runs at an index are too short, as in results; None if they are not."""
        place = self.places[index]
        scenario = self._of_length(index, place.longer)
        runs = self.points.ended((self.name, index, place.longer))
        found = gathered(scenario, self.provenance, runs, confidence=self.confidence)
        return replace(found.simulation, scenario=scenario).steadiness

    def outcome(self, index: int) -> Outcome:
        """Return the outcome at a simulated index."""
        return self.places[index].outcome

    def worst(self, index: int) -> float:
        """Return the logarithm of the worst ratio of the targets that bound the end.

        The smallest value, if not simulated, meets all targets that were not left out.
        """
        if index not in self.places:
            return -_FAR
        return max(map(_log_ratio, self._bounding(self.outcome(index))), default=-_FAR)

    # Choosing values to simulate.

    @property
    def _good(self) -> int | None:
        """The largest index below every index that misses a target."""
        bad = self._bad
        good = [one for one in self.places if self.worst(one) <= 0.0 and (bad is None or one < bad)]
        # Targets missed at the smallest value were left out; all others are met there.
        return max(good, default=0 if 0 in self.places or self.never_known else None)

    @property
    def _bad(self) -> int | None:
        """The smallest index at which a target is missed, above the last good one.

        If a larger index meets all targets again, the longer run decides.
        """
        missed = sorted(one for one in self.places if self.worst(one) > 0.0)
        sure = [one for one in missed if self._is_sure(one)]
        return min(sure, default=None)

    def _is_sure(self, index: int) -> bool:
        """Whether no larger index with a longer simulation meets all targets."""
        mine = self.places[index]
        return not any(
            one.index > index
            and self.worst(one.index) <= 0.0
            and one.longer * one.replications > mine.longer * mine.replications
            for one in self.places.values()
        )

    def _leave_out(self) -> bool:
        """Leave out targets that are missed even at the smallest value; True if they are new."""
        before = self.never
        self.never = tuple(one.text for one in self.outcome(0).targets if _log_ratio(one) > 0.0)
        return self.never != before

    @property
    def _is_hopeless(self) -> bool:
        return len(self.never) == len(self.targets)

    def _bracket(self, start: int) -> None:
        """Simulate from `start` on until both sides of the end are close."""
        self._enclose(start)
        self._narrow()

    def _enclose(self, start: int) -> None:
        """Search outwards in growing steps until the end is bracketed, or the axis ends."""
        here = min(start, len(self.axis) - 1)
        while not self._is_hopeless:
            self.simulate([here])
            good, bad = self._good, self._bad
            if bad is None:
                if here == len(self.axis) - 1 or (self.never and self._is_far(here, start)):
                    return
                here = self._step(max(self.places), up=True)
            elif good is None or good == 0:
                lowest = min((one for one in self.places if one > 0), default=bad)
                if lowest <= 1:
                    return
                here = max(self._step(lowest, up=False), 1)
            else:
                return

    def _is_far(self, here: int, start: int) -> bool:
        """Whether a number of stations is far beyond the start."""
        numbers = self.axis.numbers
        return self.axis.whole and numbers[here] >= _OTHERS * numbers[start]

    def _step(self, index: int, *, up: bool) -> int:
        axis = self.axis
        if axis.whole:
            number = axis.numbers[index]
            grows = (axis.numbers[-1] > axis.numbers[0]) == up
            further = number * _GROWTH if grows else number / _GROWTH
            new = axis.nearest(math.ceil(further) if grows else math.floor(further))
        else:
            jump = max(1, len(axis) // 12)
            new = index + jump if up else index - jump
        new = max(new, index + 1) if up else min(new, index - 1)
        return min(max(new, 0), len(axis) - 1)

    def _narrow(self) -> None:
        """Simulate where the worst ratio should be one, until both sides are close."""
        for _ in range(24):
            good, bad = self._good, self._bad
            if good is None or bad is None or bad - good <= self._apart(good):
                return
            low, high = self.worst(good), self.worst(bad)
            part = -low / (high - low) if high > low else 0.5
            here = round(good + min(max(part, 0.2), 0.8) * (bad - good))
            here = min(max(here, good + 1), bad - 1)
            self.simulate([here])

    def _apart(self, index: int) -> int:
        if self.axis.whole:
            return max(1, int(_NEAR * abs(self.axis.numbers[index])))
        return 1

    def confirm(self) -> None:
        """Simulate the places around the end for longer, until both sides are confirmed.

        While the end is known to no better than `_KNOWN`, runs of twice the length follow.
        """
        longer = _LONGER
        while longer <= _LONGEST:
            before = self.spent
            self._confirm_by(longer)
            if self._is_known() or self.spent + 2.0 * (self.spent - before) > _MOST:
                return
            longer *= 2.0

    def _confirm_by(self, longer: float) -> None:
        for move in range(_MOVES):
            if move and self.spent > _MOST:
                return
            found = self.known()
            if found is None or self._bad is None:
                return
            wanted = [self._around(found.index, part) for part in _AROUND]
            new = [
                one
                for one in dict.fromkeys(wanted)
                if self.places.get(one) is None or self.places[one].longer < longer
            ]
            if not new:
                return
            self.simulate(new, longer=longer)
            is_new = 0 in new and not self.never_known and self._leave_out()
            if is_new or self._bad is None:
                self._bracket(max(self.places))

    def _is_known(self) -> bool:
        """Whether the interval of the end is narrow, or longer runs cannot make it so."""
        found = self.known()
        if found is None or found.answer.high is None:
            return True
        if found.index not in self.places:
            return False
        low, high = found.answer.low or 0.0, found.answer.high
        steady = self.steadiness(found.index) is None
        if self.fixed and not steady:
            # What the file's own runs measure changes with their length.
            return True
        return steady and (high <= _KNOWN * low or (self.axis.whole and high - low <= 1))

    def _around(self, index: int, part: float) -> int:
        axis = self.axis
        if part == 1.0:
            return index
        if axis.whole:
            number = axis.numbers[index] * part
            new = axis.nearest(math.floor(number) if part < 1.0 else math.ceil(number))
        else:
            new = round(index + (part - 1.0) * len(axis) / 4)
        new = min(new, index - 1) if (part < 1.0) else max(new, index + 1)
        return min(max(new, 0), len(axis) - 1)

    def simulate(self, indices: Iterable[int], longer: float = 1.0) -> None:
        """Simulate values that have not been simulated for this long."""
        wanted: dict[tuple[str, int, float], int] = {}
        runs = 1 if longer == 1.0 else 2
        new = []
        for index in indices:
            known = self.places.get(index)
            if known is not None and known.longer >= longer:
                continue
            scenario = self._of_length(index, longer)
            key = self.name, index, longer
            self.points.add(key, scenario)
            wanted[key] = runs
            new.append((index, scenario))
        if not wanted:
            return
        if self.tell is not None:
            values = ", ".join(self.axis.text(self.axis.numbers[one]) for one, _ in new)
            self.tell(f"{values} {self.axis.label}")
        self.points.run(wanted)
        for index, scenario in new:
            ended = self.points.ended((self.name, index, longer))
            self.spent += sum(map(cost, ended))
            found = outcome(
                scenario,
                self.provenance,
                ended,
                confidence=self.confidence,
                targets=self.targets,
                careful=True,
            )
            self.places[index] = Place(index, runs, longer, found)

    def _of_length(self, index: int, longer: float) -> Scenario:
        """Return the scenario at an index, measured for `longer` times its own duration."""
        return self.axis.at(index).with_run(
            warmup_ns=self.warmup_ns,
            duration_ns=round(longer * self.axis.scenario.run.duration_ns),
        )

    # Evaluating the results.

    def _bounding(self, found: Outcome) -> list[TargetOutcome]:
        return [one for one in found.targets if one.text not in self.never]

    def _crossing(self, good: int, bad: int) -> tuple[float, float, float]:
        """Return where the worst ratio crosses one, as an index, with its interval.

        Uses a weighted line through the logarithms of ratio and value of the places near the end.
        """
        low, high = self.worst(good), self.worst(bad)
        rough = good + (bad - good) * (-low / (high - low) if high > low else 0.5)
        bracket = min(max(rough, good), bad - 1e-6), float(good), float(bad)
        if high >= _FAR:
            # Beyond a cliff, such as the range of a radio, nothing is left to interpolate.
            return bracket
        sure = bracket[0], *self._sure(good, bad)
        near = [
            one
            for one in self.places.values()
            if abs(math.log(self._number(one.index) / self._number(rough))) <= math.log(_WINDOW)
        ]
        near = [one for one in near if abs(self.worst(one.index)) < _FAR]
        longest = max((one.longer for one in near), default=1.0)
        long = [one for one in near if one.longer == longest]
        near = long if len({one.index for one in long}) > 1 else near
        xs = [math.log(self._number(one.index)) for one in near]
        ys = [self.worst(one.index) for one in near]
        spreads = [max(0.03, self._spread(one)) for one in near]
        if len(set(xs)) < 2:
            return sure
        weights = [spread**-2 for spread in spreads]
        total = sum(weights)
        mean_x = sum(w * x for w, x in zip(weights, xs, strict=True)) / total
        mean_y = sum(w * y for w, y in zip(weights, ys, strict=True)) / total
        wide = sum(w * (x - mean_x) ** 2 for w, x in zip(weights, xs, strict=True))
        both = zip(weights, xs, ys, strict=True)
        slope = sum(w * (x - mean_x) * (y - mean_y) for w, x, y in both) / wide if wide else 0.0
        rises = slope * (self._number(bad) - self._number(good)) > 0.0
        if not rises:
            return sure
        x = mean_x - mean_y / slope
        off = sum(
            w * (y - mean_y - slope * (each - mean_x)) ** 2
            for w, each, y in zip(weights, xs, ys, strict=True)
        ) / max(len(xs) - 2, 1)
        variance = max(1.0, off) * (1.0 / total + (x - mean_x) ** 2 / wide)
        # The runs of all places share their random numbers, and so most of their error.
        variance += min(spreads) ** 2
        freedom = max(sum(one.replications for one in near) - 2, 1)
        half = student_quantile(self.confidence, freedom) * math.sqrt(variance) / abs(slope)
        middle = min(max(self._index(_exp(x)), good), bad - 1e-6)
        ends = sorted(self._index(_exp(x + sign * half)) for sign in (-1.0, 1.0))
        return middle, ends[0], ends[1]

    def _sure(self, good: int, bad: int) -> tuple[float, float]:
        """Return the nearest indices at which the targets are surely met, and surely missed.

        The ends of the axis stand for indices that are not known.
        """
        margins = {
            one.index: (self.worst(one.index), _SURE * self._spread(one))
            for one in self.places.values()
        }
        met = [one for one, (worst, margin) in margins.items() if worst < -margin and one <= good]
        missed = [one for one, (worst, margin) in margins.items() if worst > margin and one >= bad]
        return float(max(met, default=0)), float(min(missed, default=len(self.axis) - 1))

    def _spread(self, place: Place) -> float:
        found = self._bounding(place.outcome)
        return max(found, key=_log_ratio).spread if found else 1.0

    def _number(self, index: float) -> float:
        """Return the value at an index, interpolated between grid points."""
        below = min(max(int(index), 0), len(self.axis) - 2)
        low, high = self.axis.numbers[below], self.axis.numbers[below + 1]
        return max(low + (index - below) * (high - low), 1e-12)

    def _index(self, number: float) -> float:
        """Return the index of a value, interpolated between grid points."""
        numbers = self.axis.numbers
        falls = numbers[-1] < numbers[0]
        place = self.axis.nearest(number)
        other = place + 1 if (numbers[place] <= number) != falls else place - 1
        other = min(max(other, 0), len(numbers) - 1)
        if other == place:
            return float(place)
        part = (number - numbers[place]) / (numbers[other] - numbers[place])
        return place + min(max(part, 0.0), 1.0) * (other - place)

    def _limits(self, index: int) -> tuple[Limit, ...]:
        """Return the targets missed first beyond the end, and where, in order."""
        found: dict[str, float] = {}
        for place in sorted(one for one in self.places if one > index):
            for one in self._bounding(self.outcome(place)):
                if _log_ratio(one) > 0.0:
                    found.setdefault(one.text, self.axis.numbers[place])
        if not found and self._bad is not None:
            worst = max(self._bounding(self.outcome(self._bad)), key=_log_ratio)
            found[worst.text] = self.axis.numbers[self._bad]
        ratios = {
            one.text: _log_ratio(one)
            for place in sorted(self.places, reverse=True)
            if place > index
            for one in self._bounding(self.outcome(place))
        }
        order = sorted(
            found,
            key=lambda text: (abs(found[text] - self.axis.numbers[index]), -ratios.get(text, 0.0)),
        )
        return tuple(Limit(text, found[text]) for text in order)


def _exp(x: float) -> float:
    """Return e**x, limited to finite numbers: a curve that is nearly flat has endless ends."""
    return math.exp(min(x, _LARGEST_EXPONENT))


def _log_ratio(one: TargetOutcome) -> float:
    """Return the logarithm of a ratio, limited to `_FAR`; unmeasured ratios count as small."""
    if one.ratio is None:
        return -_FAR
    return min(max(math.log(max(one.ratio, 1e-9)), -_FAR), _FAR)
