"""Compare channel plans with brute force: six random access points on a floor, three channels.

    .venv/bin/python validation/channels/floors.py [--floors 20] [--to FILE.csv]

All assignments of three channels to six cells (122, up to renaming channels) are simulated with
another seed than the plan's. Cells on different channels do not hear each other, so each set of
cells is simulated once, and an assignment combines its three sets (`tests/test_channel_plan.py`
checks this against whole simulations, bit for bit). Each row has the goodput of the plan relative
to that of the best assignment, and the plan's run time.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import random
import sys
import time
from pathlib import Path
from typing import Any, Final

import airtcp
from airtcp.plan.assignments import on_one_channel, plans
from airtcp.run.points import Points
from airtcp.scenario import Scenario, loads
from airtcp.scenario.alone import cells_alone

CELLS: Final = 6
CHANNELS: Final = (36, 40, 44)
SEED: Final = 7_000
REPLICATIONS: Final = 6
HEAD: Final = ("floor", "best_mbps", "planned_mbps", "share", "today_mbps", "plan_s", "plan_cpu_s")


def floor(seed: int) -> Scenario:
    """Draw a floor of 40 m by 40 m with six access points and one to three stations near each."""
    draw = random.Random(seed)
    lines = ['phy = { standard = "802.11a" }', "[air]", "path_loss = { exponent = 3.5 }"]
    lines.append('power = "17 dBm"')
    for cell in range(CELLS):
        x, y = round(draw.uniform(0, 40), 1), round(draw.uniform(0, 40), 1)
        lines += [f"[cells.c{cell}]", "channel = 36", f"position = [{x}, {y}]"]
    for cell in range(CELLS):
        count = draw.randint(1, 3)
        lines += [
            f'[[stations]]\nname = "g{cell}"\ncount = {count}\ncell = "c{cell}"',
            f'positions = {{ disc = "6 m", seed = {draw.randrange(1000)} }}',
            f'[[flows]]\nstations = "g{cell}"\ndirection = "download"',
            'application = { kind = "bulk" }\npath = [{ rate = "1 Gb/s", delay = "5 ms" }]',
        ]
    lines.append('[run]\nwarmup = "1 s"\nduration = "4 s"')
    lines.append(f"replications = {REPLICATIONS}\nseed = {seed}")
    return loads("\n".join(lines), name=f"floor {seed}")


def goodputs(scenario: Scenario) -> dict[tuple[int, ...], list[list[float]]]:
    """Simulate each set of cells on its channel; return goodputs by replication and cell."""
    together = on_one_channel(scenario, CHANNELS[0])
    sets = [
        places
        for size in range(1, CELLS + 1)
        for places in itertools.combinations(range(CELLS), size)
    ]
    with Points[tuple[int, ...]](SEED) as points:
        for places in sets:
            points.add(places, cells_alone(together, places))
        points.run(dict.fromkeys(sets, REPLICATIONS))
        return {
            places: [
                [cell["goodput_bps"] for cell in run.answer["cells"]]
                for run in points.ended(places)
            ]
            for places in sets
        }


def least(plan: tuple[int, ...], known: dict[tuple[int, ...], list[list[float]]]) -> float:
    """Return the mean over replications of the lowest goodput of any cell."""
    sets = [
        tuple(place for place, one in enumerate(plan) if one == channel) for channel in set(plan)
    ]
    return (
        sum(min(min(known[places][run]) for places in sets) for run in range(REPLICATIONS))
        / REPLICATIONS
    )


def row(seed: int) -> dict[str, Any]:
    """Plan a floor, and compare the plan with brute force."""
    scenario = floor(seed)
    wall = time.perf_counter()
    found = airtcp.plan(scenario, vary="channels", channels=CHANNELS, objective="least")
    wall = time.perf_counter() - wall
    known = goodputs(scenario)
    values = {plan: least(plan, known) for plan in plans(CELLS, CHANNELS, None)}
    chosen = tuple(number or 0 for number in found.best.channels.values())
    planned, best = least(chosen, known), max(values.values())
    told = (seed, best / 1e6, planned / 1e6, planned / best, (found.today.value.mean or 0) / 1e6)
    return dict(zip(HEAD, (*told, wall, found.cpu_s), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floors", type=int, default=20)
    parser.add_argument("--to", type=Path)
    asked = parser.parse_args()
    rows = []
    for seed in range(1, asked.floors + 1):
        rows.append(row(seed))
        print("  ".join(f"{rows[-1][name]:8.3f}" for name in HEAD), flush=True)
    near = sum(one["share"] >= 0.97 for one in rows)
    print(f"{near} of {len(rows)} floors within 3 % of brute force", file=sys.stderr)
    if asked.to is not None:
        with asked.to.open("w", newline="") as file:
            writer = csv.DictWriter(file, HEAD, lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: f"{value:.4g}" for name, value in one.items()} for one in rows)


if __name__ == "__main__":
    main()
