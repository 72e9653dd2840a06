"""`tcp` of a flow: both ends of a connection.

`receiver` has the keys of the receiving end. `resolve_tcp` checks how keys depend on each other.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ...choices import CongestionName, RecoveryName, SlowStartName
from ..declare import Key, Table, by_preset, derived, file_only, follows, key, none, written
from ..quantities import PositiveSizeBytes, own
from .receiver import AckSkip, DelayedAck, Receiver, Tack, Window

AnyCongestion = Annotated[CongestionName, own("congestion control")]


class MacFeedback(Table):
    """Losses that a station's MAC reports to its TCP sender: paper G, section V."""

    give_up: Literal["retransmit", "freeze"] = key(
        "What the sender does when the MAC drops a frame. `retransmit`: it sends the segment "
        "again at once and reduces the window as in a fast retransmit. `freeze`: it keeps the "
        "window if the last attempt did not collide, because the channel lost the frame.",
    )


class Aimd(Table):
    """Additive increase and multiplicative decrease of the congestion window."""

    increase: float = key(
        "Segments that congestion avoidance adds to the window in a round trip.",
        default=1.0,
        ge=0.001,
        le=1000,
        source="RFC 5681, (3)",
    )
    decrease: float = key(
        "Factor of the window after a loss; after a timeout at most one half.",
        default=0.5,
        ge=0.01,
        le=0.99,
        source="RFC 5681, (4)",
    )


