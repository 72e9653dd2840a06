"""Data files of flent, plain or compressed: time series of TCP in both directions, and of pings.

Series of TCP are in Mbits/s, `... ::tcp_rtt` and `Ping (ms) ...` in milliseconds. flent computes
sums and means from the others. Versions 2 to 4 of the file are supported. Host names are not kept.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from airtcp.importer.draft import OF_LINUX, Draft, Said, time_text
from airtcp.importer.marks import category_of
from airtcp.importer.options import unfollowed
from airtcp.importer.ping import path_of
from airtcp.importer.samples import mean_over_time, of_the_test
from airtcp.importer.source import Node, phrase
from airtcp.results.measured import Measurement, Unfollowed
from airtcp.stats import Interval

_VERSIONS: Final = (2, 3, 4)
_COMPUTED: Final = ("sum", "avg", "totals", "fairness")
_DIRECTIONS: Final = ("download", "upload")
#: Series that are not traffic: computed from others, or counters of hosts.
_NO_TRAFFIC: Final = re.compile(
    r"(TCP|UDP) (totals|.* (sum|avg|fairness))|Ping \(ms\)|TCP (down|up)load|"
    r"(cpu|qdisc|wifi|netstat|tcp|power)_?\w*(_stats)?_|Power|CPU|Sum|Avg"
)
#: Linux's congestion controls that flent's tests compare.
_ALGORITHMS: Final = frozenset(
    [
        "bbr",
        "cdg",
        "cubic",
        "dctcp",
        "htcp",
        "illinois",
        "ledbat",
        "lp",
        "reno",
        "vegas",
        "westwood",
    ]
)
#: Settings that change traffic, with the values of Linux that change none.
_SYSCTLS: Final = {
    "net.ipv4.tcp_ecn": (0, 2),
    "net.ipv4.tcp_sack": (1,),
    "net.ipv4.tcp_window_scaling": (1,),
    "net.ipv4.tcp_pacing_ss_ratio": (200,),
    "net.ipv4.tcp_pacing_ca_ratio": (120,),
}
#: A word of a series' name that is a mark, a kind or a number, not a host name.
_LABEL: Final = re.compile(r"[A-Z]{1,4}\d*|\d+")
_PING: Final = "Ping (ms)"
#: The end of pings of hosts that are not those of the test (`ping_hosts`).
_EXTRA: Final = "(extra)"
#: Test parameters that the series show, or that change no traffic.
_SHOWN_PARAMETERS: Final = re.compile(
    r"tcp_cong_control|cc|\w*_?streams|\w*stats\w*|\w*hosts?|\w*label\w*|ping_\w+|cpu_\w+|test_\w+"
)


@dataclass(frozen=True)
class _Kind:
    """Similar connections: direction, congestion control, and minimum ping in ms."""

    direction: str
    congestion: str
    why: str
    trip_ms: float


def is_flent(top: Node) -> bool:
    """Whether it is a flent file."""
    return isinstance(top.value, dict) and {"results", "x_values"} <= set(top.value)


def _series(top: Node) -> dict[str, list[float | None]]:
    """Return the series by name, each with one value per time. Raises ScenarioError."""
    version = top.get("version").number()
    if version is not None and version not in _VERSIONS:
        raise top.get("version").wrong(f"{_VERSIONS[0]} to {_VERSIONS[-1]}")
    times = [one.needed(least=-1e9, most=1e9) for one in top.get("x_values").items()]
    if len(times) < 2 or times != sorted(times):
        raise top.source.error("x_values", phrase("flent.times"))
    found = {}
    for name in top.get("results").table():
        node = top.get("results", name)
        if not _is_of_tcp(name) and not name.startswith("Ping (ms)"):
            continue
        values = [one.number(least=-1e12, most=1e12) for one in node.items()]
        if len(values) != len(times):
            raise top.source.error(
                f"results.{_shown(top, name)}",
                phrase("flent.lengths", values=len(values), times=len(times)),
            )
        found[name] = values
    return found


def _is_of_tcp(name: str) -> bool:
    return any(name.startswith(f"TCP {direction}") for direction in _DIRECTIONS)


def _flows(series: dict[str, list[float | None]]) -> dict[str, list[str]]:
    """Return the series of each TCP connection, by direction."""
    found: dict[str, list[str]] = {}
    for direction in _DIRECTIONS:
        names = [
            name
            for name, values in series.items()
            if name.startswith(f"TCP {direction}")
            and name.rpartition("::")[0] not in series
            and not name.rpartition("::")[2].startswith("tcp_")
            and name.rpartition(" ")[2] not in _COMPUTED
            and any(value is not None for value in values)
        ]
        if names:
            found[direction] = names
    return found


def _words(name: str) -> list[str]:
    """Return the words after the direction of a series of TCP: mark, number, host."""
    return re.findall(r"[\w.-]+", name)[2:]


def _shown(top: Node, name: str) -> str:
    """Return the name of a series without hosts."""
    hosts = top.get("metadata", "HOSTS").value
    known = hosts if isinstance(hosts, list) else []
    words = name.replace("::", " ").split()
    kept = (one for one in words[2:] if _LABEL.fullmatch(one) or one == _EXTRA)
    return " ".join([*words[:2], *(one for one in kept if one not in known)])[:30]


def _needed(top: Node, series: dict[str, list[float | None]]) -> dict[str, list[str]]:
    flows = _flows(series)
    if not flows:
        others = ", ".join(f'"{one}"' for one in _others(top)[:4])
        has = f", but {others}" if others else ""
        raise top.source.error("results", phrase("flent.no_tcp", has=has))
    return flows


def _kinds(top: Node, series: Mapping[str, list[float | None]]) -> dict[_Kind, list[str]]:
    """Return the series of TCP by the known properties of their connections."""
    found: dict[_Kind, list[str]] = {}
    for direction, names in _needed(top, dict(series)).items():
        for name in names:
            congestion, why = _congestion(top, name)
            kind = _Kind(direction, congestion, why, _trip_ms(name, series))
            found.setdefault(kind, []).append(name)
    return found


def _congestion(top: Node, name: str) -> tuple[str, str]:
    """Return Linux's name of the congestion control and where it was found; "" if unknown."""
    # Tests that compare have names such as `TCP upload Cubic BE`.
    words = _words(name.lower())
    metadata = top.get("metadata")
    places = (
        (metadata.get("SERIES_META", name, "CONG_CONTROL").value, "metadata.SERIES_META"),
        (
            next((one for one in words if one in _ALGORITHMS), ""),
            phrase("flent.series_name"),
        ),
        (metadata.get("TEST_PARAMETERS", "tcp_cong_control").value, "metadata.TEST_PARAMETERS"),
        (metadata.get("SYSCTLS", "net.ipv4.tcp_congestion_control").value, "metadata.SYSCTLS"),
    )
    for value, place in places:
        if isinstance(value, str) and value:
            return value.split(",")[0], place
    return "", ""


