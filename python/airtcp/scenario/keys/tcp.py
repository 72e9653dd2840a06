"""`tcp` of a flow: both ends of a connection.

`receiver` has the keys of the receiving end. `resolve_tcp` checks how keys depend on each other.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ...choices import CongestionName, RecoveryName, SlowStartName
from ..declare import Key, Table, derived, file_only, key, written
from ..quantities import PositiveSizeBytes, own
from .receiver import AckSkip, DelayedAck, Receiver, Tack, Window

AnyCongestion = Annotated[CongestionName, own("congestion control")]


class MacFeedback(Table):
    """Losses that a station's MAC reports to its TCP sender: paper G, section V."""

    give_up: Literal["retransmit", "freeze"] = key()


class Aimd(Table):
    """Additive increase and multiplicative decrease of the congestion window."""

    increase: float = key()
    decrease: float = key()


class TcpRules(Table):
    """Rules of a sender in which the RFCs, other simulators and Linux differ.

    `ns-2` is tcp.cc and tcp-reno.cc of version 2.35, where `slowdown` halves the window and
    `recover_` is Reno's too (`bugFix_`). `linux` is version 6: `tcp_slow_start` adds what is
    acknowledged, `tcp_set_rto` and `tcp_rto_min` bound the variation, and congestion controls take
    their part of `snd_cwnd`. `ns-3` is version 3.44 with TcpCubic or TcpBbr.
    """

    preset: Literal["standard", "ns-2", "linux", "ns-3"] = key()
    loss_window: Literal["flight-size", "cwnd"] = key()
    fast_retransmit_once_per_window: bool = key()
    slow_start_limit: int = key()
    rto_floor: Literal["timeout", "variation"] = key()
    timers: Literal["exact", "linux"] = key()
    reno_growth: Literal["per-ack", "per-byte"] = key()
    cubic_growth: Literal["standard", "linux"] = key()
    hystart: Literal["linux", "ns-3"] = key()
    bbr1: Literal["linux", "ns-3"] = key()
    segmentation: Literal["single", "linux-single", "linux"] = key()
    restart_after_idle: bool = key()


class Tcp(Table):
    """Both ends of a TCP connection."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "linux": {
            "variant": "rack",
            "congestion": "cubic",
            "initial_window": 10,
            "timestamps": True,
            "window_scaling": True,
            "small_queue": True,
            "receive_window": "3 MiB",
            "min_rto": "200 ms",
            "max_rto": "120 s",
            "clock_granularity": "4 ms",
            "rules": {"preset": "linux"},
            "delayed_ack": {"timeout": "40 ms", "adaptive": True},
        }
    }

    preset_: ClassVar[Key] = file_only(Literal["rfc", "linux"])
    variant: RecoveryName = key(RecoveryName)
    congestion: AnyCongestion = key(AnyCongestion)
    slow_start: SlowStartName = key(SlowStartName)
    pacing: bool = key(bool)
    mss_bytes: int = key(PositiveSizeBytes)
    header_bits: int = key()
    receive_window_bytes: int = key(Window)
    initial_window_bytes: int = key(Annotated[int, Field(ge=1, le=10**6)])
    initial_ssthresh_bytes: int | None = key(Window)
    aimd: Aimd = key()
    rules: TcpRules = key()
    handshake: Literal["three-way", "two-way", "none"] = key()
    initial_rto_ns: int = key()
    min_rto_ns: int = key()
    max_rto_ns: int = key()
    clock_granularity_ns: int = key()
    delayed_ack: DelayedAck = key()
    ack_skip: AckSkip | None = key()
    mac_feedback: MacFeedback | None = key()
    receiver_: ClassVar[Key] = file_only(written(Receiver))
    sending_end: Receiver | None = derived()
    tack: Tack | None = key()
    timestamps: bool = key()
    window_scaling: bool = key()
    ecn: bool = key()
    small_queue: bool = key()
    pad_last_segment: bool = key()

    @property
    def window_segments(self) -> int:
        """Full segments that fit in the receive window, at least one."""
        return max(1, self.receive_window_bytes // self.mss_bytes)

    @property
    def waits_for_timer(self) -> bool:
        """True if the window holds too few segments to trigger an ACK before a timer."""
        return self.window_segments < self.delayed_ack.every
