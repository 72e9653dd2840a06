"""Counterfactuals: variants with one possible cause removed, which show what causes a problem.

Only a simulator can run them. Each removes one cause: a mechanism (a link's rate, its losses,
collisions between hidden stations, another cell), or the traffic of a group. The reported cause is
the counterfactual that restores the targets.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from airtcp.data import beside
from airtcp.exceptions import ScenarioError
from airtcp.remedies import OF_STANDARD
from airtcp.remedies.apart import apart
from airtcp.scenario.hearing import meeting

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

#: The causes by identifier. If two restore equally many targets, the earlier one is more specific.
PROBLEMS: Final[Mapping[str, Mapping[str, Any]]] = beside(__file__, "causes.toml")
RANK: Final = {problem: place for place, problem in enumerate(PROBLEMS)}
#: A window and a rate large enough to limit nothing.
_WINDOW: Final = "64 MiB"
_RATE: Final = "100 Gb/s"
#: A queue that keeps the queueing delay short.
_MANAGED: Final = {"discipline": "fq-codel"}
#: A power below the noise, from which everybody is heard.
_WEAKEST: Final = "-100 dBm"


@dataclass(frozen=True)
class Counterfactual:
    """A scenario with one possible cause removed, or two of them.

    `each` has the groups that each cause concerns.
    """

    problem: str
    each: tuple[tuple[str, ...], ...]
    scenario: Scenario

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that the causes concern."""
        return tuple(group for groups in self.each for group in groups)

    @property
    def key(self) -> str:
        """A unique name of the counterfactual."""
        return key_of(self.problem, self.groups)


def key_of(problem: str, groups: Iterable[str]) -> str:
    """Return the unique name of a counterfactual."""
    return " ".join((problem, *groups))


def counterfactuals(base: Scenario, wanted: Container[str] | None = None) -> list[Counterfactual]:
    """Return every counterfactual that differs from this scenario; with `wanted` those keys."""
    seen = {base.hash()}
    found = []
    unchanged = base.written
    for problem, groups, data in _all(base):
        if data == unchanged or (wanted is not None and key_of(problem, groups) not in wanted):
            continue
        try:
            scenario = base.rewritten(data)
        except ScenarioError:
            # Removing this cause leaves an invalid scenario, because another key depends on it.
            continue
        digest = scenario.hash()
        if digest not in seen:
            seen.add(digest)
            found.append(Counterfactual(problem, (groups,), scenario))
    return found


def _all(base: Scenario) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    names = [group.name for group in base.stations]
    settings = {one: about["setting"] for one, about in PROBLEMS.items() if "setting" in about}
    for problem, (table, key) in settings.items():
        yield problem, (), _edited(base, partial(_drop, table=table, key=key))
    yield "hidden", (), _edited(base, lambda data: _all_hear(base, data))
    if base.cells is not None and len(base.cells) > 1:
        met = meeting(base)
        for place, cell in enumerate(base.cells):
            if not met[place] and not any(place in each for each in met):
                continue
            own = tuple(group.name for group in base.stations if group.cell == place)
            yield "neighbour", (cell.name,), _without(base, own)
        channels = apart(base)
        if channels is not None:
            yield "cells", (), _edited(base, partial(_set_channels, channels=channels))
    yield "delayed-acks", (), _edited(base, lambda data: _immediate_acks(base, data))
    yield "windows", (), _edited(base, lambda data: _large_windows(base, data))
    yield "link-loss", (), _edited(base, lambda data: _each_link(data, _sound))
    yield "frame-errors", (), _edited(base, _without_errors)
    yield "link-queue", (), _edited(base, lambda data: _each_link(data, _managed))
    yield "ap-queue-small", (), _edited(base, lambda data: _ap_queue(data, {}))
    yield "ap-queue", (), _edited(base, lambda data: _ap_queue(data, _MANAGED))
    yield "link", (), _edited(base, lambda data: _each_link(data, _fast))
    old = tuple(group.name for group in base.stations if group.pair is not None)
    if old:
        yield "old-standard", old, _edited(base, lambda data: _renewed(data, old))
    slow = tuple(_slow(base))
    if slow:
        yield "distance", slow, _edited(base, lambda data: _near(data, slow))
    if len(names) > 1:
        for name in names:
            yield "without", (name,), _without(base, (name,))
    yield "load", tuple(names), _edited(base, _half)


def _edited(base: Scenario, edit: Any) -> dict[str, Any]:
    data = base.written
    edit(data)
    return data


def _drop(data: dict[str, Any], table: str, key: str) -> None:
    for one in (data.get(table), *_own(data, table)):
        if isinstance(one, dict):
            one.pop(key, None)


