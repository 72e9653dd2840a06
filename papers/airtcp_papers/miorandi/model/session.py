"""Compute paper M, section 4: mean session delay of short downloads, (13) to (17).

One station (13) to (15), and n - 1 stations that share a capacity C_k, (16) and (17). A
distribution of sizes has a mean and a mean number of segments; sizes are in bytes. Everything is
for W* = 1.

A session ends with the last TCP ACK at the sender, as in the paper (M16).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from airtcp.models import checks
from airtcp.models.checks import Values
from numpy.typing import ArrayLike

from airtcp_papers.miorandi.model.parameters import PAPER, Parameters, Variant
from airtcp_papers.miorandi.model.throughput import capacity

__all__ = [
    "Sessions",
    "SizeLaw",
    "active_distribution",
    "affine_session_time",
    "mean_session_time",
    "processor_sharing",
    "session_delay",
    "session_time",
    "setup_time",
]


class SizeLaw(Protocol):
    """The moments of a distribution of file sizes X, in bytes, that (14) needs."""

    def mean(self) -> float:
        """Return E[X]."""

    def expected_segments(self, mss_bytes: int) -> float:
        """Return E[ceil(X / mss)], the mean number of segments of a file."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """Many stations in equilibrium: `session_s` of (17) is `setup_s` + `transfer_s`.

    `mean_active` is E[Y], the mean number of transfers in progress; `arrival_rate_per_s` is
    lambda_bar, transfers started per second by all stations; `goodput_bps` is their total goodput.
    """

    stations: Values
    setup_s: float
    transfer_s: Values
    session_s: Values
    mean_active: Values
    arrival_rate_per_s: Values
    goodput_bps: Values


def setup_time(parameters: Parameters, variant: Variant = PAPER) -> float:
    """Return E[T_setup] of (13), seconds: two header-only segments, each with a first backoff.

    (13) as "printed" leaves out L_MAC and the RTS/CTS exchange; `variant.setup` "full-exchange"
    includes both (M9).

    >>> round(setup_time(Parameters.table_1()) * 1e6, 2)
    1678.18
    """
    exchange = parameters.t_tcp_ack_s
    if variant.setup == "printed":
        frame = parameters.tcp_ack_s - parameters.mac_header_bits / parameters.data_rate_bps
        exchange = parameters.difs_s + frame + parameters.sifs_s + parameters.mac_ack_s
    return 2.0 * (exchange + parameters.mean_first_backoff_s)


def session_time(
    size_bytes: ArrayLike, parameters: Parameters, variant: Variant = PAPER, *, d: int = 1
) -> Values:
    """Return E[T_session] of (14), seconds, for files of `size_bytes` bytes and one station.

    `variant.last_packet` "padded" leaves out the last term of (14) (M10). `d` > 1 is the extension
    to delayed ACK with W* = d, which section 4.3 names without printing it: one TCP ACK, with its
    backoff, per d segments and for the rest. It does not include the timer that the last one may
    wait for.

    Raises `ValueError` unless size_bytes >= 0, and d is whole and >= 1.

    >>> session_time([1000, 1500], Parameters.table_1()).round(6)
    array([0.005233, 0.008424])
    """
    bits = 8.0 * checks.real("size_bytes", size_bytes, at_least=0.0)
    every = _every(d)
    segments = np.ceil(bits / parameters.tcp_payload_bits)
    acks = np.ceil(segments / every)
    return np.asarray(_session_time(bits, segments, acks, parameters, variant))[()]


def mean_session_time(
    sizes: SizeLaw, parameters: Parameters, variant: Variant = PAPER, *, d: int = 1
) -> float:
    """Return (14) averaged over a distribution of sizes, in seconds.

    The average is exact: (14) is linear in X, in its segments and in its TCP ACKs, one per `d`
    segments or the rest of them (see `session_time`). There are as many of these as segments d
    times as long.

    Raises `ValueError` if the law's mean or segments are not positive and finite, and unless d is
    whole and >= 1.

    >>> class Equal:  # all files have 30000 bytes
    ...     def mean(self): return 30_000.0
    ...     def expected_segments(self, mss_bytes): return float(-(-30_000 // mss_bytes))
    >>> round(mean_session_time(Equal(), Parameters.table_1()), 6)
    0.108325
    """
    mean = checks.scalar("sizes.mean()", sizes.mean(), above=0.0)
    mss = parameters.tcp_payload_bits // 8
    segments, acks = (
        checks.scalar("sizes.expected_segments()", sizes.expected_segments(each * mss), above=0.0)
        for each in (1, _every(d))
    )
    bits, packets, answers = np.asarray(8.0 * mean), np.asarray(segments), np.asarray(acks)
    return float(_session_time(bits, packets, answers, parameters, variant))


def affine_session_time(
    mean_size_bytes: ArrayLike, parameters: Parameters, variant: Variant = PAPER
) -> Values:
    """Return the affine approximation (15), seconds: setup and E[X] / L_TCP round trips.

    Raises `ValueError` unless mean_size_bytes >= 0.

    >>> float(affine_session_time(30_000, Parameters.table_1()).round(4))
    0.1083
    """
    bits = 8.0 * checks.real("mean_size_bytes", mean_size_bytes, at_least=0.0)
    rounds = bits / parameters.tcp_payload_bits
    return np.asarray(setup_time(parameters, variant) + rounds * _round_trip_s(parameters))[()]


def active_distribution(
    capacity_bps: ArrayLike, think_time_s: float, mean_size_bytes: float
) -> Values:
    """Return pi_k of (16) for k = 0 .. N transfers in progress, N = len(capacity_bps) stations.

    `capacity_bps` are C_1 .. C_N, of all transfers together; think times have the mean 1/lambda =
    `think_time_s`. The result does not depend on the distributions of sizes and think times
    (insensitivity). It is summed in logarithms, so thousands of stations do not overflow.

    Raises `ValueError` with the name of an argument that is not positive and finite.

    >>> active_distribution([1e6, 1e6], think_time_s=1.0, mean_size_bytes=125_000)
    array([0.2, 0.4, 0.4])
    """
    capacities, ratio = _load(capacity_bps, think_time_s, mean_size_bytes)
    return _distribution(np.asarray(float(capacities.size)), capacities, ratio)


def processor_sharing(
    stations: ArrayLike,
    capacity_bps: ArrayLike,
    think_time_s: ArrayLike,
    mean_size_bytes: ArrayLike,
    *,
    setup_s: float = 0.0,
) -> Sessions:
    """Return (16) and (17) for any capacities C_1, C_2, ..., at least one per station.

    `stations` (the paper's n - 1), `think_time_s` and `mean_size_bytes` broadcast. The arrivals of
    (17) come from the idle stations, lambda_bar = lambda sum (n-1-k) pi_k (M2). They are computed
    as the departures sum mu_k pi_k, which are equal in equilibrium.

    Raises `ValueError` with the name of an argument out of range, or for too few capacities.

    >>> one = processor_sharing(1, [2e6], think_time_s=10.0, mean_size_bytes=30_000)
    >>> round(float(one.transfer_s), 6)  # alone: 30 kB at 2 Mb/s
    0.12
    """
    count = checks.real("stations", stations, at_least=1.0, whole=True)
    capacities, ratio = _load(capacity_bps, think_time_s, mean_size_bytes)
    sizes = np.asarray(mean_size_bytes, dtype=np.float64)
    setup_s = checks.scalar("setup_s", setup_s, at_least=0.0)
    if capacities.size < count.max():
        raise ValueError(
            f"capacity_bps must have {int(count.max())} values or more, one per station, "
            f"not {capacities.size}"
        )
    count, ratio, sizes = checks.broadcast(
        stations=count, think_time_s=ratio, mean_size_bytes=sizes
    )
    capacities = capacities[: int(count.max())]
    pi = _distribution(count, capacities, ratio)
    active = np.arange(pi.shape[-1], dtype=np.float64)
    mean_active = np.sum(active * pi, axis=-1)
    goodput = np.sum(capacities * pi[..., 1:], axis=-1)
    rate = goodput / (8.0 * sizes)
    transfer = mean_active / rate
    return Sessions(
        stations=count[()],
        setup_s=setup_s,
        transfer_s=np.asarray(transfer)[()],
        session_s=np.asarray(transfer + setup_s)[()],
        mean_active=np.asarray(mean_active)[()],
        arrival_rate_per_s=np.asarray(rate)[()],
        goodput_bps=np.asarray(goodput)[()],
    )


def session_delay(
    stations: ArrayLike,
    parameters: Parameters,
    variant: Variant = PAPER,
    *,
    think_time_s: ArrayLike,
    mean_size_bytes: ArrayLike,
    d: float = 1.0,
) -> Sessions:
    """Return the paper's model: (17) with C_k of (10) and the setup of (13). Figs. 8 and 9.

    `d` > 1: C_k of (12), the extension to delayed ACK of section 4.3, W* = d; without the timer
    that a last TCP ACK may wait for.

    Raises `ValueError` with the name of an argument out of range, and `ConvergenceError`.

    >>> table = Parameters.table_1()
    >>> ten = session_delay(10, table, think_time_s=10.0, mean_size_bytes=30_000)
    >>> round(float(ten.session_s), 4)
    0.1131
    """
    count = checks.real("stations", stations, at_least=1.0, whole=True)
    return processor_sharing(
        count,
        capacity(int(count.max()), parameters, variant, d=d),
        think_time_s,
        mean_size_bytes,
        setup_s=setup_time(parameters, variant),
    )


def _round_trip_s(parameters: Parameters) -> float:
    return parameters.t_tcp_data_s + parameters.t_tcp_ack_s + 2.0 * parameters.mean_first_backoff_s


def _every(d: int) -> int:
    return int(checks.scalar("d", d, at_least=1, at_most=1e6, whole=True))


def _session_time(
    bits: Values, segments: Values, acks: Values, parameters: Parameters, variant: Variant
) -> Values:
    backoff = parameters.mean_first_backoff_s
    time = setup_time(parameters, variant) + segments * (parameters.t_tcp_data_s + backoff)
    time = time + acks * (parameters.t_tcp_ack_s + backoff)
    if variant.last_packet == "trimmed":
        unneeded = segments * parameters.tcp_payload_bits - bits
        time = time - unneeded / parameters.data_rate_bps
    return np.asarray(time)


def _load(
    capacity_bps: ArrayLike, think_time_s: ArrayLike, mean_size_bytes: ArrayLike
) -> tuple[Values, Values]:
    """Return C_k, and lambda E[X] in bit/s."""
    capacities = checks.real("capacity_bps", capacity_bps, above=0.0)
    if capacities.ndim != 1:
        raise ValueError(f"capacity_bps must have one dimension, not {capacities.ndim}")
    think = checks.real("think_time_s", think_time_s, above=0.0)
    size = checks.real("mean_size_bytes", mean_size_bytes, above=0.0)
    think, size = checks.broadcast(think_time_s=think, mean_size_bytes=size)
    return capacities, 8.0 * size / think


def _distribution(stations: Values, capacities: Values, ratio: Values) -> Values:
    """Return pi_k of (16) along a new last axis, k = 0 .. len(capacities); 0 above `stations`."""
    active = np.arange(capacities.size + 1, dtype=np.float64)
    served = np.concatenate(([0.0], np.cumsum(np.log(capacities))))
    count, ratio = stations[..., np.newaxis], np.asarray(ratio)[..., np.newaxis]
    # (n-1)(n-2)...(n-k), as a sum of logarithms; the k-th factor is n - k, n - 1 = `count`.
    factors = np.where(active >= 1.0, np.maximum(count - active + 1.0, 1.0), 1.0)
    log = np.cumsum(np.log(factors), axis=-1) + active * np.log(ratio) - served
    log = np.where(active <= count, log, -np.inf)
    weight = np.exp(log - log.max(axis=-1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))
