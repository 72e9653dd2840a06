"""The simulation against the testbed's measurements of five mixed scenarios (testbed.md).

The testbed runs in real time, so its stored rows are used (validation/testbed/mixed.py).
"""

import json
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.stats import student_interval

ROOT = Path(__file__).parents[2] / "validation" / "testbed"
ROWS: dict[str, Any] = json.loads((ROOT / "rows.json").read_text())
#: In these both are equal within 5 %. In the others downloads depend on the few ACKs that get
#: through, and agree within the intervals of both.
CLOSE = ("g-fifo-wire", "ax-fifo-wire", "ax-fq-codel-wire")


@pytest.mark.parametrize("name", ROWS)
def test_each_direction_has_what_the_kernels_tcp_has(name: str) -> None:
    simulated = airtcp.simulate(airtcp.load(ROOT / f"{name}.toml"))
    for direction in ("up", "down"):
        told = simulated.simulation.groups[direction]["all"]["goodput_bps"]
        real = student_interval([1e6 * run[direction] for run in ROWS[name]["runs"]])
        assert told.mean is not None
        assert real.mean is not None
        if name in CLOSE or direction == "up":
            assert told.mean == pytest.approx(real.mean, rel=0.05)
        else:
            assert told.low < real.high
            assert real.low < told.high
