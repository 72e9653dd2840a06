"""`[cells.NAME]` and `[air]`: several access points, and who hears whom.

`resolve_air` and `channels` compute received powers and overlapping channels.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from ...amendments import WIDTHS_MHZ
from ...standards import STANDARDS
from ..declare import Key, Table, derived, file_only, key, written
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

    name: str = derived()
    streams: str | None = derived()
    channel: int | None = key()
    standard: ClassVar[Key] = file_only(Annotated[StandardName, in_any_case(*STANDARDS)])
    channel_width: ClassVar[Key] = file_only(one_of(WIDTHS_MHZ, "MHz"))
    position: ClassVar[Key] = file_only(Point)
    power: ClassVar[Key] = file_only(Dbm)
    ap: AccessPoint = key()


class Disc(Table):
    """Stations at random positions around their access point, uniform over the area."""

    disc: float = key(Metres)
    centre: ClassVar[Key] = file_only(Point)
    seed: int = key()


def _form_of_places(value: object) -> str:
    return "list" if isinstance(value, list) else "table"


Positions: Any = Annotated[
    Annotated[list[Point], Tag("list")] | Annotated[written(Disc), Tag("table")],
    Discriminator(_form_of_places),
]


class Wall(Table):
    """A wall, seen from above."""

    from_: list[float] = key(Point)
    to: list[float] = key(Point)
    loss_db: float = key()


class PathLoss(Table):
    """The loss of signals with distance."""

    model: Literal["log-distance"] = key()
    at_1m_db: float = key()
    exponent: float = key()
    walls: tuple[Wall, ...] = key()


class Needs(Table):
    """The SINRs at which 10 % of frames are lost."""

    data_db: float = derived()
    control_db: float = derived()


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
        Annotated[list[Annotated[list[Name], BeforeValidator(_pair)]], BeforeValidator(_pairs)]
    )
    received: ClassVar[Key] = file_only(_Received)
    path_loss: ClassVar[Key] = file_only(written(PathLoss))
    classes: tuple[int, ...] = derived()
    received_dbm: tuple[tuple[float | None, ...], ...] = derived()
    powers_known: bool = derived()
    power_dbm: float = key(Dbm)
    sense_dbm: float = key(Dbm)
    energy_dbm: float = key(Dbm)
    noise_dbm: float = key(Dbm)
    detect_ns: int = key()
    capture_db: float | None = key(Decibels)
    obss_pd_dbm: float | None = key(Dbm)
