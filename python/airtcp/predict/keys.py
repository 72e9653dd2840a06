"""Name groups of resolved keys that the cards of several models list."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from airtcp.predict.card import Assumption

#: Durations of frames and spaces with basic access, and their senders: used by every Wi-Fi model.
BASIC: Final = (
    "phy.slot_time_ns",
    "phy.sifs_ns",
    "phy.dsss",
    "phy.ofdm",
    "phy.symbol_rounding",
    "phy.propagation_delay_ns",
    "phy.ack_bits",
    "phy.mac_header_bits",
    "phy.llc_bits",
    "stations.data_rate",
    "stations.control_rate",
    "stations.count",
    "flows.stations",
)
#: RTS and CTS before some frames.
RTS: Final = ("mac.rts_threshold_bytes", "phy.rts_bits", "phy.cts_bits")
#: The same under the DCF, with or without RTS/CTS.
FRAMES: Final = (*BASIC, *RTS, "phy.difs_ns", "phy.cw_min")
#: Segments and their ACKs.
SEGMENTS: Final = ("flows.tcp.mss_bytes", "flows.tcp.header_bits", "flows.tcp.delayed_ack")
#: Collisions: what follows them, and how often a frame is sent.
COLLISIONS: Final = (
    "phy.cw_max",
    "phy.eifs_ns",
    "mac.short_retry_limit",
    "mac.rules.after_collision",
)
#: Flows of finite transfers, before and after the data.
TRANSFERS: Final = (
    "flows.application.kind",
    "flows.application.size",
    "flows.tcp.handshake",
    "flows.tcp.pad_last_segment",
)

#: Assumed by every model except those of access categories: all nodes contend alike.
ALIKE: Final = Assumption(
    "access point and stations contend with equal chances, in one access category",
    ("mac.edca", "classify", "ap.access"),
)
#: Selects models of endless transfers.
NEVER_ENDS: Final = Assumption(
    "some transfers never end", ("flows.application.kind", "flows.application.size")
)
#: Features that no model has.
NO_ERRORS: Final = Assumption("frames are lost only in collisions", ("stations.frame_errors",))
#: Assumed by every TCP model: none has loss responses other than Reno's.
RENO: Final = Assumption(
    "the sender uses Reno, and duplicate ACKs and timeouts detect losses",
    (
        "flows.tcp.congestion",
        "flows.tcp.variant",
        "flows.tcp.slow_start",
        "flows.tcp.pacing",
        "flows.tcp.delayed_ack.adaptive",
        "flows.tcp.delayed_ack.policy",
        "flows.tcp.tack",
        "flows.tcp.mac_feedback",
        "flows.tcp.ecn",
        "flows.tcp.small_queue",
    ),
)
#: Assumed by every TCP model with ACKs.
ALL_ACKS: Final = Assumption(
    "a queue never removes an ACK because a newer one covers it",
    ("ap.queue.ack_filter", "stations.queue.ack_filter"),
)
#: Limits for the predictions of any model (`limits`).
BOUNDED: Final = Assumption(
    "at most one window per round trip of the path, and at most the rate of wired links",
    ("flows.path", "links", "flows.tcp.receive_window_bytes"),
)
SATURATED: Final = Assumption(
    "every sender always has enough packets", ("flows.application.rate_bps",)
)
LINKS_DELIVER: Final = Assumption(
    "wired links deliver every packet that crosses the channel", ("flows.path", "links")
)
#: Features that only paper H's model has.
NO_BEACONS: Final = Assumption("the access point sends no beacons", ("mac.beacon",))

#: Harmless to models of saturated nodes.
ALWAYS_BACKLOGGED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mac.rules.immediate_access": (
            "every sender always has a packet and draws a backoff for it"
        ),
        "mac.rules.post_backoff": "as mac.rules.immediate_access",
        "mac.rules.arrival_before_own_ack": "as mac.rules.immediate_access",
        "flows.tcp": "UDP does not use TCP",
        "ap.queue": "a saturated source refills the queue as soon as a place is free",
        "stations.queue": "as ap.queue",
    }
)
#: Harmless to models without backoff, or with a mean one.
NO_BACKOFF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mac.rules.immediate_access": "the model has no backoff that could be saved",
        "mac.rules.post_backoff": "as mac.rules.immediate_access",
        "mac.rules.arrival_before_own_ack": "as mac.rules.immediate_access",
        "mac.rules.after_collision": "the model has no collision to wait after",
        "mac.rules.colliders": "as mac.rules.after_collision",
        "phy.eifs_ns": "as mac.rules.after_collision",
        "phy.ack_timeout_ns": "as mac.rules.after_collision",
        "phy.cw_max": "as mac.rules.after_collision",
    }
)
