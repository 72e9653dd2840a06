"""Make the tables and pictures of docs/testbed.md: the kernel's TCP beside the simulation.

Knows the scenarios and what is beside what. Real time and a real kernel: whoever runs this gets
other numbers, and on a busy machine worse ones. Each row says how late packets were and whether
that is to be trusted; of at most three runs of a row the first that is counts, or else the one that
was least late: what it says of TCP does not choose. Beside it is the load of the machine, which has
other work. Where there can be no testbed, nothing is made. Paper H's downloads are those of
`airtcp reproduce H`, and are kept in out/reproduce as those are.

    .venv/bin/python docs/make_testbed.py             # half an hour, on an idle machine
    .venv/bin/python docs/make_testbed.py transfers   # one of the tables
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import airtcp.reproduce
import numpy as np
import tables
import testbed_pictures as pictures
from airtcp import simulate
from airtcp.exceptions import QuestionError
from airtcp.present import drawing
from airtcp.reproduce.bench import Bench, Settings
from airtcp.reproduce.hoekstra.real import large, means, numbers, tails
from airtcp.reproduce.hoekstra.real_points import LINUX, REAL_LAWS, REAL_PLACES, RealPoint
from airtcp.reproduce.hoekstra.real_points import measured as measured_point
from airtcp.reproduce.hoekstra.testbed import STATED, observe, service_s
from airtcp.reproduce.measure import changed
from airtcp.results import SimulationResult, TestbedResult
from airtcp.scenario import Scenario, loads
from airtcp.scenario.load import load
from airtcp.testbed.bench import measure
from airtcp.testbed.carrier import Carrier
from airtcp.testbed.network import Network

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "testbed.md"
PICTURE = ROOT / "docs" / "images" / "testbed-uploads.png"
WINDOWS = ROOT / "docs" / "images" / "testbed-windows.png"
SEQUENCES = ROOT / "docs" / "images" / "testbed-sequences.png"
PAPER_H = Path(airtcp.reproduce.__file__).parent / "hoekstra"
RUNS = ROOT / "out" / "reproduce" / "runs"

_MOST_RUNS = 3
_WARMUP_S = 3.0
_KEEPING_UP_S = 8
_LOOK_EVERY_S = 0.1
_START_S = 0.4
#: Of the preset, with timestamps.
_MSS_BYTES = 1448
_REPLICATIONS = 5

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
#: Between the access point and the server.
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
    """Endless transfers of the kernel's TCP."""
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


#: Processes that ran or waited for a processor, on average over the last minute of each run.
LOADS: dict[int, float] = {}


def measured_with_load(scenario: Scenario, **options: Any) -> TestbedResult:
    """A run, and how busy the machine was with it."""
    result = measure(scenario, **options)
    LOADS[id(result)] = os.getloadavg()[0]
    _ALL.append(result)
    return result


#: Results are kept, so that no two have one name.
_ALL: list[TestbedResult] = []


def real(scenario: Scenario, *, gro: bool = False) -> TestbedResult:
    """The first run that is to be trusted, or the least late of three."""
    runs: list[TestbedResult] = []
    while len(runs) < _MOST_RUNS and not (runs and runs[-1].lag.trusted):
        runs.append(measured_with_load(scenario, gro=gro))
    return min(runs, key=lambda run: (not run.lag.trusted, run.lag.share_above))


#: The head of the last three cells of each row.
LATENESS = ["99 % of packets late by at most", "load", ""]
NOTHING = [""] * len(LATENESS)


def lateness(result: TestbedResult) -> list[str]:
    """The last three cells of each row."""
    lag = result.lag
    late = "–" if lag.p99_s is None else f"{1e6 * lag.p99_s:.0f} us"
    return [late, f"{LOADS[id(result)]:.1f}", "trusted" if lag.trusted else "not trusted"]


def mean(result: TestbedResult | SimulationResult, metric: str) -> float:
    """The mean of a metric that has one."""
    value = result.metrics[metric].mean
    assert value is not None
    return value


def over(one: float, other: float) -> str:
    """How far one is above the other."""
    return f"{100 * (one / other - 1):+.1f} %"


def goodput() -> str:
    """Endless downloads."""
    rows = []
    for standard in ("802.11b", "802.11g"):
        for congestion in ("reno", "cubic"):
            for count in (1, 10):
                scenario = bulk(standard, count=count, congestion=congestion, duration=20)
                simulated = simulate(scenario, replications=_REPLICATIONS)
                measured = real(scenario)
                interval = simulated.metrics["goodput_bps"]
                rows.append(
                    [
                        standard,
                        congestion,
                        str(count),
                        f"{tables.shown(interval, 2, 1e6)} Mb/s",
                        f"{mean(measured, 'goodput_bps') / 1e6:.2f} Mb/s",
                        over(mean(measured, "goodput_bps"), mean(simulated, "goodput_bps")),
                        *lateness(measured),
                    ]
                )
    head = ["standard", "TCP", "downloads", "simulation", "testbed", "difference"]
    return tables.markdown([*head, *LATENESS], rows)


