"""The thresholds of problems: a value, its unit, and the reason for it.

Knows numbers and where they come from, nothing of what is measured against them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Threshold:
    """A value beyond which something is a problem; a part of one has no unit."""

    value: float
    unit: str
    reason: str


#: The thresholds by name. "Chosen" are those that no document has.
THRESHOLDS: Final = {
    "call delay": Threshold(
        0.1,
        "s",
        "the 95th percentile of one way beyond the wires: with 50 ms in codecs and buffers the "
        "150 ms of ITU-T G.114, up to which a conversation does not suffer",
    ),
    "call loss": Threshold(
        0.01, "", "a part of the packets: of G.711 with concealment R falls by four (ITU-T G.107)"
    ),
    "page wait": Threshold(
        0.1,
        "s",
        "the mean wait of segments beyond the wires: a page takes some twenty round trips, so "
        "that this alone is two seconds; chosen",
    ),
    "bulk wait": Threshold(
        0.2, "s", "the same of endless transfers: whatever shares their queue is slow; chosen"
    ),
    "slow airtime": Threshold(
        1.3, "", "the airtime of a station over the mean of those that want as much; chosen"
    ),
    "slow rate": Threshold(0.5, "", "its goodput for its airtime over that of the others; chosen"),
    "uneven": Threshold(0.8, "", "Jain's index of endless flows that are alike; chosen"),
    "direction share": Threshold(
        0.9, "", "the part that one direction of endless flows has; chosen"
    ),
    "queue loss": Threshold(
        0.01, "", "the part of its packets that a queue drops: one in a window of 100; chosen"
    ),
    "short queue": Threshold(
        0.015, "s", "the wait in a queue that loses packets: less than a round trip; chosen"
    ),
    "wire loss": Threshold(
        0.003,
        "",
        "the part of packets that wires lose: Reno's window stays below 25 segments (Mathis et "
        "al. 1997)",
    ),
    "wire use": Threshold(
        0.93, "", "payload and headers over the rate of a wire; losses take the rest; chosen"
    ),
    "way": Threshold(
        0.9, "", "the delay of wires over the bound of a target, from which on it is lost; chosen"
    ),
    "wire queue": Threshold(
        0.7,
        "",
        "the same from which on what comes in bursts may wait in a wire's queue for longer than "
        "anywhere else; chosen",
    ),
    "wire air": Threshold(
        0.7, "", "nodes with a packet, in the mean, below which the air could carry more; chosen"
    ),
    "window use": Threshold(
        0.75, "", "goodput times round trip over the receive window: ACKs are late by a part"
    ),
    "passed by": Threshold(
        0.5, "", "the most that a window allows over what another flow gets; chosen"
    ),
    "crowded out": Threshold(
        0.5, "", "goodput and airtime of an endless download over what another gets; chosen"
    ),
    "longer way": Threshold(
        2.0, "", "the round trip of its wires over that of the other's; chosen"
    ),
    "initial window": Threshold(
        10, "packets", "a queue of less cannot hold one initial window (RFC 6928)"
    ),
    "full air": Threshold(
        0.8, "", "nodes with a packet, in the mean, from which on the air is full; chosen"
    ),
    "cell air": Threshold(
        0.6,
        "",
        "the part of the time in which one of several cells hears frames, its own or others', from "
        "which on its air is full: two thirds where endless downloads go by 802.11a; chosen",
    ),
    "others' air": Threshold(
        0.33, "", "the part of the air that a cell hears in use by others: a third; chosen"
    ),
    "cell share": Threshold(
        0.4,
        "",
        "a cell's goodput over what it has alone: of two on a channel each has half; chosen",
    ),
    "hidden loss": Threshold(
        0.25,
        "",
        "the part of a station's transmissions lost under those that it does not hear; chosen",
    ),
    "protection": Threshold(
        0.2,
        "",
        "the part of the air in control frames beside stations of 802.11b: without protection "
        "downloads at 54 Mb/s have 0.11; chosen",
    ),
    "rate airtime": Threshold(
        0.5,
        "",
        "the part of the time with a page in progress in which the group has the air, from which "
        "on its rate is what a page waits for; chosen",
    ),
    "call airtime": Threshold(
        0.5, "", "the part of the airtime in use that datagrams take; chosen"
    ),
    "collision time": Threshold(
        0.35, "", "the part of the airtime in collisions: as fifty saturated stations have; chosen"
    ),
    "page time": Threshold(
        4.0, "s", "the 90th percentile of pages: acceptable up to 4 s, preferred 2 s (ITU-T G.1010)"
    ),
    "file time": Threshold(
        60.0, "s", "the 90th percentile of files of 10 kB to 10 MB: acceptable (ITU-T G.1010)"
    ),
    "backup rate": Threshold(
        10e6 * 8.0 / 60.0,
        "b/s",
        "the mean of endless transfers: 10 MB in 60 s are acceptable (ITU-T G.1010)",
    ),
    "video loss": Threshold(0.01, "", "a part of the packets of one-way video (ITU-T G.1010)"),
    "video delay": Threshold(
        10.0,
        "s",
        "the 95th percentile of one way of one-way video (ITU-T G.1010): what waits in a queue "
        "without a limit is not lost, and comes too late all the same",
    ),
    "segment time": Threshold(
        6.0,
        "s",
        "the 95th percentile of segments of a film: each plays for 6 s (Apple, HLS authoring "
        "specification)",
    ),
    "game delay": Threshold(
        0.1,
        "s",
        "the 95th percentile of one way: class 0, for what is highly interactive (ITU-T Y.1541)",
    ),
    "game loss": Threshold(0.001, "", "a part of the packets: class 0 (ITU-T Y.1541)"),
}


def of(name: str) -> float:
    """Return the value of a threshold. Raises KeyError."""
    return THRESHOLDS[name].value
