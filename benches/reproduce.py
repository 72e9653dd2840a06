"""Measure the CPU time of each item of `airtcp reproduce --quick`, on one core.

An item counts with the simulations that it reads from the store; together, the items run each
simulation once. On a busy machine, a CPU second does up to 50 % less work. A yardstick (ten endless
downloads) is therefore timed before each item, and its median is printed below the table. Items of
the testbed are left out, because they run in real time.

    .venv/bin/python benches/reproduce.py FOLDER              # all, into an empty folder
    .venv/bin/python benches/reproduce.py FOLDER --seed 7 H.fig1 L
    .venv/bin/python benches/reproduce.py FOLDER --write      # the same, and the table in README.md

Existing results in the folder are kept, so an interrupted measurement resumes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

from airtcp.run.simulate import simulate
from airtcp.scenario import load
from airtcp_papers.common import catalogue
from airtcp_papers.common.bench import Settings
from airtcp_papers.common.make import make
from airtcp_papers.common.pages import judgements
from airtcp_papers.common.store import Store

HERE: Final = Path(__file__).parent
README: Final = HERE / "README.md"
#: CPU time limits of a quick item and of all items, s.
OF_ITEM_S: Final = 60.0
OF_ALL_S: Final = 600.0
#: Rows of the table.
SHOWN: Final = 12


class Costs:
    """Log the CPU time of each stored result, by its key, and of each item."""

    def __init__(self, file: Path) -> None:
        self.file = file
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
        self.answers: dict[str, float] = kept.get("answers", {})
        self.items: dict[str, dict[str, float]] = kept.get("items", {})
        self.yardsticks: list[float] = kept.get("yardsticks", [])
        self.fetched = 0.0

    def watch(self) -> None:
        """Log the cost of each result; for results from the store, their original cost."""
        plain = Store.answer

        def answer(store: Store, key: str, compute: Callable[[], Any]) -> Any:
            computed = False

            def timed() -> Any:
                nonlocal computed
                computed = True
                began = time.process_time()
                given = compute()
                self.answers[key] = time.process_time() - began
                return given

            given = plain(store, key, timed)
            if not computed:
                self.fetched += self.answers.get(key, 0.0)
            return given

        Store.answer = answer  # type: ignore[method-assign, assignment]

    def measure(self, name: str, settings: Settings, out: Path) -> None:
        """Make an item and record its costs."""
        self.yardsticks.append(yardstick_ns())
        self.fetched, began = 0.0, time.process_time()
        (made,) = make([catalogue.items()[name]], settings, out)
        spent = time.process_time() - began
        if made.how == "made":
            self.items[name] = {"spent_s": spent, "alone_s": spent + self.fetched}
            kept = {
                "answers": self.answers,
                "items": self.items,
                "yardsticks": self.yardsticks,
            }
            self.file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        print(f"{name:20} {made.how:8} {spent:7.1f} s, alone {spent + self.fetched:7.1f} s")


def yardstick_ns() -> float:
    """Time a MAC exchange of ten endless downloads in ns (on an idle machine: `run.py`)."""
    scenario = load(HERE / "scenarios" / "downloads-10.toml").with_run(replications=1)
    spent = []
    for _ in range(3):
        began = time.process_time()
        (run,) = simulate(scenario, threads=1).simulation.runs
        spent.append(time.process_time() - began)
    return 1e9 * median(spent) / float(run.answer["counts"]["mac_exchanges"])


def table(costs: Costs) -> str:
    """Format the most expensive items and the sum of all."""
    dearest = sorted(costs.items.items(), key=lambda one: -one[1]["alone_s"])
    rows = [f"| {name} | {one['alone_s']:.0f} s |" for name, one in dearest[:SHOWN]]
    whole = sum(one["spent_s"] for one in costs.items.values())
    rows.append(f"| all {len(costs.items)}, each simulation once | {whole:.0f} s |")
    told = f"Meanwhile an exchange of ten downloads took {median(costs.yardsticks):.0f} ns."
    return "\n".join(["| item, quick | CPU time alone |", "| --- | --- |", *rows, "", told])


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("folder", type=Path)
    ask.add_argument("items", nargs="*", help="items or papers (default: all)")
    ask.add_argument("--seed", type=int)
    ask.add_argument("--write", action="store_true")
    asked = ask.parse_intermixed_args()
    known = catalogue.items().values()
    chosen = [one for word in asked.items for one in catalogue.find(word)] or list(known)
    costs = Costs(asked.folder / "costs.json")
    asked.folder.mkdir(parents=True, exist_ok=True)
    costs.watch()
    for item in chosen:
        if not item.name.startswith("H.testbed-"):
            costs.measure(item.name, Settings(quick=True, seed=asked.seed, threads=1), asked.folder)
    print(table(costs))
    verdicts = {one.claim.id: one.verdict for one in judgements(asked.folder)}
    (asked.folder / "verdicts.json").write_text(json.dumps(verdicts, indent=1) + "\n", "utf-8")
    if asked.write:
        text = README.read_text("utf-8")
        before, begins, rest = text.partition("<!-- reproduce: begins -->\n")
        _, ends, after = rest.partition("<!-- reproduce: ends -->")
        README.write_text(f"{before}{begins}{table(costs)}\n{ends}{after}", "utf-8")


if __name__ == "__main__":
    main()
