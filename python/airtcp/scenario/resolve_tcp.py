"""From a written TCP to the resolved one.

Knows which keys of a connection depend on each other. Does not know what the connection carries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..choices import CONGESTION, RECOVERY, either
from ..standards import initial_window_segments
from .errors import InvalidError, Path
from .keys.tcp import AckSkip, DelayedAck, Segments, Tcp
from .quantities import Written

MSS_BYTES = 1460
TIMESTAMPS_BITS = 96  # with two bytes of padding (RFC 7323, appendix A)
TIMESTAMPED_MSS_BYTES = MSS_BYTES - TIMESTAMPS_BITS // 8
UNSCALED_WINDOW_BYTES = 65535
MAX_WINDOW_BYTES = 2**30  # the largest window that scaling can announce (RFC 7323, 2.3)


def resolve_tcp(tcp: Written, here: Path) -> Tcp:
    """The resolved form of both ends of a connection.

    Raises:
        InvalidError: windows, timeouts or ACK policies that do not fit together.
    """
    _check_timeouts(tcp, here)
    _check_congestion(tcp, here)
    tcp = tcp.filled(**{"variant": "newreno", "pacing": False, **_needs(tcp)})
    tcp = tcp.filled(
        mss=TIMESTAMPED_MSS_BYTES if tcp.timestamps else MSS_BYTES, slow_start=_slow_start(tcp)
    )
    tcp = tcp.filled(initial_window=initial_window_segments(tcp.mss))
    _check_model(tcp, here)
    _check_times_of_segments(tcp, here)
    _check_window_scaling(tcp, here)
    _check_tack(tcp, here)
    _check_ecn(tcp, here)
    return Tcp.of(
        tcp,
        header_bits=tcp.header_bits + (TIMESTAMPS_BITS if tcp.timestamps else 0),
        receive_window_bytes=_receive_window(tcp, here),
        initial_window_bytes=tcp.initial_window * tcp.mss,
        initial_ssthresh_bytes=_initial_ssthresh(tcp, here),
        ack_skip=_ack_skip(tcp.ack_skip, (*here, "ack_skip")),
        delayed_ack=_delayed_ack(tcp.delayed_ack, (*here, "delayed_ack")),
    )


def _check_congestion(tcp: Written, here: Path) -> None:
    if tcp.given("aimd") and not CONGESTION[tcp.congestion].has_aimd:
        having = either([word for word, one in CONGESTION.items() if one.has_aimd])
        raise InvalidError(
            (*here, "aimd"),
            f'stands beside congestion = "{tcp.congestion}", which has factors of its own; '
            f"allowed: aimd with congestion = {having}",
        )


def _needs(tcp: Written) -> Mapping[str, Any]:
    """The keys that its congestion control wants beside it, which follows a model of the path."""
    return CONGESTION[tcp.congestion].needs


def _slow_start(tcp: Written) -> str:
    """Where a file does not say. In Linux HyStart is a part of CUBIC."""
    of_linux = CONGESTION[tcp.congestion].kernel_slow_start
    if tcp.preset == "linux" and of_linux and RECOVERY[tcp.variant].times_segments:
        return of_linux
    return "standard"


def _check_model(tcp: Written, here: Path) -> None:
    """BBR sets window and pace itself, by what becomes of each segment."""
    for key, wanted in _needs(tcp).items():
        if getattr(tcp, key) != wanted:
            written = str(wanted).lower() if wanted is True else f'"{wanted}"'
            raise InvalidError(
                (*here, key),
                f'does not go with congestion = "{tcp.congestion}"; allowed: {key} = {written}',
            )


def _check_times_of_segments(tcp: Written, here: Path) -> None:
    if RECOVERY[tcp.variant].times_segments:
        return
    timing = either([word for word, one in RECOVERY.items() if one.times_segments])
    for key, plain, written in (
        ("slow_start", "standard", f'"{tcp.slow_start}"'),
        ("pacing", False, "true"),
    ):
        if getattr(tcp, key) != plain:
            raise InvalidError(
                (*here, key),
                f'{written} needs the times of single segments, which variant = "{tcp.variant}" '
                f"does not keep; allowed: with variant = {timing}",
            )


def _check_tack(tcp: Written, here: Path) -> None:
    """It takes the place of the other policies, and wants a round trip."""
    if tcp.tack is None:
        return
    if tcp.ack_skip is not None:
        raise InvalidError((*here, "tack"), "stands beside ack_skip; allowed: one of the two")
    for key in ("every", "thresholds"):
        if tcp.delayed_ack.given(key):
            raise InvalidError(
                (*here, "tack"), f"stands beside delayed_ack.{key}; allowed: one of the two"
            )
    if tcp.handshake != "three-way":
        raise InvalidError(
            (*here, "tack"),
            f'needs a round trip, which handshake = "{tcp.handshake}" does not measure; '
            'allowed: with handshake = "three-way"',
        )


def _check_ecn(tcp: Written, here: Path) -> None:
    if tcp.ecn and _needs(tcp):
        others = either([word for word, one in CONGESTION.items() if not one.needs])
        raise InvalidError(
            (*here, "ecn"),
            f'tells congestion = "{tcp.congestion}" nothing, which follows a model of the path; '
            f"allowed: with congestion = {others}",
        )


def _check_window_scaling(tcp: Written, here: Path) -> None:
    window = _bytes(tcp.receive_window, tcp.mss)
    if tcp.given("window_scaling") and not tcp.window_scaling and window > UNSCALED_WINDOW_BYTES:
        raise InvalidError(
            (*here, "window_scaling"),
            f"false, and the window is {window} B; allowed: true, or a receive_window of up to "
            f"{UNSCALED_WINDOW_BYTES} B",
        )


def _receive_window(tcp: Written, here: Path) -> int:
    window = _bytes(tcp.receive_window, tcp.mss)
    if window < tcp.mss:
        raise InvalidError(
            (*here, "receive_window" if tcp.given("receive_window") else "mss"),
            f"a window of {window} B is smaller than a segment of {tcp.mss} B; "
            "allowed: a window of at least one segment",
        )
    if window > MAX_WINDOW_BYTES:
        raise InvalidError(
            (*here, "receive_window"),
            f"a window of {window} B is too large; allowed: {MAX_WINDOW_BYTES} B at most (1 GiB, "
            "RFC 7323)",
        )
    return window


def _initial_ssthresh(tcp: Written, here: Path) -> int | None:
    if tcp.initial_ssthresh is None:
        return None
    ssthresh = _bytes(tcp.initial_ssthresh, tcp.mss)
    if ssthresh < tcp.mss:
        raise InvalidError(
            (*here, "initial_ssthresh"),
            f"{ssthresh} B is smaller than a segment of {tcp.mss} B; allowed: at least one segment",
        )
    return ssthresh


def _check_timeouts(tcp: Written, here: Path) -> None:
    for key, rto in (("min_rto", tcp.min_rto), ("initial_rto", tcp.initial_rto)):
        if rto > tcp.max_rto:
            given = key if tcp.given(key) else "max_rto"
            raise InvalidError((*here, given), f"{key} is above max_rto; allowed: {key} <= max_rto")


def _delayed_ack(delayed_ack: Written, here: Path) -> DelayedAck:
    if delayed_ack.given("every") and delayed_ack.given("thresholds"):
        raise InvalidError((*here, "thresholds"), "stands beside every; allowed: one of the two")
    pairs = delayed_ack.thresholds or [[0, delayed_ack.every]]
    return DelayedAck.of(delayed_ack, thresholds=tuple((begin, every) for begin, every in pairs))


def _ack_skip(ack_skip: Written | None, here: Path) -> AckSkip | None:
    if ack_skip is None:
        return None
    adaptive = ack_skip.adaptive
    if (ack_skip.skip is None) == (adaptive is None):
        raise InvalidError(
            here,
            "says neither skip nor adaptive; allowed: one of the two"
            if adaptive is None
            else "has skip beside adaptive; allowed: one of the two",
        )
    return AckSkip.of(ack_skip, skip=ack_skip.skip if adaptive is None else adaptive.most)


def _bytes(window: int | Segments, mss: int) -> int:
    return window.segments * mss if isinstance(window, Segments) else window