def _category(top: Node, name: str) -> str:
    """Return the access category of a series: by the mark in its metadata, else in its name."""
    tos = top.get("metadata", "SERIES_META", name, "DATA_TOS").value
    if isinstance(tos, int) and 0 <= tos <= 255:
        return category_of(tos)
    command = top.get("metadata", "SERIES_META", name, "COMMAND").value
    given = re.search(r" -Y (\w+)", command) if isinstance(command, str) else None
    words = [given[1]] if given else _words(name)
    found = (category_of(word) for word in words)
    return next((one for one in found if one != "AC_BE"), "AC_BE")


def _categories(top: Node, kinds: Mapping[_Kind, list[str]]) -> set[str]:
    return {_category(top, name) for names in kinds.values() for name in names}


def _trip_ms(name: str, series: Mapping[str, list[float | None]]) -> float:
    """Return the minimum ping of the host of a series, else of all; 0 without pings."""
    pings = {
        ping: min(known)
        for ping, there in series.items()
        if ping.startswith(_PING)
        and not ping.endswith(("avg", _EXTRA))
        and (known := [value for value in there if value is not None and value > 0.0])
    }
    last = name.split()[-1]
    is_host = len(name.split()) > 2 and not _LABEL.fullmatch(last)
    own = [value for ping, value in pings.items() if is_host and ping.split()[-1] == last]
    return min(own or pings.values(), default=0.0)


def _others(top: Node) -> list[str]:
    """Return the kinds of series that are traffic, but neither TCP nor pings."""
    names = (name for name in top.get("results").table() if not _NO_TRAFFIC.match(name))
    return list(dict.fromkeys(_shown(top, name) for name in names))


def _conditions(top: Node, kinds: Mapping[_Kind, list[str]]) -> list[Unfollowed]:
    """Return the conditions of the test that no scenario has."""
    found = []
    categories = _categories(top, kinds)
    if len(categories) > 1:
        each = ", ".join(sorted(categories))
        found.append(Unfollowed(phrase("flent.marks", each=each)))
    settings = top.get("metadata", "SYSCTLS").table()
    if differ := [
        f"{key} = {settings[key]}"
        for key, usual in _SYSCTLS.items()
        if isinstance(settings.get(key), int) and settings[key] not in usual
    ]:
        found.append(Unfollowed(f"sysctls of the host: {', '.join(differ)}"))
    given = top.get("metadata", "TEST_PARAMETERS").table()
    if unknown := [key for key in given if given[key] and not _SHOWN_PARAMETERS.fullmatch(key)]:
        shown = ", ".join(one[:30] for one in unknown[:6])
        found.append(Unfollowed(phrase("flent.test_parameters", shown=shown)))
    if others := _others(top):
        shown = ", ".join(f'"{one}"' for one in others[:4])
        found.append(Unfollowed(phrase("flent.other_series", shown=shown)))
    return found


