"""Real TCP through the air beside the simulation of the same scenario."""

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.scenario import Scenario
from airtcp.testbed.bench import measure
from bases import LINUX_DOWNLOAD, two_cells

pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(scope="module")
def answer(machine: None, tmp_path_factory: pytest.TempPathFactory, text: str) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("testbed") / "scenario.toml"
    file.write_text(text)
    command = [sys.executable, "-m", "airtcp", "testbed", str(file), "--json", "--quiet"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def test_the_answer_has_the_keys_of_a_simulation(
    answer: dict[str, Any], scenario: Scenario
) -> None:
    simulated = airtcp.simulate(scenario, replications=1).to_dict()

    assert set(answer) == {"scenario", "provenance", "testbed"}
    assert set(answer["testbed"]) == set(simulated["simulation"]) | {"lag", "deviations"}
    assert set(answer["testbed"]["metrics"]) == set(simulated["simulation"]["metrics"])
    assert answer["testbed"]["lag"]["packets"] > 500
    assert answer["testbed"]["deviations"]


def test_what_comes_through_is_what_the_air_carries(
    answer: dict[str, Any], scenario: Scenario
) -> None:
    """Two seconds on a busy machine: what is far off is wrong, what is near is no proof."""
    simulated = airtcp.simulate(scenario, replications=10).to_dict()["simulation"]
    measured = answer["testbed"]

    for metric, tolerance in [("goodput_bps", 0.2), ("channel_utilization", 0.2)]:
        expected = simulated["metrics"][metric]["mean"]
        assert measured["metrics"][metric]["mean"] == pytest.approx(expected, rel=tolerance)
    assert all(flow["goodput_bps"] > 0 for flow in measured["flows"])
    # The air is never left alone for long, and what goes over it adds up.
    assert sum(measured["airtime"].values()) == pytest.approx(1)
    assert measured["airtime"]["idle"] == pytest.approx(simulated["airtime"]["idle"], abs=0.05)
    assert measured["metrics"]["active_flows"]["mean"] == 3


def test_model_simulation_and_testbed_stand_side_by_side(file: Path) -> None:
    command = [sys.executable, "-m", "airtcp", "run", str(file), "--with", "testbed", "--json"]
    command += ["--set", "run.duration=1s", "--quiet"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout)

    rows = {row["metric"]: row for row in answer["testbed"]["comparison"]}
    goodput = rows["goodput_bps"]
    assert goodput["testbed"] == answer["testbed"]["metrics"]["goodput_bps"]["mean"] > 0
    assert goodput["simulation"] == answer["simulation"]["metrics"]["goodput_bps"]
    assert answer["model"]["goodput_bps"]
    assert answer["testbed"]["lag"]["packets"] > 200


TWO = two_cells(
    'heard = [["left", "right"]]',
    reader=LINUX_DOWNLOAD,
    clerk=LINUX_DOWNLOAD,
    warmup="1 s",
    duration="5 s",
    replications=8,
)


def test_two_cells_that_hear_each_other_share_the_air() -> None:
    """Within 5 % of the simulation or three of its standard deviations, some 2 % for such runs.

    Each cell alone has twice as much.
    """
    scenario = airtcp.load(TWO)
    measured = measure(scenario, name="two.toml").to_dict()["testbed"]
    simulated = airtcp.simulate(scenario).simulation

    goodputs = {flow["name"]: flow["goodput_bps"] for flow in measured["flows"]}
    told = measured["cells"]
    assert {name: one["goodput_bps"]["mean"] for name, one in told.items()} == {
        "left": goodputs["reader/0"],
        "right": goodputs["clerk/0"],
    }
    assert told["left"]["waits_for"].keys() == {"right"}
    for cell, flow in (("left", "reader/0"), ("right", "clerk/0")):
        runs = [one.answer["cells"] for one in simulated.runs]
        own = [record[("left", "right").index(cell)]["goodput_bps"] for record in runs]
        expected, spread = statistics.fmean(own), 3.0 * statistics.stdev(own)
        assert goodputs[flow] == pytest.approx(expected, abs=max(0.05 * expected, spread))
