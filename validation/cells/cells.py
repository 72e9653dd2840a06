"""Print every row of ns-3 and of the second witness on several cells beside airtcp.

Exit status 1 if fewer than 95 % of the goodputs of ns-3 are met, or another starves than there.

    .venv/bin/python validation/cells/cells.py              # all, some minutes
    .venv/bin/python validation/cells/cells.py chain3       # those whose name has the word
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from cells.rows import GRAPHS, NS3, SYMMETRIC, Judged, Row, judge, ours, scenarios, starved

#: The share of goodputs that have to be met.
ENOUGH = 0.95


def main(words: list[str]) -> int:
    """Prints the tables and returns the exit status."""
    wanted = [name for name in scenarios(NS3 + GRAPHS) if all(word in name for word in words)]
    judged: list[Judged] = []
    others = 0
    for name in wanted:
        answers = ours(name)
        found = [judge(row, answers) for row in NS3 + GRAPHS if row.scenario == name]
        for one in found:
            print(line(one))
        flows = [one for one in found if one.row.metric.startswith("flow_goodput")]
        if name not in SYMMETRIC:
            judged += [one for one in found if "goodput" in one.row.metric]
        if flows and name not in SYMMETRIC:
            theirs = starved({one.row.of: one.row.mean for one in flows})
            mine = starved({one.row.of: one.mean for one in flows})
            if len(theirs) != len(mine):
                others += 1
                print(f"  starved there: {sorted(theirs)}, here: {sorted(mine)}")
    met = sum(one.met for one in judged)
    share = met / len(judged) if judged else 1.0
    print(f"\n{met} of {len(judged)} goodputs are met ({share:.1%}); another starves in {others}")
    return int(share < ENOUGH or others > 0)


def line(one: Judged) -> str:
    """A row, ours, and whether it is met."""
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
