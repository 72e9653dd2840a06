"""Compute mean windows on a path that loses every 1/p-th segment: CUBIC, Reno, AIMD.

RFC 9438, 4.3 and 5.1; M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP
congestion avoidance algorithm", ACM CCR 27(3), 1997. Symbols of the RFC: p, the loss probability of
a segment; RTT; C and beta_cubic. There are no queues: loss and RTT are given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from airtcp.models import checks
from airtcp.models.checks import Values

__all__ = ["average_window", "cubic_window", "reno_window", "square_root_window"]

BETA = 0.7  # the factor that a loss leaves of the window: RFC 9438, 4.6


def reno_window(p: ArrayLike) -> Values:
    """Return the mean window of Reno in segments, 1.2 / sqrt(p): RFC 3649, 2.

    Raises ValueError unless p is above 0 and at most 1.

    >>> float(reno_window(1e-6))
    1200.0
    """
    return np.asarray(1.2 / np.sqrt(checks.real("p", p, above=0.0, at_most=1.0)))


def square_root_window(
    p: ArrayLike, *, increase: ArrayLike = 1.0, decrease: ArrayLike = 0.5
) -> Values:
    """Return the mean AIMD window in segments, sqrt(a (1 + b) / (2 (1 - b) p)).

    RFC 9438, Figure 3. `increase` a is the growth per round trip, `decrease` b the factor that a
    loss leaves. With 1 and 1/2 it is the formula of Mathis et al. (1997), sqrt(3/2) / sqrt(p).
    Losses are regular, one of every 1/p segments; random losses at the same rate give a slightly
    larger window, as long as they are rare.

    Raises ValueError unless p is above 0 and at most 1, a above 0, and 0 <= b < 1.

    >>> square_root_window([1e-2, 1e-4]).round(2)
    array([ 12.25, 122.47])
    """
    loss, a, b = checks.broadcast(
        p=checks.real("p", p, above=0.0, at_most=1.0),
        increase=checks.real("increase", increase, above=0.0),
        decrease=checks.real("decrease", decrease, at_least=0.0, at_most=1.0 - 1e-9),
    )
    return np.asarray(np.sqrt(a * (1.0 + b) / (2.0 * (1.0 - b) * loss)))[()]


def cubic_window(p: ArrayLike, rtt_s: ArrayLike, c: float = 0.4) -> Values:
    """Return AVG_W_cubic in segments, outside the Reno-friendly region: RFC 9438, 5.1.

    (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4); `c` is C in segments per second cubed.
    Raises ValueError unless p is above 0 and at most 1, the RTT and C are above 0, and the shapes
    broadcast.

    >>> round(float(cubic_window(1e-4, 0.1)))
    187
    """
    p, rtt_s = checks.broadcast(
        p=checks.real("p", p, above=0.0, at_most=1.0),
        rtt_s=checks.real("rtt_s", rtt_s, above=0.0),
    )
    c = checks.scalar("c", c, above=0.0)
    ratio = rtt_s / p
    return np.asarray((c * (3.0 + BETA) / (4.0 * (1.0 - BETA))) ** 0.25 * ratio**0.75)


def average_window(p: ArrayLike, rtt_s: ArrayLike, c: float = 0.4) -> Values:
    """Return the mean window of CUBIC in segments, or the Reno-friendly one if larger.

    Raises ValueError like `cubic_window`.

    >>> round(float(average_window(1e-4, 0.01)))
    120
    """
    return np.asarray(np.maximum(cubic_window(p, rtt_s, c), reno_window(p)))
