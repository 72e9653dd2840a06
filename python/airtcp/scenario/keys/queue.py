"""Keys of packet queues, of schedulers, and of the access point's channel access.

`resolve_queue` and `resolve_mac` check which keys belong to which discipline or scheme.
"""

import json
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from ...choices import AccessSchemeName, DisciplineName, SchedulerName
from ..declare import Key, Sparse, Table, derived, file_only, key, written
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

    discipline: str = key(Annotated[DisciplineName, own("queue discipline")])
    limit: Annotated[int, Field(ge=1, le=10**9)] | None = key(_Limit)
    mac_limit: int | None = key()
    ack_filter: Literal["conservative", "aggressive"] | None = key(_AckFilter)

    @property
    def word(self) -> str:
        """The word of `choices.DISCIPLINES` for the discipline."""
        return self.discipline


class Red(Table):
    """Random early detection (Floyd and Jacobson 1993); thresholds are average packet numbers."""

    min_threshold: float = key()
    max_threshold: float = key()
    max_probability: float = key()
    weight: float = key()
    ecn: bool = key()
    idle_packet_time_ns: int = derived()


class Codel(Table):
    """CoDel (RFC 8289): how long packets may be queued."""

    target_ns: int = key(PositiveTimeNs)
    interval_ns: int = key(PositiveTimeNs)
    ecn: bool = key()
    control_law: Literal["square-root", "newton"] = key()


class Fq(Table):
    """FQ-CoDel (RFC 8290): how flows take turns."""

    quantum_bytes: int = key(PositiveSizeBytes)
    flows: int | None = key()
    drop_batch: int = key()
    slow_below_bps: int | None = key()
    slow_target_ns: int = key(PositiveTimeNs)
    slow_interval_ns: int = key(PositiveTimeNs)


class PlainQueue(AnyQueue):
    """A queue that drops packets only when it is full."""

    discipline: Literal["fifo", "per-flow", "per-scenario-flow"] = derived()


class RedQueue(AnyQueue):
    """A first-in-first-out queue with random early detection."""

    discipline: Literal["red"] = derived()
    red: Red = derived()


class CodelQueue(AnyQueue):
    """A first-in-first-out queue with CoDel."""

    discipline: Literal["codel"] = derived()
    codel: Codel = derived()


class FqCodelQueue(AnyQueue):
    """A CoDel queue for each flow. Flows take turns by bytes."""

    discipline: Literal["fq-codel"] = derived()
    codel: Codel = derived()
    fq: Fq = derived()


class OwnQueue(AnyQueue):
    """A queue with a registered discipline."""

    discipline: Literal["own"] = derived()
    name: str = derived()

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

    scheme: Literal["standard"] = key(AccessSchemeName)


class AdaptiveBurst(Table):
    """Bursts without backoff, with `window_slots` virtual slots between them (paper B, 3.2).

    A burst has the length of (8) for `target_active` stations, m*, and at least two packets.
    """

    scheme: Literal["adaptive-burst"] = derived()
    window_slots: int = key()
    target_active: int = key()


class FixedBurst(Table):
    """Bursts of a fixed number of packets, with `window_slots` virtual slots between them.

    Paper B, 3.2, has such bursts of 2 m* packets before (8) corrects them.
    """

    scheme: Literal["fixed-burst"] = derived()
    window_slots: int = key()
    packets: int = key()


Access = Annotated[StandardAccess | AdaptiveBurst | FixedBurst, Field(discriminator="scheme")]


class Scheduler(Table):
    """Which packets are sent next."""

    kind: Literal["oldest", "round-robin"] = derived()

    @property
    def word(self) -> str:
        """The word of `choices.SCHEDULERS` for the scheduler."""
        return self.kind


class OwnScheduler(Table):
    """A registered scheduler."""

    kind: Literal["own"] = derived()
    name: str = derived()

    @property
    def word(self) -> str:
        """The word of `choices.SCHEDULERS` for the scheduler."""
        return self.name


class AirtimeScheduler(Table):
    """Deficit round robin in airtime of both directions (Hoiland-Jorgensen et al. 2017)."""

    kind: Literal["airtime"] = key()
    quantum_ns: int = key(PositiveTimeNs)
    aql_ns: int | None = key(PositiveTimeNs)

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

    profile: ClassVar[Key] = file_only(Annotated[str, NameOf("access-point")])
    queue: Queue = key(QueueForm)
    access: Access = key(written(StandardAccess, AdaptiveBurst, FixedBurst))
    scheduler: AnyScheduler | None = key(SchedulerForm)
    links: tuple[RadioLink, ...] | None = key(list[LinkForm])
