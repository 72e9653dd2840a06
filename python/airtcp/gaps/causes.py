"""Scenario changes that may explain a gap: properties that a network has but its scenario lacks.

A cause has a kind, a place and a strength. The strength is a number from 0 (almost no effect) to 1
(the maximum), or one of a few steps. `explain` finds the best cause, with `distance` as the
measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from airtcp.phrases import phrase
from airtcp.scenario.toml_text import value_text
from airtcp.standards import DSSS, OFDM, STANDARDS

if TYPE_CHECKING:
    from airtcp.scenario import Scenario
    from airtcp.scenario.keys.queue import LinkQueueForm
    from airtcp.scenario.keys.stations import StationGroup

#: Kinds in words. Equal causes are reported in this order.
KINDS: Final[Mapping[str, str]] = {
    "rate": "a lower rate",
    "neighbour": "a neighbour's load",
    "frame-losses": "losses on the channel",
    "wire-losses": "losses on the link",
    "slow-wire": "a slow link",
    "bloated-wire": "a bloated wire",
    "queue": "another queue",
    "window": "a small receive window",
}
#: The names of an added station group and an added link.
_NEIGHBOUR: Final = "neighbour"
_WIRE: Final = "wire"
#: Strengths of a continuous cause to try first.
_GRID: Final = (0.15, 0.4, 0.65, 0.9)
_FINE: Final = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85)
_MOST_STEPS: Final = 5
#: Limits of FIFO queues, in packets.
_LIMITS: Final = (10, 30, 100, 300, 1000, 3000)
#: Queue limits of a bloated link: about 0.4, 0.7, 1.4 and 2.9 s of queueing delay at 10 Mb/s.
_BLOATED: Final = (300, 600, 1200, 2400)
_MANAGED: Final = {"discipline": "fq-codel"}
#: Receive windows in KiB, as small devices and systems without window scaling have them.
_WINDOWS: Final = (8, 16, 32, 64, 128, 256, 512)
#: Smallest and largest loss ratios of frames, and of packets on a link.
_FRAMES_LOST: Final = (0.02, 0.7)
_PACKETS_LOST: Final = (0.0003, 0.1)
#: Numbers of senders of a neighbour: each contends for itself.
_SENDERS: Final = (1, 3)
#: Smallest and largest load of a neighbour, as a fraction of the data rate.
_LOAD: Final = (0.03, 1.0)


@dataclass(frozen=True)
class Change:
    """A changed scenario in its written form, and its description.

    `set` has values by key path if key paths can express the change; otherwise `written` is a piece
    of a scenario file. `added` is an added station group, which is left out of the metrics.
    """

    data: Mapping[str, Any]
    title: str
    set: Mapping[str, Any] = field(default_factory=dict)
    written: str = ""
    added: str | None = None


#: A change of some keys of a link, with its title.
_On = Callable[[Mapping[str, Any], str], Change]


@dataclass(frozen=True)
class Cause:
    """A kind of change at a place: `at(strength)`.

    If `steps` is not empty, only these strengths exist.
    """

    kind: str
    place: str
    at: Callable[[float], Change]
    grid: Sequence[float] = _GRID
    steps: Sequence[float] = ()


def causes(scenario: Scenario, share: float) -> tuple[list[Cause], dict[str, str]]:
    """Return the causes that fit a scenario, and for all other kinds the reason why not.

    The scenario's flows must have names (`airtcp.remedies.named`). `share` is the lowest ratio of
    measured to simulated goodput. It limits how slow a slow link may be.
    """
    found: list[Cause] = []
    untried: dict[str, str] = {}
    found += _rates(scenario)
    if scenario.cells is not None:
        untried["neighbour"] = phrase("gaps.causes.neighbours_listed")
    else:
        found += _neighbours(scenario)
    found += _frame_losses(scenario)
    found += _wires(scenario, min(max(share, 0.01), 1.0))
    found += _queues(scenario)
    found += _windows(scenario)
    for kind in KINDS:
        if kind not in untried and all(one.kind != kind for one in found):
            untried[kind] = phrase("gaps.causes.no_key")
    return found, untried


def _groups(scenario: Scenario) -> list[list[StationGroup]]:
    """Return each group of stations on its own, and all together if there are several."""
    groups = list(scenario.stations)
    return [[one] for one in groups] + ([groups] if len(groups) > 1 else [])


def _called(groups: Sequence[StationGroup]) -> str:
    return groups[0].name if len(groups) == 1 else "all stations"


def _set(
    scenario: Scenario, changes: Mapping[str, Any], title: str, added: str | None = None
) -> Change:
    """Return a change that key paths can express."""
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
    """Return the rates below a group's own as keys and values, highest first."""
    rate = group.data_rate
    if rate.high is not None:
        return [("mcs", index) for index in range(rate.high.mcs - 1, -1, -1)]
    of_standard = STANDARDS[scenario.phy.standard].rates_bps
    rates = of_standard[DSSS if rate.modulation == DSSS else OFDM]
    return [("data_rate", _rate(bps)) for bps in sorted(rates, reverse=True) if bps < rate.bps]


