"""Model the saturated DCF after Bianchi: collisions of nodes that always have a frame.

Inputs are backoff stages and the durations of a slot, a success and a collision. These are plain
numbers, so any PHY fits (`slot_times` derives them from one). There is no TCP and there are no
queues.

G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function", IEEE JSAC
18(3), 2000 (unlimited retries); finite retry limits after H. Wu et al., "Performance of reliable
transport protocol over IEEE 802.11 wireless LAN: analysis and enhancement", INFOCOM 2002. Their
symbols: n nodes, W the window of the first stage (CWmin + 1), m doublings, tau the probability that
a node transmits in a slot, p the probability that a transmission collides.

The two equations are solved in their summed form, in which p = 1/2 is not singular.

>>> point = fixed_point([5, 20], w0=32, m=3)
>>> times = FHSS_BASIC
>>> saturation(point, times).utilization.round(4)
array([0.8097, 0.6788])
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from airtcp.models import checks
from airtcp.models.airtime import Phy, Rate, collision_time_ns, exchange_time_ns
from airtcp.models.checks import Values
from airtcp.models.roots import increasing_root
from airtcp.phrases import phrase

__all__ = [
    "FHSS_BASIC",
    "FHSS_RTS",
    "FixedPoint",
    "Saturation",
    "SlotTimes",
    "approximate_largest_utilization",
    "attempt_probability",
    "fixed_point",
    "largest_utilization",
    "saturation",
    "slot_times",
]

_MOST_STAGES = 10_000


@dataclass(frozen=True, slots=True)
class SlotTimes:
    """The durations of exchanges and collisions, in seconds.

    `slot_s` is an idle slot; `success_s` (Ts) and `collision_s` (Tc) are slots with a success and
    with a collision, including the waits after them; `payload_s` is the transmission time of the
    payload.
    """

    slot_s: float
    success_s: float
    collision_s: float
    payload_s: float

    def __post_init__(self) -> None:
        for name in ("slot_s", "success_s", "collision_s"):
            checks.scalar(name, getattr(self, name), above=0.0)
        checks.scalar("payload_s", self.payload_s, at_least=0.0)


FHSS_BASIC: Final = SlotTimes(50e-6, 8982e-6, 8713e-6, 8184e-6)
"""Bianchi's example (Table II): FHSS at 1 Mb/s, payload 8184 bits, basic access."""

FHSS_RTS: Final = SlotTimes(50e-6, 9568e-6, 417e-6, 8184e-6)
"""The same with RTS/CTS."""


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """The solution: `tau`, `p`, and `drop`, the probability of reaching the retry limit."""

    n: Values
    tau: Values
    p: Values
    drop: Values


@dataclass(frozen=True, slots=True)
class Saturation:
    """The channel in saturation.

    `p_transmission` (Ptr): at least one node transmits in a slot. `p_success` (Ps): exactly one
    does, given that. `slot_s`: mean duration of a slot. `success_rate_per_s`: successes of all
    nodes per second. `utilization` (S): fraction of time with payload of successes.
    """

    p_transmission: Values
    p_success: Values
    slot_s: Values
    success_rate_per_s: Values
    utilization: Values


def attempt_probability(
    p: ArrayLike, w0: ArrayLike, m: ArrayLike, retries: ArrayLike | None = None
) -> Values:
    """Return the attempt probability tau for the collision probability p.

    Bianchi (7) for `retries` None, Wu et al. (2002) for a limit: a frame is sent at most `retries`
    + 1 times; at stage i the backoff is uniform over 0 .. 2^min(i, m) `w0` - 1. tau = 1 / (1 + mean
    backoff over the attempts of a frame).

    Raises `ValueError` unless 0 <= p <= 1, w0 >= 1, 0 <= m <= 60, 0 <= retries < 10000.

    >>> float(attempt_probability(0.5, 32, 5))  # where the closed form of (7) is 0/0
    0.017699115044247787
    """
    probability = checks.real("p", p, at_least=0.0, at_most=1.0)
    stages = _stages(w0, m, retries)
    checks.broadcast(p=probability, **stages)
    return _tau(probability, stages)[()]


def fixed_point(
    n: ArrayLike, w0: ArrayLike, m: ArrayLike, retries: ArrayLike | None = None
) -> FixedPoint:
    """Solve for tau and p of `n` nodes: `attempt_probability` and p = 1 - (1 - tau)^(n-1).

    `retries`: None for no limit (Bianchi 2000). Otherwise a frame is sent at most `retries` + 1
    times and then dropped, with probability `drop` = p^(retries+1). Every argument may be an array;
    `n` need not be whole. tau never increases with p, so there is exactly one root.

    Raises `ValueError` with the name of an argument out of range (n >= 1), and `ConvergenceError`.

    >>> round(float(fixed_point(5, 32, 5).p), 4)
    0.1781
    """
    nodes = checks.real("n", n, at_least=1.0)
    stages = _stages(w0, m, retries)
    nodes, *_ = checks.broadcast(n=nodes, **stages)

    def excess(p: Values) -> Values:
        return p - collision_given(_tau(p, stages), nodes)

    p = increasing_root(
        excess, np.zeros(nodes.shape), np.ones(nodes.shape), what="collision probability"
    )
    limit = stages.get("retries")
    drop = np.zeros(nodes.shape) if limit is None else p ** (limit + 1.0)
    return FixedPoint(n=nodes[()], tau=_tau(p, stages)[()], p=p[()], drop=drop[()])


