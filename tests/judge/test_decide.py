"""Run lengths that airtcp chooses where the file has none."""

from __future__ import annotations

import airtcp
import pytest
from airtcp.judge.decide import MOST, decide
from airtcp.judge.race import cost
from airtcp.judge.verdicts import verdict
from airtcp.scenario import Scenario

FEW = """
phy = { standard = "802.11ax" }
stations = [{ profile = "phone", name = "phone", count = 3, traffic = ["web"] }]
"""

EVENING = """
phy = { standard = "802.11ax", channel_width = "80 MHz" }
stations = [
  { profile = "office-laptop", name = "player", count = 6, traffic = ["call"] },
  { profile = "office-laptop", name = "stream", count = 2, traffic = ["video"] },
  { profile = "office-laptop", name = "patch", count = 3, traffic = ["download"] },
]
links = { line = { rate = "100 Mb/s", delay = "8 ms", queue = { limit = 1000 } } }
"""


def states(text: str) -> tuple[list[str], airtcp.SimulationResult]:
    """Return the states of all targets, and the result that decided them."""
    scenario = airtcp.load(text)
    assert isinstance(scenario, Scenario)
    result = decide(scenario)
    found = verdict(result)
    return [one.state for one in found.targets], result


def test_few_pages_in_steady_state_get_more_runs_not_longer_ones() -> None:
    decided, result = states(FEW)

    assert decided == ["holds"]
    # Three readers load a page in about half a minute each. An upper end of p90 at 95 % needs 53
    # pages, which are more than four replications of 60 s.
    assert result.simulation.replications > 4
    assert result.scenario.run.duration_ns <= 120e9


@pytest.mark.slow
def test_a_steady_network_is_decided_within_the_work_of_twenty_seconds() -> None:
    decided, result = states(EVENING)

    # Runs of twice the length instead leave the loading times of videos open.
    assert decided == ["holds"] * 5
    assert sum(map(cost, result.simulation.runs)) < MOST
