"""Compute paper L, section 4: the chain (i, k, d) of a holding station, in two ways.

Backoff stage i = 0 .. m, counter k = 0 .. 2^i W - 1, and d: 0 while the station counts down, 1 .. D
in the slots after a busy period in which it still waits and the access point may already transmit.
Inputs are P_s (no other station transmits, given that the station does not hold), P_s1 = 1 - tau_1
(the access point does not transmit) and p (the station's transmission collides).

The closed form is corrected by L1 (the inner sum of (5) runs to 2^i W - 1), L2 (stage m carries p^m
/ (1-p)) and L3 (b(0,0,0), which the paper does not give). The other way is the transition matrix.
"""

from typing import TYPE_CHECKING

import numpy as np
from airtcp.exceptions import ConvergenceError
from airtcp.models import checks
from airtcp.models.bianchi import attempt_probability
from airtcp.models.checks import Values
from numpy.typing import ArrayLike

# Only the transition matrix needs it, and its import takes as long as a prediction.
if TYPE_CHECKING:
    import scipy.sparse

__all__ = [
    "hold_probability",
    "state_distribution",
    "state_distribution_by_chain",
    "transition_matrix",
    "visits_per_hold",
]

_MOST_STATES = 2_000_000
_MOST_HOLD_SLOTS = 1_000_000.0


def visits_per_hold(tau_1: ArrayLike, hold_slots: ArrayLike) -> Values:
    """Return H of L3: the mean slots that a station spends in hold after a busy period.

    H = sum over j = 1 .. D of q^-j with q = 1 - `tau_1`: each transmission of the access point
    restarts the hold. `hold_slots` is D = (AIFS_1 - AIFS_0) / slot.

    Raises `ValueError` unless 0 <= tau_1 < 1 and D is whole and >= 0.

    >>> visits_per_hold([0.0, 0.5], 2)
    array([2., 6.])
    """
    tau = checks.real("tau_1", tau_1, at_least=0.0, at_most=1.0)
    slots = checked_hold_slots(hold_slots)
    if np.any(tau == 1.0):
        raise ValueError("tau_1 must be less than 1, not 1: a hold would never end")
    tau, slots = checks.broadcast(tau_1=tau, hold_slots=slots)
    survive, spent = hold_terms(tau, slots)
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(spent / survive)[()]


def hold_probability(
    tau_1: ArrayLike, tau_2: ArrayLike, p_s: ArrayLike, hold_slots: ArrayLike
) -> Values:
    """Return P_hold, (5) with L1, L2, L3: H x / (1 + H x), x = tau_2 + (1 - tau_2) (1 - P_s).

    x is the probability that a slot in which the station does not hold is busy, because of the
    station or others. `tau_1`: probability that the access point transmits in a slot; `tau_2`: that
    the station does, given that it does not hold; `p_s`: that nobody else does, given the same.

    Raises `ValueError` unless the probabilities are in 0 .. 1 and D is whole and >= 0.

    >>> round(float(hold_probability(0.07, 0.06, 0.88, 2)), 4)
    0.2783
    """
    ap = checks.real("tau_1", tau_1, at_least=0.0, at_most=1.0)
    station = checks.real("tau_2", tau_2, at_least=0.0, at_most=1.0)
    silent = checks.real("p_s", p_s, at_least=0.0, at_most=1.0)
    slots = checked_hold_slots(hold_slots)
    ap, station, silent, slots = checks.broadcast(
        tau_1=ap, tau_2=station, p_s=silent, hold_slots=slots
    )
    survive, spent = hold_terms(ap, slots)
    busy = station + (1.0 - station) * (1.0 - silent)
    with np.errstate(invalid="ignore"):
        hold = busy * spent / (survive + busy * spent)
    # 0/0: there are no busy periods, and none would end; the station does not hold.
    return np.where(busy * spent == 0.0, 0.0, hold)[()]


def state_distribution(
    p: float, p_s: float, p_s1: float, w0: int, m: int, hold_slots: int
) -> Values:
    """Return the stationary probability of every state (i, k, d), closed form (L1, L2, L3).

    States are ordered by stage, then counter, then d = 0 .. D. With W_i = 2^i W and q = P_s1:
    b(i,k,0) = (W_i - k)/W_i p^i b(0,0,0), for i = m over (1-p); b(i,k,d) = q^-(D-d+1) times
    b(i,k,0) (1 - P_s), or times b(i,0,0) for k = 0; b(0,0,0) = (1 - P_hold) tau_2 (1-p).

    Raises `ValueError` unless 0 <= p < 1, 0 <= p_s <= 1, 0 < p_s1 <= 1, or if there are more than
    two million states.

    >>> b = state_distribution(0.1, 0.8, 0.9, w0=4, m=2, hold_slots=3)
    >>> b.shape, round(float(b.sum()), 12)
    ((112,), 1.0)
    """
    stages = _checked_chain(p, p_s, p_s1, w0, m, hold_slots)
    tau_2 = float(attempt_probability(p, w0, m))
    hold = float(hold_probability(1.0 - p_s1, tau_2, p_s, hold_slots))
    first = (1.0 - hold) * tau_2 * (1.0 - p)
    parts = []
    for i, window in enumerate(stages):
        counter = np.arange(window)
        share = p**i / (1.0 - p) if i == m else p**i
        counting = (window - counter) / window * share * first
        entered = np.where(counter == 0, counting, counting * (1.0 - p_s))
        held = [entered / p_s1 ** (hold_slots - d + 1) for d in range(1, hold_slots + 1)]
        parts.append(np.stack([counting, *held], axis=1).ravel())
    return np.concatenate(parts)


