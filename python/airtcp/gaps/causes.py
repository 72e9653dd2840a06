"""Changes of a scenario that may explain a gap: what a network has and its scenario does not say.

A cause is of a kind, at a place, and of a strength: a number from 0, hardly anything, to 1, as much
as there is; or one of a few steps. Knows the written form of scenarios. Does not know which cause
explains what was measured (`explain`), nor how far any is from it (`distance`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from airtcp.scenario.toml_text import value_text
from airtcp.standards import DSSS, OFDM, STANDARDS

if TYPE_CHECKING:
    from airtcp.scenario import Scenario
    from airtcp.scenario.keys.queue import LinkQueueForm
    from airtcp.scenario.keys.stations import StationGroup

#: Kinds in words, in the order in which equal ones are told.
KINDS: Final[Mapping[str, str]] = {
    "rate": "a lower rate",
    "neighbour": "a neighbour's load",
    "frame-losses": "losses on the air",
    "wire-losses": "losses on the wire",
    "slow-wire": "a slow wire",
    "bloated-wire": "a bloated wire",
    "queue": "another queue",
    "window": "a small receive window",
}
#: The group, and the link, that are put into a scenario that has none.
_NEIGHBOUR: Final = "neighbour"
_WIRE: Final = "wire"
#: Steps of strength that are tried first of a continuous cause.
_GRID: Final = (0.15, 0.4, 0.65, 0.9)
_FINE: Final = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85)
_MOST_STEPS: Final = 5
#: Limits of first-in-first-out queues, in packets.
_LIMITS: Final = (10, 30, 100, 300, 1000, 3000)
#: Limits of a bloated wire: at 10 Mb/s some .4, .7, 1.4 and 2.9 s of waiting.
_BLOATED: Final = (300, 600, 1200, 2400)
_MANAGED: Final = {"discipline": "fq-codel"}
#: Receive windows in KiB: of small devices, and of systems that do not scale them.
_WINDOWS: Final = (8, 16, 32, 64, 128, 256, 512)
#: Parts of frames, and of packets on a wire, that are lost at least and at most.
_FRAMES_LOST: Final = (0.02, 0.7)
_PACKETS_LOST: Final = (0.0003, 0.1)
#: Parts of a group's data rate that a neighbour's packets take.
_LOAD: Final = (0.03, 1.0)


@dataclass(frozen=True)
class Change:
    """A changed scenario in its written form, and how it is told.

    `set` has values by key path, as far as key paths can say it; else `written` is a piece of a
    scenario file. `added` is a group that was put in, and is not counted.
    """

    data: Mapping[str, Any]
    title: str
    set: Mapping[str, Any] = field(default_factory=dict)
    written: str = ""
    added: str | None = None


#: A change of some keys of a wire, with its title.
_On = Callable[[Mapping[str, Any], str], Change]


@dataclass(frozen=True)
class Cause:
    """A kind of change at a place: `at(strength)`; of `steps` alone if there are any."""

    kind: str
    place: str
    at: Callable[[float], Change]
    grid: Sequence[float] = _GRID
    steps: Sequence[float] = ()


def causes(scenario: Scenario, share: float) -> tuple[list[Cause], dict[str, str]]:
    """The causes that a scenario has room for, and of kinds that it has none for, why.

    The scenario's flows have names (`airtcp.remedies.named`). `share` is the least part of its
    simulated goodput that was measured, which says how slow a slow wire may be.
    """
    found: list[Cause] = []
    untried: dict[str, str] = {}
    found += _rates(scenario)
    if scenario.cells is not None:
        untried["neighbour"] = "the scenario has its neighbours written down"
    else:
        found += _neighbours(scenario)
    found += _frame_losses(scenario)
    found += _wires(scenario, min(max(share, 0.01), 1.0))
    found += _queues(scenario)
    found += _windows(scenario)
    for kind in KINDS:
        if kind not in untried and all(one.kind != kind for one in found):
            untried[kind] = "nothing of the scenario can be changed so"
    return found, untried


def _groups(scenario: Scenario) -> list[list[StationGroup]]:
    """Each group of stations alone, and all together where there are several."""
    groups = list(scenario.stations)
    return [[one] for one in groups] + ([groups] if len(groups) > 1 else [])


def _called(groups: Sequence[StationGroup]) -> str:
    return groups[0].name if len(groups) == 1 else "all stations"


def _set(
    scenario: Scenario, changes: Mapping[str, Any], title: str, added: str | None = None
) -> Change:
    """A change that key paths say."""
    return Change(scenario.vary(changes).written, title, changes, added=added)


def _rates(scenario: Scenario) -> Iterator[Cause]:
    for groups in _groups(scenario):
        slower = [_slower(scenario, one) for one in groups]
        steps = min(map(len, slower))
        if not steps:
            continue

        def at(
            step: float,
            groups: list[StationGroup] = groups,
            slower: list[list[tuple[str, Any]]] = slower,
        ) -> Change:
            chosen = [rates[int(step)] for rates in slower]
            changes = {
                f"stations.{one.name}.{key}": value
                for one, (key, value) in zip(groups, chosen, strict=True)
            }
            told = sorted({f"MCS {value}" if key == "mcs" else value for key, value in chosen})
            return _set(scenario, changes, f"{_called(groups)} at {', '.join(told)}")

        every = range(steps)
        spread = [round(n * (steps - 1) / (_MOST_STEPS - 1)) for n in range(_MOST_STEPS)]
        grid = sorted(set(every if steps <= _MOST_STEPS else spread))
        yield Cause("rate", _called(groups), at, grid, every)


def _slower(scenario: Scenario, group: StationGroup) -> list[tuple[str, Any]]:
    """The rates below a group's own, the highest first: keys and values."""
    rate = group.data_rate
    if rate.high is not None:
        return [("mcs", index) for index in range(rate.high.mcs - 1, -1, -1)]
    of_standard = STANDARDS[scenario.phy.standard].rates_bps
    rates = of_standard[DSSS if rate.modulation == DSSS else OFDM]
    return [("data_rate", _rate(bps)) for bps in sorted(rates, reverse=True) if bps < rate.bps]


