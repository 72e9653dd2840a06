"""Numbers to check whether a simulation makes sense: airtime, shares, counters, size of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airtcp.amounts import duration, percent, quantity
from airtcp.metrics import metric
from airtcp.present.cells import airtime_parts, failures
from airtcp.results import Comparison, Simulation, SimulationResult
from airtcp.results.objects import HEADLINES as IN_A_LINE
from airtcp.stats import is_precise, jain_index

#: Variance reduction below this factor is not reported.
WORTH_TELLING: Final = 1.2


def sanity(result: Comparison | SimulationResult) -> list[tuple[str, str]]:
    """Return the numbers for a quick plausibility check, as pairs of name and text."""
    simulation = result.simulation
    airtime = airtime_parts(simulation)
    parts = [
        f"{label} {percent(airtime[key])}"
        for key, label in (
            ("data", "data"),
            ("tcp_ack", "TCP ACK"),
            ("control", "control"),
            ("collision", "collisions"),
            ("heard", "other cells' frames"),
            ("idle", "idle"),
        )
        if key in airtime
    ]
    counts, cells = simulation.counts, simulation.cells
    mean = f"mean of {len(cells)} access points: " if len(cells) > 1 else ""
    block = [("airtime", mean + ", ".join(parts))]
    # If some nodes cannot hear each other, frames can overlap that did not start together.
    met = (
        f"{counts['collisions']:,} collisions"
        if cells
        else f"{many(counts['collisions'], 'collision')} "
        f"({many(counts['simultaneous_sends'], 'simultaneous send')})"
    )
    stations = [station for station in simulation.stations if "/" in station.name]
    least = min(stations, key=lambda station: station.goodput_bps)
    most = max(stations, key=lambda station: station.goodput_bps)
    block.append(
        (
            "per station",
            f"least {quantity(least.goodput_bps, 'b/s', 3)} ({least.name}), "
            f"most {quantity(most.goodput_bps, 'b/s', 3)} ({most.name})"
            f"{_evenness([station.goodput_bps for station in stations])}",
        )
    )
    starved = sum(flow.starved for flow in simulation.flows)
    if starved:
        little = min(simulation.flows, key=lambda flow: flow.goodput_bps)
        block.append(
            (
                "starved",
                f"{starved} of {len(simulation.flows)} flows "
                f"{'has' if starved == 1 else 'have'} less than a tenth of a fair "
                f"share in half of the runs or more; over all runs the least is "
                f"{quantity(little.goodput_bps, 'b/s', 3)} ({little.name})",
            )
        )
    block.append(
        (
            "MAC",
            f"{many(counts['mac_exchanges'], 'exchange')}, "
            f"{many(counts['mac_attempts'], 'attempt')}, "
            f"{met}, {many(counts['mac_drops'], 'drop')} at the limit"
            + (
                (
                    f", {many(counts['beacons'], 'beacon')} ({counts['beacon_collisions']:,} "
                    "collided)"
                )
                if counts["beacons"]
                else ""
            ),
        )
    )
    if lost := failures(cells):
        block.append(("lost", lost))
    if counts["contention_free_periods"]:
        block.append(
            (
                "polling",
                f"{many(counts['contention_free_periods'], 'contention-free period')}, "
                f"{many(counts['polls'], 'poll')} "
                f"({counts['polls_without_data']:,} answered without data), "
                f"{counts['contention_free_exchanges']:,} of the exchanges",
            )
        )
    drops = counts["ap_queue_drops"] + counts["station_queue_drops"] + counts["wired_drops"]
    if counts["tcp_segments"]:
        block.append(
            (
                "TCP",
                f"{many(counts['tcp_segments'], 'segment')}, "
                f"{many(counts['tcp_retransmissions'], 'retransmission')}, "
                f"{many(counts['tcp_timeouts'], 'timeout')}",
            )
        )
    block.append(
        (
            "queues",
            (
                f"{many(drops, 'packet')} dropped: {counts['ap_queue_drops']:,} at the AP, "
                f"{counts['station_queue_drops']:,} at stations, {counts['wired_drops']:,} on "
                "links"
            ),
        )
    )
    if counts["transfers"]:
        block.append(("transfers", f"{counts['transfers']:,} ended in the measured time"))
    block.append(("run", extent(simulation)))
    return block


def _precise(simulation: Simulation) -> str:
    """Describe the precision of a run that continues until a target precision."""
    wanted = None if simulation.scenario is None else simulation.scenario.run.precision
    known = [one for name in IN_A_LINE if (one := simulation.metrics[name]).is_known]
    if wanted is None or is_precise(known, wanted):
        return "the requested precision is reached"
    return "the random error is as small as requested; the rest is drift, which needs longer runs"


def _evenness(goodputs: Sequence[float]) -> str:
    """Return Jain's index of stations. The index of flows differs if a station has several."""
    index = jain_index(goodputs)
    return "" if index is None else f", Jain index {quantity(index, '', 3)}"


def many(count: int, what: str) -> str:
    """Format a count: "1 drop", "2,000 drops"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def extent(simulation: Simulation) -> str:
    """Describe how much was simulated, how fast, and why the run ended."""
    n = simulation.replications
    speed = simulation.simulated_s / max(simulation.wall_s, 1e-9)
    why = {
        "replications": "",
        "precision": f"; {_precise(simulation)}",
        "cap": "; stopped at the maximum before the requested precision",
        "interrupted": "; interrupted: only finished runs are shown",
    }[simulation.stopped]
    return (
        f"{n} replication{'s' if n > 1 else ''}, {duration(simulation.simulated_s)} simulated in "
        f"{duration(simulation.wall_s)} ({speed:,.{0 if speed >= 10.0 else 1}f} simulated seconds "
        f"per second){why}"
        f"{_gains(simulation)}"
    )


def _gains(simulation: Simulation) -> str:
    """Describe the variance reduction of the estimates of headline metrics."""
    known = simulation.estimates
    gains = [
        f"{quantity(known[name].gain, '', 2)}× ({metric(name).label})"
        for name in IN_A_LINE
        if name in known and (known[name].gain or 0.0) >= WORTH_TELLING
    ]
    return f"; variance reduction: {', '.join(gains)}" if gains else ""
