"""Add, copy, remove and rename groups and flows in a scenario file, keeping its comments.

Handles references to groups, and flows that profiles add. The result is checked when it is read.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import tomlkit

from airtcp.choices import APPLICATIONS
from airtcp.exceptions import QuestionError
from airtcp.scenario import Scenario
from airtcp.scenario.expand import expand, named
from airtcp.scenario.keys.traffic import Flow
from airtcp.scenario.profiles import devices, traffic
from airtcp.scenario.vary import names_of, place_of
from airtcp.web import floor, network
from airtcp.web.bodies import Edit
from airtcp.web.edits import append, put, written_anew

_Table = dict[str, Any]


def restructured(text: str, edit: Edit) -> tuple[str, str]:
    """Apply an edit to the text of a file. Return the new text and the key path of the entry.

    Raises:
        QuestionError: the group or flow does not exist, or its name is taken.
        InvalidError: a profile does not exist.
    """
    document = tomlkit.parse(text)
    plain = named(document.unwrap())
    path = _OPERATIONS[edit.op](document, plain, edit)
    new = document.as_string()
    try:
        kept = tomllib.loads(new) == document.unwrap()
    except ValueError:
        kept = False
    return (new if kept else written_anew(document.unwrap())), path


def outline(scenario: Scenario, text: str) -> dict[str, Any]:
    """Return the groups and flows of a scenario for an editor, and its map.

    Without a map there is the `network`, a picture of one cell. Each group or flow has its `path`
    and its `name`. A group has its `count`, and `profile` and `place` if the
    file names them. A flow has its group, as `stations`, and a description in `words`.
    """
    written = named(tomllib.loads(text))["stations"]
    groups = [
        {
            "path": f"stations.{group['name']}",
            "name": group["name"],
            "count": resolved.count,
            "profile": group.get("profile"),
            "place": group.get("place"),
        }
        for group, resolved in zip(written, scenario.stations, strict=True)
    ]
    entries = scenario.written["flows"]
    flows = [
        {
            "path": f"flows.{name}",
            "name": name,
            "stations": entry["stations"],
            "words": _words(entry, flow, scenario.origins.get(("flows", index), "")),
        }
        for index, (name, entry, (_, (flow, *_))) in enumerate(
            zip(names_of(entries), entries, scenario.flow_entries, strict=True)
        )
    ]
    return {
        "groups": groups,
        "flows": flows,
        "map": floor.told(scenario),
        "network": network.told(scenario, written),
    }


def _words(entry: Mapping[str, Any], flow: Flow, origin: str) -> str:
    """Describe a flow in a few words: its traffic profile, or its application."""
    what = origin.partition(": ")[2] or APPLICATIONS[flow.application.kind].label
    return f"{entry['direction']}: {what}"


def _add(document: tomlkit.TOMLDocument, plain: _Table, edit: Edit) -> str:
    table, entry = edit.path, dict(edit.entry)
    if table not in ("stations", "flows"):
        raise QuestionError(f'nothing can be added to "{table}"; allowed: stations, flows')
    word = entry.get("profile") or (entry.get("application") or {}).get("kind", "")
    wish = str(word) if table == "stations" else f"{entry.get('stations')}-{word}"
    name = _fresh(str(entry.get("name") or wish or "station"), _names(plain, table))
    if not (table == "stations" and entry.get("profile") == name):
        entry = {"name": name, **entry, **({"name": name} if "name" in entry else {})}
    if table == "flows":
        _settle(document, plain, entry.get("stations"))
    append(document, table, entry)
    return f"{table}.{name}"


def _copy(document: tomlkit.TOMLDocument, plain: _Table, edit: Edit) -> str:
    table, name = _split(plain, edit.path)
    new = _fresh(name, _names(plain, table))
    if table == "flows":
        flow = next(one for one in _flows(plain) if one["name"] == name)
        _settle(document, plain, flow["stations"])
        append(document, table, {"name": new} | flow | {"name": new})
        return f"{table}.{new}"
    group = _of(plain, "stations", name)
    append(document, "stations", {**group, "name": new})
    for flow in copy.deepcopy(plain.get("flows") or []):
        own = flow.get("name")
        if flow.get("stations") == name:
            flow["stations"] = new
            if own is not None:
                wish = _follows(own, name, new)
                flow["name"] = wish if wish != own else _fresh(own, _names(plain, "flows"))
            append(document, "flows", flow)
        elif own in _brought(group):
            append(document, "flows", {**flow, "name": _follows(own, name, new)})
    return f"stations.{new}"


def _remove(document: tomlkit.TOMLDocument, plain: _Table, edit: Edit) -> str:
    table, name = _split(plain, edit.path)
    there: Any = document
    if table == "flows":
        owner = next((one for one in plain.get("stations") or [] if name in _brought(one)), None)
        if owner is None:
            del there["flows"][place_of(edit.path, plain)[1]]
            _take_out(document, lambda flow: False)
            return ""
        brought = _brought(owner)
        word = brought[name]
        left = [one for one in dict.fromkeys(brought.values()) if one != word]
        put(document, (*place_of(f"stations.{owner['name']}", plain), "traffic"), left)
        _take_out(document, lambda flow: brought.get(str(flow.get("name"))) == word)
        return ""
    if len(plain["stations"]) == 1:
        raise QuestionError(f'"{name}" is the only group; add another one first')
    brought = _brought(_of(plain, "stations", name))
    _take_out(document, lambda flow: flow.get("stations") == name or flow.get("name") in brought)
    del there["stations"][place_of(edit.path, plain)[1]]
    for key in [one for one in plain.get("targets") or {} if str(one).split(" ")[0] == name]:
        put(document, ("targets", key), None)
    return ""


def _rename(document: tomlkit.TOMLDocument, plain: _Table, edit: Edit) -> str:
    table, name = _split(plain, edit.path)
    if edit.name in _names(plain, table):
        raise QuestionError(f'"{edit.name}" already exists; allowed: another name')
    if table == "flows":
        owners = [one["name"] for one in plain.get("stations") or [] if name in _brought(one)]
        if owners:
            raise QuestionError(
                f'"{name}" is traffic of the stations "{owners[0]}" and is named after them; '
                "allowed: rename the stations, or a flow that is listed in the file"
            )
        put(document, (*place_of(edit.path, plain), "name"), edit.name)
        return f"flows.{edit.name}"
    brought = _brought(_of(plain, "stations", name))
    put(document, (*place_of(edit.path, plain), "name"), edit.name)
    for index, flow in enumerate(plain.get("flows") or []):
        if flow.get("stations") == name:
            put(document, ("flows", index, "stations"), edit.name)
        if flow.get("name") in brought:
            put(document, ("flows", index, "name"), _follows(flow["name"], name, edit.name))
    for key, value in (plain.get("targets") or {}).items():
        if key.split(" ")[0] == name:
            put(document, ("targets", key), None)
            put(document, ("targets", _follows(key, name, edit.name)), value)
    return f"stations.{edit.name}"


_OPERATIONS: Final[Mapping[str, Callable[[tomlkit.TOMLDocument, _Table, Edit], str]]] = {
    "add": _add,
    "copy": _copy,
    "remove": _remove,
    "rename": _rename,
}


def _split(plain: _Table, path: str) -> tuple[str, str]:
    table, _, name = path.partition(".")
    if table not in ("stations", "flows") or name not in _names(plain, table):
        raise QuestionError(f'"{path}" is neither a group nor a flow of this scenario')
    return table, name


def _of(plain: _Table, table: str, name: str) -> _Table:
    return next(one for one in plain[table] if one.get("name") == name)


def _flows(plain: _Table) -> list[_Table]:
    """Return all flows, also flows of profiles, each with its name in key paths."""
    flows = expand(plain).data.get("flows") or []
    stations = [flow.get("stations") for flow in flows]
    return [
        {**flow, "name": flow.get("name") or _called(index, flow, stations)}
        for index, flow in enumerate(flows)
    ]


def _called(index: int, flow: _Table, stations: list[Any]) -> str:
    of = flow.get("stations")
    return str(of) if of is not None and stations.count(of) == 1 else str(index)


def _names(plain: _Table, table: str) -> list[str]:
    if table == "flows":
        return [one["name"] for one in _flows(plain)]
    return [str(one.get("name")) for one in plain.get(table) or []]


def _fresh(wish: str, taken: Iterable[str]) -> str:
    """Return an unused name: the wish, or the wish with a number appended."""
    known = set(taken)
    number, name = 2, wish
    while name in known:
        name, number = f"{wish}-{number}", number + 1
    return name


def _follows(own: str, old: str, new: str) -> str:
    """Return the new name of an entry named after a group, after the group is renamed."""
    mine = own == old or own.startswith((f"{old}-", f"{old} "))
    return new + own[len(old) :] if mine else own


def _settle(document: tomlkit.TOMLDocument, plain: _Table, stations: object) -> None:
    """Name the only flow of a group explicitly; until now it had the group's name implicitly."""
    flows = [one for one in plain.get("flows") or [] if one.get("stations") == stations]
    if len(flows) == 1 and "name" not in flows[0]:
        put(document, (*place_of(f"flows.{stations}", plain), "name"), stations)


def _brought(group: _Table) -> dict[str, str]:
    """Return the names of the flows that the traffic of a group adds, with their traffic."""
    words = group.get("traffic")
    if words is None:
        device = devices().get(str(group.get("profile")))
        words = () if device is None else device.traffic
    words = [words] if isinstance(words, str) else words
    known = traffic()
    return {
        f"{group.get('name')}-{word}{ending}": word
        for word in words
        if word in known
        for ending in known[word].flows
    }


def _take_out(document: tomlkit.TOMLDocument, gone: Callable[[_Table], bool]) -> None:
    """Delete the entries of `[[flows]]` for which a function returns True."""
    flows: Any = document.get("flows") or []
    for index in reversed(range(len(flows))):
        if gone(flows[index].unwrap()):
            del flows[index]
    if "flows" in document and not flows:
        del document["flows"]
