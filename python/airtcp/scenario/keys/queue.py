"""Keys of packet queues, of schedulers, and of the access point's channel access.

`resolve_queue` and `resolve_mac` check which keys belong to which discipline or scheme.
"""

import json
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from ...choices import AccessSchemeName, DisciplineName, SchedulerName
from ..declare import Key, Sparse, Table, derived, file_only, follows, key, none, written
from ..quantities import (
    PositiveSizeBytes,
    PositiveTimeNs,
    number_or_table,
    own,
    text_or_table,
)
from .profiles import NameOf
from .radio_links import LinkForm, RadioLink


def _filter(value: object) -> object:
    if value in (True, False, "aggressive"):
        return value
    raise PydanticCustomError(
        "bad_quantity",
        "{reason}",
        {"reason": f"{json.dumps(value)} is unknown; allowed: {_FILTERS}"},
    )


_FILTERS = 'true, false, "aggressive"'
_AckFilter: Any = Annotated[
    Any, BeforeValidator(_filter), WithJsonSchema({"enum": [True, False, "aggressive"]})
]


def _number_or_unlimited(value: object) -> str:
    return "word" if isinstance(value, str) and not value.isdigit() else "number"


UNLIMITED: Final = "unlimited"
_Limit: Any = Annotated[
    Annotated[int, Field(ge=1, le=10**9), Tag("number")]
    | Annotated[Literal["unlimited"], Tag("word")],
    Discriminator(_number_or_unlimited),
]


class AnyQueue(Table):
    """A queue of packets."""

    discipline: str = key(
        "`fifo`: first in, first out, drop tail; `red`: the same with random early detection; "
        "`per-flow`: TCP connections (and other flows) take turns, and an overflow drops from "
        "the longest; `per-scenario-flow`: the same by flows of the scenario; `codel`: first in, "
        "first out, and packets that wait too long are dropped; `fq-codel`: flows take turns by "
        "bytes, each with a CoDel queue; or a registered discipline (`airtcp.queues`).",
        default="fifo",
        reads=Annotated[DisciplineName, own("queue discipline")],
    )
    limit: Annotated[int, Field(ge=1, le=10**9)] | None = key(
        "Maximum number of packets, including the one being sent.",
        default=follows(
            "unlimited; `fq-codel`: 10240; `fifo` at an access point of 802.11n or later: 1000 "
            "(with `mac.rules.preset` of a simulator: unlimited)"
        ),
        reads=_Limit,
        unit="packets",
        source="RFC 8290, 5.2.1; the profile `vendor` of an access point",
    )
    mac_limit: int | None = key(
        "Maximum number of packets in the driver's ring below the discipline, including packets "
        "that the MAC holds. They count towards `limit`, too.",
        default=none("no ring: the MAC takes packets when it gains access"),
        ge=1,
        le=10**9,
        unit="packets",
    )
    ack_filter: Literal["conservative", "aggressive"] | None = key(
        "Whether a newer TCP ACK without payload removes older ones that it covers. `true` keeps "
        'one covered ACK, "aggressive" none.',
        default=False,
        reads=_AckFilter,
        source="Hoiland-Jorgensen, Taht, Morton (2018), 4.3",
    )

    @property
    def word(self) -> str:
        """The word of `choices.DISCIPLINES` for the discipline."""
        return self.discipline


class Red(Table):
    """Random early detection (Floyd and Jacobson 1993); thresholds are average packet numbers."""

    min_threshold: float = key(
        "`red`: average length in packets below which nothing is dropped early.",
        default=5.0,
        ge=0,
        le=1e9,
        source="Floyd, Jacobson (1993)",
    )
    max_threshold: float = key(
        "`red`: average length in packets from which everything is dropped.",
        default=15.0,
        gt=0,
        le=1e9,
        source="Floyd, Jacobson (1993)",
    )
    max_probability: float = key(
        "`red`: drop probability just below `max_threshold`.",
        default=0.02,
        gt=0,
        le=1,
        source="Floyd, Jacobson (1993)",
    )
    weight: float = key(
        "`red`: weight of the current length in the average.",
        default=0.002,
        gt=0,
        le=1,
        source="Floyd, Jacobson (1993)",
    )
    ecn: bool = key(
        "`red`, `codel`, `fq-codel`: mark packets of transports with ECN instead of dropping "
        "them; `red` marks below `max_threshold` and drops above it.",
        default=False,
        source="RFC 3168, 7; RFC 8289, 5.1",
    )
    idle_packet_time_ns: int = derived(
        "The time between updates of the average while the queue is empty: the exchange of a "
        "packet of 1500 B."
    )


