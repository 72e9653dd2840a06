"""Compute paper M, section 3: collision probability of n_b backlogged nodes, and its cost.

Equations (1) to (6). Inputs are backoff stages and the durations of `Parameters`. A node is
backlogged if it has a packet to send; n_b may be a mean, so it need not be whole.
"""

from dataclasses import dataclass

import numpy as np
from airtcp.exceptions import ConvergenceError
from airtcp.models import checks
from airtcp.models.bianchi import collision_given
from airtcp.models.checks import Values
from airtcp.models.roots import increasing_root
from numpy.typing import ArrayLike

from airtcp_papers.miorandi.model.parameters import PAPER, Parameters, Variant

__all__ = ["Contention", "collision_probability", "contention", "mean_backoff_slots"]

_MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Contention:
    """The contention of `n_b` backlogged nodes; seconds and probabilities.

    `p_c` P_C, `p_drop` P_drop, `tau` the attempt probability per slot; `t_b_s` T_b, `t_coll_s`
    T_coll, `t_w_s` T_W, `t_tbo_s` T_tbo: mean backoff, duration of a collision, and time lost per
    packet in collisions and in backoff.
    """

    n_b: Values
    p_c: Values
    p_drop: Values
    tau: Values
    t_b_s: Values
    t_coll_s: Values
    t_w_s: Values
    t_tbo_s: Values


def mean_backoff_slots(p_c: ArrayLike, parameters: Parameters, variant: Variant = PAPER) -> Values:
    """Return T_b / T_slot of (1), in its summed form.

    This is the sum over attempts k = 0 .. m-1 of (1-P)P^k (2^min(k,gamma) w0 - 1)/2. It equals the
    printed closed form (M7), but has no 0/0 at P = 1/2. `variant.stages` "normalised" divides by 1
    - P^m.

    Raises `ValueError` unless 0 <= p_c <= 1.

    >>> round(float(mean_backoff_slots(0.06, Parameters.table_1())), 3)
    16.591
    """
    p = checks.real("p_c", p_c, at_least=0.0, at_most=1.0)
    return np.asarray(_mean_backoff(p, parameters, variant))[()]


def collision_probability(
    n_b: ArrayLike, parameters: Parameters, variant: Variant = PAPER
) -> Values:
    """Return P_C of (1) and (2) (for n_b = 2: (6)): the smallest root (M5).

    P_C = 1 - (1 - tau)^(n_b - 1) with tau according to `variant.attempts`. With `stages`
    "normalised" tau never increases with P, and there is one root. With "printed" T_b rises and
    then falls to zero, so there is a second, spurious root near P = 1 (M5). Above some n_b (214
    with Table 1) only the spurious root exists.

    Raises `ValueError` for n_b < 1, and `ConvergenceError` if (1) and (2) have no root.

    >>> round(float(collision_probability(2, Parameters.table_1())), 3)
    0.06
    """
    nodes = checks.real("n_b", n_b, at_least=1.0)

    def excess(p: Values, at: Values) -> Values:
        return p - collision_given(_attempt_probability(p, parameters, variant), at)

    zero = np.zeros(nodes.shape)
    if variant.stages == "normalised":
        top = np.ones(nodes.shape)
        p = increasing_root(lambda p: excess(p, nodes), zero, top, what="P_C of (1), (2)")
        return np.asarray(p)[()]
    # T_b has one maximum in P (its derivative changes sign once, by Descartes' rule). Up to it tau
    # falls and P - P_C(P) rises: at most one root, the smallest.
    peak = np.full(nodes.shape, _peak(parameters))
    reached = excess(peak, nodes) >= 0.0
    inside = np.where(reached, nodes, 1.0)
    p = increasing_root(lambda p: excess(p, inside), zero, peak, what="P_C of (1), (2)")
    if not reached.all():
        beyond = _first_root_above(_peak(parameters), nodes[~reached], parameters, variant)
        p = np.array(p)
        p[~reached] = beyond
    return p[()]


def contention(n_b: ArrayLike, parameters: Parameters, variant: Variant = PAPER) -> Contention:
    """Return (1) to (5) for `n_b` backlogged nodes: T_b, P_C, P_drop, T_coll, T_W, T_tbo.

    P_drop is P_C^m. T_coll is DIFS + T_b + RTS + SIFS (3), without T_b if `variant` says so (M3).
    In basic access the longest frame of the collision replaces the RTS: the access point is in a
    collision with probability (nodes in it) / n_b. T_W is T_coll P/(1-P) (4), or that over the mean
    number of nodes in a collision (M4). T_tbo = T_b / (n_b (1-P)) (5).

    Raises `ValueError` for n_b < 1, `ConvergenceError`.

    >>> two = contention(2, Parameters.table_1())
    >>> round(float(two.t_tbo_s) * 1e6), round(float(two.t_w_s) * 1e6)
    (177, 43)
    """
    nodes = checks.real("n_b", n_b, at_least=1.0)
    p = np.asarray(collision_probability(nodes, parameters, variant))
    tau = _attempt_probability(p, parameters, variant)
    t_b = parameters.slot_s * _mean_backoff(p, parameters, variant)
    involved = _nodes_in_collision(tau, nodes)
    frame = _collision_frame_s(involved / nodes, parameters)
    t_coll = parameters.difs_s + frame + parameters.sifs_s
    if variant.backoff_in_collision:
        t_coll = t_coll + t_b
    with np.errstate(divide="ignore", invalid="ignore"):
        collisions = p / (1.0 - p)
        t_tbo = np.where(t_b > 0.0, t_b / (nodes * (1.0 - p)), 0.0)
    if variant.collision_charge == "once":
        collisions = collisions / involved
    return Contention(
        n_b=nodes[()],
        p_c=p[()],
        p_drop=np.asarray(p**parameters.m)[()],
        tau=tau[()],
        t_b_s=np.asarray(t_b)[()],
        t_coll_s=np.asarray(t_coll)[()],
        t_w_s=np.asarray(t_coll * collisions)[()],
        t_tbo_s=np.asarray(t_tbo)[()],
    )


