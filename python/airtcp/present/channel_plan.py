"""A channel plan in words, as rows of text, as a picture, and as a page.

The order is what each cell should use, what that gains, and whether another plan is as good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from airtcp.amounts import duration, quantity, quantity_with_interval, scaled
from airtcp.document import Code, Heading, Lines, Part, listing
from airtcp.document.page import document, headed, origin
from airtcp.document.page import html as html_of
from airtcp.messages.run import equipment, settings
from airtcp.present import drawing
from airtcp.present.drawing import BLUE, GREY, ORANGE, legend_above, new_figure, styled
from airtcp.stats import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp.document.tree import State
    from airtcp.results.channel_plans import ChannelPlan, TriedPlan

CAPTION: Final = "Goodput of each cell today, as planned, and in isolation."
CELLS_HEAD: Final = ("cell", "today", "best", "goodput today", "best", "alone")
PLANS_HEAD: Final = ("plan", "by the chain", "simulated", "best is better by", "runs")
#: The number of plans listed.
_TOLD: Final = 6


def plan_text(plan: ChannelPlan, one: TriedPlan) -> str:
    """Describe the settings of each cell: "law 36, tax 40", "law 36 14 dBm at (4, 0)"."""
    if plan.vary == ("channels",) and all(number is None for number in one.channels.values()):
        return "all on one channel"
    return ", ".join(f"{name} {cell_text(plan, one, name)}" for name in one.channels)


def cell_text(plan: ChannelPlan, one: TriedPlan, name: str) -> str:
    """Describe the varied settings of a cell."""
    words = []
    if "channels" in plan.vary:
        words.append(str(one.channels[name] or "–"))
    power, place = one.powers_dbm[name], one.positions[name]
    if "powers" in plan.vary and power is not None:
        words.append(f"{power:g} dBm")
    if "positions" in plan.vary and place is not None:
        words.append(f"at ({place[0]:g}, {place[1]:g})")
    return " ".join(words)


def _what(plan: ChannelPlan) -> str:
    """Name what is varied."""
    return " and ".join(plan.vary)


def answer_line(plan: ChannelPlan) -> str:
    """Describe the best plan and its result."""
    best = plan.best
    what = f"{plan.label} {_value(plan, best.value)}"
    if best is plan.today:
        return (
            f"None of the {_what(plan)} tried is better than today's "
            f"({plan_text(plan, best)}): {what}."
        )
    if not _is_better_than_today(plan):
        return (
            f"None of the {_what(plan)} tried is better than today's beyond chance "
            f"({plan_text(plan, plan.today)}): {plan.label} {_value(plan, plan.today.value)}."
        )
    return f"Best {_what(plan)}: {plan_text(plan, best)}: {what}."


def today_line(plan: ChannelPlan) -> str | None:
    """Describe the current plan, or the best one if it is not significantly better.

    None if the current plan is the best.
    """
    today = plan.today
    if today is plan.best:
        return None
    if not _is_better_than_today(plan):
        best = plan.best
        return (
            f"Best so far ({plan_text(plan, best)}): {_value(plan, best.value)}; "
            f"{_better_by(plan, today)}. Use longer runs or more replications."
        )
    return (
        f"Today ({plan_text(plan, today)}): {_value(plan, today.value)}; {_better_by(plan, today)}."
    )


def second_line(plan: ChannelPlan) -> str | None:
    """Describe the second-best plan, and whether the best is significantly better.

    None if there is none. If the current plan is second, this says whether a change is worthwhile.
    """
    second = plan.second
    if second is None or (second is plan.today and not _is_better_than_today(plan)):
        return None
    whose = "today's, " if second is plan.today else ""
    return (
        f"Second best: {whose}{plan_text(plan, second)}: {_value(plan, second.value)}; "
        f"{_better_by(plan, second)}."
    )


def depth_line(plan: ChannelPlan) -> str:
    """Describe the number of plans, how many were simulated, and the effort."""
    cells, channels = len(plan.best.channels), ", ".join(map(str, plan.allowed))
    several = "s" if plan.plans != 1 else ""
    on = f" on the channels {channels}" if plan.allowed else ""
    met = (
        ""
        if plan.ranked >= plan.plans
        else f", out of {plan.ranked:,} that it compared while it moved one cell at a time"
    )
    silent = f" Reason for cells without a number: {plan.silence}." if plan.silence else ""
    return (
        f"{plan.plans:,} plan{several} of {cells} cells{on}, of which the chain of "
        f"independent sets chose{met}; {len(plan.tried)} simulated, including today's: "
        f"{plan.runs} replications, {duration(plan.simulated_s)} simulated in "
        f"{duration(plan.wall_s)}.{silent}"
    )


def left_out_line(plan: ChannelPlan) -> str | None:
    """List powers and positions that were excluded, with the rule for the first; None without."""
    if not plan.left_out:
        return None
    (name, why), *others = plan.left_out.items()
    more = f", and {len(others)} more" if others else ""
    return f"Left out: {name} ({why}){more}."


def cell_rows(plan: ChannelPlan) -> list[tuple[str, ...]]:
    """Return a row for each cell: its settings, and its goodput today, planned and isolated."""
    best, today = plan.best, plan.today
    return [
        (
            name,
            cell_text(plan, today, name),
            cell_text(plan, best, name),
            quantity_with_interval(today.cells[name], "b/s"),
            quantity_with_interval(best.cells[name], "b/s"),
            quantity(plan.alone.get(name), "b/s", 3),
        )
        for name in best.channels
    ]


def plan_rows(plan: ChannelPlan) -> list[tuple[str, ...]]:
    """Return a row for each of the best simulated plans, and for the current one."""
    rows: list[tuple[str, ...]] = []
    for place, one in enumerate(plan.tried):
        if place < _TOLD or one is plan.today:
            name = plan_text(plan, one) + (" (today)" if one is plan.today else "")
            known = one.guess is not None
            guess = _value(plan, Interval(one.guess, None, None, 1)) if known else "–"
            behind = "–" if one is plan.best else _value(plan, one.behind)
            rows.append((name, guess, _value(plan, one.value), behind, str(one.value.n)))
    return rows


def apply_lines(plan: ChannelPlan) -> list[str]:
    """Return the options and, by access point, the device settings that make the best plan.

    Empty if it is not significantly better than the current plan.
    """
    if not plan.changes or not _is_better_than_today(plan):
        return []
    lines = [settings(plan.changes)]
    for name, tools in plan.apply.items():
        lines += equipment(
            {f"{tool}, access point {name}": told for tool, told in tools.items()}, ()
        )
    return lines + equipment({}, plan.notes)


def picture(plan: ChannelPlan) -> Figure:
    """Draw bars of each cell's goodput: today, with the best plan, and isolated."""
    names = list(plan.best.channels)
    series = (
        ("alone", [plan.alone.get(name, 0.0) for name in names], GREY),
        ("best", [plan.best.cells[name].mean or 0.0 for name in names], BLUE),
        ("today", [plan.today.cells[name].mean or 0.0 for name in names], ORANGE),
    )
    with styled():
        figure, axes = new_figure(height=1.4 + 0.55 * len(names))
        factor, unit = scaled(max(max(values) for _, values, _ in series), "b/s")
        for place, (label, values, colour) in enumerate(series):
            heights = [row + 0.26 * (place - 1) for row in range(len(names))]
            axes.barh(
                heights, [one / factor for one in values], height=0.24, color=colour, label=label
            )
        axes.set_yticks(
            range(len(names)),
            [
                f"{name}: {cell_text(plan, plan.today, name)} → {cell_text(plan, plan.best, name)}"
                for name in names
            ],
        )
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"goodput, {unit}")
        legend_above(figure, axes)
    return figure


