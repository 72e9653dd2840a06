"""Compute the states, transitions and rates of the chain of clusters (`airtcp.models.cells`).

Sets of cells are bit masks. The graph of cells and the probabilities of starting in a slot are
given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from airtcp.models.checks import Values

#: The initial weight of states with collisions.
_COLLISIONS: Final = 1e-6
#: Sweeps of the chain between two updates of the collision shares.
_SWEEPS: Final = 2
#: The least fraction of its slots that a cell keeps, because the corrections are of first order.
_LEAST: Final = 0.02

_Masks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Unaligned:
    """The waits of a cell whose neighbors do not hear each other.

    `sifs_s` is the gap between a frame and its ACK, `eifs_s` how much longer EIFS is than DIFS,
    `detect_s` the time to detect a frame; all in seconds.
    """

    sifs_s: float
    eifs_s: float
    detect_s: float = 4e-6

    @property
    def window_s(self) -> float:
        """The longest time between two ends after which EIFS follows.

        The later neighbor's data must end before the earlier one's ACK begins, so that this ACK is
        received. Its own ACK must begin after that ACK was detected.
        """
        return max(self.sifs_s - self.detect_s, 0.0)

    @property
    def longer_s(self) -> float:
        """The mean remainder of EIFS, DIFS after the later of them has ended."""
        return max(self.eifs_s - (self.sifs_s + self.detect_s) / 2.0, 0.0)


class Chain:
    """The states, as bit masks of busy cells, and the transitions between them."""

    def __init__(self, adjacent: list[int], *, apart: bool = False) -> None:
        """Build the states and transitions.

        `apart`: cells that do not hear each other have their own slots, so they never start
        together; otherwise all cells share their slots.
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
        # The cells that could have started in the slot.
        self._might = self._free[self._from]
        if apart:
            self._might &= hearing[self._set] | self._set
        # The cells of each set that have a neighbor in the same set.
        self._colliding_states = (states & hearing) > 0
        self._colliding = self._bits[states & hearing]
        ends = [_clusters_of(cell, hearing) for cell in range(self._cells)]
        state, cluster = (np.concatenate(masks) for masks in zip(*ends, strict=True))
        #: The cell that ends alone; the number of cells stands for a collision.
        first = np.repeat(np.arange(self._cells), [len(masks) for masks, _ in ends])
        self._ending = np.where(cluster == 1 << first, first, self._cells)
        self._cluster = cluster
        self._leaving = np.concatenate([self._from, state])
        into = np.concatenate([self._from | self._set, state & ~cluster])
        # One matrix per number of busy cells, in which only the rates change: starts enter a state
        # from states with fewer busy cells, ends from states with more.
        levels = self._bits.sum(axis=1).astype(np.int64)
        order = np.argsort(levels[into] << self._cells | into, kind="stable")
        entered = np.bincount(into, minlength=self._size)
        of_levels = np.concatenate([[0], np.cumsum(np.bincount(levels[into]))])
        self._levels = []
        for level in range(self._cells + 1):
            rows = np.flatnonzero(levels == level)
            entries = order[of_levels[level] : of_levels[level + 1]]
            # Every state can be entered: its clusters can start one after the other.
            firsts = np.concatenate([[0], np.cumsum(entered[rows])[:-1]])
            self._levels.append((rows, entries, self._leaving[entries], firsts))
        self._graph = np.array(
            [[one >> cell & 1 for cell in range(self._cells)] for one in adjacent]
        )
        self._kept: Values | None = None

    def _prepare(self) -> None:
        """Prepare the corrections: cells of each start, and ends that may be close in time."""
        self._may = self._bits[self._free]
        closed = self._graph + np.eye(self._cells, dtype=int)
        self._others = self._graph * (closed[:, None] != closed[None]).any(axis=2)
        entries, cells = np.nonzero(self._set[:, None] >> np.arange(self._cells) & 1)
        self._members = self._from[entries] * self._cells + cells
        self._first = np.searchsorted(entries, np.arange(len(self._set)))
        #: Two cells that do not hear each other, one that hears both, the states in which all three
        #: are free, and those in which the two transmit.
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
        """Return the distribution without collisions; states with collisions get a small weight."""
        law = np.asarray(np.exp(self._bits @ np.log(ratios)))
        law[self._colliding_states] *= _COLLISIONS
        return np.asarray(law / law.sum())

    def settled(self, law: Values, rates: Values, lasts: Values, collisions: Values) -> Values:
        """Move a distribution towards the stationary one, by sweeps over the number of busy cells.

        `lasts` is the mean duration of each cell's exchanges in s, `collisions` that of its
        collisions, of which the longest counts.
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
        """Return the starts of each cell per second, and those with a neighbor in the same slot."""
        of_sets = np.bincount(self._set, law[self._from] * rates, self._size)
        return of_sets @ self._bits, of_sets @ self._colliding

    def rates(self, begins: Values, slot_s: float) -> Values:
        """Return the rates at which sets of free cells start; `begins` is per cell and slot."""
        odds = np.exp(self._bits @ (np.log(begins) - np.log1p(-begins)))
        none = np.exp(self._bits @ np.log1p(-begins)) / slot_s
        rates = np.asarray(odds[self._set] * none[self._might])
        if self._kept is not None:
            rates *= np.multiply.reduceat(self._kept.ravel()[self._members], self._first)
        return rates

    def correct(
        self, law: Values, begins: Values, slot_s: float, lasts: Values, waits: Unaligned
    ) -> None:
        """Reduce the slots of each cell by the cost of neighbors that are not aligned with it.

        Cells that hear the same cells are aligned, because their slots start together. A slot that
        another cell interrupts does not count. EIFS follows after two neighbors that do not hear
        each other have sent overlapping ACKs.
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
        """Return the fraction of time in which each cell transmits."""
        return np.asarray(law @ self._bits)


def _starts(adjacent: list[int]) -> tuple[_Masks, _Masks]:
    """List the states, and the sets of free cells that may start from each."""
    state, begun = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for cell, others in enumerate(adjacent):
        bit, may_be_busy, may_begin = 1 << cell, (begun & others) == 0, (state & others) == 0
        state, begun = (
            np.concatenate([state, state[may_be_busy] | bit, state[may_begin]]),
            np.concatenate([begun, begun[may_be_busy], begun[may_begin] | bit]),
        )
    return state[begun > 0], begun[begun > 0]


def _clusters_of(cell: int, hearing: _Masks) -> tuple[_Masks, _Masks]:
    """List the states in which a cell is the first of a cluster, and that cluster."""
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
    """Return for each set of cells whether it is one cluster."""
    sets = np.arange(len(hearing))
    found = np.zeros(len(hearing), dtype=bool)
    for cell in range(len(adjacent)):
        states, cluster = _clusters_of(cell, hearing)
        found |= np.bincount(states[cluster == states], minlength=len(sets)) > 0
    return found
