"""Model AIMD flows that share a bottleneck: peak windows, shares, and convergence.

Paper L, section 5 (D. J. Leith, P. Clifford, "Using the 802.11e EDCF to achieve TCP upload fairness
over WLAN links", 2005), after R. Shorten, F. Wirth, D. Leith, "A positive systems model of TCP-like
congestion control: asymptotic results", IEEE/ACM Trans. Networking 14(3), 2006. The model has the
windows at the ends of congestion epochs, when the bottleneck's queue overflows. It has no slow
start, no timeouts and no packets.

The last axis of every argument is the flow. alpha_i is the growth of flow i's window in segments
per second (its increase per RTT divided by its RTT), beta_i the factor that a loss leaves of the
window (0.5 in standard TCP), lambda_i the probability that flow i has a loss when the queue
overflows. lambda_i is an input (L10): with drop-tail the flows do not lose in the same epochs, and
equal lambda_i do not match simulations. On average a flow keeps b_i = 1 - lambda_i (1 - beta_i).

>>> share = wired_shares(increase=1.0, beta=0.5, rtt_s=[0.1, 0.2])
>>> share.flow_share.round(3)  # footnote 2 of section 5.1: as the inverse square of the RTTs
array([0.8, 0.2])
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from airtcp.exceptions import ConvergenceError
from airtcp.models import checks
from airtcp.models.checks import Values
from numpy.typing import ArrayLike

__all__ = [
    "Shares",
    "Uploads",
    "aimd_matrix",
    "convergence_epochs",
    "epoch_s",
    "peak_windows",
    "second_eigenvalue",
    "uploads",
    "window_history",
    "wired_shares",
]

_MOST_EPOCHS = 1_000_000


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of flows at a wired bottleneck; one value per flow on the last axis.

    `window_share` is of the mean peak windows, `flow_share` of the throughput; each adds up to 1.
    """

    window_share: Values
    flow_share: Values


@dataclass(frozen=True, slots=True)
class Uploads:
    """TCP uploads from n stations through a wireless and a wired hop.

    `flow_bps` is per flow, on the last axis; `goodput_bps` the total; `jain_index` that of the
    flows; `wireless` whether the wireless hop is the bottleneck.
    """

    flow_bps: Values
    goodput_bps: Values
    jain_index: Values
    wireless: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def peak_windows(
    alpha: ArrayLike,
    beta: ArrayLike,
    loss_probability: ArrayLike = 1.0,
    *,
    weight: ArrayLike = 1.0,
    total: ArrayLike = 1.0,
) -> Values:
    """Return mean windows at queue overflow, section 5.1: alpha_i / (lambda_i (1 - beta_i)).

    They are scaled so that the sum of weight_i w_i is `total`. With weight 1 that is the number of
    segments that fit into path and queue; with 1/RTT_i (including queueing) it is the rate of the
    bottleneck.

    Raises `ValueError` unless alpha > 0, 0 <= beta < 1, 0 < lambda <= 1, weight > 0, total > 0.

    >>> peak_windows([1.0, 0.2], [0.5, 0.95], total=120.0).round(6)
    array([40., 80.])
    """
    increase, lost, weights = _flows(alpha, beta, loss_probability, weight)
    size = checks.real("total", total, above=0.0)
    shape = increase / lost
    sums = (weights * shape).sum(axis=-1)
    checks.broadcast(total=size, alpha=sums)
    windows: Values = shape * np.asarray(size / sums)[..., np.newaxis]
    return windows


def epoch_s(
    alpha: ArrayLike,
    beta: ArrayLike,
    loss_probability: ArrayLike = 1.0,
    *,
    weight: ArrayLike = 1.0,
    total: ArrayLike = 1.0,
) -> Values:
    """Return the mean congestion epoch in seconds: the time to grow back at alpha.

    It is (1 - b_i) w_i / alpha_i with the windows of `peak_windows`, the same for every flow.
    Arguments and errors as in that function.

    >>> float(epoch_s([10.0, 10.0], 0.5, total=40.0))
    1.0
    """
    increase, lost, weights = _flows(alpha, beta, loss_probability, weight)
    size = checks.real("total", total, above=0.0)
    growth = (weights * increase / lost).sum(axis=-1)
    size, growth = checks.broadcast(total=size, alpha=growth)
    return np.asarray(size / growth)[()]


