"""The judgement of explanations of planted gaps: the first that is told, and the planted one.

Prints a row for each seed of the table, or of those that are given, such as `1 30`:

    .venv/bin/python validation/gaps/explained.py
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import airtcp
from airtcp.compare import compare, with_measured
from airtcp.gaps.explain import explain
from airtcp.importer.files import measurement_of
from airtcp.results.measured import Gap
from planted import (
    LATER_SEEDS,
    SEEDS,
    UNCHANGED_SEEDS,
    Planted,
    planted,
    planted_later,
    unchanged,
)


@dataclass(frozen=True)
class Judgement:
    """The answer to a planted gap."""

    planted: Planted
    gap: Gap

    @property
    def first(self) -> str:
        """The kind that is told first; empty where nothing is explained."""
        return self.gap.best[0].kind if self.gap.best else ""

    @property
    def is_right(self) -> bool:
        """Tell whether the first explanation is the planted change, or rightly there is none."""
        return self.first == self.planted.kind


def judge(one: Planted) -> Judgement:
    """Set a measurement beside its scenario's simulation, and take what is said of the gap."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measured.csv"
        path.write_text(one.measured, encoding="utf-8")
        measurement = measurement_of(path)
    result = with_measured(compare(airtcp.load(one.scenario)), measurement)
    return Judgement(one, explain(result))


def main(first: int | None = None, end: int | None = None) -> None:
    """Print what is said of each."""
    given = first is not None and end is not None
    right = of = 0
    first_ones = planted(range(first or 0, end or 0) if given else SEEDS)
    for one in itertools.chain(first_ones, () if given else planted_later(LATER_SEEDS)):
        said = judge(one)
        right, of = right + said.is_right, of + 1
        shares = ", ".join(
            f"{two.kind} {two.share:.2f}{' against ' + two.against[0][0] if two.against else ''}"
            for two in said.gap.explanations[:4]
        )
        print(f"{one.seed} {one.kind} ({one.told}): {said.first or 'none'}; {shares}", flush=True)
        if said.gap.explanations and not said.is_right:
            print(f"    {said.gap.explanations[0].title}", flush=True)
    print(f"{right} of {of} right")
    if not given:
        for one in unchanged(UNCHANGED_SEEDS):
            said = judge(one)
            print(f"{one.seed} nothing: {said.gap.state}, {said.first or 'none'}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
