"""Replace the profiles of a written scenario by the keys that they set.

Profiles of access points, places, devices and traffic become keys of `[ap]`, `[[stations]]` and
`[[flows]]`. Keys in the file override them. The result has no profile left, so all other code sees
only keys. Mistakes in keys are left for the code that reads the keys.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

from ..amendments import AMENDMENTS
from ..choices import APPLICATIONS, DISCIPLINES
from ..sensitivity import BY_RATE_DBM, mcs_at, rate_at
from . import profiles
from .device_radio import (
    check_links,
    has_powers,
    limits_of_cell,
    links_of,
    mhz,
    older,
    own_standard,
    width_mhz,
    with_widest_link,
)
from .errors import Path, invalid, value_at
from .keys.profiles import PROFILES

_Data = TypeVar("_Data")
#: Keys of a group that are copied to its flows.
_OF_FLOWS: Final = ("tcp", "path")
_OF_GROUPS: Final = ("profile", "place", "traffic", *_OF_FLOWS)
#: Keys of a group that set its rates. If one is given, the group's place has no effect.
_RATES: Final = frozenset({"mcs", "data_rate", "snr", "error_table", "rate_control"})
#: Keys of a group on which keys of its profile depend.
_OF_RADIOS: Final = frozenset({"channel_width", "standard", "distance", "links"})
#: Keys that give the kind of a table.
_TAGS: Final = ("kind", "distribution", "discipline", "profile")

#: Tables of a list, with their indices.
_Tables = list[tuple[int, dict[str, Any]]]


@dataclass
class Expanded:
    """A written form without profiles, and by path the sources of the keys that profiles set."""

    data: dict[str, Any]
    origins: dict[Path, str] = field(default_factory=dict)
    #: The indices of flows by name, while groups are expanded.
    flows: dict[str, int] = field(default_factory=dict)

    def changed(self, data: dict[str, Any]) -> Expanded:
        """Return the form with other values, which have no source any more."""
        kept = {
            path: origin
            for path, origin in self.origins.items()
            # A whole entry is identified by its name.
            if value_at(data, named := (*path, "name") if len(path) == 2 else path)
            == value_at(self.data, named)
        }
        return Expanded(data, kept)


def copied(data: _Data) -> _Data:
    """Return a copy of a written form or a part of it: its tables and lists are new."""
    if isinstance(data, dict):
        return cast("_Data", {key: copied(value) for key, value in data.items()})
    if isinstance(data, list):
        return cast("_Data", [copied(value) for value in data])
    return data


def expand(given: Mapping[str, Any]) -> Expanded:
    """Return a written form with its profiles replaced by their keys; the input stays unchanged.

    Raises:
        InvalidError: there is no such profile, or a group has keys for flows but no flows.
    """
    expanded = Expanded(copied(dict(given)))
    data = expanded.data
    _expand_access_points(expanded)
    groups, flows = _with_profiles(data)
    if not groups and not flows:
        return expanded
    if data.get("flows") is None:
        data["flows"] = []
    if not isinstance(data["flows"], list):
        return expanded  # the validation of the key itself reports it
    for index, flow in flows:
        _expand_flow(expanded, index, flow)
    for place, flow in _tables(data["flows"]):
        if isinstance(flow.get("name"), str):
            expanded.flows.setdefault(flow["name"], place)
    for index, group in groups:
        for key in _OF_GROUPS:
            if key in group and group[key] is None:
                del group[key]
        _expand_group(expanded, index, group)
    if not data["flows"] and given.get("flows") is None:
        del data["flows"]
    return expanded


def applications_expanded(data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[Path, str]]:
    """Replace the profiles of applications, too; return the form and the sources of the keys."""
    expanded = Expanded(copied(dict(data)))
    for index, flow in _tables(expanded.data.get("flows")):
        application = flow.get("application")
        if isinstance(application, dict) and application.get("profile") in PROFILES:
            name = application.pop("profile")
            own = ", ".join(key for key in application if key != "kind")
            for key, value in PROFILES[name].items():
                _over(expanded, (), application, key, value, "")
            flow["application"] = {"kind": application["kind"], **application}
            origin = f"profile {name}" + (f", but for {own}" if own else "")
            expanded.origins["flows", index, "application"] = origin
    return expanded.data, expanded.origins


def has_profiles(given: Mapping[str, Any]) -> bool:
    """Return True if a written form has any profile."""
    return any(_with_profiles(given)) or any("profile" in ap for _, ap in _access_points(given))


def _with_profiles(data: Mapping[str, Any]) -> tuple[_Tables, _Tables]:
    """Return the groups and the flows that have keys of profiles, with their indices."""
    groups = [
        one
        for one in _tables(data.get("stations"))
        if any(one[1].get(key) is not None for key in _OF_GROUPS)
    ]
    flows = [one for one in _tables(data.get("flows")) if one[1].get("profile") is not None]
    return groups, flows


def named(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a written form in which each group with a profile has a name for key paths."""
    data = copied(dict(given))
    for _, group in _tables(data.get("stations")):
        if isinstance(group.get("profile"), str):
            group.setdefault("name", group["profile"])
    return data


