"""`[[stations]]`: groups of stations, their rates, their losses and their place."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from ...airtime import Rate
from ...amendments import GUARD_INTERVALS_NS, HIGHEST_MCS, MOST_STREAMS, WIDTHS_MHZ
from ...standards import STANDARDS
from ..declare import Key, Sparse, Table, derived, file_only, follows, key, none, written
from ..quantities import (
    Decibels,
    Metres,
    Name,
    Percent,
    PositiveSizeBytes,
    RateBps,
    Share,
    SizeBytes,
    in_any_case,
    one_of,
    text_or_table,
)
from .air import Needs, Positions
from .phy import StandardName
from .profiles import NameOf
from .queue import Queue, QueueForm
from .radio_links import Emlsr, LinkForm, Pair
from .tcp import Tcp
from .traffic import PathElement


class FrameErrors(Table):
    """Losses of frames without a collision. ACKs and Block ACKs are never lost."""

    rate: float = key("Share of frames that are lost.", reads=Percent)
    of_bytes: int | None = key(
        "`rate` applies to packets of this size. Bits are lost independently.",
        default=none("`rate` applies to packets of any size"),
        reads=PositiveSizeBytes,
    )
    least_bytes: int = key("Smaller packets are not lost.", default="0 B", reads=SizeBytes)


FrameErrorsForm: Any = Annotated[
    Annotated[Percent, Tag("text")] | Annotated[written(FrameErrors), Tag("table")],
    Discriminator(text_or_table),
]


class ControlledRate(Sparse):
    """One of the rates that rate control chooses from."""

    rate: Rate = derived("Rate of data frames.")
    control_rate: Rate = derived("Rate of RTS, CTS and MAC ACK at this data rate.")
    error_rate: float = derived(
        "Share of frames with a packet of 1500 bytes that is lost at this rate; bits are lost "
        "independently."
    )
    needs_db: float | None = derived("Required SINR, if powers are known.", sparse=True)


class RateControl(Table):
    """Minstrel-HT: the rates that a station tries, the lowest first."""

    rates: tuple[ControlledRate, ...] = derived(
        "The MCSs up to `mcs`; with ns-3's rules also with all longer guard intervals."
    )
    rules: Literal["linux", "ns-3"] = derived(
        "The implementation that it follows, from `mac.rules.preset`."
    )


class StationGroup(Sparse):
    """A group of identical stations.

    With `profile`, a `name` (the name of the profile) and `count` (1) may be omitted.
    """

    profile: ClassVar[Key] = file_only(
        Annotated[str, NameOf("device")],
        "A device profile. It sets keys that this table does not give, and adds flows.",
        default=none(),
    )
    place: ClassVar[Key] = file_only(
        Annotated[str, NameOf("place")],
        "Place of the stations. It sets the rate (`mcs`, or `data_rate` before 802.11n): the "
        "highest that the standard's minimum receiver sensitivity allows there.",
        default=follows("the rate of the profile, else of `[phy]`"),
    )
    traffic: ClassVar[Key] = file_only(
        list[Annotated[str, NameOf("traffic")]],
        "Traffic of each station: one or more traffic profiles. A flow of the group `laptop` is "
        "called `laptop-web`. An empty list: no traffic.",
        default=follows("set by the profile, else none"),
    )
    tcp: ClassVar[Key] = file_only(
        written(Tcp), "TCP of the flows of `traffic`.", default=follows("set by the profile")
    )
    path: ClassVar[Key] = file_only(
        list[PathElement],
        "Wired path of the flows of `traffic`.",
        default=follows("set by each traffic profile"),
    )
    name: str = key("Name of the group; station i is called `name/i`. Not `ap`.", reads=Name)
    count: int = key("Number of stations.", ge=1, le=100_000)
    cell: int | None = key(
        "The cell of the stations; in the resolved form the index of its access point.",
        default=follows("the only one"),
        reads=Name,
        sparse=True,
    )
    positions: ClassVar[Key] = file_only(
        Positions,
        "Positions: x and y in metres for each station, or a disc around their access point.",
        default=none(),
    )
    distance: ClassVar[Key] = file_only(
        Metres,
        "The distance of each station from its access point, instead of `positions`. The "
        "stations are spread around it. With one cell, you may omit `[air]` and the position of "
        "the access point.",
        default=none(),
    )
    out_of_range: tuple[int, ...] | None = derived(
        "The stations whose signal is below `air.sense`, or too weak for the lowest rate, in "
        "either direction. Their flows never begin.",
        sparse=True,
    )
    hears: ClassVar[Key] = file_only(
        list[Name],
        "Other groups whose stations these stations hear, and vice versa. A station always hears "
        "its own group and its access point.",
        default=follows("all groups of its cell, and of cells that `air.heard` pairs with it"),
    )
    needs: Needs | None = derived(
        "The SINR that their frames need to be received, if powers are known.", sparse=True
    )
    standard: ClassVar[Key] = file_only(
        Annotated[StandardName, in_any_case(*STANDARDS)],
        "The standard of these stations. Frames from and to them use the newest format that "
        "both they and the access point (`[phy]`) support. `channel_width`, `mcs`, "
        "`spatial_streams` and `guard_interval` are those of `[phy]`, limited to what this "
        "standard supports.",
        default=follows("the value of `[phy]`"),
        source="IEEE 802.11-2020, 10.6",
    )
    pair: Pair | None = derived(
        "The capabilities that they share with the access point, if these are less than in "
        "`[phy]` and `[mac]`.",
        sparse=True,
    )
    links: ClassVar[Key] = file_only(
        list[LinkForm],
        "The links of the access point that these stations have. Stations of older standards have "
        "one.",
        default=follows("all links of the access point"),
    )
    emlsr: Emlsr | None = key(
        "One radio for all links of these stations, which switches between them: it listens on all "
        "and exchanges frames on one. This table, even an empty one, says so.",
        default=none("a radio for each link"),
        sparse=True,
        source="IEEE 802.11be-2024, 35.3.17",
    )
    data_rate: Rate = key(
        "Rate of data frames from and to these stations.",
        default=follows("the value of `[phy]`"),
        reads=RateBps,
    )
    mcs: ClassVar[Key] = file_only(
        Annotated[int, Field(ge=0, le=HIGHEST_MCS)],
        "MCS of data frames from and to these stations, in 802.11n and later instead of "
        "`data_rate`.",
        default=follows("the value of `[phy]`"),
    )
    spatial_streams: ClassVar[Key] = file_only(
        Annotated[int, Field(ge=1, le=MOST_STREAMS)],
        "Spatial streams of these stations.",
        default=follows("the value of `[phy]`"),
    )
    channel_width: ClassVar[Key] = file_only(
        one_of(WIDTHS_MHZ, "MHz"),
        "Channel width of these stations.",
        default=follows("the value of `[phy]`"),
    )
    guard_interval: ClassVar[Key] = file_only(
        one_of(GUARD_INTERVALS_NS, "ns"),
        "Guard interval of data frames from and to these stations.",
        default=follows("the value of `[phy]`"),
    )
    control_rate: Rate = derived("Rate of RTS, CTS and MAC ACK in exchanges with these stations.")
    cw_min: int = derived(
        "aCWmin of these stations under the DCF: that of `[phy]`; 31 for 802.11b stations in an "
        "802.11g cell."
    )
    frame_errors: FrameErrors | None = key(
        "Share of frames from and to these stations that are lost without a collision, or a table.",
        default=none("none are lost"),
        reads=FrameErrorsForm,
    )
    airtime_weight: int = key(
        'Weight of each station with `scheduler = "airtime"`. The default weight is 256.',
        default=256,
        ge=1,
        le=2**16,
        source="Linux, mac80211",
    )
    rate_control: RateControl | None = key(
        "How the MCS of frames from and to these stations is chosen. `fixed`: always `mcs`. "
        "`minstrel-ht`: Minstrel-HT, up to `mcs`. `ideal`: the highest MCS, up to `mcs`, at "
        "which noise corrupts less than one bit in a million. It needs `snr`, positions or "
        "powers.",
        default="fixed",
        reads=Literal["fixed", "minstrel-ht", "ideal"],
    )
    error_table: ClassVar[Key] = file_only(
        dict[str, Share],
        'Frame loss by MCS for packets of 1500 bytes, such as `{ 0 = "0 %", 7 = "20 %" }`. An '
        "unlisted MCS has the loss of the next lower listed one. Bits are lost independently.",
        default=none("none are lost"),
    )
    snr: ClassVar[Key] = file_only(
        Decibels,
        "SNR per subcarrier in white noise. It determines error rates, together with "
        "`phy.error_model`, `phy.coding` and `phy.implementation_loss`.",
        default=none("none are lost"),
    )
    queue: Queue = key("Queue of packets to the access point.", default={}, reads=QueueForm)
