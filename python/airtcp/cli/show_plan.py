"""A plan on a terminal: the answer first, then the curve, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from airtcp.cli.show import new_console, print_table
from airtcp.exceptions import one_line
from airtcp.present import channel_plan
from airtcp.messages.run import equipment, settings
from airtcp.present.plan import (
    IDEAS,
    REMEDIES_HEAD,
    answer_line,
    bars,
    best_line,
    costs,
    depth_line,
    doubt_line,
    limits_line,
    recommended,
    remedies_line,
    remedy_rows,
)

if TYPE_CHECKING:
    from rich.console import Console

    from airtcp.results.channel_plans import ChannelPlan
    from airtcp.results.plans import Plan

#: Remedies whose lines are shown.
_APPLIED: Final = 2
_STYLES: Final = {
    "helps": "green",
    "costs others": "yellow",
    "too noisy to tell": "dim",
    "harms": "red",
    "no gain": "dim",
    "behind": "dim",
}


def plan(found: Plan) -> None:
    """Print a plan on stdout."""
    console = new_console()
    console.print(Text(answer_line(found), style="bold"))
    doubt = doubt_line(found)
    if doubt is not None:
        console.print(Text(doubt, style="yellow"))
    console.print(Text(depth_line(found), style="dim"))
    best = best_line(found)
    if best is not None:
        console.print(Text(best, style="bold"))
    limits = limits_line(found)
    if limits is not None:
        console.print(Text(one_line(limits)))
    for condition in found.conditions:
        lines = bars(found, condition, console.width)
        if lines:
            console.print()
            head = f"{condition.label} by {found.label}; the bound is {condition.bound_text}"
            console.print(Text(one_line(head), style="dim"))
        for line in lines:
            _line(console, line)
    _remedies(console, found)


def channels(found: ChannelPlan) -> None:
    """Print a plan of channels on stdout."""
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


def _remedies(console: Console, found: Plan) -> None:
    """The remedies in a table, and of the best that equipment can do the lines."""
    if not found.remedies:
        return
    console.print()
    for head, research in ((None, False), (IDEAS, True)):
        rows: list[tuple[str | Text, ...]] = [
            (*cells, Text(verdict, style=_STYLES.get(verdict, "")))
            for *cells, verdict in remedy_rows(found, research=research)
        ]
        if rows and head:
            console.print(Text(f"\n{head}"))
        if rows:
            print_table(console, REMEDIES_HEAD, rows)
    console.print(Text(remedies_line(found) or "", style="dim"))
    for line in costs(found):
        console.print(Text(f"{line}.", style="dim"))
    if found.left_out:
        told = "; ".join(f"{name} ({one_line(why)})" for name, why in found.left_out.items())
        console.print(Text(f"Not tried: {told}.", style="dim"))
    applicable = recommended(found)
    for one in applicable[:_APPLIED]:
        console.print(Text(f"\nApply it: {one.title}", style="bold"))
        for line in others(one):
            console.print(Text(line, style="dim"))
        for line in (settings(one.changes), *equipment(one.apply, one.notes)):
            _line(console, line)
    if len(applicable) > _APPLIED:
        console.print(Text("\n--json and --out have the lines of all", style="dim"))


def _line(console: Console, line: str) -> None:
    """A line that is never broken: a bar, or what is to be copied."""
    console.print(Text(line, no_wrap=True, overflow="ignore"), crop=False, soft_wrap=True)
