"""The screen of `airtcp diff`: the change, the targets met, and what users feel of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from airtcp.amounts import quantity, scaled
from airtcp.document import Column, Heading, Lines, Note, Part, Table
from airtcp.judge.outcome import outcome_of
from airtcp.messages import words
from airtcp.metrics import METRICS, Metric
from airtcp.results.differences import NOTICED, Difference, Ranked

if TYPE_CHECKING:
    from airtcp.document.tree import State
    from airtcp.stats import Interval

#: Maximum number of rows.
_ROWS: Final = 12
#: Maximum number of rows about groups that are worse off.
_WORSE: Final = 5
#: Metrics that follow from other metrics of the same group, such as R from delay and loss.
_SAYS_LESS: Final = re.compile("r_factor|jitter|_p50_|_p99_|transfer_time_to")
_MARKS: Final = {"better": "✓", "worse": "✗"}
_STATES: Final[dict[str, State]] = {"better": "good", "worse": "bad"}


def parts(found: Difference, subject: Sequence[str], *, everything: bool = False) -> Iterator[Part]:
    """Yield the screen of a difference; `subject` describes the change."""
    n = found.replications
    aside = f"{words.plural(n, 'paired run')} · {100 * found.confidence:g} % CI"
    yield Heading(subject[0] if subject else "No key differs", aside)
    yield Lines([*((line, "dim") for line in subject[1:]), *decision(found)])
    ranked = [one for one in found.ranked() if one.change.separated]
    shown = ranked if everything else _first([one for one in ranked if one.is_noticed])
    yield from tables(shown)
    rest = rest_line(found, 0 if everything else len(ranked) - len(shown))
    if rest:
        yield Lines([(rest, "dim")])


def separated(found: Difference) -> list[Ranked]:
    """Return the significant changes, largest first. The goodput of a single flow appears once."""
    ranked = found.ranked()
    goodputs = {
        (one.group, one.part): (one.change.a.mean, one.change.b.mean)
        for one in ranked
        if one.metric == "goodput_bps"
    }
    return [
        one
        for one in ranked
        if one.change.separated
        and (
            one.metric != "flow_goodput_bps"
            or goodputs.get((one.group, one.part)) != (one.change.a.mean, one.change.b.mean)
        )
    ]


def tables(ranked: Sequence[Ranked]) -> Iterator[Part]:
    """Yield changes that users notice, then small ones, then those of queues, TCP and the MAC."""
    # A change that nobody feels is neither better nor worse.
    for head, some in {
        "": [one for one in ranked if one.is_noticed],
        f"Less than {100.0 * NOTICED:g} %": [
            one for one in ranked if one.is_felt and not one.is_noticed
        ],
        "Queues, TCP, MAC": [one for one in ranked if not one.is_felt],
    }.items():
        table = rows(some, judged=not head)
        if table is not None:
            if head:
                yield Note(head)
            yield table


def decision(found: Difference) -> Iterator[tuple[str, State]]:
    """Yield how many targets are met before and after, and whether users feel a difference."""
    a, b = outcome_of(found.a), outcome_of(found.b)
    if a.targets and len(a.targets) == len(b.targets):
        met_a, met_b = (sum(one.miss < 0.5 for one in each.targets) for each in (a, b))
        state: State = "good" if met_b > met_a else "bad" if met_b < met_a else "bold"
        yield f"Targets met: {met_a} → {met_b} of {len(a.targets)}", state
    if found.replications < 2:
        yield "One pair of runs has no interval: use --replications 5.", "open"
    elif all(one.change.difference.mean == 0.0 for one in found.ranked()):
        yield "Every difference is exactly 0.", "bold"
    elif not any(one.is_noticed for one in found.ranked()):
        is_any = any(one.change.separated and one.is_felt for one in found.ranked())
        yield (
            f"Users feel no difference: none is {100.0 * NOTICED:g} % or more."
            if is_any
            else "No difference that users feel can be told from chance.",
            "bold",
        )


def _first(large: Sequence[Ranked]) -> list[Ranked]:
    """Return the largest changes that users feel, always including worse ones."""
    own = [one for one in large if one.group is not None] or large
    known = {(one.group, one.metric, one.part) for one in own}
    plain = [
        one
        for one in own
        if not _SAYS_LESS.search(one.metric)
        and not (one.part in (None, "all") and _is_in_a_direction(one, known))
        and not (one.metric == "flow_goodput_bps" and (one.group, "goodput_bps", one.part) in known)
    ]
    worse = [one for one in plain if one.verdict == "worse"][:_WORSE]
    others = [one for one in plain if one.verdict != "worse"][: _ROWS - len(worse)]
    return [*others, *worse]


def _is_in_a_direction(one: Ranked, known: Collection[tuple[str | None, str, str | None]]) -> bool:
    """Return whether a row for one direction says the same about the group."""
    return any((one.group, one.metric, part) in known for part in ("download", "upload"))


def rows(ranked: Sequence[Ranked], *, judged: bool = True) -> Table | None:
    """Return changes as a table: before, after, difference with its interval, relative change.

    `judged` rows are marked as better or worse.
    """
    if not ranked:
        return None
    return Table(
        [
            Column("  metric"),
            Column("A → B", right=True),
            Column("difference", right=True, rank=1),
            Column("", right=True, rank=2),
        ],
        [
            (
                f"{_MARKS.get(one.verdict, '·') if judged else '·'} {about(one)}",
                before_and_after(one),
                difference_text(one.change.difference, METRICS[one.metric]),
                relative_text(one.relative),
            )
            for one in ranked
        ],
        [_STATES.get(one.verdict, "") if judged else "" for one in ranked],
    )


def about(one: Ranked) -> str:
    """Return the subject of a change: "caller ↑  packet delay, p95"."""
    label = words.short(METRICS[one.metric])
    if one.group is None:
        return label
    name = f"cell {one.group}" if one.part == "cell" else words.scope(one.group, one.part or "all")
    return f"{name}  {label}"


def before_and_after(one: Ranked) -> str:
    """Return both means, or a lower bound for a mean that is not known: "133 ms → ≥ 151 ms"."""
    a, b = one.change.a, one.change.b
    if a.mean is not None and b.mean is not None:
        return words.change(a.mean, b.mean, one.metric)
    return " → ".join(words.measured(each, METRICS[one.metric]) for each in (a, b))


def difference_text(interval: Interval, metric: Metric) -> str:
    """Return a difference with its interval; ratios are in percentage points: "−2.1 ± 1.2 pp"."""
    mean, half = interval.mean, interval.half_width
    if mean is None:
        return ""
    sign = "−" if mean < 0.0 else "+"
    if metric.kind == "ratio":
        wide = quantity(100.0 * (half or 0.0), "", 2)
        return f"{sign}{quantity(abs(100.0 * mean), '', 2)} ± {wide} pp"
    factor, unit = scaled(mean, metric.unit)
    text = f"{sign}{quantity(abs(mean) / factor, '', 3)}"
    if half is not None:
        text += f" ± {quantity(half / factor, '', 2)}"
    return f"{text} {unit}".rstrip()


def relative_text(relative: float | None) -> str:
    """Return a relative change: "−74 %", "3.1×"."""
    if relative is None:
        return ""
    if relative >= 2.0:
        return f"{1.0 + relative:.1f}×"
    return f"{'−' if relative < 0 else '+'}{100.0 * abs(relative):.0f} %"


def rest_line(found: Difference, more: int) -> str:
    """Return how many other metrics differ, do not differ, or are undecided."""
    ranked = found.ranked()
    early = sum(one.change.early is not None for one in ranked)
    same = sum(not one.change.separated and one.change.early is None for one in ranked)
    told = []
    if more > 0:
        told.append(f"{more} more {'differ' if more > 1 else 'differs'}")
    if same:
        told.append(f"{same} do not differ beyond chance")
    if early:
        told.append(f"{early} are inconclusive (runs too short)")
    return f"{', '.join(told)}: --details" if told else ""
