"""Describe the access points of a scenario: their profile, or their queue and scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from airtcp.choices import DISCIPLINES
from airtcp.scenario.load import resolve
from airtcp.scenario.profiles import access_points

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.queue import AccessPoint

#: Disciplines whose common short name differs from the name in their record.
_SHORT: Final = {"fifo": "FIFO", "per-flow": "fair queueing", "per-scenario-flow": "fair queueing"}


def access_point_words(scenario: ResolvedScenario) -> str:
    """Name the access points: "vendor FIFO (1000 packets)", "OpenWrt (FQ-CoDel, airtime)".

    If cells differ, each name is followed by its cells: "... in hall; ... in office".
    """
    by_words: dict[str, list[str]] = {}
    names = [cell.name for cell in scenario.cells or ()] or ["ap"]
    for name, ap in zip(names, scenario.access_points, strict=True):
        by_words.setdefault(_words(ap), []).append(name)
    if len(by_words) == 1:
        return next(iter(by_words))
    return "; ".join(f"{words} in {', '.join(names)}" for words, names in by_words.items())


def _words(ap: AccessPoint) -> str:
    queue = ap.queue
    name = _SHORT.get(queue.word, DISCIPLINES[queue.word].name)
    size = "unlimited" if queue.limit is None else f"{queue.limit} packets"
    airtime = ap.scheduler is not None and ap.scheduler.kind == "airtime"
    profile = next((word for word, one in _profiles().items() if _alike(one, ap)), None)
    if profile is None:
        ring = "" if queue.mac_limit is None else f", {queue.mac_limit} in the driver"
        return f"{name} ({size}{ring}{', airtime' if airtime else ''})"
    called = access_points()[profile].name
    return f"{called} ({name}, airtime)" if airtime else f"{called} {name} ({size})"


def _alike(one: AccessPoint, other: AccessPoint) -> bool:
    """Return True if queues and schedulers are equal; no scheduler is the same as "oldest"."""
    schedulers = [
        None if ap.scheduler is None or ap.scheduler.kind == "oldest" else ap.scheduler
        for ap in (one, other)
    ]
    return one.queue == other.queue and schedulers[0] == schedulers[1]


@cache
def _profiles() -> Mapping[str, AccessPoint]:
    """Return the profiles of the access points."""
    flow = {"stations": "a", "direction": "download", "application": {"kind": "bulk"}}
    plain = {
        "phy": {"standard": "802.11n"},
        "stations": [{"name": "a", "count": 1}],
        "flows": [flow],
    }
    return {word: resolve({**plain, "ap": {"profile": word}}).ap for word in access_points()}
