"""Compare the testbed with the simulation on five mixed scenarios: goodput of each direction.

    python validation/testbed/mixed.py run [NAME ...]     measure, and store rows in rows.json
    python validation/testbed/mixed.py table              print the table of docs/howto/testbed.md

The scenarios were chosen before any measurement. Each runs five times on the testbed, with
seeds from 1 on; an untrusted run is repeated, up to three times.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import airtcp
from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval
from airtcp.testbed.bench import measure

HERE = Path(__file__).parent
ROWS = HERE / "rows.json"
NAMES = ["g-fifo", "g-fifo-wire", "g-fq-codel", "ax-fifo-wire", "ax-fq-codel-wire"]
RUNS = 5
TRIES = 3
#: Difference up to which both count as equal.
BOUND = 0.05


def directions(simulation: Simulation) -> dict[str, float]:
    """Return the goodput of each direction in Mb/s, by group."""
    return {
        name: sum(flow.goodput_bps for flow in simulation.flows if flow.name.startswith(name)) / 1e6
        for name in ("up", "down")
    }


def mean_and_half_width(interval: Interval) -> tuple[float, float]:
    """Return mean and half width of an interval, which several runs always have."""
    if interval.mean is None or interval.half_width is None:
        raise ValueError("fewer than two runs have a value")
    return interval.mean, interval.half_width


def measured(path: Path) -> list[dict[str, Any]]:
    """Run the testbed five times."""
    runs = []
    for seed in range(1, RUNS + 1):
        for _ in range(TRIES):
            result = measure(airtcp.load(path), seed=seed, name=str(path))
            if result.lag.trusted:
                break
        drops = result.metrics["ap_queue_drop_probability"].mean
        lag = result.lag.share_above
        told: dict[str, Any] = {"trusted": result.lag.trusted, "late": lag, "drops": drops}
        runs.append(directions(result.testbed) | told)
        print(path.stem, seed, runs[-1], flush=True)
    return runs


def main() -> None:
    """Measure, or print the table."""
    rows = json.loads(ROWS.read_text()) if ROWS.exists() else {}
    if sys.argv[1] == "run":
        for name in sys.argv[2:] or NAMES:
            path = HERE / f"{name}.toml"
            rows[name] = {"runs": measured(path)}
            ROWS.write_text(json.dumps(rows, indent=1) + "\n")
        return
    print("| scenario | direction | simulation | testbed, five runs | difference | trusted |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in NAMES:
        path = HERE / f"{name}.toml"
        scenario = airtcp.load(path)
        simulated = airtcp.simulate(scenario)
        runs = rows[name]["runs"]
        trusted = sum(run["trusted"] for run in runs)
        for direction, group in (("up", "uploads"), ("down", "downloads")):
            metric = simulated.simulation.groups[direction]["all"]["goodput_bps"]
            simulation, around = (value / 1e6 for value in mean_and_half_width(metric))
            real = student_interval([run[direction] for run in runs], 0.95)
            testbed, around_testbed = mean_and_half_width(real)
            print(
                f"| {scenario.title} | {group} | "
                f"{simulation:.2f} ± {around:.2f} Mb/s | "
                f"{testbed:.2f} ± {around_testbed:.2f} Mb/s | "
                f"{100 * (testbed / simulation - 1):+.1f} % | "
                f"{trusted} of {len(runs)} |"
            )


if __name__ == "__main__":
    main()
