"""Model paper G: how likely nodes that always have a frame transmit in the same slot.

All nodes draw a backoff at once, uniformly over one window. Windows do not double, counters do not
freeze, and there are no durations.

S. Gopal, S. Paul, D. Raychaudhuri, "Investigation of the TCP simultaneous-send problem in 802.11
wireless local area networks", 2004, section II. Its symbols: N, here `others`, is the number of
other nodes, so N + 1 contend (erratum G1); with N uploads through an access point these are the N
stations and the access point. CW, here `w0`, is the number of slots for a backoff, 0 .. CW - 1 (the
standard's aCWmin + 1).

The paper does not distinguish two probabilities (erratum G2). `any_two_coincide` is its (1): any
two of the N + 1 backoffs are equal. `next_transmission_collides` concerns only the smallest
backoff, because that one decides whether the next transmission fails. A simulation counts the
second. They are equal for two nodes; for four nodes and 32 slots the first is almost three times as
large:

>>> simultaneous_send([1, 3], 32).any_two.round(4)
array([0.0312, 0.1769])
>>> simultaneous_send([1, 3], 32).next_transmission.round(4)
array([0.0312, 0.0615])
"""

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final

import numpy as np
from airtcp.models import checks
from airtcp.models.checks import Values
from numpy.typing import ArrayLike

__all__ = [
    "SimultaneousSend",
    "any_two_coincide",
    "next_transmission_collides",
    "simultaneous_send",
]

_MOST_SLOTS = 2**20
"""(1) takes about 9 sqrt(CW) steps until it is one: 10,000 here, 300 for the widest of 802.11."""

_LAST_SLOT = 45
"""For N >= CW slot k adds at most exp(-k): 3e-20 for the last."""


def _bernoulli(last: int) -> list[float]:
    """Return B_0 .. B_last, rounded once: sum_{k=0}^{n} C(n+1, k) B_k = 0 for n >= 1."""
    exact = [Fraction(1)]
    for n in range(1, last + 1):
        before = (comb(n + 1, k) * exact[k] for k in range(n))
        exact.append(-sum(before, Fraction(0)) / (n + 1))
    return [float(number) for number in exact]


_BERNOULLI: Final = _bernoulli(24)
"""For N < CW term r of the sum over powers is below 2 (2 pi)^-r: 1e-19 for the last."""


@dataclass(frozen=True, slots=True)
class SimultaneousSend:
    """Both probabilities for `others` + 1 nodes that draw from `w0` slots.

    `any_two` (1): at least two of them draw the same slot. `next_transmission`: at least two draw
    the earliest slot of all, so that the next transmission is a collision.
    """

    others: Values
    w0: Values
    any_two: Values
    next_transmission: Values


def any_two_coincide(others: ArrayLike, w0: ArrayLike) -> Values:
    """Return (1): at least two of `others` + 1 nodes draw the same of `w0` slots.

    1 - (CW-1)! / ((CW-N-1)! CW^N), the birthday problem; 1 for N >= CW, 0 for N = 0. N is the
    number of other nodes (G1). It is not the probability that the next transmission fails (G2).

    Raises `ValueError` unless `others` is whole and >= 0, and `w0` whole, >= 1 and <= 2^20.

    >>> any_two_coincide([1, 3], [[32], [64]]).round(4)
    array([[0.0312, 0.1769],
           [0.0156, 0.0911]])
    """
    nodes, slots = _inputs(others, w0)
    log_distinct = np.zeros(nodes.shape)
    for node in range(1, int(min(nodes.max(), slots.max())) + 1):
        # Beyond exp(-40) the complement is one, to the last bit.
        open_ = (node <= nodes) & (log_distinct > -40.0)
        if not open_.any():
            break
        with np.errstate(divide="ignore"):
            factor = np.log1p(-np.minimum(node / slots, 1.0))
        log_distinct = np.where(open_, log_distinct + factor, log_distinct)
    return np.asarray(-np.expm1(log_distinct))[()]


def next_transmission_collides(others: ArrayLike, w0: ArrayLike) -> Values:
    """Return the probability that at least two of `others` + 1 nodes draw the earliest slot (G2).

    1 - (N+1)/CW^(N+1) sum_{j=0}^{CW-1} j^N: one node draws slot CW-1-j, the N others later ones.
    The sum over powers is computed in closed form (Bernoulli numbers, exact for whole N) for N <
    CW, and term by term from the earliest slot for N >= CW. For two nodes it is 1/CW, as is (1).

    Raises `ValueError` unless `others` is whole and >= 0, and `w0` whole, >= 1 and <= 2^20.

    >>> next_transmission_collides([0, 1, 3, 10], 32).round(4)
    array([0.    , 0.0312, 0.0615, 0.1629])
    """
    nodes, slots = _inputs(others, w0)
    few = nodes < slots

    n, w = np.where(few, nodes, 0.0), slots
    collides, ways = np.zeros(nodes.shape), np.ones(nodes.shape)
    for r in range(1, len(_BERNOULLI)):
        # ways is C(N+1, r) / CW^r; the sum over powers of N ends with r = N.
        ways = ways * (n + 2.0 - r) / r / w
        collides = collides - np.where(r <= n, _BERNOULLI[r] * ways, 0.0)

    n = np.where(few, 1.0, nodes)
    alone = np.zeros(nodes.shape)
    for slot in range(1, _LAST_SLOT + 1):
        later = np.maximum(1.0 - slot / w, 0.0)
        alone = alone + later**n
    return np.where(few, collides, 1.0 - (n + 1.0) / w * alone)[()]


def simultaneous_send(others: ArrayLike, w0: ArrayLike) -> SimultaneousSend:
    """Return (1), and the probability that the next transmission collides.

    Raises `ValueError` like `any_two_coincide`.

    >>> round(float(simultaneous_send(1, 64).any_two), 6)  # the window doubled: half of 1/32
    0.015625
    """
    nodes, slots = _inputs(others, w0)
    return SimultaneousSend(
        others=nodes[()],
        w0=slots[()],
        any_two=any_two_coincide(nodes, slots),
        next_transmission=next_transmission_collides(nodes, slots),
    )


def _inputs(others: ArrayLike, w0: ArrayLike) -> tuple[Values, Values]:
    nodes = checks.real("others", others, at_least=0.0, whole=True)
    slots = checks.real("w0", w0, at_least=1.0, at_most=_MOST_SLOTS, whole=True)
    nodes, slots = checks.broadcast(others=nodes, w0=slots)
    return nodes, slots
