"""Make the tables of measured.md: planted gaps, and the first explanation of each.

Seeds were fixed before any network was drawn from them, so every run gives the same
tables.

    .venv/bin/python docs/make_gaps.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import tables

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "howto" / "measured.md"

sys.path.insert(0, str(ROOT / "validation" / "gaps"))
from explained import Judgement, judge  # noqa: E402
from planted import SEEDS, UNCHANGED_SEEDS, planted, unchanged  # noqa: E402

_HEAD = ("seed", "planted", "strength", "told first", "closes", "next", "closes", "right")


def gaps() -> str:
    """List the planted gaps with their explanations."""
    said = [judge(one) for one in planted(SEEDS)]
    right = sum(one.is_right for one in said)
    last = ["", f"{len(said)} gaps", *[""] * 5, f"{right} right"]
    return tables.markdown(_HEAD, [*map(_row, said), last])


def without() -> str:
    """List the measurements of networks without a change."""
    said = [judge(one) for one in unchanged(UNCHANGED_SEEDS)]
    rows = [
        [str(one.planted.seed), one.gap.state, one.first or "nothing is explained away"]
        for one in said
    ]
    return tables.markdown(("seed", "found", "explained by"), rows)


def sample() -> list[str]:
    """Make one row of the planted gaps, which takes a few seconds."""
    return _row(judge(next(planted([SEEDS[0]]))))


def _row(one: Judgement) -> list[str]:
    told = [(two.kind, f"{100 * two.share:.0f} %") for two in one.gap.explanations[:2]]
    shown = [(kind, share) for kind, share in told] + [("–", "–")] * (2 - len(told))
    first = one.first or one.gap.state
    return [
        str(one.planted.seed),
        one.planted.kind,
        one.planted.told,
        first,
        shown[0][1],
        *shown[1],
        "yes" if one.is_right else "no",
    ]


TABLES: Mapping[str, Callable[[], str]] = {"gaps": gaps, "unchanged": without}
SAMPLES: Mapping[str, Callable[[], list[str]]] = {"gaps": sample}

if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