def transition_matrix(
    p: float, p_s: float, p_s1: float, w0: int, m: int, hold_slots: int
) -> "scipy.sparse.csr_array[np.float64]":
    """Return all transition probabilities of section 4, in the order of `state_distribution`.

    Row: from; column: to. For D = 0, which the paper does not print, no station holds: a busy slot
    counts as one slot, which is Bianchi's chain. Errors as in `state_distribution`.

    >>> matrix = transition_matrix(0.1, 0.8, 0.9, w0=4, m=2, hold_slots=3)
    >>> bool(abs(matrix.sum(axis=1) - 1.0).max() < 1e-12)
    True
    """
    stages = _checked_chain(p, p_s, p_s1, w0, m, hold_slots)
    deep = hold_slots + 1
    starts = np.concatenate([[0], np.cumsum(stages)]) * deep
    rows: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    columns: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    chances: list[Values] = []

    def go(start: ArrayLike, end: ArrayLike, chance: float) -> None:
        rows.append(np.ravel(np.asarray(start, dtype=np.int64)))
        columns.append(np.ravel(np.broadcast_to(np.asarray(end, dtype=np.int64), np.shape(start))))
        chances.append(np.full(rows[-1].size, chance))

    for i, window in enumerate(stages):
        here = starts[i] + deep * np.arange(window)  # (i, k, 0) for every k
        waiting, counted = here[1:], here[:-1]
        # The state in which a hold ends, or the only state without a hold.
        last_waiting, last_sent = waiting + hold_slots, here[0] + hold_slots
        if hold_slots:
            go(waiting, counted, p_s)
            go(waiting, waiting + 1, 1.0 - p_s)
            go(here[:1], here[:1] + 1, 1.0)
            for d in range(1, hold_slots + 1):
                go(here + d, here + 1, 1.0 - p_s1)
                if d < hold_slots:
                    go(here + d, here + d + 1, p_s1)
        on = p_s1 if hold_slots else 1.0
        go(last_waiting, counted, on)
        up = min(i + 1, m)
        for stage, chance in ((0, 1.0 - p), (up, p)):
            ends = starts[stage] + deep * np.arange(stages[stage])
            go(np.full(ends.size, last_sent), ends, on * chance / ends.size)
    import scipy.sparse

    size = int(starts[-1])
    entries = (np.concatenate(chances), (np.concatenate(rows), np.concatenate(columns)))
    return scipy.sparse.csr_array(scipy.sparse.coo_array(entries, shape=(size, size)))


def state_distribution_by_chain(
    p: float, p_s: float, p_s1: float, w0: int, m: int, hold_slots: int
) -> Values:
    """Compute `state_distribution` from the balance equations of `transition_matrix`.

    This is slow, but independent of (1), (5) and L1 to L3, which it tests. Errors as in
    `state_distribution`, and `ConvergenceError` if the solution does not satisfy the equations to
    1e-12.

    >>> case = (0.1, 0.8, 0.9, 4, 2, 3)
    >>> bool(abs(state_distribution_by_chain(*case) - state_distribution(*case)).max() < 1e-10)
    True
    """
    import scipy.sparse
    from scipy.sparse.linalg import spsolve

    matrix = transition_matrix(p, p_s, p_s1, w0, m, hold_slots)
    size = matrix.shape[0]
    if size == 1:
        return np.ones(1)
    # All states lead to (0, 0, 0): its weight is set to 1, and balance determines the others.
    balance = scipy.sparse.csc_array(matrix.T - scipy.sparse.eye_array(size))
    weights = np.ones(size)
    weights[1:] = spsolve(balance[1:, 1:], -balance[1:, [0]].toarray().ravel())
    weights /= weights.sum()
    error = float(np.max(np.abs(np.asarray(balance @ weights))))
    if not error <= 1e-12:
        raise ConvergenceError(f"chain of section 4: balance off by {error:g}")
    return weights


def hold_terms(tau_1: Values, hold_slots: Values) -> tuple[Values, Values]:
    """Return q^D and H q^D = (1 - q^D) / (1 - q), which are finite for all 0 <= tau_1 <= 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.where(hold_slots == 0.0, 0.0, hold_slots * np.log1p(-tau_1))
        spent = np.where(tau_1 == 0.0, hold_slots, -np.expm1(power) / tau_1)
    return np.exp(power), spent


def checked_hold_slots(hold_slots: ArrayLike) -> Values:
    """Return D, checked to be a whole number of slots."""
    return checks.real("hold_slots", hold_slots, at_least=0.0, at_most=_MOST_HOLD_SLOTS, whole=True)


def _checked_chain(
    p: float, p_s: float, p_s1: float, w0: int, m: int, hold_slots: int
) -> list[int]:
    """Return the windows of the stages, after checking the arguments."""
    checks.scalar("p", p, at_least=0.0, at_most=1.0)
    if p == 1.0:
        raise ValueError("p must be less than 1, not 1: no frame would ever get through")
    checks.scalar("p_s", p_s, at_least=0.0, at_most=1.0)
    checks.scalar("p_s1", p_s1, above=0.0, at_most=1.0)
    checks.scalar("w0", w0, at_least=1, at_most=_MOST_STATES, whole=True)
    checks.scalar("m", m, at_least=0, at_most=30, whole=True)
    checks.scalar("hold_slots", hold_slots, at_least=0, at_most=_MOST_STATES, whole=True)
    stages = [int(w0) * 2**i for i in range(int(m) + 1)]
    states = sum(stages) * (int(hold_slots) + 1)
    if states > _MOST_STATES:
        raise ValueError(f"w0, m and hold_slots give {states} states, more than {_MOST_STATES}")
    return stages
