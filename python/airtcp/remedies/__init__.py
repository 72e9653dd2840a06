"""Remedies: small changes of a scenario that may help, and how to configure them on real equipment.

    catalogue     all remedies: catalogue.toml
    changed       a scenario with a remedy applied, or why the remedy cannot be applied
    apply         configuration lines for hostapd, OpenWrt, tc, ip and sysctl

`airtcp.judge` decides whether a remedy helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from airtcp.amendments import AMENDMENTS
from airtcp.data import beside
from airtcp.exceptions import ScenarioError
from airtcp.phrases import phrase
from airtcp.remedies.apart import apart, channel_changes, spread
from airtcp.scenario.keys.queue import UNLIMITED, AccessPoint, AirtimeScheduler
from airtcp.scenario.keys.receiver import RECEIVING
from airtcp.scenario.vary import names_of
from airtcp.standards import DSSS, OFDM, STANDARDS
from airtcp.units import format_rate, parse_rate_bps

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

__all__ = [
    "OF_STANDARD",
    "Changed",
    "Cost",
    "Remedy",
    "as_written",
    "catalogue",
    "changed",
    "meet",
    "named",
    "together",
]

#: The kinds of cost of a change; the catalogue explains them.
Cost = Literal["setting", "hardware", "spectrum", "usage", "research"]

_MODERN: Final = "802.11n and later"
#: Keys of wired links that remedies change, each with the key that must be present.
_WIRES_WITH: Final = {"rate": "rate", "up_rate": "up_rate", "queue": "rate", "loss": "loss"}
#: The keys by which a group or a cell has an older standard. `mcs` is not one of them, because it
#: follows from the distance of a station.
OF_STANDARD: Final = ("standard", "channel_width", "guard_interval", "data_rate")
#: Words of `next` that choose another channel width, with the word for error messages.
_WIDTHS: Final = {"width": "wider", "width after next": "wider", "narrower": "narrower"}


@dataclass(frozen=True)
class Remedy:
    """One entry of the catalogue, which explains the fields."""

    name: str
    title: str
    source: str
    where: tuple[str, ...]
    cost: Cost
    set: Mapping[str, Any] = field(default_factory=dict)
    scale: Mapping[str, float] = field(default_factory=dict)
    next: Mapping[str, str] = field(default_factory=dict)
    least: Mapping[str, Any] = field(default_factory=dict)
    calls: bool = False
    problem: bool = False
    research: bool = False
    standards: tuple[str, ...] = ()
    direction: str = ""
    needs: str = ""
    apply: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Changed:
    """A scenario with a remedy applied, and the changed values by key path; None removes a key."""

    scenario: Scenario
    changes: Mapping[str, Any]


class CannotBeAppliedError(Exception):
    """The reason why a remedy cannot be applied to a scenario."""


@cache
def catalogue() -> tuple[Remedy, ...]:
    """Return all remedies, in the order of the catalogue."""
    lists = ("where", "standards", "notes")
    entries: list[dict[str, Any]] = beside(__file__, "catalogue.toml")["remedy"]
    for entry in entries:
        entry.update({key: tuple(entry[key]) for key in lists if key in entry})
    return tuple(Remedy(**entry) for entry in entries)


def named(scenario: Scenario) -> Scenario:
    """Give every flow a name, so that each has a key path."""
    data = scenario.written
    pairs = zip(data["flows"], scenario.flow_entries, strict=True)
    data["flows"] = [entry | {"name": name} for entry, (name, _) in pairs]
    return scenario.rewritten(data)


def changed(scenario: Scenario, remedy: Remedy) -> Changed | str:
    """Return the scenario with a remedy, or why the remedy does not apply or changes nothing.

    The scenario's flows must have names (`named`).
    """
    try:
        changes = _changes(scenario, remedy)
        new = scenario.vary(changes)
    except CannotBeAppliedError as reason:
        return str(reason)
    except ScenarioError as error:
        return f"{error.key}: {error.message}" if error.key else error.message
    if new.hash() == scenario.hash():
        return "it is set already"
    return Changed(new, changes)


def together(scenario: Scenario, remedies: Iterable[Remedy]) -> Changed | str:
    """Return the scenario with several remedies at once, or why they cannot be combined."""
    changes: dict[str, Any] = {}
    for remedy in remedies:
        try:
            more = _changes(scenario, remedy)
        except CannotBeAppliedError as reason:
            return str(reason)
        if any(
            meet(one, other) and changes[one] != more[other] for one in changes for other in more
        ):
            return phrase("remedies.unfit.same_keys")
        changes |= more
    try:
        return Changed(scenario.vary(changes), changes)
    except ScenarioError as error:
        return f"{error.key}: {error.message}" if error.key else error.message


def as_written(scenario: Scenario, base: Scenario, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes with the key paths of the file, whose flows may lack the names of `base`."""
    flows = names_of(scenario.written["flows"])
    own = dict(zip((entry["name"] for entry in base.written["flows"]), flows, strict=True))
    found = {}
    for path, value in changes.items():
        table, _, rest = path.partition(".")
        name, _, key = rest.partition(".")
        found[f"flows.{own[name]}.{key}" if table == "flows" else path] = value
    return found


