"""From a written TCP to the resolved one.

Knows which keys of a connection depend on each other. Does not know what the connection carries.
"""

from __future__ import annotations

from typing import TypeVar

from .. import standards
from . import resolved, written_tcp
from .errors import InvalidError

__all__ = ["resolve_tcp"]

Path = tuple[str | int, ...]
T = TypeVar("T")

MAX_WINDOW_BYTES = 2**30  # the largest window that scaling can announce (RFC 7323, 2.3)


def resolve_tcp(tcp: written_tcp.Tcp, here: Path) -> resolved.Tcp:
    """The resolved form of both ends of a connection.

    Raises:
        InvalidError: windows, timeouts or ACK policies that do not fit together.
    """
    default = standards.TCP
    mss = _or(tcp.mss, default.mss_bytes)
    initial_rto, min_rto, max_rto = _timeouts(tcp, here)
    segments = _or(tcp.initial_window, standards.initial_window_segments(mss))
    aimd = tcp.aimd or written_tcp.Aimd()
    return resolved.Tcp(
        variant=_or(tcp.variant, default.variant),
        mss_bytes=mss,
        header_bits=_or(tcp.header_bits, default.header_bits),
        receive_window_bytes=_receive_window(tcp, mss, here),
        initial_window_bytes=segments * mss,
        initial_ssthresh_bytes=_initial_ssthresh(tcp, mss, here),
        aimd=resolved.Aimd(
            increase=float(_or(aimd.increase, default.aimd_increase)),
            decrease=float(_or(aimd.decrease, default.aimd_decrease)),
        ),
        rules=_rules(tcp.rules or written_tcp.TcpRules()),
        handshake=_or(tcp.handshake, default.handshake),
        initial_rto_ns=initial_rto,
        min_rto_ns=min_rto,
        max_rto_ns=max_rto,
        clock_granularity_ns=_or(tcp.clock_granularity, default.clock_granularity_ns),
        delayed_ack=_delayed_ack(tcp.delayed_ack, (*here, "delayed_ack")),
        ack_skip=None
        if tcp.ack_skip is None
        else resolved.AckSkip(
            skip=tcp.ack_skip.skip, after_segment=_or(tcp.ack_skip.after_segment, 0)
        ),
        pad_last_segment=_or(tcp.pad_last_segment, default.pad_last_segment),
    )


def _rules(rules: written_tcp.TcpRules) -> resolved.TcpRules:
    preset: standards.TcpPreset = rules.preset or "standard"
    named = standards.TCP_RULES[preset]
    return resolved.TcpRules(
        preset=preset,
        loss_window=_or(rules.loss_window, named.loss_window),
        fast_retransmit_once_per_window=_or(
            rules.fast_retransmit_once_per_window, named.fast_retransmit_once_per_window
        ),
    )


def _receive_window(tcp: written_tcp.Tcp, mss: int, here: Path) -> int:
    window = _bytes(tcp.receive_window, mss, standards.TCP.receive_window_bytes)
    if window < mss:
        raise InvalidError(
            (*here, "receive_window" if tcp.receive_window is not None else "mss"),
            f"a window of {window} B is smaller than a segment of {mss} B; "
            "allowed: a window of at least one segment",
        )
    if window > MAX_WINDOW_BYTES:
        raise InvalidError(
            (*here, "receive_window"),
            f"a window of {window} B is too large; allowed: {MAX_WINDOW_BYTES} B at most (1 GiB, "
            "RFC 7323)",
        )
    return window


def _initial_ssthresh(tcp: written_tcp.Tcp, mss: int, here: Path) -> int | None:
    if tcp.initial_ssthresh is None:
        return None
    ssthresh = _bytes(tcp.initial_ssthresh, mss, 0)
    if ssthresh < mss:
        raise InvalidError(
            (*here, "initial_ssthresh"),
            f"{ssthresh} B is smaller than a segment of {mss} B; allowed: at least one segment",
        )
    return ssthresh


def _timeouts(tcp: written_tcp.Tcp, here: Path) -> tuple[int, int, int]:
    """Initial, least and greatest retransmission timeout."""
    default = standards.TCP
    initial_rto = _or(tcp.initial_rto, default.initial_rto_ns)
    min_rto = _or(tcp.min_rto, default.min_rto_ns)
    max_rto = _or(tcp.max_rto, default.max_rto_ns)
    for key, rto in (("min_rto", min_rto), ("initial_rto", initial_rto)):
        if rto > max_rto:
            given = key if getattr(tcp, key) is not None else "max_rto"
            raise InvalidError((*here, given), f"{key} is above max_rto; allowed: {key} <= max_rto")
    return initial_rto, min_rto, max_rto


def _delayed_ack(delayed_ack: written_tcp.DelayedAck | None, here: Path) -> resolved.DelayedAck:
    default = standards.TCP
    delayed_ack = delayed_ack or written_tcp.DelayedAck()
    if delayed_ack.every is not None and delayed_ack.thresholds is not None:
        raise InvalidError((*here, "thresholds"), "stands beside every; allowed: one of the two")
    pairs = delayed_ack.thresholds or [[0, _or(delayed_ack.every, default.delayed_ack_every)]]
    return resolved.DelayedAck(
        thresholds=tuple((begin, every) for begin, every in pairs),
        timeout_ns=_or(delayed_ack.timeout, default.delayed_ack_timeout_ns),
    )


def _bytes(window: int | written_tcp.Segments | None, mss: int, default: int) -> int:
    if isinstance(window, written_tcp.Segments):
        return window.segments * mss
    return _or(window, default)


def _or(given: T | None, default: T) -> T:
    return default if given is None else given
