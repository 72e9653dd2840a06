"""airtcp beside ns-3 over several cells: three in a row with a download each, 20 of ten downloads.

ns-3 is `validation/ns3/cells.cc`; airtcp plays the floors of `instructions.py` with ns-3's rules
and the TCP of the rows in `validation/cells`. CPU time, user and system, of a longer run less that
of a shorter one, so that neither set-up nor warm-up counts, in turns; and what both say of the
cells.

    sh validation/ns3/build.sh
    .venv/bin/python benches/several_cells.py            # minutes
    .venv/bin/python benches/several_cells.py --write    # and put the table into README.md

Knows what is measured and how; judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

import airtcp
from airtcp.scenario import Scenario, loads
from instructions import ROOT, floor
from readme import processor, replace
from side_by_side import child

NS3 = ROOT / "validation" / "ns3" / "cells"
#: Seconds after which airtcp is measured, and for how long: the shorter run, and the longer.
WARMUP_S, OURS_S = 2, (10, 110)
REPLICATIONS = 10
#: A cell with less starves.
STARVES_BPS = 1e6
#: Of so many cells each is told.
MOST_NAMED = 3

TCP = {
    "variant": "sack",
    "mss": "1448 B",
    "timestamps": True,
    "header_bits": 320,
    "receive_window": {"segments": 64},
    "delayed_ack": {"every": 2, "timeout": "40 ms"},
    "initial_window": 10,
    "min_rto": "200 ms",
}


class Floor(NamedTuple):
    """A floor, and for how many seconds ns-3 is measured: the shorter run, and the longer."""

    name: str
    rows: int
    columns: int
    stations: int
    theirs_s: tuple[float, float]
    runs: int


FLOORS = (
    Floor("three cells in a row, a download each", 1, 3, 1, (1.0, 6.0), 3),
    Floor("20 cells of ten downloads", 4, 5, 10, (0.5, 2.0), 1),
)


def scenario(of: Floor, duration_s: float, replications: int) -> Scenario:
    """The floor as airtcp plays it beside ns-3."""
    one = loads(floor(of.rows, of.columns, of.stations))
    cells = range(of.rows * of.columns)
    return one.vary(
        {
            "phy.control_rate": "24 Mb/s",
            "mac.rules.preset": "ns-3",
            "mac.short_retry_limit": 7,
            "ap.queue.limit": 1000,
            **{f"stations.laptop{cell}.queue.limit": 1000 for cell in cells},
            **{
                f"flows.laptop{cell}.tcp.{key}": value
                for cell in cells
                for key, value in TCP.items()
            },
            "run.warmup": f"{WARMUP_S} s",
            "run.duration": f"{duration_s} s",
            "run.replications": replications,
        }
    )


def ns3(of: Floor, measured_s: float, run: int) -> tuple[list[float], float]:
    """The goodput of each cell in ns-3 in bit/s, and the CPU seconds."""
    said, cpu_s = child(
        [
            str(NS3),
            f"--rows={of.rows}",
            f"--columns={of.columns}",
            f"--stations={of.stations}",
            f"--seconds={measured_s}",
            f"--run={run}",
        ]
    )
    return [1e6 * one for one in json.loads(said)], cpu_s


def ours(of: Floor, measured_s: float) -> float:
    """The CPU seconds of a run of airtcp, without those of each cell alone."""
    return airtcp.simulate(scenario(of, measured_s, 1)).simulation.cpu_s


def told(runs: Sequence[Sequence[float]]) -> str:
    """The goodput of each cell in the mean of runs; of many their sum, and how many starve."""
    cells = [fmean(one) for one in zip(*runs, strict=True)]
    if len(cells) <= MOST_NAMED:
        return " / ".join(f"{one / 1e6:.2f}" for one in cells)
    starving = sum(one < STARVES_BPS for one in cells)
    return f"{sum(cells) / 1e6:.0f} together, {starving} of them below {STARVES_BPS / 1e6:.0f}"


def main() -> None:
    """Measure, print, and replace the table if asked to."""
    parser = argparse.ArgumentParser(description="Measure airtcp beside ns-3 over several cells")
    parser.add_argument("--write", action="store_true", help="replace the table of README.md")
    args = parser.parse_args()
    if not NS3.exists():
        sys.exit("ns-3's cells are not here: sh validation/ns3/build.sh")
    load = os.getloadavg()[0]
    rows = [
        "| floor | ns-3, Mb/s | airtcp, Mb/s | ns-3, CPU of a simulated second | airtcp | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for of in FLOORS:
        short, long = of.theirs_s
        said, theirs_s, ours_s = [], [], []
        for run in range(1, of.runs + 1):
            cells, long_s = ns3(of, long, run)
            _, short_s = ns3(of, short, run)
            said.append(cells)
            theirs_s.append((long_s - short_s) / (long - short))
            ours_s.append((ours(of, OURS_S[1]) - ours(of, OURS_S[0])) / (OURS_S[1] - OURS_S[0]))
        done = airtcp.simulate(scenario(of, OURS_S[0], REPLICATIONS)).simulation
        mine = [cell.goodput_bps.mean or 0.0 for cell in done.cells.values()]
        cpu = (fmean(theirs_s), fmean(ours_s))
        rows.append(
            f"| {of.name} | {told(said)} | {told([mine])} | {cpu[0]:.2f} s | {1e3 * cpu[1]:.2f} ms "
            f"| **{cpu[0] / cpu[1]:.0f} times** |"
        )
        print("\n".join(rows), flush=True)
    if args.write:
        replace("cells beside ns-3", f"{processor()}, load {load:.1f}.\n\n" + "\n".join(rows))


if __name__ == "__main__":
    main()
