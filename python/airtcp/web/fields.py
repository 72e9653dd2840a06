"""The controls of a scenario: which keys the page offers, and with which values.

Every value is valid in a file at its key path, so `--set` can do the same. All other keys are
edited in the text of the scenario.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING, Any, Final

from airtcp.amendments import AMENDMENTS
from airtcp.choices import APPLICATIONS, DISCIPLINES, SCHEDULERS, of_airtcp
from airtcp.scenario.errors import value_at
from airtcp.scenario.keys.profiles import PROFILES
from airtcp.scenario.keys.queue import UNLIMITED, Queue
from airtcp.scenario.resolve_pair import has_band, usual_band
from airtcp.scenario.resolve_queue import keys_of_disciplines
from airtcp.scenario.vary import shared_out
from airtcp.standards import STANDARDS
from airtcp.units import format_rate, format_size, format_time_ns
from airtcp.web.controls import Field, choice, is_there, slider, stops
from airtcp.web.fields_tcp import tcp_fields

if TYPE_CHECKING:
    from airtcp.scenario import Scenario
    from airtcp.scenario.keys.stations import StationGroup
    from airtcp.scenario.keys.traffic import Flow

_PHY: Final[Mapping[str, dict[str, Any]]] = {
    "802.11b": {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "2 Mb/s"},
    "802.11g": {"standard": "802.11g", "data_rate": "54 Mb/s", "control_rate": "24 Mb/s"},
    "802.11a": {"standard": "802.11a", "data_rate": "54 Mb/s", "control_rate": "24 Mb/s"},
    **{
        name: {"standard": name, **one.sold, "channel_width": f"{one.sold['channel_width']} MHz"}
        for name, one in AMENDMENTS.items()
    },
}
"""The standards offered on the page, each with its usual equipment."""

#: Schedulers that work with every queue discipline.
_TURNS: Final = tuple(word for word, one in SCHEDULERS.items() if not one.in_any_standard)
_COUNTS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80, 100)
#: The allowed deviation of a group's share that is not a whole number, and the spacing of totals.
_OFF: Final = 0.05
_APART: Final = 1.08
#: With at most this many exact mixes, approximate ones are added.
_FEW: Final = 3
_SIZES: Final = tuple(
    f"{size} kB" for size in (3, 5, 8, 12, 20, 30, 45, 60, 90, 130, 200, 300, 500, 1000, 2000, 5000)
)
_TIMES: Final = ("500 ms", *(f"{time} s" for time in (1, 2, 3, 5, 8, 10, 15, 20, 30, 60)))
_LIMITS: Final = (5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000)
_RATES: Final = tuple(
    [f"{rate} kb/s" for rate in (64, 100, 200, 400)]
    + [f"{rate} Mb/s" for rate in (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)]
)
_DURATIONS: Final = tuple(f"{time} s" for time in (1, 2, 5, 10, 30, 60, 120, 300, 600, 3600))


def fields(scenario: Scenario, written: Mapping[str, Any]) -> list[Field]:
    """Return the controls of a scenario, in reading order.

    Each has `section`, `path`, `label`, `kind` ("choice" or "stops"), `value` as written (None: the
    default), `text` of the current value, `options` with `value` and `text`, and whether it can be
    an `axis`.
    """
    return [
        *_network(scenario, written),
        *_stations(scenario, written),
        *_flows(scenario, written),
        *_access_point(scenario, written),
        *_run(scenario, written),
    ]


def axes(controls: Sequence[Field], mix: Sequence[int] = ()) -> list[Field]:
    """Return the controls that can be the axis of a curve, all stations first.

    Each also has a `name` that no other one has, and the `unit` of its numbers.

    `mix` has the original numbers of stations per group, if the controls show scaled ones.
    """
    counts = [int(one["value"]) for one in controls if one["path"].endswith(".count")]
    found = [one for one in controls if one["axis"]]
    if len(counts) > 1:
        total = sum(counts)
        values = _totals(tuple(mix) or tuple(counts))
        found.insert(0, slider("Stations", "stations", "All stations", total, f"{total}", values))
    labels = [one["label"] for one in found]
    return [
        one
        | {
            "name": one["label"]
            if labels.count(one["label"]) == 1
            else f"{one['section']}: {one['label']}",
            "unit": _unit(one),
        }
        for one in found
    ]


def _unit(axis: Field) -> str:
    """Return the unit of the numbers of an axis."""
    text = next((one["value"] for one in axis["options"] if isinstance(one["value"], str)), "")
    if text.endswith("b/s"):
        return "b/s"
    if re.search(r"[KM]?i?B$", text, re.IGNORECASE):
        return "B"
    return "s" if re.search(r"(s|min|h)$", text) else ""


@lru_cache(maxsize=64)
def _totals(counts: tuple[int, ...]) -> list[int]:
    """Return the total numbers of stations for an axis, including the current one.

    Preferred are totals at which every group has a whole number of stations for its share;
    otherwise some groups would jump while others stand still, and the curve with them. Below the
    first of these, and if they are few, other totals are added. There each group is within `_OFF`
    of its share; groups whose share is less than one station get one station, and the others share
    the rest.
    """
    total, common = sum(counts), gcd(*counts)
    mix = total // common
    most = max(_COUNTS[-1], 2 * total)
    whole = [mix * step for step in stops(_COUNTS, common) if mix * step <= most]
    if common > 1:
        return whole
    ends = total if len(whole) > _FEW else most + 1
    near = [one for one in range(len(counts), ends) if one != total and _keeps(one, counts)]
    found: list[int] = []
    for one in sorted({*near, *(one for one in whole if one >= ends or one == total)}):
        if one in whole or not found or one >= _APART * found[-1]:
            found.append(one)
    return found


def _keeps(total: int, counts: Sequence[int]) -> bool:
    """Whether this total keeps the mix of `counts` closely enough for a curve."""
    shares = shared_out(total, counts)
    large = [place for place, share in enumerate(shares) if share > 1]
    if not large:
        return False
    left, parts = sum(shares[one] for one in large), sum(counts[one] for one in large)
    ideals = [left * counts[one] / parts for one in large]
    # A single station must stand for less than one and a half, measured by the other groups.
    alone = (counts[one] * left / parts for one, share in enumerate(shares) if share == 1)
    near = all(
        abs(shares[one] - ideal) <= _OFF * ideal for one, ideal in zip(large, ideals, strict=True)
    )
    return near and all(share <= 1.0 + _OFF for share in alone)


def _network(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    phy = scenario.phy
    standard = str(phy.standard)
    choices = [
        (value, f"{name} ({AMENDMENTS[name].generation})" if name in AMENDMENTS else name)
        for name, value in _PHY.items()
        if scenario.cells is None or name == standard
    ]
    # Channels of cells belong to one band, so several cells keep their standard.
    present = written.get("phy")
    # The scenario's own table stands for its standard, so choosing it changes nothing.
    options = [
        (present if value["standard"] == standard else value, text) for value, text in choices
    ]
    field = choice("Network", "phy", "Standard", present, standard, options)
    # Keys that belong to the other standard are removed with it.
    groups = [f"stations.{group.name}" for group in scenario.stations]
    keys = ("data_rate", "mcs", "spatial_streams", "channel_width", "error_table", "snr")
    also = [f"{group}.{key}" for group in groups for key in (*keys, "rate_control")]
    field["also"] = [
        path for path in (*also, "mac.aggregation", "ap.scheduler") if is_there(written, path)
    ]
    # Stations whose standard has no channel in the new band get the access point's standard.
    ages = {one.get("name"): one.get("standard") for one in written.get("stations", [])}
    for option in field["options"]:
        band = usual_band(option["value"]["standard"])
        option["also"] = [
            f"stations.{name}.standard"
            for name, age in ages.items()
            if age and option["value"]["standard"] != standard and not has_band(age, band)
        ]
    yield field
    if standard in AMENDMENTS:
        high = phy.data_rate.high
        assert high is not None, "rates of 802.11n and later have an MCS"
        mcs, streams = high.mcs, high.spatial_streams
        yield slider(
            "Network",
            "phy.mcs",
            "MCS",
            value_at(written, ("phy", "mcs")),
            f"{mcs}",
            range(AMENDMENTS[standard].highest_mcs + 1),
            present=mcs,
        )
        yield slider(
            "Network",
            "phy.spatial_streams",
            "Spatial streams",
            value_at(written, ("phy", "spatial_streams")),
            f"{streams}",
            (1, 2, 3, 4),
            present=streams,
        )
        if scenario.ap.links is None:
            width = f"{high.channel_width_mhz} MHz"
            yield choice(
                "Network",
                "phy.channel_width",
                "Channel width",
                value_at(written, ("phy", "channel_width")) or width,
                width,
                [(one, one) for one in (f"{mhz} MHz" for mhz in AMENDMENTS[standard].subcarriers)],
            )
    else:
        rate = format_rate(phy.data_rate.bps)
        yield choice(
            "Network",
            "phy.data_rate",
            "Data rate",
            value_at(written, ("phy", "data_rate")) or rate,
            rate,
            [(one, one) for one in map(format_rate, _rates(standard))],
        )
    threshold = scenario.mac.rts_threshold_bytes
    shown = "never" if threshold is None else format_size(threshold)
    options_rts: list[tuple[Any, str]] = [
        (None, "never"),
        ("0 B", "before every frame"),
        ("500 B", "above 500 B"),
    ]
    now = value_at(written, ("mac", "rts_threshold"))
    if now not in [value for value, _ in options_rts]:
        options_rts.append((now, f"above {shown}"))
    yield choice("Network", "mac.rts_threshold", "RTS/CTS", now, shown, options_rts)


def _rates(standard: str) -> list[int]:
    return sorted(rate for rates in STANDARDS[standard].rates_bps.values() for rate in rates)


def _stations(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    for entry, group in zip(written["stations"], scenario.stations, strict=True):
        path = f"stations.{group.name}"
        section = f"Stations: {group.name}"
        yield slider(
            section, f"{path}.count", "Stations", entry.get("count"), f"{group.count}", _COUNTS
        )
        yield _group_rate(scenario, entry, group, section, path)


def _group_rate(
    scenario: Scenario, entry: Mapping[str, Any], group: StationGroup, section: str, path: str
) -> Field:
    standard = str(scenario.phy.standard if group.pair is None else group.pair.standard)
    high = group.data_rate.high
    if high is not None:
        text = f"{high.mcs} ({format_rate(group.data_rate.bps, 3)})"
        values = range(AMENDMENTS[standard].highest_mcs + 1)
        return slider(
            section, f"{path}.mcs", "MCS", entry.get("mcs"), text, values, present=high.mcs
        )
    rate = format_rate(group.data_rate.bps)
    rates: list[tuple[Any, str]] = [
        (None, f"as the network ({format_rate(scenario.phy.data_rate.bps)})")
    ]
    rates += [(one, one) for one in map(format_rate, _rates(standard))]
    return choice(section, f"{path}.data_rate", "Data rate", entry.get("data_rate"), rate, rates)


def _flows(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    for entry, flow in _entries(scenario, written):
        name = _name(written, entry)
        if name is None:
            continue  # it has no key path without a name
        path = f"flows.{name}"
        section = f"Traffic: {name}"
        directions = [(word, word) for word in _directions(entry, flow)]
        direction = entry.get("direction")
        yield choice(
            section, f"{path}.direction", "Direction", direction, f"{direction}", directions
        )
        yield from _application(scenario, entry, flow, section, f"{path}.application")
        if flow.tcp is not None:
            marked = any(map(_marks, _queues(scenario, flow)))
            yield from tcp_fields(entry, flow, f"TCP: {name}", f"{path}.tcp", marked=marked)


def _directions(entry: Mapping[str, Any], flow: Flow) -> list[str]:
    """Return the directions that a flow's application supports."""
    if getattr(flow.application, "page", None) is not None:
        return ["download"]
    kind = _kind(entry, flow)
    return ["download", "upload", *(["both"] if _has_both(kind) else [])]


