"""The answers of models for several cells, beside the simulation of random floors and rows of ns-3.

TCP in a cell that starves is further off than any bound, which the answer says of itself.
"""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest
from airtcp.predict import predict
from airtcp.scenario import Scenario
from cells.floors import drawn, scenario
from cells.rows import NS3

ROWS = Path(__file__).parents[1] / "reference" / "random_floors.csv"
#: The part of what it has alone below which a cell starves.
STARVED = 0.2
ALONE_BPS = {"udp": 29.93e6, "tcp": 24.68e6}


def of_cells(of: Scenario) -> list[float]:
    """The best goodputs of cells, in b/s."""
    best = predict(of).best("cell_goodput_bps")
    assert best is not None
    assert isinstance(best.value, list)
    return best.value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pair udp down", 15.12e6),
        ("pair tcp down", 12.55e6),
        ("ring4 tcp down", 11.8e6),
    ],
)
def test_rows_of_ns3_are_met_by_cells_that_do_not_starve(name: str, expected: float) -> None:
    run = {"warmup": "1 s", "duration": "1 s", "replications": 1}
    said = of_cells(scenario(name, **run))
    theirs = [
        row.mean
        for row in NS3
        if row.scenario == name and row.metric.startswith("flow_goodput_bps")
    ]

    assert said[0] == pytest.approx(expected, rel=0.02)
    assert said == pytest.approx(theirs, rel=0.05)


@pytest.mark.parametrize("kind", ["udp", "tcp"])
def test_random_floors(kind: str) -> None:
    within, beyond, named = [], [], []
    with ROWS.open(encoding="utf-8", newline="") as file:
        floors = itertools.groupby(csv.DictReader(file), key=lambda row: row["floor"])
        for number, cells in floors:
            rows = list(cells)
            name = f"floor {number}: {len(rows)} cells, who hears whom: {rows[0]['heard']}"
            run = {"warmup": "1 s", "duration": "1 s", "replications": 1}
            for value, row in zip(of_cells(drawn(name, kind, **run)), rows, strict=True):
                simulated = float(row[f"{kind}_bps"])
                starves = simulated < STARVED * ALONE_BPS[kind]
                named.append((value < STARVED * ALONE_BPS[kind]) == starves)
                if not starves:
                    error = abs(value / simulated - 1.0)
                    within.append(error <= 0.05)
                    beyond.append(error)

    assert len(named) == 326
    assert sum(named) >= 0.95 * len(named)
    # Neighbours of cells in which TCP gives up get more than the chain has left for them.
    assert sum(within) >= (0.99 if kind == "udp" else 0.86) * len(within)
    assert max(beyond) < (0.06 if kind == "udp" else 0.105)
