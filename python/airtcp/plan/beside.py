"""The end of a scenario that is another one but for a remedy: sought near where it should be.

Knows a place before the end and the slope of the other's curve, so that one more place with few
replications nearly says where the end is. A remedy is judged by its distance from the other's, in
pairs; so that is what has to be narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from airtcp.plan.crossing import in_ratios
from airtcp.plan.search import FIRST, MOVES, Found, Search
from airtcp.stats import student_quantile

if TYPE_CHECKING:
    from airtcp.conditions import Condition

#: Replications of a place that an end hangs little on.
_LEAST: Final = 3
#: A width that is known from few replications is taken for so much more, in squares.
_UNSURE: Final = 1.1


@dataclass(frozen=True)
class Other:
    """The scenario as it was: a place before the end, and what is asked of a new end.

    `slope` is the rise of the logarithm of the metric from one step to the next where its end was,
    None if that is not known. `half_width` says of a new end how well known its distance is, in
    values of the axis, by replications that both have: its own end has `most`.
    """

    place: int
    slope: float | None
    half_width: Callable[[Found], float]
    most: int


class Beside(Search):
    """The search for an end beside that of another scenario."""

    def __init__(self, other: Other, *arguments: Any, **named: Any) -> None:
        """Take what `Search` takes, and the other."""
        super().__init__(*arguments, **named)
        self._other = other
        self.most = min(self.most, other.most)

    def find(self, start: int) -> Found:
        """The end, from `start` on, where it is thought to be.

        Raises as `Search.find`.
        """
        n = min(FIRST, self.most)
        # The end is before the place of the trial if the bound is passed there.
        is_before = bool(self.places) and self._beyond(self.places[0])
        wanted = self._further(n) if is_before else {self._beyond_margin(start): n}
        rounds = 0
        while rounds < MOVES:
            self.simulate(wanted)
            found = self._found()
            if found is None:
                wanted = self._further(n)
                continue
            rounds += 1
            width = self._other.half_width(found) / self.asked(found)
            wanted = self._missing(found, n)
            if not wanted and width <= 1.0:
                break
            while not wanted and n < self.most:
                # Places may have more than a round asks for: those that were tried there before.
                n = self._more(n, width)
                wanted = self._missing(found, n)
            if not wanted:
                break
        known = self.known()
        assert known is not None, "the last round had found it"
        return known

    def _more(self, n: int, width: float) -> int:
        """Return the replications that make a width 1, at most twice as many as `n`.

        Student's quantile shrinks, too, which of few replications is half of the gain.
        """

        def quantile(count: int) -> float:
            return student_quantile(self._level, count - 1)

        most = min(2 * n, self.most)
        asked = _UNSURE * (width / quantile(n)) ** 2 * n
        enough = (more for more in range(n + 1, most) if more >= asked * quantile(more) ** 2)
        return next(enough, most)

    def _beyond_margin(self, at: int) -> int:
        """The index as much further as an end is to be known, so that places enclose it."""
        numbers = self.axis.numbers
        here = self._clipped(at)
        if self.axis.whole:
            return self._clipped(here + math.ceil(self._target * abs(numbers[here])))
        return self._clipped(here + 1)

    def _missing(self, found: Found, n: int) -> dict[int, int]:
        """Tell which places around the end want more: each as much as it weighs there."""
        at = self._at(found)
        pairs = [pair for pair in pairwise(self.places) if pair[0] <= at < pair[1]]
        if not pairs:
            return {}
        below, above = pairs[0]
        part = (at - below) / (above - below)
        wanted = {
            place: min(n, max(min(n, _LEAST), math.ceil(1.5 * weight * n)))
            for place, weight in ((below, 1.0 - part), (above, part))
        }
        return {place: n for place, n in wanted.items() if len(self.runs(place)) < n}

    def _further(self, n: int) -> dict[int, int]:
        """Say what to look at next where all means are on one side: by the slope of the other.

        First of all the place that is nearest to the end gets its `n` replications. Raises
        QuestionError at the ends of the axis.
        """
        up = not self._beyond(self.places[-1])
        here = self.places[-1] if up else self.places[0]
        if len(self.runs(here)) < n:
            return {here: n}
        if here == (len(self.axis) - 1 if up else 0):
            raise self._error("does not hold even at" if up else "holds already at", here)
        # Not further than a search that knows nothing, and by the slope only once: a curve may be
        # another one altogether.
        limit = self._step(here, up=up)
        rises = [self._rise(one, here) for one in self._conditions]
        known = [rise for rise in rises if rise is not None]
        slope = self._other.slope
        first = len(self.places) <= 2
        if not first or slope is None or slope <= 0.0 or len(known) < len(rises):
            return {limit: n}
        steps = min(-max(known) / slope, float(len(self.axis)))
        margin = self._beyond_margin(here) - here
        if up:
            return {min(here + math.ceil(steps) + margin, limit): n}
        return {max(here + math.floor(steps) - margin, limit): n}

    def _rise(self, condition: Condition, place: int) -> float | None:
        """The logarithm of the metric over the bound, negative where nothing happens."""
        samples = self.samples(condition, place)
        if not samples or condition.bound <= 0.0:
            return None
        logs = in_ratios(samples, condition.bound, falls=not condition.above)
        return None if logs is None else math.fsum(logs.values()) / len(logs)