def is_of_profiles(path: str, *, among: bool) -> bool:
    """Return whether profiles must be replaced anew if the key at a path changes.

    Args:
        path: the key path.
        among: whether the scenario has profiles, some of whose keys depend on the PHY.
    """
    table, *steps = path.split(".")
    match table, steps:
        case "stations", [_, key, *_]:
            return key in _OF_GROUPS or (among and key in _OF_RADIOS)
        case "flows", [_, "profile"]:
            return True
        case "ap", [] | ["profile"]:
            return True
        case "ap", ["links"]:
            return among
        case "cells", [_, "ap"] | [_, "ap", "profile"]:
            return True
        case _:
            return among and table == "phy"


def _access_points(data: Mapping[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    """Return the tables of access points with their paths, `[ap]` first."""
    cells = data.get("cells")
    tables: list[tuple[Path, Any]] = [(("ap",), data.get("ap"))]
    for name, cell in cells.items() if isinstance(cells, Mapping) else ():
        if isinstance(cell, Mapping):
            tables.append((("cells", name, "ap"), cell.get("ap")))
    return [(place, table) for place, table in tables if isinstance(table, dict)]


def _expand_access_points(expanded: Expanded) -> None:
    """Replace the profiles of access points by their keys."""
    data = expanded.data
    own: list[Path] = []
    for place, ap in _access_points(data):
        word = ap.pop("profile", None)
        if word is None:
            continue
        known = profiles.access_points()[_word("access-point", word, (*place, "profile"))]
        own.append(place)
        expanded.origins[place] = f"access point {known.word}: {known.meaning}"
        for key, value in _fitting(known, ap, data).items():
            origin = f"access point {known.word}: {known.source[key]}"
            _over(expanded, place, ap, key, value, origin)
    if any(place[0] == "cells" for place in own):
        _hand_down(expanded, own)


def _fitting(
    known: profiles.AccessPoint, ap: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the keys of a profile, without those that a written queue or the standard excludes."""
    keys = copied(dict(known.keys))
    phy, queue = data.get("phy"), ap.get("queue")
    standard = str(phy.get("standard")).lower() if isinstance(phy, Mapping) else ""
    queue = queue if isinstance(queue, Mapping) else {}
    discipline = DISCIPLINES.get(str(queue.get("discipline")))
    scheduler = keys["scheduler"]
    if isinstance(scheduler, dict) and queue.get("mac_limit") is not None:
        scheduler.pop("aql", None)  # the ring is limited in packets
    one_by_one = standard not in AMENDMENTS and not isinstance(scheduler, dict)
    if one_by_one or (discipline is not None and not discipline.leaves_stations):
        del keys["scheduler"]
    return keys


def _hand_down(expanded: Expanded, own: Sequence[Path]) -> None:
    """Move the queue of `[ap]` into the cells that have no profile of their own.

    A cell with a profile takes nothing from `[ap]`, because its queue may have another discipline.
    """
    data = expanded.data
    ap = data.get("ap")
    if not isinstance(ap, dict):
        return
    moved = {key: ap.pop(key) for key in ("queue", "scheduler") if key in ap}
    origins = {path: expanded.origins.pop(path) for path in [*expanded.origins] if path[0] == "ap"}
    for name, cell in data["cells"].items():
        place: Path = ("cells", name, "ap")
        table = cell.setdefault("ap", {}) if isinstance(cell, dict) else None
        if place in own or not isinstance(table, dict):
            continue
        for key, value in moved.items():
            _over(expanded, place, table, key, value, origins.get(("ap", key), ""))


def _expand_group(expanded: Expanded, index: int, group: dict[str, Any]) -> None:
    here: Path = ("stations", index)
    device = None
    if "profile" in group:
        device = profiles.devices()[_word("device", group.pop("profile"), (*here, "profile"))]
        expanded.origins[here] = f"device {device.name}: {device.meaning}"
        _fill(expanded, here, group, "name", device.name, "")
        _fill(expanded, here, group, "count", 1, "")
    _radio(expanded, here, group, device)
    given = group.pop("traffic", None if device is None else list(device.traffic))
    own = {key: group.pop(key) for key in _OF_FLOWS if key in group}
    if given is None and own:
        key = next(iter(own))
        raise invalid((*here, key), "profiles.no_flows", key=key)
    name = group.get("name")
    if not isinstance(name, str):
        return  # the validation of the key itself reports it
    for record in _traffic(given, (*here, "traffic")):
        for ending, keys in record.flows.items():
            wanted = f"{name}-{record.name}{ending}"
            place, flow = _entry(expanded, wanted)
            _fill(expanded, place, flow, "name", wanted, "")
            _fill(expanded, place, flow, "stations", name, "")
            for key, value in own.items():
                _over(expanded, place, flow, key, value, f"stations {name}")
            if device is not None and device.tcp:
                origin = f"device {device.name}: {device.source['tcp']}"
                _over(expanded, place, flow, "tcp", device.tcp, origin)
            _flow_keys(expanded, place, flow, record, keys)
            _without_tcp(flow, expanded, place)


def _radio(
    expanded: Expanded, here: Path, group: dict[str, Any], device: profiles.Device | None
) -> None:
    """Set the keys of a group that depend on its device and place."""
    phy, links = with_widest_link(expanded.data, group), links_of(expanded.data, group)
    limits = limits_of_cell(expanded.data, group)
    if device is not None and (named := own_standard(device, {**phy, **limits})) is not None:
        origin = f"device {device.name}: {device.source['standard']}"
        _fill(expanded, here, group, "standard", named, origin)
    standard = older(phy, limits | group)
    amendment = AMENDMENTS.get(standard)
    own_place = group.pop("place", None)
    # Received powers and distances say more about the place than the device's default place.
    is_known = "distance" in group or has_powers(expanded.data)
    where = own_place or (device.place if device and not is_known else None)
    if device is not None and amendment is not None:
        streams = min(device.spatial_streams, amendment.most_streams)
        if isinstance(phy.get("spatial_streams"), int):
            streams = min(streams, phy["spatial_streams"])
        source = device.source["spatial_streams"]
        origin = f"device {device.name}: {source}"
        _fill(expanded, here, group, "spatial_streams", streams, origin)
        own = {name: group[name] for name in ("standard",) if name in group}
        widest, width = mhz(device.most_width), width_mhz(phy, limits | own)
        if widest and links:
            check_links(device, widest, links, here)
        elif widest and width and widest < width:
            origin = f"device {device.name}: {device.source['most_width']}"
            _fill(expanded, here, group, "channel_width", f"{widest} MHz", origin)
        if device.emlsr and len(links) > 1:
            origin = f"device {device.name}: {device.source['emlsr']}"
            _fill(expanded, here, group, "emlsr", device.emlsr, origin)
    if where is None:
        return
    place = profiles.places()[_word("place", where, (*here, "place"))]
    if _RATES & group.keys() or (own_place is None and {"mcs", "data_rate"} & phy.keys()):
        return
    text = f"place {place.name}, {place.signal_dbm} dBm"
    if amendment is not None and (width := width_mhz(phy, limits | group)):
        mcs = mcs_at(place.signal_dbm, width, amendment.highest_mcs)
        has = group.get("spatial_streams", phy.get("spatial_streams", 1))
        while (width, has, mcs) in amendment.missing:
            mcs -= 1
        _fill(expanded, here, group, "mcs", mcs, f"{text} in {width} MHz")
    elif standard in BY_RATE_DBM:
        rate = f"{rate_at(place.signal_dbm, standard)} Mb/s"
        _fill(expanded, here, group, "data_rate", rate, text)


def _expand_flow(expanded: Expanded, index: int, flow: dict[str, Any]) -> None:
    """Replace the profile of an entry of `[[flows]]`. A profile with several flows adds entries."""
    here: Path = ("flows", index)
    word = _word("traffic", flow.pop("profile"), (*here, "profile"))
    record = profiles.traffic()[word]
    if len(record.flows) > 1:
        begin = flow.get("name", f"{flow.get('stations')}-{word}")
        rest = copied(flow)
    for number, (ending, keys) in enumerate(record.flows.items()):
        place = here
        if number:
            flow = copied(rest)
            place = ("flows", len(expanded.data["flows"]))
            expanded.data["flows"].append(flow)
        if ending:
            flow["name"] = f"{begin}{ending}"
        _flow_keys(expanded, place, flow, record, keys)
        _without_tcp(flow, expanded, place)


def _flow_keys(
    expanded: Expanded,
    here: Path,
    flow: dict[str, Any],
    record: profiles.Traffic,
    keys: Mapping[str, Any],
) -> None:
    expanded.origins[here] = f"traffic {record.name}: {record.meaning}"
    if record.purpose is not None:
        _fill(expanded, here, flow, "purpose", record.purpose, "")
    for key, value in keys.items():
        origin = f"traffic {record.name}: {record.source[key]}"
        _over(expanded, here, flow, key, value, origin)


def _fill(
    expanded: Expanded, here: Path, table: dict[str, Any], key: str, value: Any, origin: str
) -> None:
    """Set a key that a table does not have. If `origin` is "", the origin of the table applies."""
    if key not in table:
        table[key] = copied(value)
        if origin:
            expanded.origins[(*here, key)] = origin


def _over(
    expanded: Expanded, here: Path, table: dict[str, Any], key: str, value: Any, origin: str
) -> None:
    """Set a key if it is missing, or set the missing keys of its table.

    Tables of another kind or law than `value` stay unchanged.
    """
    there = table.get(key)
    if not isinstance(there, dict) or not isinstance(value, Mapping):
        _fill(expanded, here, table, key, value, origin)
        return
    if "profile" in there or any(tag in there and there[tag] != value.get(tag) for tag in _TAGS):
        return
    for inner, one in value.items():
        _over(expanded, (*here, key), there, inner, one, origin)


def _is_udp(flow: Mapping[str, Any]) -> bool:
    """Return True if the application of a flow has no TCP; an unknown application may have TCP."""
    application = flow.get("application")
    if not isinstance(application, Mapping):
        return False
    profile = PROFILES.get(str(application.get("profile")), {})
    kind = APPLICATIONS.get({**profile, **application}.get("kind", ""))
    return kind is not None and kind.over_udp


def _without_tcp(flow: dict[str, Any], expanded: Expanded, here: Path) -> None:
    """Remove the TCP that a profile or a group sets for a flow without TCP."""
    if _is_udp(flow) and (*here, "tcp") in expanded.origins:
        del flow["tcp"], expanded.origins[(*here, "tcp")]


def _traffic(given: object, here: Path) -> Iterator[profiles.Traffic]:
    """Yield the traffic records for a list of names."""
    known = profiles.traffic()
    if given is None:
        return
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, list):
        raise invalid(here, "profiles.not_traffic", known=known)
    for index, word in enumerate(words):
        name = _word("traffic", word, here)
        if name in words[:index]:
            raise invalid(here, "profiles.traffic_twice", name=name)
        yield known[name]


def _word(kind: profiles.Kind, value: object, here: Path) -> str:
    """Return the name of a record.

    Raises InvalidError for unknown names, and suggests the nearest.
    """
    known = profiles.names(kind)
    if isinstance(value, str) and value in known:
        return value
    if not isinstance(value, str):
        raise invalid(here, "profiles.not_a_text", known=known)
    near = profiles.record(kind, value) or next(
        iter(difflib.get_close_matches(value.lower(), known, n=1)), ""
    )
    hint = f' (did you mean "{near}"?)' if near else ""
    called = kind.replace("-", " ")
    raise invalid(here, "profiles.unknown", called=called, value=value, hint=hint, known=known)


def _entry(expanded: Expanded, name: str) -> tuple[Path, dict[str, Any]]:
    """Return the entry of `[[flows]]` with a name, or add a new one."""
    flows = expanded.data["flows"]
    index = expanded.flows.setdefault(name, len(flows))
    if index == len(flows):
        flows.append({})
    return ("flows", index), flows[index]


def _tables(value: object) -> _Tables:
    """Return the tables of a list, with their indices."""
    entries = value if isinstance(value, list) else []
    return [(index, one) for index, one in enumerate(entries) if isinstance(one, dict)]
