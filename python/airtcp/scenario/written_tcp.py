"""The written form of TCP: both ends of a connection.

Knows keys, types and the bounds of a single key. Does not know defaults (`resolve_tcp` does) nor
how keys depend on each other.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from .quantities import PositiveSizeBytes, PositiveTimeNs, Table, TimeNs, key, needed

__all__ = ["AckSkip", "Aimd", "DelayedAck", "Segments", "Tcp", "TcpRules", "text_or_table"]


class Segments(Table):
    """A size in segments of the flow's MSS."""

    segments: Annotated[int, Field(ge=1, le=10**6)] = needed("How many segments.")


def text_or_table(value: object) -> str:
    """Which of the two forms a value has that may be a text or a table."""
    return "table" if isinstance(value, dict | Table) else "text"


Window = Annotated[
    Annotated[PositiveSizeBytes, Tag("text")] | Annotated[Segments, Tag("table")],
    Discriminator(text_or_table),
]


def _checked_thresholds(pairs: list[list[int]]) -> list[list[int]]:
    """From segment 0 on, in ascending order, each with a number of segments."""
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise PydanticCustomError(
            "bad_thresholds", "is no list of pairs; allowed: such as [[0, 1], [2, 2]]"
        )
    begins = [begin for begin, _ in pairs]
    if begins[0] != 0 or any(here >= after for here, after in pairwise(begins)):
        raise PydanticCustomError(
            "bad_thresholds",
            "must begin at segment 0 and rise; allowed: such as [[0, 1], [2, 2]]",
        )
    if begins[-1] > _LAST_SEGMENT or not all(1 <= every <= 1000 for _, every in pairs):
        raise PydanticCustomError(
            "bad_thresholds",
            "has a number out of range; "
            "allowed: segments up to {last}, an ACK for every 1 to 1000 of them",
            {"last": _LAST_SEGMENT},
        )
    return pairs


_LAST_SEGMENT = 10**9
Thresholds = Annotated[list[list[int]], AfterValidator(_checked_thresholds)]


class DelayedAck(Table):
    """When the receiver acknowledges data that come in order."""

    every: Annotated[int, Field(ge=1, le=1000)] | None = key(
        "An ACK for every so many segments. Not together with `thresholds`.",
        default="2",
        source="RFC 5681, 4.2",
    )
    thresholds: Thresholds | None = key(
        "Pairs `[from, every]`: from this segment on, an ACK for every so many. The first begins "
        "at 0; the first segment of data is number 1.",
        default="none: `every` throughout",
    )
    timeout: PositiveTimeNs | None = key(
        "An ACK at the latest so long after a segment.",
        default='"200 ms"',
        source="RFC 1122, 4.2.3.2 (less than 500 ms)",
    )


class AckSkip(Table):
    """ACKs that the receiver leaves out: paper G, section II.D."""

    skip: Annotated[int, Field(ge=0, le=1000)] = needed(
        "How many are left out of `skip` + 1 ACKs that `delayed_ack` asks for in a row; the last "
        "one is sent."
    )
    after_segment: Annotated[int, Field(ge=0, le=_LAST_SEGMENT)] | None = key(
        "From this segment on; the first segment of data is number 1.", default="0"
    )


class Aimd(Table):
    """Additive increase and multiplicative decrease of the congestion window."""

    increase: Annotated[float, Field(ge=0.001, le=1000)] | None = key(
        "Segments that congestion avoidance adds to the window in a round trip.",
        default="1.0",
        source="RFC 5681, (3)",
    )
    decrease: Annotated[float, Field(ge=0.01, le=0.99)] | None = key(
        "What a loss leaves of the window; of a timeout half at most.",
        default="0.5",
        source="RFC 5681, (4)",
    )


class TcpRules(Table):
    """What the RFCs and other simulators do differently in a sender's loss recovery."""

    preset: Literal["standard", "ns-2"] | None = key(
        "A named set of the keys below; a key given beside it wins.", default='"standard"'
    )
    loss_window: Literal["flight-size", "cwnd"] | None = key(
        "What a loss leaves the part `aimd.decrease` of: what is under way, or the window.",
        default='"flight-size" (ns-2: "cwnd")',
        source="RFC 5681, (4)",
    )
    fast_retransmit_once_per_window: bool | None = key(
        "With `reno`, no second fast retransmit until all is acknowledged that was sent before the "
        "first. `newreno` and `sack` have none anyway.",
        default="false (ns-2: true)",
        source="RFC 5681, 3.2",
    )


class Tcp(Table):
    """Both ends of a TCP connection."""

    variant: Literal["reno", "newreno", "sack"] | None = key(
        "Loss recovery of the sender; with `sack` the receiver says what it holds.",
        default='"newreno"',
        source="RFC 5681; RFC 6582; RFC 6675, RFC 2018",
    )
    mss: PositiveSizeBytes | None = key(
        "Payload of a full segment.",
        default='"1460 B"',
        source="RFC 9293, 3.7.1 (MTU 1500)",
    )
    header_bits: Annotated[int, Field(ge=0, le=960)] | None = key(
        "TCP and IP headers of a segment.",
        default="320",
        source="RFC 791; RFC 9293, 3.1",
        unit="bits",
    )
    receive_window: Window | None = key(
        "Advertised window: a size, or `{ segments = n }`; at least one segment.",
        default='"65535 B"',
        source="RFC 9293, 3.1 (without window scaling)",
    )
    initial_window: Annotated[int, Field(ge=1, le=10**6)] | None = key(
        "Congestion window at the start.",
        default="4 up to an MSS of 1095 B, 3 up to 2190 B, else 2",
        source="RFC 5681, 3.1",
        unit="segments",
    )
    initial_ssthresh: Window | None = key(
        "Slow start threshold at the start: a size, or `{ segments = n }`.",
        default="none: slow start until the first loss",
        source="RFC 5681, 3.1",
    )
    aimd: Aimd | None = key("How the congestion window grows and shrinks.", default="1.0 and 0.5")
    rules: TcpRules | None = key("Rules of loss recovery.", default="those of the RFCs")
    handshake: Literal["three-way", "two-way", "none"] | None = key(
        "`two-way`: a SYN from the data sender and its ACK, as in ns-2; `none`: data at once.",
        default='"three-way"',
        source="RFC 9293, 3.5",
    )
    initial_rto: PositiveTimeNs | None = key(
        "Retransmission timeout before the first measurement.",
        default='"1 s"',
        source="RFC 6298, (2.1)",
    )
    min_rto: TimeNs | None = key(
        "Smallest retransmission timeout.", default='"1 s"', source="RFC 6298, (2.4)"
    )
    max_rto: PositiveTimeNs | None = key(
        "Largest retransmission timeout.", default='"60 s"', source="RFC 6298, (2.5)"
    )
    clock_granularity: TimeNs | None = key(
        "Tick of the timers, G in RFC 6298.",
        default='"1 ms"',
        source="RFC 6298, (2.2) and 4",
    )
    delayed_ack: DelayedAck | None = key(
        "ACK policy of the receiver.", default="every second segment, 200 ms"
    )
    ack_skip: AckSkip | None = key("ACKs that the receiver leaves out.", default="none")
    pad_last_segment: bool | None = key(
        "Fill the last segment of a transfer up to the MSS, as ns-2 does.",
        default="false",
    )
