"""Verdicts, problems and remedies as a page shows them.

Knows the order in which they are told, and the numbers that lights and bars are made of. Judges and
tries nothing: each text is the one that the command line prints, each number the Python's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airtcp.amounts import quantity_with_interval
from airtcp.labels import flows_of, label_of
from airtcp.metrics import METRICS
from airtcp.present import advice as told
from airtcp.present import verdict as words

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.present.answer import Simulated
    from airtcp.results.advice import Advice, Advised, Effect, Trial
    from airtcp.results.verdict import Judged, Verdict
    from airtcp.stats import Interval

Json = dict[str, Any]


def interval(one: Interval, unit: str) -> Json:
    """An interval in numbers and in words."""
    return one.to_dict() | {"text": quantity_with_interval(one, unit)}


def condition(one: Condition) -> Json:
    """A condition taken apart: what it is of, the statistic, the metric, the bound."""
    return {
        "text": one.text,
        "metric": one.metric,
        "label": one.about.label,
        "unit": one.about.unit,
        "group": one.group,
        "part": one.part,
        "cell": one.cell,
        "above": one.above,
        "bound": one.bound,
        "bound_text": one.bound_text,
    }


def verdict(found: Verdict | None, result: Simulated | None = None) -> Json | None:
    """A verdict: its state, the headline, and a light for each target, those that fail first.

    `result` is what was judged, if that was no glance: which flows a mean hides, and what it would
    take to know more, follow from it.
    """
    if found is None:
        return None
    order = {row: place for place, row in enumerate(words.rows(found))}
    rows = sorted((_light(found, one) for one in found.targets), key=lambda one: order[one[0]])
    return {
        "state": found.state,
        "headline": words.headline(found),
        "written": found.written,
        "lines": words.lines(found, result),
        "growth": words.growth_lines(found) if found.growth is not None else [],
        "targets": [light for _, light in rows],
        "confidence": found.confidence,
    }


def _light(found: Verdict, one: Judged) -> tuple[tuple[str, str, str, str], Json]:
    (row,) = words.rows(type(found)((one,), found.written, found.confidence))
    about, wanted, measured, by = row
    return row, condition(one.target.condition) | one.to_dict() | {
        "about": about,
        "wanted": wanted,
        "measured": measured,
        "by": by,
    }


def advice(found: Advice | None) -> Json | None:
    """The problems of a simulation, each with the remedies that were tried, the best first."""
    if found is None:
        return None
    best = found.best
    return {
        "problems": [_problem(one) for one in found.problems],
        "best": None if best is None else best.name,
        "interrupted": found.interrupted,
    }


def _problem(advised: Advised) -> Json:
    found = advised.finding
    about = METRICS[found.goal.metric]
    return advised.to_dict() | {
        "headline": told.headline(advised),
        "label": label_of(about, found.goal.whose),
        "unit": about.unit,
        "better": about.better,
        "remedies": [_trial(advised, one) for one in advised.remedies],
        "unfit": told.unfit([advised]),
    }


def _trial(advised: Advised, one: Trial) -> Json:
    unit = METRICS[advised.finding.goal.metric].unit
    suffices = [*told.shares_lines(one), told.targets_line(one) or ""]
    return one.to_dict() | {
        "line": told.effect_line(advised, one),
        "words": told.outcome(one),
        "suffices": " ".join(suffices).strip() or None,
        "before": interval(one.before, unit),
        "after": interval(one.after, unit),
        "difference": interval(one.difference, unit),
        "settings": told.settings(one.set),
        "equipment": told.equipment(one.apply, one.notes),
        "wins": effects(one.wins),
        "loses": effects(one.loses),
    }


def effects(felt: Sequence[Effect]) -> list[Json]:
    """The effects on others, in words as well."""
    rows = []
    for one in felt:
        about = METRICS[one.metric]
        rows.append(
            one.to_dict()
            | {
                "label": label_of(about, flows_of(one.group, one.part)),
                "before_text": words.amount(one.before, about),
                "after_text": words.amount(one.after, about),
            }
        )
    return rows
