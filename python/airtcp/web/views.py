"""Answers in the form that a page shows: texts, rows, and the numbers behind pictures.

Each text and number equals the one on the command line or of the Python API.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from airtcp import extensions
from airtcp._version import __version__
from airtcp.amounts import quantity
from airtcp.document import Items, Lines, Pairs
from airtcp.document.page import Element, element, elements, pairs, sourced, tabled
from airtcp.examples import examples
from airtcp.labels import flows_of, label_of
from airtcp.messages import run
from airtcp.metrics import METRICS
from airtcp.present import details, summary
from airtcp.present.cautions import cautions
from airtcp.present.cells import airtime_parts
from airtcp.present.sense import sanity
from airtcp.scenario.profiles import devices, places, traffic
from airtcp.web import card, judged, network, parts
from airtcp.web.judged import interval

if TYPE_CHECKING:
    from airtcp.results import Comparison, Prediction, Simulation
    from airtcp.results.cells import CellResult
    from airtcp.results.differences import Difference
    from airtcp.results.glance import Glance
    from airtcp.results.verdict import Verdict
    from airtcp.scenario import ResolvedScenario, Scenario
    from airtcp.web.limits import Limits

#: The number of quantiles of transfer times for the picture of their distribution.
_QUANTILES: Final = 200
_WORDS: Final = (
    ("goodput_bps", "All flows together get {}"),
    ("flow_goodput_bps", "each flow gets {}"),
    ("transfer_time_s", "a transfer takes {} on average"),
)


def start(limits: Limits) -> dict[str, Any]:
    """Return the data that a page needs at its start."""
    listed = [
        {"name": one.name, "title": one.title, "description": one.description} for one in examples()
    ]
    return {
        "version": __version__,
        "examples": listed,
        "profiles": profiles(),
        "metrics": metrics(),
        "limits": {
            "run_s": limits.run_s,
            "upload_bytes": limits.upload_bytes,
            "queue": limits.queue,
        },
        "views": [
            {"name": one.name, "title": one.title, "script": one.script.name}
            for one in extensions.views()
        ],
    }


def metrics() -> dict[str, dict[str, str]]:
    """Return label, unit and meaning of every metric, by name."""
    return {
        name: {"label": one.label, "unit": one.unit, "meaning": one.meaning}
        for name, one in METRICS.items()
    }


def profiles() -> dict[str, list[dict[str, str]]]:
    """Return name and meaning of every device, traffic and place profile, by kind."""
    return {
        kind: [{"name": one.name, "meaning": one.meaning} for one in records.values()]
        for kind, records in (("device", devices()), ("traffic", traffic()), ("place", places()))
    }


def prediction(predicted: Prediction) -> dict[str, Any]:
    """Return the answers of the models, and of the quick simulation if there was one."""
    values = {}
    for name in predicted.model:
        one = predicted.best(name)
        if one is not None and not isinstance(one.value, list):
            text = quantity(one.value, METRICS[name].unit)
            values[name] = {"value": one.value, "text": text, "source": one.source}
    return {
        "words": _words(values, predicted),
        "glance": _glance(predicted),
        "cells": _glanced_cells(predicted),
        "values": values,
        "uncovered": predicted.uncovered,
        "verdict": judged.verdict(_glanced(predicted)),
        "models": _models(predicted),
    }


def _models(predicted: Prediction) -> list[Any]:
    """Return the values of models or of the quick simulation as parts of the page, if any."""
    alone = summary.best_alone(predicted)
    best, every = details.predicted(alone), details.predicted(predicted)
    seen = _glance(predicted)
    if not best.rows:
        return []
    if predicted.uncovered is not None and seen:
        shown = tabled(best, "Values of the quick simulation")
        return [element("h3", {}, "Quick simulation"), shown]
    broken = Items(summary.broken(alone.model))
    count = len(broken.rows)
    told = parts.fold(f"Broken assumptions: {count}", sourced(broken), opened=count < 4)
    fits = parts.muted("The scenario meets every assumption of the models.")
    more = parts.fold(
        f"All {len(every.rows)} values of models", tabled(every, "Values of every model")
    )
    return [
        element("h3", {}, "Models and a quick simulation" if seen else "Models"),
        tabled(best, "Values of the best model"),
        more if len(every.rows) > len(best.rows) else None,
        told if count else fits,
    ]


def lights(predicted: Prediction) -> dict[str, Any]:
    """Return all metrics of a quick simulation, and its verdict on the targets.

    If no model answers, its words and rows are included; they replace those of a shorter quick
    simulation.
    """
    assert predicted.glance is not None, "it was asked for"
    alone: dict[str, Any] = {}
    if predicted.uncovered is not None:
        alone = {
            "words": _words({}, predicted),
            "models": _models(predicted),
        }
    return alone | {
        "glance": _seen(predicted.glance),
        "cells": _glanced_cells(predicted),
        "verdict": judged.verdict(_glanced(predicted)),
    }


def _glanced(predicted: Prediction) -> Verdict | None:
    from airtcp.judge.verdicts import glanced

    return None if predicted.glance is None else glanced(predicted.scenario, predicted.glance)


def _glanced_cells(predicted: Prediction) -> dict[str, Any] | None:
    """Return the cells of a quick simulation, with shares of isolated goodput if disturbed."""
    seen = predicted.glance
    if seen is None:
        return None
    found = _cells(predicted.scenario, seen.cells, glanced=True)
    if found is not None and len(seen.cells) > 1:
        for name in seen.cells:
            disturbed = seen.seldom or name in seen.disturbed
            words = (
                "not known from a quick simulation" if disturbed else "hardly disturbed, simulated"
            )
            found["shares"].setdefault(name, words)
    return found


def _glance(predicted: Prediction) -> dict[str, dict[str, Any]]:
    """Return the metrics of a quick simulation that no model has."""
    seen = {} if predicted.glance is None else _seen(predicted.glance)
    return {name: one for name, one in seen.items() if predicted.best(name) is None}


def _seen(glance: Glance) -> dict[str, dict[str, Any]]:
    """Return the metrics of a quick simulation as numbers and text."""
    return {
        name: glance.metrics[name].to_dict() | {"text": text, "source": glance.source}
        for name, text in glance.shown()
    }


def _words(values: Mapping[str, Mapping[str, Any]], predicted: Prediction) -> list[str]:
    seen = _glance(predicted)
    if predicted.uncovered is not None and not seen:
        return [f"Neither models nor a quick simulation can answer: {predicted.uncovered}."]
    lines = [_sentence(values, "say the models")] if values or not seen else []
    lines = [line for line in lines if line]
    if seen:
        lines.append(_sentence(seen, "says"))
        lines += summary.glanced_cells(predicted)
        lines.append(summary.glanced(predicted) or "")
    if not any(lines):
        return ["The models have no goodput and no transfer time for this scenario."]
    return [line for line in lines if line]


def _sentence(values: Mapping[str, Mapping[str, Any]], say: str) -> str:
    """Describe goodput and transfer time with their source; "" if there are none."""
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


def comparison(result: Comparison, asked: Scenario | None = None) -> dict[str, Any]:
    """Return models next to the simulation, as `airtcp run` prints them; `asked` is the scenario.

    `result` has the scenario with the run length that decided its targets.
    """
    simulation = result.simulation
    cells = _cells(result.scenario, simulation.cells)
    return {
        "headline": run.headline(result.verdict)[0],
        "answer": _answer(result),
        "cells": cells,
        "airtime": airtime_parts(simulation),
        "airtime_bar": parts.airtime([("all", airtime_parts(simulation))]),
        "parts": _results(result, cells),
        "loads": {} if asked is None else network.loads(asked, simulation),
        "metrics": point(simulation),
        "verdict": judged.verdict(result.verdict),
        "advice": judged.advice(result.advice, asked),
        "card": card.of_comparison(result),
    }


def _answer(result: Comparison) -> dict[str, list[Any]]:
    """Return the decision without its headline, and cautions, as `airtcp run` prints them.

    `all` has everything. `first` is for the first screen, which shows the worst target and the
    recommended change elsewhere: the cause, and what the cautions are about.
    """
    decision = run.decision(result, result.verdict, result.advice)
    rows = list(zip(decision.lines, decision.labels, strict=False))[1:]
    has_changes = result.advice is not None and result.advice.trials
    shown = {"Cause", "Limit"} if has_changes else {"Cause", "Limit", "Fix"}
    first = [(line, label) for line, label in rows if (label or "").strip() in shown]
    warned = cautions(result)

    def told(some: list[tuple[Any, str | None]], notes: list[str]) -> list[Any]:
        lines = [Lines([line for line, _ in some], [label for _, label in some])] if some else []
        return list(elements([*lines, *run.notes(notes)]))

    return {
        "first": told(first, [one.partition(":")[0] for one in warned]),
        "all": told(rows, warned),
    }


def _results(result: Comparison, cells: Mapping[str, Any] | None) -> list[Any]:
    """Return all results as parts of the page: by cell, by group, airtime, times, metrics."""
    simulation = result.simulation
    shares = [
        (name, {part: one.mean for part, one in of["airtime"].items()})
        for name, of in simulation.groups.items()
        if "airtime" in of
    ]
    of_models = any(entries for entries in result.model.values())
    metrics = details.compared(summary.best_alone(result), "simulation")
    if not of_models:
        metrics = details.simulated(result)
    return [
        None if cells is None else cells["part"],
        _section("By group", tabled(run.groups(result), "Results by group")),
        _section("Airtime by group", parts.airtime(shares)) if len(shares) > 1 else None,
        _times(simulation),
        _section(
            "Models and simulation" if of_models else "Simulated metrics",
            tabled(metrics, "Models and simulation"),
            parts.fold("Plausibility checks", pairs(Pairs(sanity(result)))),
        ),
    ]


def _section(head: str, *children: Any) -> Element:
    return element("section", {}, element("h3", {}, head), *children)


def _cells(
    scenario: ResolvedScenario, cells: Mapping[str, CellResult], *, glanced: bool = False
) -> dict[str, Any] | None:
    """Return several cells side by side, with shares of isolated goodput and causes; or None."""
    from airtcp.present.cells import by_cell, glanced_share, known_share, sentences

    table = by_cell(cells, glanced=glanced)
    told = sentences(scenario, cells, glanced=glanced)
    title = "By cell (quick simulation)" if glanced else "By cell"
    lines = [element("p", {}, line) for line in told]
    if table is None:
        return {"shares": {}, "part": _section(title, lines)} if told else None
    shares = {
        name: f"{share} simulated"
        for name, cell in cells.items()
        if cell.share_of_alone is not None
        and (share := glanced_share(cell) if glanced else known_share(cell.share_of_alone))
    }
    listed = tabled(table, "Results by cell")
    return {"shares": shares, "part": _section(title, listed, lines)}


def point(simulation: Simulation) -> dict[str, Any]:
    """Return the interval of every metric with a value or bound; `unsteady` explains bounds."""
    early = {
        name: one.steadiness.advice
        for name, one in simulation.estimates.items()
        if one.steadiness.state == "unsteady"
    }
    return {
        name: interval(one, METRICS[name].unit)
        | ({"unsteady": early[name]} if name in early else {})
        for name, one in simulation.metrics.items()
        if one.is_known
    }


#: The metrics by which users notice a change.
_FELT = (
    "packet_delay_p95_s",
    "packet_loss",
    "page_time_p90_s",
    "transfer_time_p90_s",
    "flow_goodput_bps",
)


def changes(found: Difference) -> dict[str, Any]:
    """Return before and after: what each group notices, and all significant changes."""
    from airtcp.messages import diff as words
    from airtcp.present.difference import MOST_ROWS, rest
    from airtcp.results.differences import Ranked

    listed = words.separated(found)
    table = words.rows(listed[:MOST_ROWS])
    felt = [
        {
            "label": label_of(METRICS[metric], flows_of(group, part)),
            "metric": metric,
            "group": group,
            "part": part,
            "a": interval(change.a, METRICS[metric].unit),
            "b": interval(change.b, METRICS[metric].unit),
            "difference": interval(change.difference, METRICS[metric].unit),
            "verdict": Ranked(metric, group, part, change).noticed_verdict,
        }
        for group, parts in found.groups.items()
        for part in ("download", "upload")
        for metric in _FELT
        if (change := parts.get(part, {}).get(metric)) is not None and change.difference.n > 0
    ]
    both = {"before": found.a, "after": found.b}
    pairs = f"{found.replications} pairs of replications on the same random numbers."
    left = rest(found)
    return {
        "felt": felt,
        "pictures": [_noticed(one) for one in felt],
        "rest": [
            parts.fold(
                "All significant changes",
                tabled(table, "All changes") if table else None,
                parts.muted(left) if left else None,
            ),
            element("h4", {}, "Airtime"),
            parts.airtime([(name, airtime_parts(one.simulation)) for name, one in both.items()]),
            parts.muted(pairs),
        ],
    }


def _noticed(one: Mapping[str, Any]) -> Element:
    """Return a change that users notice as a picture."""
    word = element("span", {"class": f"verdict {one['verdict'].replace(' ', '-')}"}, one["verdict"])
    return element(
        "div",
        {},
        element("p", {"class": "bars-head"}, one["label"], " ", word),
        parts.change(one["a"], one["b"], one["verdict"], f"{one['label']}, before and after"),
    )


def _times(simulation: Simulation) -> Element | None:
    """Return the distribution of the transfer times of all replications together."""
    import numpy as np

    times = simulation.transfer_times_s()
    if not len(times):
        return None
    shares = np.concatenate([np.linspace(0.0, 0.99, _QUANTILES), [0.995, 0.999, 1.0]])
    seconds = np.maximum(np.quantile(times, shares), 1e-6)
    data = [{"x": x, "y": y} for x, y in zip(seconds.tolist(), shares.tolist(), strict=True)]
    drawn = parts.curves(
        f"Distribution of {len(times)} transfer times",
        legend=False,
        series=[{"name": "transfers", "kind": "line", "colour": "simulated", "data": data}],
        x={"label": "transfer time", "unit": "s", "log": True},
        y={"label": "fraction completed", "unit": "share"},
    )
    return _section("Transfer times", drawn)
