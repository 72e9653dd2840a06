"""A plan in words, in rows of text, in a picture, and as a page.

Knows what a reader wants first: the answer, how sure it is, what it rests on. Computes no results.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from airtcp.amounts import duration, percent, quantity, quantity_with_interval, scaled
from airtcp.files import prepare, write_files
from airtcp.present import drawing
from airtcp.messages.run import equipment, settings
from airtcp.present.drawing import (
    BLUE,
    GREEN,
    ORANGE,
    VERMILION,
    legend_above,
    new_figure,
    styled,
    whole_ticks,
)
from airtcp.present.markup import document, origin, table
from airtcp.results.glance import SOURCE
from airtcp.stats import Interval
from airtcp.units import format_rate, format_size, format_time_s

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp.conditions import Condition
from airtcp.results.plans import Answer, Gain, Plan

#: Reasons that are told.
_LIMITS: Final = 2

CAPTION: Final = "What was simulated, with intervals; the bound; and where it is crossed for sure."


@dataclass(frozen=True, slots=True)
class Point:
    """One simulated value: `part` is its mean over the bound.

    It is `beyond` where the mean is past the bound and the value past the answer, which is that of
    a curve through all of them.
    """

    value: str
    mean: str
    part: float
    beyond: bool


def value_text(plan: Plan, number: float) -> str:
    """A value of the axis for people."""
    unit = "" if plan.answer is None else plan.answer.unit
    writers = {"s": format_time_s, "b/s": format_rate, "B": format_size}
    if unit in writers:
        return writers[unit](number, 3)
    return percent(number) if unit == "%" else f"{number:g}"


def answer_line(plan: Plan) -> str:
    """The answer and how sure it is, in a sentence."""
    answer = plan.answer
    texts = " or ".join(plan.until)
    if answer is None:
        return f"No answer yet: it is not known where {texts}."
    unit = _unit_of(answer) or f" ({answer.vary})"
    return f"{value_text(plan, answer.value)}{unit}, {_sure(plan, answer)}, before {texts}."


def _unit_of(answer: Answer) -> str:
    """The noun after a number of stations: all of them, or those of the group that grows."""
    table, _, rest = answer.vary.partition(".")
    if table != "stations" or (rest and not rest.endswith(".count")):
        return ""
    noun = " station" if answer.value == 1.0 else " stations"
    return f"{noun} of {rest.removesuffix('.count')}" if rest else noun


def _sure(plan: Plan, answer: Answer) -> str:
    sure = f"{100 * answer.confidence:g} % sure"
    low = None if answer.low is None else value_text(plan, answer.low)
    high = None if answer.high is None else value_text(plan, answer.high)
    if low is not None and high is not None:
        return f"{sure} of {low}" if low == high else f"{sure} of {low} to {high}"
    if low is not None:
        return f"{sure} of {low} or more"
    return f"{sure} of {high} or less" if high is not None else "but nothing is sure"


def doubt_line(plan: Plan) -> str | None:
    """Say that the runs cannot tell yet, and why; None if they can."""
    answer = plan.answer
    if plan.unsteady is None:
        is_open = answer is not None and answer.low is None and answer.high is None
        if is_open and plan.stopped == "done":
            return "Chance hides it: ask for more replications (run.replications)."
        return None
    rest = " What remedies do there rests on the same runs." if plan.remedies else ""
    if plan.is_bounded:
        return f"It is not known better than that: {plan.unsteady}.{rest}"
    return f"Cannot tell yet, it may not carry as far as that: {plan.unsteady}.{rest}"


def depth_line(plan: Plan) -> str:
    """Which depth answered, with how many runs, and what models thought."""
    values = len({one.value for one in plan.evidence if one.depth == "simulation"})
    runs = f"{plan.runs} replication{'s' if plan.runs != 1 else ''}"
    words = (
        f"The simulator decided: {runs} at {values} value{'s' if values != 1 else ''}, "
        f"{duration(plan.simulated_s)} simulated in {duration(plan.wall_s)}."
    )
    if plan.remedies:
        words = (
            f"The simulator decided: {runs} in all, {duration(plan.simulated_s)} simulated in "
            f"{duration(plan.wall_s)}."
        )
    if plan.guess is not None:
        what = "" if any(one.mean_metric is None for one in plan.conditions) else " for the mean"
        if plan.guessed_by == SOURCE:
            return f"{words} Glances began it at {value_text(plan, plan.guess)}."
        return (
            f"{words} Models began it at {value_text(plan, plan.guess)}{what} ({plan.guessed_by})."
        )
    return f"{words} Neither models nor glances have an answer to begin with."


def points(plan: Plan, condition: Condition) -> list[Point]:
    """Say what was simulated, in the order of the axis."""
    found = []
    for one in plan.evidence:
        interval = one.metrics.get(condition.text)
        if one.depth != "simulation" or not isinstance(interval, Interval):
            continue
        told, unit = interval.mean, condition.about.read_in
        words = quantity_with_interval(interval, unit)
        if told is None:
            # Runs that are too short say what it is at least.
            told = interval.low
            words = "" if told is None else f"at least {quantity(told, unit, 3)}"
        if told is None:
            continue
        found.append(
            Point(
                value=value_text(plan, one.value),
                mean=words,
                part=told / condition.bound if condition.bound else 0.0,
                beyond=condition.excess(told) > 0.0 and not _is_carried(plan, one.value),
            )
        )
    return found


def _is_carried(plan: Plan, value: float) -> bool:
    """Tell whether a value is no further along the axis than the answer."""
    if plan.answer is None:
        return False
    falls = plan.evidence[0].value > plan.evidence[-1].value
    return value >= plan.answer.value if falls else value <= plan.answer.value


def bars(plan: Plan, condition: Condition, width: int) -> list[str]:
    """The curve for a terminal: a bar for each value, and a mark where the bound is."""
    rows = points(plan, condition)
    if not rows:
        return []
    most = max(max(row.part for row in rows), 1.0)
    names = max(len(row.value) for row in rows)
    means = max(len(row.mean) for row in rows)
    room = width - names - means - 4
    if room < 8:
        # The bar below its numbers.
        room = max(8, width - 3)
        lines = []
        for row in rows:
            lines += [f"{row.value.rjust(names)}  {row.mean}", f"  {_bar(row, most, room)}"]
        return lines
    return [
        f"{row.value.rjust(names)}  {_bar(row, most, room).ljust(room)}  {row.mean}" for row in rows
    ]


def _bar(row: Point, most: float, room: int) -> str:
    mark = min(room - 1, round((room - 1) / most))
    length = max(1, round((room - 1) * row.part / most))
    bar = ["█" if at < length else " " for at in range(room)]
    bar[mark] = "┃" if length <= mark else "▓"
    return "".join(bar).rstrip()


#: The columns of the table of remedies.
REMEDIES_HEAD: Final = ("remedy", "carries", "where the end was", "")


#: The line above what no equipment has.
IDEAS: Final = "Ideas of research, which no equipment has:"


def remedy_rows(plan: Plan, *, research: bool | None = None) -> list[tuple[str, str, str, str]]:
    """The remedies, the best first: what each is, how much further it carries, what it changes.

    With `research` those alone that equipment has, or has not.
    """
    chosen = [one for one in plan.remedies if research in (None, one.research)]
    return [_remedy_row(plan, one) for one in chosen]


def _remedy_row(plan: Plan, one: Gain) -> tuple[str, str, str, str]:
    condition = next(each for each in plan.conditions if each.text == one.metric)
    moved = "–"
    if one.gain is not None:
        moved = moved_text(plan, one.gain)
    elif one.answer is not None:
        # The end without it is not known well enough for a difference.
        moved = f"up to {value_text(plan, one.answer.value)}"
    return one.title, moved, signed(one.change, condition.about.read_in), VERDICTS[one.verdict]


#: The meanings of verdicts, for people.
VERDICTS: Final = {
    "gains": "helps",
    "costs others": "costs others",
    "cannot tell": "too noisy to tell",
    "none": "no gain",
    "behind": "behind",
    "loses": "harms",
}


def moved_text(plan: Plan, gain: Interval) -> str:
    """Tell how far a remedy moves the end: "+12.3 ± 1.1"."""
    unit = "" if plan.answer is None else plan.answer.unit
    return signed(gain, unit if unit in ("s", "b/s") else "")


def signed(interval: Interval, unit: str) -> str:
    """An interval of a difference, with its sign."""
    text = quantity_with_interval(interval, unit)
    return text if interval.mean is None or interval.mean <= 0.0 else f"+{text}"


def best_line(plan: Plan) -> str | None:
    """Name the remedy that helps most, in a sentence; None if no remedy was tried.

    Ideas of research, which nobody can buy, come last.
    """
    if not plan.remedies:
        return None
    helpful = [one for one in plan.remedies if one.verdict == "gains"]
    best = next((one for one in helpful if not one.research), None)
    if best is None:
        line = "No remedy that was tried helps for sure."
        if any(one.verdict == "cannot tell" for one in plan.remedies):
            line += " Of some more replications are needed to tell."
    else:
        line = f"What helps most: {best.title}{_further(plan, best)}."
    both = plan.together
    if both is not None and both.verdict == "gains" and not _goes_less_far(both, best):
        line += f" The best two at once, {both.title}{_further(plan, both)}."
    costly = next((one for one in plan.remedies if one.verdict == "costs others"), None)
    if best is None and costly is not None:
        line += (
            f" {_capital(costly.title)}{_further(plan, costly)}, but then "
            f"{', '.join(costly.hurts)} are badly served."
        )
    idea = next((one for one in helpful if one.research), None)
    if idea is not None:
        line += f" No equipment has it: {idea.title}{_further(plan, idea)}."
    return line


def _goes_less_far(both: Gain, best: Gain | None) -> bool:
    """Tell whether two remedies at once carry less far than the better one alone."""
    gains = [None if one is None or one.gain is None else one.gain.mean for one in (both, best)]
    return gains[0] is not None and gains[1] is not None and gains[0] < gains[1]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def limits_line(plan: Plan) -> str | None:
    """Tell the reasons that stop it just beyond the end; None if none was found."""
    if not plan.limits:
        return None
    told = "; ".join(f"{one.title} ({one.evidence})" for one in plan.limits[:_LIMITS])
    return f"Just beyond it: {told}."


def _further(plan: Plan, gain: Gain) -> str:
    if gain.answer is not None:
        what = _unit_of(gain.answer)
        low, high = gain.answer.low, gain.answer.high
        sure = ""
        if low is not None and high is not None and low != high:
            sure = f" ({value_text(plan, low)} to {value_text(plan, high)})"
        return f": {value_text(plan, gain.answer.value)}{what}{sure}"
    if gain.endless:
        return ": the condition holds nowhere any more"
    return ""


def remedies_line(plan: Plan) -> str | None:
    """Say what was done with the remedies and what was not; None if none was tried."""
    if not plan.remedies:
        return None
    tried = "1 remedy" if len(plan.remedies) == 1 else f"{len(plan.remedies)} remedies"
    words = (
        f"{tried} tried at the same random numbers, just beyond the end; "
        "with intervals of paired differences."
    )
    sought = sum(one.answer is not None for one in plan.remedies)
    words += f" Of the best {sought} the end was sought." if sought > 1 else ""
    if plan.stopped == "time":
        words += " The time was over before all was done."
    return words


def costs(plan: Plan) -> list[str]:
    """Of each remedy that loses much of the goodput, how much."""
    return [f"{one.title}: {one.cost}" for one in plan.remedies if one.cost]


def recommended(plan: Plan) -> list[Gain]:
    """Return the remedies to take, the best first: they help, and equipment has them."""
    return [one for one in plan.remedies if one.verdict == "gains" and not one.research]


def picture(plan: Plan, condition: Condition) -> Figure:
    """The curve of a metric along the axis, with its bound and where the end is."""
    with styled():
        figure, axes = new_figure(height=3.8)
        unit = condition.about.read_in
        seen = [
            (one.value, one.metrics[condition.text])
            for one in plan.evidence
            if one.depth == "simulation"
            and isinstance(one.metrics.get(condition.text), Interval)
            and one.metrics[condition.text].mean is not None  # type: ignore[union-attr]
        ]
        factor, name = scaled(condition.bound, unit)
        axis_unit = "" if plan.answer is None else plan.answer.unit
        across, across_name = scaled(max((value for value, _ in seen), default=1.0), axis_unit)
        xs = [value / across for value, _ in seen]
        means = [one.mean / factor for _, one in seen]  # type: ignore[union-attr, operator]
        widths = [(one.half_width or 0.0) / factor for _, one in seen]  # type: ignore[union-attr]
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
        for metric, label in (
            (condition.metric, "models"),
            (condition.mean_metric, "models, mean"),
        ):
            modelled = [
                (one.value / across, one.metrics[metric])
                for one in plan.evidence
                if metric
                and one.depth == "model"
                and metric in one.metrics
                and xs
                and min(xs) <= one.value / across <= max(xs)
            ]
            if len(modelled) > 1:
                axes.plot(
                    [value for value, _ in modelled],
                    [float(one) / factor for _, one in modelled],  # type: ignore[arg-type]
                    color=ORANGE,
                    linestyle="--",
                    linewidth=1.2,
                    label=label,
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
                    label=f"{100 * answer.confidence:g} % sure",
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


def write(plan: Plan, directory: Path) -> None:
    """Write results.json, report.html and the pictures (PNG and SVG) of a plan.

    Raises OutputError.
    """
    prepare(directory)
    figures = pictures(plan)
    svgs = drawing.svgs(figures)
    files = {
        "report.html": html(plan, svgs).encode(),
        "results.json": (plan.to_json() + "\n").encode(),
    }
    for name, figure in figures.items():
        files[f"{name}.svg"] = svgs[name].encode()
        files[f"{name}.png"] = drawing.png(figure)
    write_files(directory, files)


def pictures(plan: Plan) -> dict[str, Figure]:
    """A picture for each condition that something was simulated for: plan, plan-2, ..."""
    found = {}
    for number, condition in enumerate(plan.conditions, start=1):
        if points(plan, condition):
            found["plan" if number == 1 else f"plan-{number}"] = picture(plan, condition)
    return found


def html(plan: Plan, svgs: dict[str, str]) -> str:
    """The page of a plan, with its pictures as SVG, as one HTML document that loads nothing."""
    title = plan.scenario.title or "Untitled scenario"
    parts = [f"<h1>{escape(title)}</h1>"]
    if plan.stopped == "interrupted":
        parts.append("<p class='warning'>Interrupted: only what had ended is shown.</p>")
    parts += [
        f"<p class='note'>{escape(answer_line(plan))}</p>",
        *(
            f"<p class='note'>{escape(line)}</p>"
            for line in (doubt_line(plan), best_line(plan), limits_line(plan))
            if line
        ),
        f"<p class='muted'>{escape(depth_line(plan))}</p>",
    ]
    for name, svg in svgs.items():
        shown = drawing.inlined(svg, name, CAPTION)
        parts.append(f"<figure>{shown}<figcaption>{escape(CAPTION)}</figcaption></figure>")
    for condition in plan.conditions:
        rows = [
            [row.value, row.mean, "beyond" if row.beyond else ""] for row in points(plan, condition)
        ]
        head = [plan.label, condition.label, ""]
        parts += [f"<h2>{escape(condition.text)}</h2>", table(head, rows, numbers={0, 1})]
    parts += _remedies_html(plan)
    parts += origin("Where this comes from", plan.to_dict()["provenance"])
    return document(title, parts)


def _remedies_html(plan: Plan) -> list[str]:
    if not plan.remedies:
        return []
    rows = [list(row) for row in remedy_rows(plan, research=False)]
    if plan.together is not None:
        rows.append(list(_remedy_row(plan, plan.together)))
    ideas = [list(row) for row in remedy_rows(plan, research=True)]
    parts = ["<h2>Remedies</h2>", f"<p class='muted'>{escape(remedies_line(plan) or '')}</p>"]
    for head, some in (("", rows), (IDEAS, ideas)):
        if some:
            parts += [f"<p>{escape(head)}</p>"] if head else []
            parts.append(table(list(REMEDIES_HEAD), some, numbers={1, 2}, prose={0}))
    for one in plan.remedies:
        lines = "\n".join([settings(one.changes), *others(one), *equipment(one.apply, one.notes)])
        needs = ", ".join(one.where)
        parts += [
            f"<details><summary>{escape(one.title)}: {escape(needs)}; {escape(one.source)}"
            "</summary>",
            f"<pre>{escape(lines)}</pre></details>" if lines else "</details>",
        ]
    parts += [f"<p class='muted'>{escape(line)}.</p>" for line in costs(plan)]
    if plan.left_out:
        told = "; ".join(f"{name}: {why}" for name, why in plan.left_out.items())
        parts.append(f"<p class='muted'>Not tried: {escape(told)}.</p>")
    return parts