def pictures(plan: ChannelPlan) -> dict[str, Figure]:
    """Return the picture, by its name."""
    return {"channels": picture(plan)}


def parts(plan: ChannelPlan) -> Iterator[Part]:
    """Yield the answer, the goodput of each cell, the best plans, and how to make the best one."""
    lines: list[tuple[str, State]] = [(answer_line(plan), "bold")]
    lines += [(line, "") for line in (today_line(plan), second_line(plan)) if line]
    lines += [(line, "dim") for line in (depth_line(plan), left_out_line(plan)) if line]
    yield Lines(lines)
    yield listing(CELLS_HEAD, cell_rows(plan))
    yield listing(PLANS_HEAD, plan_rows(plan), least_first=12, prose={0})
    if lines_to_apply := apply_lines(plan):
        yield from (Heading("Apply it"), Code(lines_to_apply))


def html(plan: ChannelPlan, svgs: Mapping[str, str]) -> str:
    """Return the page of a plan as one self-contained HTML document, with its picture as SVG."""
    title = plan.scenario.title or "Untitled scenario"
    answer, *tables = parts(plan)
    shown = [*headed(title, plan.stopped), *html_of([answer])]
    shown += [drawing.framed(svg, name, CAPTION) for name, svg in svgs.items()]
    shown += html_of(tables)
    shown += origin("Where this comes from", plan.to_dict()["provenance"])
    return document(title, shown)


def _is_better_than_today(plan: ChannelPlan) -> bool:
    """Whether the best plan differs from the current one and is significantly better.

    With one run there is no interval, and any improvement counts.
    """
    behind = plan.today.behind
    if plan.best is plan.today or not behind.mean:
        return False
    return behind.low is None or behind.low > 0.0


def _better_by(plan: ChannelPlan, other: TriedPlan) -> str:
    behind = other.behind
    runs = f"{behind.n} run{'s' if behind.n != 1 else ''}"
    if behind.mean == 0.0 and behind.low == behind.high:
        return f"{behind.n} runs show no difference"
    by = f"the best is better by {_value(plan, behind)}"
    if behind.low is None:
        return f"{by}, from one run, so it may be chance"
    if behind.low > 0.0:
        return f"{by}, beyond chance ({runs})"
    return f"{by}, which may be chance ({runs})"


def _value(plan: ChannelPlan, value: Interval) -> str:
    if plan.unit == "%":
        return quantity_with_interval(value.scaled(100.0), "") + " %"
    return quantity_with_interval(value, plan.unit)