class Codel(Table):
    """CoDel (RFC 8289): how long packets may be queued."""

    target_ns: int = key(
        "`codel`, `fq-codel`: acceptable queueing delay of a standing queue.",
        default="5 ms",
        reads=PositiveTimeNs,
        source="RFC 8289, 4.3",
    )
    interval_ns: int = key(
        "`codel`, `fq-codel`: how long the delay must exceed the target before the first drop; "
        "about a long round trip.",
        default="100 ms",
        reads=PositiveTimeNs,
        source="RFC 8289, 4.3",
    )
    ecn: bool = key(
        "`red`, `codel`, `fq-codel`: mark packets of transports with ECN instead of dropping "
        "them; `red` marks below `max_threshold` and drops above it.",
        default=False,
        source="RFC 3168, 7; RFC 8289, 5.1",
    )
    control_law: Literal["square-root", "newton"] = key(
        "`codel`, `fq-codel`: how the time between drops decreases: by the square root of their "
        "number, or by one Newton step towards it, as in Linux and ns-3.",
        default="square-root",
        source="RFC 8289, 4.4; Linux 6, codel_impl.h",
    )


class Fq(Table):
    """FQ-CoDel (RFC 8290): how flows take turns."""

    quantum_bytes: int = key(
        "`fq-codel`: bytes that a flow may send in each round.",
        default="1514 B",
        reads=PositiveSizeBytes,
        source="RFC 8290, 5.2.4",
    )
    flows: int | None = key(
        "`fq-codel`: number of hash buckets; flows may share one by chance.",
        default=none("each flow has its own queue"),
        ge=1,
        le=2**20,
        unit="queues",
        source="RFC 8290, 5.2.5",
    )
    drop_batch: int = key(
        "`fq-codel`: maximum number of packets that an overflow drops from the longest queue; it "
        "drops up to half of that queue.",
        default=64,
        ge=1,
        le=10**6,
        unit="packets",
        source="RFC 8290, 4.1",
    )
    slow_below_bps: int | None = key(
        "`fq-codel`, of `[ap]`: stations with a data rate below this use `slow_target` and "
        "`slow_interval`, if each station has its own queue.",
        default=none("no station is slow"),
    )
    slow_target_ns: int = key(
        "`fq-codel`: the target of slow stations.",
        default="20 ms",
        reads=PositiveTimeNs,
        source="Linux, mac80211: the target of all stations",
    )
    slow_interval_ns: int = key(
        "`fq-codel`: the interval of slow stations.",
        default="100 ms",
        reads=PositiveTimeNs,
        source="Linux, mac80211",
    )


class PlainQueue(AnyQueue):
    """A queue that drops packets only when it is full."""

    discipline: Literal["fifo", "per-flow", "per-scenario-flow"] = derived(
        "One FIFO queue, or one queue per connection or flow."
    )


class RedQueue(AnyQueue):
    """A first-in-first-out queue with random early detection."""

    discipline: Literal["red"] = derived("Random early detection.")
    red: Red = derived("Its parameters.")


class CodelQueue(AnyQueue):
    """A first-in-first-out queue with CoDel."""

    discipline: Literal["codel"] = derived("CoDel.")
    codel: Codel = derived("Its parameters.")


class FqCodelQueue(AnyQueue):
    """A CoDel queue for each flow. Flows take turns by bytes."""

    discipline: Literal["fq-codel"] = derived("FQ-CoDel.")
    codel: Codel = derived("How long packets may be queued.")
    fq: Fq = derived("How flows take turns.")


class OwnQueue(AnyQueue):
    """A queue with a registered discipline."""

    discipline: Literal["own"] = derived("A registered discipline.")
    name: str = derived("Its name, with a hash of its code.")

    @property
    def word(self) -> str:
        """The word of `choices.DISCIPLINES` for the discipline."""
        return self.name


Queue = Annotated[
    PlainQueue | RedQueue | CodelQueue | FqCodelQueue | OwnQueue, Field(discriminator="discipline")
]
QueueForm = written(AnyQueue, Red, Codel, Fq)
LinkQueueForm: Any = Annotated[
    Annotated[int, Field(ge=1, le=10**9), Tag("number")] | Annotated[QueueForm, Tag("table")],
    Discriminator(number_or_table),
]


class StandardAccess(Table):
    """How the access point accesses the medium."""

    scheme: Literal["standard"] = key(
        "`standard`: as every station does; `adaptive-burst`: bursts without backoff, separated "
        "by windows in which only stations transmit; `fixed-burst`: the same with `packets` in "
        "each burst.",
        default="standard",
        reads=AccessSchemeName,
        source="Bruno, Conti, Gregori (2004), 3.2",
    )


