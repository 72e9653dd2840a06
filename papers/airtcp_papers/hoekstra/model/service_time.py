"""Compute paper H, section II: the effective service time of a file, (1) to (22).

There is one download through one access point, disturbed only by its own TCP ACKs: frames, backoff,
and collisions with probability 1 / (Cw_min + 1) where access point and station contend. There is a
TCP ACK per two segments, or per `segments_per_ack`, which is beyond the paper. `load` has other
flows.

"Basic" is section II.A, (1) to (13), "refined" section II.B, (14) to (19); beacons (20) to (22)
stretch either.

Where both contend, the shorter of two backoffs takes Cw (2Cw+1) / (6 (Cw+1)) slots on average and
the longer Cw (4Cw+5) / (6 (Cw+1)). With single backoffs of Cw / 2 these make up every backoff term
of the paper: (7Cw+8) / 6 is a longer and a single one.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from airtcp.models import checks
from airtcp.models.checks import Values
from numpy.typing import ArrayLike

from airtcp_papers.hoekstra.model.parameters import PAPER, Parameters, Variant, frame_time

__all__ = [
    "ServiceTime",
    "ack_time",
    "acknowledged_time",
    "beacon_time",
    "collision_time",
    "cycle_time",
    "data_time",
    "effective_service_time",
    "ftp_get_time",
    "ftp_retrieve_time",
    "ftp_setup_time",
    "last_cycle_time",
    "overhead_time",
    "tcp_close_time",
    "tcp_setup_time",
]

Model: TypeAlias = Literal["basic", "refined"]


@dataclass(frozen=True, slots=True)
class ServiceTime:
    """The effective service time of files of `size_bytes` bytes, and its parts; in seconds.

    `est_s` (EST of (13) or (19), EST' of (22)) is `cycles` full cycles of `cycle_s` (4), plus
    `last_cycle_s` (9, 16) and `overhead_s` (12, 18). `est_with_beacons_s` (EST'' of (22)) is
    `beacon_factor` times as long; without beacons the factor is 1.
    """

    size_bytes: Values
    est_s: Values
    est_with_beacons_s: Values
    cycles: Values
    cycle_s: float
    last_cycle_s: float
    overhead_s: float
    beacon_factor: float


def data_time(bits: ArrayLike, parameters: Parameters) -> Values:
    """Return T_d(x) of (1), seconds: the frame of a TCP segment with `bits` bits of payload.

    Raises `ValueError` unless bits >= 0.

    >>> data_time([0, 11680], Parameters.testbed()).round(7)
    array([0.0002473, 0.0013091])
    """
    payload = checks.real("bits", bits, at_least=0.0)
    headers = parameters.mac_bits + parameters.upper_bits
    return frame_time(
        payload + headers, parameters.phy_s, parameters.data_rate_bps, parameters.symbol_s
    )


def acknowledged_time(bits: ArrayLike, parameters: Parameters) -> Values:
    """Return T_da(x) of (3), seconds: DIFS, frame, T_p, SIFS, MAC ACK (T_c), T_p.

    Raises `ValueError` unless bits >= 0.

    >>> acknowledged_time([0, 11680], Parameters.testbed()).round(7)
    array([0.0005095, 0.0015713])
    """
    waits = parameters.difs_s + parameters.sifs_s + 2.0 * parameters.propagation_s
    return np.asarray(data_time(bits, parameters) + waits + parameters.mac_ack_s)[()]


def collision_time(bits: ArrayLike, parameters: Parameters) -> Values:
    """Return T_col, T_shortcol, T_halfMSSCol of (5), (7), (10), seconds: frame, T_p, EIFS.

    `bits` is the payload of the longest segment in the collision: X_MSS, 0, X_MSS / 2.

    Raises `ValueError` unless bits >= 0.

    >>> collision_time([0, 5840, 11680], Parameters.testbed()).round(7)
    array([0.0006113, 0.0011422, 0.0016731])
    """
    waits = parameters.propagation_s + parameters.eifs_s
    return np.asarray(data_time(bits, parameters) + waits)[()]


def cycle_time(parameters: Parameters) -> float:
    """Return T_cycle of (4), seconds: two full segments and the TCP ACK for both.

    With another `segments_per_ack` d it is d segments and their ACK, whose backoff overlaps with
    that of one segment; the other d - 1 have a backoff each.

    >>> round(cycle_time(Parameters.testbed()), 7)
    0.0044309
    """
    full, d = parameters.mss_bits, parameters.segments_per_ack
    return (
        d * _acknowledged(full, parameters)
        + _acknowledged(0, parameters)
        + _longer(parameters)
        + (d - 1.0) * _single(parameters)
        + _chance(parameters) * _collision(full, parameters)
    )


def ack_time(parameters: Parameters) -> float:
    """Return the cost of one more TCP ACK while the access point has segments, in seconds.

    It is the ACK's frame, the difference between the longer of two backoffs and a single one, and
    its share of collisions: two cycles of one segment exceed one cycle of two segments by this
    time. Beyond the paper.

    >>> round(ack_time(Parameters.testbed()), 7)
    0.0006683
    """
    return (
        _acknowledged(0, parameters)
        + _longer(parameters)
        - _single(parameters)
        + _chance(parameters) * _collision(parameters.mss_bits, parameters)
    )


def tcp_setup_time(parameters: Parameters) -> float:
    """Return T_tcp_setup of (6), seconds: the three segments of the handshake.

    >>> round(tcp_setup_time(Parameters.testbed()), 7)
    0.0018223
    """
    collisions = 2.0 * _collision(0, parameters) + _collision(parameters.mss_bits, parameters)
    return (
        3.0 * _acknowledged(0, parameters) + _shorter(parameters) + _chance(parameters) * collisions
    )


def ftp_get_time(parameters: Parameters) -> float:
    """Return T_FTPget of (8), seconds: the basic model's request, `dialogue.get_bits` (H7).

    >>> round(ftp_get_time(Parameters.testbed()), 7)
    0.0005865
    """
    return _acknowledged(parameters.dialogue.get_bits, parameters) + _chance(
        parameters
    ) * _collision(parameters.mss_bits, parameters)


def ftp_setup_time(parameters: Parameters) -> float:
    """Return T_ftp_setup of (14), seconds: PASV and the reply 227 of the refined model.

    >>> round(ftp_setup_time(Parameters.testbed()), 7)
    0.0013337
    """
    dialogue = parameters.dialogue
    collisions = _collision(0, parameters) + _collision(parameters.mss_bits, parameters)
    return (
        _acknowledged(dialogue.pasv_bits, parameters)
        + _acknowledged(dialogue.reply_227_bits, parameters)
        + _shorter(parameters)
        + _chance(parameters) * collisions
    )


def ftp_retrieve_time(parameters: Parameters) -> float:
    """Return T_ftp_rr of (15), seconds: RETR and the reply 150 of the refined model.

    >>> round(ftp_retrieve_time(Parameters.testbed()), 7)
    0.0013659
    """
    dialogue = parameters.dialogue
    collisions = _collision(parameters.mss_bits, parameters) + 3.0 * _collision(0, parameters)
    return (
        _acknowledged(dialogue.retr_bits, parameters)
        + _acknowledged(dialogue.reply_150_bits, parameters)
        + _shorter(parameters)
        + _chance(parameters) * collisions / 2.0
    )


def last_cycle_time(
    parameters: Parameters, variant: Variant = PAPER, *, model: Model = "refined"
) -> float:
    """Return T_lastcycle of (9) ("basic") or (16) ("refined"), seconds.

    Basic: a last segment of X_MSS / 2 on average, its TCP ACK, the FTP close command of
    `dialogue.close_bits` (H7), and in one of two cases a second TCP ACK, whose collision (9) counts
    fully; `variant.short_collision` "weighted" counts it with its probability (H3). Refined: one
    segment or two, the last of X_MSS / 2 on average, and their TCP ACK.

    Raises `ValueError` for an unknown model.

    >>> round(last_cycle_time(Parameters.testbed()), 7)
    0.0029427
    """
    checks.choice("model", model, ("basic", "refined"))
    chance = _chance(parameters)
    half = parameters.mss_bits / 2.0
    last = (
        _acknowledged(half, parameters)
        + _acknowledged(0, parameters)
        + chance * _collision(half, parameters)
        + _longer(parameters)
    )
    if model == "refined":
        return last + (_acknowledged(parameters.mss_bits, parameters) + _single(parameters)) / 2.0
    weight = chance if variant.short_collision == "weighted" else 1.0
    second_ack = (
        _acknowledged(0, parameters) + weight * _collision(0, parameters) + _shorter(parameters)
    )
    close = _acknowledged(parameters.dialogue.close_bits, parameters)
    return last + close + _single(parameters) + second_ack / 2.0


def tcp_close_time(parameters: Parameters, *, model: Model = "refined") -> float:
    """Return T_TCP_close of (11) ("basic") or (17) ("refined", with reply 226), seconds.

    Raises `ValueError` for an unknown model.

    >>> round(tcp_close_time(Parameters.testbed()), 7)
    0.0026042
    """
    checks.choice("model", model, ("basic", "refined"))
    short = _collision(0, parameters)
    if model == "basic":
        frames, backoff, collisions = _acknowledged(0, parameters), _longer(parameters), 2.0 * short
    else:
        frames = _acknowledged(parameters.dialogue.reply_226_bits, parameters)
        backoff = _shorter(parameters)
        collisions = 2.0 * (short + _collision(parameters.mss_bits, parameters))
    return (
        3.0 * _acknowledged(0, parameters)
        + frames
        + 2.0 * backoff
        + _chance(parameters) * collisions
    )


def overhead_time(parameters: Parameters, *, model: Model = "refined") -> float:
    """Return T_tcpftpOH of (12) ("basic") or (18) ("refined"), seconds: all but the data.

    It includes `further_acks` times `ack_time`, which is zero in the paper.

    Raises `ValueError` for an unknown model.

    >>> round(overhead_time(Parameters.testbed()), 7)
    0.0071261
    """
    around = tcp_setup_time(parameters) + tcp_close_time(parameters, model=model)
    around += parameters.further_acks * ack_time(parameters)
    if model == "basic":
        return around + ftp_get_time(parameters)
    return around + ftp_setup_time(parameters) + ftp_retrieve_time(parameters)


def beacon_time(parameters: Parameters) -> float:
    """Return T_bc of (21), seconds: DIFS, the beacon (20), T_p and its mean backoff.

    Without beacons it is 0.

    >>> round(beacon_time(Parameters.testbed()), 7)
    0.001136
    """
    if parameters.beacon is None:
        return 0.0
    waits = parameters.difs_s + parameters.propagation_s + _single(parameters)
    return waits + parameters.beacon.frame_s


def effective_service_time(
    size_bytes: ArrayLike,
    parameters: Parameters,
    variant: Variant = PAPER,
    *,
    model: Model = "refined",
) -> ServiceTime:
    """Return EST of (13) ("basic") or (19) ("refined"), and EST'' of (22).

    EST(X) = (X - X') T_cycle / (2 X_MSS) + T_lastcycle + T_tcpftpOH for X = `size_bytes`, with
    `segments_per_ack` instead of 2. X' is X_MSS / 2, and X_MSS in the refined model with
    `variant.full_cycles` "implied" (H2). It is affine in X, below X' too (a file that small has no
    full cycle, and the term shortens the last one), so the mean over any distribution of sizes is
    the EST of the mean. (22) multiplies by 1 + T_bc / BI; beacons that displaced data for all of
    their time would give 1 / (1 - T_bc / BI), 0.01 % more in the testbed.

    Raises `ValueError` for negative sizes or an unknown model.

    >>> testbed = effective_service_time(200_000, Parameters.testbed())
    >>> round(float(testbed.est_s), 4), round(float(testbed.est_with_beacons_s), 4)
    (0.3124, 0.3159)
    """
    size = checks.real("size_bytes", size_bytes, at_least=0.0)
    checks.choice("model", model, ("basic", "refined"))
    whole = model == "refined" and variant.full_cycles == "implied"
    in_last = parameters.mss_bits * (1.0 if whole else 0.5)
    cycles = (8.0 * size - in_last) / (parameters.segments_per_ack * parameters.mss_bits)
    cycle = cycle_time(parameters)
    last = last_cycle_time(parameters, variant, model=model)
    overhead = overhead_time(parameters, model=model)
    est = cycles * cycle + last + overhead
    beacon = parameters.beacon
    factor = 1.0 if beacon is None else 1.0 + beacon_time(parameters) / beacon.interval_s
    return ServiceTime(
        size_bytes=size[()],
        est_s=np.asarray(est)[()],
        est_with_beacons_s=np.asarray(est * factor)[()],
        cycles=np.asarray(cycles)[()],
        cycle_s=cycle,
        last_cycle_s=last,
        overhead_s=overhead,
        beacon_factor=factor,
    )


def _acknowledged(bits: float, parameters: Parameters) -> float:
    return float(acknowledged_time(bits, parameters))


def _collision(bits: float, parameters: Parameters) -> float:
    return float(collision_time(bits, parameters))


def _chance(parameters: Parameters) -> float:
    """Return the probability that two fresh backoffs are equal."""
    return 1.0 / (parameters.cw_min + 1.0)


def _single(parameters: Parameters) -> float:
    """Return the mean of one backoff in seconds."""
    return parameters.slot_s * parameters.cw_min / 2.0


def _shorter(parameters: Parameters) -> float:
    """Return the mean of the shorter of two backoffs in seconds."""
    cw = parameters.cw_min
    return parameters.slot_s * cw * (2.0 * cw + 1.0) / (6.0 * (cw + 1.0))


def _longer(parameters: Parameters) -> float:
    """Return the mean of the longer of two backoffs in seconds."""
    cw = parameters.cw_min
    return parameters.slot_s * cw * (4.0 * cw + 5.0) / (6.0 * (cw + 1.0))