@cache
def uploads_by_way() -> dict[str, tuple[SimulationResult, TestbedResult]]:
    """Ten uploads, whose ACKs wait in a short queue of the access point."""
    both = {}
    for way, mac in (("DCF", ""), ("TCP ACKs first", PRIORITY)):
        scenario = bulk("802.11b", count=10, direction="upload", limit=10, mac=mac, duration=20)
        both[way] = simulate(scenario, replications=_REPLICATIONS), real(scenario)
    return both


def uploads() -> str:
    """Who gets what of ten uploads, and the picture of it."""
    rows = []
    for way, (simulated, measured) in uploads_by_way().items():
        for name, result in (("simulation", simulated), ("testbed", measured)):
            jain = result.metrics["jain_index"]
            least, most = extremes(result)
            rows.append(
                [
                    way,
                    name,
                    f"{jain.mean:.2f}" if jain.half_width is None else tables.shown(jain, 2),
                    f"{mean(result, 'goodput_bps') / 1e6:.2f} Mb/s",
                    f"{least / 1e3:.0f} kb/s",
                    f"{most / 1e3:.0f} kb/s",
                    f"{100 * airtime(result)['tcp_ack']:.1f} %",
                    *(lateness(result) if isinstance(result, TestbedResult) else NOTHING),
                ]
            )
    pairs = {way: (rates(one), rates(other)) for way, (one, other) in uploads_by_way().items()}
    pictures.draw_uploads(pairs, PICTURE)
    head = ["MAC", "of", "Jain index", "goodput", "least upload", "largest upload"]
    head.append("airtime of TCP ACKs")
    return tables.markdown([*head, *LATENESS], rows)


def rates(result: TestbedResult | SimulationResult) -> list[float]:
    """The goodput of each upload in the first run, in Mb/s, least first."""
    simulation = result.testbed if isinstance(result, TestbedResult) else result.simulation
    return sorted(flow["goodput_bps"] / 1e6 for flow in simulation.runs[0].answer["flows"])


def extremes(result: TestbedResult | SimulationResult) -> tuple[float, float]:
    """The least and the largest goodput in the first run, in b/s."""
    all_of = rates(result)
    return 1e6 * all_of[0], 1e6 * all_of[-1]


def aggregates() -> str:
    """One download in A-MPDUs, with a station that merges what comes together and one that not."""
    scenario = bulk("802.11n", limit=1000)
    simulated = simulate(scenario, replications=_REPLICATIONS)

    def row(name: str, result: TestbedResult | SimulationResult) -> list[str]:
        numbers = [
            f"{mean(result, 'goodput_bps') / 1e6:.1f} Mb/s",
            f"{mean(result, 'mpdus_per_ppdu_ap'):.1f}",
            f"{100 * airtime(result)['tcp_ack']:.1f} %",
        ]
        late = lateness(result) if isinstance(result, TestbedResult) else NOTHING
        return [name, *numbers, *late]

    rows = [row("simulation", simulated)]
    rows += [
        row(f"testbed, GRO {word}", real(scenario, gro=gro))
        for word, gro in (("off", False), ("on", True))
    ]
    head = ["of", "goodput", "MPDUs of a PPDU of the access point", "airtime of TCP ACKs"]
    return tables.markdown([*head, *LATENESS], rows)


def airtime(result: TestbedResult | SimulationResult) -> Mapping[str, float]:
    """Shares of the measured time."""
    simulation = result.testbed if isinstance(result, TestbedResult) else result.simulation
    return simulation.airtime


class Windows:
    """Congestion windows of the server's senders, as `ss` tells them."""

    def __init__(self) -> None:
        self.times_s: list[float] = []
        self.segments: list[int] = []

    def __call__(self, network: Network, air: Carrier) -> None:
        """Look at the connection that has sent most, ten times a second."""
        now_s = air.now_s
        if self.times_s and now_s < self.times_s[-1] + _LOOK_EVERY_S:
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
    """One download through a queue of 50 packets, of each congestion control."""
    all_of = {}
    for congestion in ("reno", "cubic", "bbr1"):
        scenario = bulk("802.11g", congestion=congestion, limit=50, duration=20, path=PATH)
        simulated = simulate(scenario, replications=1, trace=True, trace_interval_s=_LOOK_EVERY_S)
        runs: list[tuple[TestbedResult, Windows]] = []
        while len(runs) < _MOST_RUNS and not (runs and runs[-1][0].lag.trusted):
            seen = Windows()
            runs.append((measured_with_load(scenario, watch=seen), seen))
        best = min(runs, key=lambda run: (not run[0].lag.trusted, run[0].lag.share_above))
        all_of[congestion] = simulated, *best
    return all_of


