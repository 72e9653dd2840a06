"""Station groups side by side in rows of text, for the terminal and the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from airtcp.amounts import percent
from airtcp.results.least import metric_text

if TYPE_CHECKING:
    from airtcp.results import Simulation

#: The metrics shown for flows in one direction, with their column headings.
_SHOWN: Final = {
    "goodput_bps": "goodput",
    "flow_goodput_bps": "per flow",
    "page_time_s": "page time",
    "transfer_time_s": "transfer time",
    "transfer_time_p90_s": "90th percentile",
    "path_rtt_s": "round trip",
    "packet_delay_s": "delay",
    "packet_loss": "loss",
    "r_factor": "R factor",
    "airtime_share": "airtime",
}

#: The most columns that fit side by side. If there are more, `_GIVE_WAY` are dropped first.
_MOST: Final = 6
_GIVE_WAY: Final = ("transfer_time_p90_s", "flow_goodput_bps", "packet_loss", "path_rtt_s")
#: Metrics to leave out if there are page times, which say more.
_OF_OBJECTS: Final = ("transfer_time_s", "transfer_time_p90_s")


@dataclass(frozen=True, slots=True)
class GroupTable:
    """Rows of text: the group and direction, then the columns of `head`; a dash is no value."""

    head: list[str]
    rows: list[list[str]]


def by_group(simulation: Simulation, least: int = 2) -> GroupTable | None:
    """Return the flows of each group and direction; None if there are fewer than `least`.

    Columns without any value are left out, and so are columns beyond `_MOST`. Goodput per flow is
    shown only if a group has several flows.
    """
    scopes = {
        (name, direction): group[direction]
        for name, group in simulation.groups.items()
        for direction in ("download", "upload")
        if direction in group
    }
    if len(scopes) < least:
        return None
    shown = [
        name
        for name in _SHOWN
        if any(metrics[name].mean is not None for metrics in scopes.values())
    ]
    if all(metrics["goodput_bps"] == metrics["flow_goodput_bps"] for metrics in scopes.values()):
        shown.remove("flow_goodput_bps")
    if "page_time_s" in shown:
        shown = [name for name in shown if name not in _OF_OBJECTS]
    for name in _GIVE_WAY:
        if len(shown) > _MOST and name in shown:
            shown.remove(name)
    return GroupTable(
        head=["group", *(_SHOWN[name] for name in shown)],
        rows=[
            [f"{group}, {part}", *(_text(simulation, name, group, part) for name in shown)]
            for group, part in scopes
        ],
    )


def _text(simulation: Simulation, name: str, group: str, part: str) -> str:
    interval = simulation.groups[group][part][name]
    if name in ("airtime_share", "packet_loss"):
        return percent(interval.mean)
    return metric_text(name, interval, simulation.runs, simulation.scenario, group, part)
