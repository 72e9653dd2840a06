"""Compute paper L, section 4: (1) to (9), TCP throughput, simplified model, best CWmin.

n stations upload, each with data to send at all times. The access point sends only TCP ACKs, from a
queue with a shorter AIFS and a CWmin so small that it needs no backoff. There are no TCP timeouts:
if more than about 30 % of the frames collide, the paper's own simulations depart from the model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from airtcp.exceptions import ConvergenceError
from airtcp.models import checks
from airtcp.models.bianchi import attempt_probability, fixed_point
from airtcp.models.checks import Values
from airtcp.models.roots import increasing_root
from numpy.typing import ArrayLike

from airtcp_papers.leith.model.hold import checked_hold_slots, hold_terms
from airtcp_papers.leith.model.parameters import PAPER, Parameters, Variant

__all__ = [
    "BestWindow",
    "Contention",
    "Throughput",
    "best_window",
    "contention",
    "simplified_throughput",
    "throughput",
]

_MOST_SEGMENTS = 1e6
_LARGEST_POWER = 40
"""Try windows up to 2^40: the best one grows with n, and n above 10^10 is meaningless."""
_AT_ONCE = 10
"""How many candidates for the best window one call of a model gets, less one."""


@dataclass(frozen=True, slots=True)
class Contention:
    """The solution of (1) to (9) for `n` stations; probabilities.

    `tau_1`: the access point transmits in a slot. `tau_2`: a station does, given that it does not
    hold. `p`: a station's transmission collides. `p_hold`: the stations hold (P_hold). `b_000`:
    b(0,0,0). A slot is idle with `q_idle` Q(0,0), has a TCP ACK with `q_ack` Q(1,0), one data frame
    with `q_data` Q(0,1), and a collision with `q_collision` (Q with a bar); these four add up to 1.
    """

    n: Values
    tau_1: Values
    tau_2: Values
    p: Values
    p_hold: Values
    b_000: Values
    q_idle: Values
    q_ack: Values
    q_data: Values
    q_collision: Values


@dataclass(frozen=True, slots=True)
class Throughput:
    """TCP uploads of `n` stations.

    `utilization`: S_TCP, the fraction of time with TCP payload. `goodput_bps`: the same in bit/s
    (L6), all stations together; `flow_goodput_bps`: each. `slot_s`: mean duration of a slot.
    `collision_probability`: p.
    """

    n: Values
    utilization: Values
    goodput_bps: Values
    flow_goodput_bps: Values
    slot_s: Values
    collision_probability: Values


@dataclass(frozen=True, slots=True)
class BestWindow:
    """The `w0` (CWmin as the paper counts it) with the largest `throughput`."""

    n: Values
    w0: Values
    throughput: Throughput


@dataclass(frozen=True, slots=True)
class _Slots:
    """Probabilities of the kinds of slot, given tau_1 and tau_2."""

    p_hold: Values
    counting: Values
    idle: Values
    ack: Values
    data: Values


def contention(
    n: ArrayLike,
    w0: ArrayLike,
    m: ArrayLike,
    hold_slots: ArrayLike,
    variant: Variant = PAPER,
    *,
    d: ArrayLike = 1,
) -> Contention:
    """Solve (1) to (9): `n` uploading stations and an access point that acknowledges.

    `w0` W, `m` doublings, `hold_slots` D = AIFS_1 - AIFS_0 in slots; `d` data segments per TCP ACK
    (2: delayed ACK), so that (9) reads d Q(1,0) = Q(0,1). (1) and (2) are Bianchi's. As tau_1
    grows, one side of (9) grows and the other falls, so there is exactly one root. (5) is corrected
    by L1, L2, L3; `variant` selects L4 and L5. `n` need not be whole.

    Raises `ValueError` with the name of an argument out of range (n >= 1, w0 >= 1, 0 <= m <= 60, D
    whole and >= 0, d >= 1), and `ConvergenceError`.

    >>> ten = contention(10, 32, 5, 2)
    >>> round(float(ten.p), 4), round(float(ten.p_hold), 4), round(float(ten.tau_1), 4)
    (0.2898, 0.4907, 0.1189)
    """
    nodes = checks.real("n", n, at_least=1.0)
    window = checks.real("w0", w0, at_least=1.0)
    doublings = checks.real("m", m, at_least=0.0, at_most=60.0, whole=True)
    hold = checked_hold_slots(hold_slots)
    segments = _segments(d)
    nodes, window, doublings, hold, segments = checks.broadcast(
        n=nodes, w0=window, m=doublings, hold_slots=hold, d=segments
    )
    point = fixed_point(nodes, window, doublings)
    p, tau_2 = np.asarray(point.p), np.asarray(point.tau)
    if variant.collisions == "stations":

        def excess(tau_1: Values) -> Values:
            slots = _slots(tau_1, tau_2, nodes, hold, variant)
            return np.asarray(segments * slots.ack - slots.data)

        zero, one = np.zeros(nodes.shape), np.ones(nodes.shape)
        tau_1 = increasing_root(excess, zero, one, what="tau_1 of (9)")
    else:

        def attempts(clear: Values) -> tuple[Values, Values]:
            tau_2 = np.asarray(attempt_probability(1.0 - clear, window, doublings))
            return _with_ap(clear, _nobody_else(tau_2, nodes)), tau_2

        def shortage(clear: Values) -> Values:
            slots = _slots(*attempts(clear), nodes, hold, variant)
            return np.asarray(slots.data - segments * slots.ack)

        # Solve for 1 - p, which keeps its precision if p is near 1: from no delivery at all (tau_1
        # = 1) to what the stations leave each other (tau_1 = 0).
        most = _nobody_else(tau_2, nodes)
        clear = increasing_root(shortage, np.zeros(nodes.shape), most, what="1 - p of (1) to (9)")
        p, (tau_1, tau_2) = 1.0 - clear, attempts(clear)
    slots = _slots(tau_1, tau_2, nodes, hold, variant)
    collision = 1.0 - slots.idle - slots.ack - slots.data
    return Contention(
        n=nodes[()],
        tau_1=np.asarray(tau_1)[()],
        tau_2=np.asarray(tau_2)[()],
        p=np.asarray(p)[()],
        p_hold=slots.p_hold[()],
        b_000=np.asarray(slots.counting * tau_2 * (1.0 - p))[()],
        q_idle=slots.idle[()],
        q_ack=slots.ack[()],
        q_data=slots.data[()],
        q_collision=np.asarray(np.maximum(collision, 0.0))[()],
    )


def throughput(
    n: ArrayLike,
    w0: ArrayLike,
    m: ArrayLike,
    hold_slots: ArrayLike,
    parameters: Parameters,
    variant: Variant = PAPER,
    *,
    d: ArrayLike = 1,
) -> Throughput:
    """Return S_TCP of section 4, the full model, with (`d` = 2) or without delayed ACK (1).

    S_TCP = Q(0,1) E / (sigma Q(0,0) + T_s2 Q(1,0) + T_s1 Q(0,1) + T_c Q-bar), a fraction of time
    (L6). Arguments and errors as in `contention`.

    >>> full = throughput([2, 10], 32, 5, 2, Parameters.of_figures(), d=[[1], [2]])
    >>> (full.goodput_bps / 1e6).round(2)
    array([[4.76, 4.49],
           [5.4 , 5.05]])
    """
    state = contention(n, w0, m, hold_slots, variant, d=d)
    slot = (
        parameters.slot_s * state.q_idle
        + parameters.t_s2_s * state.q_ack
        + parameters.t_s1_s * state.q_data
        + parameters.t_c_s * state.q_collision
    )
    return _throughput(state.n, state.p, state.q_data, slot, parameters)


def simplified_throughput(
    n: ArrayLike,
    w0: ArrayLike,
    m: ArrayLike,
    parameters: Parameters,
    *,
    d: ArrayLike = 1,
    hold_slots: ArrayLike = 0,
) -> Throughput:
    """Return S of the simplified model: Bianchi's, with T_s1 and the TCP ACK as a success.

    S = P_s P_tr E / ((1-P_tr) sigma + P_tr P_s T_s + P_tr (1-P_s) T_c). As printed, T_s = T_s1 +
    T_s2: every segment is acknowledged. For delayed ACK, which is not printed (L8), T_s = T_s1 +
    T_s2 / d is chosen: an ACK follows one of `d` successes. `hold_slots` 0 is the paper's; with D
    the slots that stations wait after each success and collision count too.

    Errors as in `contention`.

    >>> simple = simplified_throughput([2, 10], 32, 5, Parameters.of_figures())
    >>> (simple.goodput_bps / 1e6).round(2)
    array([4.9 , 4.62])
    """
    nodes = checks.real("n", n, at_least=1.0)
    window = checks.real("w0", w0, at_least=1.0)
    doublings = checks.real("m", m, at_least=0.0, at_most=60.0, whole=True)
    hold, segments = checked_hold_slots(hold_slots), _segments(d)
    nodes, window, doublings, hold, segments = checks.broadcast(
        n=nodes, w0=window, m=doublings, hold_slots=hold, d=segments
    )
    point = fixed_point(nodes, window, doublings)
    tau_2 = np.asarray(point.tau)
    idle, one = _none_and_one(tau_2, nodes)
    wait = parameters.slot_s * hold
    success = parameters.t_s1_s + parameters.t_s2_s / segments + wait
    more = np.maximum(1.0 - idle - one, 0.0)
    slot = idle * parameters.slot_s + one * success + more * (parameters.t_c_s + wait)
    return _throughput(nodes, point.p, one, slot, parameters)


def best_window(
    n: ArrayLike,
    m: ArrayLike,
    hold_slots: ArrayLike,
    parameters: Parameters,
    variant: Variant = PAPER,
    *,
    d: ArrayLike = 1,
    model: Literal["full", "simplified"] = "full",
    windows: Literal["any", "powers of two"] = "any",
) -> BestWindow:
    """Return the CWmin with the largest total throughput of the stations (end of section 4).

    `model`: `throughput`, or `simplified_throughput` as printed (which has no D). `windows`: "any"
    whole number, or the "powers of two" that 802.11e allows. The throughput rises with W up to its
    maximum and falls after it; if two windows are equal to rounding, either is returned.

    Raises `ValueError` like `contention`, and `ConvergenceError` if a neighbor of the result is
    better, or if no window up to 2^40 is large enough.

    >>> best = best_window([5, 20], 5, 2, Parameters.of_figures())
    >>> best.w0, (best.throughput.goodput_bps / 1e6).round(2)
    (array([ 50., 215.]), array([4.73, 4.68]))
    """
    checks.choice("model", model, ("full", "simplified"))
    checks.choice("windows", windows, ("any", "powers of two"))
    nodes = checks.real("n", n, at_least=1.0)
    doublings = checks.real("m", m, at_least=0.0, at_most=60.0, whole=True)
    hold, segments = checked_hold_slots(hold_slots), _segments(d)
    nodes, doublings, hold, segments = checks.broadcast(
        n=nodes, m=doublings, hold_slots=hold, d=segments
    )

    def result(w0: Values) -> Throughput:
        if model == "full":
            return throughput(nodes, w0, doublings, hold, parameters, variant, d=segments)
        return simplified_throughput(nodes, w0, doublings, parameters, d=segments)

    def share(w0: Values) -> Values:
        return np.asarray(result(w0).utilization)

    best = _best_power(share, nodes.shape)
    if windows == "any":
        best = _best_between(share, np.maximum(best / 2.0, 1.0), best * 2.0)
    return BestWindow(n=nodes[()], w0=best[()], throughput=result(best))


def _best_power(share: Callable[[Values], Values], shape: tuple[int, ...]) -> Values:
    """Return the power of two with the largest throughput."""
    best, most = np.ones(shape), np.zeros(shape)
    for power in range(0, _LARGEST_POWER, _AT_ONCE):
        powers = np.exp2(np.arange(power, power + _AT_ONCE + 1))
        window, got = _best_of(share, np.multiply.outer(powers, np.ones(shape)))
        best, most = np.where(got > most, window, best), np.maximum(got, most)
        if np.all(best < powers[-1]):
            return best
    raise ConvergenceError(f"best CWmin: the throughput still rises at 2^{_LARGEST_POWER}")


def _best_between(share: Callable[[Values], Values], low: Values, high: Values) -> Values:
    """Return the whole window from `low` to `high` with the largest throughput (one peak)."""
    steps = np.arange(_AT_ONCE + 1.0).reshape(-1, *[1] * low.ndim)
    while True:
        # In the last iteration every whole window is a candidate.
        stride = np.maximum((high - low) / _AT_ONCE, 1.0)
        best, most = _best_of(share, np.minimum(np.floor(low + steps * stride), high))
        if np.all(stride == 1.0):
            break
        low, high = (
            np.maximum(best - np.ceil(stride), low),
            np.minimum(best + np.ceil(stride), high),
        )
    around = np.maximum(share(np.maximum(best - 1.0, 1.0)), share(best + 1.0))
    if np.any(around > most * (1.0 + 1e-12)):
        raise ConvergenceError("best CWmin: a neighbour of the window found is better")
    return best


def _best_of(share: Callable[[Values], Values], windows: Values) -> tuple[Values, Values]:
    """Return the window with the largest throughput along the first axis, and the throughput."""
    shares = share(windows)
    at = shares.argmax(axis=0)[np.newaxis]
    best: Values = np.take_along_axis(windows, at, axis=0)[0]
    return best, shares.max(axis=0)


def _with_ap(clear: Values, nobody_else: Values) -> Values:
    """Return tau_1 of 1 - p = (1-tau_1) (1-tau_2)^(n-1) (L5); it rises with p, as tau_2 falls."""
    with np.errstate(divide="ignore", invalid="ignore"):
        silent = np.where(nobody_else > 0.0, clear / nobody_else, 1.0)
    return 1.0 - np.minimum(silent, 1.0)


def _slots(
    tau_1: Values, tau_2: Values, nodes: Values, hold_slots: Values, variant: Variant
) -> _Slots:
    """Return (5) to (8), with x of L3 as 1 - (1-tau_1) (1-tau_2)^n, which follows from (4)."""
    none, one = _none_and_one(tau_2, nodes)
    silent = 1.0 - tau_1
    survive, spent = hold_terms(tau_1, hold_slots)
    held = (1.0 - silent * none) * spent
    p_hold, counting = held / (survive + held), survive / (survive + held)
    quiet = p_hold + counting * none
    return _Slots(
        p_hold=p_hold,
        counting=counting,
        idle=silent * quiet,
        ack=tau_1 * quiet if variant.ap_success == "exclusive" else tau_1,
        data=silent * counting * one,
    )


def _none_and_one(tau_2: Values, nodes: Values) -> tuple[Values, Values]:
    """Return (1-tau_2)^n and n tau_2 (1-tau_2)^(n-1)."""
    others = _nobody_else(tau_2, nodes)
    return (1.0 - tau_2) * others, nodes * tau_2 * others


def _nobody_else(tau_2: Values, nodes: Values) -> Values:
    """Return (1-tau_2)^(n-1) with full precision."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = (nodes - 1.0) * np.log1p(-tau_2)
    return np.where(nodes == 1.0, 1.0, np.exp(power))  # a single station: 0 * log 0 means 0 here


def _throughput(
    nodes: Values, p: Values, success: Values, slot: Values, parameters: Parameters
) -> Throughput:
    rate = success / slot
    goodput = np.asarray(rate * parameters.payload_bits)
    return Throughput(
        n=nodes,
        utilization=np.asarray(rate * parameters.payload_s)[()],
        goodput_bps=goodput[()],
        flow_goodput_bps=np.asarray(goodput / nodes)[()],
        slot_s=np.asarray(slot)[()],
        collision_probability=np.asarray(p)[()],
    )


def _segments(d: ArrayLike) -> Values:
    return checks.real("d", d, at_least=1.0, at_most=_MOST_SEGMENTS)
