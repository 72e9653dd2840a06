"""`[cells.NAME]` and `[air]`: several access points, and who hears whom.

`resolve_air` and `channels` compute received powers and overlapping channels.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from ...amendments import WIDTHS_MHZ
from ...standards import STANDARDS
from ..declare import Default, Key, Table, derived, file_only, follows, key, none, written
from ..quantities import Dbm, Decibels, Metres, Name, in_any_case, one_of
from .phy import StandardName
from .queue import AccessPoint


def _two(value: object) -> object:
    if isinstance(value, list) and len(value) == 2:
        return value
    raise PydanticCustomError("not_a_point", "is not a point; allowed: [x, y] in metres")


_FAR: Any = 100_000.0
_POINT_SCHEMA: Any = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 2,
    "maxItems": 2,
}
Point = Annotated[
    list[Annotated[float, Field(ge=-_FAR, le=_FAR)]],
    BeforeValidator(_two),
    WithJsonSchema(_POINT_SCHEMA),
]
"""x and y in metres."""


class Cell(Table):
    """A cell: an access point with its stations, on a channel."""

    name: str = derived("Name of the cell and, among nodes, of its access point.")
    streams: str | None = derived(
        "Name of its access point's random streams, by default its own name. The first of "
        "several cells has `ap`: if no other cell hears it, it draws the same numbers as a "
        "single cell.",
        sparse=True,
    )
    channel: int | None = key(
        "Channel number of any 20 MHz part of it. Cells on channels that do not overlap do not "
        "hear each other.",
        default=none("all cells are on one channel"),
        ge=1,
        le=233,
        source="IEEE 802.11-2020, 17.3.8.4.2; 802.11ax-2021, 27.3.23.2",
    )
    standard: ClassVar[Key] = file_only(
        Annotated[StandardName, in_any_case(*STANDARDS)],
        "The standard of its access point, which limits its stations' standard.",
        default=follows("the standard of `[phy]`, the newest of all cells"),
    )
    channel_width: ClassVar[Key] = file_only(
        one_of(WIDTHS_MHZ, "MHz"),
        "The width of its channel, which limits its stations' width.",
        default=follows("the width of `[phy]`, or the widest of its standard"),
    )
    position: ClassVar[Key] = file_only(
        Point, "Where its access point is: x and y in metres.", default=none()
    )
    power: ClassVar[Key] = file_only(
        Dbm,
        "Transmit power of its access point, if powers are known. Powers in `received` apply to "
        "the power of `[air]`.",
        default=none("the power of `[air]`"),
    )
    ap: AccessPoint = key("Its access point. These keys override `[ap]`.", default={})


class Disc(Table):
    """Stations at random positions around their access point, uniform over the area."""

    disc: float = key("Radius of the area.", reads=Metres)
    centre: ClassVar[Key] = file_only(
        Point,
        "Middle of the area: x and y in metres.",
        default=none("the position of their access point"),
    )
    seed: int = key(
        "Seed of the positions, independent of `run.seed`. Adding stations does not move the "
        "first ones.",
        default=1,
        ge=0,
        lt=2**63,
    )


def _form_of_places(value: object) -> str:
    return "list" if isinstance(value, list) else "table"


Positions: Any = Annotated[
    Annotated[list[Point], Tag("list")] | Annotated[written(Disc), Tag("table")],
    Discriminator(_form_of_places),
]


class Wall(Table):
    """A wall, seen from above."""

    from_: list[float] = key("One end: x and y in metres.", reads=Point)
    to: list[float] = key("The other end: x and y in metres.", reads=Point)
    loss_db: float = key("Loss of a signal that passes through the wall.")


class PathLoss(Table):
    """The loss of signals with distance."""

    model: Literal["log-distance"] = key(
        "`log-distance`: `10 exponent` dB more for each factor of 10 in distance.",
        default="log-distance",
    )
    at_1m_db: float = key(
        "Loss over the first metre, and at shorter distances.",
        default=follows("in free space: 40.2 dB in 2.4 GHz, 46.4 dB in 5 GHz, 47.9 dB in 6 GHz"),
        source="Friis, at 2.44, 5 and 5.95 GHz",
    )
    exponent: float = key(
        "Path loss exponent: 2 in free space, 3 to 4 indoors.", default=3.5, ge=1, le=10
    )
    walls: tuple[Wall, ...] = key("Walls.", default=none())


class Needs(Table):
    """The SINRs at which 10 % of frames are lost."""

    data_db: float = derived("At the data rate, in dB.")
    control_db: float = derived("At the rate of control frames, in dB.")


def _is_row(value: object) -> object:
    if isinstance(value, list) and len(value) == 3:
        return value
    raise PydanticCustomError("not_a_row", 'is not a row; allowed: ["FROM", "TO", dBm]')


def _pair(value: object) -> object:
    if isinstance(value, list) and len(value) == 2 and value[0] != value[1]:
        return value
    raise PydanticCustomError("not_a_pair", 'is not a pair; allowed: ["CELL", "CELL"]')


def _pairs(value: object) -> object:
    if isinstance(value, list) and not any(isinstance(one, str) for one in value):
        return value
    raise PydanticCustomError(
        "no_pairs", 'is not a list of pairs; allowed: [["CELL", "CELL"], ...]'
    )


def _file_or_rows(value: object) -> object:
    if isinstance(value, str | list):
        return value
    raise PydanticCustomError(
        "no_powers",
        "is neither a file nor a list of rows; "
        'allowed: "powers.csv", or [["FROM", "TO", dBm], ...]',
    )


_Row = Annotated[
    list[str | float],
    BeforeValidator(_is_row),
    WithJsonSchema({"type": "array", "minItems": 3, "maxItems": 3}),
]
_Received: Any = Annotated[
    Annotated[str, Tag("text")] | Annotated[list[_Row], Tag("list")],
    Discriminator(lambda value: "list" if isinstance(value, list) else "text"),
    BeforeValidator(_file_or_rows),
]
"""The name of a file, or rows of sender, listener, dBm."""


class Air(Table):
    """Received powers and thresholds, if not all nodes hear each other.

    One of `heard`, `received` and `path_loss` gives the powers.
    """

    heard: ClassVar[Key] = file_only(
        Annotated[list[Annotated[list[Name], BeforeValidator(_pair)]], BeforeValidator(_pairs)],
        "Pairs of cells on one channel whose nodes all hear each other. Within a cell all nodes "
        "hear each other, except as `hears` says.",
        default=none("with several cells one of `heard`, `received` and `path_loss`"),
    )
    received: ClassVar[Key] = file_only(
        _Received,
        "Received power of each pair of nodes: a CSV file with the columns `from`, `to`, `dbm`, "
        "or a list of such rows. A node is a cell (its access point), a station such as "
        "`laptop/0`, or a whole group; rows of a station override rows of its group. A pair "
        "without a row has the power of the other direction. With no row at all, the two nodes "
        "do not hear each other.",
        default=none(),
    )
    path_loss: ClassVar[Key] = file_only(
        written(PathLoss), "Path loss, which gives received powers from positions.", default=none()
    )
    classes: tuple[int, ...] = derived(
        "The class of each node, which is its row in `received_dbm`: access points in the order "
        "of `cells`, then stations in the order of their groups. Nodes of one class have the "
        "same received powers."
    )
    received_dbm: tuple[tuple[float | None, ...], ...] = derived(
        "Received power in dBm, by class of sender and of listener; null: nothing is heard. The "
        "diagonal is for two nodes of the same class."
    )
    powers_known: bool = derived(
        "Whether received powers are known. If not, -50 marks nodes that hear each other, and "
        "every overlap of frames is a collision."
    )
    power_dbm: float = key(
        "Transmit power of all nodes, except access points with their own `power`.",
        default="20 dBm",
        reads=Dbm,
    )
    sense_dbm: float = key(
        "The lowest received power at which a preamble is detected.",
        default="-82 dBm",
        reads=Dbm,
        source="IEEE 802.11-2020, 17.3.10.6",
    )
    energy_dbm: float = key(
        "The lowest received power at which any signal makes the medium busy, also one whose "
        "preamble was missed.",
        default=follows('"-62 dBm"; with mac.rules.preset ns-3 the value of `sense`'),
        reads=Dbm,
        source="IEEE 802.11-2020, 17.3.10.6; ns-3.44, PhyEntity::GetCcaThreshold",
    )
    noise_dbm: float = key(
        "Noise of a receiver in 20 MHz, including its noise figure. Wider channels have more, "
        "and `phy.implementation_loss` is added. The default has a noise figure of 7 dB.",
        default="-94 dBm",
        reads=Dbm,
    )
    detect_ns: int = key(
        "Time to detect a preamble: a node that starts within this time does not know of the "
        "other frame yet. At most the length of preamble and header.",
        default="4 us",
        source="IEEE 802.11-2020, 17.3.10.6",
    )
    capture_db: float | None = key(
        "Capture: a later frame that is stronger by this much is received instead of the "
        "earlier one.",
        default=none("the earlier frame is received in any case"),
        reads=Decibels,
    )
    obss_pd_dbm: float | None = key(
        "OBSS-PD level: preambles of other cells below it do not make the medium busy (802.11ax "
        "and later). It limits the transmit power to 21 dBm minus the excess over -82 dBm.",
        default=none("no spatial reuse"),
        reads=Dbm,
        source="IEEE 802.11ax-2021, 26.10.2",
    )


#: The default of a file without cells.
NO_CELLS: Any = Default("none: one cell, with the access point `[ap]`", {})
