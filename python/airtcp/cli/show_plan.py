"""A plan on a terminal: the document of `airtcp.messages.plan`, or a channel plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from airtcp.cli.show import new_console, print_table
from airtcp.document import terminal
from airtcp.exceptions import one_line
from airtcp.messages import plan as words
from airtcp.present import channel_plan

if TYPE_CHECKING:
    from rich.console import Console

    from airtcp.results.channel_plans import ChannelPlan
    from airtcp.results.plans import Plan


def plan(found: Plan, *, details: bool = False) -> None:
    """Print a plan on stdout; `details` adds long configurations."""
    terminal.show(new_console(), list(words.parts(found, everything=details)))


def channels(found: ChannelPlan) -> None:
    """Print a channel plan on stdout."""
    console = new_console()
    console.print(Text(one_line(channel_plan.answer_line(found)), style="bold"))
    for line in (channel_plan.today_line(found), channel_plan.second_line(found)):
        if line is not None:
            console.print(Text(one_line(line)))
    console.print(Text(one_line(channel_plan.depth_line(found)), style="dim"))
    left_out = channel_plan.left_out_line(found)
    if left_out is not None:
        console.print(Text(one_line(left_out), style="dim"))
    console.print()
    print_table(console, channel_plan.CELLS_HEAD, channel_plan.cell_rows(found))
    console.print()
    print_table(console, channel_plan.PLANS_HEAD, channel_plan.plan_rows(found), least_first=12)
    lines = channel_plan.apply_lines(found)
    if lines:
        console.print(Text("\nApply it", style="bold"))
    for line in lines:
        _line(console, line)


def _line(console: Console, line: str) -> None:
    """Print a line without wrapping: a bar, or text to copy."""
    console.print(Text(line, no_wrap=True, overflow="ignore"), crop=False, soft_wrap=True)
