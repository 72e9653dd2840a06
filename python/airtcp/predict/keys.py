"""Which resolved keys models share: names for what the cards of several families list.

Knows keys and who needs them for what. Judges no scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from airtcp.predict.card import Assumption

#: How long frames and spaces are with basic access, and who sends them: behind every model of the
#: air.
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
#: The same by the DCF, with RTS/CTS or without.
FRAMES: Final = (*BASIC, *RTS, "phy.difs_ns", "phy.cw_min")
#: The keys of segments and their acknowledgments.
SEGMENTS: Final = ("flows.tcp.mss_bytes", "flows.tcp.header_bits", "flows.tcp.delayed_ack")
#: The keys of collisions: what follows them, and how often a frame is sent.
COLLISIONS: Final = (
    "phy.cw_max",
    "phy.eifs_ns",
    "mac.short_retry_limit",
    "mac.rules.after_collision",
)
#: The keys of a flow of transfers that end, before and after the data.
TRANSFERS: Final = (
    "flows.application.kind",
    "flows.application.size",
    "flows.tcp.handshake",
    "flows.tcp.pad_last_segment",
)

#: Where every model but those of access categories needs one way to contend for all.
ALIKE: Final = Assumption(
    "access point and stations contend alike, in one access category",
    ("mac.edca", "classify", "ap.access"),
)
#: The keys that ask for models of endless transfers.
NEVER_ENDS: Final = Assumption(
    "some transfers never end", ("flows.application.kind", "flows.application.size")
)
#: The keys of features that no model has.
NO_ERRORS: Final = Assumption("frames are lost in collisions alone", ("stations.frame_errors",))
#: The keys that every model of TCP has, as none has losses other than Reno's.
RENO: Final = Assumption(
    "Reno's congestion control, and losses told by duplicate ACKs and timeouts",
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
#: The keys that every model of TCP with ACKs has.
ALL_ACKS: Final = Assumption(
    "an ACK that was sent is not taken out of a queue for a newer one",
    ("ap.queue.ack_filter", "stations.queue.ack_filter"),
)
#: The keys that bound an answer of any model (`limits`).
BOUNDED: Final = Assumption(
    "no more than windows in a round trip of their paths, and than wired links carry",
    ("flows.path", "links", "flows.tcp.receive_window_bytes"),
)
#: The keys that only paper H's model has.
NO_BEACONS: Final = Assumption("the access point sends no beacons", ("mac.beacon",))

#: The keys that saturated nodes make harmless.
ALWAYS_BACKLOGGED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mac.rules.immediate_access": "every sender always has a packet and draws a backoff for it",
        "mac.rules.post_backoff": "as mac.rules.immediate_access",
        "mac.rules.arrival_before_own_ack": "as mac.rules.immediate_access",
        "flows.tcp": "UDP has no TCP",
        "ap.queue": "a saturated source fills its place in the queue as soon as it is free",
        "stations.queue": "as ap.queue",
    }
)
#: The keys that models without backoff, or with a mean one, do not look at.
NO_BACKOFF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mac.rules.immediate_access": "the model has no backoff that could be spared",
        "mac.rules.post_backoff": "as mac.rules.immediate_access",
        "mac.rules.arrival_before_own_ack": "as mac.rules.immediate_access",
        "mac.rules.after_collision": "the model has no collision to wait after",
        "mac.rules.colliders": "as mac.rules.after_collision",
        "phy.eifs_ns": "as mac.rules.after_collision",
        "phy.ack_timeout_ns": "as mac.rules.after_collision",
        "phy.cw_max": "as mac.rules.after_collision",
    }
)
