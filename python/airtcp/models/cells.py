"""Model several saturated cells on one channel, some of which hear each other.

Inputs are the graph of cells that hear each other, mean backoffs and the durations of exchanges.
There is no TCP, no capture and no hidden station within a cell.

There are two continuous-time chains. In `independent_sets`, cells that transmit at the same time
never hear each other, so there are no collisions; the stationary distribution is a product and
depends only on mean durations (R. R. Boorstyn et al., "Throughput analysis in multihop CSMA packet
radio networks", IEEE Trans. Commun. 35(3), 1987). In `clusters`, cells that start in the same slot
and hear each other collide. Its state is the set of busy cells, whose connected parts are the
clusters: one cell is a success, several are a collision that ends together. In the state with the
free cells F (neither busy nor with a busy neighbor) a set X of them starts at the rate

    prod_X q_i prod_{F without X} (1 - q_j) / slot,   q_i = 1 - (1 - beta(gamma_i))^n_i,

where beta is the number of attempts of a frame over its mean backoff in slots, with the retry
limit, and gamma_i the fraction of the starts of i with a neighbor in X or another sender of its
own.

With `Unaligned`, cells that do not hear each other have their own slots: they never start together,
X is connected, and only neighbors of X share its slot. Two more effects cost a cell slots. Slots do
not count if a neighbor interrupts them that does not hear the same cells; L s / (exp(L s) - 1) of
them remain, where L is the rate of starts of such free neighbors. EIFS follows if two neighbors
that do not hear each other have sent overlapping ACKs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from airtcp.exceptions import ConvergenceError
from airtcp.models import checks
from airtcp.models._clusters import Chain, Unaligned
from airtcp.models._product import Product
from airtcp.models.bianchi import SlotTimes
from airtcp.models.checks import Values
from airtcp.phrases import phrase

__all__ = [
    "MOST_CELLS",
    "Clusters",
    "Unaligned",
    "approximate_clusters",
    "clusters",
    "independent_sets",
]

#: The most cells for the chain of clusters; the number of states is 2 to this power.
MOST_CELLS: Final = 12
#: The most cells for the chain of independent sets.
_MOST_INDEPENDENT: Final = 60
#: The most iterations for the collision shares, and the change at which they have converged.
_MOST_LOOKS: Final = 400
_NEAR: Final = 1e-5
#: Corrections are recomputed with every second iteration until the change is this small.
_CORRECTED: Final = 2
_HELD: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Clusters:
    """The stationary chain of clusters; arrays with a value per cell.

    `starts_per_s` are exchanges that start, including collisions, and `successes_per_s`; `gamma` is
    the fraction of attempts that fail; `busy` the fraction of time in which the cell transmits.
    """

    starts_per_s: Values
    successes_per_s: Values
    gamma: Values
    busy: Values


def clusters(
    neighbours: ArrayLike,
    times: SlotTimes | Sequence[SlotTimes],
    *,
    w0: int,
    m: int,
    retries: int,
    contenders: ArrayLike = 1,
    failing: ArrayLike = 0,
    unaligned: Unaligned | None = None,
) -> Clusters:
    """Solve the chain of clusters of saturated cells.

    Args:
        neighbours: a symmetric matrix, true where two cells hear each other.
        times: the slot, and the durations of successes and collisions, including the waits after
            them; one entry per cell if they differ, all with the same slot.
        w0: the slots of the first window, CWmin + 1.
        m: how often the window doubles.
        retries: a frame is sent at most `retries` + 1 times.
        contenders: the saturated senders of each cell, which hear each other.
        failing: the fraction of each cell's frames that first fail within the previous exchange,
            whose duration includes them (`airtcp.models.replies`).
        unaligned: waits for correcting the slots of cells whose neighbors do not hear each other;
            None: no corrections.

    Raises:
        ValueError: an argument out of range, more than `MOST_CELLS` cells, or no symmetric matrix.
        ConvergenceError: the collision shares do not converge.

    >>> row = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]  # the middle cell hears both others
    >>> ofdm = SlotTimes(9e-6, 326e-6, 326e-6, 1472 * 8 / 54e6)
    >>> clusters(row, ofdm, w0=16, m=6, retries=7).successes_per_s.round(0)
    array([2269.,  235., 2269.])
    """
    adjacent = _graph(neighbours, MOST_CELLS)
    cells = len(adjacent)
    senders, least, doublings, attempts = _checked(cells, contenders, w0, m, retries)
    slot_s, successes_s, collisions_s = _times(times, cells)
    chain = Chain(adjacent, apart=unaligned is not None)
    near = approximate_clusters(
        neighbours,
        times,
        w0=least,
        m=doublings,
        retries=attempts - 1,
        contenders=senders,
        failing=failing,
        unaligned=unaligned,
    )
    gamma = near.gamma
    inside = _failing(failing, cells)
    beta = _attempts_per_slot(gamma, inside, least, doublings, attempts)
    law = chain.independent(senders * beta * (1.0 - gamma / 2.0) * successes_s / slot_s)
    change = np.inf
    for look in range(_MOST_LOOKS):
        beta = _attempts_per_slot(gamma, inside, least, doublings, attempts)
        alone = senders * beta * (1.0 - beta) ** (senders - 1.0)
        begins = -np.expm1(senders * np.log1p(-beta))
        lasts = (alone * successes_s + (begins - alone) * collisions_s) / begins
        before = law
        rates = chain.rates(begins, slot_s)
        law = chain.settled(law, rates, lasts, collisions_s)
        starts, together = chain.starts(law, rates)
        if unaligned is not None and change > _HELD and look % _CORRECTED == 0:
            chain.correct(law, begins, slot_s, lasts, unaligned)
        own = _own(beta, senders)
        found = 1.0 - (1.0 - own) * (1.0 - together / starts)
        change = max(np.abs(found - gamma).max(), np.abs(law - before).max())
        gamma = gamma + 0.7 * (found - gamma)
        if change < _NEAR:
            successes = (starts - together) * alone / begins
            return Clusters(starts, successes, gamma, chain.busy(law))
    raise ConvergenceError(phrase("models.cells.shares_change", change=change))


def approximate_clusters(
    neighbours: ArrayLike,
    times: SlotTimes | Sequence[SlotTimes],
    *,
    w0: int,
    m: int,
    retries: int,
    contenders: ArrayLike = 1,
    failing: ArrayLike = 0,
    unaligned: Unaligned | None = None,
) -> Clusters:
    """Solve cells without a list of states: a product form with the collisions of the chain.

    pi(s) = prod of rho_i over independent sets s; in rho_i a collision counts half of its duration,
    because another cell shares it. Exact for two cells, and for any number of isolated cells.
    Compared with the chain for graphs of 3 to 10 cells with one to three neighbors on average,
    cells with at least a fifth of their rate alone are off by at most 6 %; starving cells by 15 %
    on average and at most 30 % (`tests/models/test_model_cells.py`).

    The arguments are those of `clusters`, for up to 60 cells.

    Raises:
        ValueError: an argument out of range, or no symmetric matrix.
        ConvergenceError: the collision shares do not converge.

    >>> ofdm = SlotTimes(9e-6, 326e-6, 326e-6, 1472 * 8 / 54e6)
    >>> row = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> approximate_clusters(row, ofdm, w0=16, m=6, retries=7).successes_per_s.round(0)
    array([2311.,  210., 2311.])
    """
    cells = len(_graph(neighbours, _MOST_INDEPENDENT))
    senders, least, doublings, attempts = _checked(cells, contenders, w0, m, retries)
    slot_s, successes_s, collisions_s = _times(times, cells)
    form = Product(np.asarray(neighbours).astype(bool))
    senders, successes_s, collisions_s, inside = (
        form.inward(one) for one in (senders, successes_s, collisions_s, _failing(failing, cells))
    )
    gamma = _own(_attempts_per_slot(np.zeros(cells), inside, least, doublings, attempts), senders)
    kept = np.ones(cells)
    free = form.graph
    for _ in range(_MOST_LOOKS):
        beta = _attempts_per_slot(gamma, inside, least, doublings, attempts)
        alone = senders * beta * (1.0 - beta) ** (senders - 1.0)
        begins = -np.expm1(senders * np.log1p(-beta)) * kept
        lasts = (alone * successes_s + (begins / kept - alone) * collisions_s) * kept
        lasts /= begins
        beside = -np.expm1((form.graph * np.log1p(-begins * free)).sum(axis=1))
        own = _own(beta, senders)
        found = 1.0 - (1.0 - own) * (1.0 - beside)
        lasts = (1.0 - beside) * lasts + beside * collisions_s / 2.0
        form.solve(begins * lasts / slot_s)
        free = form.free_beside()
        kept_now = kept
        if unaligned is not None:
            kept_now = form.kept(begins, free, slot_s, unaligned)
        change = max(np.abs(found - gamma).max(), np.abs(kept_now - kept).max())
        gamma += 0.7 * (found - gamma)
        kept = kept + 0.7 * (kept_now - kept)
        if change < _NEAR:
            starts = begins * form.may_begin() / slot_s
            successes = starts * (1.0 - beside) * alone * kept / begins
            told = (starts, successes, gamma, starts * lasts)
            return Clusters(*(form.outward(one) for one in told))
    raise ConvergenceError(phrase("models.cells.shares_change", change=change))


def independent_sets(neighbours: ArrayLike, busy_s: ArrayLike, backoff_s: ArrayLike) -> Values:
    """Return the fraction of time in which each saturated cell transmits, without collisions.

    pi(s) = prod over s of busy_s / backoff_s, over all independent sets s of the graph. Both times
    are means; their distributions do not matter.

    Args:
        neighbours: a symmetric matrix, true where two cells hear each other.
        busy_s: the mean duration of an exchange in s, per cell or for all.
        backoff_s: the mean duration of a backoff in s.

    Raises:
        ValueError: an argument out of range, or too many cells.

    >>> independent_sets([[0, 1], [1, 0]], 300e-6, 100e-6).round(4)
    array([0.4286, 0.4286])
    """
    adjacent = _graph(neighbours, _MOST_INDEPENDENT)
    cells = len(adjacent)
    busy = np.broadcast_to(checks.real("busy_s", busy_s, above=0.0), (cells,))
    backoff = np.broadcast_to(checks.real("backoff_s", backoff_s, above=0.0), (cells,))
    ratios = [float(ratio) for ratio in busy / backoff]

    @cache
    def weight(among: int) -> float:
        """Return the sum of the products over all independent sets of these cells."""
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


def _checked(
    cells: int, contenders: ArrayLike, w0: int, m: int, retries: int
) -> tuple[Values, int, int, int]:
    """Return senders, first window, doublings and attempts per frame. Raises ValueError."""
    senders = np.broadcast_to(checks.real("contenders", contenders, at_least=1.0), (cells,))
    least = int(checks.scalar("w0", w0, at_least=2.0, whole=True))
    doublings = int(checks.scalar("m", m, at_least=0.0, at_most=60.0, whole=True))
    attempts = 1 + int(checks.scalar("retries", retries, at_least=0.0, at_most=1e3, whole=True))
    return senders, least, doublings, attempts


def _times(times: SlotTimes | Sequence[SlotTimes], cells: int) -> tuple[float, Values, Values]:
    """Return the slot, and the durations of a success and of a collision in each cell."""
    each = [times] * cells if isinstance(times, SlotTimes) else list(times)
    if len(each) != cells:
        raise ValueError(phrase("models.cells.entries", each=len(each), cells=cells))
    if len({one.slot_s for one in each}) > 1:
        raise ValueError(phrase("models.cells.slots"))
    successes, collisions = zip(*((one.success_s, one.collision_s) for one in each), strict=True)
    return each[0].slot_s, np.array(successes), np.array(collisions)


def _failing(failing: ArrayLike, cells: int) -> Values:
    """Return the fraction of each cell's frames that fail within the previous exchange."""
    return np.broadcast_to(checks.real("failing", failing, at_least=0.0, at_most=0.5), (cells,))