def _window_slots() -> Any:
    """Declare the window of both kinds of bursts."""
    return key(
        "Bursts: number of virtual slots between them. An idle slot, a success and a collision "
        "of stations count as one slot each.",
        default=follows("aCWmin + 1"),
        ge=1,
        le=2**20,
        unit="slots",
        source="Bruno, Conti, Gregori (2004), 3.2",
    )


class AdaptiveBurst(Table):
    """Bursts without backoff, with `window_slots` virtual slots between them (paper B, 3.2).

    A burst has the length of (8) for `target_active` stations, m*, and at least two packets.
    """

    scheme: Literal["adaptive-burst"] = derived("Bursts.")
    window_slots: int = _window_slots()
    target_active: int = key(
        "`adaptive-burst`: number of stations that should contend in the window (m*).",
        default=follows("`window_slots` / 4, at least 1"),
        ge=1,
        le=2**20,
        unit="stations",
        source="Bruno, Conti, Gregori (2004), 3.1",
    )


class FixedBurst(Table):
    """Bursts of a fixed number of packets, with `window_slots` virtual slots between them.

    Paper B, 3.2, has such bursts of 2 m* packets before (8) corrects them.
    """

    scheme: Literal["fixed-burst"] = derived("Bursts of a fixed length.")
    window_slots: int = _window_slots()
    packets: int = key(
        "`fixed-burst`: packets per burst.",
        default=follows("`window_slots` / 2, at least 1"),
        ge=1,
        le=2**20,
        unit="packets",
        source="Bruno, Conti, Gregori (2004), 3.2",
    )


Access = Annotated[StandardAccess | AdaptiveBurst | FixedBurst, Field(discriminator="scheme")]


class Scheduler(Table):
    """Which packets are sent next."""

    kind: Literal["oldest", "round-robin"] = derived("`scheduler`.")

    @property
    def word(self) -> str:
        """The word of `choices.SCHEDULERS` for the scheduler."""
        return self.kind


class OwnScheduler(Table):
    """A registered scheduler."""

    kind: Literal["own"] = derived("A registered scheduler.")
    name: str = derived("Its name, with a hash of its code.")

    @property
    def word(self) -> str:
        """The word of `choices.SCHEDULERS` for the scheduler."""
        return self.name


class AirtimeScheduler(Table):
    """Deficit round robin in airtime of both directions (Hoiland-Jorgensen et al. 2017)."""

    kind: Literal["airtime"] = key("Stations share airtime.")
    quantum_ns: int = key(
        "Airtime that a station of weight 256 may use in a round.",
        default="300 us",
        reads=PositiveTimeNs,
        source="Hoiland-Jorgensen et al. (2017), 3.2",
    )
    aql_ns: int | None = key(
        "Maximum airtime of a station's packets in the driver, at its data rate; Linux has 5 to "
        "12 ms.",
        default=none("packets stay in the discipline until their access"),
        reads=PositiveTimeNs,
    )

    @property
    def word(self) -> str:
        """The word of `choices.SCHEDULERS` for the scheduler."""
        return self.kind


AnyScheduler = Annotated[Scheduler | AirtimeScheduler | OwnScheduler, Field(discriminator="kind")]
SchedulerForm: Any = Annotated[
    Annotated[SchedulerName, own("scheduler"), Tag("text")]
    | Annotated[written(AirtimeScheduler), Tag("table")],
    Discriminator(text_or_table),
]


class AccessPoint(Sparse):
    """The access point."""

    profile: ClassVar[Key] = file_only(
        Annotated[str, NameOf("access-point")],
        "A common kind of access point. The profile sets `queue` and `scheduler` unless this "
        "table does. If `queue` has another discipline, the profile's queue is ignored.",
        default=none(),
    )
    queue: Queue = key("Queue of packets to the stations.", default={}, reads=QueueForm)
    access: Access = key(
        "Access to the medium.",
        default={},
        reads=written(StandardAccess, AdaptiveBurst, FixedBurst),
    )
    scheduler: AnyScheduler | None = key(
        "Which station an access serves, if one access carries several packets of one station. "
        "`oldest`: the station of the packet that arrived first; `round-robin`: each in turn; "
        "`airtime` (in any standard; may be a table): the station that has used least airtime; "
        "or a registered scheduler (`airtcp.schedulers`).",
        default=follows('"oldest" in 802.11n and later, else none: packets go one by one'),
        reads=SchedulerForm,
    )
    links: tuple[RadioLink, ...] | None = key(
        "Links of an 802.11be access point that sends and receives on all of them at once (STR), "
        'such as `["5 GHz/80 MHz", "6 GHz/160 MHz"]`, instead of `band` and `channel_width` of '
        "`[phy]`. At most one link per band.",
        default=none("one link, in the channel of `[phy]`"),
        source="IEEE 802.11be-2024, 35.3",
        reads=list[LinkForm],
        sparse=True,
    )
