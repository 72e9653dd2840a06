"""Several saturated cells on one channel, of which some hear each other.

Knows the graph of cells that hear each other, mean backoffs and the durations of exchanges. Knows
no TCP, no capture, no hidden stations within a cell, and no rate.

Two chains in continuous time. `independent_sets`: cells that send at the same time never hear each
other, so that collisions do not exist; the stationary law is a product and depends on mean
durations alone (R. R. Boorstyn et al., "Throughput analysis in multihop CSMA packet radio
networks", IEEE Trans. Commun. 35(3), 1987). `clusters`: cells that begin in one slot and hear each
other collide. Its state is the set of busy cells, whose connected parts are the clusters: one cell
is a success, more are a collision that ends together. In the state with the free cells F (neither
busy nor with a busy neighbour) the set X of them begins at the rate

    prod_X q_i prod_{F without X} (1 - q_j) / slot,   q_i = 1 - (1 - beta(gamma_i))^n_i,

where beta is the number of attempts of a frame over its mean backoff in slots, with the retry
limit, and gamma_i the share of the starts of i with a neighbour in X or another sender of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from airtcp.exceptions import ConvergenceError
from airtcp.models import _checks
from airtcp.models._checks import Values
from airtcp.models.bianchi import SlotTimes

__all__ = ["MOST_CELLS", "Clusters", "clusters", "independent_sets"]

#: The most cells of the chain of clusters, which has two to their number of states.
MOST_CELLS: Final = 12
#: The most cells of the chain of independent sets.
_MOST_INDEPENDENT: Final = 60
#: Sweeps of the chain between two looks at the shares of collisions, and the most looks.
_SWEEPS: Final = 3
_MOST_LOOKS: Final = 400
_NEAR: Final = 1e-6

_Masks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Clusters:
    """The stationary chain of clusters; an array with a value for each cell.

    `starts_per_s` exchanges that begin, collisions among them, and `successes_per_s`; `gamma` the
    share of attempts that fail; `busy` the share of time in which the cell sends.
    """

    starts_per_s: Values
    successes_per_s: Values
    gamma: Values
    busy: Values


def clusters(
    neighbours: ArrayLike,
    times: SlotTimes,
    *,
    w0: int,
    m: int,
    retries: int,
    contenders: ArrayLike = 1,
) -> Clusters:
    """Solve the chain of clusters of saturated cells.

    Args:
        neighbours: a symmetric matrix, true where two cells hear each other.
        times: the slot, and the durations of successes and collisions with the waits after them.
        w0: the slots of the first window, CWmin + 1.
        m: how often the window doubles.
        retries: a frame is sent `retries` + 1 times at most.
        contenders: the saturated senders of each cell, which hear each other.

    Raises:
        ValueError: an argument out of range, more than `MOST_CELLS` cells, no symmetric matrix.
        ConvergenceError: the shares of collisions do not converge.

    >>> row = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]  # the middle cell hears both others
    >>> ofdm = SlotTimes(9e-6, 326e-6, 326e-6, 1472 * 8 / 54e6)
    >>> clusters(row, ofdm, w0=16, m=6, retries=7).successes_per_s.round(0)
    array([2269.,  235., 2269.])
    """
    adjacent = _graph(neighbours, MOST_CELLS)
    cells = len(adjacent)
    senders = np.broadcast_to(_checks.real("contenders", contenders, at_least=1.0), (cells,))
    least = int(_checks.scalar("w0", w0, at_least=2.0, whole=True))
    doublings = int(_checks.scalar("m", m, at_least=0.0, at_most=60.0, whole=True))
    attempts = 1 + int(_checks.scalar("retries", retries, at_least=0.0, at_most=1e3, whole=True))
    chain = _Chain(adjacent)
    gamma = _own(_attempts_per_slot(np.zeros(cells), least, doublings, attempts), senders)
    law = chain.independent(2.0 * times.success_s / ((least - 1.0) * times.slot_s) * senders)
    for _ in range(_MOST_LOOKS):
        beta = _attempts_per_slot(gamma, least, doublings, attempts)
        alone = senders * beta * (1.0 - beta) ** (senders - 1.0)
        begins = -np.expm1(senders * np.log1p(-beta))
        lasts = (alone * times.success_s + (begins - alone) * times.collision_s) / begins
        before = law
        law = chain.settled(law, begins, times.slot_s, lasts, times.collision_s)
        starts, together = chain.starts(law, begins, times.slot_s)
        own = _own(beta, senders)
        found = 1.0 - (1.0 - own) * (1.0 - together / starts)
        change = max(np.abs(found - gamma).max(), np.abs(law - before).max())
        gamma += 0.7 * (found - gamma)
        if change < _NEAR:
            successes = (starts - together) * alone / begins
            return Clusters(starts, successes, gamma, chain.busy(law))
    raise ConvergenceError(f"shares of collisions still change by {change:.1e}")


def independent_sets(neighbours: ArrayLike, busy_s: ArrayLike, backoff_s: ArrayLike) -> Values:
    """Return the share of time in which each of some saturated cells sends, without collisions.

    pi(s) = prod over s of busy_s / backoff_s, over all independent sets s of the graph. Both times
    are means; their laws do not matter.

    Args:
        neighbours: a symmetric matrix, true where two cells hear each other.
        busy_s: the mean time of an exchange, in s, of each cell or of all.
        backoff_s: the mean time of a backoff, in s.

    Raises:
        ValueError: an argument out of range, or too many cells.

    >>> independent_sets([[0, 1], [1, 0]], 300e-6, 100e-6).round(4)
    array([0.4286, 0.4286])
    """
    adjacent = _graph(neighbours, _MOST_INDEPENDENT)
    cells = len(adjacent)
    busy = np.broadcast_to(_checks.real("busy_s", busy_s, above=0.0), (cells,))
    backoff = np.broadcast_to(_checks.real("backoff_s", backoff_s, above=0.0), (cells,))
    ratios = [float(ratio) for ratio in busy / backoff]

    @cache
    def weight(among: int) -> float:
        """Add the products over all independent sets of these cells."""
        if not among:
            return 1.0
        cell = among.bit_length() - 1
        rest = among & ~(1 << cell)
        return weight(rest) + ratios[cell] * weight(rest & ~adjacent[cell])

    everything = (1 << cells) - 1
    return np.array(
        [
            ratios[cell] * weight(everything & ~(1 << cell | adjacent[cell])) / weight(everything)
            for cell in range(cells)
        ]
    )


class _Chain:
    """The states of the chain of clusters, as bit masks of busy cells, and its transitions."""

    def __init__(self, adjacent: list[int]) -> None:
        self._cells = len(adjacent)
        self._size = 1 << self._cells
        states = np.arange(self._size)
        hearing = np.zeros(self._size, dtype=np.int64)
        for cell, others in enumerate(adjacent):
            hearing[1 << cell : 2 << cell] = hearing[: 1 << cell] | others
        self._free = (self._size - 1) & ~(states | hearing)
        self._bits = (states[:, None] >> np.arange(self._cells) & 1).astype(float)
        self._from, self._set = _starts(adjacent)
        # The cells of each set that have a neighbour in it.
        self._colliding_states = (states & hearing) > 0
        self._colliding = self._bits[states & hearing]
        ends = [_clusters_of(cell, hearing) for cell in range(self._cells)]
        state, cluster = (np.concatenate(masks) for masks in zip(*ends, strict=True))
        #: The cell that ends alone; one more than there are for a collision.
        first = np.repeat(np.arange(self._cells), [len(masks) for masks, _ in ends])
        self._ending = np.where(cluster == 1 << first, first, self._cells)
        self._leaving = np.concatenate([self._from, state])
        into = np.concatenate([self._from | self._set, state & ~cluster])
        # By the number of busy cells a matrix, of which only the rates change: starts enter a state
        # from those with fewer busy cells, ends from those with more.
        order = np.argsort(into, kind="stable")
        entered = np.bincount(into, minlength=self._size)
        ends_of_rows = np.concatenate([[0], np.cumsum(entered)])
        levels = self._bits.sum(axis=1).astype(int)
        self._levels = []
        for level in range(self._cells + 1):
            rows = np.flatnonzero(levels == level)
            taken = [order[ends_of_rows[row] : ends_of_rows[row + 1]] for row in rows]
            entries = np.concatenate(taken)
            row_ends = np.concatenate([[0], np.cumsum(entered[rows])])
            of_level = csr_matrix(
                (np.zeros(len(entries)), self._leaving[entries], row_ends),
                shape=(len(rows), self._size),
            )
            self._levels.append((rows, entries, of_level))

    def independent(self, ratios: Values) -> Values:
        """Return the law of the chain without collisions, where the others have little weight."""
        law = np.asarray(np.exp(self._bits @ np.log(ratios)))
        law[self._colliding_states] *= _NEAR
        return np.asarray(law / law.sum())

    def settled(
        self, law: Values, begins: Values, slot_s: float, lasts: Values, collision_s: float
    ) -> Values:
        """Bring a law nearer to the stationary one, by sweeps over the numbers of busy cells."""
        ends = 1.0 / np.append(lasts, collision_s)
        rates = np.concatenate([self._rates(begins, slot_s), ends[self._ending]])
        leaves = np.bincount(self._leaving, rates, self._size)
        for _, entries, of_level in self._levels:
            of_level.data = rates[entries]
        law = law.copy()
        up_and_down = (*self._levels, *self._levels[-2::-1])
        for _ in range(_SWEEPS):
            for states, _, of_level in up_and_down:
                law[states] = (of_level @ law) / leaves[states]
            law /= law.sum()
        return law

    def starts(self, law: Values, begins: Values, slot_s: float) -> tuple[Values, Values]:
        """Count the starts of each cell in a second, and those with a neighbour in the slot."""
        rates = law[self._from] * self._rates(begins, slot_s)
        of_sets = np.bincount(self._set, rates, self._size)
        return of_sets @ self._bits, of_sets @ self._colliding

    def busy(self, law: Values) -> Values:
        """Return the share of time in which each cell sends."""
        return np.asarray(law @ self._bits)

    def _rates(self, begins: Values, slot_s: float) -> Values:
        odds, not_begun = np.log(begins) - np.log1p(-begins), np.log1p(-begins)
        logs = (self._bits @ odds)[self._set] + (self._bits @ not_begun)[self._free[self._from]]
        return np.asarray(np.exp(logs) / slot_s)


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


def _attempts_per_slot(gamma: Values, w0: int, m: int, attempts: int) -> Values:
    """Return the attempts of a frame over its mean backoff in slots, by the share that fails."""
    stage = np.arange(attempts)
    reached = gamma[:, None] ** stage
    backoff = (w0 * 2.0 ** np.minimum(stage, m) - 1.0) / 2.0
    return np.asarray(np.minimum(reached.sum(axis=1) / (reached @ backoff), 1.0 - 1e-12))


def _own(beta: Values, senders: Values) -> Values:
    """Return the share of attempts beside another sender of the cell."""
    return np.asarray(-np.expm1((senders - 1.0) * np.log1p(-beta)))


def _graph(neighbours: ArrayLike, most: int) -> list[int]:
    """Return a bit mask of neighbours for each cell. Raises ValueError."""
    matrix = np.asarray(neighbours)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"neighbours must be a square matrix, not of shape {matrix.shape}")
    if len(matrix) > most:
        raise ValueError(f"neighbours has {len(matrix)} cells; allowed: {most} at most")
    heard = matrix.astype(bool)
    if (heard != heard.T).any() or heard.diagonal().any():
        raise ValueError("neighbours must be symmetric, and no cell a neighbour of itself")
    return [sum(1 << int(other) for other in np.flatnonzero(row)) for row in heard]