def windows() -> str:
    """Windows, losses and goodput, and the picture of windows over time."""
    rows = []
    for congestion, (simulated, measured, seen) in windows_by_congestion().items():
        times_s, segments = traced(simulated)
        for name, result, at_s, sizes in (
            ("simulation", simulated, times_s, segments),
            ("Linux", measured, seen.times_s, seen.segments),
        ):
            later = [size for at, size in zip(at_s, sizes, strict=True) if at >= _WARMUP_S]
            rows.append(
                [
                    congestion,
                    name,
                    f"{np.mean(later):.0f}",
                    f"{min(later):.0f} to {max(later):.0f}",
                    f"{mean(result, 'goodput_bps') / 1e6:.1f} Mb/s",
                    f"{1e3 * mean(result, 'rtt_s'):.1f} ms",
                    *(lateness(result) if isinstance(result, TestbedResult) else NOTHING),
                ]
            )
    lines = {
        congestion: (traced(simulated), (seen.times_s, seen.segments))
        for congestion, (simulated, _, seen) in windows_by_congestion().items()
    }
    pictures.draw_windows(lines, WINDOWS)
    draw_sequences()
    head = ["TCP", "of", "mean window (segments)", "least to largest", "goodput", "round trip"]
    return tables.markdown([*head, *LATENESS], rows)


def draw_sequences() -> None:
    """The first moments of the same downloads, by captures of both; nothing without tshark."""
    if shutil.which("tshark") is None:
        return
    both = {}
    with TemporaryDirectory() as folder:
        for congestion, (simulated, _, _) in windows_by_congestion().items():
            start = simulated.scenario.with_run(warmup_ns=0, duration_ns=1_000_000_000)
            air, nodes = Path(folder, "air.pcap"), Path(folder, "nodes.pcapng")
            simulate(start, replications=1, pcap=air)
            measure(start, pcap=nodes)
            seen = (pictures.arrivals(one, _MSS_BYTES) for one in (air, nodes))
            both[congestion] = next(seen), next(seen)
    pictures.draw_arrivals(both, _START_S, SEQUENCES)


def traced(result: SimulationResult) -> tuple[list[float], list[float]]:
    """Times, and congestion windows in segments."""
    trace = result.simulation.runs[0].trace
    tcp = result.scenario.flows[0].tcp
    assert trace is not None
    assert tcp is not None
    flow = trace.flow(trace.flow_names[0])
    segments = np.asarray(flow.cwnd_bytes) / tcp.mss_bytes
    return list(flow.time_s), list(segments)


#: Active stations that a machine with two cores should keep up with, by standard.
ACTIVE: Mapping[str, int] = {"802.11b": 10, "802.11g": 5, "802.11n": 3}


def keeping_up() -> str:
    """How late packets are: the best of three runs, each with a download for every station."""
    rows = []
    for standard, count in ACTIVE.items():
        scenario = bulk(standard, count=count, duration=_KEEPING_UP_S)
        runs = [measured_with_load(scenario) for _ in range(_MOST_RUNS)]
        best = min(runs, key=lambda run: run.lag.share_above)
        lag = best.lag
        assert lag.p50_s is not None
        rows.append(
            [
                standard,
                str(count),
                f"{mean(best, 'goodput_bps') / 1e6:.1f} Mb/s",
                f"{lag.packets / (_WARMUP_S + _KEEPING_UP_S):.0f}",
                f"{1e6 * lag.p50_s:.0f} us",
                f"{1e3 * lag.max_s:.1f} ms",
                f"{100 * lag.share_above:.2f} %",
                *lateness(best),
            ]
        )
    head = ["standard", "active stations", "goodput", "packets in a second"]
    head += ["half of them late by at most", "the latest", "later than 500 us"]
    return tables.markdown([*head, *LATENESS], rows)


