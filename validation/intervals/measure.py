"""Measure the coverage of confidence intervals in the cells of `cells`.

    measure.py truths DIR              # long runs; about an hour of two processors
    measure.py run DIR                 # blocks; about three hours of two processors
    measure.py judge DIR [--write]     # stored blocks; --write updates the chosen systems in
                                       # measured.json

Runs and truths resume where they were stopped, also by Ctrl-C. --quick runs 20 blocks per system,
--few only the first 5 replications of each block; --minutes limits the run time. Names select
systems, such as `processor` or `pareto-1.2`. Systems get equal shares of the time, so an
interrupted run has more blocks of cheap systems. --first skips blocks, so that other blocks judge
a choice than those that led to it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from intervals import judge, truths  # noqa: E402
from intervals.cells import BLOCKS, REPLICATIONS, Cell, System, systems  # noqa: E402
from intervals.profiles import profiles  # noqa: E402
from intervals.store import Store, simulate  # noqa: E402
from intervals.truths import Truth  # noqa: E402

MEASURED: Final = HERE / "measured.json"
QUICK: Final = 20
#: Seconds between progress messages.
_TOLD_S: Final = 60.0


def main() -> int:
    """Run the command. Exit status 130 after Ctrl-C, 1 if a judged cell fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("verb", choices=["truths", "run", "judge"])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("names", nargs="*", help="parts of system names")
    parser.add_argument("--blocks", type=int, default=BLOCKS, help="blocks per system")
    parser.add_argument("--first", type=int, default=0, help="number of the first block")
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK} blocks")
    parser.add_argument(
        "--few", action="store_true", help=f"only {REPLICATIONS[0]} replications per block"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    chosen = [
        system
        for name, system in (systems() | profiles()).items()
        if not given.names or any(part in name for part in given.names)
    ]
    count = QUICK if given.quick else given.blocks
    blocks = range(given.first, given.first + count)
    end = time.monotonic() + 60.0 * given.minutes
    try:
        if given.verb == "truths":
            find_truths(chosen, given.folder, given.threads, lambda: time.monotonic() < end)
        elif given.verb == "run":
            replications = REPLICATIONS[0 if given.few else -1]
            run(
                chosen,
                given.folder,
                blocks,
                given.threads,
                lambda: time.monotonic() < end,
                replications=replications,
            )
        else:
            return 1 if judged(chosen, given.folder, blocks, write=given.write) else 0
    except KeyboardInterrupt:
        print("stopped; the next call goes on from here", file=sys.stderr)
        return 130
    return 0


def run(
    chosen: Sequence[System],
    folder: Path,
    blocks: range,
    threads: int,
    goes_on: Callable[[], bool],
    *,
    replications: int = REPLICATIONS[-1],
) -> None:
    """Simulate the missing blocks, each time of the system with the least time so far."""
    named = {system.name: system for system in chosen}
    stores = {name: Store(folder, system) for name, system in named.items()}
    there = {name: set(store.blocks()) for name, store in stores.items()}
    missing = {name: [one for one in blocks if one not in there[name]] for name in stores}
    spent_s = dict.fromkeys(missing, 0.0)
    told_s = time.monotonic()
    while goes_on() and any(missing.values()):
        name = min((one for one in missing if missing[one]), key=spent_s.__getitem__)
        begin_s = time.process_time()
        block = missing[name].pop(0)
        runs = simulate(named[name], block, threads=threads, replications=replications)
        stores[name].put(block, runs)
        spent_s[name] += time.process_time() - begin_s
        if time.monotonic() > told_s + _TOLD_S:
            told_s = time.monotonic()
            left = sum(map(len, missing.values()))
            print(
                f"{len(blocks) * len(chosen) - left} of {len(blocks) * len(chosen)} blocks",
                flush=True,
            )


def find_truths(
    chosen: Sequence[System], folder: Path, threads: int, goes_on: Callable[[], bool]
) -> None:
    """Simulate the missing long runs."""
    for turn in range(truths.MOST):
        for system in chosen:
            long = Store(folder / "long", system)
            if len(truths.exact(system)) == len(system.metrics) or turn in long.blocks():
                continue
            if not goes_on():
                return
            long.put(turn, truths.long_runs(system, turn, threads))
        print(f"{turn + 1} of {truths.MOST} blocks of long runs", flush=True)


def known(folder: Path, system: System) -> tuple[dict[str, Truth], float]:
    """Return the truths of a system, exact if known, and their distance to plain means."""
    exact = truths.exact(system)
    blocks = [runs for _, runs in Store(folder / "long", system).read()]
    if len(exact) == len(system.metrics) or not blocks:
        return exact, 0.0
    found, off = truths.estimated(system, [run for runs in blocks for run in runs])
    return found | exact, off


def judged(chosen: Sequence[System], folder: Path, blocks: range, *, write: bool) -> list[str]:
    """Judge and print the stored blocks, and return the failures."""
    found: list[tuple[Cell, judge.Verdict, Any]] = []
    witnesses: dict[str, list[float | None]] = {}
    firsts: dict[str, dict[str, list[float | None]]] = {}
    for system in chosen:
        right, off = known(folder, system)
        if len(right) < len(system.metrics):
            continue
        loop = truths.off_loop(system, right)
        witnesses[system.name] = [
            None if value is None else float(f"{value:.3g}") for value in (loop, off)
        ]
        estimates = _estimates(Store(folder, system), system, blocks)
        if system.is_processor and estimates:
            firsts[system.name] = {
                metric: judge.rounded(estimates[REPLICATIONS[0], metric][0])
                for metric in system.metrics
            }
        for cell in _cells_of(system):
            of_cell = estimates[cell.replications, cell.metric]
            if len(of_cell) > 1:
                truth = right[cell.metric]
                one = judge.verdict(cell, of_cell, truth)
                found.append((cell, one, judge.held(of_cell, truth)))
                print(_line(one), flush=True)
    verdicts = [one for _, one, _ in found]
    pools = list(judge.pools(found))
    for pool in pools:
        print(
            f"{pool.law}, load {pool.load:g}: {pool.coverage:.1%} "
            f"({pool.low:.1%} to {pool.high:.1%}) of {pool.cells} cells"
        )
    failures = judge.failures(verdicts, pools)
    print(*failures, sep="\n")
    if write:
        old = json.loads(MEASURED.read_text("utf-8"))
        laws = {system.law for system in chosen}
        record = {
            "cells": [one for one in old["cells"] if one["system"] not in witnesses]
            + [judge.to_dict(one) for one in verdicts],
            "pools": [one for one in old["pools"] if one["law"] not in laws]
            + [judge.to_dict(one) for one in pools],
            # Relative error in the closed-loop equation; maximum half widths from plain means.
            "truths": old["truths"] | witnesses,
            # The first block of 5 of each processor, by which a test detects changed estimates.
            "first": old["first"] | firsts,
        }
        MEASURED.write_text(f"{_written(record)}\n", encoding="utf-8")
    return failures


def _written(record: Mapping[str, Any]) -> str:
    """Return the record as JSON, one line per cell."""
    parts = []
    for key, value in record.items():
        lines = (
            [f"  {json.dumps(one)}" for one in value]
            if isinstance(value, list)
            else [f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in value.items()]
        )
        begin, end = "[]" if isinstance(value, list) else "{}"
        parts.append(f' "{key}": {begin}\n' + ",\n".join(lines) + f"\n {end}")
    return "{\n" + ",\n".join(parts) + "\n}"


def _estimates(
    store: Store, system: System, blocks: range
) -> dict[tuple[int, str], list[judge.Estimate]]:
    found: dict[tuple[int, str], list[judge.Estimate]] = defaultdict(list)
    for block, runs in store.read():
        if block in blocks:
            for key, estimate in judge.told(runs, system).items():
                found[key].append(estimate)
    return found


def _cells_of(system: System) -> Iterator[Cell]:
    for replications in REPLICATIONS:
        for metric in system.metrics:
            yield Cell(system, replications, metric)


def _line(one: judge.Verdict) -> str:
    def shown(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    return (
        f"{one.system:26} {one.replications:2} {one.metric:20} blocks {one.blocks:3} "
        f"declined {one.declined:4.0%} held {shown(one.coverage, '6.1%')} "
        f"plain {one.plain_coverage:6.1%} gain {shown(one.gain, '5.2f')} "
        f"bias/sd {shown(one.bias, '+5.2f')} width/sd {shown(one.width_over_sd, '4.2f')} "
        f"truth/width {shown(one.truth_over_half_width, '4.2f')}"
    )


if __name__ == "__main__":
    sys.exit(main())
