"""Run all benchmark scenarios to train the profile with which wheels are built.

`maturin build --pgo` calls this with an instrumented core (`pgo-command` in pyproject.toml; `make
wheel`). The rows of instructions.py and fq_codel.py come first, each for its measured length. The
compiler optimizes functions that never run for size, not speed. Therefore the scenarios of `make
same`, which use every feature, run as well, with traces and captures, and so does the flow-level
simulator.

    python benches/train.py      # 8 s of a processor with any other core
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from airtcp import _core
from airtcp.distributions import Deterministic, Exponential, Pareto
from airtcp.scenario import load

sys.path.insert(0, str(Path(__file__).parents[1] / "validation" / "same"))
import fq_codel
import instructions
import same
import scenarios

ROOT = Path(__file__).parents[1]

#: Jobs of the flow-level simulator for each size distribution.
JOBS = 200_000


def measured(work: Path) -> Iterator[str]:
    """Return the resolved forms of the benchmark scenarios, with the lengths of the longer runs."""
    path = work / "line.toml"
    for case in instructions.CASES:
        written = case.scenario
        if isinstance(written, str):
            path.write_text(written, encoding="utf-8")
            written = path
        seconds = instructions.seconds(instructions.COUNTED_S[1], case.counted)
        yield lasting(load(ROOT / written).vary(dict(case.changes)).to_json(), seconds)
    for discipline in fq_codel.DISCIPLINES:
        for traffic in fq_codel.TRAFFIC.values():
            path.write_text(
                fq_codel.SCENARIO.format(
                    discipline=discipline, flows=fq_codel.FLOWS, traffic=traffic
                ),
                encoding="utf-8",
            )
            yield lasting(load(path).to_json(), fq_codel.COUNTED_S[1])


def lasting(resolved: str, seconds: int) -> str:
    """Return a resolved form with another run length."""
    scenario = json.loads(resolved)
    scenario["run"]["duration_ns"] = seconds * 10**9
    return json.dumps(scenario)


def main() -> None:
    """Run everything."""
    argparse.ArgumentParser(
        description="Run the benchmark scenarios to train a profile"
    ).parse_args()
    control = _core.RunControl()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        for resolved in measured(work):
            _core.Simulation(resolved).run(1, 0, control)
        for _, resolved in scenarios.all_scenarios(work):
            same.values(resolved, work / "capture")
    for sizes in (Deterministic(value=1.0), Exponential(mean=1.0), Pareto(shape=1.5, scale=1 / 3)):
        arrivals = Exponential(mean=float(sizes.mean()) / 0.8)
        laws = {"interarrival": arrivals, "sizes": sizes}
        system = {name: law.model_dump(mode="json", by_alias=True) for name, law in laws.items()}
        rest = {"kind": "open", "capacity": [1.0], "limit": None, "transfers_of": None}
        core = _core.FlowSimulation(json.dumps(system | rest))
        for replication in range(2):
            core.run(1, replication, JOBS // 10, JOBS, False, _core.FlowControl())


if __name__ == "__main__":
    main()
