"""Compare two builds of the core, bit for bit, on random floors and random single cells.

    .venv/bin/python validation/same/cores.py OTHER.so                  # 2,000 of each
    .venv/bin/python validation/same/cores.py OTHER.so --number 200     # fewer
Use it for commits that change the core but no result: keep the core of the previous commit as
OTHER.so, build, and compare. This checkout resolves the scenarios once for both cores.
OTHER.so, and compare. Scenarios are resolved once, by this checkout; both cores read that form.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import airtcp
from floors import random_floor
from scenarios import random_scenario

#: The first random scenario that is not part of `make same`.
FIRST = 10_000
#: Counts that describe the simulator, not the scenario.
NOT_COMPARED = ("events",)


def main() -> int:
    """Compare; exit status 1 if any scenario differs."""
    parser = argparse.ArgumentParser(description="compare two builds of the core")
    parser.add_argument("other", type=Path, help="shared library of the other core")
    parser.add_argument(
        "--number", type=int, default=2_000, help="number of scenarios of each kind"
    )
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()
    jobs = [
        (args.other, kind, range(FIRST + low, FIRST + min(low + 50, args.number)))
        for kind in ("floor", "cell")
        for low in range(0, args.number, 50)
    ]
    played = {"floor": 0, "cell": 0}
    moved: list[str] = []
    with ProcessPoolExecutor(args.workers) as pool:
        for (_, kind, _), (count, names) in zip(jobs, pool.map(_compare, jobs), strict=True):
            played[kind] += count
            moved += names
    print(f"{played['floor']} floors and {played['cell']} cells played; {len(moved)} differ")
    for name in moved[:20]:
        print(f"  {name}")
    return 1 if moved else 0


def _compare(job: tuple[Path, str, range]) -> tuple[int, list[str]]:
    other, kind, numbers = job
    import airtcp._core as own

    cores = (own, _core(other))
    moved = []
    count = 0
    for number, resolved in _resolved(kind, numbers):
        count += 1
        one, two = (_outcome(core, resolved) for core in cores)
        if one != two:
            moved.append(f"{kind} {number}: {_first_difference(one, two)}")
    return count, moved


def _core(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("_core", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is not a compiled module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _resolved(kind: str, numbers: range) -> Iterator[tuple[int, str]]:

    make = random_floor if kind == "floor" else random_scenario
    with tempfile.TemporaryDirectory() as work:
        path = Path(work) / "drawn.toml"
        for number in numbers:
            path.write_text(make(number), encoding="utf-8")
            try:
                yield number, airtcp.load(path).to_json()
            except airtcp.ScenarioError:
                continue


def _outcome(core: Any, resolved: str) -> dict[str, Any]:
    simulation = core.Simulation(resolved)
    try:
        text, times, accounts = simulation.run(7, 0, core.RunControl())
    except core.SimulationFailed as error:
        return {"error": str(error)}
    outcome: dict[str, Any] = json.loads(text)
    for name in NOT_COMPARED:
        outcome["counts"].pop(name, None)
    return outcome | {"times": times.hex(), "accounts": repr(accounts)}


def _first_difference(one: Any, two: Any, path: str = "") -> str:
    if isinstance(one, dict) and isinstance(two, dict):
        for key in one.keys() | two.keys():
            if one.get(key) != two.get(key):
                return _first_difference(one.get(key), two.get(key), f"{path}.{key}")
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for at, (left, right) in enumerate(zip(one, two, strict=True)):
            if left != right:
                return _first_difference(left, right, f"{path}[{at}]")
    return f"{path}: {one!r:.60} and {two!r:.60}"


if __name__ == "__main__":
    sys.exit(main())
