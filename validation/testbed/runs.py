"""Run the kernel's TCP in the testbed, and simulate the same scenarios.

The first trusted run of at most three counts, or else the one with the least lateness; the goodput
of a run does not matter for the choice.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import airtcp_papers
import numpy as np
from airtcp import simulate
from airtcp.results import SimulationResult, TestbedResult
from airtcp.scenario import Scenario, loads
from airtcp.scenario.load import load
from airtcp.testbed.bench import measure
from airtcp.testbed.carrier import Carrier
from airtcp.testbed.network import Network
from airtcp_papers.common.bench import Bench, Settings
from airtcp_papers.hoekstra.real_points import LINUX, REAL_LAWS, REAL_PLACES, RealPoint
from airtcp_papers.hoekstra.real_points import measured as measured_point
from airtcp_papers.hoekstra.testbed import STATED

ROOT = Path(__file__).parents[2]
PAPER_H = Path(airtcp_papers.__file__).parent / "hoekstra"
RUNS = ROOT / "out" / "reproduce" / "runs"

MOST_RUNS = 3
REPLICATIONS = 5
LOOK_EVERY_S = 0.1
#: Linux preset, with timestamps.
MSS_BYTES = 1448

BULK = """
[phy]
standard = "{standard}"
{mac}
[ap]
queue = {{ limit = {limit} }}
[[stations]]
name = "sta"
count = {count}
[[flows]]
stations = "sta"
direction = "{direction}"
application = {{ kind = "bulk" }}
tcp = {{ preset = "linux", congestion = "{congestion}" }}
{path}
[run]
warmup = "3 s"
duration = "{duration} s"
seed = {seed}
"""
#: Link between the access point and the server.
PATH = 'path = [{ delay = "5 ms" }]'
#: TCP ACKs in AC_VO, by AIFSN 2 and CW 3 to 7; data contend as under DCF.
PRIORITY = """
[mac]
classify = { tcp_ack = "AC_VO" }
[mac.edca.ap]
AC_VO = { aifsn = 2, cw_min = 3, cw_max = 7, txop_limit = "0 us" }
AC_BE = { aifsn = 2, cw_min = 31, cw_max = 1023, txop_limit = "0 us" }
[mac.edca.stations]
AC_VO = { aifsn = 2, cw_min = 3, cw_max = 7, txop_limit = "0 us" }
AC_BE = { aifsn = 2, cw_min = 31, cw_max = 1023, txop_limit = "0 us" }
"""


def bulk(
    standard: str,
    *,
    count: int = 1,
    congestion: str = "reno",
    direction: str = "download",
    limit: int = 100,
    mac: str = "",
    duration: int = 8,
    path: str = "",
) -> Scenario:
    """Return endless transfers of the kernel's TCP."""
    return loads(
        BULK.format(
            standard=standard,
            count=count,
            congestion=congestion,
            direction=direction,
            limit=limit,
            mac=mac,
            duration=duration,
            path=path,
            seed=1,
        )
    )


#: Load average of the last minute of each run.
LOADS: dict[int, float] = {}


def measured_with_load(scenario: Scenario, **options: Any) -> TestbedResult:
    """Measure once, and record the load of the machine."""
    result = measure(scenario, **options)
    LOADS[id(result)] = os.getloadavg()[0]
    _ALL.append(result)
    return result


#: Results are cached, so each needs a unique name.
_ALL: list[TestbedResult] = []


def real(scenario: Scenario, *, gro: bool = False) -> TestbedResult:
    """Measure until a run is trusted, up to three times. Return it, or the least late one."""
    runs: list[TestbedResult] = []
    while len(runs) < MOST_RUNS and not (runs and runs[-1].lag.trusted):
        runs.append(measured_with_load(scenario, gro=gro))
    return min(runs, key=lambda run: (not run.lag.trusted, run.lag.share_above))


def mean(result: TestbedResult | SimulationResult, metric: str) -> float:
    """Return the mean of a metric, which must have one."""
    value = result.metrics[metric].mean
    assert value is not None
    return value


