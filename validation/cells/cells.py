"""Print every row of ns-3 and of the second simulator on several cells, next to airtcp.

Exit status 1 if airtcp matches fewer than 95 % of the goodputs of ns-3, with UDP or with TCP, or
if different stations starve. Rows of the second simulator and frame failure ratios are reported
only.

    .venv/bin/python validation/cells/cells.py              # all, some minutes
    .venv/bin/python validation/cells/cells.py chain3       # only names that contain the word
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from cells.rows import (
    GRAPHS,
    HELD_OUT,
    NS3,
    SYMMETRIC,
    Judged,
    Row,
    flows_of,
    judge,
    ours,
    scenarios,
    starved_apart,
)

#: The required fraction of matching goodputs.
ENOUGH = 0.95
ALL = NS3 + HELD_OUT + GRAPHS


def main(words: list[str]) -> int:
    """Print the tables and return the exit status."""
    wanted = [name for name in scenarios(ALL) if all(word in name for word in words)]
    judged: list[Judged] = []
    others = 0
    for name in wanted:
        answers = ours(name)
        found = [judge(row, answers) for row in ALL if row.scenario == name]
        for one in found:
            print(line(one))
        judged += found
        if name not in SYMMETRIC and (apart := starved_apart(found)):
            others += 1
            print(f"  starved here or there alone: {sorted(apart)}")
    enough = others == 0
    for told, of in KINDS.items():
        rows = [one for one in judged if of(one.row)]
        if rows:
            met = sum(one.met for one in rows)
            print(f"{told}: {met} of {len(rows)} are met ({met / len(rows):.1%})")
            enough &= not told.startswith("ns-3, goodputs") or met >= ENOUGH * len(rows)
    print(f"another starves in {others}")
    return int(not enough)


def is_judged(row: Row) -> bool:
    """Return True if the row is a goodput of ns-3, of which 95 % must match."""
    return row in NS3 and row.scenario not in SYMMETRIC and row in flows_of(row.scenario)


#: The kinds of rows that are counted separately.
KINDS: dict[str, Callable[[Row], bool]] = {
    "ns-3, goodputs with UDP": lambda row: is_judged(row) and "udp" in row.scenario,
    "ns-3, goodputs with TCP": lambda row: is_judged(row) and "tcp" in row.scenario,
    "ns-3, shares of frames that failed": lambda row: (
        row in NS3 and row.scenario not in SYMMETRIC and row.metric.startswith("failed")
    ),
    "ns-3, goodputs held out": lambda row: row in HELD_OUT and row in flows_of(row.scenario),
    "ns-3, shares held out": lambda row: row in HELD_OUT and row.metric.startswith("failed"),
    "second witness, goodputs": lambda row: row in GRAPHS and "goodput" in row.metric,
    "second witness, shares that failed": lambda row: row in GRAPHS and "failed" in row.metric,
}


def line(one: Judged) -> str:
    """Format a row of ns-3, the value of airtcp, and whether they match."""
    row: Row = one.row
    unit, scale = ("Mb/s", 1e6) if "goodput" in row.metric else ("", 1.0)
    sign = " " if one.met else "*"
    return (
        f"{sign} {row.scenario:45.45} {row.metric:24} {row.mean / scale:8.3f} "
        f"+- {row.half_width / scale:5.3f}  {one.mean / scale:8.3f} +- "
        f"{one.half_width / scale:5.3f} {unit}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