def saturation(
    point: FixedPoint,
    times: SlotTimes,
    *,
    variant: Literal["bianchi", "freezing"] = "bianchi",
    w0: ArrayLike | None = None,
) -> Saturation:
    """Return the throughput of the saturated channel: Bianchi (13).

    In the variant "freezing" (Bianchi and Tinnirello 2005) only the node that just succeeded can
    use the first slot after its success, which it does with probability B = 1/`w0`. A success then
    carries 1/(1-B) payloads on average and takes Ts/(1-B) + slot; a collision takes Tc + slot. The
    variant needs `w0`. (ns-3's tables use it without the slot after a collision.)

    Raises `ValueError` for an unknown variant, or if that variant has no `w0` or one below 2.

    >>> ten = fixed_point(10, 32, 5)
    >>> round(float(saturation(ten, FHSS_BASIC).utilization), 4)
    0.7579
    >>> round(float(saturation(ten, FHSS_BASIC, variant="freezing", w0=32).utilization), 4)
    0.7578
    """
    checks.choice("variant", variant, ("bianchi", "freezing"))
    payload = np.asarray(times.payload_s)
    success, collision = np.asarray(times.success_s), np.asarray(times.collision_s)
    successes = np.asarray(1.0)
    if variant == "freezing":
        if w0 is None:
            raise ValueError(phrase("models.input.no_w0"))
        successes = 1.0 / (1.0 - 1.0 / checks.real("w0", w0, at_least=2.0))
        success, collision = success * successes + times.slot_s, collision + times.slot_s
    checks.broadcast(n=point.n, w0=np.asarray(successes))
    # log1p and expm1 keep the precision of tiny tau; tau = 1 gives log 0 = -inf, which is right.
    with np.errstate(divide="ignore"):
        busy = -np.expm1(point.n * np.log1p(-point.tau))
        one = point.n * point.tau * _power_one_less(point.tau, point.n)
    more = np.maximum(busy - one, 0.0)
    slot = (1.0 - busy) * times.slot_s + one * success + more * collision
    rate = one * successes / slot
    return Saturation(
        p_transmission=np.asarray(busy)[()],
        p_success=np.asarray(one / busy)[()],
        slot_s=np.asarray(slot)[()],
        success_rate_per_s=np.asarray(rate)[()],
        utilization=np.asarray(rate * payload)[()],
    )


def largest_utilization(n: ArrayLike, times: SlotTimes) -> Values:
    """Return the largest utilization that `n` saturated nodes can have, over all tau.

    It is at the tau that solves Bianchi (26): (1-tau)^n = Tc* (n tau - 1 + (1-tau)^n), Tc* =
    Tc/slot. `n` may be infinite, with a limit for n tau.

    Raises `ValueError` for n < 1, `ConvergenceError`.

    >>> largest_utilization([20, np.inf], FHSS_BASIC).round(4)
    array([0.8261, 0.824 ])
    """
    nodes = np.asarray(n)
    endless = nodes == np.inf
    nodes = checks.real("n", np.where(endless, 1, nodes) if endless.any() else n, at_least=1.0)
    collision = times.collision_s / times.slot_s

    def idle(load: Values) -> Values:
        tau = np.where(endless, 0.0, load / nodes)
        with np.errstate(divide="ignore"):
            return np.where(endless, np.exp(-load), np.exp(nodes * np.log1p(-tau)))

    def excess(load: Values) -> Values:
        return collision * (load - 1.0 + idle(load)) - idle(load)

    # The load is n tau: at most n; for infinite n there is no limit, but it never exceeds 1.
    high = np.where(endless, 1.0 + 1.0 / collision, nodes)
    load = increasing_root(excess, np.zeros(nodes.shape), high, what="load of largest throughput")
    tau = np.where(endless, 0.0, load / nodes)
    empty = idle(load)
    one = np.where(endless, load * empty, load * _power_one_less(tau, nodes))
    slot = empty * times.slot_s + one * times.success_s + (1 - empty - one) * times.collision_s
    return np.asarray(one * times.payload_s / slot)[()]