def rates(result: TestbedResult | SimulationResult) -> list[float]:
    """Return the goodput of each flow in the first run, in Mb/s, in ascending order."""
    simulation = result.testbed if isinstance(result, TestbedResult) else result.simulation
    return sorted(flow["goodput_bps"] / 1e6 for flow in simulation.runs[0].answer["flows"])


def airtime(result: TestbedResult | SimulationResult) -> Mapping[str, float]:
    """Return the airtime shares of the measured time."""
    simulation = result.testbed if isinstance(result, TestbedResult) else result.simulation
    return simulation.airtime


#: Number of active stations that a machine with two cores should support, by standard.
ACTIVE: Mapping[str, int] = {"802.11b": 10, "802.11g": 5, "802.11n": 3}


@cache
def uploads_by_way() -> dict[str, tuple[SimulationResult, TestbedResult]]:
    """Run ten uploads whose ACKs wait in a short queue of the access point."""
    both = {}
    for way, mac in (("DCF", ""), ("TCP ACKs first", PRIORITY)):
        scenario = bulk("802.11b", count=10, direction="upload", limit=10, mac=mac, duration=20)
        both[way] = simulate(scenario, replications=REPLICATIONS), real(scenario)
    return both


class Windows:
    """The congestion windows of the server's senders, as `ss` prints them."""

    def __init__(self) -> None:
        self.times_s: list[float] = []
        self.segments: list[int] = []

    def __call__(self, network: Network, air: Carrier) -> None:
        """Poll the connection that has sent most, ten times a second."""
        now_s = air.now_s
        if self.times_s and now_s < self.times_s[-1] + LOOK_EVERY_S:
            return
        command = network.inside("server", ["ss", "-tinHO"])
        shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        found = [
            (int(sent[1]), int(window[1]))
            for line in shown.splitlines()
            if (sent := re.search(r"bytes_sent:(\d+)", line))
            and (window := re.search(r"\bcwnd:(\d+)", line))
        ]
        if found:
            self.times_s.append(now_s)
            self.segments.append(max(found)[1])


@cache
def windows_by_congestion() -> dict[str, tuple[SimulationResult, TestbedResult, Windows]]:
    """Run one download through a queue of 50 packets with each congestion control."""
    all_of = {}
    for congestion in ("reno", "cubic", "bbr1"):
        scenario = bulk("802.11g", congestion=congestion, limit=50, duration=20, path=PATH)
        simulated = simulate(scenario, replications=1, trace=True, trace_interval_s=LOOK_EVERY_S)
        runs: list[tuple[TestbedResult, Windows]] = []
        while len(runs) < MOST_RUNS and not (runs and runs[-1][0].lag.trusted):
            seen = Windows()
            runs.append((measured_with_load(scenario, watch=seen), seen))
        best = min(runs, key=lambda run: (not run[0].lag.trusted, run[0].lag.share_above))
        all_of[congestion] = simulated, *best
    return all_of


def traced(result: SimulationResult) -> tuple[list[float], list[float]]:
    """Return times, and congestion windows in segments, from a trace."""
    trace = result.simulation.runs[0].trace
    tcp = result.scenario.flows[0].tcp
    assert trace is not None
    assert tcp is not None
    flow = trace.flow(trace.flow_names[0])
    segments = np.asarray(flow.cwnd_bytes) / tcp.mss_bytes
    return list(flow.time_s), list(segments)


def alone_scenario() -> Scenario:
    """Return paper H's downloads with so few arrivals that they never overlap."""
    return load(PAPER_H / "downloads.toml").vary(
        {
            **LINUX,
            "flows.client.application.interarrival": "1 s",
            "flows.client.application.size": "200 kB",
            "run.warmup": "4 s",
            "run.duration": "20 s",
        }
    )


@cache
def paper_h() -> Bench:
    """Open paper H's bench."""
    return Bench(PAPER_H, RUNS, Settings(threads=1))


@cache
def real_points() -> list[RealPoint]:
    """Measure two size distributions at three loads, and files of 1 MB at one."""
    places = [(law, place) for law in REAL_LAWS for place in REAL_PLACES]
    places.append(("deterministic", STATED))
    return [measured_point(paper_h(), law, place) for law, place in places]
