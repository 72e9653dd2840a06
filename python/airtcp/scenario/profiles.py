"""Read `profiles.toml`: profiles of access points, places, devices and traffic, with sources.

`expand` replaces a profile by its keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Final, Literal

from ..data import beside

#: The kinds of `purpose` of a flow: what its users wait for.
Purpose = Literal["web", "call", "video", "game", "backup", "ping"]

#: The kinds of profiles.
Kind = Literal["access-point", "place", "device", "traffic"]

#: Fields of a record that are not keys of a scenario.
_ABOUT: Final = frozenset({"meaning", "also", "source", "flows", "purpose"})


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place: the power in dBm at which station and access point receive each other."""

    name: str
    meaning: str
    signal_dbm: int
    source: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Traffic of a station: the keys of a flow, or of several flows by suffix of their names.

    `purpose` is None if no user waits for the traffic.
    """

    name: str
    meaning: str
    purpose: str | None = None
    flows: Mapping[str, Mapping[str, Any]]
    source: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Device:
    """A device: its place, its capabilities, its TCP, and the names of its traffic.

    `standard` is the newest standard that it has, None for that of its access point. `most_width`
    is the maximum channel width, as a file writes it. `emlsr` is how it switches its only radio, if
    it has one for several links.
    """

    name: str
    meaning: str
    place: str
    standard: str | None = None
    spatial_streams: int
    most_width: str | None = None
    traffic: Sequence[str]
    tcp: Mapping[str, Any] = field(default_factory=dict)
    emlsr: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class AccessPoint:
    """An access point: keys of `[ap]`, and its name on screens."""

    word: str
    name: str
    meaning: str
    keys: Mapping[str, Any]
    source: Mapping[str, str]


def access_points() -> Mapping[str, AccessPoint]:
    """Return the access points by the words of their profiles."""
    return {
        word: AccessPoint(
            word=word,
            keys={key: one[key] for key in ("queue", "scheduler") if key in one},
            **_given(AccessPoint, one),
        )
        for word, one in _records()["access-point"].items()
    }


def places() -> Mapping[str, Place]:
    """Return the places by name."""
    return {
        name: Place(name=name, signal_dbm=one["signal"], **_given(Place, one))
        for name, one in _records()["place"].items()
    }


def traffic() -> Mapping[str, Traffic]:
    """Return the traffic by name."""
    return {
        name: Traffic(name=name, **_given(Traffic, one) | {"flows": dict(_flows(one))})
        for name, one in _records()["traffic"].items()
    }


def devices() -> Mapping[str, Device]:
    """Return the devices by name."""
    return {
        name: Device(name=name, **_given(Device, one)) for name, one in _records()["device"].items()
    }


def names(kind: Kind) -> list[str]:
    """Return the names of all records of a kind, in the order of the file."""
    return list(_records()[kind])


def record(kind: Kind, word: object) -> str:
    """Return the name of a record, given its name or another word for it; "" if there is none."""
    plain = str(word).lower().replace("_", "-").replace(" ", "-")
    for name, one in _records()[kind].items():
        if plain in (name, *one.get("also", ())):
            return str(name)
    return ""


def _given(kind: type, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a record that are fields of its class."""
    return {one.name: record[one.name] for one in fields(kind) if one.name in record}


def _flows(record: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if "flows" in record:
        for ending, keys in record["flows"].items():
            yield f"-{ending}", keys
    else:
        yield "", {name: value for name, value in record.items() if name not in _ABOUT}


@cache
def _records() -> Mapping[str, Any]:
    return beside(__file__)