def aimd_matrix(
    alpha: ArrayLike,
    beta: ArrayLike,
    loss_probability: ArrayLike = 1.0,
    *,
    weight: ArrayLike = 1.0,
) -> Values:
    """Return A of W(k+1) = A W(k), the mean peak windows of successive congestion epochs.

    A = diag(b) + alpha (weight (1-b))^T / sum(weight alpha): Shorten, Wirth, Leith (2006) for
    weight 1 and lambda 1. It preserves sum(weight w) and the windows of `peak_windows`. Errors as
    in that function.

    >>> aimd_matrix([1.0, 1.0], 0.5)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    increase, lost, weights = _flows(alpha, beta, loss_probability, weight)
    rise = increase / (weights * increase).sum(axis=-1, keepdims=True)
    given_up = weights * lost
    spread = rise[..., :, np.newaxis] * given_up[..., np.newaxis, :]
    matrix: Values = (1.0 - lost)[..., np.newaxis] * np.eye(lost.shape[-1]) + spread
    return matrix


def second_eigenvalue(
    alpha: ArrayLike,
    beta: ArrayLike,
    loss_probability: ArrayLike = 1.0,
    *,
    weight: ArrayLike = 1.0,
) -> Values:
    """Return the second largest eigenvalue of `aimd_matrix`: the decay of a disturbance.

    All eigenvalues are real; the largest is 1, and this one is between the two largest b_i. With
    equal beta and lambda 1 it is beta; for two flows with weight 1 it is (alpha_2 b_1 + alpha_1
    b_2) / (alpha_1 + alpha_2); for a single flow it is 0. Errors as in `peak_windows`, and
    `ConvergenceError` if rounding hides how far below 1 it is.

    >>> round(float(second_eigenvalue([1.0, 0.2], [0.5, 0.95])), 6)  # Fig. 10b, equal RTTs
    0.875
    """
    return np.asarray(1.0 - _gap(alpha, beta, loss_probability, weight))[()]


def convergence_epochs(
    alpha: ArrayLike,
    beta: ArrayLike,
    loss_probability: ArrayLike = 1.0,
    *,
    weight: ArrayLike = 1.0,
    convergence: ArrayLike = 0.95,
) -> Values:
    """Return the congestion epochs until 95 % of a disturbance is gone, section 5.2.

    That is log(1 - convergence) / log(second eigenvalue), not rounded. With beta 0.5 it is 4.3; the
    paper says 4, after which 93.75 % is gone. Valid only for flows with a wired bottleneck: an
    upload whose bottleneck is its own station's queue has no losses before its window is full.

    Raises the errors of `second_eigenvalue`, and `ValueError` unless 0 < convergence < 1.

    >>> convergence_epochs([1.0, 1.0], [[0.5, 0.5], [0.5, 0.95]]).round(2)
    array([4.32, 9.32])
    """
    fraction = checks.real("convergence", convergence, above=0.0, at_most=1.0)
    if np.any(fraction == 1.0):
        raise ValueError("convergence must be less than 1, not 1: it is never complete")
    gap = _gap(alpha, beta, loss_probability, weight)
    fraction, gap = checks.broadcast(convergence=fraction, alpha=gap)
    with np.errstate(divide="ignore"):  # an eigenvalue of 0 gives log 0 = -inf, and 0 epochs
        return np.asarray(np.log1p(-fraction) / np.log1p(-gap))[()]


def window_history(
    start: ArrayLike,
    epochs: int,
    alpha: ArrayLike,
    beta: ArrayLike,
    loss_probability: ArrayLike = 1.0,
    *,
    weight: ArrayLike = 1.0,
) -> Values:
    """Return mean windows at the ends of epochs 0 .. `epochs`, section 5.2, Figs 9 and 10.

    Epochs are the last axis but one. sum(weight w) stays as in `start`. Errors as in
    `peak_windows`.

    >>> window_history([40.0, 0.0], 3, [1.0, 1.0], 0.5)
    array([[40. ,  0. ],
           [30. , 10. ],
           [25. , 15. ],
           [22.5, 17.5]])
    """
    count = int(checks.scalar("epochs", epochs, at_least=0, at_most=_MOST_EPOCHS, whole=True))
    matrix = aimd_matrix(alpha, beta, loss_probability, weight=weight)
    window = checks.real("start", start, at_least=0.0)
    window, _ = checks.broadcast(start=window, alpha=matrix[..., 0])
    history = [window]
    for _epoch in range(count):
        history.append((matrix @ history[-1][..., np.newaxis])[..., 0])
    return np.stack(history, axis=-2)


def wired_shares(
    increase: ArrayLike,
    beta: ArrayLike,
    rtt_s: ArrayLike,
    loss_probability: ArrayLike = 1.0,
    *,
    window: Literal["peak", "mean"] = "peak",
) -> Shares:
    """Return the shares of flows with a wired bottleneck, section 5.1, Figs 7 and 8a.

    `increase` is in segments per RTT (1 in standard TCP), so alpha_i = increase_i / RTT_i; `rtt_s`
    includes queueing. Throughput is proportional to window / RTT. The window is the "peak" one (the
    paper's footnote 2) or the "mean" over an epoch, which is (1 + b_i)/2 of it; with equal beta and
    lambda both give the same.

    Raises `ValueError` like `peak_windows`.

    >>> wired_shares(1.0, [0.5, 0.95], 0.1, window="mean").flow_share.round(4)
    array([0.0714, 0.9286])
    """
    checks.choice("window", window, ("peak", "mean"))
    steps = checks.real("increase", increase, above=0.0)
    rtt = checks.real("rtt_s", rtt_s, above=0.0)
    steps, rtt = checks.broadcast(increase=steps, rtt_s=rtt)
    alpha, lost, rtt = _flows(steps / rtt, beta, loss_probability, rtt)
    peak = alpha / lost
    rate = peak / rtt if window == "peak" else peak * (1.0 - lost / 2.0) / rtt
    return Shares(
        window_share=peak / peak.sum(axis=-1, keepdims=True),
        flow_share=rate / rate.sum(axis=-1, keepdims=True),
    )


def uploads(wired_bps: ArrayLike, wireless_bps: ArrayLike, wired_share: ArrayLike) -> Uploads:
    """Return the goodput of uploads through both hops, and the bottleneck; section 5.1.

    `wired_bps` is the wired link's capacity for TCP payload, `wireless_bps` the wireless hop's if
    all stations always have data (`leith.throughput`). Below `wireless_bps` the wired link is the
    bottleneck and AIMD determines the shares (`wired_share`, last axis: the `flow_share` of
    `wired_shares`). Above it the MAC gives every station the same, whatever its RTT, alpha and
    beta. The change is abrupt: a station that sends less than its share leaves the rest to others,
    so below that point no station waits for the MAC.

    Raises `ValueError` unless the rates are above 0 and the shares of each scenario add up to 1.

    >>> both = uploads([4e6, 6e6], 5e6, [0.8, 0.2])
    >>> both.flow_bps / 1e6, both.jain_index.round(3)
    (array([[3.2, 0.8],
           [2.5, 2.5]]), array([0.735, 1.   ]))
    """
    wired = checks.real("wired_bps", wired_bps, above=0.0)
    air = checks.real("wireless_bps", wireless_bps, above=0.0)
    share = np.atleast_1d(checks.real("wired_share", wired_share, at_least=0.0, at_most=1.0))
    if np.any(np.abs(share.sum(axis=-1) - 1.0) > 1e-9):
        raise ValueError("wired_share must add up to 1 over the flows")
    checks.broadcast(wired_bps=wired, wireless_bps=air, wired_share=share[..., 0])
    wired, air = np.broadcast_arrays(wired, air)
    wireless = np.asarray(wired >= air)
    equal = np.full(share.shape, 1.0 / share.shape[-1])
    goodput = np.minimum(wired, air)
    flow_share = np.where(wireless[..., np.newaxis], equal, share)
    flow = goodput[..., np.newaxis] * flow_share
    jain = 1.0 / (share.shape[-1] * (flow_share**2).sum(axis=-1))
    return Uploads(
        flow_bps=flow,
        goodput_bps=np.asarray(flow.sum(axis=-1))[()],
        jain_index=np.asarray(jain)[()],
        wireless=wireless,
    )


def _gap(
    alpha: ArrayLike, beta: ArrayLike, loss_probability: ArrayLike, weight: ArrayLike
) -> Values:
    """Return 1 minus the second eigenvalue of `aimd_matrix`."""
    increase, lost, weights = _flows(alpha, beta, loss_probability, weight)
    if lost.shape[-1] == 1:
        return np.ones(lost.shape[:-1])
    # 1 - A is similar to this symmetric matrix (scale flow i by the root of weight lost / alpha).
    # Its eigenvalues keep their precision if all b are near 1.
    share = weights * increase / (weights * increase).sum(axis=-1, keepdims=True)
    root = np.sqrt(share * lost)
    symmetric = lost[..., np.newaxis] * np.eye(lost.shape[-1]) - (
        root[..., :, np.newaxis] * root[..., np.newaxis, :]
    )
    gap: Values = np.linalg.eigvalsh(symmetric)[..., 1]
    if np.any(gap < 1e-12 * lost.max(axis=-1)):
        raise ConvergenceError("second eigenvalue: equal to 1 but for rounding")
    return np.minimum(gap, 1.0)


def _flows(
    alpha: ArrayLike, beta: ArrayLike, loss_probability: ArrayLike, weight: ArrayLike
) -> tuple[Values, Values, Values]:
    """Return alpha, 1 - b = lambda (1 - beta), and the weights, with an axis of flows."""
    increase = checks.real("alpha", alpha, above=0.0)
    left = checks.real("beta", beta, at_least=0.0, at_most=1.0)
    if np.any(left == 1.0):
        raise ValueError("beta must be less than 1, not 1: the flow would never back off")
    loss = checks.real("loss_probability", loss_probability, above=0.0, at_most=1.0)
    weights = checks.real("weight", weight, above=0.0)
    checks.broadcast(alpha=increase, beta=left, loss_probability=loss, weight=weights)
    increase, left, loss, weights = np.broadcast_arrays(
        *np.atleast_1d(increase, left, loss, weights)
    )
    return increase, loss * (1.0 - left), weights