def _has_both(kind: str) -> bool:
    return kind == "bulk" or APPLICATIONS[kind].over_udp


def _entries(
    scenario: Scenario, written: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], Flow]]:
    """Yield each written entry of `[[flows]]`, with the first flow it stands for.

    The flows of an entry differ only in direction and packets.
    """
    for entry, (_, flows) in zip(written["flows"], scenario.flow_entries, strict=True):
        yield entry, flows[0]


def _name(written: Mapping[str, Any], entry: Mapping[str, Any]) -> str | None:
    """Return the name of an entry of `[[flows]]` in key paths."""
    alike = [one for one in written["flows"] if one["stations"] == entry["stations"]]
    return entry.get("name") or (entry["stations"] if len(alike) == 1 else None)


def _kind(entry: Mapping[str, Any], flow: Flow) -> str:
    """Return the kind of an application as in a file: calls are resolved to UDP flows."""
    now = entry["application"]
    return str({**PROFILES.get(now.get("profile"), {}), **now}.get("kind", flow.application.kind))


def _application(
    scenario: Scenario, entry: Mapping[str, Any], flow: Flow, section: str, path: str
) -> Iterator[Field]:
    app = flow.application
    now = entry["application"]
    present = _kind(entry, flow)
    options = [
        (now if kind == present else one.offered, one.label)
        for kind, one in APPLICATIONS.items()
        if one.offered is not None and (_has_both(kind) or entry["direction"] != "both")
    ]
    if APPLICATIONS[present].offered is None:
        options.append((now, APPLICATIONS[present].label))
    field = choice(section, path, "Application", now, present, options)
    entry_path = path.removesuffix(".application")
    tcp = f"{entry_path}.tcp"
    for option in field["options"]:
        # A UDP flow has no TCP. The file's TCP table returns with another application.
        kind = present if option["value"] is now else option["value"]["kind"]
        if not APPLICATIONS[kind].over_udp:
            option["back"] = [tcp]
            if flow.tcp is None and not any(map(_marks, _queues(scenario, flow))):
                option["also"] = [f"{tcp}.ecn"]  # no queue marks for the TCP of the file
        elif "tcp" in entry:
            option["also"] = [tcp]
        if kind != present:
            # Only TCP flows have parallel connections, and other applications have other purposes.
            gone = [key for key in ("connections", "purpose") if key in entry]
            option["also"] = option.get("also", []) + [f"{entry_path}.{key}" for key in gone]
    yield field
    laws = (
        ("size", "Mean size", _SIZES),
        ("think_time", "Mean think time", _TIMES),
        ("interarrival", "Mean time between", _TIMES),
    )
    for key, label, values in laws:
        law = now.get(key)
        if isinstance(law, Mapping) and "mean" in law:
            yield slider(section, f"{path}.{key}.mean", label, law["mean"], law["mean"], values)
    if app.kind == "udp" and isinstance(now.get("rate"), str) and now["rate"] != "saturated":
        shown = format_rate(app.rate_bps) if app.rate_bps is not None else ""
        yield slider(section, f"{path}.rate", "Rate", now["rate"], shown, _RATES)


