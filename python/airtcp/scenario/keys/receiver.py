"""Keys of the receiving end of a connection: how it acknowledges data and advertises windows."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from ..declare import Key, Table, file_only, key
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

    every_: ClassVar[Key] = file_only(Annotated[int, Field(ge=1, le=1000)])
    thresholds: Annotated[tuple[tuple[NotNegative, Positive], ...], Field(min_length=1)] = key(
        Annotated[list[list[int]], AfterValidator(_checked_thresholds)]
    )
    timeout_ns: int = key()
    adaptive: bool = key()
    policy: str | None = key(Annotated[str, only_own("ACK policy")])

    @property
    def every(self) -> int:
        """Segments per ACK in the long run: from the last threshold on."""
        return self.thresholds[-1][1]

    @property
    def every_at_first(self) -> int:
        """Segments for the first ACK."""
        return self.thresholds[0][1]


class AdaptiveSkip(Table):
    """ACKs to leave out, a number adapted to the station's failed frames: paper G, section V."""

    most_: ClassVar[Key] = file_only(Annotated[int, Field(ge=1, le=1000)])
    calm: int = key()
    acks_per_window: int = key()


class AckSkip(Table):
    """ACKs that the receiver leaves out: paper G, section II.D."""

    skip: int = key(Annotated[int, Field(ge=0, le=1000)])
    adaptive: AdaptiveSkip | None = key()
    after_segment: int = key()


class Tack(Table):
    """Tame acknowledgments (Li et al., SIGCOMM 2020): by count or by time, whichever is rarer."""

    every: int = key()
    beta: int = key()


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

    preset_: ClassVar[Key] = file_only(Literal["rfc", "linux"])
    receive_window_bytes: int = key(Window)
    delayed_ack: DelayedAck = key()
    ack_skip: AckSkip | None = key()
    tack: Tack | None = key()
    sack_: ClassVar[Key] = file_only(bool)
    timestamps_: ClassVar[Key] = file_only(bool)
    window_scaling_: ClassVar[Key] = file_only(bool)
    ecn_: ClassVar[Key] = file_only(bool)
