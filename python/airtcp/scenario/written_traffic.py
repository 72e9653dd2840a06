"""The written form of traffic: distributions, applications, wired paths, flows.

Knows keys, types and the bounds of a single key. Does not know defaults (`resolve` does) nor how
keys of different tables depend on each other.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from .declare import written
from .keys.tcp import Tcp
from .quantities import (
    MeanSizeBytes,
    Name,
    PositiveSizeBytes,
    PositiveTimeS,
    RateBps,
    SizeBytes,
    Table,
    TimeNs,
    TimeS,
    key,
    needed,
    rate_or,
    text_or_table,
)

__all__ = [
    "Application",
    "Bulk",
    "Distribution",
    "Flow",
    "Ftp",
    "Link",
    "Udp",
    "Web",
]

Mean = TypeVar("Mean")
"""A mean: more than 0."""
Value = TypeVar("Value")
"""A single value: whole bytes above 0, or a time of 0 or more."""
Low = TypeVar("Low")
"""A lower bound: may be 0."""

SCV_MAX = 1e6

TcpForm: Any = written(Tcp)


class Deterministic(Table, Generic[Value]):
    """Always the same."""

    distribution: Literal["deterministic"]
    value: Value | None = key("The value.", default="must be given, here or as `mean`")
    mean: Value | None = key(
        "Another name of `value`.", default="must be given, here or as `value`"
    )


class Exponential(Table, Generic[Mean]):
    """P(X > x) = exp(-x / mean)."""

    distribution: Literal["exponential"]
    mean: Mean = needed("The mean.")


class Pareto(Table, Generic[Mean]):
    """P(X > x) = (scale / x)^shape; the scale follows from mean and shape."""

    distribution: Literal["pareto"]
    mean: Mean = needed("The mean.")
    shape: Annotated[float, Field(gt=1, le=1000)] = needed(
        "The tail index: above 1, or there is no mean; up to 2 there is no variance."
    )


class Hyperexponential(Table, Generic[Mean]):
    """A mixture of two exponentials that contribute equally to the mean (balanced means)."""

    distribution: Literal["hyperexponential"]
    mean: Mean = needed("The mean.")
    scv: Annotated[float, Field(gt=1, le=SCV_MAX)] = needed(
        "Squared coefficient of variation, above 1 (1 is the exponential)."
    )


class Lognormal(Table, Generic[Mean]):
    """The logarithm is normal."""

    distribution: Literal["lognormal"]
    mean: Mean = needed("The mean.")
    scv: Annotated[float, Field(gt=0, le=SCV_MAX)] = needed("Squared coefficient of variation.")


class Uniform(Table, Generic[Low, Mean]):
    """Uniform between two bounds."""

    distribution: Literal["uniform"]
    low: Low = needed("The lower bound.")
    high: Mean = needed("The upper bound, above `low`.")


class Empirical(Table):
    """Draws from the values of a file."""

    distribution: Literal["empirical"]
    file: Annotated[str, Field(min_length=1)] = needed(
        "A CSV file with a header line, or (sizes only) a web server's access log in Common or "
        "Combined Log "
        "Format, of which the sizes above 0 with status 200 count. Ending .gz: compressed. "
        "Relative to the "
        "scenario file."
    )
    column: Annotated[str, Field(min_length=1)] | None = key(
        "The column of a CSV file; its numbers are bytes or seconds.",
        default="none: the file is an access log",
    )


_DISTRIBUTIONS = [
    "deterministic",
    "exponential",
    "pareto",
    "hyperexponential",
    "lognormal",
    "uniform",
    "empirical",
]


class _DistributionInput:
    """A plain quantity stands for the deterministic distribution; the tag is checked by name."""

    def __call__(self, value: object) -> object:
        if isinstance(value, Table):
            return value
        if not isinstance(value, dict):
            return {"distribution": "deterministic", "value": value}
        return _checked_tag(value, "distribution", _DISTRIBUTIONS)


class _OrText:
    """Says in the JSON Schema that a quantity as text will do as well."""

    def __init__(self, text: Any) -> None:
        self._text = text

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        text = self._text.json_schema
        return {"anyOf": [handler(schema), text], "x-unit": text["x-unit"]}


def _checked_tag(value: dict[str, object], tag: str, allowed: list[str]) -> dict[str, object]:
    """The table, after a look at the key that says which table it is."""
    if tag not in value:
        raise PydanticCustomError("no_tag", "", {"key": tag, "allowed": allowed})
    name = value[tag]
    if name not in allowed:
        raise PydanticCustomError("bad_tag", "", {"key": tag, "value": name, "allowed": allowed})
    return value


SizeDistribution = Annotated[
    Deterministic[PositiveSizeBytes]
    | Exponential[MeanSizeBytes]
    | Pareto[MeanSizeBytes]
    | Hyperexponential[MeanSizeBytes]
    | Lognormal[MeanSizeBytes]
    | Uniform[SizeBytes, MeanSizeBytes]
    | Empirical,
    Field(discriminator="distribution"),
    BeforeValidator(_DistributionInput()),
    _OrText(PositiveSizeBytes.__metadata__[-1]),
]
TimeDistribution = Annotated[
    Deterministic[TimeS]
    | Exponential[PositiveTimeS]
    | Pareto[PositiveTimeS]
    | Hyperexponential[PositiveTimeS]
    | Lognormal[PositiveTimeS]
    | Uniform[TimeS, PositiveTimeS]
    | Empirical,
    Field(discriminator="distribution"),
    BeforeValidator(_DistributionInput()),
    _OrText(TimeS.__metadata__[-1]),
]
Distribution = (
    Deterministic[Any]
    | Exponential[Any]
    | Pareto[Any]
    | Hyperexponential[Any]
    | Lognormal[Any]
    | Uniform[Any, Any]
    | Empirical
)


class Bulk(Table):
    """One transfer for each station."""

    kind: Literal["bulk"]
    size: SizeDistribution | None = key("Size of the transfer.", default="endless")
    start: TimeDistribution | None = key(
        "When it starts, counted from the beginning of the simulation.", default='"0 s"'
    )


class Web(Table):
    """ON/OFF: a transfer, then a think time, and so on."""

    kind: Literal["web"]
    size: SizeDistribution = needed("Size of a transfer.")
    think_time: TimeDistribution = needed(
        "From the end of a transfer to the beginning of the next one, and before the first."
    )
    request: SizeBytes | None = key(
        "Size of the GET request before each transfer.", default='"0 B"'
    )


class Udp(Table):
    """UDP packets without flow control."""

    kind: Literal["udp"]
    packet: SizeBytes = needed("Size of the IP packet, its 28 bytes of headers included.")
    rate: Annotated[int | Literal["saturated"], *rate_or("saturated")] | None = key(
        "Constant bit rate of IP packets, evenly spaced; `saturated`: there is always a packet to "
        "send.",
        default='"saturated"',
    )


class Ftp(Table):
    """Transfers that begin at given intervals, however many of the station are under way."""

    kind: Literal["ftp"]
    interarrival: TimeDistribution = needed(
        "From the beginning of a station's transfer to that of its next one, and before the first. "
        "Exponential: a Poisson process."
    )
    size: SizeDistribution = needed("Size of a transfer.")
    control: bool | None = key(
        "The dialogue of FTP around each transfer: PASV, 227, RETR, 150, the file, 226.",
        default="false",
        source="RFC 959; paper H, II.B and Table II",
    )


class _ApplicationInput:
    def __call__(self, value: object) -> object:
        if not isinstance(value, dict):
            if isinstance(value, Table):
                return value
            raise PydanticCustomError("not_an_application", "")
        return _checked_tag(value, "kind", ["bulk", "web", "ftp", "udp"])


Application = Annotated[
    Bulk | Web | Ftp | Udp, Field(discriminator="kind"), BeforeValidator(_ApplicationInput())
]


class Link(Table):
    """A wired link, the same both ways."""

    rate: RateBps | None = key("Its rate.", default="none: no serialisation")
    delay: TimeNs | None = key("Its propagation delay.", default='"0 s"')
    queue: Annotated[int, Field(ge=1, le=10**9)] | None = key(
        "Limit of the drop-tail queue at each end.",
        default="none: unbounded",
        unit="packets",
    )


PathElement = Annotated[
    Annotated[Name, Tag("text")] | Annotated[Link, Tag("table")],
    Discriminator(text_or_table),
]


class Flow(Table):
    """One such flow for each station of a group."""

    name: Name | None = key(
        "Name of the flow, different from all others.",
        default="the station group's name, with -2, -3, ... if it has several flows without a name",
    )
    stations: str = needed("Name of a station group.")
    direction: Literal["download", "upload"] = needed(
        "`download`: server, access point, station; `upload`: the other way."
    )
    application: Application = needed("What is sent: `bulk`, `web`, `ftp` or `udp`.")
    tcp: TcpForm | None = key("TCP of the flow; none with `udp`.", default="all defaults")
    path: list[PathElement] | None = key(
        "Wired links from the access point to the server, in order: each a table, or the name of "
        "one of "
        "`[links.NAME]`.",
        default="none: the server is at the access point",
    )
