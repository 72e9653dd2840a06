"""The search along a mix of groups, whose shares are whole stations: the curve has steps.

Knows that a group of slow stations gets one more at some values only, where a metric jumps, so that
a smooth curve crosses the bound a step too late or too early. The end and the value after it are
looked at themselves. Does not know where the steps are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from airtcp.plan.search import Found, Search

#: An end goes so many values at most away from where the curve has it.
_FURTHEST: Final = 3


class Stepped(Search):
    """The search for an end beyond which the next value is seen to be."""

    def find(self, start: int) -> Found:
        """The end, from `start` on, by the runs of the end and of the value after it.

        The interval is that of the curve, and holds the end. Raises as `Search.find`.
        """
        found = super().find(start)
        if not found.crossings:
            return found
        n = max(len(self.runs(place)) for place in self.places)
        last = len(self.axis) - 1
        index = found.index
        for _ in range(_FURTHEST):
            after = min(index + 1, last)
            self.simulate({index: n, after: n})
            if index > 0 and self._beyond(index):
                index -= 1
            elif index < last and not self._beyond(after):
                index += 1
            else:
                break
        again = self._found() or found
        answer, numbers = again.answer, self.axis.numbers
        here = numbers[index]
        return replace(
            again,
            index=index,
            answer=replace(
                answer,
                value=here,
                low=None if answer.low is None else min(answer.low, here),
                high=None if answer.high is None else max(answer.high, here),
            ),
        )
