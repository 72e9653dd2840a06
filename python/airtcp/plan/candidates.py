"""Candidate plans of cells, and the most promising of them.

A candidate has channels and settings for each cell; a guess function ranks them.

If there are few enough, all are ranked. Otherwise cells are moved one at a time, starting from the
current plan and from random ones, to the best choice for each, until no cell moves any more.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from airtcp.plan.assignments import Channels, count, moving_fewest, plans

#: The most assignments that are all ranked: of channels alone, and of channels with settings. With
#: settings the limit is lower, because most sets of cells need a computation of their own.
MOST_CHANNELS: Final = 100_000
MOST_SETTINGS: Final = 20_000
#: The number of random plans to start from.
_STARTS: Final = 8
#: Plans within this fraction (1/50) of the best guess count as equal, and the tie decides.
_STEPS: Final = 50
#: Decimals of a guess, divided by the guess for the current plan, that count when cells move.
_DIGITS: Final = 6


class Candidate(NamedTuple):
    """A plan: for each cell its channel, and the index of its setting."""

    channels: tuple[int | None, ...]
    settings: tuple[int, ...]


Guess = Callable[[Candidate], float]
Tie = Callable[[Candidate], Any]


@dataclass(frozen=True)
class Space:
    """The plans that may be tried.

    `channels` are the allowed channels, None if all cells keep theirs. `present` are the current
    channels, None if all share one without a number. `settings` are the allowed settings of each
    cell.
    """

    cells: int
    channels: Sequence[int] | None
    present: Channels | None
    settings: Sequence[Sequence[int]]

    @property
    def size(self) -> int:
        """The number of plans, up to the names of channels."""
        ways = 1 if self.channels is None else count(self.cells, len(self.channels))
        return ways * math.prod(map(len, self.settings))

    @property
    def whole(self) -> bool:
        """Whether all plans are ranked."""
        several = any(len(one) > 1 for one in self.settings)
        return self.size <= (MOST_SETTINGS if several else MOST_CHANNELS)

    @property
    def kept(self) -> tuple[int | None, ...]:
        """The current channels."""
        return self.present or (None,) * self.cells

    def best(self, guess: Guess, tie: Tie, most: int) -> tuple[list[Candidate], int]:
        """Return the plans with the highest guess, and how many plans were ranked.

        Among plans close to the highest guess, the lowest `tie` comes first.
        """
        found = {one: guess(one) for one in self._all()} if self.whole else self._moved(guess, tie)
        step = max(map(abs, found.values())) / _STEPS or 1.0
        order = sorted(found, key=lambda one: (-round(found[one] / step), tie(one)))
        chosen: dict[Candidate, None] = {}
        for one in order:
            chosen[self._canonical(one)] = None
            if len(chosen) == most:
                break
        return list(chosen), len(found)

    def _all(self) -> Iterator[Candidate]:
        ways: Sequence[tuple[int | None, ...]] = [self.kept]
        if self.channels is not None:
            ways = plans(self.cells, self.channels, self.present)
        for channels, settings in itertools.product(ways, itertools.product(*self.settings)):
            yield Candidate(channels, settings)

    def _canonical(self, one: Candidate) -> Candidate:
        if self.channels is None or self.whole:
            return one
        numbers = tuple(number for number in one.channels if number is not None)
        return one._replace(channels=moving_fewest(numbers, self.channels, self.present))

    def _moved(self, guess: Guess, tie: Tie) -> dict[Candidate, float]:
        """Return the guesses for all plans met while cells in turn move to the best choice."""
        seen: dict[Candidate, float] = {}
        ranks: dict[Candidate, Any] = {}
        scale = 1.0

        def rank(one: Candidate) -> Any:
            if one not in seen:
                seen[one] = guess(one)
                ranks[one] = -round(seen[one] / scale, _DIGITS), tie(one)
            return ranks[one]

        for at in self._starts():
            if not seen:
                scale = abs(guess(at)) or 1.0
            moves = True
            while moves:
                before = at
                for cell in range(self.cells):
                    at = min(self._beside(at, cell), key=rank)
                moves = rank(at) < rank(before)
        return seen

    def _starts(self) -> Iterator[Candidate]:
        draw = random.Random(0)
        first = tuple(one[0] for one in self.settings)
        if self.channels is None:
            yield Candidate(self.kept, first)
        else:
            yield Candidate((self.channels[0],) * self.cells, first)
        for _ in range(_STARTS):
            channels = self.kept
            if self.channels is not None:
                channels = tuple(draw.choice(self.channels) for _ in range(self.cells))
            yield Candidate(channels, tuple(draw.choice(one) for one in self.settings))

    def _beside(self, one: Candidate, cell: int) -> Iterator[Candidate]:
        """Iterate over the plan and those that differ in one cell."""
        yield one
        channels: Sequence[int | None] = self.channels or [one.channels[cell]]
        for channel, setting in itertools.product(channels, self.settings[cell]):
            yield Candidate(
                (*one.channels[:cell], channel, *one.channels[cell + 1 :]),
                (*one.settings[:cell], setting, *one.settings[cell + 1 :]),
            )
