"""The states of the chain of clusters (`airtcp.models.cells`), its transitions and their rates.

Knows sets of cells as bit masks, the graph, and given chances of a start in a slot. Does not know
what those chances come from, nor what a cell gets by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from airtcp.models._checks import Values

#: The weight of states with collisions where the chain begins.
_COLLISIONS: Final = 1e-6
#: Sweeps of the chain between two looks at the shares of collisions.
_SWEEPS: Final = 2
#: The least part of its slots that a cell keeps: the corrections are of first order.
_LEAST: Final = 0.02

_Masks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Unaligned:
    """The waits of a cell whose neighbours do not hear each other.

    `sifs_s` is the gap between a frame and its ACK, `eifs_s` the time by which EIFS is longer than
    DIFS, `detect_s` the time that it takes to notice a frame; all in seconds.
    """

    sifs_s: float
    eifs_s: float
    detect_s: float = 4e-6

    @property
    def window_s(self) -> float:
        """The time between two ends after which EIFS follows, at most.

        The later neighbour's data must have ended before the earlier one's ACK begins, which is
        received then, and its ACK begin when that has been noticed.
        """
        return max(self.sifs_s - self.detect_s, 0.0)

    @property
    def longer_s(self) -> float:
        """The part of EIFS that is left, on average, DIFS after the later of them has ended."""
        return max(self.eifs_s - (self.sifs_s + self.detect_s) / 2.0, 0.0)


class Chain:
    """The states, as bit masks of busy cells, and the transitions between them."""

    def __init__(self, adjacent: list[int], *, apart: bool = False) -> None:
        """Build the states and transitions.

        `apart`: cells that do not hear each other have slots of their own, so that they never begin
        together; else a slot is the slot of all.
        """
        self._cells = len(adjacent)
        self._size = 1 << self._cells
        states = np.arange(self._size)
        hearing = np.zeros(self._size, dtype=np.int64)
        for cell, others in enumerate(adjacent):
            hearing[1 << cell : 2 << cell] = hearing[: 1 << cell] | others
        self._free = (self._size - 1) & ~(states | hearing)
        self._bits = (states[:, None] >> np.arange(self._cells) & 1).astype(float)
        self._from, self._set = _starts(adjacent)
        if apart:
            connected = _is_connected(adjacent, hearing)
            taken = connected[self._set]
            self._from, self._set = self._from[taken], self._set[taken]
        # The cells that could have begun in the slot.
        self._might = self._free[self._from]
        if apart:
            self._might &= hearing[self._set] | self._set
        # The cells of each set that have a neighbour in it.
        self._colliding_states = (states & hearing) > 0
        self._colliding = self._bits[states & hearing]
        ends = [_clusters_of(cell, hearing) for cell in range(self._cells)]
        state, cluster = (np.concatenate(masks) for masks in zip(*ends, strict=True))
        #: The cell that ends alone; one more than there are for a collision.
        first = np.repeat(np.arange(self._cells), [len(masks) for masks, _ in ends])
        self._ending = np.where(cluster == 1 << first, first, self._cells)
        self._cluster = cluster
        self._leaving = np.concatenate([self._from, state])
        into = np.concatenate([self._from | self._set, state & ~cluster])
        # By the number of busy cells a matrix, of which only the rates change: starts enter a state
        # from those with fewer busy cells, ends from those with more.
        levels = self._bits.sum(axis=1).astype(np.int64)
        order = np.argsort(levels[into] << self._cells | into, kind="stable")
        entered = np.bincount(into, minlength=self._size)
        of_levels = np.concatenate([[0], np.cumsum(np.bincount(levels[into]))])
        self._levels = []
        for level in range(self._cells + 1):
            rows = np.flatnonzero(levels == level)
            entries = order[of_levels[level] : of_levels[level + 1]]
            # Every state has an entry: its clusters can begin one after the other.
            firsts = np.concatenate([[0], np.cumsum(entered[rows])[:-1]])
            self._levels.append((rows, entries, self._leaving[entries], firsts))
        self._graph = np.array(
            [[one >> cell & 1 for cell in range(self._cells)] for one in adjacent]
        )
        self._kept: Values | None = None

    def _prepare(self) -> None:
        """Find what corrections ask for: cells of each start, and ends that may be near."""
        self._may = self._bits[self._free]
        closed = self._graph + np.eye(self._cells, dtype=int)
        self._others = self._graph * (closed[:, None] != closed[None]).any(axis=2)
        entries, cells = np.nonzero(self._set[:, None] >> np.arange(self._cells) & 1)
        self._members = self._from[entries] * self._cells + cells
        self._first = np.searchsorted(entries, np.arange(len(self._set)))
        #: Two cells that do not hear each other, one that hears both, the states in which all
        #: three are free, and those in which the two send.
        self._apart = []
        for one in range(self._cells):
            for other in range(one):
                both = 1 << one | 1 << other
                common = np.flatnonzero(self._graph[one] * self._graph[other])
                if self._graph[one, other] or not len(common):
                    continue
                free = np.flatnonzero((self._free & both) == both)
                for cell in common:
                    at = free[(self._free[free] >> cell & 1) == 1]
                    self._apart.append((one, other, cell, at, at | both))

    def independent(self, ratios: Values) -> Values:
        """Return the law of the chain without collisions, where the others have little weight."""
        law = np.asarray(np.exp(self._bits @ np.log(ratios)))
        law[self._colliding_states] *= _COLLISIONS
        return np.asarray(law / law.sum())

    def settled(self, law: Values, rates: Values, lasts: Values, collisions: Values) -> Values:
        """Bring a law nearer to the stationary one, by sweeps over the numbers of busy cells.

        `lasts` is the mean time of each cell's exchanges in s, `collisions` that of its collisions,
        of which the longest counts.
        """
        ends_s = np.append(lasts, collisions[0])[self._ending]
        if (collisions != collisions[0]).any():
            together = self._ending == self._cells
            members = self._bits[self._cluster[together]]
            ends_s[together] = (members * collisions).max(axis=1)
        rates = np.concatenate([rates, 1.0 / ends_s])
        leaves = np.bincount(self._leaving, rates, self._size)
        into = [rates[entries] for _, entries, _, _ in self._levels]
        law = law.copy()
        last = self._cells
        for _ in range(_SWEEPS):
            for level in (*range(last + 1), *range(last - 1, 0, -1)):
                states, _, leaving, firsts = self._levels[level]
                law[states] = np.add.reduceat(into[level] * law[leaving], firsts) / leaves[states]
            law /= law.sum()
        return law

    def starts(self, law: Values, rates: Values) -> tuple[Values, Values]:
        """Count the starts of each cell in a second, and those with a neighbour in the slot."""
        of_sets = np.bincount(self._set, law[self._from] * rates, self._size)
        return of_sets @ self._bits, of_sets @ self._colliding

    def rates(self, begins: Values, slot_s: float) -> Values:
        """Return the rates at which sets of free cells begin, by the chance of each in a slot."""
        odds = np.exp(self._bits @ (np.log(begins) - np.log1p(-begins)))
        none = np.exp(self._bits @ np.log1p(-begins)) / slot_s
        rates = np.asarray(odds[self._set] * none[self._might])
        if self._kept is not None:
            rates *= np.multiply.reduceat(self._kept.ravel()[self._members], self._first)
        return rates

    def correct(
        self, law: Values, begins: Values, slot_s: float, lasts: Values, waits: Unaligned
    ) -> None:
        """Take from the slots of each cell what neighbours that are not aligned with it cost.

        Cells are aligned that hear the same cells, for they begin their slots together. A slot
        that another interrupts does not count. EIFS is waited after two neighbours that do not
        hear each other have sent their ACKs over each other.
        """
        if self._kept is None:
            self._prepare()
        interrupted = np.einsum("si,ji->sj", self._may, self._others * begins)
        kept = np.ones_like(interrupted)
        np.divide(interrupted, np.expm1(interrupted), out=kept, where=interrupted > 0.0)
        overlaps = np.zeros_like(kept)
        for one, other, cell, at, sending in self._apart:
            overlaps[at, cell] += 2.0 * waits.window_s / (lasts[one] * lasts[other]) * law[sending]
        heard = np.einsum("si,ji->sj", self._may, self._graph * begins)
        busy = np.maximum(heard / slot_s, 1e-9)
        lost = overlaps * -np.expm1(-busy * waits.longer_s) / busy / law[:, None]
        self._kept = kept * np.maximum(1.0 - lost, _LEAST)

    def busy(self, law: Values) -> Values:
        """Return the share of time in which each cell sends."""
        return np.asarray(law @ self._bits)


def _starts(adjacent: list[int]) -> tuple[_Masks, _Masks]:
    """List the states, and the sets of free cells that may begin from each."""
    state, begun = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for cell, others in enumerate(adjacent):
        bit, may_be_busy, may_begin = 1 << cell, (begun & others) == 0, (state & others) == 0
        state, begun = (
            np.concatenate([state, state[may_be_busy] | bit, state[may_begin]]),
            np.concatenate([begun, begun[may_be_busy], begun[may_begin] | bit]),
        )
    return state[begun > 0], begun[begun > 0]


def _clusters_of(cell: int, hearing: _Masks) -> tuple[_Masks, _Masks]:
    """List the states with a cluster of which a cell is the first, and that cluster."""
    states = np.arange(len(hearing))
    states = states[(states >> cell & 1) == 1]
    cluster = np.full(len(states), 1 << cell)
    while True:
        wider = cluster | (hearing[cluster] & states)
        if (wider == cluster).all():
            break
        cluster = wider
    is_first = (cluster & ((1 << cell) - 1)) == 0
    return states[is_first], cluster[is_first]


def _is_connected(adjacent: list[int], hearing: _Masks) -> NDArray[np.bool_]:
    """Tell of each set of cells whether it is one cluster."""
    sets = np.arange(len(hearing))
    found = np.zeros(len(hearing), dtype=bool)
    for cell in range(len(adjacent)):
        states, cluster = _clusters_of(cell, hearing)
        found |= np.bincount(states[cluster == states], minlength=len(sets)) > 0
    return found
