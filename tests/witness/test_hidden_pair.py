"""Two hidden stations that upload by TCP over 802.11a: one starves, and RTS/CTS fixes it.

Required over runs of 60 s: without RTS/CTS the weaker station has less than 5 % of the sum in at
least 18 of 20 replications, and with it more than 25 % on average. ns-3 3.44 behaves alike
(`validation/cells`, hidden pairs of TCP uploads).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from airtcp.examples import directory
from airtcp.run.simulate import simulate
from airtcp.scenario import load

REPLICATIONS = 20


def weaker(threshold: str | None) -> list[float]:
    """Return the weaker station's share of the sum, by replication."""
    of = load(Path(str(directory())) / "hidden-uploads.toml")
    of = of.vary({"run.duration": "60 s", "run.replications": REPLICATIONS})
    if threshold is not None:
        of = of.vary({"mac.rts_threshold": threshold})
    runs = simulate(of, threads=1).simulation.runs
    goodputs = [[flow["goodput_bps"] for flow in run.answer["flows"]] for run in runs]
    return [min(both) / sum(both) for both in goodputs]


@pytest.mark.verify
def test_one_starves_without_rts() -> None:
    assert sum(share < 0.05 for share in weaker(None)) >= 18


@pytest.mark.verify
def test_both_have_a_share_with_rts() -> None:
    assert sum(weaker("0 B")) / REPLICATIONS > 0.25
