"""A plan as a picture and as a page; its words are in `airtcp.messages.plan`."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Final

from airtcp.amounts import scaled
from airtcp.document.page import document, headed, origin
from airtcp.document.page import html as html_of
from airtcp.messages import plan as words
from airtcp.present import drawing
from airtcp.present.drawing import (
    BLUE,
    GREEN,
    VERMILION,
    legend_above,
    new_figure,
    styled,
    whole_ticks,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp.conditions import Condition
    from airtcp.results.plans import Plan

CAPTION: Final = "Simulated values with intervals, the bound of the target, and the capacity."


def picture(plan: Plan, condition: Condition) -> Figure:
    """Draw a metric along the axis of the plan, with its bound and the last value that meets it."""
    with styled():
        figure, axes = new_figure(height=3.8)
        unit = condition.about.read_in
        seen = [
            (one.value, told)
            for one in plan.evidence
            if (told := one.metrics.get(condition.text)) is not None and told.mean is not None
        ]
        factor, name = scaled(condition.bound, unit)
        axis_unit = "" if plan.answer is None else plan.answer.unit
        across, across_name = scaled(max((value for value, _ in seen), default=1.0), axis_unit)
        xs = [value / across for value, _ in seen]
        means = [(one.mean or 0.0) / factor for _, one in seen]
        widths = [(one.half_width or 0.0) / factor for _, one in seen]
        axes.errorbar(
            xs,
            means,
            yerr=widths,
            color=BLUE,
            marker="o",
            markersize=4,
            linewidth=1.4,
            elinewidth=1.1,
            capsize=2.5,
            label="simulation",
        )
        axes.axhline(
            condition.bound / factor,
            color=VERMILION,
            linewidth=1.2,
            label=f"bound {condition.bound_text}",
        )
        if plan.answer is not None:
            answer = plan.answer
            if answer.low is not None and answer.high is not None:
                axes.axvspan(
                    answer.low / across,
                    answer.high / across,
                    color=GREEN,
                    alpha=0.22,
                    linewidth=0,
                    label=f"{100 * answer.confidence:g} % CI",
                )
            axes.axvline(answer.value / across, color=GREEN, linewidth=1.2)
        if xs:
            top = 1.25 * max([condition.bound / factor, *means])
            axes.set_ylim(0.0, top)
        if not axis_unit:
            whole_ticks(axes, xs)
        axes.set_xlabel(f"{plan.label} ({across_name})" if across_name else plan.label)
        axes.set_ylabel(f"{condition.label} ({name})" if name else condition.label)
        legend_above(figure, axes)
    return figure


def pictures(plan: Plan) -> dict[str, Figure]:
    """Return a picture for each condition that was simulated: plan, plan-2, ..."""
    found = {}
    for number, condition in enumerate(plan.conditions, start=1):
        if any(one.metrics[condition.text].mean is not None for one in plan.evidence):
            found["plan" if number == 1 else f"plan-{number}"] = picture(plan, condition)
    return found


def html(plan: Plan, svgs: Mapping[str, str]) -> str:
    """Return the page of a plan as one self-contained HTML document, with its pictures as SVG."""
    title = plan.scenario.title or "Untitled scenario"
    parts = headed(title, plan.stopped)
    parts += list(html_of(list(words.parts(plan))[1:]))
    parts += [drawing.framed(svg, name, CAPTION) for name, svg in svgs.items()]
    if plan.left_out:
        text = "; ".join(f"{name}: {why}" for name, why in plan.left_out.items())
        parts.append(f"<p class='muted'>Not tried: {escape(text)}.</p>")
    parts += origin("Where this comes from", plan.to_dict()["provenance"])
    return document(title, parts)
