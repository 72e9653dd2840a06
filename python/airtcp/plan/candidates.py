"""Candidates of a plan of cells: all ways that may be tried, and those that look best.

Knows ways of giving channels and settings to cells, and a guess of each. Does not know what guesses
come from, nor runs anything.

Where there are few enough all are ranked. Else cells are moved one at a time, from today's plan and
from some at random, to the best that each may have, until no cell moves any more.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from airtcp.plan.assignments import Channels, count, moving_fewest, plans

#: The most ways of giving channels, and of channels with settings, that are all ranked: the chain
#: knows each set of cells by then, or has to ask for most of them.
MOST_CHANNELS: Final = 100_000
MOST_SETTINGS: Final = 20_000
#: The plans at random from which cells are moved.
_STARTS: Final = 8
#: Steps of the guess within which plans are held for equal, and the tie decides.
_STEPS: Final = 50
#: Digits of a guess over that of today that count as one cell moves.
_DIGITS: Final = 6


class Candidate(NamedTuple):
    """A plan: of each cell the channel, and the place of its setting among those of the cell."""

    channels: tuple[int | None, ...]
    settings: tuple[int, ...]


Guess = Callable[[Candidate], float]
Tie = Callable[[Candidate], Any]


@dataclass(frozen=True)
class Space:
    """The plans that may be tried.

    `channels` are those that cells may have, None if all keep theirs; `present` those that they
    have, None if all are on one without a number. `settings` are those that each may have.
    """

    cells: int
    channels: Sequence[int] | None
    present: Channels | None
    settings: Sequence[Sequence[int]]

    @property
    def size(self) -> int:
        """The number of plans that are not alike up to names of channels."""
        ways = 1 if self.channels is None else count(self.cells, len(self.channels))
        return ways * math.prod(map(len, self.settings))

    @property
    def whole(self) -> bool:
        """Tell whether all of them are ranked."""
        several = any(len(one) > 1 for one in self.settings)
        return self.size <= (MOST_SETTINGS if several else MOST_CHANNELS)

    @property
    def kept(self) -> tuple[int | None, ...]:
        """The channels of today."""
        return self.present or (None,) * self.cells

    def best(self, guess: Guess, tie: Tie, most: int) -> tuple[list[Candidate], int]:
        """Return the plans of the highest guess, and how many there was a guess of.

        Of those that are within a part of the highest the least `tie` comes first.
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
        """Guess the plans that are met as one cell after the other takes what is best for all."""
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
        """Iterate over the plan and those in which one cell has something else."""
        yield one
        channels: Sequence[int | None] = self.channels or [one.channels[cell]]
        for channel, setting in itertools.product(channels, self.settings[cell]):
            yield Candidate(
                (*one.channels[:cell], channel, *one.channels[cell + 1 :]),
                (*one.settings[:cell], setting, *one.settings[cell + 1 :]),
            )
