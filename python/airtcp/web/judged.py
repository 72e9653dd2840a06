"""Verdicts, causes and remedies in the form that a page shows.

Each text and number equals the one on the command line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity_with_interval
from airtcp.conditions import Condition, read_condition
from airtcp.document.page import element, listed
from airtcp.judge.targets import targets_of
from airtcp.labels import flows_of, label_of
from airtcp.messages import run as told
from airtcp.messages import words
from airtcp.metrics import METRICS, Metric
from airtcp.results.verdict import Judged, Target, Verdict
from airtcp.stats import Interval
from airtcp.web import parts

if TYPE_CHECKING:
    from airtcp.results.advice import Advice, Effect, Trial
    from airtcp.scenario import ResolvedScenario, Scenario

Json = dict[str, Any]

#: The number of changes on the first screen.
_MOST_FIRST: Final = 3


def key(scenario: ResolvedScenario) -> str:
    """Return the key under which a page keeps verdicts: simulation and targets are equal."""
    wanted = [one.text for one in targets_of(scenario)[0]]
    return hashlib.sha256(json.dumps([scenario.hash(), wanted]).encode()).hexdigest()


def interval(one: Interval, unit: str) -> Json:
    """Return an interval as numbers and as text."""
    return one.to_dict() | {"text": quantity_with_interval(one, unit)}


def condition(one: Condition) -> Json:
    """Return the parts of a condition: scope, statistic, metric, bound."""
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


def verdict(found: Verdict | None) -> Json | None:
    """Return a verdict: its state, the headline, and a light for each target, failed ones first."""
    if found is None:
        return None
    rows = told.ordered(found)
    return {
        "state": found.state,
        "headline": told.headline(found)[0],
        "targets": [_light(one) for one in rows],
        # The page folds the rest, as a terminal does.
        "shown": len(told.folded(rows)),
    }


def _light(one: Judged) -> Json:
    about = one.target.condition
    return (
        condition(about)
        | one.to_dict()
        | {
            "about": " ".join(words.target_about(about).split()),
            "wanted": words.wanted(about),
            "measured": words.measured(one.interval, about.about),
            "by": words.spread(one.interval, about.about),
        }
    )


def advice(found: Advice | None, scenario: Scenario | None = None) -> Json | None:
    """Return the cause, the changes that were tried (best first), and the recommended one.

    With `scenario`, the one that was simulated, each change has the key of the changed scenario.
    """
    if found is None:
        return None
    best = None if found.best is None else found.best.name
    causes = [f"{words.cause_label(one)}: {words.cause(one)}" for one in found.causes[:1]]
    trials = [_trial(one, scenario) for one in found.trials]
    unfit = [f"{name}: {why}" for name, why in found.unfit.items()]
    return {
        "remedies": trials,
        "best": best,
        "first": _first(trials, best, found.tried),
        "parts": _all(causes, trials, best, unfit, found.tried),
        "recommended": found.recommended is not None,
    }


def _first(trials: list[Json], best: str | None, tried: int) -> list[Any]:
    """Return the best changes, each with the targets that it meets and its cost."""
    rows = [
        element(
            "li",
            {},
            element("span", {"class": "best" if one["name"] == best else None}, one["title"]),
            element("span", {"class": f"verdict {one['outcome']}"}, one["words"]),
            element("span", {"class": "harms"}, one["costs"]),
            parts.applies(one["title"], one["set"]),
        )
        for one in trials[:_MOST_FIRST]
    ]
    none = f"None of the {tried} changes tried helps."
    return [
        parts.muted(none) if not trials and tried else None,
        element("ol", {"class": "changes"}, rows),
    ]


def _all(
    causes: list[str], trials: list[Json], best: str | None, unfit: list[str], tried: int
) -> list[Any]:
    """Return the cause and every change that was tried, with values before and after."""
    none = f"None of the {tried} changes tried helps." if tried else "No change was tried."
    return [
        [element("p", {}, line) for line in causes],
        element("p", {}, none) if not trials else None,
        [
            parts.remedy(
                one,
                best=one["name"] == best,
                what=one["label"],
                picture=parts.change(
                    one["before"],
                    one["after"],
                    one["outcome"],
                    f"{one['label']}, before and after {one['title']}",
                )
                if one["before"]["mean"] is not None and one["after"]["mean"] is not None
                else None,
            )
            for one in trials
        ],
        parts.fold(parts.doing(len(unfit), "apply"), listed(unfit)) if unfit else None,
    ]


def _trial(one: Trial, scenario: Scenario | None) -> Json:
    of = one.met + one.missed + one.open
    metric = None if one.metric is None else METRICS[one.metric]
    unit = "" if metric is None else metric.unit
    gain = told.effect(one.wins[0]) if one.wins and not of else f"{one.met} of {of} met"
    return one.to_dict() | {
        "line": f"{one.title}: {one.met} of {of} targets met" if of else f"{one.title}: {gain}",
        "words": gain,
        "label": "" if metric is None else words.metric_label(metric),
        "cost": words.COSTS[one.cost],
        "costs": told.costs(one),
        "before": interval(one.before, unit) | _text(one.before, metric),
        "after": interval(one.after, unit) | _text(one.after, metric),
        "difference": interval(one.difference, unit),
        "settings": told.settings(one.set),
        "equipment": told.equipment(one.apply, one.notes),
        "wins": effects(one.wins),
        "loses": effects(one.loses),
        "key": None if scenario is None else key(scenario.vary(one.set)),
        "verdict": verdict(_tried(one)),
    }


def _text(one: Interval, metric: Metric | None) -> Json:
    """Return a value as text, fractions as percentages."""
    return {} if metric is None or one.mean is None else {"text": metric.format(one.mean)}


def _tried(one: Trial) -> Verdict:
    """Return the verdict of a trial. Its values have no intervals."""
    return Verdict(
        tuple(
            Judged(
                Target(read_condition(each.target)),
                Interval(each.value, None, None, one.replications),
                each.state,
            )
            for each in one.targets
        ),
        written=True,
        confidence=0.0,
    )


def effects(felt: Sequence[Effect]) -> list[Json]:
    """Return the effects on others, also as text."""
    rows = []
    for one in felt:
        about = METRICS[one.metric]
        rows.append(
            one.to_dict()
            | {
                "label": label_of(about, flows_of(one.group, one.part)),
                "before_text": about.format(one.before),
                "after_text": about.format(one.after),
            }
        )
    return rows
