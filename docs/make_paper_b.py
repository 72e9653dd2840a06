"""Make the tables of docs/papers/paper-b.md: what changes the numbers that paper B states.

Scenarios are those of `airtcp reproduce B`. Seeds are fixed, so every run gives the
same tables.

    .venv/bin/python docs/make_paper_b.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import airtcp_papers
import tables
from airtcp import simulate
from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval
from airtcp_papers.common.bench import Bench, Settings

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "papers" / "paper-b.md"
FOLDER = Path(airtcp_papers.__file__).parent / "bruno"

TCP = "flows.station.tcp"
#: The deviations from the scenario file, one at a time.
VARIATIONS: Mapping[str, Mapping[str, Any]] = {
    "as in the scenario": {},
    "backoff after each success (the standard)": {"mac.rules": {"post_backoff": True}},
    "rules of ns-3": {"mac.rules": {"preset": "ns-3"}},
    "rules of ns-2": {"mac.rules": {"preset": "ns-2"}},
    "MAC ACK at 1 Mb/s": {"phy.control_rate": "1 Mb/s"},
    "MSS of 1460 bytes": {f"{TCP}.mss": "1460 B"},
    "an ACK for each segment": {f"{TCP}.delayed_ack": {"every": 1}},
    "delayed-ACK timer of 100 ms": {f"{TCP}.delayed_ack": {"every": 2, "timeout": "100 ms"}},
    "access point's queue without limit": {"ap.queue": {"discipline": "fifo"}},
    "NewReno": {f"{TCP}.variant": "newreno"},
    "least RTO of 500 ms": {f"{TCP}.min_rto": "500 ms"},
    "least RTO of 200 ms": {f"{TCP}.min_rto": "200 ms"},
    "least RTO of 200 ms, SACK": {f"{TCP}.min_rto": "200 ms", f"{TCP}.variant": "sack"},
}
TRANSMISSIONS = (3, 4, 5, 7, 255)
STATIONS = (1, 2, 3, 5, 7, 10, 15, 20)
BURSTS = {"ap.access": {"scheme": "adaptive-burst", "window_slots": 32, "target_active": 8}}


@cache
def _bench() -> Bench:
    # Each simulation runs once, so no results are cached.
    return Bench(FOLDER, FOLDER, Settings(threads=1))


def run(file: str, stations: int, changes: Mapping[str, Any] | None = None) -> Simulation:
    """Return the simulation of a scenario file of paper B with a number of stations and changes."""
    varied = {"stations.station.count": stations, **(changes or {})}
    return simulate(_bench().scenario(file, varied), threads=1).simulation


def downlink(simulation: Simulation) -> list[float]:
    """Return the access point's goodput in each replication, b/s."""
    return [
        sum(flow["goodput_bps"] for flow in one.answer["flows"] if flow["direction"] == "download")
        for one in simulation.runs
    ]


def quotient(above: Sequence[float], below: Sequence[float]) -> Interval:
    """Return the interval of a ratio over paired replications."""
    return student_interval([a / b for a, b in zip(above, below, strict=True)], 0.95)


def sent_twice(simulation: Simulation, mss_bytes: int, measured_s: float) -> float:
    """Return the fraction of the access point's exchanges that carried nothing new."""
    segments = sum(downlink(simulation)) / 8.0 / mss_bytes * measured_s
    sent = sum(one.answer["stations"][0]["successes"] for one in simulation.runs)
    # A segment may cross an end of the measured time.
    return float(max(0.0, 1.0 - segments / sent))


def acks_per_segment(simulation: Simulation) -> float:
    """Return TCP ACKs per segment, both as transmitted over Wi-Fi."""
    nodes = [one.answer["stations"] for one in simulation.runs]
    acks = sum(station["successes"] for answer in nodes for station in answer[1:])
    return float(acks / sum(answer[0]["successes"] for answer in nodes))


def mean(simulation: Simulation, metric: str) -> float:
    """Return the mean of a metric over replications."""
    value = simulation.metrics[metric].mean
    assert value is not None
    return value


def downloads_table() -> str:
    """Return utilization, goodput with 20 stations and active stations, by variation."""
    head = ["varied", "utilization, 1", "goodput, 20 : 1", "active, 1", "active, 20"]
    head += ["W of AP, 20", "W of stations, 20", "sent twice, 20", "ACKs a segment, 20"]
    active = "active_stations_after_ap_success"
    rows = []
    for name, changes in VARIATIONS.items():
        one, twenty = (run("hotspot", n, changes) for n in (1, 20))
        mss = 1460 if "1460" in name else 1500
        rows.append(
            [
                name,
                f"{mean(one, 'goodput_bps') / 11e6:.3f}",
                tables.shown(quotient(downlink(twenty), downlink(one))),
                tables.shown(one.metrics[active]),
                tables.shown(twenty.metrics[active]),
                f"{mean(twenty, 'mean_cw_ap') + 1:.1f}",
                f"{mean(twenty, 'mean_cw_stations') + 1:.1f}",
                f"{100 * sent_twice(twenty, mss, 100.0):.1f} %",
                f"{acks_per_segment(twenty):.3f}",
            ]
        )
    return tables.markdown(head, rows)


def datagrams_table() -> str:
    """Return windows, collisions and relative goodput with 20 stations, by transmissions."""
    head = ["transmissions at most", "W of stations", "P", "access point's goodput, 20 : 1"]
    rows = []
    for limit in TRANSMISSIONS:
        one, twenty = (run("datagrams", n, {"mac.short_retry_limit": limit}) for n in (1, 20))
        rows.append(
            [
                str(limit),
                f"{mean(twenty, 'mean_cw_stations') + 1:.1f}",
                tables.shown(twenty.metrics["collision_probability"]),
                tables.shown(quotient(downlink(twenty), downlink(one))),
            ]
        )
    return tables.markdown(head, rows)


def bursts_table() -> str:
    """Return goodput with and without bursts, and collision probabilities of stations."""
    head = ["stations", "standard, Mb/s", "bursts, Mb/s", "gain", "P of stations", "with bursts"]
    rows = []
    for stations in STATIONS:
        standard, bursts = (run("hotspot", stations, changes) for changes in ({}, BURSTS))
        gain = mean(bursts, "goodput_bps") / mean(standard, "goodput_bps") - 1.0
        rows.append(
            [
                str(stations),
                tables.shown(standard.metrics["goodput_bps"], 3, 1e6),
                tables.shown(bursts.metrics["goodput_bps"], 3, 1e6),
                f"{100 * gain:.1f} %",
                f"{mean(standard, 'collision_probability_stations'):.3f}",
                f"{mean(bursts, 'collision_probability_stations'):.3f}",
            ]
        )
    return tables.markdown(head, rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "downloads": downloads_table,
    "datagrams": datagrams_table,
    "bursts": bursts_table,
}


if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
