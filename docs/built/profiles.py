"""Tables of docs/reference/profiles.md and targets.md: profile contents, and default targets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airtcp.amendments import AMENDMENTS
from airtcp.judge.targets import EXPECTED
from airtcp.scenario.profiles import access_points, devices, places, traffic
from airtcp.scenario.toml_text import value_text
from airtcp.sensitivity import mcs_at, rate_at
from tables import markdown

#: Widths and amendments in the table of places.
_SHOWN = (("802.11n", 20), ("802.11ax", 20), ("802.11ax", 40), ("802.11ax", 80), ("802.11ax", 160))


def access_points_table() -> str:
    """List the access points: each key of `[ap]`, its value, its source."""
    rows = []
    for word, one in access_points().items():
        rows += _rows(word, one.meaning, one.keys, one.source)
    return markdown(["access point", "", "key", "value", "source"], rows)


def devices_table() -> str:
    """List the devices: each key, its value, its source."""
    rows = []
    for one in devices().values():
        keys: dict[str, Any] = {
            "place": one.place,
            "standard": one.standard,
            "spatial_streams": one.spatial_streams,
            "most_width": one.most_width,
            "traffic": list(one.traffic),
            "tcp": one.tcp,
            "emlsr": one.emlsr,
        }
        keys = {name: value for name, value in keys.items() if value}
        rows += _rows(one.name, one.meaning, keys, one.source)
    return markdown(["device", "", "key", "value", "source"], rows)


def traffic_table() -> str:
    """List the traffic profiles: each key of their flows, its value, its source."""
    rows = []
    for one in traffic().values():
        for number, (ending, keys) in enumerate(one.flows.items()):
            name = f"{one.name}{ending}" if ending else one.name
            purpose = f"; `purpose = {value_text(one.purpose)}`" if one.purpose else ""
            meaning = one.meaning + purpose if number == 0 else ""
            rows += _rows(name, meaning, keys, one.source)
    return markdown(["traffic", "", "key", "value", "source"], rows)


def device_names() -> str:
    """List the devices with their keys."""
    rows = []
    for one in devices().values():
        keys = {
            "place": one.place,
            "standard": one.standard,
            "spatial_streams": one.spatial_streams,
            "most_width": one.most_width,
            "traffic": list(one.traffic),
        }
        shown = ", ".join(f"{name} = {value_text(value)}" for name, value in keys.items() if value)
        rows.append([f"`{one.name}`", one.meaning, f"`{shown}`"])
    return markdown(["device", "meaning", "keys"], rows)


def traffic_names() -> str:
    """List the traffic profiles by name."""
    rows = [[f"`{one.name}`", one.meaning, one.purpose or ""] for one in traffic().values()]
    return markdown(["traffic", "meaning", "purpose"], rows)


def _rows(
    name: str, meaning: str, keys: Mapping[str, Any], source: Mapping[str, str]
) -> list[list[str]]:
    return [
        [
            f"`{name}`" if number == 0 else "",
            meaning if number == 0 else "",
            f"`{key}`",
            f"`{value_text(value)}`",
            source[key],
        ]
        for number, (key, value) in enumerate(keys.items())
    ]


def places_table() -> str:
    """List the places, and the resulting rates."""
    head = ["place", "", "signal", "source"]
    head += [f"MCS, {standard}, {width} MHz" for standard, width in _SHOWN]
    head += [f"Mb/s, {standard}" for standard in ("802.11g", "802.11b")]
    rows = [
        [
            f"`{one.name}`",
            one.meaning,
            f"{one.signal_dbm} dBm",
            one.source["signal"],
            *(
                str(mcs_at(one.signal_dbm, width, AMENDMENTS[standard].highest_mcs))
                for standard, width in _SHOWN
            ),
            *(str(rate_at(one.signal_dbm, standard)) for standard in ("802.11g", "802.11b")),
        ]
        for one in places().values()
    ]
    return markdown(head, rows)


def targets_table() -> str:
    """List the default targets of each kind of traffic, with their sources."""
    rows = [
        [word if number == 0 else "", f"`{one.metric}`", f"`{one.bound}`", one.reason]
        for word, targets in EXPECTED.items()
        for number, one in enumerate(targets)
    ]
    return markdown(["traffic", "metric", "target", "source"], rows)


DOCS = Path(__file__).parents[1]
PAGE = DOCS / "reference" / "profiles.md"
PAGES = {"targets": DOCS / "howto" / "targets.md"}
TABLES = {
    "targets": targets_table,
    "access-points": access_points_table,
    "devices": devices_table,
    "device-names": device_names,
    "traffic": traffic_table,
    "traffic-names": traffic_names,
    "places": places_table,
}