def meet(one: str, other: str) -> bool:
    """Return True if one key path is equal to the other, or a part of its beginning."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _changes(scenario: Scenario, remedy: Remedy) -> dict[str, Any]:
    standard = scenario.phy.standard
    named = {*remedy.standards, *(AMENDMENTS if _MODERN in remedy.standards else ())}
    if named and standard not in named:
        raise CannotBeAppliedError(phrase("remedies.unfit.not_supported", standard=standard))
    if remedy.calls and not any(
        flow.application.kind == "udp" and flow.application.rate_bps is not None
        for flow in scenario.flows
    ):
        raise CannotBeAppliedError(phrase("remedies.unfit.no_calls"))
    if remedy.needs and _at(scenario.written, remedy.needs) is None:
        raise CannotBeAppliedError(phrase("remedies.unfit.not_needed", needs=remedy.needs))
    directions = {flow.direction for flow in scenario.flows}
    if remedy.direction and remedy.direction not in directions | {"both"} | ({"both"} & directions):
        raise CannotBeAppliedError(
            phrase("remedies.unfit.no_direction", direction=remedy.direction)
        )
    changes: dict[str, Any] = {}
    scheduler = remedy.set.get("ap.scheduler")
    aql = isinstance(scheduler, Mapping) and "aql" in scheduler
    only_fair = remedy.apply == "scheduler" and (aql or scheduler == "airtime")
    if only_fair and all(_is_fair(ap, aql=aql) for ap in scenario.access_points):
        raise CannotBeAppliedError(phrase("remedies.unfit.set_already"))
    for path, value in remedy.set.items():
        for one in _paths(scenario, remedy, path):
            found = value if aql else _with_ring(scenario, one, value)
            changes[one] = None if found == "" else found
    changes |= _scaled(scenario, remedy)
    changes |= _next(scenario, remedy)
    changes |= _raised(scenario, remedy)
    return changes


def _is_fair(ap: AccessPoint, *, aql: bool) -> bool:
    """Return True if an access point has airtime fairness (any quantum), and AQL if asked."""
    if not isinstance(ap.scheduler, AirtimeScheduler):
        return False
    return not aql or (ap.scheduler.aql_ns is not None and ap.queue.mac_limit is None)


def _with_ring(scenario: Scenario, path: str, value: Any) -> Any:
    """Return the value for a path. A queue keeps its driver's ring, which no setting changes."""
    if not path.endswith(".queue"):
        return value
    ring = _value(scenario, f"{path}.mac_limit")
    return value if ring is None else {**value, "mac_limit": ring}


