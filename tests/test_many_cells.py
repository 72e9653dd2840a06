"""Several cells in the core: the memory of many, and the engine that plays them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import airtcp
import pytest

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


class Cost(NamedTuple):
    """What a run takes."""

    peak_kib: int
    cpu_s: float


def command(cells: int, duration: str, work: Path) -> list[str]:
    """Return the command that runs so many isolated cells of ten stations each."""
    parts = [
        f"""
[cells.c{cell}]
[[stations]]
name = "s{cell}"
count = 10
cell = "c{cell}"
[[flows]]
stations = "s{cell}"
direction = "download"
application = {{ kind = "bulk" }}
"""
        for cell in range(cells)
    ]
    run = f'[run]\nwarmup = "0 s"\nduration = "{duration}"\nreplications = 1\n'
    text = '[phy]\nstandard = "802.11a"\n[air]\nheard = []\n' + "".join(parts) + run
    path = work / f"{cells}.toml"
    path.write_text(text, encoding="utf-8")
    resolved = path.with_suffix(".json")
    resolved.write_text(airtcp.load(path).for_core(), encoding="utf-8")
    from airtcp import _core

    return [sys.executable, "-IS", "-c", RUN, str(_core.__file__), str(resolved)]


def cost(cells: int, work: Path) -> Cost:
    """Return the cost of their setup."""
    setup = command(cells, "1 ms", work)
    told = subprocess.run(setup, check=True, capture_output=True, text=True).stdout.split()
    return Cost(int(told[0]), float(told[1]))


def instructions(cells: int, work: Path) -> int:
    """Return the instructions of a run of 20 ms."""
    valgrind = [
        "valgrind",
        "--tool=cachegrind",
        "--cache-sim=no",
        "--cachegrind-out-file=/dev/null",
    ]
    run = [*valgrind, *command(cells, "20 ms", work)]
    told = subprocess.run(run, check=True, capture_output=True, text=True).stderr
    found = re.search(r"I +refs: +([\d,]+)", told)
    assert found is not None, told
    return int(found[1].replace(",", ""))


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc says the peak")
def test_isolated_cells_take_memory_in_proportion_to_their_number(tmp_path: Path) -> None:
    few, some, many = (cost(cells, tmp_path).peak_kib for cells in (10, 110, 210))
    # With a copy of all stations on each medium the second hundred takes three times the first.
    assert many - some < 1.5 * (some - few) + 4096


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc says the peak")
def test_a_campus_of_a_thousand_cells_is_set_up_in_two_seconds(tmp_path: Path) -> None:
    campus = cost(1_000, tmp_path)
    assert campus.cpu_s < 2
    assert campus.peak_kib < 400 * 1024


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind counts instructions")
def test_isolated_cells_take_instructions_in_proportion_to_their_number(tmp_path: Path) -> None:
    one, few, many = (instructions(cells, tmp_path) for cells in (1, 100, 1_000))
    # Python and one cell are in each count. With a table of all pairs it was 16 times.
    assert many - one < 10.6 * (few - one)


def test_rows_of_powers_as_objects_say_the_same_as_a_table(tmp_path: Path) -> None:
    from airtcp import _core

    command(10, "50 ms", tmp_path)
    scenario = airtcp.load(tmp_path / "10.toml")
    sparse, dense = scenario.for_core(), scenario.to_json()
    assert '"received_dbm":[{' in sparse
    assert '"received_dbm":[[' in dense
    found = [_core.Simulation(text).run(1, 0, _core.RunControl())[:2] for text in (sparse, dense)]
    assert found[0] == found[1]
