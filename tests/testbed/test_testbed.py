"""Real TCP over the emulated medium, next to a simulation of the same scenario."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.scenario import Scenario
from airtcp.testbed.bench import measure
from bases import LINUX_DOWNLOAD, cell, two_cells
from children import Children

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
    """Two seconds on a busy machine: only large differences prove an error."""
    simulated = airtcp.simulate(scenario, replications=10).to_dict()["simulation"]
    measured = answer["testbed"]

    for metric, tolerance in [("goodput_bps", 0.2), ("channel_utilization", 0.2)]:
        expected = simulated["metrics"][metric]["mean"]
        assert measured["metrics"][metric]["mean"] == pytest.approx(expected, rel=tolerance)
    assert all(flow["goodput_bps"] > 0 for flow in measured["flows"])
    # The channel is never idle for long, and airtime shares add up.
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
    """Within 5 % of the simulation or three standard deviations, some 2 % for such runs.

    Each cell on its own has twice as much.
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
    for name, flow in (("left", "reader/0"), ("right", "clerk/0")):
        runs = [one.answer["cells"] for one in simulated.runs]
        own = [record[("left", "right").index(name)]["goodput_bps"] for record in runs]
        expected, spread = statistics.fmean(own), 3.0 * statistics.stdev(own)
        assert goodputs[flow] == pytest.approx(expected, abs=max(0.05 * expected, spread))


@pytest.mark.parametrize("may_be_real_time", [True, False])
def test_beside_busy_processes_a_run_is_right_or_not_trusted(
    may_be_real_time: bool, monkeypatch: pytest.MonkeyPatch, started: Children
) -> None:
    """Six processes compete for the processors: without priority most packets are late."""
    if not may_be_real_time:

        def refuse(*_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "sched_setscheduler", refuse)
    text = cell(2, standard="802.11g", direction="upload", warmup="1 s", duration="2 s")
    scenario = airtcp.load(text).vary({"flows.laptop.tcp": {"preset": "linux"}})
    for _ in range(6):
        started.start([sys.executable, "-c", "while True: pass"])
    found = measure(scenario)

    assert may_be_real_time or not found.lag.trusted
    if found.lag.trusted:
        simulated = airtcp.simulate(scenario, replications=4)
        expected = simulated.metrics["goodput_bps"].mean
        assert found.metrics["goodput_bps"].mean == pytest.approx(expected, rel=0.05)