def _stage_slots(parameters: Parameters) -> Values:
    """Return the mean backoff of each attempt k = 0 .. m-1, in slots."""
    doublings = np.exp2(np.minimum(np.arange(parameters.m), 64))
    return np.asarray((np.minimum(doublings * parameters.w0, parameters.w_max) - 1.0) / 2.0)


def _mean_backoff(p: Values, parameters: Parameters, variant: Variant) -> Values:
    slots, attempts = np.zeros(p.shape), np.zeros(p.shape)
    for stage in _stage_slots(parameters)[::-1]:  # Horner, last attempt to first
        slots, attempts = slots * p + stage, attempts * p + 1.0
    return np.asarray(slots / attempts if variant.stages == "normalised" else slots * (1.0 - p))


def _attempt_probability(p: Values, parameters: Parameters, variant: Variant) -> Values:
    slots = _mean_backoff(p, parameters, variant)
    if variant.attempts == "bianchi-like":
        return np.asarray(1.0 / (slots + 1.0))
    return np.asarray(1.0 / np.maximum(slots, 1.0))  # at most 1, even if (2) is above


def _peak(parameters: Parameters) -> float:
    """Return the P, between 0 and 1, at which T_b of (1) is largest."""
    stages = _stage_slots(parameters)
    # (1) is b_0 + sum_k P^k (b_k - b_(k-1)) - P^m b_(m-1); this is its derivative.
    steps = np.append(np.diff(stages), -stages[-1])
    slope = steps * np.arange(1, parameters.m + 1)
    if slope[0] <= 0.0:
        return 0.0

    def falling(p: Values) -> Values:
        value = np.zeros(p.shape)
        for coefficient in slope[::-1]:
            value = value * p + coefficient
        return np.asarray(-value / slope[0])

    return float(increasing_root(falling, np.zeros(()), np.ones(()), what="largest T_b of (1)"))


def _first_root_above(
    peak: float, nodes: Values, parameters: Parameters, variant: Variant
) -> Values:
    """Return the smallest root above the peak of T_b, where P_C(P) never falls.

    The iteration P <- P_C(P) from the left rises to the smallest root and cannot pass it. Its limit
    is verified; otherwise there is no root.
    """
    p = np.full(nodes.shape, peak)
    for _ in range(_MOST_STEPS):
        new = collision_given(_attempt_probability(p, parameters, variant), nodes)
        if np.all(new - p <= 1e-15):
            break
        p = new
    else:
        raise ConvergenceError(f"P_C of (1), (2): no root after {_MOST_STEPS} steps")
    # At the spurious root T_b has vanished, and every node transmits in every slot.
    spurious = _attempt_probability(p, parameters, variant) > 1.0 - 1e-9
    if spurious.any():
        raise ConvergenceError(
            "P_C of (1), (2): no root but the spurious one near 1 (M5) for n_b = "
            f"{nodes[spurious].min():g} and above; with stages='normalised' there is one"
        )
    return p


def _nodes_in_collision(tau: Values, nodes: Values) -> Values:
    """Return the mean number of transmitting nodes, given two or more; 2 for small tau."""
    others = collision_given(tau, nodes)
    senders = nodes * tau * others
    with np.errstate(divide="ignore", invalid="ignore"):
        idle = np.exp(nodes * np.log1p(-tau))
        mean = senders / (1.0 - idle - nodes * tau * (1.0 - others))
    return np.where(nodes > 1.0, np.clip(mean, 2.0, np.maximum(nodes, 2.0)), 2.0)


def _collision_frame_s(ap_share: Values, parameters: Parameters) -> Values:
    """Return the mean duration of the longest first frame of a collision, in seconds."""
    ap = parameters.rts_s if parameters.rts_before_data else parameters.data_s
    station = parameters.rts_s if parameters.rts_before_tcp_ack else parameters.tcp_ack_s
    share = np.minimum(ap_share, 1.0)
    return np.asarray(share * max(ap, station) + (1.0 - share) * station)
