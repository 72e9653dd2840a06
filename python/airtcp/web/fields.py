"""The controls of a scenario: which keys a page lets people move, and to which values.

Knows which few of the many keys a reader turns first, and what stands at them. Does not know how a
control looks. Every value is one that a file may hold at that key path, so that what a page does
can be done with `--set`; all other keys are reached through the text of the scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from airtcp.standards import STANDARDS
from airtcp.units import format_rate, format_size, format_time_ns

if TYPE_CHECKING:
    from airtcp.scenario import Flow, Scenario, StationGroup

__all__ = ["axes", "fields", "stops"]

Field = dict[str, Any]

_PHY: Final[Mapping[str, dict[str, Any]]] = {
    "802.11b": {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "2 Mb/s"},
    "802.11g": {"standard": "802.11g", "data_rate": "54 Mb/s", "control_rate": "24 Mb/s"},
    "802.11a": {"standard": "802.11a", "data_rate": "54 Mb/s", "control_rate": "24 Mb/s"},
    "802.11n": {"standard": "802.11n", "channel_width": "20 MHz", "mcs": 7, "spatial_streams": 2},
    "802.11ac": {"standard": "802.11ac", "channel_width": "80 MHz", "mcs": 7, "spatial_streams": 2},
    "802.11ax": {"standard": "802.11ax", "channel_width": "80 MHz", "mcs": 9, "spatial_streams": 2},
}
"""What a scenario has that changes its standard on the page: equipment as it is sold."""

_MARKETING: Final = {"802.11n": "Wi-Fi 4", "802.11ac": "Wi-Fi 5", "802.11ax": "Wi-Fi 6"}
_MOST_MCS: Final = {"802.11n": 7, "802.11ac": 9, "802.11ax": 11}
_WIDTHS: Final = {
    "802.11n": ("20 MHz", "40 MHz"),
    "802.11ac": ("20 MHz", "40 MHz", "80 MHz", "160 MHz"),
    "802.11ax": ("20 MHz", "40 MHz", "80 MHz", "160 MHz"),
}
_APPLICATIONS: Final[Mapping[str, Any]] = {
    "bulk": {"kind": "bulk"},
    "web": {
        "kind": "web",
        "size": {"distribution": "exponential", "mean": "60 kB"},
        "think_time": {"distribution": "exponential", "mean": "10 s"},
        "request": "300 B",
    },
    "udp": {"kind": "udp", "packet": "1500 B", "rate": "1 Mb/s"},
}
_APPLICATION_NAMES: Final = {
    "bulk": "endless transfer",
    "web": "web pages",
    "ftp": "FTP files",
    "replay": "transfers of a log",
    "call": "calls",
    "udp": "UDP",
}

_CONGESTION: Final = {"reno": "Reno", "cubic": "CUBIC", "bbr1": "BBR, version 1"}

_COUNTS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80, 100)
_SIZES: Final = tuple(
    f"{size} kB" for size in (3, 5, 8, 12, 20, 30, 45, 60, 90, 130, 200, 300, 500, 1000, 2000, 5000)
)
_TIMES: Final = (
    "500 ms",
    "1 s",
    "2 s",
    "3 s",
    "5 s",
    "8 s",
    "10 s",
    "15 s",
    "20 s",
    "30 s",
    "60 s",
)
_WINDOWS: Final = tuple(f"{size} KiB" for size in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024))
_SEGMENTS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)
_LIMITS: Final = (5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000)
_RATES: Final = tuple(
    [f"{rate} kb/s" for rate in (64, 100, 200, 400)]
    + [f"{rate} Mb/s" for rate in (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)]
)
_DURATIONS: Final = (
    "1 s",
    "2 s",
    "5 s",
    "10 s",
    "30 s",
    "60 s",
    "120 s",
    "300 s",
    "600 s",
    "3600 s",
)


def fields(scenario: Scenario, written: Mapping[str, Any]) -> list[Field]:
    """The controls of a scenario, in the order in which people read them.

    Each has `section`, `path`, `label`, `kind` ("choice" or "stops"), `value` as it is written
    (None: the default), `text` of the value in force, `options` with `value` and `text`, and
    whether it can be an `axis`.
    """
    return [
        *_network(scenario, written),
        *_stations(scenario, written),
        *_flows(scenario, written),
        *_access_point(scenario, written),
        *_run(scenario, written),
    ]


def axes(controls: Sequence[Field]) -> list[Field]:
    """The controls whose values a curve may run over, stations of all groups first."""
    counts = [one for one in controls if one["path"].endswith(".count")]
    found = [one for one in controls if one["axis"]]
    if len(counts) > 1:
        total = sum(int(one["value"]) for one in counts)
        values = [value for value in stops(_COUNTS, total) if value >= len(counts)]
        everyone = _stops("Stations", "stations", "All stations", total, f"{total}", values)
        return [everyone, *found]
    return found


def stops(values: Sequence[Any], present: Any) -> list[Any]:
    """The values of a slider with the present one among them, in their order."""
    if present is None or present in values:
        return list(values)
    numbers = [_magnitude(value) for value in values]
    mine = _magnitude(present)
    below = sum(number < mine for number in numbers)
    if below < len(values) and numbers[below] == mine:
        return [*values[:below], present, *values[below + 1 :]]
    return [*values[:below], present, *values[below:]]


def _magnitude(value: Any) -> float:
    from airtcp.exceptions import UnitError
    from airtcp.units import parse_rate_bps, parse_size_bytes, parse_time_s

    if isinstance(value, int | float):
        return float(value)
    for parse in (parse_time_s, parse_rate_bps, parse_size_bytes):
        try:
            return float(parse(value))
        except UnitError:
            continue
    return 0.0


def _network(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    phy = scenario.phy
    standard = str(phy.standard)
    choices = [
        (value, f"{name} ({_MARKETING[name]})" if name in _MARKETING else name)
        for name, value in _PHY.items()
    ]
    present = written.get("phy")
    # The scenario's own table stands for its standard: choosing it changes nothing.
    options = [
        (present if value["standard"] == standard else value, text) for value, text in choices
    ]
    field = _choice("Network", "phy", "Standard", present, standard, options)
    # What belongs to the other standard goes with it.
    groups = [f"stations.{group.name}" for group in scenario.stations]
    keys = ("data_rate", "mcs", "spatial_streams", "channel_width", "error_table", "snr")
    also = [f"{group}.{key}" for group in groups for key in (*keys, "rate_control")]
    field["also"] = [
        path for path in (*also, "mac.aggregation", "ap.scheduler") if _is_there(written, path)
    ]
    yield field
    if standard in _MOST_MCS:
        yield _stops(
            "Network",
            "phy.mcs",
            "MCS",
            _at(written, "phy", "mcs"),
            f"{phy.data_rate.high.mcs}" if phy.data_rate.high is not None else "",
            range(_MOST_MCS[standard] + 1),
            present=None if phy.data_rate.high is None else phy.data_rate.high.mcs,
        )
        streams = None if phy.data_rate.high is None else phy.data_rate.high.spatial_streams
        yield _stops(
            "Network",
            "phy.spatial_streams",
            "Spatial streams",
            _at(written, "phy", "spatial_streams"),
            f"{streams}",
            (1, 2, 3, 4),
            present=streams,
        )
        width = "" if phy.data_rate.high is None else f"{phy.data_rate.high.channel_width_mhz} MHz"
        yield _choice(
            "Network",
            "phy.channel_width",
            "Channel width",
            _at(written, "phy", "channel_width") or width,
            width,
            [(one, one) for one in _WIDTHS[standard]],
        )
    else:
        rate = format_rate(phy.data_rate.bps)
        yield _choice(
            "Network",
            "phy.data_rate",
            "Data rate",
            _at(written, "phy", "data_rate") or rate,
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
    now = _at(written, "mac", "rts_threshold")
    if now not in [value for value, _ in options_rts]:
        options_rts.append((now, f"above {shown}"))
    yield _choice("Network", "mac.rts_threshold", "RTS/CTS", now, shown, options_rts)


def _rates(standard: str) -> list[int]:
    return sorted(rate for rates in STANDARDS[standard].rates_bps.values() for rate in rates)


def _stations(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    for entry, group in zip(written["stations"], scenario.stations, strict=True):
        path = f"stations.{group.name}"
        section = f"Stations: {group.name}"
        yield _stops(
            section, f"{path}.count", "Stations", entry.get("count"), f"{group.count}", _COUNTS
        )
        yield _group_rate(scenario, entry, group, section, path)


def _group_rate(
    scenario: Scenario, entry: Mapping[str, Any], group: StationGroup, section: str, path: str
) -> Field:
    standard = str(scenario.phy.standard)
    high = group.data_rate.high
    if high is not None:
        text = f"{high.mcs} ({format_rate(group.data_rate.bps, 3)})"
        values = range(_MOST_MCS[standard] + 1)
        return _stops(
            section, f"{path}.mcs", "MCS", entry.get("mcs"), text, values, present=high.mcs
        )
    rate = format_rate(group.data_rate.bps)
    rates: list[tuple[Any, str]] = [
        (None, f"as the network ({format_rate(scenario.phy.data_rate.bps)})")
    ]
    rates += [(one, one) for one in map(format_rate, _rates(standard))]
    return _choice(section, f"{path}.data_rate", "Data rate", entry.get("data_rate"), rate, rates)


def _flows(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    for entry, flow in zip(written["flows"], scenario.flows, strict=True):
        alike = [one for one in scenario.flows if one.stations == flow.stations]
        name = entry.get("name") or (flow.stations if len(alike) == 1 else None)
        if name is None:
            continue  # it has no key path before it has a name
        path = f"flows.{name}"
        section = f"Traffic: {name}"
        directions = [("download", "download"), ("upload", "upload")]
        if flow.direction in ("download", "upload"):
            yield _choice(
                section, f"{path}.direction", "Direction", entry.get("direction"),
                flow.direction, directions,
            )  # fmt: skip
        yield from _application(entry, flow, section, f"{path}.application")
        if flow.tcp is not None:
            yield from _tcp(entry, flow, f"TCP: {name}", f"{path}.tcp")


def _application(entry: Mapping[str, Any], flow: Flow, section: str, path: str) -> Iterator[Field]:
    app = flow.application
    now = entry.get("application")
    options = [
        (now if kind == app.kind else value, _APPLICATION_NAMES[kind])
        for kind, value in _APPLICATIONS.items()
    ]
    if app.kind not in _APPLICATIONS:
        options.append((now, _APPLICATION_NAMES.get(app.kind, app.kind)))
    yield _choice(section, path, "Application", now, app.kind, options)
    if not isinstance(now, Mapping):
        return
    laws = (
        ("size", "Mean size", _SIZES),
        ("think_time", "Mean think time", _TIMES),
        ("interarrival", "Mean time between", _TIMES),
    )
    for key, label, values in laws:
        law = now.get(key)
        if isinstance(law, Mapping) and "mean" in law:
            yield _stops(section, f"{path}.{key}.mean", label, law["mean"], law["mean"], values)
    if app.kind == "udp" and isinstance(now.get("rate"), str) and now["rate"] != "saturated":
        shown = format_rate(app.rate_bps) if app.rate_bps is not None else ""
        yield _stops(section, f"{path}.rate", "Rate", now["rate"], shown, _RATES)


def _tcp(entry: Mapping[str, Any], flow: Flow, section: str, path: str) -> Iterator[Field]:
    tcp = flow.tcp
    assert tcp is not None  # asked only of flows that have one
    now = entry.get("tcp") or {}
    if not isinstance(now, Mapping):
        return
    presets: list[tuple[Any, str]] = [(None, "the RFCs"), ("linux", "Linux")]
    preset = now.get("preset")
    if preset not in [value for value, _ in presets]:
        presets.append((preset, str(preset)))
    yield _choice(section, f"{path}.preset", "Rules of", preset, preset or "the RFCs", presets)
    congestion = str(tcp.congestion)
    chosen = now.get("congestion")
    default = _default(chosen, _CONGESTION.get(congestion, congestion))
    algorithms: list[tuple[Any, str]] = [(None, default), ("reno", "Reno"), ("cubic", "CUBIC")]
    if chosen not in [value for value, _ in algorithms]:
        algorithms.append((chosen, _CONGESTION.get(str(chosen), str(chosen))))
    yield _choice(
        section, f"{path}.congestion", "Congestion control", chosen, congestion, algorithms
    )
    window = now.get("receive_window")
    if isinstance(window, Mapping) and "segments" in window:
        segments = window["segments"]
        yield _stops(
            section, f"{path}.receive_window.segments", "Receive window (segments)", segments,
            f"{segments}", _SEGMENTS,
        )  # fmt: skip
    else:
        shown = format_size(tcp.receive_window_bytes)
        yield _stops(
            section, f"{path}.receive_window", "Receive window", window, shown, _WINDOWS,
            present=shown,
        )  # fmt: skip
    delayed = now.get("delayed_ack")
    every = {1: "every segment", 2: "every second segment"}.get(tcp.delayed_ack.every, "")
    acks: list[tuple[Any, str]] = [
        (None, _default(delayed, every)),
        ({"every": 1}, "every segment"),
        ({"every": 2, "timeout": "200 ms"}, "every second segment"),
        ({"every": 4, "timeout": "200 ms"}, "every fourth segment"),
    ]
    if delayed not in [value for value, _ in acks]:
        acks.append((delayed, "as in the file"))
    yield _choice(section, f"{path}.delayed_ack", "TCP ACKs", delayed, "", acks)


def _default(chosen: Any, present: str) -> str:
    """What the default is called: by what it comes to here, where it is chosen."""
    return f"default: {present}" if chosen is None and present else "default"


def _access_point(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    queue = scenario.ap.queue
    now = _at(written, "ap", "queue")
    now = now if isinstance(now, Mapping) else {}
    names = {
        "fifo": "first in, first out",
        "per-flow": "flows take turns",
        "red": "RED",
        "codel": "CoDel",
        "fq-codel": "FQ-CoDel",
    }
    section = "Access point"
    yield _choice(
        section, "ap.queue.discipline", "Queue", now.get("discipline") or queue.discipline,
        queue.discipline, list(names.items()),
    )  # fmt: skip
    limit = queue.limit
    yield _stops(
        section, "ap.queue.limit", "Limit (packets)", now.get("limit"),
        "unbounded" if limit is None else f"{limit}", _LIMITS, none="unbounded", present=limit,
    )  # fmt: skip
    if scenario.mac.aggregation is not None:
        kinds: list[tuple[Any, str]] = [
            ("oldest", "oldest packet first"),
            ("round-robin", "stations take turns"),
            ({"kind": "airtime"}, "equal airtime"),
        ]
        present = _at(written, "ap", "scheduler") or "oldest"
        if present not in [value for value, _ in kinds]:
            kinds.append((present, "as in the file"))
        yield _choice(section, "ap.scheduler", "Scheduler", present, str(present), kinds)


def _run(scenario: Scenario, written: Mapping[str, Any]) -> Iterator[Field]:
    run = written.get("run") or {}
    run = run if isinstance(run, Mapping) else {}
    now = scenario.run
    section = "Simulation"
    yield _stops(
        section, "run.duration", "Measured time", run.get("duration"),
        format_time_ns(now.duration_ns), _DURATIONS, axis=False,
        present=format_time_ns(now.duration_ns),
    )  # fmt: skip
    if now.precision is None:
        yield _stops(
            section, "run.replications", "Replications", run.get("replications"),
            f"{now.replications}", (2, 3, 5, 8, 10, 15, 20, 30, 50), axis=False,
            present=now.replications,
        )  # fmt: skip
    yield _stops(
        section, "run.seed", "Seed", run.get("seed"), f"{now.seed}", range(1, 11), axis=False,
        present=now.seed,
    )  # fmt: skip


def _is_there(written: Mapping[str, Any], path: str) -> bool:
    """Whether something stands at a key path, in which groups go by their names."""
    here: Any = written
    for part in path.split("."):
        if isinstance(here, list):
            here = next((one for one in here if one.get("name") == part), None)
        else:
            here = here.get(part) if isinstance(here, Mapping) else None
    return here is not None


def _at(data: Any, *path: str) -> Any:
    for part in path:
        data = data.get(part) if isinstance(data, Mapping) else None
    return data


def _choice(
    section: str, path: str, label: str, value: Any, text: str, options: Sequence[tuple[Any, str]]
) -> Field:
    return {
        "section": section,
        "path": path,
        "label": label,
        "kind": "choice",
        "value": value,
        "text": text,
        "options": [{"value": one, "text": words} for one, words in options],
        "axis": False,
    }


def _stops(
    section: str,
    path: str,
    label: str,
    value: Any,
    text: str,
    values: Sequence[Any],
    *,
    none: str | None = None,
    present: Any = None,
    axis: bool = True,
) -> Field:
    """A slider; `none` is what the default is called where it lies above all values."""
    there = value if value is not None else present
    options: list[dict[str, Any]] = [
        {"value": one, "text": f"{one}", "number": _magnitude(one)} for one in stops(values, there)
    ]
    if none is not None:
        options.append({"value": None, "text": none, "number": None})
    return {
        "section": section,
        "path": path,
        "label": label,
        "kind": "stops",
        "value": value if value is not None or none is not None else there,
        "text": text,
        "options": options,
        "axis": axis,
    }
