"""Answers as a page shows them: words, rows of text, and the numbers that pictures are made of.

Knows what a reader wants first. Computes no results: each text is the one that the command line
prints, and each number the one that the Python gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.metrics import METRICS
from airtcp.present import summary
from airtcp.present.answer import first_lines
from airtcp.present.cautions import cautions
from airtcp.present.groups import by_group
from airtcp.present.sense import sanity
from airtcp.present.subject import subject

if TYPE_CHECKING:
    from airtcp.results import Comparison, Prediction, Simulation
    from airtcp.results.differences import Difference
    from airtcp.results.plans import Plan
    from airtcp.stats import Interval

#: Quantiles of the transfer times that are sent for the picture of their distribution.
_QUANTILES: Final = 200
_WORDS: Final = (
    ("goodput_bps", "All flows together get {}"),
    ("flow_goodput_bps", "each flow gets {}"),
    ("transfer_time_s", "a transfer takes {} on average"),
)


def metrics() -> dict[str, dict[str, str]]:
    """Label, unit and meaning of every metric, by name."""
    return {
        name: {"label": one.label, "unit": one.unit, "meaning": one.meaning}
        for name, one in METRICS.items()
    }


def prediction(told: Prediction) -> dict[str, Any]:
    """The answers of the models, and of a glance where there was one."""
    best = summary.best_alone(told)
    values = {}
    for name in told.model:
        one = told.best(name)
        if one is not None and not isinstance(one.value, list):
            text = quantity(one.value, METRICS[name].unit)
            values[name] = {"value": one.value, "text": text, "source": one.source}
    return {
        "words": _words(values, told),
        "glance": _glance(told),
        "values": values,
        "rows": [[row.metric, row.model, row.source] for row in summary.prediction_lines(told)],
        "best": [[row.metric, row.model, row.source] for row in summary.prediction_lines(best)],
        "broken": _sentences(summary.broken(best.model)),
        "unanswered": dict(told.unanswered) if told.uncovered is None else {},
        "uncovered": told.uncovered,
        "subject": subject(told.scenario),
    }


def _glance(told: Prediction) -> dict[str, dict[str, Any]]:
    """The metrics of a glance of which no model has a value: intervals in numbers and in words."""
    if told.glance is None:
        return {}
    return {
        name: told.glance.metrics[name].to_dict() | {"text": text, "source": told.glance.source}
        for name, text in told.glance.shown()
        if told.best(name) is None
    }


def _words(values: Mapping[str, Mapping[str, Any]], told: Prediction) -> list[str]:
    seen = _glance(told)
    if told.uncovered is not None and not seen:
        return [f"No model covers this scenario: {told.uncovered}."]
    lines = [_sentence(values, "say the models")] if values or not seen else []
    lines = [line for line in lines if line]
    if seen:
        lines.append(_sentence(seen, "says"))
        lines.append(summary.glanced(told) or "")
    if not any(lines):
        return ["The models have no goodput and no transfer time for this scenario."]
    return [line for line in lines if line]


def _sentence(values: Mapping[str, Mapping[str, Any]], say: str) -> str:
    """Tell goodput and the time of transfers, and whose numbers they are; "" of nothing."""
    parts = [
        text.format(values[name]["text"])
        for name, text in _WORDS
        if name in values
        and not (
            name == "flow_goodput_bps"
            and "goodput_bps" in values
            and values[name]["text"] == values["goodput_bps"]["text"]
        )
    ]
    if not parts:
        return ""
    sources = dict.fromkeys(values[name]["source"] for name, _ in _WORDS if name in values)
    sentence = ", ".join(parts)
    whose = (
        f"{say} ({'; '.join(sources)})"
        if say.endswith("models")
        else f"{say} {next(iter(sources))}"
    )
    return f"{sentence[0].upper()}{sentence[1:]}, {whose}."


def comparison(result: Comparison) -> dict[str, Any]:
    """Models beside simulation, as `airtcp run` prints them."""
    simulation = result.simulation
    groups = by_group(simulation, least=1)
    lines = summary.comparison_lines(summary.best_alone(result))
    return {
        "words": first_lines(result),
        "groups": None if groups is None else {"head": groups.head, "rows": groups.rows},
        "airtime": simulation.airtime,
        "group_airtime": {
            name: {part: one.mean for part, one in parts["airtime"].items()}
            for name, parts in simulation.groups.items()
            if "airtime" in parts
        },
        "rows": [
            [one.metric, one.model, one.source, one.simulation, one.difference, one.verdict]
            for one in lines
        ],
        "metrics": point(simulation),
        "confidence": simulation.confidence,
        "times": _times(simulation),
        "sanity": [list(pair) for pair in sanity(result)],
        "cautions": cautions(result),
        "broken": _sentences(summary.broken(summary.best_alone(result).model)),
        "stopped": simulation.stopped,
        "seed": result.provenance.seed,
        "version": result.provenance.version,
    }


def point(simulation: Simulation) -> dict[str, Any]:
    """The interval of every metric that has a value."""
    return {
        name: interval(one, METRICS[name].unit)
        for name, one in simulation.metrics.items()
        if one.mean is not None
    }


def interval(one: Interval, unit: str) -> dict[str, Any]:
    """An interval in numbers and in words."""
    return one.to_dict() | {"text": quantity_with_interval(one, unit)}


def changes(found: Difference) -> dict[str, Any]:
    """Before and after: what is separated from chance, and what is not."""
    from airtcp.present.difference import MOST_ROWS, rest, rows, subject
    from airtcp.present.felt import sentence

    told = rows(found)
    headline = {
        name: {
            "a": interval(one.a, METRICS[name].unit),
            "b": interval(one.b, METRICS[name].unit),
            "difference": interval(one.difference, METRICS[name].unit),
            "label": METRICS[name].label,
            "better": METRICS[name].better,
            "separated": one.separated,
            "unsteady": one.unsteady,
        }
        for name, one in found.metrics.items()
        if name in summary.HEADLINES and one.a.mean is not None and one.b.mean is not None
    }
    return {
        "subject": [sentence(found), *subject(found)],
        "rows": [list(row.cells()) for row in told[:MOST_ROWS]],
        "more": max(0, len(told) - MOST_ROWS),
        "rest": rest(found),
        "headline": headline,
        "airtime": {"a": found.a.simulation.airtime, "b": found.b.simulation.airtime},
        "pairs": found.replications,
    }


def plan(found: Plan) -> dict[str, Any]:
    """The reach of a scenario: answer, curve, bound, remedies."""
    from airtcp.present.plan import (
        REMEDIES_HEAD,
        answer_line,
        best_line,
        depth_line,
        remedy_rows,
    )
    from airtcp.stats import Interval

    curves = []
    for condition in found.conditions:
        names = [name for name in (condition.metric, condition.mean_metric) if name]
        simulated = [
            {"x": one.value, **told.to_dict()}
            for one in found.evidence
            if one.depth == "simulation"
            and isinstance(told := one.metrics.get(condition.text), Interval)
            and told.mean is not None
        ]
        modelled = {
            name: [
                {"x": one.value, "y": one.metrics[name]}
                for one in found.evidence
                if one.depth == "model" and isinstance(one.metrics.get(name), float)
            ]
            for name in names
        }
        curves.append(
            {
                "condition": condition.text,
                "label": condition.label,
                "unit": condition.about.unit,
                "bound": condition.bound,
                "bound_text": condition.bound_text,
                "simulation": sorted(simulated, key=lambda one: float(one["x"] or 0)),
                "model": {name: rows for name, rows in modelled.items() if rows},
            }
        )
    answer = found.answer
    return {
        "words": [line for line in (answer_line(found), best_line(found)) if line],
        "depth": depth_line(found),
        "label": found.label,
        "answer": None
        if answer is None
        else {"value": answer.value, "low": answer.low, "high": answer.high, "unit": answer.unit},
        "curves": curves,
        "remedies": {
            "head": list(REMEDIES_HEAD),
            "rows": [list(row) for row in remedy_rows(found)],
        }
        if found.remedies
        else None,
        "stopped": found.stopped,
    }


def _times(simulation: Simulation) -> dict[str, Any] | None:
    """Quantiles of the transfer times of all replications together."""
    import numpy as np

    times = simulation.transfer_times_s()
    if not len(times):
        return None
    parts = np.concatenate([np.linspace(0.0, 0.99, _QUANTILES), [0.995, 0.999, 1.0]])
    return {
        "count": len(times),
        "parts": parts.tolist(),
        "seconds": np.quantile(times, parts).tolist(),
    }


def _sentences(told: Iterable[tuple[str, list[str]]]) -> list[list[Any]]:
    return [[summary.in_short(sentence), sentence, sources] for sentence, sources in told]