def _own(data: Mapping[str, Any], table: str) -> Iterator[Any]:
    yield from (cell.get(table) for cell in (data.get("cells") or {}).values())


def _all_hear(base: Scenario, data: dict[str, Any]) -> None:
    """Let all nodes of a cell hear each other. Several cells with powers stay as they are."""
    for group in data["stations"]:
        group.pop("hears", None)
    if base.air is not None and base.air.powers_known and len(base.cells or ()) < 2:
        data.setdefault("air", {})["sense"] = _WEAKEST


def _set_channels(data: dict[str, Any], channels: Sequence[int]) -> None:
    for cell, channel in zip(data["cells"].values(), channels, strict=True):
        cell["channel"] = channel


def _tcp(base: Scenario, data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for flow, (_, flows) in zip(data["flows"], base.flow_entries, strict=True):
        if all(one.tcp is not None for one in flows):
            yield flow.setdefault("tcp", {})


def _immediate_acks(base: Scenario, data: dict[str, Any]) -> None:
    for tcp in _tcp(base, data):
        for end in (tcp, tcp.get("receiver")):
            if end is not None:
                end["delayed_ack"] = {"every": 1}


def _large_windows(base: Scenario, data: dict[str, Any]) -> None:
    for tcp in _tcp(base, data):
        for end in (tcp, tcp.get("receiver")):
            if end is not None:
                end["receive_window"] = _WINDOW


def _each_link(data: dict[str, Any], edit: Any) -> None:
    for link in (data.get("links") or {}).values():
        edit(link)
    for flow in data["flows"]:
        for link in flow.get("path") or ():
            if isinstance(link, dict):
                edit(link)


def _sound(link: dict[str, Any]) -> None:
    link.pop("loss", None)


def _managed(link: dict[str, Any]) -> None:
    if "rate" in link:
        link["queue"] = dict(_MANAGED)


def _fast(link: dict[str, Any]) -> None:
    if "rate" in link:
        link["rate"] = _RATE
        link.pop("queue", None)


def _without_errors(data: dict[str, Any]) -> None:
    for group in data["stations"]:
        group.pop("error_table", None)
        group.pop("frame_errors", None)


def _ap_queue(data: dict[str, Any], queue: Mapping[str, Any]) -> None:
    """Give every access point another queue. An empty table is an unlimited FIFO."""
    for ap in (data.setdefault("ap", {}), *_own(data, "ap")):
        if isinstance(ap, dict):
            ap["queue"] = dict(queue)


def _renewed(data: dict[str, Any], old: tuple[str, ...]) -> None:
    """Give some groups, and all cells, the standard and the channel width of `[phy]`."""
    for group in data["stations"]:
        if group["name"] in old:
            for key in OF_STANDARD:
                group.pop(key, None)
    for cell in (data.get("cells") or {}).values():
        for key in OF_STANDARD:
            cell.pop(key, None)


def _slow(base: Scenario) -> Iterator[str]:
    best = max(group.data_rate.bps for group in base.stations)
    best = max(best, base.phy.data_rate.bps)
    for group in base.stations:
        if group.data_rate.bps < 0.5 * best:
            yield group.name


def _near(data: dict[str, Any], slow: tuple[str, ...]) -> None:
    fast = [group for group in data["stations"] if group["name"] not in slow]
    keys = (
        "mcs",
        "spatial_streams",
        "data_rate",
        "snr",
        "place",
        "distance",
        "error_table",
        "frame_errors",
    )
    best = {key: fast[0][key] for key in keys if fast and key in fast[0]}
    for group in data["stations"]:
        if group["name"] in slow:
            for key in keys:
                # Without another group the highest MCS is the best, with as many streams as today.
                if fast or key != "spatial_streams":
                    group.pop(key, None)
            group.update(best)


def _without(base: Scenario, gone: tuple[str, ...]) -> dict[str, Any]:
    """Return the scenario without the traffic of some groups and without their targets."""
    data = base.written
    data["flows"] = [flow for flow in data["flows"] if flow["stations"] not in gone]
    data["stations"] = [
        {key: value for key, value in group.items() if key != "traffic"}
        for group in data["stations"]
    ]
    if "targets" in data:
        about = {target.text: target for target in base.targets}
        data["targets"] = {
            key: bound
            for key, bound in data["targets"].items()
            if not any(
                text.startswith(key) and target.group in gone for text, target in about.items()
            )
        }
        if not data["targets"]:
            del data["targets"]
    return data


def _half(data: dict[str, Any]) -> None:
    for group in data["stations"]:
        group["count"] = max(1, round(group.get("count", 1) / 2))
