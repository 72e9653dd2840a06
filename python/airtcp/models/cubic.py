"""Mean windows of CUBIC and Reno on a path that loses one of every 1/p segments: RFC 9438, 5.1.

Symbols of the RFC: p, the probability that a segment is lost; RTT; C and beta_cubic. Knows
formulas. Does not know queues: the loss is given, and the round trip with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["average_window", "cubic_window", "reno_window"]

BETA = 0.7  # what a loss leaves of the window: RFC 9438, 4.6


def reno_window(p: ArrayLike) -> NDArray[np.float64]:
    """Mean window of Reno in segments, 1.2 / sqrt(p): RFC 3649, 2.

    >>> float(reno_window(1e-6))
    1200.0
    """
    return np.asarray(1.2 / np.sqrt(np.asarray(p, dtype=np.float64)))


def cubic_window(p: ArrayLike, rtt_s: ArrayLike, c: float = 0.4) -> NDArray[np.float64]:
    """AVG_W_cubic in segments, outside the Reno-friendly region: RFC 9438, 5.1.

    (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4); `c` is C in segments per second cubed.

    >>> round(float(cubic_window(1e-4, 0.1)))
    187
    """
    ratio = np.asarray(rtt_s, dtype=np.float64) / np.asarray(p, dtype=np.float64)
    return np.asarray((c * (3.0 + BETA) / (4.0 * (1.0 - BETA))) ** 0.25 * ratio**0.75)


def average_window(p: ArrayLike, rtt_s: ArrayLike, c: float = 0.4) -> NDArray[np.float64]:
    """Mean window of CUBIC in segments: its own, or its friend Reno's where that is more.

    >>> round(float(average_window(1e-4, 0.01)))
    120
    """
    return np.asarray(np.maximum(cubic_window(p, rtt_s, c), reno_window(p)))
