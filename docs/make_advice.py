"""Make the tables of advice.md: planted faults, what was named first, and what that mended.

Seeds are fixed, and were so before there was an engine: whoever runs this gets the same tables.

    .venv/bin/python docs/make_advice.py
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import tables
from airtcp.amounts import quantity
from airtcp.metrics import METRICS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guide" / "advice.md"

sys.path.insert(0, str(ROOT / "validation" / "advice"))
from faults import HEALTHY_SEEDS, SEEDS, faults, healthy  # noqa: E402
from judged import Judgement, alarms, judge  # noqa: E402

_HEAD = (
    "seed",
    "network",
    "planted",
    "named first",
    "first remedy",
    "felt as",
    "without the fault",
    "with it",
    "with the remedy",
    "mended",
)


def planted() -> str:
    """Lists the planted faults with what was said and what that was worth."""
    rows = [_row(judge(fault)) for fault in faults(SEEDS)]
    named = sum(row[2] == row[3] for row in rows)
    mended = sum(row[-1] == "yes" for row in rows)
    all_ = ["", "", f"{len(rows)} faults", f"{named} right", *[""] * 5, f"{mended} mended"]
    return tables.markdown(_HEAD, [*rows, all_])


def unharmed() -> str:
    """Lists the healthy networks with the problems that were named."""
    rows = []
    for seed, network in zip(HEALTHY_SEEDS, healthy(HEALTHY_SEEDS), strict=True):
        rows.append([str(seed), network["title"], ", ".join(alarms(network)) or "none"])
    return tables.markdown(("seed", "network", "problems named"), rows)


def sample() -> list[str]:
    """Makes one row of the planted faults, which takes a second."""
    return _row(judge(next(faults([702]))))


def _row(one: Judgement) -> list[str]:
    feels = one.fault.feels
    about = METRICS[feels.metric]
    values = [
        "–" if value is None or value == math.inf else quantity(value, about.unit, 3)
        for value in (one.healthy, one.faulty, one.mended)
    ]
    return [
        str(one.fault.seed),
        one.fault.network,
        one.fault.cause,
        one.problem or "nothing",
        one.remedy or "none",
        f"{about.label}, {feels.group} {feels.part}s",
        *values,
        "yes" if one.is_mended else "no",
    ]


TABLES: Mapping[str, Callable[[], str]] = {"planted": planted, "unharmed": unharmed}
SAMPLES: Mapping[str, Callable[[], list[str]]] = {"planted": sample}

if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
