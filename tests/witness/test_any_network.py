"""Any valid network: it is simulated, predicted and run, to equal bits on any number of threads.

`AIRTCP_NETWORKS=0:3000` chooses the seeds of the networks.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path

import airtcp
import pytest
from airtcp import plugins
from airtcp.exceptions import ScenarioError, SimulationError
from airtcp.prediction import predict
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario
from commands import call
from networks import network

pytestmark = pytest.mark.verify

FIRST, LAST = (int(one) for one in os.environ.get("AIRTCP_NETWORKS", "0:100").split(":"))
OWN = """
import airtcp
from airtcp.congestion import Reno

class Own(Reno):
    pass

airtcp.congestion.register("own-reno", Own)
"""
#: The slowest that was seen took 12 s, nine of them its quick simulation (seed 1430).
MOST_CPU_S = 30.0


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of requests, and with it the plug-in that networks may name."""
    folder = tmp_path_factory.mktemp("networks")
    (folder / "own.py").write_text(OWN)
    plugins.load(folder / "own.py")
    (folder / "log.csv").write_text("time,size\n0,1\n0,100000\n0.2,3\n0.4,3000\n")
    return folder / "log.csv"


def drawn(seed: int, log: Path) -> Scenario:
    try:
        return airtcp.load(network(seed, log))
    except ScenarioError as error:
        # One in ten of odd seeds has keys that do not fit together.
        pytest.skip(error.message)


def broken(told: object, path: str = "") -> Iterator[str]:
    """Yield intervals that break a law: ends in order, none below 0, of shares none above 1."""
    if not isinstance(told, dict) or path.endswith(("/plain", "r_factor")):
        return
    ends = [told[key] for key in ("low", "mean", "high") if told.get(key) is not None]
    if {"mean", "low", "high"} <= told.keys() and ends:
        parts = ("_probability", "packet_loss", "_error_ratio", "jain_index")
        most = 1.0 if path.endswith(parts) else math.inf
        # The mean of equal numbers may differ from them in the last bits.
        rounded = [float(f"{end:.9g}") for end in ends]
        if rounded != sorted(rounded) or not 0.0 <= rounded[0] <= rounded[-1] <= most:
            yield f"{path}: {ends}"
    for key, value in told.items():
        yield from broken(value, f"{path}/{key}")


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_a_network_is_simulated_predicted_and_run(seed: int, log: Path, tmp_path: Path) -> None:
    scenario = drawn(seed, log)
    begin = time.process_time()

    try:
        result = simulate(scenario, threads=1)
        again = simulate(scenario, threads=3)
    except SimulationError as error:
        pytest.skip(str(error))
    predict(scenario, glance=True)
    file = tmp_path / "network.toml"
    file.write_text(scenario.to_toml())
    measured = tmp_path / "measured.csv"
    measured.write_text("metric,value\ngoodput,1 Mb/s\n")
    run = call("run", file, "--measured", measured, "--no-advice", "--json")

    assert airtcp.load(file).hash() == scenario.hash()
    assert (run.exit_code, run.exception) == (0, None)
    one, other = (each.simulation.runs for each in (result, again))
    assert [each.answer for each in one] == [each.answer for each in other]
    simulation = json.loads(run.stdout)["simulation"]
    parts = ("metrics", "groups", "categories")
    assert [one for part in parts for one in broken(simulation[part], part)] == []
    assert time.process_time() - begin < MOST_CPU_S
