"""The network of a scenario with one cell as a picture: groups of stations around the access point.

How near a group is drawn follows from its distance, else from its place, else from its link rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity
from airtcp.scenario.profiles import devices, places
from airtcp.units import parse_length_m

if TYPE_CHECKING:
    from airtcp.results import Simulation
    from airtcp.scenario import Scenario
    from airtcp.scenario.keys.traffic import Link

#: Distances in metres to which a group can be moved.
_DISTANCES_M: Final = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 56, 80, 100)
#: The fastest group has this many times the rate of a group that is drawn farthest.
_SLOWEST: Final = 30.0
#: Keys of a group that set its rate, whatever its place is.
_OWN_RATE: Final = ("mcs", "data_rate")
#: Keys of a group that a map shows better.
_MAPPED: Final = ("positions", "hears")


def told(scenario: Scenario, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the groups around the access point, and the wired links; None if there is a map.

    `entries` are the groups as the file writes them, with names. A group is drawn at the distance
    `far`, from 0 (at the access point) to 1. `speed` is 0, 1 or 2 by the ratio of its rate to the
    highest rate. `moves` says how to move it: set the key `path` to one of `steps`, which go from
    near to far. `place` is the index of the current step.
    """
    if len(scenario.cells or ()) > 1 or any(key in one for one in entries for key in _MAPPED):
        return None
    rates = [scenario.link_rate_bps(group) for group in scenario.stations]
    groups = []
    for group, rate, entry in zip(scenario.stations, rates, entries, strict=True):
        part = rate / max(rates)
        moves = _moves(entry)
        far = min(math.log(1.0 / part) / math.log(_SLOWEST), 1.0)
        if moves is not None and moves["place"] is not None:
            far = moves["steps"][moves["place"]]["far"]
        groups.append(
            {
                "path": f"stations.{group.name}",
                "name": group.name,
                "count": group.count,
                "rate": quantity(rate, "b/s", 3),
                "speed": 0 if part < 0.2 else 1 if part < 0.5 else 2,
                "far": far,
                "moves": moves,
            }
        )
    links = [
        {"name": name, "rate": " / ".join(_rates(link))} for name, link in scenario.links.items()
    ]
    return {"groups": groups, "links": links}


def _rates(link: Link) -> Iterator[str]:
    for rate in (link.rate_bps, link.up_rate_bps):
        if rate is not None:
            yield quantity(rate, "b/s", 3)


def loads(scenario: Scenario, simulation: Simulation) -> dict[str, float]:
    """Return the goodput of each named link over its rate, in its busier direction.

    Links of groups that also have flows elsewhere in that direction are left out.
    """
    found = {}
    for name, link in scenario.links.items():
        shares = []
        for part in ("download", "upload"):
            flows = [flow for flow in scenario.flows if flow.direction == part]
            over = {flow.stations for flow in flows if name in flow.path}
            if over & {flow.stations for flow in flows if name not in flow.path}:
                break
            means = [simulation.groups[group][part]["goodput_bps"].mean for group in over]
            shares.append(sum(mean or 0.0 for mean in means) / (link.rate_of(part) or math.inf))
        else:
            if link.rate_bps:
                found[name] = max(shares)
    return found


def _moves(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the key that moves a group, and its values; None if its file has no such key."""
    name = entry["name"]
    if "distance" in entry:
        present = float(parse_length_m(entry["distance"]))
        metres = sorted({*map(float, _DISTANCES_M), present})
        steps = [
            {"value": f"{one:g} m", "far": min(math.log(max(one, 1.0)) / math.log(100.0), 1.0)}
            for one in metres
        ]
        return {"path": f"stations.{name}.distance", "steps": steps, "place": metres.index(present)}
    device = devices().get(str(entry.get("profile")))
    place = entry.get("place") or (None if device is None else device.place)
    if place is None or any(key in entry for key in _OWN_RATE):
        return None
    known = sorted(places().values(), key=lambda one: -one.signal_dbm)
    steps = [{"value": one.name, "far": (at + 1) / len(known)} for at, one in enumerate(known)]
    names = [one.name for one in known]
    return {
        "path": f"stations.{name}.place",
        "steps": steps,
        "place": names.index(place) if place in names else None,
    }
