"""The reach of a scenario as a page shows it: answer, curve, bound, and what carries further.

Knows the numbers that pictures are made of. Computes no results: each text is the one that the
command line prints, and each number the one that the Python gives.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from airtcp.amounts import quantity_with_interval
from airtcp.metrics import METRICS
from airtcp.present import plan as words
from airtcp.messages.run import equipment, settings
from airtcp.stats import Interval
from airtcp.web import judged

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.results.plans import Answer, Gain, Plan

Json = dict[str, Any]


def plan(found: Plan) -> Json:
    """The answer in words and numbers, a curve for each condition, and the remedies."""
    told = (words.answer_line(found), words.doubt_line(found), words.best_line(found))
    about = (words.limits_line(found), words.remedies_line(found))
    return {
        "words": [line for line in told if line],
        "more": [line for line in about if line],
        "unsteady": found.unsteady,
        "depth": words.depth_line(found),
        "label": found.label,
        "answer": _answer(found, found.answer),
        "curves": [_curve(found, one) for one in found.conditions],
        "remedies": [_remedy(found, one) for one in found.remedies],
        "together": None if found.together is None else _remedy(found, found.together),
        "left_out": [f"{name}: {why}" for name, why in found.left_out.items()],
        "stopped": found.stopped,
    }


def refusal(message: str, *, chosen: bool) -> str:
    """Say why a plan has no answer, by what a page calls the options of the command.

    `chosen`: both ends are chosen on the page, which else has no place for another one.
    """
    if not chosen:
        message = re.sub(r", or another --(from|to)$", "", message)
    message = re.sub(r"^--(until|vary) ", "", message)
    return re.sub(r"--(from|to)\b", r'"\1"', message)


def _answer(found: Plan, answer: Answer | None) -> Json | None:
    """The end: value, both ends of its interval, and each as text."""
    if answer is None:
        return None
    ends = {"value": answer.value, "low": answer.low, "high": answer.high}
    texts = {
        f"{name}_text": None if end is None else words.value_text(found, end)
        for name, end in ends.items()
    }
    return ends | texts | {"unit": answer.unit, "confidence": answer.confidence}


def _curve(found: Plan, condition: Condition) -> Json:
    """Points that were simulated, lower bounds among them, and the curves of models."""
    unit = condition.about.unit
    simulated = [
        {"x": one.value, "text": quantity_with_interval(told, unit)} | told.to_dict()
        for one in sorted(found.evidence, key=lambda one: one.value)
        if one.depth == "simulation"
        and isinstance(told := one.metrics.get(condition.text), Interval)
        and told.is_known
    ]
    names = [name for name in (condition.metric, condition.mean_metric) if name]
    modelled = {
        name: [
            {"x": one.value, "y": one.metrics[name]}
            for one in found.evidence
            if one.depth == "model" and isinstance(one.metrics.get(name), float)
        ]
        for name in names
    }
    return judged.condition(condition) | {
        "condition": condition.text,
        "label": condition.label,
        "simulation": simulated,
        "model": {name: rows for name, rows in modelled.items() if rows},
    }


def _remedy(found: Plan, one: Gain) -> Json:
    """A remedy: how far it carries, what it changes where the end was, who gains and who pays."""
    condition = next(each for each in found.conditions if each.text == one.metric)
    unit = METRICS[condition.metric].unit
    return {
        "name": one.name,
        "title": one.title,
        "source": one.source,
        "where": list(one.where),
        "research": one.research,
        "set": dict(one.changes),
        "settings": settings(one.changes),
        "verdict": one.verdict,
        "words": words.VERDICTS[one.verdict],
        "answer": _answer(found, one.answer),
        "endless": one.endless,
        "gain": None if one.gain is None else one.gain.to_dict(),
        "moved": "" if one.gain is None else words.moved_text(found, one.gain),
        "change": one.change.to_dict() | {"text": words.signed(one.change, unit)},
        "wins": judged.effects(one.wins),
        "loses": judged.effects(one.loses),
        "cost": one.cost,
        "hurts": list(one.hurts),
        "equipment": equipment(one.apply, one.notes),
    }
