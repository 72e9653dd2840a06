"""A plan on a terminal: the answer first, then the curve, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from airtcp.cli.show import new_console
from airtcp.exceptions import one_line
from airtcp.present.plan import answer_line, bars, depth_line

if TYPE_CHECKING:
    from airtcp.results.plans import Plan


def plan(found: Plan) -> None:
    """Print a plan on stdout."""
    console = new_console()
    console.print(Text(answer_line(found), style="bold"))
    console.print(Text(depth_line(found), style="dim"))
    for condition in found.conditions:
        lines = bars(found, condition, console.width)
        if lines:
            console.print()
            head = f"{condition.label} by {found.label}; the bound is {condition.bound_text}"
            console.print(Text(one_line(head), style="dim"))
        for line in lines:
            console.print(Text(line, no_wrap=True, overflow="ignore"), crop=False)