def _paths(scenario: Scenario, remedy: Remedy, path: str) -> Iterator[str]:
    """Yield the key paths that match a pattern. Raises CannotBeAppliedError if there is none."""
    table, star, rest = path.partition(".*.")
    if not star:
        yield path
        yield from _of_cells(scenario, path)
        return
    apart: set[str] = set()
    if table == "links":
        needs = _WIRES_WITH[rest]
        wires = [place for place, link in _wires(scenario) if needs in link]
        if not wires:
            raise CannotBeAppliedError(phrase("remedies.unfit.no_link", needs=needs))
        yield from (f"{wire}.{rest}" for wire in wires)
        return
    if table == "flows" and rest.startswith("application."):
        entries = {entry["name"]: entry["application"] for entry in scenario.written["flows"]}
        # The file gives the kind of an application, or a profile that implies it.
        names = [
            name
            for name, application in entries.items()
            if application.get("kind", application.get("profile")) == "call"
        ]
        if not names:
            raise CannotBeAppliedError(phrase("remedies.unfit.no_calls"))
    elif table == "flows":
        # An entry is one flow per direction and connection.
        of_tcp = {
            name: [flow for flow in flows if flow.tcp is not None]
            for name, flows in scenario.flow_entries
        }
        names = [
            name
            for name, flows in of_tcp.items()
            if any(remedy.direction in ("", flow.direction) for flow in flows)
        ]
        apart = {
            name
            for name, flows in of_tcp.items()
            if any(flow.tcp and flow.tcp.sending_end for flow in flows)
        }
    else:
        names = [group.name for group in scenario.stations]
    if not names:
        raise CannotBeAppliedError(
            phrase("remedies.unfit.no_tcp", direction=remedy.direction or "flow")
        )
    for name in names:
        key = rest.removeprefix("tcp.")
        of_receiver = name in apart and key.split(".")[0] in RECEIVING
        yield f"{table}.{name}.{'tcp.receiver.' + key if of_receiver else rest}"


def _of_cells(scenario: Scenario, path: str) -> Iterator[str]:
    """Yield the paths of cells whose own access point overrides `path` of `[ap]`."""
    if path.startswith("ap."):
        for name, cell in (scenario.written.get("cells") or {}).items():
            if _at(cell, path) is not None:
                yield f"cells.{name}.{path}"


