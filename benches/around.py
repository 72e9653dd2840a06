"""Measure the time around the core: command start, loading, and one tiny simulation.

CPU time of all threads, user and system: the minimum of several runs, since noise only adds.
`tests/test_imports.py` checks what each command imports.

    .venv/bin/python benches/around.py           # measure and print; status 1 if over budget
    .venv/bin/python benches/around.py --write   # and update benches/README.md
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import airtcp
from airtcp import _core
from airtcp.scenario import loads

sys.path.insert(0, str(Path(__file__).parent))
from readme import processor, replace
from run import ROOT

EXAMPLES = ROOT / "python" / "airtcp" / "examples"

#: About 670 frame exchanges, like one of the 10,000 points of a sweep.
TINY = """
[phy]
standard = "802.11b"
[[stations]]
name = "laptop"
count = 1
[[flows]]
stations = "laptop"
start_spread = "0 s"
direction = "download"
application = { kind = "bulk" }
[run]
warmup = "0 s"
duration = "1 s"
replications = 1
"""


def command_ms(*arguments: str, repeats: int = 7) -> float:
    """Return the CPU time of the command in its own process, with compiled byte code."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(ROOT / "target" / "pycache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times = []
    for _ in range(1 + repeats):
        before = _children_s()
        subprocess.run(
            [sys.executable, "-m", "airtcp", *arguments],
            stdout=subprocess.DEVNULL,
            check=True,
            env=environment,
        )
        times.append(_children_s() - before)
    return 1e3 * min(times[1:])


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def call_ms(call: Callable[[], object], rounds: int = 15, calls: int = 100) -> float:
    """Return the mean CPU time of a call after a first, untimed one."""
    call()
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - begin) / calls)
    return 1e3 * min(times)


def rows() -> list[tuple[str, float, float | None]]:
    """Return each measurement: its name, milliseconds, and budget if it has one."""
    found: list[tuple[str, float, float | None]] = [
        ("`airtcp --help`", command_ms("--help"), None),
        ("`airtcp --version`", command_ms("--version"), None),
    ]
    for example in sorted(EXAMPLES.glob("*.toml")):
        name = f"`airtcp predict`, example {example.stem}"
        found.append((name, command_ms("predict", str(example)), 500.0))
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.toml"
        tiny.write_text(TINY)
        found.append(("`airtcp simulate`, tiny", command_ms("simulate", str(tiny)), None))
        out = ("simulate", str(tiny), "--out", folder)
        found.append(("`airtcp simulate --out`, tiny", command_ms(*out, repeats=3), None))
    hotspot = EXAMPLES / "web-hotspot.toml"
    scenario = loads(TINY)
    core = call_ms(lambda: _core_alone(scenario))
    whole = call_ms(lambda: airtcp.simulate(scenario))
    found += [
        ("load, tiny", call_ms(lambda: loads(TINY)), None),
        (
            "load, example with an access log, again",
            call_ms(lambda: airtcp.load(hotspot), calls=20),
            None,
        ),
        ("core alone, tiny: parse, run, JSON both ways", core, None),
        ("simulate(), tiny, beyond the core", whole - core, 0.5),
    ]
    return found


def _core_alone(scenario: airtcp.scenario.ResolvedScenario) -> object:
    simulation = _core.Simulation(scenario.to_json())
    answer, *_ = simulation.run(scenario.run.seed, 0, _core.RunControl())
    return json.loads(answer)


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the table in the README")
    write = parser.parse_args().write
    load = os.getloadavg()[0]
    lines = ["| what | CPU time | budget |", "| --- | --- | --- |"]
    over = []
    for name, took, budget in rows():
        digits = 2 if took < 10.0 else 0
        allowed = "" if budget is None else f"{budget:g} ms"
        lines.append(f"| {name} | {took:.{digits}f} ms | {allowed} |")
        if budget is not None and took > budget:
            over.append(name)
    table = "\n".join(lines)
    print(table)
    if write:
        machine = f"Least of several on {os.cpu_count()} cores of {processor()}, load {load:.1f}."
        replace("around", f"{machine}\n\n{table}")
    if over:
        sys.exit(f"Over budget (load {load:.1f}): {', '.join(over)}")


if __name__ == "__main__":
    main()
