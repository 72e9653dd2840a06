"""`[[flows]]` and `[links]`: applications, wired links, and flows.

`resolve` checks how keys of different tables depend on each other.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from ... import distributions
from ...choices import APPLICATIONS
from ..declare import Key, Sparse, Table, derived, file_only, key, written
from ..profiles import Purpose
from ..quantities import (
    Name,
    Percent,
    TimeS,
    Written,
    rate_or,
    text_or_table,
)
from .laws import CountDistribution, SizeDistribution, TimeDistribution, checked_tag
from .profiles import PROFILES, NameOf
from .queue import LinkQueueForm, Queue
from .tcp import Tcp


class Bulk(Sparse):
    """One transfer for each station."""

    kind: Literal["bulk"] = key()
    size: distributions.Distribution | None = key(SizeDistribution)
    start: distributions.Distribution = key(TimeDistribution)
    rate_bps: int | None = key()
    block_bytes: int | None = key()


class Page(Table):
    """Many objects over a few connections, as a browser loads them with HTTP/1.1.

    The document comes first, then all other objects. A connection carries one object at a time.
    """

    objects: distributions.Distribution = key(CountDistribution)
    size: distributions.Distribution | None = key(SizeDistribution)
    connections: int = key()


class Web(Table):
    """ON/OFF: a transfer, then a think time, and so on."""

    kind: Literal["web"] = key()
    profile: ClassVar[Key] = file_only(Literal["web-2025"])
    size: distributions.Distribution = key(SizeDistribution)
    think_time: distributions.Distribution = key(TimeDistribution)
    request_bytes: int = key()
    page: Page | None = key()


class Replay(Table):
    """Transfers that start at the times in a log, without waiting for each other."""

    kind: Literal["replay"] = key()
    file: ClassVar[Key] = file_only(Annotated[str, Field(min_length=1)])
    begin: ClassVar[Key] = file_only(TimeS)
    transfers: tuple[tuple[tuple[float, float], ...], ...] = derived()
    request_bytes: int = key()


class Voice(Table):
    """E-model parameters of a codec (ITU-T G.113, appendix I)."""

    impairment: float = derived()
    robustness: float = derived()
    delay_s: float = derived()


class Udp(Table):
    """UDP packets without flow control."""

    kind: Literal["udp"] = key()
    packet_bytes: int = key()
    rate_bps: int | None = key(Annotated[int | Literal["saturated"], *rate_or("saturated")])
    codec: ClassVar[Key] = file_only(Literal["G.711", "G.729A"])
    voice: Voice | None = derived()


class Call(Table):
    """Speech, and video if any, without flow control: each becomes a `udp` flow."""

    kind: Literal["call"] = key()
    profile: ClassVar[Key] = file_only(Literal["call"])
    codec: Literal["G.711", "G.729A"] = key()
    video_bps: int | None = key(Annotated[int | Literal["none"], *rate_or("none")])
    video_packet_bytes: int = key()


class FtpMessages(Table):
    """Bytes of the commands and replies around an FTP transfer (RFC 959), without headers.

    As measured with ProFTPD in paper H, Table II: 48, 392, 272, 704 and 184 bits.
    """

    pasv_bytes: int = derived()
    reply_227_bytes: int = derived()
    retr_bytes: int = derived()
    reply_150_bytes: int = derived()
    reply_226_bytes: int = derived()


class Ftp(Table):
    """Transfers that start at given intervals, without waiting for each other."""

    kind: Literal["ftp"] = key()
    interarrival: distributions.Distribution = key(TimeDistribution)
    size: distributions.Distribution = key(SizeDistribution)
    control: FtpMessages | None = key(bool)


Application = Annotated[Bulk | Web | Ftp | Replay | Udp, Field(discriminator="kind")]


class _ApplicationInput:
    def __call__(self, value: object) -> object:
        if not isinstance(value, dict):
            if isinstance(value, Written):
                return value
            raise PydanticCustomError("not_an_application", "")
        if "profile" in value:
            checked_tag(value, "profile", list(PROFILES))
            value = _over(PROFILES[str(value["profile"])], value)
        return checked_tag(value, "kind", list(APPLICATIONS))


def _over(profile: Mapping[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """Return a profile's keys, overridden by the file's; keys of a page merge one by one."""
    together = {**profile, **value}
    page = value.get("page")
    if isinstance(page, dict):
        together["page"] = {**profile.get("page", {}), **page}
    return together


class Loss(Table):
    """Losses on a link, of packets with payload, counted separately in each direction."""

    rate: float | None = key(Percent)
    every: int | None = key()
    acks: bool = key()


LossForm: Any = Annotated[
    Annotated[Percent, Tag("text")] | Annotated[written(Loss), Tag("table")],
    Discriminator(text_or_table),
]


class Link(Table):
    """A wired link, the same in both directions."""

    rate_bps: int | None = key()
    delay_ns: int = key()
    queue: Queue = key(LinkQueueForm)
    loss: Loss | None = key(LossForm)


LinkForm: Any = written(Link)
PathElement: Any = Annotated[
    Annotated[Name, Tag("text")] | Annotated[LinkForm, Tag("table")],
    Discriminator(text_or_table),
]


class Flow(Table):
    """A flow of each station of a group. The flow of station i is named `name/i`.

    An entry with the name of a profile's flow, such as `laptop-web`, overrides it.
    """

    profile: ClassVar[Key] = file_only(Annotated[str, NameOf("traffic")])
    purpose: ClassVar[Key] = file_only(Purpose)
    connections: ClassVar[Key] = file_only(Annotated[int, Field(ge=1, le=256)])

    name: str = key(Name)
    stations: str = key()
    direction: Literal["download", "upload"] = key(Literal["download", "upload", "both"])
    start_spread_ns: int = key()
    application: Application = key(
        Annotated[
            written(Bulk)
            | written(Web)
            | written(Ftp)
            | written(Replay)
            | written(Udp)
            | written(Call),
            Field(discriminator="kind"),
            BeforeValidator(_ApplicationInput()),
        ]
    )
    tcp: Tcp | None = key()
    path: tuple[Link | str, ...] = key(list[PathElement])


def is_endless(flow: Flow) -> bool:
    """True if a flow takes all capacity that it can get."""
    app = flow.application
    if app.kind == "bulk":
        return app.size is None and app.rate_bps is None
    return app.kind == "udp" and app.rate_bps is None


def is_job(flow: Flow) -> bool:
    """Whether each station of a flow makes one transfer of a given size."""
    return flow.application.kind == "bulk" and flow.application.size is not None


def has_end(flow: Flow) -> bool:
    """Whether a flow has a beginning or an end, and so no steady state."""
    app = flow.application
    if app.kind == "bulk":
        return app.size is not None or app.start.mean() > 0.0
    return app.kind == "replay"
