"""Compute paper M, appendix A: one connection with a window of W* packets, (A.1) to (A.3).

The window's packets wait at the sender (the access point) or, as TCP ACKs, at the receiver. The
appendix writes T_P and T_A for what section 2.3 calls T_TCP_data and T_TCP_ack (M15).
"""

import numpy as np
from airtcp.models import checks
from airtcp.models.checks import Values
from numpy.typing import ArrayLike

from airtcp_papers.miorandi.model.contention import contention
from airtcp_papers.miorandi.model.parameters import PAPER, Parameters, Variant

__all__ = ["phi", "window_distribution", "window_throughput", "window_throughput_by_chain"]


def window_distribution(window: int) -> Values:
    """Return (A.1): the probability of a = 0 .. W* packets at the sender.

    The receiver has the other W* - a. At the instants of MAC ACKs: 1/W* inside, 1/(2 W*) at both
    ends.

    Raises `ValueError` unless window is whole, >= 1 and <= 1e6.

    >>> window_distribution(4)
    array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
    """
    packets = checks.scalar("window", window, at_least=1, at_most=1e6, whole=True)
    weights = np.ones(int(packets) + 1)
    weights[[0, -1]] = 0.5
    return weights / packets


def phi(window: ArrayLike, parameters: Parameters, variant: Variant = PAPER) -> Values:
    """Return phi of (A.3): the mean backoff and collision time per segment and ACK, seconds.

    (2 (W* - 1)(T_tbo + T_W) + T_slot (CWmin - 1)) / W*, T_tbo and T_W for two backlogged nodes.

    Raises `ValueError` unless window >= 1, `ConvergenceError`.

    >>> round(float(phi(1, Parameters.table_1())) * 1e6)  # no contention: two first backoffs
    620
    """
    packets = checks.real("window", window, at_least=1.0)
    two = contention(2.0, parameters, variant)
    contended = 2.0 * (packets - 1.0) * (two.t_tbo_s + two.t_w_s)
    return np.asarray((contended + 2.0 * parameters.mean_first_backoff_s) / packets)[()]


def window_throughput(
    window: ArrayLike, parameters: Parameters, variant: Variant = PAPER
) -> Values:
    """Return (A.3): the throughput of one connection with a window of W* packets, in bit/s.

    Raises `ValueError` unless window >= 1, `ConvergenceError`.

    >>> window_throughput([1, 1000], Parameters.table_1()).round(-3)
    array([2250000., 2371000.])
    """
    wasted = phi(window, parameters, variant)
    cycle = parameters.t_tcp_data_s + parameters.t_tcp_ack_s + wasted
    return np.asarray(parameters.tcp_payload_bits / cycle)[()]


def window_throughput_by_chain(
    window: int, parameters: Parameters, variant: Variant = PAPER
) -> float:
    """Return (A.2): the same from the distribution (A.1), by Markov renewal reward.

    Raises `ValueError` unless window is whole and >= 1, `ConvergenceError`.

    >>> round(window_throughput_by_chain(1, Parameters.table_1()), -3)  # as `window_throughput`
    2250000.0
    """
    pi = window_distribution(window)
    two = contention(2.0, parameters, variant)
    inside, empty, full = pi[1:-1].sum(), pi[0], pi[-1]
    first = parameters.mean_first_backoff_s
    data, ack = parameters.t_tcp_data_s, parameters.t_tcp_ack_s
    # A packet is acknowledged with probability 1/2 inside, and certainly if all are at the
    # receiver.
    acknowledged = 0.5 * inside + empty
    time = inside * (0.5 * (data + ack) + two.t_tbo_s + two.t_w_s)
    time += empty * (ack + first) + full * (data + first)
    return float(parameters.tcp_payload_bits * acknowledged / time)
