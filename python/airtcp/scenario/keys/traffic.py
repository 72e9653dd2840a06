"""`[[flows]]` and `[links]`: applications, wired links, and flows.

`resolve` checks how keys of different tables depend on each other.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from ... import distributions
from ...choices import APPLICATIONS
from ..declare import Key, Sparse, Table, derived, file_only, follows, key, none, written
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

    kind: Literal["bulk"] = key("One transfer.")
    size: distributions.Distribution | None = key(
        "Size of the transfer.", default=none("endless"), reads=SizeDistribution
    )
    start: distributions.Distribution = key(
        "Start time, counted from the beginning of the simulation.",
        default="0 s",
        reads=TimeDistribution,
    )
    rate_bps: int | None = key(
        "Payload per second that the program writes, as with `iperf3 -b`: it writes a block "
        "whenever the average since the start is below the rate, and so catches up after a delay.",
        default=none("as fast as TCP can send"),
        sparse=True,
    )
    block_bytes: int | None = key(
        "Size of each write of a program with a `rate`.",
        default=follows("128 KiB with `rate`"),
        source="iperf3, DEFAULT_TCP_BLKSIZE",
        sparse=True,
    )


class Page(Table):
    """Many objects over a few connections, as a browser loads them with HTTP/1.1.

    The document comes first, then all other objects. A connection carries one object at a time.
    """

    objects: distributions.Distribution = key(
        "Number of objects of a page, including the document.", reads=CountDistribution
    )
    size: distributions.Distribution | None = key(
        "Size of a whole page. Its objects share it in proportion to sizes drawn from the "
        "application's `size`.",
        default=none("the sum of its objects"),
        reads=SizeDistribution,
    )
    connections: int = key(
        "Maximum number of connections used at once.",
        default=6,
        ge=1,
        le=256,
        source="what browsers open to a host with HTTP/1.1",
    )


class Web(Table):
    """ON/OFF: a transfer, then a think time, and so on."""

    kind: Literal["web"] = key("Alternating transfers and think times.")
    profile: ClassVar[Key] = file_only(
        Literal["web-2025"],
        "A named set of defaults for all other keys. `web-2025` is a typical page of 2025.",
        default=none(),
        source="HTTP Archive, Web Almanac 2025",
    )
    size: distributions.Distribution = key(
        "Size of a transfer, or of an object of a page.", reads=SizeDistribution
    )
    think_time: distributions.Distribution = key(
        "Time from the end of a transfer to the beginning of the next one, and before the first.",
        reads=TimeDistribution,
    )
    request_bytes: int = key("Size of the GET request before each transfer.", default="0 B")
    page: Page | None = key(
        "Make each transfer a page of several objects, with a request for each.",
        default=none("one object"),
    )


class Replay(Table):
    """Transfers that start at the times in a log, without waiting for each other."""

    kind: Literal["replay"] = key("The transfers of a log, at their times.")
    file: ClassVar[Key] = file_only(
        Annotated[str, Field(min_length=1)],
        "A web server's access log (Common, Combined, JSON lines), or a CSV file with the "
        "columns `time` (seconds, or a date), `size` (bytes) and optionally `client`. Ending "
        ".gz: compressed. Relative to the scenario file. Clients are assigned to the stations of "
        "the group in turn, in the order of their first transfer; without clients, transfers are.",
    )
    begin: ClassVar[Key] = file_only(
        TimeS,
        "Time after the first transfer of the file at which the simulation starts; earlier "
        "transfers are ignored.",
        default="0 s",
    )
    transfers: tuple[tuple[tuple[float, float], ...], ...] = derived(
        "For each station of the group, its transfers: start in seconds from the beginning of "
        "the simulation, and bytes."
    )
    request_bytes: int = key("Size of the GET request before each transfer.", default="0 B")


class Voice(Table):
    """E-model parameters of a codec (ITU-T G.113, appendix I)."""

    impairment: float = derived("Equipment impairment factor Ie without losses.")
    robustness: float = derived("Packet-loss robustness factor Bpl.")
    delay_s: float = derived(
        "Time from the first sound of a packet until it is sent: its duration and the codec's "
        "look-ahead."
    )


class Udp(Table):
    """UDP packets without flow control."""

    kind: Literal["udp"] = key("Packets without flow control.")
    packet_bytes: int = key("Size of the IP packet, including its 28 bytes of headers.")
    rate_bps: int | None = key(
        "Constant bit rate of IP packets, evenly spaced; `saturated`: there is always a packet to "
        "send.",
        default="saturated",
        reads=Annotated[int | Literal["saturated"], *rate_or("saturated")],
    )
    codec: ClassVar[Key] = file_only(
        Literal["G.711", "G.729A"],
        "The packets are speech of this codec, with packet-loss concealment; `r_factor` is "
        "computed for them.",
        default=none("no speech"),
        source="ITU-T G.113, appendix I",
    )
    voice: Voice | None = derived("Parameters of `codec` in the E-model.")


class Call(Table):
    """Speech, and video if any, without flow control: each becomes a `udp` flow."""

    kind: Literal["call"] = key("Speech and video over UDP.")
    profile: ClassVar[Key] = file_only(
        Literal["call"], "Same as this kind of application.", default=none()
    )
    codec: Literal["G.711", "G.729A"] = key(
        "Codec of the speech: 50 packets/s of 200 B (G.711) or 60 B (G.729A), including headers "
        "of IP, UDP and RTP.",
        default="G.711",
    )
    video_bps: int | None = key(
        "Rate of IP packets with video, evenly spaced. `none`: speech only.",
        default="1.2 Mb/s",
        reads=Annotated[int | Literal["none"], *rate_or("none")],
    )
    video_packet_bytes: int = key("Size of an IP packet with video.", default="1200 B")


class FtpMessages(Table):
    """Bytes of the commands and replies around an FTP transfer (RFC 959), without headers.

    As measured with ProFTPD in paper H, Table II: 48, 392, 272, 704 and 184 bits.
    """

    pasv_bytes: int = derived("PASV and the end of the line.")
    reply_227_bytes: int = derived("227: entering passive mode, with address and port.")
    retr_bytes: int = derived("RETR (or STOR for an upload) and a file name.")
    reply_150_bytes: int = derived("150: opening the data connection.")
    reply_226_bytes: int = derived("226: transfer complete.")


class Ftp(Table):
    """Transfers that start at given intervals, without waiting for each other."""

    kind: Literal["ftp"] = key("Transfers that do not wait for each other.")
    interarrival: distributions.Distribution = key(
        "Time from the start of one transfer of a station to the start of the next, and before "
        "the first. An exponential time is a Poisson process.",
        reads=TimeDistribution,
    )
    size: distributions.Distribution = key("Size of a transfer.", reads=SizeDistribution)
    control: FtpMessages | None = key(
        "The dialogue of FTP around each transfer: PASV, 227, RETR, 150, the file, 226.",
        default=False,
        reads=bool,
        source="RFC 959; paper H, II.B and Table II",
    )


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

    rate: float | None = key(
        "Share of packets lost, independently of each other.",
        default=none("counted by `every`"),
        reads=Percent,
    )
    every: int | None = key(
        "Every how many packets one is lost: the last one.",
        default=none("random by `rate`"),
        ge=2,
        le=10**12,
        unit="packets",
    )
    acks: bool = key(
        "Whether packets without payload, such as ACKs and SYNs, are counted and lost, too.",
        default=False,
    )


LossForm: Any = Annotated[
    Annotated[Percent, Tag("text")] | Annotated[written(Loss), Tag("table")],
    Discriminator(text_or_table),
]


class Link(Sparse):
    """A wired link. Its two directions differ at most in their rate."""

    rate_bps: int | None = key("Rate of the link.", default=none("no serialization delay"))
    up_rate_bps: int | None = key(
        "Rate from the access point to the server, if it differs, as on DSL and cable lines.",
        default=follows("the value of `rate`"),
        sparse=True,
    )
    delay_ns: int = key("Propagation delay.", default="0 s")
    queue: Queue = key(
        "Queue at each end, including the packet being sent: its limit, or a table like `[ap]`.",
        default=none("first in, first out without limit"),
        reads=LinkQueueForm,
    )
    loss: Loss | None = key(
        "Loss of packets with payload on the path: a ratio, or a table.",
        default=none("nothing"),
        reads=LossForm,
    )

    def rate_of(self, direction: str) -> int | None:
        """Return the rate for the data of an "upload" or "download" in bit/s; None: no limit."""
        if direction == "upload" and self.up_rate_bps is not None:
            return self.up_rate_bps
        return self.rate_bps


LinkForm: Any = written(Link)
PathElement: Any = Annotated[
    Annotated[Name, Tag("text")] | Annotated[LinkForm, Tag("table")],
    Discriminator(text_or_table),
]


class Flow(Table):
    """A flow of each station of a group. The flow of station i is named `name/i`.

    An entry with the name of a profile's flow, such as `laptop-web`, overrides it.
    """

    profile: ClassVar[Key] = file_only(
        Annotated[str, NameOf("traffic")],
        "A traffic profile. It sets keys that this entry does not give.",
        default=none(),
    )
    purpose: ClassVar[Key] = file_only(
        Purpose,
        "What its users wait for, which determines its default targets.",
        default=follows("set by the profile, else none"),
    )
    connections: ClassVar[Key] = file_only(
        Annotated[int, Field(ge=1, le=256)],
        "Number of parallel flows, named with -1, -2, ...; each has its own TCP connection. Not "
        "for `udp`, `call` and `replay`.",
        default=1,
    )

    name: str = key(
        "Name of the flow, different from all others.",
        default=follows(
            "the station group's name, with -2, -3, ... if it has several flows without a name"
        ),
        reads=Name,
    )
    stations: str = key("Name of a station group.")
    direction: Literal["download", "upload"] = key(
        "`download`: from server to station; `upload`: from station to server; `both` (for "
        "`bulk`, `udp` and `call`): one flow in each direction, named with `-down` and `-up`.",
        reads=Literal["download", "upload", "both"],
    )
    start_spread_ns: int = key(
        "Start each of these flows at a random time, uniform within this period. Only for flows "
        "without a start of their own: `bulk` without `start`, and `udp` without a rate. Web "
        "users think first, `ftp` transfers arrive at random, `replay` has its times, and "
        "packets at a rate are out of step anyway.",
        default=follows('"100 ms"; "0 s" with mac.rules.preset ns-2 or bianchi'),
    )
    application: Application = key(
        "Application: `bulk`, `web`, `ftp`, `replay`, `udp` or `call`.",
        reads=Annotated[
            written(Bulk)
            | written(Web)
            | written(Ftp)
            | written(Replay)
            | written(Udp)
            | written(Call),
            Field(discriminator="kind"),
            BeforeValidator(_ApplicationInput()),
        ],
    )
    tcp: Tcp | None = key("TCP of the flow; not for `udp`.", default={})
    path: tuple[Link | str, ...] = key(
        "Wired links from the access point to the server, in order: each a table, or the name of "
        "one of `[links.NAME]`.",
        default=none("the server is at the access point"),
        reads=list[PathElement],
    )


def is_endless(flow: Flow) -> bool:
    """Return True if a flow takes all capacity that it can get."""
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