def _attempts_per_slot(gamma: Values, inside: Values, w0: int, m: int, attempts: int) -> Values:
    """Return attempts of a frame over its mean backoff in slots, by the failing fraction.

    Attempts that fail `inside` an exchange do not count, but lengthen the backoff.
    """
    stage = np.arange(attempts)
    counted = gamma[:, None] ** stage
    reached = np.minimum(gamma + inside, 1.0)[:, None] ** stage
    backoff = (w0 * 2.0 ** np.minimum(stage, m) - 1.0) / 2.0
    return np.asarray(np.minimum(counted.sum(axis=1) / (reached @ backoff), 1.0 - 1e-12))


def _own(beta: Values, senders: Values) -> Values:
    """Return the fraction of attempts that coincide with another sender of the cell."""
    return np.asarray(-np.expm1((senders - 1.0) * np.log1p(-beta)))


def _graph(neighbours: ArrayLike, most: int) -> list[int]:
    """Return a bit mask of neighbors for each cell. Raises ValueError."""
    matrix = np.asarray(neighbours)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(phrase("models.cells.not_square", shape=matrix.shape))
    if len(matrix) > most:
        raise ValueError(phrase("models.cells.many", matrix=len(matrix), most=most))
    heard = matrix.astype(bool)
    if (heard != heard.T).any() or heard.diagonal().any():
        raise ValueError(phrase("models.cells.not_symmetric"))
    return [sum(1 << int(other) for other in np.flatnonzero(row)) for row in heard]