def alone() -> str:
    """Downloads of paper H's test bed that meet no other."""
    scenario = load(PAPER_H / "downloads.toml").vary(
        {
            **LINUX,
            "flows.client.application.interarrival": "1 s",
            "flows.client.application.size": "200 kB",
            "run.warmup": "4 s",
            "run.duration": "20 s",
        }
    )
    rows = []
    for name, result in (
        ("simulation", simulate(scenario, replications=1)),
        ("testbed", real(scenario)),
    ):
        part = result.testbed if isinstance(result, TestbedResult) else result.simulation
        counts = part.counts
        rows.append(
            [
                name,
                str(counts["transfers"]),
                f"{1e3 * mean(result, 'transfer_time_s'):.0f} ms",
                f"{counts['tcp_segments'] / counts['transfers']:.0f}",
                f"{counts['tcp_retransmissions'] / counts['transfers']:.1f}",
                f"{100 * airtime(result)['tcp_ack']:.1f} %",
                *(lateness(result) if isinstance(result, TestbedResult) else NOTHING),
            ]
        )
    head = ["of", "transfers", "mean time", "TCP segments of a transfer", "of them sent again"]
    return tables.markdown([*head, "airtime of TCP ACKs", *LATENESS], rows)


def transfers() -> str:
    """Paper H's downloads: models, a simulation of hours, and the testbed; and the pictures."""
    rows = []
    for one in real_points():
        law = one.point.law
        ratio = changed(one.over_simulation, lambda over: 100 * (over - 1))
        basic = service_s(law, model="basic", beacons=False)
        rows.append(
            [
                law,
                f"{one.point.gap_s:.2f} s",
                f"{one.point.rho:.2f}",
                f"{basic / (1 - basic / one.point.gap_s):.2f} s",
                f"{one.point.model_s:.2f} s",
                f"{tables.shown(one.point.adjusted, 2)} s",
                f"{tables.shown(one.mean_s, 2)} s",
                f"{tables.shown(ratio, 1)} %",
                f"{1e6 * one.late_p99_s:.0f} us",
                f"{one.trusted} of {len(one.runs)} trusted",
            ]
        )
    figures = (("means", means), ("tails", tails), ("tail-1-MB", large), ("number", numbers))
    for stem, make in figures:
        figure = make(paper_h()).figure
        assert figure is not None
        picture = ROOT / "docs" / "images" / f"testbed-{stem}.png"
        picture.write_bytes(drawing.png(figure))
    head = ["sizes", "1/lambda", "load", "basic model", "refined model", "simulation", "testbed"]
    head += ["testbed over simulation of its transfers", LATENESS[0], ""]
    return tables.markdown(head, rows)


@cache
def paper_h() -> Bench:
    """The bench of paper H."""
    return Bench(PAPER_H, RUNS, Settings(threads=1))


@cache
def real_points() -> list[RealPoint]:
    """Two laws at three loads, and files of 1 MB at one."""
    places = [(law, place) for law in REAL_LAWS for place in REAL_PLACES]
    places.append(("deterministic", STATED))
    return [measured_point(paper_h(), law, place) for law, place in places]


def acks() -> str:
    """Paper H's refined model with as many ACKs as were counted on the testbed."""
    rows = []
    for one in real_points():
        point, counted = one.point, one.packets
        # As often as the file says.
        by_paper = observe(paper_h(), point.law, point.gap_s, varied={}).over_model
        over = changed(one.mean_s, lambda s, one=one: 100 * (s / one.refined_s() - 1))
        rows.append(
            [
                point.law,
                f"{point.gap_s:.2f} s",
                str(counted.transfers),
                f"{counted.segments_per_ack:.2f}",
                f"{counted.further:.1f}",
                f"{point.model_s:.2f} s",
                f"{one.refined_s():.2f} s",
                f"{tables.shown(one.mean_s, 2)} s",
                f"{tables.shown(over, 1)} %",
                f"{tables.shown(changed(by_paper, lambda over: 100 * (over - 1)), 1)} %",
                f"{one.trusted} of {len(one.runs)} trusted",
            ]
        )
    head = ["sizes", "1/lambda", "transfers", "segments for each ACK", "further packets"]
    head += ["refined model", "with these", "testbed", "testbed over that"]
    head += ["simulation with the paper's TCP over the refined model", ""]
    return tables.markdown(head, rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "keeping-up": keeping_up,
    "goodput": goodput,
    "uploads": uploads,
    "aggregates": aggregates,
    "windows": windows,
    "alone": alone,
    "transfers": transfers,
    "acks": acks,
}

if __name__ == "__main__":
    try:
        for one in sys.argv[1:] or TABLES:
            tables.remake(PAGE, TABLES, [one])
    except QuestionError as error:
        print(f"docs/testbed.md stays as it is: {error}", file=sys.stderr)