def _neighbours(scenario: Scenario) -> Iterator[Cause]:
    """One more station on the channel, which sends packets that nobody of the scenario wants."""
    taken = {one.name for one in scenario.stations}
    name = next(one for one in _names(_NEIGHBOUR) if one not in taken)
    bps = scenario.phy.data_rate.bps

    def at(strength: float) -> Change:
        rate = _rate(bps * _between(_LOAD, strength), 3)
        group = {"name": name, "count": 1}
        flow = {
            "name": name,
            "stations": name,
            "direction": "upload",
            "application": {"kind": "udp", "packet": "1470 B", "rate": rate},
        }
        data = scenario.written
        data["stations"] = [*data["stations"], group]
        data["flows"] = [*data["flows"], flow]
        lines = ["[[stations]]", *(f"{key} = {value_text(one)}" for key, one in group.items())]
        lines += ["[[flows]]", *(f"{key} = {value_text(one)}" for key, one in flow.items())]
        title = f"one more sender on the channel, of {rate} in packets of 1470 B"
        return Change(data, title, written="\n".join(lines), added=name)

    yield Cause("neighbour", "the channel", at)


def _frame_losses(scenario: Scenario) -> Iterator[Cause]:
    for groups in _groups(scenario):

        def at(strength: float, groups: list[StationGroup] = groups) -> Change:
            lost = _percent(_between(_FRAMES_LOST, strength))
            changes = {f"stations.{one.name}.frame_errors": lost for one in groups}
            return _set(scenario, changes, f"{lost} of the frames of {_called(groups)} lost")

        yield Cause("frame-losses", _called(groups), at)


def _wires(scenario: Scenario, share: float) -> Iterator[Cause]:
    """Each wire of a name; one for all flows, put in at the access point, where there is none."""
    used = {one for flow in scenario.flows for one in flow.path if isinstance(one, str)}
    names: list[str | None] = [one for one in scenario.links if one in used]
    for name in names or [None]:
        called = name or "a wire at the access point"

        def on(keys: Mapping[str, Any], title: str, name: str | None = name) -> Change:
            if name is not None:
                changes = {f"links.{name}.{key}": value for key, value in keys.items()}
                return _set(scenario, changes, title)
            return _wired(scenario, keys, title)

        def losing(strength: float, on: _On = on, called: str = called) -> Change:
            lost = _percent(_between(_PACKETS_LOST, strength))
            return on({"loss": lost}, f"{lost} of the packets on {called} lost")

        yield Cause("wire-losses", called, losing)
        most = _capacity(scenario, name)
        bounds = (most, 0.5 * share * most)

        def slow(
            strength: float,
            on: _On = on,
            called: str = called,
            bounds: tuple[float, float] = bounds,
            queue: Any = _MANAGED,
            tail: str = "",
        ) -> Change:
            rate = _rate(_between(bounds, strength), 3)
            keys = {"rate": rate} | ({} if queue is None else {"queue": queue})
            return on(keys, f"{called} at {rate}{tail}")

        yield Cause("slow-wire", called, slow, _FINE)
        if name is not None:
            kind = "bloated-wire" if _is_deep(scenario.links[name].queue) else "slow-wire"
            yield Cause(kind, called, _with(slow, queue=None, tail=", with its own queue"))
        for limit in _BLOATED:
            tail = f", with a queue of {limit} packets"
            deep = {"discipline": "fifo", "limit": limit}
            yield Cause("bloated-wire", called, _with(slow, queue=deep, tail=tail))


