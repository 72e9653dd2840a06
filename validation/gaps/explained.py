"""Check explanations of planted gaps: compare the first explanation with the planted cause.

Prints a row for each seed of the table, or of the given range, such as `1 30`:

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
    """The explanation of a planted gap."""

    planted: Planted
    gap: Gap

    @property
    def first(self) -> str:
        """The kind of the first explanation; empty if there is none."""
        return self.gap.best[0].kind if self.gap.best else ""

    @property
    def is_right(self) -> bool:
        """True if the first explanation is the planted change, or if both are empty."""
        return self.first == self.planted.kind


def judge(one: Planted) -> Judgement:
    """Compare a measurement with the simulation of its scenario, and explain the gap."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measured.csv"
        path.write_text(one.measured, encoding="utf-8")
        measurement = measurement_of(path)
    result = with_measured(compare(airtcp.load(one.scenario)), measurement)
    return Judgement(one, explain(result))


def main(first: int | None = None, end: int | None = None) -> None:
    """Print the explanations of each seed."""
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
