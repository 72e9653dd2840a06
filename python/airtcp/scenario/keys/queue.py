"""Queues of packets, of the access point and of stations, and how an access point gets its turn.

Knows their keys. Does not know which keys belong to which discipline or scheme: `resolve_queue` and
`resolve_mac` do.
"""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from ..declare import Table, derived, follows, key, none, written
from ..quantities import number_or_table

__all__ = [
    "Access",
    "AccessPoint",
    "AdaptiveBurst",
    "LinkQueueForm",
    "PlainQueue",
    "Queue",
    "QueueForm",
    "Red",
    "RedQueue",
    "Scheduler",
    "StandardAccess",
]


class PlainQueue(Table):
    """A queue of packets."""

    discipline: Literal["fifo", "per-flow"] = key(
        "`fifo`: first in, first out, drop tail; `red`: the same with random early detection; "
        "`per-flow`: flows take turns, and the longest pays for an overflow.",
        default="fifo",
        reads=Literal["fifo", "red", "per-flow"],
    )
    limit: int | None = key(
        "Packets at most, the one being sent included.",
        default=none("unbounded"),
        ge=1,
        le=10**9,
        unit="packets",
    )


class Red(Table):
    """Random early detection (Floyd and Jacobson 1993); thresholds in packets on average."""

    min_threshold: float = key(
        "`red`: average length in packets below which nothing is dropped early.",
        default=5.0,
        ge=0,
        le=1e9,
        source="Floyd, Jacobson (1993)",
    )
    max_threshold: float = key(
        "`red`: average length in packets from which on everything is dropped.",
        default=15.0,
        gt=0,
        le=1e9,
        source="Floyd, Jacobson (1993)",
    )
    max_probability: float = key(
        "`red`: dropping probability just below `max_threshold`.",
        default=0.02,
        gt=0,
        le=1,
        source="Floyd, Jacobson (1993)",
    )
    weight: float = key(
        "`red`: weight of a new length in the average.",
        default=0.002,
        gt=0,
        le=1,
        source="Floyd, Jacobson (1993)",
    )
    idle_packet_time_ns: int = derived(
        "The exchange of a packet of 1500 B: an empty queue is averaged once for each."
    )


class RedQueue(Table):
    """A first-in-first-out queue with random early detection."""

    discipline: Literal["red"] = derived("Random early detection.")
    limit: int | None = derived("As in a queue without.", unit="packets")
    red: Red = derived("Its parameters.")


Queue = Annotated[PlainQueue | RedQueue, Field(discriminator="discipline")]
QueueForm = written(PlainQueue, Red)
LinkQueueForm: Any = Annotated[
    Annotated[int, Field(ge=1, le=10**9), Tag("number")] | Annotated[QueueForm, Tag("table")],
    Discriminator(number_or_table),
]


class StandardAccess(Table):
    """How the access point gets at the medium."""

    scheme: Literal["standard"] = key(
        "`standard`: as every station does; `adaptive-burst`: bursts without backoff, and windows "
        "between them that are left to the stations.",
        default="standard",
        reads=Literal["standard", "adaptive-burst"],
        source="Bruno, Conti, Gregori (2004), 3.2",
    )


class AdaptiveBurst(Table):
    """Bursts without backoff, and `window_slots` virtual slots between them (paper B, 3.2).

    A burst is as long as (8) says for `target_active` stations, m*, and two packets at least.
    """

    scheme: Literal["adaptive-burst"] = derived("Bursts.")
    window_slots: int = key(
        "`adaptive-burst`: virtual slots between bursts: idle slots, successes and collisions of "
        "stations, one each.",
        default=follows("aCWmin + 1"),
        ge=1,
        le=2**20,
        unit="slots",
        source="Bruno, Conti, Gregori (2004), 3.2",
    )
    target_active: int = key(
        "`adaptive-burst`: stations that are to contend in the window (m*).",
        default=follows("`window_slots` / 4, 1 at least"),
        ge=1,
        le=2**20,
        unit="stations",
        source="Bruno, Conti, Gregori (2004), 3.1",
    )


Access = Annotated[StandardAccess | AdaptiveBurst, Field(discriminator="scheme")]


class Scheduler(Table):
    """Whose packets go next."""

    kind: Literal["oldest", "round-robin"] = derived("`scheduler`.")


class AccessPoint(Table):
    """The access point."""

    queue: Queue = key("Queue of packets to the stations.", default={}, reads=QueueForm)
    access: Access = key(
        "Access to the medium.", default={}, reads=written(StandardAccess, AdaptiveBurst)
    )
    scheduler: Scheduler | None = key(
        "Whose packets go next where an access serves one station with several packets: those of "
        "the station whose packet came first, or of the next in turn.",
        default=follows('"oldest" in 802.11n and later, else none: packets go one by one'),
        reads=Literal["oldest", "round-robin"],
    )