def _with(at: Callable[..., Change], **more: Any) -> Callable[[float], Change]:
    return lambda strength: at(strength, **more)


def _is_deep(queue: LinkQueueForm) -> bool:
    """Tell whether packets may wait long in a queue: it drops at the tail, and late if ever."""
    limit = queue.limit
    return queue.discipline == "fifo" and (limit is None or limit >= _BLOATED[0])


def _capacity(scenario: Scenario, link: str | None) -> float:
    """The rate of a wire above which the air is slower in any case, in bit/s."""
    air = max(one.data_rate.bps for one in scenario.stations)
    own = None if link is None else scenario.links[link].rate_bps
    return float(air if own is None else min(air, own))


def _wired(scenario: Scenario, keys: Mapping[str, Any], title: str) -> Change:
    """A wire between the access point and all that lies behind it."""
    name = next(one for one in _names(_WIRE) if one not in scenario.links)
    data = copy.deepcopy(scenario.written)
    data.setdefault("links", {})[name] = {"delay": "0 ms", **keys}
    for flow in data["flows"]:
        flow["path"] = [name, *flow.get("path", [])]
    lines = [f"[links.{name}]", *(f"{key} = {value_text(one)}" for key, one in keys.items())]
    lines += [f"# and path = [{value_text(name)}, ...] of each of the [[flows]]"]
    return Change(data, title, written="\n".join(lines))


def _queues(scenario: Scenario) -> Iterator[Cause]:
    """Another queue of the access point, and of stations that upload."""
    choices: list[dict[str, Any]] = [
        *({"discipline": "fifo", "limit": limit} for limit in _LIMITS),
        {"discipline": "codel"},
        dict(_MANAGED),
    ]
    places = [("ap", "the access point")]
    sending = {flow.stations for flow in scenario.flows if flow.direction == "upload"}
    places += [
        (f"stations.{one.name}", one.name) for one in scenario.stations if one.name in sending
    ]
    for table, called in places:

        def at(step: float, table: str = table, called: str = called) -> Change:
            queue = choices[int(step)]
            limit = f" of {queue['limit']} packets" if "limit" in queue else ""
            title = f"{called} with {queue['discipline']}{limit}"
            return _set(scenario, {f"{table}.queue": queue}, title)

        every = range(len(choices))
        yield Cause("queue", called, at, every, every)


def _windows(scenario: Scenario) -> Iterator[Cause]:
    """A receive window that TCP does not open further: of each direction of a group, and of all."""
    flows = [flow for flow in scenario.flows if flow.tcp is not None]
    parts: dict[str, list[str]] = {}
    for flow in flows:
        parts.setdefault(f"{flow.stations} {flow.direction}s", []).append(flow.name)
    if len(parts) > 1:
        parts["all flows"] = [flow.name for flow in flows]
    for called, names in parts.items():

        def at(step: float, called: str = called, names: list[str] = names) -> Change:
            window = f"{_WINDOWS[int(step)]} KiB"
            changes = {f"flows.{name}.tcp.receive_window": window for name in names}
            return _set(scenario, changes, f"{called} with a window of {window}")

        every = range(len(_WINDOWS))
        yield Cause("window", called, at, every[::2], every)


def _names(first: str) -> Iterator[str]:
    """A name, and others like it."""
    yield first
    number = 2
    while True:
        yield f"{first}-{number}"
        number += 1


def _between(bounds: tuple[float, float], strength: float) -> float:
    """A value between bounds, by equal factors."""
    low, high = bounds
    return float(low * (high / low) ** strength)


def _rate(bps: float, digits: int = 4) -> str:
    return f"{float(f'{bps / 1e6:.{digits}g}'):g} Mb/s"


def _percent(part: float) -> str:
    return f"{float(f'{100 * part:.2g}'):g} %"