def measurement(top: Node) -> Measurement:
    """Return the measured values. Raises ScenarioError."""
    series = _series(top)
    values: dict[str, dict[str, Interval]] = {}
    for direction, names in _needed(top, series).items():
        columns = zip(*(series[name] for name in names), strict=True)
        # The times at which all connections were active.
        sums = [sum(v or 0.0 for v in column) for column in columns if None not in column]
        # Connections without common times: the sum of their means has no known spread.
        own = [[v for v in series[name] if v is not None] for name in names]
        mean = None if sums else sum(sum(there) / len(there) for there in own)
        goodput = mean_over_time(sums, mean)
        if goodput.mean is None or goodput.mean < 0.0:
            raise top.source.error(f"results.{_shown(top, names[0])}", phrase("flent.negative"))
        values[direction] = {"goodput_bps": goodput.scaled(1e6)}
        trips = [
            sum(known) / len(known)
            for name in names
            if (known := [v for v in series.get(f"{name}::tcp_rtt", []) if v is not None])
        ]
        if trips:
            values[direction]["rtt_s"] = Interval(sum(trips) / len(trips) / 1e3, None, None, 1)
    values, direction = of_the_test(values)
    pings = []
    for name, there in series.items():
        times = sorted(v for v in there if v is not None)
        if name.startswith("Ping (ms)") and times and not name.endswith("avg"):
            half, late = times[len(times) // 2], times[int(0.95 * (len(times) - 1))]
            pings.append(f"{_shown(top, name)}: median {half:.3g} ms, p95 {late:.3g} ms")
    return Measurement(
        top.source.short,
        values,
        others=tuple(pings),
        direction=direction,
        unfollowed=tuple(_conditions(top, _kinds(top, series))),
    )


def add_flow(top: Node, draft: Draft) -> None:
    """Add the flows of the test to a draft. Raises ScenarioError."""
    name = top.source.short
    kinds = _kinds(top, _series(top))
    used = [flow["name"].value for flow in draft.flows if "name" in flow]
    for kind, names in kinds.items():
        numbers = (f"{kind.direction}-{number}" for number in itertools.count(2))
        called = kind.direction if kind.direction not in used else ""
        called = called or next(one for one in numbers if one not in used)
        used.append(called)
        flow = {
            "stations": Said("station", ""),
            "name": Said(called, ""),
            "direction": Said(
                kind.direction,
                phrase("flent.result_series", name=name, direction=kind.direction),
            ),
        }
        if len(names) > 1:
            flow["connections"] = Said(
                len(names), phrase("flent.series_of_kind", name=name, names=len(names))
            )
        flow["application"] = Said({"kind": "bulk"}, phrase("flent.as_much", name=name))
        flow["tcp"] = _tcp(kind, name, draft)
        if (path := path_of(name, kind.trip_ms)) is not None:
            flow["path"] = path
        draft.flows.append(flow)
    if all(kind.trip_ms == 0.0 for kind in kinds):
        draft.unknown.append(phrase("flent.no_pings", name=name))
    categories = _categories(top, kinds)
    if len(categories) == 1 and categories != {"AC_BE"}:
        for key in ("tcp_data", "tcp_ack"):
            draft.say(
                "mac.classify",
                key,
                categories.copy().pop(),
                phrase("flent.mark", name=name),
            )
    draft.unread += [f"{name}: {one.sentence}" for one in _conditions(top, kinds)]
    seen = [f"metadata.{key}" for key, value in top.get("metadata").table().items() if value]
    draft.unread += [f"{name}: {line}" for line in unfollowed("flent", ((one, "") for one in seen))]
    length = top.get("metadata", "LENGTH").number(least=0.1, most=1e6)
    draft.say("run", "warmup", "0 s", phrase("flent.from_beginning"))
    if length is not None:
        text = time_text(length)
        draft.say("run", "duration", text, phrase("flent.length", name=name))
    else:
        draft.say("run", "duration", "60 s", phrase("flent.no_length", name=name))


def _tcp(kind: _Kind, name: str, draft: Draft) -> Said:
    """Return the TCP settings of connections."""
    if kind.congestion in OF_LINUX:
        table = {"preset": "linux", "congestion": OF_LINUX[kind.congestion]}
        return Said(table, phrase("flent.linux", name=name, why=kind.why))
    if kind.congestion:
        line = phrase("flent.other_congestion", congestion=kind.congestion, why=kind.why)
    else:
        line = phrase("flent.unknown_congestion", name=name)
    if line not in draft.unknown:
        draft.unknown.append(line)
    return Said({"preset": "linux"}, "Linux defaults")
