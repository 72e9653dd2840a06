"""The capacity of a scenario in the form that a page shows: answer, curves, bounds, and changes.

Each text and number equals the one on the command line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from airtcp.amounts import quantity_with_interval
from airtcp.document.page import Element, element, listed
from airtcp.messages import plan as words
from airtcp.messages.run import equipment, settings
from airtcp.web import judged, parts

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


def plan(found: Plan, name: str | None = None) -> Json:
    """Return the answer as text and numbers, a curve for each condition, and the remedies.

    `name` is the page's name of the key that was searched.
    """
    told = {
        "words": [line for line, _ in words.lines(found)],
        "answer": _answer(found, found.answer),
        "curves": [_curve(found, one) for one in found.conditions],
        "remedies": [_remedy(found, one) for one in found.remedies],
        "left_out": [f"{name}: {why}" for name, why in found.left_out.items()],
        "stopped": found.stopped,
    }
    return told | {"parts": _parts(told, name or found.label, f"{found.runs} runs")}


def _parts(told: Json, name: str, depth: str) -> list[Any]:
    """Return the answer, a picture for each condition, and the changes, as parts of the page."""
    limit = (
        "The time limit was reached, so the result is incomplete. Use a longer --run-time of the "
        "server, or a shorter run.duration."
    )
    lines = [
        element("p", {"class": None if place else "lead"}, line)
        for place, line in enumerate(told["words"])
    ]
    answer = element(
        "section",
        {"class": "card"},
        element("p", {"class": "depth"}, "Result"),
        lines,
        element("p", {"class": "notice"}, limit) if told["stopped"] == "time" else None,
        parts.muted(depth),
    )
    pictures = [
        element(
            "section",
            {"class": "card"},
            element("h2", {}, curve["condition"]),
            _picture(told, curve, name),
        )
        for curve in told["curves"]
    ]
    return [answer, pictures, _changes(told, name) if told["remedies"] else None]


def _picture(told: Json, curve: Json, name: str) -> Element:
    answer = told["answer"]
    sure = answer and answer["low"] is not None and answer["high"] is not None
    points = [one | {"y": one["mean"]} for one in curve["simulation"]]
    simulated = {
        "name": "simulation, with interval",
        "kind": "points",
        "colour": "simulated",
        "data": points,
    }
    return parts.curves(
        f"{curve['label']} over {name}, with the bound {curve['bound_text']}. {told['words'][0]}",
        320,
        series=[simulated] if points else [],
        x={"label": name, "unit": answer["unit"] if answer else ""},
        y={"label": curve["label"], "unit": curve["unit"].replace("1", ""), "floor": 0},
        bound={"y": curve["bound"], "text": curve["bound_text"]},
        band={"low": answer["low"], "high": max(answer["high"], answer["low"])} if sure else None,
        mark={"x": answer["value"], "y": None} if answer else None,
    )


def _changes(told: Json, name: str) -> Element:
    """Return the changes that raise the capacity, with the capacity of each, and the others."""

    def shown(one: Json) -> Element:
        moved = [
            one["moved"] and f"supports {one['moved']}",
            one["limited_by"] and f"limited by {one['limited_by']}",
        ]
        return parts.remedy(one, what="; ".join(filter(None, moved)))

    def row(title: str, answer: Json, tone: str) -> Json:
        known = answer["low_text"] is not None or answer["high_text"] is not None
        ends = f" ({answer['low_text'] or '?'} to {answer['high_text'] or '?'})" if known else ""
        text = f"{answer['value_text']}{ends}"
        return answer | {"name": title, "tone": tone, "mean": answer["value"], "text": text}

    gaining = [one for one in told["remedies"] if one["verdict"] in ("gains", "costs others")]
    vain = [one for one in told["remedies"] if one not in gaining]
    searched = [one for one in told["remedies"] if one["answer"]]
    rows = [row(one["title"], one["answer"], parts.tone(one["verdict"])) for one in searched]
    label = "Capacity, as it is and with changes"
    bars = [
        parts.muted(f"Capacity ({name}), with the interval:"),
        parts.bars([row("as it is", told["answer"], ""), *rows], label),
    ]
    out = told["left_out"]
    return element(
        "section",
        {"class": "card"},
        element("h2", {}, "Changes that raise the capacity"),
        bars if told["answer"] and rows else None,
        [shown(one) for one in gaining],
        parts.fold(f"{len(vain)} without a significant gain", [shown(one) for one in vain])
        if vain
        else None,
        parts.fold(parts.doing(len(out), "apply"), listed(out)) if out else None,
    )


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
    return ends | texts | {"unit": answer.unit}


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
    }


def _remedy(found: Plan, one: Gain) -> Json:
    """Return a change: the capacity with it, its settings, and its effects on users."""
    return {
        "title": one.title,
        "source": one.source,
        "where": list(one.where),
        "research": one.cost == "research",
        "set": dict(one.changes),
        "settings": settings(one.changes),
        "verdict": one.verdict,
        "outcome": {"gains": "helps", "loses": "harms"}.get(one.verdict, ""),
        "words": _WORDS[one.verdict],
        "answer": _answer(found, one.answer),
        "gain": one.gain.to_dict(),
        "moved": words.supports(found, one),
        "limited_by": words.limited_by(one),
        "wins": judged.effects(one.wins),
        "loses": judged.effects(one.loses),
        "cost": words.costs(one),
        "equipment": equipment(one.apply, one.notes),
    }
