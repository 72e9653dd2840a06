"""Keys of the receiving end of a connection: how it acknowledges data and advertises windows."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from ..declare import Key, Table, file_only, follows, key, none
from ..quantities import PositiveSizeBytes, Written, needed, only_own, text_or_table

#: Keys that a file may give for both ends of a connection, or only for the receiving end.
RECEIVING = ("receive_window", "delayed_ack", "ack_skip", "tack")
_LAST_SEGMENT = 10**9

NotNegative = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class Segments(Written):
    """A size in segments of the flow's MSS."""

    segments: Annotated[int, Field(ge=1, le=10**6)] = needed("Number of segments.")


Window = Annotated[
    Annotated[PositiveSizeBytes, Tag("text")] | Annotated[Segments, Tag("table")],
    Discriminator(text_or_table),
]


def _checked_thresholds(pairs: list[list[int]]) -> list[list[int]]:
    """Check pairs of thresholds: ascending from segment 0, each with a number of segments."""
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise PydanticCustomError(
            "bad_thresholds", "is not a list of pairs; allowed: such as [[0, 1], [2, 2]]"
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


class DelayedAck(Table):
    """ACKs of data that arrive in order."""

    every_: ClassVar[Key] = file_only(
        Annotated[int, Field(ge=1, le=1000)],
        "Number of segments per ACK. Not with `thresholds`.",
        default=2,
        source="RFC 5681, 4.2",
    )
    thresholds: Annotated[tuple[tuple[NotNegative, Positive], ...], Field(min_length=1)] = key(
        "Pairs `[from, every]`: from segment `from` on, one ACK per `every` segments. The first "
        "pair begins at 0; the first data segment is number 1.",
        default=follows("none: `every` throughout"),
        reads=Annotated[list[list[int]], AfterValidator(_checked_thresholds)],
    )
    timeout_ns: int = key(
        "Maximum delay of an ACK after a segment.",
        default="200 ms",
        gt=0,
        source="RFC 1122, 4.2.3.2 (less than 500 ms; 200 ms as in BSD)",
    )
    adaptive: bool = key(
        "As in Linux: acknowledge 2 to 16 segments at the start and after a pause at once, and "
        "adapt the timeout to the gaps between segments, from `timeout` up to 200 ms.",
        default=False,
        source="Linux 6, tcp_event_data_recv",
    )
    policy: str | None = key(
        "Name of a registered policy (`airtcp.acks`); `timeout` bounds its delays. Not together "
        "with the other keys.",
        default=none("none: the keys above define the policy"),
        reads=Annotated[str, only_own("ACK policy")],
    )

    @property
    def every(self) -> int:
        """Segments per ACK in the long run: from the last threshold on."""
        return self.thresholds[-1][1]


class AdaptiveSkip(Table):
    """ACKs to leave out, a number adapted to the station's failed frames: paper G, section V."""

    most_: ClassVar[Key] = file_only(
        Annotated[int, Field(ge=1, le=1000)],
        "Maximum number of consecutive ACKs left out. Instead of `skip`.",
        default=4,
    )
    calm: int = key(
        "Number of consecutive acknowledged frames of the station after which one ACK fewer is "
        "left out. Each failed frame adds one.",
        default=100,
        ge=1,
        le=10**6,
        unit="frames",
    )
    acks_per_window: int = key(
        "Minimum number of ACKs per sender window. The window is estimated from the ACKs since "
        "the last loss.",
        default=2,
        ge=1,
        le=1000,
    )


class AckSkip(Table):
    """ACKs that the receiver leaves out: paper G, section II.D."""

    skip: int = key(
        "Number of consecutive ACKs left out: of `skip` + 1 ACKs due by `delayed_ack` only the "
        "last one is sent. Not together with `adaptive`.",
        default=follows("required; with `adaptive` the value of `most`"),
        reads=Annotated[int, Field(ge=0, le=1000)],
    )
    adaptive: AdaptiveSkip | None = key(
        "Adapt the number of ACKs left out: more while frames of the station fail, fewer after a "
        "TCP loss and while the window may be small.",
        default=none("always `skip`"),
        source="paper G, section V",
    )
    after_segment: int = key(
        "The last segment whose ACK is always sent; the first segment of data is number 1.",
        default=0,
        ge=0,
        le=_LAST_SEGMENT,
    )


class Tack(Table):
    """Tame acknowledgments (Li et al., SIGCOMM 2020): by count or by time, whichever is rarer."""

    every: int = key(
        "Send an ACK when this many full-sized segments are unacknowledged (L in the paper), ...",
        default=2,
        ge=1,
        le=1000,
        unit="segments",
        source="Li et al. (2020)",
    )
    beta: int = key(
        "... and at most this many ACKs per minimum round trip, known from the handshake and "
        "timestamps. ACKs that report a loss are sent at once.",
        default=4,
        ge=1,
        le=1000,
        source="Li et al. (2020)",
    )


class Receiver(Table):
    """The receiving end of a flow's data, if it differs from the sending end."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "rfc": {
            "receive_window": "65535 B",
            "delayed_ack": {},
            "sack": False,
            "timestamps": False,
            "ecn": False,
        },
        "linux": {
            "receive_window": "3 MiB",
            "delayed_ack": {"timeout": "40 ms", "adaptive": True},
            "sack": True,
            "timestamps": True,
            "window_scaling": True,
            "ecn": False,
        },
    }

    preset_: ClassVar[Key] = file_only(
        Literal["rfc", "linux"],
        "A named set of all other keys, by default the connection's preset. A key given "
        "explicitly overrides it.",
        default=follows("none: missing keys are as at the sending end"),
    )
    receive_window_bytes: int = key(
        "Advertised window: a size, or `{ segments = n }`.",
        default=follows("as at the sending end"),
        reads=Window,
    )
    delayed_ack: DelayedAck = key("ACK policy.", default=follows("as at the sending end"))
    ack_skip: AckSkip | None = key(
        "ACKs that the receiver leaves out.",
        default=follows("as at the sending end; with a preset none"),
    )
    tack: Tack | None = key(
        "TACK acknowledgments.", default=follows("as at the sending end; with a preset none")
    )
    sack_: ClassVar[Key] = file_only(
        bool,
        "Whether the receiver sends SACK blocks. Without them, a sender with `sack` or `rack` "
        "recovers as with `newreno`.",
        default=follows("true with `sack` and `rack`"),
        source="RFC 2018, 2",
    )
    timestamps_: ClassVar[Key] = file_only(
        bool,
        "Whether it supports timestamps. Segments have them if both ends do.",
        default=follows("as at the sending end"),
        source="RFC 7323, 3.2",
    )
    window_scaling_: ClassVar[Key] = file_only(
        bool,
        "Whether it supports window scaling. SYNs have the option if both ends do.",
        default=follows("as at the sending end"),
        source="RFC 7323, 2.2",
    )
    ecn_: ClassVar[Key] = file_only(
        bool,
        "Whether it supports ECN. A connection uses ECN if both ends support it.",
        default=follows("as at the sending end"),
        source="RFC 3168, 6.1.1",
    )
