"""Make the tables and pictures of testbed.md: the kernel's TCP compared with the simulation.

Scenarios and runs are those of validation/testbed. The testbed uses real time and a real kernel,
so every run gives different numbers, worse ones on a busy machine. Each row has the lateness of
packets, whether to trust the run, and the load of the machine. Nothing is made if the machine
does not support a testbed. Paper H's downloads are those of `airtcp reproduce H`, stored in
out/reproduce like them.

    .venv/bin/python docs/make_testbed.py             # half an hour, on an idle machine
    .venv/bin/python docs/make_testbed.py transfers   # one of the tables
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import tables
from airtcp import simulate
from airtcp.exceptions import QuestionError
from airtcp.present import drawing
from airtcp.results import SimulationResult, TestbedResult
from airtcp.testbed.bench import measure
from airtcp_papers.common.measure import changed
from airtcp_papers.hoekstra.real import large, means, numbers, tails
from airtcp_papers.hoekstra.testbed import observe, service_s

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "accuracy.md"
PAPER_H = ROOT / "docs" / "papers" / "paper-h.md"
PICTURE = ROOT / "docs" / "images" / "testbed-uploads.png"
WINDOWS = ROOT / "docs" / "images" / "testbed-windows.png"
SEQUENCES = ROOT / "docs" / "images" / "testbed-sequences.png"

sys.path.insert(0, str(ROOT / "validation"))
from testbed import pictures  # noqa: E402
from testbed.runs import (  # noqa: E402
    ACTIVE,
    LOADS,
    MOST_RUNS,
    MSS_BYTES,
    REPLICATIONS,
    airtime,
    alone_scenario,
    bulk,
    mean,
    measured_with_load,
    paper_h,
    rates,
    real,
    real_points,
    traced,
    uploads_by_way,
    windows_by_congestion,
)

_WARMUP_S = 3.0
_KEEPING_UP_S = 8
_START_S = 0.4

#: The heading of the last three cells of each row.
LATENESS = ["99 % of packets late by at most", "load", ""]
NOTHING = [""] * len(LATENESS)


def lateness(result: TestbedResult) -> list[str]:
    """Return the last three cells of a row."""
    lag = result.lag
    late = "–" if lag.p99_s is None else f"{1e6 * lag.p99_s:.0f} us"
    return [late, f"{LOADS[id(result)]:.1f}", "trusted" if lag.trusted else "not trusted"]


def over(one: float, other: float) -> str:
    """Return the relative difference in percent."""
    return f"{100 * (one / other - 1):+.1f} %"


def goodput() -> str:
    """List endless downloads."""
    rows = []
    for standard in ("802.11b", "802.11g"):
        for congestion in ("reno", "cubic"):
            for count in (1, 10):
                scenario = bulk(standard, count=count, congestion=congestion, duration=20)
                simulated = simulate(scenario, replications=REPLICATIONS)
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


def uploads() -> str:
    """List and draw the goodput shares of ten uploads."""
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


def extremes(result: TestbedResult | SimulationResult) -> tuple[float, float]:
    """Return the minimum and maximum goodput in the first run, in b/s."""
    all_of = rates(result)
    return 1e6 * all_of[0], 1e6 * all_of[-1]


def aggregates() -> str:
    """List one download in A-MPDUs, with and without GRO at the station."""
    scenario = bulk("802.11n", limit=1000)
    simulated = simulate(scenario, replications=REPLICATIONS)

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


def windows() -> str:
    """List windows, losses and goodput, and draw windows over time."""
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
    """Draw the start of the same downloads from both captures, if tshark is installed."""
    if shutil.which("tshark") is None:
        return
    both = {}
    with TemporaryDirectory() as folder:
        for congestion, (simulated, _, _) in windows_by_congestion().items():
            start = simulated.scenario.with_run(warmup_ns=0, duration_ns=1_000_000_000)
            air, nodes = Path(folder, "air.pcap"), Path(folder, "nodes.pcapng")
            simulate(start, replications=1, pcap=air)
            measure(start, pcap=nodes)
            seen = (pictures.arrivals(one, MSS_BYTES) for one in (air, nodes))
            both[congestion] = next(seen), next(seen)
    pictures.draw_arrivals(both, _START_S, SEQUENCES)


def keeping_up() -> str:
    """List the lateness of packets in the best of three runs with one download per station."""
    rows = []
    for standard, count in ACTIVE.items():
        scenario = bulk(standard, count=count, duration=_KEEPING_UP_S)
        runs = [measured_with_load(scenario) for _ in range(MOST_RUNS)]
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
    """List downloads of paper H's testbed that do not overlap."""
    scenario = alone_scenario()
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
    """List and draw paper H's downloads by models, simulation and testbed."""
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


def _percent_above(base: float, value: float) -> float:
    return 100 * (value / base - 1)


def acks() -> str:
    """List paper H's refined model with the ACK ratio counted on the testbed."""
    rows = []
    for one in real_points():
        point, counted = one.point, one.packets
        # As often as the scenario file says.
        by_paper = observe(paper_h(), point.law, point.gap_s, varied={}).over_model
        refined_s = one.refined_s()
        over = changed(one.mean_s, partial(_percent_above, refined_s))
        rows.append(
            [
                point.law,
                f"{point.gap_s:.2f} s",
                str(counted.transfers),
                f"{counted.segments_per_ack:.2f}",
                f"{counted.further:.1f}",
                f"{point.model_s:.2f} s",
                f"{refined_s:.2f} s",
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
    "testbed-keeping-up": keeping_up,
    "testbed-goodput": goodput,
    "testbed-uploads": uploads,
    "testbed-aggregates": aggregates,
    "testbed-windows": windows,
    "testbed-alone": alone,
    "testbed-transfers": transfers,
    "testbed-acks": acks,
}
PAGES = dict.fromkeys(("testbed-alone", "testbed-transfers", "testbed-acks"), PAPER_H)

if __name__ == "__main__":
    try:
        for one in sys.argv[1:] or TABLES:
            tables.remake(PAGES.get(one, PAGE), TABLES, [one])
    except QuestionError as error:
        print(f"the tables of the testbed stay as they are: {error}", file=sys.stderr)
