"""Several cells in the core: the memory of many, and the work that they take."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import airtcp
import pytest
from airtcp import _core

#: Prints the peak memory of a process that runs a resolved scenario, in KiB, and its CPU time.
RUN = """
import importlib.util, re, sys, time
spec = importlib.util.spec_from_file_location("_core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
begin = time.process_time()
core.Simulation(open(sys.argv[2]).read()).run(1, 0, core.RunControl())
spent = time.process_time() - begin
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], spent)
"""


def campus(cells: int, duration: str) -> airtcp.Scenario:
    """Return this number of isolated cells with ten stations each."""
    names = [f"c{number}" for number in range(cells)]
    bulk = {"direction": "download", "application": {"kind": "bulk"}}
    return airtcp.load(
        {
            "phy": {"standard": "802.11a"},
            "air": {"heard": []},
            "cells": {name: {} for name in names},
            "stations": [{"name": f"s{name}", "count": 10, "cell": name} for name in names],
            "flows": [{"stations": f"s{name}", **bulk} for name in names],
            "run": {"warmup": "0 s", "duration": duration, "replications": 1},
        }
    )


def command(cells: int, duration: str, work: Path) -> list[str]:
    """Return the command that runs these cells."""
    resolved = work / f"{cells}.json"
    resolved.write_text(campus(cells, duration).for_core(), encoding="utf-8")
    return [sys.executable, "-IS", "-c", RUN, str(_core.__file__), str(resolved)]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc says the peak")
def test_a_campus_of_a_thousand_cells_is_set_up_in_two_seconds(tmp_path: Path) -> None:
    """A table of all pairs of 11,000 nodes alone would take a gigabyte."""
    setup = command(1_000, "1 ms", tmp_path)
    told = subprocess.run(setup, check=True, capture_output=True, text=True).stdout.split()
    peak_kib, cpu_s = map(float, told)
    assert peak_kib < 400 * 1024
    assert cpu_s < 2


def instructions(cells: int, work: Path) -> int:
    """Return the instructions of a run of 20 ms."""
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no"]
    run = [*valgrind, "--cachegrind-out-file=/dev/null", *command(cells, "20 ms", work)]
    told = subprocess.run(run, check=True, capture_output=True, text=True).stderr
    return int(re.search(r"I +refs: +([\d,]+)", told)[1].replace(",", ""))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind counts instructions")
def test_isolated_cells_take_instructions_in_proportion_to_their_number(tmp_path: Path) -> None:
    one, few, many = (instructions(cells, tmp_path) for cells in (1, 50, 500))
    # Python's own share is in each count. With a table of all pairs the factor was 13.
    assert many - one < 10.6 * (few - one)


def test_rows_of_powers_as_objects_say_the_same_as_a_table() -> None:
    scenario = campus(10, "50 ms")
    sparse, dense = scenario.for_core(), scenario.to_json()
    assert '"received_dbm":[{' in sparse
    assert '"received_dbm":[[' in dense
    found = [_core.Simulation(text).run(1, 0, _core.RunControl())[:2] for text in (sparse, dense)]
    assert found[0] == found[1]
