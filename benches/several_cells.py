"""Compare airtcp with ns-3 on several cells: three in a row, and 20 of ten downloads each.

ns-3 runs `validation/ns3/cells.cc`; airtcp runs the floors of `instructions.py` with ns-3's rules
and the TCP settings of `validation/cells`. CPU time (user and system) is that of a longer run minus
that of a shorter one, which removes set-up and warm-up; runs alternate. Goodputs are compared too;
cells that are equivalent by symmetry are averaged. Confidence intervals are over independent runs
of ns-3 (at least three) and over equally long replications of airtcp, because parts of one run of
starving cells are correlated. A single run of ns-3 is checked against the range of airtcp's runs.

    sh validation/ns3/build.sh
    .venv/bin/python benches/several_cells.py            # minutes
    .venv/bin/python benches/several_cells.py --write    # and update the table in README.md
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from math import hypot
from statistics import fmean
from typing import NamedTuple

import airtcp
from airtcp.scenario import Scenario, loads
from airtcp.stats import student_interval
from instructions import ROOT, floor
from office import told
from readme import processor, replace
from side_by_side import child

NS3 = ROOT / "validation" / "ns3" / "cells"
#: Warm-up of airtcp in seconds, and the measured seconds of its shorter and longer run.
WARMUP_S, OURS_S = 2, (10, 110)
#: Of 41 equally distributed runs, the last lies among the others in 39 cases of 41.
REPLICATIONS = 40
#: Fewer runs of ns-3 give no confidence interval.
ENOUGH = 3
#: Offset between flow starts in ns-3, and the range of random starts per flow in airtcp.
APART_MS = 10

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
    """A floor, and the measured seconds of ns-3's shorter and longer run."""

    name: str
    rows: int
    columns: int
    stations: int
    theirs_s: tuple[float, float]
    runs: int


class Said(NamedTuple):
    """Goodput of each cell in each run in Mb/s, and CPU seconds per simulated second."""

    theirs: list[list[float]]
    mine: list[list[float]]
    theirs_s: float
    mine_s: float


FLOORS = (
    Floor("three cells in a row, a download each", 1, 3, 1, (0.1, 10.0), 6),
    Floor("20 cells of ten downloads", 4, 5, 10, (0.1, 2.0), 1),
)


def scenario(of: Floor, duration_s: float, replications: int) -> Scenario:
    """Return the floor as airtcp runs it for the comparison."""
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
            **{
                f"flows.laptop{cell}.start_spread": f"{APART_MS * len(cells) * of.stations} ms"
                for cell in cells
            },
            "run.warmup": f"{WARMUP_S} s",
            "run.duration": f"{duration_s} s",
            "run.replications": replications,
        }
    )


def ns3(of: Floor, measured_s: float, run: int) -> tuple[list[float], float]:
    """Return the goodput of each cell in ns-3 in Mb/s, and the CPU seconds."""
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
    cells: list[float] = json.loads(said)
    return cells, cpu_s


def ours(of: Floor, measured_s: float) -> float:
    """Return the CPU seconds of a run of airtcp without per-flow results."""
    return airtcp.simulate(scenario(of, measured_s, 1)).simulation.cpu_s


def measure(of: Floor) -> Said:
    """Run both simulators alternately."""
    short, long = of.theirs_s
    theirs: list[list[float]] = []
    theirs_s, mine_s = [], []
    for run in range(1, of.runs + 1):
        cells, long_s = ns3(of, long, run)
        _, short_s = ns3(of, short, run)
        theirs.append(cells)
        theirs_s.append((long_s - short_s) / (long - short))
        mine_s.append((ours(of, OURS_S[1]) - ours(of, OURS_S[0])) / (OURS_S[1] - OURS_S[0]))
    done = airtcp.simulate(scenario(of, long, REPLICATIONS)).simulation
    mine = [[cell["goodput_bps"] / 1e6 for cell in run.answer["cells"]] for run in done.runs]
    return Said(theirs, mine, fmean(theirs_s), fmean(mine_s))


def alike(of: Floor) -> dict[str, list[int]]:
    """Group the cells by row and column, counted from the nearest edge."""
    found: dict[str, list[int]] = {}
    for row in range(of.rows):
        for column in range(of.columns):
            place = (min(row, of.rows - 1 - row), min(column, of.columns - 1 - column))
            name = f"a cell in row {1 + place[0]}, column {1 + place[1]}"
            found.setdefault(name, []).append(of.columns * row + column)
    return found


def means(cells: Sequence[int], runs: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean over some cells in each run."""
    return [fmean(run[cell] for cell in cells) for run in runs]


def mean_of(runs: Sequence[float]) -> str:
    """Return the mean of runs, and its half width if there are enough runs."""
    if len(runs) < ENOUGH:
        return f"{fmean(runs):.2f}"
    return told(student_interval(runs), 1.0, 2)


def agrees(theirs: Sequence[float], mine: Sequence[float]) -> bool:
    """Return True if the means agree within their intervals, or one run lies among airtcp's."""
    if len(theirs) < ENOUGH:
        return all(min(mine) <= one <= max(mine) for one in theirs)
    a, b = student_interval(theirs), student_interval(mine)
    assert a.mean is not None
    assert b.mean is not None
    assert a.half_width is not None
    assert b.half_width is not None
    return abs(a.mean - b.mean) <= hypot(a.half_width, b.half_width)


def rows(of: Floor, said: Said) -> list[str]:
    """Return the table rows of a floor."""
    return [
        f"| **{of.name}**: CPU time of a simulated second | {said.theirs_s:.2f} s "
        f"| {1e3 * said.mine_s:.2f} ms | **{said.theirs_s / said.mine_s:.0f} times** |",
        *(
            f"| {name}, of {len(cells)}: Mb/s | {mean_of(means(cells, said.theirs))} "
            f"| {mean_of(means(cells, said.mine))} | |"
            for name, cells in alike(of).items()
        ),
    ]


def verdict(of: Floor, said: Said) -> str:
    """Return how many groups of a floor agree."""
    groups = alike(of).values()
    agreed = sum(agrees(means(one, said.theirs), means(one, said.mine)) for one in groups)
    how = (
        "agree within their intervals"
        if of.runs >= ENOUGH
        else f"of ns-3's single run lie among airtcp's {REPLICATIONS} (alike, 95 % would)"
    )
    return f"Of {of.name}: {agreed} of {len(groups)} groups {how}."


def table(said: Sequence[Said], load: float) -> str:
    """Return the rows of all floors, followed by their verdicts."""
    lengths = ", ".join(f"{of.runs} x {of.theirs_s[1]:.0f} s" for of in FLOORS)
    what = f"Runs of ns-3: {lengths}; of airtcp {REPLICATIONS}, as long"
    lines = ["| floor | ns-3 | airtcp | |", "| --- | --- | --- | --- |"]
    lines += [row for of, one in zip(FLOORS, said, strict=True) for row in rows(of, one)]
    below = [verdict(of, one) for of, one in zip(FLOORS, said, strict=True)]
    return "\n".join([f"{what}; {processor()}, load {load:.1f}.", "", *lines, "", *below])


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description="Compare airtcp with ns-3 on several cells")
    parser.add_argument("--write", action="store_true", help="update the table in README.md")
    args = parser.parse_args()
    if not NS3.exists():
        sys.exit("ns-3's cells are not here: sh validation/ns3/build.sh")
    load = os.getloadavg()[0]
    text = table([measure(of) for of in FLOORS], load)
    print(text)
    if args.write:
        replace("cells beside ns-3", text)


if __name__ == "__main__":
    main()
