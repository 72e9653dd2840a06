"""The capacity of a scenario in the form that a page shows: answer, curves, bounds, and changes.

Each text and number equals the one on the command line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from airtcp.amounts import quantity_with_interval
from airtcp.messages import plan as words
from airtcp.messages.run import equipment, settings
from airtcp.web import judged

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.results.plans import Answer, Gain, Plan

Json = dict[str, Any]

_WORDS = {
    "gains": "raises the capacity",
    "costs others": "costs others",
    "none": "no gain",
    "loses": "lowers the capacity",
}


def plan(found: Plan) -> Json:
    """Return the answer as text and numbers, a curve for each condition, and the remedies."""
    told = [line for line, _ in words.lines(found)]
    return {
        "words": told,
        "unsteady": None if found.unsteady is None else str(found.unsteady["reason"]),
        "depth": f"{found.runs} runs",
        "label": found.label,
        "answer": _answer(found, found.answer),
        "curves": [_curve(found, one) for one in found.conditions],
        "remedies": [_remedy(found, one) for one in found.remedies],
        "left_out": [f"{name}: {why}" for name, why in found.left_out.items()],
        "stopped": found.stopped,
    }


def refusal(message: str, *, chosen: bool) -> str:
    """Say why a plan has no answer, with the page's names for options of the command.

    `chosen`: both ends are chosen on the page; otherwise the page cannot offer another end.
    """
    if not chosen:
        message = re.sub(r", or another --(from|to)$", "", message)
    message = re.sub(r"^--(until|vary) ", "", message)
    return re.sub(r"--(from|to)\b", r'"\1"', message)


def _answer(found: Plan, answer: Answer | None) -> Json | None:
    """Return the end: its value, both ends of its interval, and each as text."""
    if answer is None:
        return None
    ends = {"value": answer.value, "low": answer.low, "high": answer.high}
    texts = {
        f"{name}_text": None if end is None else words.value(found, end)
        for name, end in ends.items()
    }
    return ends | texts | {"unit": answer.unit, "confidence": answer.confidence}


def _curve(found: Plan, condition: Condition) -> Json:
    """Return the simulated points, including lower bounds, and the curves of models."""
    unit = condition.about.unit
    simulated = [
        {"x": one.value, "text": quantity_with_interval(told, unit)} | told.to_dict()
        for one in sorted(found.evidence, key=lambda one: one.value)
        if one.depth == "simulation"
        and (told := one.metrics.get(condition.text)) is not None
        and told.is_known
    ]
    return judged.condition(condition) | {
        "condition": condition.text,
        "label": condition.label,
        "simulation": simulated,
        "model": {},
    }


def _remedy(found: Plan, one: Gain) -> Json:
    """Return a change: the capacity with it, its settings, and its effects on users."""
    return {
        "name": one.name,
        "title": one.title,
        "source": one.source,
        "where": list(one.where),
        "research": one.cost == "research",
        "set": dict(one.changes),
        "settings": settings(one.changes),
        "verdict": one.verdict,
        "words": _WORDS[one.verdict],
        "answer": _answer(found, one.answer),
        "endless": one.endless,
        "gain": one.gain.to_dict(),
        "moved": words.supports(found, one),
        "limited_by": words.limited_by(one),
        "wins": judged.effects(one.wins),
        "loses": judged.effects(one.loses),
        "cost": words.costs(one),
        "equipment": equipment(one.apply, one.notes),
    }
