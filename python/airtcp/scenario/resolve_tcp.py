"""Resolve TCP: check which keys of a connection depend on each other and on the other end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..choices import CONGESTION, RECOVERY, either, of_airtcp
from ..standards import initial_window_segments
from .errors import InvalidError, Path, invalid, phrase, refuse_together
from .keys.receiver import RECEIVING, AckSkip, DelayedAck, Receiver, Segments, Tack
from .keys.tcp import Tcp
from .quantities import Written

MSS_BYTES = 1460
TIMESTAMPS_BITS = 96  # with two bytes of padding (RFC 7323, appendix A)
TIMESTAMPED_MSS_BYTES = MSS_BYTES - TIMESTAMPS_BITS // 8
UNSCALED_WINDOW_BYTES = 65535
#: Options that a connection has if both ends support them.
_SHARED_OPTIONS = ("timestamps", "window_scaling", "ecn")
MAX_WINDOW_BYTES = 2**30  # the largest window that scaling can announce (RFC 7323, 2.3)


def resolve_tcp(tcp: Written, here: Path) -> Tcp:
    """Return the resolved form of both ends of a connection.

    Raises:
        InvalidError: windows, timeouts or ACK policies that do not fit together.
    """
    _check_timeouts(tcp, here)
    _check_congestion(tcp, here)
    tcp = tcp.filled(**{"variant": "newreno", "pacing": False, **_needs(tcp)})
    receiver, beyond = _receiver(tcp), (*here, "receiver")
    sender, tcp = tcp, _agreed(tcp, receiver, beyond)
    tcp = tcp.filled(
        mss=TIMESTAMPED_MSS_BYTES if tcp.timestamps else MSS_BYTES, slow_start=_slow_start(tcp)
    )
    tcp = tcp.filled(initial_window=initial_window_segments(tcp.mss))
    _check_model(tcp, here)
    _check_times_of_segments(tcp, here)
    _check_ecn(tcp, here)
    sending = _receiving(sender, tcp, here)
    receiving = sending if receiver is None else _receiving(receiver, tcp, beyond)
    return Tcp.of(
        tcp,
        sending_end=None if receiving == sending else sending,
        header_bits=tcp.header_bits + (TIMESTAMPS_BITS if tcp.timestamps else 0),
        receive_window_bytes=receiving.receive_window_bytes,
        initial_window_bytes=tcp.initial_window * tcp.mss,
        initial_ssthresh_bytes=_initial_ssthresh(tcp, here),
        ack_skip=receiving.ack_skip,
        delayed_ack=receiving.delayed_ack,
        tack=receiving.tack,
    )


def _receiver(tcp: Written) -> Written | None:
    """Return the receiving end with defaults filled in; None if it is like the sending end."""
    table = tcp.receiver
    if table is None:
        return None
    has_sack = RECOVERY[tcp.variant].has_sack
    own = {key: getattr(tcp, key) for key in _SHARED_OPTIONS}
    if table.preset is None:
        own |= {key: getattr(tcp, key) for key in RECEIVING}
    filled: Written = table.filled(sack=has_sack, **own)
    return filled


def _agreed(tcp: Written, receiver: Written | None, beyond: Path) -> Written:
    """Return the connection with the options that both ends support."""
    if receiver is None:
        return tcp
    agreed = {key: getattr(tcp, key) and getattr(receiver, key) for key in _SHARED_OPTIONS}
    if RECOVERY[tcp.variant].has_sack and not receiver.sack:
        _check_without_sack(tcp, receiver, beyond)
        agreed["variant"] = "newreno"
    return tcp.model_copy(update=agreed)


def _check_without_sack(tcp: Written, receiver: Written, beyond: Path) -> None:
    """Reject a receiver without SACK if the sender needs to know when segments arrive."""
    needing = [f'congestion = "{tcp.congestion}"'] if _needs(tcp) else []
    if tcp.pacing and not needing:
        needing.append("pacing = true")
    if tcp.slow_start not in (None, "standard"):
        needing.append(f'slow_start = "{tcp.slow_start}"')
    if needing:
        at_fault = "sack" if receiver.given("sack") and not receiver.preset else "preset"
        said = "false" if at_fault == "sack" else f'"{receiver.preset}" has no SACK'
        raise invalid(
            (*beyond, at_fault), "tcp.no_sack", said=said, needing=" and no ".join(needing)
        )


def _receiving(end: Written, tcp: Written, here: Path) -> Receiver:
    """Resolve the keys by which one end of the connection receives."""
    _check_window_scaling(end, tcp.mss, here)
    _check_tack(end, tcp, here)
    if end.ack_skip is not None:
        policy = end.delayed_ack.policy
        refuse_together(here, "ack_skip", {"delayed_ack.policy": policy is not None})
    return Receiver.model_construct(
        receive_window_bytes=_receive_window(end, tcp, here),
        delayed_ack=_delayed_ack(end.delayed_ack, (*here, "delayed_ack")),
        ack_skip=_ack_skip(end.ack_skip, (*here, "ack_skip")),
        tack=None if end.tack is None else Tack.of(end.tack),
    )


def _check_congestion(tcp: Written, here: Path) -> None:
    if tcp.given("aimd") and not CONGESTION[tcp.congestion].has_aimd:
        having = either([one.word for one in of_airtcp(CONGESTION) if one.has_aimd])
        raise invalid((*here, "aimd"), "tcp.aimd", congestion=tcp.congestion, having=having)


def _needs(tcp: Written) -> Mapping[str, Any]:
    """Return the keys that a congestion control based on a model of the path requires."""
    return CONGESTION[tcp.congestion].needs


def _slow_start(tcp: Written) -> str:
    """Return the default slow start. In Linux, HyStart is a part of CUBIC."""
    of_linux = CONGESTION[tcp.congestion].kernel_slow_start
    if tcp.preset == "linux" and of_linux and RECOVERY[tcp.variant].times_segments:
        return of_linux
    return "standard"


def _check_model(tcp: Written, here: Path) -> None:
    """Check that window and pacing are left to BBR, which sets them by the fate of each segment."""
    for key, wanted in _needs(tcp).items():
        if getattr(tcp, key) != wanted:
            written = str(wanted).lower() if wanted is True else f'"{wanted}"'
            raise invalid(
                (*here, key), "tcp.model", congestion=tcp.congestion, key=key, written=written
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
            raise invalid(
                (*here, key),
                "tcp.no_segment_times",
                written=written,
                variant=tcp.variant,
                timing=timing,
            )


def _check_tack(end: Written, tcp: Written, here: Path) -> None:
    """Check TACK, which replaces the other ACK policies and needs a round-trip time."""
    if end.tack is None:
        return
    acks = end.delayed_ack
    others = {"ack_skip": end.ack_skip is not None}
    others |= {f"delayed_ack.{key}": acks.given(key) for key in ("every", "thresholds")}
    refuse_together(here, "tack", others | {"delayed_ack.policy": acks.policy is not None})
    if tcp.handshake != "three-way":
        raise invalid((*here, "tack"), "tcp.tack", handshake=tcp.handshake)


def _check_ecn(tcp: Written, here: Path) -> None:
    if tcp.ecn and _needs(tcp):
        others = either([one.word for one in of_airtcp(CONGESTION) if not one.needs])
        raise invalid((*here, "ecn"), "tcp.ecn", congestion=tcp.congestion, others=others)


def _check_window_scaling(end: Written, mss: int, here: Path) -> None:
    window = _bytes(end.receive_window, mss)
    if end.given("window_scaling") and not end.window_scaling and window > UNSCALED_WINDOW_BYTES:
        raise invalid(
            (*here, "window_scaling"),
            "tcp.unscaled_window",
            window=window,
            most=UNSCALED_WINDOW_BYTES,
        )


def _receive_window(end: Written, tcp: Written, here: Path) -> int:
    window = _bytes(end.receive_window, tcp.mss)
    if window < tcp.mss:
        raise invalid(
            (*here, "receive_window" if end.given("receive_window") else "mss"),
            "tcp.small_window",
            window=window,
            mss=tcp.mss,
        )
    if window > MAX_WINDOW_BYTES:
        raise invalid(
            (*here, "receive_window"), "tcp.large_window", window=window, most=MAX_WINDOW_BYTES
        )
    return window


def _initial_ssthresh(tcp: Written, here: Path) -> int | None:
    if tcp.initial_ssthresh is None:
        return None
    ssthresh = _bytes(tcp.initial_ssthresh, tcp.mss)
    if ssthresh < tcp.mss:
        raise invalid(
            (*here, "initial_ssthresh"), "tcp.small_ssthresh", ssthresh=ssthresh, mss=tcp.mss
        )
    return ssthresh


def _check_timeouts(tcp: Written, here: Path) -> None:
    for key, rto in (("min_rto", tcp.min_rto), ("initial_rto", tcp.initial_rto)):
        if rto > tcp.max_rto:
            given = key if tcp.given(key) else "max_rto"
            raise invalid((*here, given), "tcp.rto", key=key)


def _delayed_ack(delayed_ack: Written, here: Path) -> DelayedAck:
    given = {key: delayed_ack.given(key) for key in ("every", "thresholds", "adaptive")}
    if given["thresholds"]:
        refuse_together(here, "thresholds", {"every": given["every"]})
    if delayed_ack.policy is not None:
        refuse_together(here, "policy", given)
    pairs = delayed_ack.thresholds or [[0, delayed_ack.every]]
    return DelayedAck.of(delayed_ack, thresholds=tuple((begin, every) for begin, every in pairs))


def _ack_skip(ack_skip: Written | None, here: Path) -> AckSkip | None:
    if ack_skip is None:
        return None
    adaptive = ack_skip.adaptive
    if (ack_skip.skip is None) == (adaptive is None):
        raise InvalidError(
            here,
            phrase("tcp.no_skip") if adaptive is None else phrase("tcp.skip_and_adaptive"),
        )
    return AckSkip.of(ack_skip, skip=ack_skip.skip if adaptive is None else adaptive.most)


def _bytes(window: int | Segments, mss: int) -> int:
    return window.segments * mss if isinstance(window, Segments) else window
