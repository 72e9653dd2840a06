"""Model predictions for several cells against simulated random floors and rows of ns-3.

TCP in a starving cell can be off by more than any bound, and the prediction says so.
"""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest
from airtcp.extensions import verbs
from airtcp.predict import predict
from airtcp.scenario import Scenario
from cells.floors import drawn, scenario
from cells.rows import NS3

ROWS = Path(__file__).parents[1] / "reference"
#: A cell starves below this fraction of its isolated goodput.
STARVED = 0.2
ALONE_BPS = {"udp": 29.93e6, "tcp": 24.78e6}


def of_cells(of: Scenario) -> list[float]:
    """Return the best goodputs of cells, in b/s; with TCP this needs models of airtcp-papers."""
    if not verbs() and any(flow.tcp is not None for flow in of.flows):
        pytest.skip("airtcp-papers is not installed")
    best = predict(of).best("cell_goodput_bps")
    assert isinstance(best.value, list)
    return best.value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pair udp down", 15.12e6),
        ("pair tcp down", 12.55e6),
        ("ring4 tcp down", 12.05e6),
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


@pytest.mark.parametrize(
    ("file", "rules", "kind", "count", "share", "most"),
    [
        # Floors that the chain and TCP formula were developed on, and floors not seen before.
        pytest.param("random_floors.csv", "ns-3", "udp", 326, 0.99, 0.05, marks=pytest.mark.verify),
        pytest.param(
            "random_floors.csv", "ns-3", "tcp", 326, 0.99, 0.085, marks=pytest.mark.verify
        ),
        ("random_floors_31007.csv", "ns-3", "udp", 328, 0.99, 0.06),
        pytest.param(
            "random_floors_31007.csv", "ns-3", "tcp", 328, 0.99, 0.05, marks=pytest.mark.verify
        ),
        # Nodes that hear a collision wait longer than its senders, which the chain does not model.
        ("random_floors_standard.csv", "standard", "udp", 328, 0.97, 0.085),
        ("random_floors_standard.csv", "standard", "tcp", 328, 0.9, 0.11),
    ],
)
def test_random_floors(
    file: str, rules: str, kind: str, count: int, share: float, most: float
) -> None:
    within, beyond, named = [], [], []
    with (ROWS / file).open(encoding="utf-8", newline="") as stored:
        floors = itertools.groupby(csv.DictReader(stored), key=lambda row: row["floor"])
        for number, cells in floors:
            rows = list(cells)
            name = f"floor {number}: {len(rows)} cells, who hears whom: {rows[0]['heard']}"
            run = {"warmup": "1 s", "duration": "1 s", "replications": 1}
            floor = drawn(name, kind, **run).vary({"mac.rules.preset": rules})
            for value, row in zip(of_cells(floor), rows, strict=True):
                simulated = float(row[f"{kind}_bps"])
                starves = simulated < STARVED * ALONE_BPS[kind]
                named.append((value < STARVED * ALONE_BPS[kind]) == starves)
                if not starves:
                    error = abs(value / simulated - 1.0)
                    within.append(error <= 0.05)
                    beyond.append(error)

    assert len(named) == count
    assert sum(named) >= 0.95 * len(named)
    assert sum(within) >= share * len(within)
    assert max(beyond) < most
