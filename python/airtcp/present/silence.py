"""Why flows of a simulation received nothing, judged by counters.

Only causes that a counter shows are reported: attempts, collisions, drops, timeouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from airtcp.amounts import duration
from airtcp.results import Comparison, SimulationResult
from airtcp.scenario.hearing import deaf_groups

if TYPE_CHECKING:
    from airtcp.results.averages import Flow, Station
    from airtcp.results.cells import CellFailures, CellResult
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.traffic import Flow as Entry

#: Applications that send from their beginning on.
_AT_ONCE: Final = ("bulk", "udp")
#: The most flows listed by name.
_NAMED: Final = 3
#: Placeholder in a cause for the number of timeouts, which differs between flows.
_TIMES: Final = "{times}"


@dataclass(frozen=True, slots=True)
class Silence:
    """Flows that received nothing in the measured time of any replication.

    `flows` are their names, `why` is the cause as far as counters show it, and `hint` says what may
    help ("" if unknown).
    """

    flows: tuple[str, ...]
    why: str
    hint: str

    def __str__(self) -> str:
        named = ", ".join(self.flows[:_NAMED])
        if len(self.flows) > _NAMED:
            named += f" and {len(self.flows) - _NAMED} more"
        return f"no data of {named} arrives: {self.why}"


def silences(result: Comparison | SimulationResult) -> Iterator[Silence]:
    """Yield the flows that never received anything, grouped by cause."""
    scenario, simulation = result.scenario, result.simulation
    entries = {entry.name: entry for entry in scenario.flows}
    stations = {station.name: station for station in simulation.stations}
    causes: dict[tuple[str, str], list[Flow]] = {}
    for flow in simulation.flows:
        entry = entries[flow.name.rpartition("/")[0]]
        tried = entry.application.kind in _AT_ONCE or flow.timeouts > 0
        if flow.goodput_bps > 0 or flow.transfers > 0 or not tried:
            continue
        through = scenario.access_point(entry.stations)
        sender = stations[flow.station if flow.direction == "upload" else through]
        cause = (
            _too_short(scenario, entry, flow, sender)
            or _on_the_air(scenario, entry, sender, simulation.cells.get(through))
            or _elsewhere(simulation.counts, flow, sender)
        )
        causes.setdefault(cause, []).append(flow)
    for (why, hint), flows in causes.items():
        told = why.replace(_TIMES, _times([flow.timeouts for flow in flows]))
        yield Silence(tuple(flow.name for flow in flows), told, hint)


def _times(counts: Sequence[float]) -> str:
    """Format counts of events: one number, or the range over several flows."""
    least, most = f"{min(counts):.3g}", f"{max(counts):.3g}"
    return f"{least} times" if least == most else f"{least} to {most} times"


def _too_short(
    scenario: ResolvedScenario, entry: Entry, flow: Flow, sender: Station
) -> tuple[str, str] | None:
    """Return text on a run that ends before the flow can deliver; None if there was time."""
    end_s = scenario.run.whole_s
    latest_s = entry.start_spread_ns / 1e9
    if entry.application.kind == "bulk":
        latest_s += entry.application.start.mean()
    if latest_s >= end_s:
        return (
            f"these flows start up to {duration(latest_s)} after the start of the run, which ends "
            f"after {duration(end_s)}",
            "a longer run",
        )
    if sender.attempts == 0 and flow.timeouts == 0:
        measured = duration(scenario.run.duration_ns / 1e9)
        return (
            f"{sender.name} sent nothing in the measured {measured}, and no TCP timer expired: the "
            "run may be too short",
            "a longer run",
        )
    return None


def _on_the_air(
    scenario: ResolvedScenario, entry: Entry, sender: Station, cell: CellResult | None
) -> tuple[str, str] | None:
    """Return that no transmission of the sender succeeded; None if one did."""
    if sender.attempts == 0 or sender.successes > 0:
        return None
    if sender.collisions < sender.attempts:
        lost = "without collisions" if sender.collisions == 0 else "with and without collisions"
        return f"no transmission of {sender.name} succeeds ({lost})", "fewer frame errors"
    met = None if cell is None else _met(scenario, entry, cell.failures)
    if met is not None:
        return f"every transmission collides with {met}", ""
    why = "every attempt collides"
    if scenario.mac.short_retry_limit > 1:
        return why, "fewer senders, or a larger CWmin"
    why += ": retries are off (short_retry_limit = 1)"
    if entry.start_spread_ns == 0 and scenario.mac.rules.immediate_access:
        why += ", and all flows start at the same time, so timers keep them synchronized"
    return why, "a start_spread, or retries"


def _met(scenario: ResolvedScenario, entry: Entry, failures: CellFailures) -> str | None:
    """Return which hidden transmissions collide with the sender's; None if there are none.

    No fix is suggested here: RTS/CTS helps against one hidden station, but not one station against
    many.
    """
    index = scenario.group(entry.stations).cell or 0
    deaf = {name for pair in deaf_groups(scenario, index) for name in pair}
    if failures.hidden and entry.stations in deaf:
        return "a hidden station"
    return "another cell" if failures.neighbour else None


def _elsewhere(counts: dict[str, int], flow: Flow, sender: Station) -> tuple[str, str]:
    """Return where packets were lost, and how TCP reacted."""
    places = {
        "at the retry limit": counts["mac_drops"],
        "in the access point's queue": counts["ap_queue_drops"],
        "in stations' queues": counts["station_queue_drops"],
        "on links": counts["wired_drops"],
    }
    lost = [f"{count:,} packets {place}" for place, count in places.items() if count]
    timers = f"TCP's timer expired {_TIMES} per run" if flow.timeouts else ""
    if lost:
        what = f"all flows together lost {' and '.join(lost)}"
        return f"{timers}, and {what}" if timers else what, ""
    if timers:
        return f"{timers} without any loss: responses may take longer than the timer", ""
    return "its packets were still in flight when the run ended", "a longer run"