def _queues(scenario: Scenario, flow: Flow) -> list[Queue]:
    """Return the queues of a flow's packets, the access point's first."""
    groups = [group.queue for group in scenario.stations if group.name == flow.stations]
    return [scenario.ap.queue, *groups, *(link.queue for link in scenario.path_links(flow))]


def _marks(queue: Queue) -> bool:
    """Whether a queue marks packets by ECN."""
    parts = (getattr(queue, name, None) for name in ("red", "codel"))
    return any(getattr(part, "ecn", False) for part in parts)


def _access_point(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    queue = scenario.ap.queue
    now = value_at(written, ("ap", "queue"))
    now = now if isinstance(now, Mapping) else {}
    section = "Access point"
    disciplines = choice(
        section, "ap.queue.discipline", "Queue", now.get("discipline") or queue.discipline,
        queue.discipline, [(one.word, one.label) for one in of_airtcp(DISCIPLINES)],
    )  # fmt: skip
    known = keys_of_disciplines()
    everything = set().union(*known.values())
    # Flows with ECN that no other queue marks: they lose ECN if this queue does not mark.
    marked = [
        f"flows.{name}.tcp.ecn"
        for entry, flow in _entries(scenario, written)
        if (name := _name(written, entry)) is not None
        and flow.tcp is not None
        and flow.tcp.ecn
        and not any(map(_marks, _queues(scenario, flow)[1:]))
    ]
    shares = value_at(written, ("ap", "scheduler")) not in (None, *_TURNS)
    for option in disciplines["options"]:
        mine = known.get(option["value"], set())
        others = sorted(everything - mine)
        option["also"] = [f"ap.queue.{key}" for key in others if key in now]
        option["back"] = [f"ap.queue.{key}" for key in sorted(mine)]
        if "ecn" not in mine:
            option["also"] += marked
        if not DISCIPLINES[option["value"]].leaves_stations and shares:
            option["also"].append("ap.scheduler")
    yield disciplines
    limit = queue.limit
    yield slider(
        section, "ap.queue.limit", "Limit (packets)", UNLIMITED if limit is None else limit,
        UNLIMITED if limit is None else f"{limit}", _LIMITS, most=UNLIMITED,
    )  # fmt: skip
    if scenario.mac.aggregation is not None:
        kinds: list[tuple[Any, str]] = [(one.written, one.label) for one in of_airtcp(SCHEDULERS)]
        present = value_at(written, ("ap", "scheduler")) or "oldest"
        if present not in [value for value, _ in kinds]:
            kinds.append((present, "as in the file"))
        scheduler = choice(section, "ap.scheduler", "Scheduler", present, str(present), kinds)
        for option in scheduler["options"]:
            if option["value"] not in _TURNS:
                # These conflict with airtime fairness: a discipline that chooses the station
                # itself, and `mac_limit`.
                keeps = not DISCIPLINES[queue.word].leaves_stations
                turns = ["ap.queue.discipline"] if keeps else []
                ring = ["ap.queue.mac_limit"] if "mac_limit" in now else []
                option["also"] = turns + ring
        yield scheduler


def _run(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    run = written.get("run") or {}
    run = run if isinstance(run, Mapping) else {}
    now = scenario.run
    section = "Simulation"
    yield slider(
        section, "run.duration", "Measured time", run.get("duration"),
        format_time_ns(now.duration_ns), _DURATIONS, axis=False,
        present=format_time_ns(now.duration_ns),
    )  # fmt: skip
    if now.precision is None:
        yield slider(
            section, "run.replications", "Replications", run.get("replications"),
            f"{now.replications}", (2, 3, 5, 8, 10, 15, 20, 30, 50), axis=False,
            present=now.replications,
        )  # fmt: skip
    yield slider(
        section, "run.seed", "Seed", run.get("seed"), f"{now.seed}", range(1, 11), axis=False,
        present=now.seed,
    )  # fmt: skip
