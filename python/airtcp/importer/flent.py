"""Data files of flent, plain or compressed: series over time of TCP both ways, and of pings.

Knows the names of series that flent's tests of TCP have: `TCP download ...` and `TCP upload ...` in
Mbits/s, `... ::tcp_rtt` and `Ping (ms) ...` in milliseconds. Sums and means of flent are left out,
for they are made of the others. Versions 2 to 4 of the file are known.
"""

from __future__ import annotations

from typing import Final

from airtcp.importer.draft import Draft, Said, time_text
from airtcp.importer.samples import mean_over_time
from airtcp.importer.source import Node
from airtcp.results.measured import Measurement
from airtcp.stats import Interval

_VERSIONS: Final = (2, 3, 4)
_COMPUTED: Final = ("sum", "avg", "totals", "fairness")
_DIRECTIONS: Final = ("download", "upload")


def is_flent(top: Node) -> bool:
    """Tell whether it is of flent."""
    return isinstance(top.value, dict) and {"results", "x_values"} <= set(top.value)


def _series(top: Node) -> dict[str, list[float | None]]:
    """The series by name, each as long as there are times. Raises ScenarioError."""
    version = top.get("version").number()
    if version is not None and version not in _VERSIONS:
        raise top.get("version").wrong(f"{_VERSIONS[0]} to {_VERSIONS[-1]}")
    times = [one.needed(least=-1e9, most=1e9) for one in top.get("x_values").items()]
    if len(times) < 2 or times != sorted(times):
        raise top.source.error("x_values", "has no times that grow; allowed: two or more")
    found = {}
    for name in top.get("results").table():
        node = top.get("results", name)
        if not _is_of_tcp(name) and not name.startswith("Ping (ms)"):
            continue
        values = [one.number(least=-1e12, most=1e12) for one in node.items()]
        if len(values) != len(times):
            raise top.source.error(
                f"results.{name}", f"has {len(values)} values for {len(times)} times"
            )
        found[name] = values
    return found


def _is_of_tcp(name: str) -> bool:
    return any(name.startswith(f"TCP {direction}") for direction in _DIRECTIONS)


def _flows(series: dict[str, list[float | None]]) -> dict[str, list[str]]:
    """The series of each TCP connection, by direction."""
    found: dict[str, list[str]] = {}
    for direction in _DIRECTIONS:
        names = [
            name
            for name, values in series.items()
            if name.startswith(f"TCP {direction}")
            and _is_whole(name)
            and name.rpartition(" ")[2] not in _COMPUTED
            and any(value is not None for value in values)
        ]
        if names:
            found[direction] = names
    return found


def _is_whole(name: str) -> bool:
    """Tell whether a series is a connection: behind `::` others have a word, such as tcp_rtt."""
    _, colons, end = name.partition("::")
    return not colons or end.isdigit()


def _needed(top: Node, series: dict[str, list[float | None]]) -> dict[str, list[str]]:
    flows = _flows(series)
    if not flows:
        raise top.source.error(
            "results", "has no TCP; allowed: series such as TCP download, TCP upload BE"
        )
    return flows


def measurement(top: Node) -> Measurement:
    """The measured values. Raises ScenarioError."""
    series = _series(top)
    values: dict[str, dict[str, Interval]] = {}
    for direction, names in _needed(top, series).items():
        columns = zip(*(series[name] for name in names), strict=True)
        # The times at which all connections were under way.
        sums = [sum(v or 0.0 for v in column) for column in columns if None not in column]
        # Connections without a time in common: the sum of their means has no spread to tell.
        own = [[v for v in series[name] if v is not None] for name in names]
        mean = None if sums else sum(sum(there) / len(there) for there in own)
        goodput = mean_over_time(sums, mean)
        if goodput.mean is None or goodput.mean < 0.0:
            raise top.source.error(f"results.{names[0]}", "is below 0; allowed: rates in Mbits/s")
        values[direction] = {"goodput_bps": goodput.scaled(1e6)}
        trips = [
            sum(known) / len(known)
            for name in names
            if (known := [v for v in series.get(f"{name}::tcp_rtt", []) if v is not None])
        ]
        if trips:
            values[direction]["rtt_s"] = Interval(sum(trips) / len(trips) / 1e3, None, None, 1)
    if len(values) == 1:
        values = {"": next(iter(values.values()))}
    pings = []
    for name, there in series.items():
        times = sorted(v for v in there if v is not None)
        if name.startswith("Ping (ms)") and times and not name.endswith("avg"):
            half, late = times[len(times) // 2], times[int(0.95 * (len(times) - 1))]
            pings.append(f"{name}: half within {half:.3g} ms, 95 % within {late:.3g} ms")
    return Measurement(top.source.short, values, others=tuple(pings))


def add_flow(top: Node, draft: Draft) -> None:
    """Add the flows of the test to a draft. Raises ScenarioError."""
    name, flows = top.source.short, _needed(top, _series(top))
    for direction, names in flows.items():
        flow = {
            "stations": Said("station", ""),
            "name": Said(direction, ""),
            "direction": Said(direction, f'{name}: results: series "{names[0]}"'),
        }
        if len(names) > 1:
            flow["connections"] = Said(len(names), f"{name}: so many series of this direction")
        flow["application"] = Said({"kind": "bulk"}, f"{name}: as much as TCP takes")
        flow["tcp"] = Said({"preset": "linux"}, "not in the file: as Linux has it")
        draft.flows.append(flow)
    length = top.get("metadata", "LENGTH").number(least=0.1, most=1e6)
    draft.unknown.append("the congestion control of both ends: CUBIC stands, as Linux has it")
    draft.say("run", "warmup", "0 s", "flent measures from the beginning of the flows")
    if length is not None:
        text = time_text(length)
        draft.say("run", "duration", text, f"{name}: metadata.LENGTH")
    else:
        draft.say("run", "duration", "60 s", f"{name} has no metadata.LENGTH: a guess")