def approximate_largest_utilization(times: SlotTimes) -> float:
    """Return Bianchi's estimate of the largest utilization of many nodes, from n tau = 1 / K.

    K = sqrt(Tc* / 2) (Bianchi (28)) is the optimum only for long collisions: with RTS/CTS it gives
    0.8359, and `largest_utilization` 0.8361.

    >>> round(approximate_largest_utilization(FHSS_RTS), 4)
    0.8359
    """
    k = math.sqrt(times.collision_s / times.slot_s / 2.0)
    wasted = times.slot_s * k + times.collision_s * (k * math.expm1(1.0 / k) - 1.0)
    return times.payload_s / (times.success_s + wasted)


def slot_times(
    phy: Phy,
    msdu_bits: int,
    *,
    rts: bool,
    after_collision: Literal["eifs", "difs", "eifs+difs"] = "difs",
    payload_bits: int | None = None,
    data_rate: Rate | None = None,
    control_rate: Rate | None = None,
) -> SlotTimes:
    """Return Ts and Tc of nodes that send MSDUs of `msdu_bits` bits, from a PHY; in seconds.

    Ts = exchange + DIFS. Tc = frame (RTS with `rts`), then DIFS (Bianchi 2000), EIFS, or EIFS and
    DIFS. Propagation delays as in `exchange_time_ns`. The payload without headers counts at the
    data rate: `payload_bits`, default the whole MSDU.

    Raises `ValueError` like `airtcp.models.airtime`.

    >>> from airtcp.models.airtime import HOT_SPOT
    >>> times = slot_times(HOT_SPOT, 12000, rts=True)
    >>> round(times.success_s * 1e6, 1), round(times.collision_s * 1e6, 1)
    (2155.6, 322.0)
    """
    waits = {"difs": phy.difs_ns, "eifs": phy.eifs_ns, "eifs+difs": phy.eifs_ns + phy.difs_ns}
    checks.choice("after_collision", after_collision, tuple(waits))
    payload = checks.scalar(
        "payload_bits", msdu_bits if payload_bits is None else payload_bits, at_least=0, whole=True
    )
    success = exchange_time_ns(
        phy, msdu_bits, rts=rts, data_rate=data_rate, control_rate=control_rate
    )
    collision = collision_time_ns(
        phy, msdu_bits, rts=rts, data_rate=data_rate, control_rate=control_rate
    )
    return SlotTimes(
        slot_s=phy.slot_time_ns / 1e9,
        success_s=(int(success) + phy.difs_ns) / 1e9,
        collision_s=(int(collision) + waits[after_collision]) / 1e9,
        payload_s=payload / (data_rate or phy.data_rate).bps,
    )


def collision_given(tau: Values, n: Values) -> Values:
    """Return p = 1 - (1 - tau)^(n-1), Bianchi (9): at least one of the other `n` - 1 transmits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = -np.expm1((n - 1.0) * np.log1p(-tau))
    return np.where(n == 1.0, 0.0, p)  # a single sender has no others: 0 * log 0 means 0 here


def _power_one_less(tau: Values, n: Values) -> Values:
    """Return (1 - tau)^(n-1): none of the others transmits."""
    return 1.0 - collision_given(tau, n)


def _stages(w0: ArrayLike, m: ArrayLike, retries: ArrayLike | None) -> dict[str, Values]:
    stages = {
        "w0": checks.real("w0", w0, at_least=1.0),
        "m": checks.real("m", m, at_least=0.0, at_most=60.0, whole=True),
    }
    if retries is not None:
        stages["retries"] = checks.real(
            "retries", retries, at_least=0.0, at_most=_MOST_STAGES - 1.0, whole=True
        )
    return stages


def _tau(p: Values, stages: dict[str, Values]) -> Values:
    """Return attempts over slots: sum p^i / sum p^i (2^min(i,m) W + 1)/2, i a frame's stages."""
    w0, m, retries = stages["w0"], stages["m"], stages.get("retries")
    if retries is None:
        # Stages m, m+1, ... have the same window: their total weight is p^m, that of stage i < m is
        # (1-p) p^i.
        last = int(m.max())
        weight = np.ones(np.broadcast_shapes(p.shape, m.shape))
        slots = np.zeros(np.broadcast_shapes(p.shape, m.shape, w0.shape))
        for i in range(last + 1):
            share = np.where(i < m, weight * (1.0 - p), np.where(i == m, weight, 0.0))
            slots = slots + share * (np.exp2(i) * w0 + 1.0) / 2.0
            weight = weight * p
        return 1.0 / slots
    attempts = np.zeros(np.broadcast_shapes(p.shape, retries.shape))
    slots = np.zeros(np.broadcast_shapes(p.shape, retries.shape, w0.shape, m.shape))
    power = np.ones(p.shape)
    for i in range(int(retries.max()) + 1):
        share = np.where(i <= retries, power, 0.0)
        attempts = attempts + share
        slots = slots + share * (np.exp2(np.minimum(i, m)) * w0 + 1.0) / 2.0
        power = power * p
    return attempts / slots