class TcpRules(Table):
    """Rules of a sender in which the RFCs, other simulators and Linux differ.

    `ns-2` is tcp.cc and tcp-reno.cc of version 2.35, where `slowdown` halves the window and
    `recover_` is Reno's too (`bugFix_`). `linux` is version 6: `tcp_slow_start` adds what is
    acknowledged, `tcp_set_rto` and `tcp_rto_min` bound the variation, and congestion controls take
    their part of `snd_cwnd`. `ns-3` is version 3.44 with TcpCubic or TcpBbr.
    """

    preset: Literal["standard", "ns-2", "linux", "ns-3"] = key(
        "A named set of the keys below. A key given explicitly overrides it.", default="standard"
    )
    loss_window: Literal["flight-size", "cwnd"] = key(
        "The quantity that a loss multiplies by `aimd.decrease`: the data in flight, or the "
        "window.",
        default=by_preset("flight-size", {"ns-2": "cwnd", "linux": "cwnd", "ns-3": "cwnd"}),
        source="RFC 5681, (4)",
    )
    fast_retransmit_once_per_window: bool = key(
        "With `reno`, no second fast retransmit until all data sent before the first one is "
        "acknowledged. `newreno` and `sack` never have one.",
        default=by_preset(False, {"ns-2": True}),
        source="RFC 5681, 3.2",
    )
    slow_start_limit: int = key(
        "Maximum number of segments that slow start adds to the window per ACK. 0: as many as "
        "the ACK covers.",
        default=by_preset(1, {"linux": 0, "ns-3": 0}),
        ge=0,
        le=1000,
        source="RFC 5681, (2)",
        unit="segments",
    )
    rto_floor: Literal["timeout", "variation"] = key(
        "Lower bound set by `min_rto`: of the whole retransmission timeout, or of the part added "
        "to the smoothed round-trip time.",
        default=by_preset("timeout", {"linux": "variation"}),
        source="RFC 6298, (2.4)",
    )
    timers: Literal["exact", "linux"] = key(
        "When the sender's timers expire: as in the RFCs, or as in Linux with a tick of "
        "`clock_granularity`. In Linux the tail-loss-probe and reordering timers expire 2 ms "
        "later (the probe of a single segment `min_rto` later), and long timers are coarser. If "
        "an ACK covers many segments, RACK.rtt is measured from the segment sent last, or in "
        "Linux from the segment with the highest number.",
        default=by_preset("exact", {"linux": "linux"}),
        source="RFC 8985, 6.2 and 7.2; Linux 6, tcp_schedule_loss_probe, tcp_rack_advance, "
        "calc_wheel_index",
    )
    reno_growth: Literal["per-ack", "per-byte"] = key(
        'When the window of `congestion = "reno"` grows by a segment in congestion avoidance: '
        "after as many ACKs as it has segments, or after a window of acknowledged bytes. With "
        "bytes, slow start also ends exactly at its threshold.",
        default=by_preset("per-ack", {"linux": "per-byte"}),
        source="RFC 5681, (3); 3.1 and RFC 3465, 2.1; Linux 6, tcp_reno_cong_avoid",
    )
    cubic_growth: Literal["standard", "linux"] = key(
        'Growth of the window of `congestion = "cubic"`. `linux` predicts by the minimum instead '
        "of the smoothed round trip, counts in whole segments, and before the first loss grows "
        "by at least one segment per 20.",
        default=by_preset("standard", {"linux": "linux", "ns-3": "linux"}),
        source="RFC 9438, 4.2 to 4.5",
    )
    hystart: Literal["linux", "ns-3"] = key(
        'When `slow_start = "hystart"` detects a queue. `ns-3`: the smoothed round trip is twice '
        "the minimum, or an ACK train lasts as long as the minimum. `linux`: the round trip "
        "exceeds the minimum by an eighth, or a train lasts half the minimum (with pacing the "
        "whole minimum).",
        default=by_preset("linux", {"ns-3": "ns-3"}),
        source="Linux 6, hystart_update; ns-3.44, TcpCubic",
    )
    bbr1: Literal["linux", "ns-3"] = key(
        'Data that `congestion = "bbr1"` sends in addition to its model. `linux`: three bursts '
        "of a millisecond, and what is acknowledged at once. `ns-3`: three segments and what one "
        "ACK covers, with each segment paced, and round-trip times in whole milliseconds.",
        default=by_preset("linux", {"ns-3": "ns-3"}),
        source="Linux 6, tcp_bbr.c; ns-3.44, TcpBbr",
    )
    segmentation: Literal["single", "linux-single", "linux"] = key(
        "How a sender groups segments, and which of them have PSH; a receiver with "
        "`delayed_ack.adaptive` acknowledges these at once. `linux`, with `rack`: buffers of "
        "several segments (GSO), held for up to a millisecond while ACKs arrive; the last "
        "segment of a buffer and of a transfer has PSH. `linux-single`: no buffers, as in older "
        "senders; the last segment has PSH, and each that fills more than half of the window "
        "since the last PSH.",
        default=by_preset("single", {"linux": "linux"}),
        source="Linux 6, tcp_tso_autosize, tcp_tso_should_defer, forced_push; RFC 9293, 3.9.1.2",
    )
    restart_after_idle: bool = key(
        "Reset the window to the initial one after an idle period of a retransmission timeout.",
        default=True,
        source="RFC 5681, 4.1",
    )


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

    preset_: ClassVar[Key] = file_only(
        Literal["rfc", "linux"],
        "A named set of all other keys. A key given explicitly overrides it. `linux`: the "
        "defaults of Linux 6; `rfc`: the defaults listed here.",
        default="rfc",
    )
    variant: RecoveryName = key(
        "Loss recovery of the sender. With `sack` and `rack` the receiver sends SACK blocks.",
        default=follows('"newreno"; "rack" with bbr and bbr1'),
        reads=RecoveryName,
        source="RFC 5681; RFC 6582; RFC 6675, RFC 2018; RFC 8985, RFC 9937",
    )
    congestion: AnyCongestion = key(
        "Congestion control: `reno` (RFC 5681) with the factors of `aimd`; `cubic` (RFC 9438) "
        "with its own; `bbr` (version 3) and `bbr1` (version 1, as in Linux), which model the "
        "path and need `rack` and `pacing`.",
        default="reno",
        reads=AnyCongestion,
        source="RFC 5681, 3.1; RFC 9438; draft-ietf-ccwg-bbr; "
        "draft-cardwell-iccrg-bbr-congestion-control-00",
    )
    slow_start: SlowStartName = key(
        "How slow start ends without a loss: only at the threshold (`standard`), or when ACKs "
        "indicate a queue: as in Linux (`hystart`), or with slower growth in between "
        "(`hystart++`). All except `standard` time each segment, as `rack` does.",
        default=follows('"standard"; "hystart" with preset linux, cubic and rack'),
        reads=SlowStartName,
        source="RFC 5681, 3.1; Linux 6, tcp_cubic.c; RFC 9406",
    )
    pacing: bool = key(
        "Pace segments at twice the rate of the window in slow start and 1.2 times in congestion "
        "avoidance, in bursts of a millisecond. Only with `rack`. `bbr` and `bbr1` have their "
        "own rates.",
        default=follows("false; true with bbr and bbr1"),
        reads=bool,
        source="Linux 6, tcp_update_pacing_rate",
    )
    mss_bytes: int = key(
        "Payload of a full segment.",
        default=follows("1460 B; 1448 B with timestamps"),
        reads=PositiveSizeBytes,
        source="RFC 9293, 3.7.1 (MTU 1500)",
    )
    header_bits: int = key(
        "TCP and IP headers of a segment; `timestamps` adds 96 bits.",
        default=320,
        ge=0,
        le=960,
        unit="bits",
        source="RFC 791; RFC 9293, 3.1",
    )
    receive_window_bytes: int = key(
        "Advertised window: a size, or `{ segments = n }`; at least one segment.",
        default="65535 B",
        reads=Window,
        source="RFC 9293, 3.1 (without window scaling)",
    )
    initial_window_bytes: int = key(
        "Congestion window at the start.",
        default=follows("4 up to an MSS of 1095 B, 3 up to 2190 B, else 2"),
        reads=Annotated[int, Field(ge=1, le=10**6)],
        unit="segments",
        source="RFC 5681, 3.1",
    )
    initial_ssthresh_bytes: int | None = key(
        "Slow start threshold at the start: a size, or `{ segments = n }`.",
        default=none("slow start until the first loss"),
        reads=Window,
        source="RFC 5681, 3.1",
    )
    aimd: Aimd = key("Growth and reduction of the congestion window.", default={})
    rules: TcpRules = key("Rules of loss recovery.", default={})
    handshake: Literal["three-way", "two-way", "none"] = key(
        "`two-way`: a SYN from the data sender and its ACK, as in ns-2. `none`: data are sent at "
        "once.",
        default="three-way",
        source="RFC 9293, 3.5",
    )
    initial_rto_ns: int = key(
        "Retransmission timeout before the first RTT measurement.",
        default="1 s",
        gt=0,
        source="RFC 6298, (2.1)",
    )
    min_rto_ns: int = key(
        "Smallest retransmission timeout.", default="1 s", source="RFC 6298, (2.4)"
    )
    max_rto_ns: int = key(
        "Largest retransmission timeout.", default="60 s", gt=0, source="RFC 6298, (2.5)"
    )
    clock_granularity_ns: int = key(
        "Tick of the timers, G in RFC 6298.", default="1 ms", source="RFC 6298, (2.2) and 4"
    )
    delayed_ack: DelayedAck = key("ACK policy of the receiver.", default={})
    ack_skip: AckSkip | None = key("ACKs that the receiver leaves out.", default=none())
    mac_feedback: MacFeedback | None = key(
        "Losses that the MAC reports to a sender in a station. Data of a server are sent by the "
        "access point, which reports nothing.",
        default=none(),
        source="paper G, section V",
    )
    receiver_: ClassVar[Key] = file_only(
        written(Receiver),
        "Keys of the end that receives the flow's data (the station of a download, the server "
        "of an upload), if they differ from the sender's.",
        default=none("both ends are alike"),
    )
    sending_end: Receiver | None = derived(
        "How the end that sends the flow's data receives the other direction, such as requests, "
        "if it differs. none: the keys of the connection apply to both ends."
    )
    tack: Tack | None = key(
        "TACK acknowledgments instead of `delayed_ack`: by time if a round trip holds many "
        "segments. The timeout of `delayed_ack` then applies to the last segment before a pause.",
        default=none(),
        source="Li et al. (2020)",
    )
    timestamps: bool = key(
        "Each segment has a timestamps option, 12 bytes in addition to `header_bits`. "
        "Retransmissions give RTT samples, too.",
        default=False,
        source="RFC 7323, 3",
    )
    window_scaling: bool = key(
        "Each SYN has a window scale option, 4 bytes in addition to `header_bits`. Real windows "
        "above 65535 B need it; without it, airtcp does not count its bytes.",
        default=False,
        source="RFC 7323, 2",
    )
    ecn: bool = key(
        "Both ends negotiate ECN. A mark reduces the window as a loss does, once per round trip. "
        "A queue on the path must have `ecn`, too.",
        default=False,
        source="RFC 3168, 6.1",
    )
    small_queue: bool = key(
        "TCP small queues: a connection has at most as much data in its station's queue and MAC "
        "as it sends in 8 ms at its current rate, and at least two segments. Queues of access "
        "points and links are not affected.",
        default=False,
        source="Linux 6, tcp_small_queue_check; mac80211, tx_sk_pacing_shift",
    )
    pad_last_segment: bool = key(
        "Pad the last segment of a transfer to the MSS, as ns-2 does.", default=False
    )

    @property
    def window_segments(self) -> int:
        """Full segments that fit in the receive window, at least one."""
        return max(1, self.receive_window_bytes // self.mss_bytes)
