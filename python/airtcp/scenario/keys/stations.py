"""`[[stations]]`: groups of stations, their rates, their losses and their place."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from ...airtime import Rate
from ...amendments import GUARD_INTERVALS_NS, HIGHEST_MCS, MOST_STREAMS, WIDTHS_MHZ
from ...standards import STANDARDS
from ..declare import Key, Sparse, Table, derived, file_only, key, written
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

    rate: float = key(Percent)
    of_bytes: int | None = key(PositiveSizeBytes)
    least_bytes: int = key(SizeBytes)


FrameErrorsForm: Any = Annotated[
    Annotated[Percent, Tag("text")] | Annotated[written(FrameErrors), Tag("table")],
    Discriminator(text_or_table),
]


class ControlledRate(Sparse):
    """One of the rates that rate control chooses from."""

    rate: Rate = derived()
    control_rate: Rate = derived()
    error_rate: float = derived()
    needs_db: float | None = derived()


class RateControl(Table):
    """Minstrel-HT: the rates that a station tries, the lowest first."""

    rates: tuple[ControlledRate, ...] = derived()
    rules: Literal["linux", "ns-3"] = derived()


class StationGroup(Sparse):
    """A group of identical stations.

    With `profile`, a `name` (the name of the profile) and `count` (1) may be omitted.
    """

    profile: ClassVar[Key] = file_only(Annotated[str, NameOf("device")])
    place: ClassVar[Key] = file_only(Annotated[str, NameOf("place")])
    traffic: ClassVar[Key] = file_only(list[Annotated[str, NameOf("traffic")]])
    tcp: ClassVar[Key] = file_only(written(Tcp))
    path: ClassVar[Key] = file_only(list[PathElement])
    name: str = key(Name)
    count: int = key()
    cell: int | None = key(Name)
    positions: ClassVar[Key] = file_only(Positions)
    distance: ClassVar[Key] = file_only(Metres)
    out_of_range: tuple[int, ...] | None = derived()
    hears: ClassVar[Key] = file_only(list[Name])
    needs: Needs | None = derived()
    standard: ClassVar[Key] = file_only(Annotated[StandardName, in_any_case(*STANDARDS)])
    pair: Pair | None = derived()
    links: ClassVar[Key] = file_only(list[LinkForm])
    emlsr: Emlsr | None = key()
    data_rate: Rate = key(RateBps)
    mcs: ClassVar[Key] = file_only(Annotated[int, Field(ge=0, le=HIGHEST_MCS)])
    spatial_streams: ClassVar[Key] = file_only(Annotated[int, Field(ge=1, le=MOST_STREAMS)])
    channel_width: ClassVar[Key] = file_only(one_of(WIDTHS_MHZ, "MHz"))
    guard_interval: ClassVar[Key] = file_only(one_of(GUARD_INTERVALS_NS, "ns"))
    control_rate: Rate = derived()
    cw_min: int = derived()
    frame_errors: FrameErrors | None = key(FrameErrorsForm)
    airtime_weight: int = key()
    rate_control: RateControl | None = key(Literal["fixed", "minstrel-ht", "ideal"])
    error_table: ClassVar[Key] = file_only(dict[str, Share])
    snr: ClassVar[Key] = file_only(Decibels)
    queue: Queue = key(QueueForm)