def _neighbours(scenario: Scenario) -> Iterator[Cause]:
    """Yield neighbours: foreign stations that send on the channel, left out of the metrics."""
    taken = {one.name for one in scenario.stations}
    name = next(one for one in _names(_NEIGHBOUR) if one not in taken)
    bps = scenario.phy.data_rate.bps
    for count in _SENDERS:

        def at(strength: float, count: int = count) -> Change:
            rate = _rate(bps * _between(_LOAD, strength) / count, 3)
            group = {"name": name, "count": count}
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
            senders = "one more sender" if count == 1 else f"{count} more senders"
            title = phrase("gaps.causes.neighbour", senders=senders, rate=rate)
            return Change(data, title, written="\n".join(lines), added=name)

        yield Cause("neighbour", "the channel", at)


def _frame_losses(scenario: Scenario) -> Iterator[Cause]:
    for groups in _groups(scenario):

        def at(strength: float, groups: list[StationGroup] = groups) -> Change:
            lost = _percent(_between(_FRAMES_LOST, strength))
            changes = {f"stations.{one.name}.frame_errors": lost for one in groups}
            return _set(
                scenario,
                changes,
                phrase("gaps.causes.frames_lost", lost=lost, groups=_called(groups)),
            )

        yield Cause("frame-losses", _called(groups), at)


def _wires(scenario: Scenario, share: float) -> Iterator[Cause]:
    """Yield changes of each named link; without links, of a new one at the access point."""
    used = {one for flow in scenario.flows for one in flow.path if isinstance(one, str)}
    names: list[str | None] = [one for one in scenario.links if one in used]
    for name in names or [None]:
        called = name or phrase("gaps.causes.link_of_ap")

        def on(keys: Mapping[str, Any], title: str, name: str | None = name) -> Change:
            if name is not None:
                if "rate" in keys and scenario.links[name].up_rate_bps is not None:
                    keys = {**keys, "up_rate": keys["rate"]}
                changes = {f"links.{name}.{key}": value for key, value in keys.items()}
                return _set(scenario, changes, title)
            return _wired(scenario, keys, title)

        def losing(strength: float, on: _On = on, called: str = called) -> Change:
            lost = _percent(_between(_PACKETS_LOST, strength))
            return on({"loss": lost}, phrase("gaps.causes.packets_lost", lost=lost, called=called))

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
            tail = phrase("gaps.causes.with_queue", limit=limit)
            deep = {"discipline": "fifo", "limit": limit}
            yield Cause("bloated-wire", called, _with(slow, queue=deep, tail=tail))


def _with(at: Callable[..., Change], **more: Any) -> Callable[[float], Change]:
    return lambda strength: at(strength, **more)


def _is_deep(queue: LinkQueueForm) -> bool:
    """Whether a queue can build long delays: tail drop with a large limit or none."""
    limit = queue.limit
    return queue.discipline == "fifo" and (limit is None or limit >= _BLOATED[0])


def _capacity(scenario: Scenario, link: str | None) -> float:
    """Return the rate of a link in bit/s above which the wireless side is always slower."""
    air = max(one.data_rate.bps for one in scenario.stations)
    own = None if link is None else scenario.links[link].rate_bps
    return float(air if own is None else min(air, own))


def _wired(scenario: Scenario, keys: Mapping[str, Any], title: str) -> Change:
    """Add a link between the access point and all servers."""
    name = next(one for one in _names(_WIRE) if one not in scenario.links)
    data = scenario.written
    data.setdefault("links", {})[name] = {"delay": "0 ms", **keys}
    for flow in data["flows"]:
        flow["path"] = [name, *flow.get("path", [])]
    lines = [f"[links.{name}]", *(f"{key} = {value_text(one)}" for key, one in keys.items())]
    lines += [f"# and path = [{value_text(name)}, ...] of each of the [[flows]]"]
    return Change(data, title, written="\n".join(lines))


def _queues(scenario: Scenario) -> Iterator[Cause]:
    """Yield other queues of the access point, and of stations that upload."""
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
    """Yield limits of the receive window: for each direction of a group, and for all flows."""
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
    """Yield a name, then the name with numbers appended."""
    yield first
    number = 2
    while True:
        yield f"{first}-{number}"
        number += 1


def _between(bounds: tuple[float, float], strength: float) -> float:
    """Interpolate between bounds geometrically."""
    low, high = bounds
    return float(low * (high / low) ** strength)


def _rate(bps: float, digits: int = 4) -> str:
    return f"{float(f'{bps / 1e6:.{digits}g}'):g} Mb/s"


def _percent(part: float) -> str:
    return f"{float(f'{100 * part:.2g}'):g} %"
