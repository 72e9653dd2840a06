"""Any valid network: it is simulated, predicted and run, to equal bits on any number of threads.

`AIRTCP_NETWORKS=0:3000` chooses the seeds of the networks.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import airtcp
import pytest
from airtcp import plugins
from airtcp.exceptions import ScenarioError, SimulationError
from airtcp.prediction import predict
from airtcp.run.memory import costs
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario
from commands import call
from networks import LOG, OWN, measured, network

#: Seeds: those of `make test`, and how many one test of `make verify` takes.
FEW, MANY = 20, 100
FIRST, LAST = (int(one) for one in os.environ.get("AIRTCP_NETWORKS", "0:3000").split(":"))
#: The slowest network so far took 12 s, nine of them for its quick simulation.
MOST_CPU_S = 30.0
#: Memory allowed beyond the estimate: imports, and what the allocator keeps.
SLACK_BYTES = 48e6
PERCENTILE = re.compile(r"_p(50|90|95|99)_s$")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of requests, after loading the plug-ins that networks may name."""
    folder = tmp_path_factory.mktemp("networks")
    (folder / "own.py").write_text(OWN)
    plugins.load(folder / "own.py")
    (folder / "log.csv").write_text(LOG)
    return folder / "log.csv"


def drawn(seed: int, log: Path) -> Scenario:
    """Return the first network of a seed whose keys fit together."""
    for attempt in itertools.count():
        try:
            return airtcp.load(network(f"{seed} {attempt}", log))
        except ScenarioError:
            continue
    raise AssertionError("it draws without end")


def broken(told: object, path: str = "") -> Iterator[str]:
    """Yield violations: interval ends and percentiles in order, none below 0, no share above 1."""
    if not isinstance(told, dict) or path.endswith(("/plain", "r_factor")):
        return
    ends = [told[key] for key in ("low", "mean", "high") if told.get(key) is not None]
    if {"mean", "low", "high"} <= told.keys() and ends:
        parts = ("_probability", "packet_loss", "_error_ratio", "jain_index", "share_of_alone")
        most = 1.0 if path.endswith(parts) else math.inf
        # The mean of equal numbers may differ from them in the last bits.
        rounded = [float(f"{end:.9g}") for end in ends]
        if rounded != sorted(rounded) or not 0.0 <= rounded[0] <= rounded[-1] <= most:
            yield f"{path}: {ends}"
    for base in {key[: found.start()] for key in told if (found := PERCENTILE.search(key))}:
        means = [told.get(f"{base}_p{of}_s", {}).get("mean") for of in (50, 90, 95, 99)]
        known = [float(f"{one:.9g}") for one in means if one is not None]
        if known != sorted(known):
            yield f"{path}/{base}: percentiles {known}"
    for key, value in told.items():
        yield from broken(value, f"{path}/{key}")


def resident_bytes(name: str) -> int:
    """Return the resident size of this process (VmRSS), or its peak since the reset (VmHWM)."""
    status = Path("/proc/self/status").read_text().splitlines()
    (line,) = (one for one in status if one.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def faults(scenario: Scenario, folder: Path) -> Iterator[str]:
    """Yield errors in airtcp's answers about a network, and in its memory and CPU time."""
    begin = time.process_time()
    Path("/proc/self/clear_refs").write_text("5")
    before = resident_bytes("VmRSS")
    result = simulate(scenario, threads=1)
    taken = resident_bytes("VmHWM") - before
    again = simulate(scenario, threads=3, trace=True)
    one, other = (each.simulation.runs for each in (result, again))
    _, *found = costs(scenario, threads=1, replications=len(one))
    if taken > SLACK_BYTES + sum(cost.size for cost in found):
        yield f"takes {taken / 1e6:.0f} MB"
    if [each.answer for each in one] != [each.answer for each in other]:
        yield "other bits on other threads, or with a trace"
    if any(not math.isclose(sum(each.answer["airtime"].values()), 1.0) for each in one):
        yield "parts of the airtime do not add up"
    seen = predict(scenario, glance=True).glance
    assert seen is not None
    yield from broken(seen.part(), "glance")

    file, values = folder / "network.toml", folder / "measured.csv"
    file.write_text(scenario.to_toml())
    values.write_text(measured(scenario.run.seed))
    run = call("run", file, "--measured", values, "--no-advice", "--json")
    if airtcp.load(file).hash() != scenario.hash():
        yield "another network in its written form"
    if run.exception is not None:
        yield f"run: {run.exception!r} {run.output}"
        return
    simulation = json.loads(run.stdout)["simulation"]
    for part in ("metrics", "groups", "categories", "cells"):
        yield from broken(simulation.get(part), part)
    if time.process_time() - begin > MOST_CPU_S:
        yield f"takes {time.process_time() - begin:.0f} s of a processor"


def few_or_many() -> Iterator[object]:
    """Yield ranges of seeds, all but the first for `make verify`."""
    yield range(FIRST, min(FIRST + FEW, LAST))
    for first in range(FIRST + FEW, LAST, MANY):
        seeds = range(first, min(first + MANY, LAST))
        yield pytest.param(seeds, marks=[pytest.mark.verify, pytest.mark.timeout(9000)])


@pytest.mark.parametrize("seeds", list(few_or_many()), ids=str)
def test_networks_are_simulated_predicted_and_run(seeds: range, log: Path, tmp_path: Path) -> None:
    found = {}
    for seed in seeds:
        # A run whose retransmission timeouts always lie in the past ends with an error.
        with contextlib.suppress(SimulationError):
            found[seed] = list(faults(drawn(seed, log), tmp_path))

    assert len(found) > 0.9 * len(seeds)
    assert {seed: faults for seed, faults in found.items() if faults} == {}
