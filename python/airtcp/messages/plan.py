"""The screen of `airtcp plan`: the capacity, what fails first, the curve, and what raises it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from airtcp.amounts import duration, percent
from airtcp.conditions import Condition, read_condition
from airtcp.document import Code, Column, Heading, Lines, Note, Part, Table
from airtcp.messages import words
from airtcp.messages.run import configuration, settings
from airtcp.units import format_rate, format_size, format_time_s

if TYPE_CHECKING:
    from airtcp.document.tree import State
    from airtcp.results.plans import Answer, Gain, Limit, Plan

#: Maximum number of values drawn of the curve, and the width of its bars.
_ROWS: Final = 7
_BAR: Final = 36
#: An upper end beyond this many times the capacity is not printed.
_UNKNOWN: Final = 3.0


def parts(plan: Plan, *, everything: bool = False) -> Iterator[Part]:
    """Yield the screen of a plan; `everything` adds long configurations."""
    yield Heading(plan.scenario.title or "Untitled scenario")
    yield Lines([(line, state) for line, state in lines(plan)])
    curve = first(plan)
    if curve is not None:
        table = bars(plan, curve)
        if table is not None:
            yield table
    gaining = [one for one in plan.remedies if one.verdict in ("gains", "costs others")]
    if gaining:
        yield changes(plan, gaining)
    elif plan.tried:
        yield Note(f"None of {words.plural(plan.tried, 'change')} tried raises the capacity.")
    best = plan.best
    if best is not None:
        yield Lines([(f"Apply: {best.title}", "bold")])
        lines_of = configuration(best.apply, best.notes, everything=everything)
        yield Code([settings(best.changes), *lines_of])
    yield Note(
        f"{words.plural(plan.runs, 'run')}, {duration(plan.simulated_s)} simulated in "
        f"{duration(plan.wall_s)}."
    )


def lines(plan: Plan) -> Iterator[tuple[str, State]]:
    """Yield the capacity, the targets that always fail, the one that fails first, and cautions."""
    if plan.answer is not None and plan.never:
        yield none(plan), "bold"
        yield answer(plan), ""
    else:
        yield answer(plan), "bold"
    told = limits(plan)
    if told:
        yield told, ""
    if plan.unsteady is not None:
        enough_s = plan.unsteady.get("simulate_s")
        longer = f" Use --set run.duration={math.ceil(enough_s)}s." if enough_s else ""
        yield f"! Runs too short: {plan.unsteady['reason']}. It may be fewer.{longer}", "open"
    if plan.stopped == "time":
        yield "Stopped by --limit: the best that is known so far.", "open"


def answer(plan: Plan) -> str:
    """Return the capacity as a sentence: "Supports 8 stations (95 % CI 6–8); you have 28.".

    If targets are missed at every value, it is the capacity by the others.
    """
    found = plan.answer
    if found is None:
        if plan.stopped == "done":
            return none(plan)
        return "No answer yet: the capacity is not enclosed."
    of = value(plan, found.value)
    interval = interval_text(plan, found)
    ci = f" ({100 * found.confidence:g} % CI {interval})" if interval else ""
    if found.vary == "stations" or found.vary.endswith(".count"):
        noun = "station" if found.value == 1 else "stations"
        group = found.vary.removeprefix("stations").removesuffix(".count").strip(".")
        noun = f"{noun} of {group}" if group else noun
        have = ""
        if plan.present is not None and found.vary == "stations":
            have = f"; you have {plan.present:g}"
        if plan.never:
            more = " and more" if found.high is None else ""
            return f"The other targets are met up to {of} {noun}{ci}{more}{have}."
        return f"Supports {of} {noun}{ci}{have}."
    which = "The other" if plan.never else "All"
    return f"{which} targets are met up to {found.vary} = {of}{ci}."


def none(plan: Plan) -> str:
    """Return the targets that are missed even at the first value, as a sentence."""
    least = _number(plan, plan.evidence[0].value) if plan.evidence else "one"
    missed = [f"{words.about(text)} {bound(text)}" for text in plan.never]
    if len(missed) == len(plan.conditions) > 1:
        return f"Supports none: every target is missed even at {least}."
    told = f"{missed[0]} is" if len(missed) == 1 else f"{words.listed(missed, 1)} are"
    return f"Supports none: {told} missed even at {least}."


def _number(plan: Plan, number: float) -> str:
    return f"{number:g} stations" if plan.label == "stations" else f"{number:g}"


def limits(plan: Plan) -> str:
    """Return which targets fail first, in order: "First to fail: caller packet delay, p95 ..."."""
    if not plan.limits:
        return ""
    told = [f"First to fail: {_limit(plan, plan.limits[0])}"]
    told += [f"then {_limit(plan, one)}" for one in plan.limits[1:3]]
    return "; ".join(told)


def _limit(plan: Plan, one: Limit) -> str:
    return f"{words.about(one.target)} {bound(one.target)} (missed at {value(plan, one.at)})"


def bound(text: str) -> str:
    """Return the bound of a target with its sign: "< 50 ms"."""
    return words.wanted(read_condition(text))


def value(plan: Plan, number: float) -> str:
    """Return a value of the varied key with its unit."""
    unit = "" if plan.answer is None else plan.answer.unit
    writers = {"s": format_time_s, "b/s": format_rate, "B": format_size}
    if unit in writers:
        return writers[unit](number, 3)
    if unit == "m":
        return f"{number:.3g} m"
    return percent(number) if unit == "%" else f"{number:g}"


def interval_text(plan: Plan, found: Answer) -> str:
    """Return the interval of the capacity: "6–8", "at least 6"; "" if one end is unknown.

    An upper end far above the value says nothing.
    """
    if found.low is None or found.high is None:
        return ""
    low, high = value(plan, found.low), value(plan, found.high)
    if found.value > 0.0 and found.high > _UNKNOWN * found.value:
        return f"at least {low}"
    number, _, unit = low.rpartition(" ")
    return f"{number if number and high.endswith(f' {unit}') else low}–{high}"


def first(plan: Plan) -> Condition | None:
    """Return the target whose curve is drawn: the one that fails first."""
    text = plan.limits[0].target if plan.limits else None
    return next((one for one in plan.conditions if one.text == text), None) or (
        plan.conditions[0] if plan.conditions else None
    )


def bars(plan: Plan, condition: Condition) -> Table | None:
    """Return the curve of a target as bars, with the bound marked; None if it has no values."""
    known = [
        (one.value, told.mean)
        for one in plan.evidence
        if (told := one.metrics.get(condition.text)) is not None and told.mean is not None
    ]
    if not known:
        return None
    at = plan.present if plan.answer is None else plan.answer.value
    if at is not None and len(known) > _ROWS:
        known = sorted(sorted(known, key=lambda one: abs(one[0] - at))[:_ROWS])
        known.sort(key=lambda one: [each.value for each in plan.evidence].index(one[0]))
    most = min(max(max(mean for _, mean in known) / condition.bound, 1.2), 3.0)
    mark = round(_BAR / most)
    rows = []
    for number, mean in known:
        length = min(_BAR, max(1, round(mean / condition.bound * mark)))
        bar = ["█" if place < length else " " for place in range(_BAR)]
        bar[mark - 1] = "│" if length < mark else "┃"
        rows.append((value(plan, number), "".join(bar).rstrip(), condition.about.format(mean)))
    return Table(
        [
            Column(plan.label, right=True),
            Column(f"{' ' * (mark - 1)}│ {words.wanted(condition)}"[:_BAR].rstrip()),
            Column(words.target_about(condition).replace("  ", " "), right=True),
        ],
        rows,
    )


def changes(plan: Plan, gaining: Sequence[Gain]) -> Table:
    """Return the changes that raise the capacity, in the given order."""
    counted = bool(plan.never)
    rows = [
        (
            one.title,
            *([met(plan, one)] if counted else []),
            supports(plan, one),
            limited_by(one),
            costs(one),
        )
        for one in gaining
    ]
    rest = plan.tried - len(rows)
    more = f"{words.plural(rest, 'more change')} tried, with less, uncertain or no gain"
    return Table(
        [
            Column("change"),
            *([Column("targets", right=True)] if counted else []),
            Column("supports", right=True),
            Column("limited by", rank=2),
            Column("costs", rank=1),
        ],
        rows,
        ["good" if one.verdict == "gains" else "" for one in gaining],
        [(more, "dim")] if rest > 0 else [],
    )


def met(plan: Plan, one: Gain) -> str:
    """Return the number of targets that a change meets at the first value: "4 of 5"."""
    of = len(plan.conditions)
    return f"{of - len(one.never)} of {of}"


def supports(plan: Plan, one: Gain) -> str:
    """Return the capacity with a change: "19 (17–21)"."""
    if one.endless:
        return "no limit found"
    if one.answer is None:
        return "–"
    interval = interval_text(plan, one.answer)
    least = "≥ " if one.answer.high is None else ""
    return f"{least}{value(plan, one.answer.value)}" + (f" ({interval})" if interval else "")


def limited_by(one: Gain) -> str:
    """Return the target that limits the capacity with a change."""
    return words.about(one.limits[0].target) if one.limits else ""


def costs(one: Gain) -> str:
    """Return the cost of a change: its kind, or which group loses most."""
    return words.COSTS[one.cost] or words.lost(one.loses)