def _wires(scenario: Scenario) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the key paths and tables of all wired links: named links, and links of flows."""
    data = scenario.written
    yield from ((f"links.{name}", link) for name, link in data.get("links", {}).items())
    for entry in data["flows"]:
        for place, link in enumerate(entry.get("path", ())):
            if isinstance(link, Mapping):
                yield f"flows.{entry['name']}.path.{place}", link


def _scaled(scenario: Scenario, remedy: Remedy) -> dict[str, Any]:
    """Return the scaled values by path. Raises CannotBeAppliedError if no pattern matches."""
    changes: dict[str, Any] = {}
    missing: CannotBeAppliedError | None = None
    for pattern, factor in remedy.scale.items():
        try:
            paths = list(_paths(scenario, remedy, pattern))
        except CannotBeAppliedError as error:
            missing = error
            continue
        for path in paths:
            present = _value(scenario, path)
            is_default = path == "ap.queue.limit" and present is None
            if is_default and scenario.ap.queue.discipline == "fifo":
                present = scenario.ap.queue.limit
            if present == UNLIMITED:
                continue
            if isinstance(present, str):
                changes[path] = format_rate(round(parse_rate_bps(present) * factor))
            elif isinstance(present, int):
                least = 1 if path.endswith(".count") else 2
                changes[path] = max(least, round(present * factor))
        if "*" not in pattern and not changes:
            raise CannotBeAppliedError(phrase("remedies.unfit.no_limit"))
    if remedy.scale and not changes:
        raise missing or CannotBeAppliedError(phrase("remedies.unfit.no_rate"))
    return changes


def _value(scenario: Scenario, path: str) -> Any:
    """Return the value at a key path; groups and flows are addressed by name."""
    table, _, rest = path.partition(".")
    if table not in ("stations", "flows"):
        return _at(scenario.written, path)
    name, _, key = rest.partition(".")
    return _at(next(one for one in scenario.written[table] if one["name"] == name), key)


def _next(scenario: Scenario, remedy: Remedy) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for path, what in remedy.next.items():
        if what in ("channel", "spread"):
            changes |= _channels(scenario, what)
            continue
        if what == "ofdm":
            changes |= _ofdm(scenario)
            continue
        if what == "newest":
            changes |= _newest(scenario)
            continue
        amendment, high = AMENDMENTS[scenario.phy.standard], scenario.phy.data_rate.high
        assert high is not None, "a standard with channel widths has MCSs"
        width = high.channel_width_mhz
        if what == "narrower":
            candidates = sorted((mhz for mhz in amendment.subcarriers if mhz < width), reverse=True)
        else:
            candidates = sorted(mhz for mhz in amendment.subcarriers if mhz > width)
            candidates = candidates[1:] if what == "width after next" else candidates
        if not candidates:
            raise CannotBeAppliedError(
                phrase("remedies.unfit.no_channel_width", widths=_WIDTHS[what])
            )
        changes[path] = f"{candidates[0]} MHz"
    return changes


def _ofdm(scenario: Scenario) -> dict[str, Any]:
    """Return 802.11g rates for the stations with 802.11b rates, without protection."""
    known = STANDARDS[scenario.phy.standard].rates_bps[OFDM]
    changes: dict[str, Any] = {
        f"stations.{group.name}.data_rate": format_rate(
            next(rate for rate in known if rate >= group.data_rate.bps)
        )
        for group in scenario.stations
        if group.data_rate.modulation == DSSS
    }
    if not changes:
        raise CannotBeAppliedError(phrase("remedies.unfit.no_802_11b"))
    if scenario.written["phy"].get("protection") is not None:
        changes["phy.protection"] = "none"
    return changes


def _newest(scenario: Scenario) -> dict[str, Any]:
    """Return the changes that give every station the standard of its access point."""
    groups = {group["name"]: group for group in scenario.written["stations"]}
    old = [one.name for one in scenario.stations if one.pair and "standard" in groups[one.name]]
    if not old:
        raise CannotBeAppliedError(phrase("remedies.unfit.no_older_standard"))
    return {
        f"stations.{name}.{key}": None for name in old for key in OF_STANDARD if key in groups[name]
    }


def _channels(scenario: Scenario, what: str) -> dict[str, Any]:
    """Return channels for the cells: one each, or as many as the band has."""
    own = apart(scenario)
    if what == "channel":
        if own is None:
            raise CannotBeAppliedError(phrase("remedies.unfit.no_other_channel"))
        return channel_changes(scenario, own)
    if own is not None:
        raise CannotBeAppliedError(phrase("remedies.unfit.channel_each"))
    fewer = spread(scenario)
    if fewer is None:
        raise CannotBeAppliedError(phrase("remedies.unfit.no_free_channel"))
    return channel_changes(scenario, fewer)


def _raised(scenario: Scenario, remedy: Remedy) -> dict[str, Any]:
    changes = {}
    for path, least in remedy.least.items():
        _, _, key = path.rpartition(".")
        raised = _with_mcs if isinstance(least, int) else _with_rate
        for name in raised(scenario, least):
            changes[f"stations.{name}.{key}"] = least
    if remedy.least and not changes:
        raise CannotBeAppliedError(phrase("remedies.unfit.no_slower_station"))
    return changes


def _with_mcs(scenario: Scenario, least: Any) -> Iterator[str]:
    """Yield the groups with a lower MCS."""
    for group in scenario.stations:
        high = group.data_rate.high
        if high is not None and high.mcs < least:
            yield group.name


def _with_rate(scenario: Scenario, least: Any) -> Iterator[str]:
    """Yield the groups with a lower rate, among stations that support this rate."""
    bps = parse_rate_bps(least)
    if bps > scenario.phy.data_rate.bps:
        raise CannotBeAppliedError(phrase("remedies.unfit.low_rate", least=least))
    for group in scenario.stations:
        slow = group.data_rate.bps < bps
        modulation = group.data_rate.modulation
        if slow and (modulation == "dsss") == (bps in (5_500_000, 11_000_000)):
            yield group.name


def _at(data: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(data, list):
            data = data[int(part)]
        else:
            data = data.get(part) if isinstance(data, Mapping) else None
    return data
