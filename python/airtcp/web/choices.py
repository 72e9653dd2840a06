"""Conditions to choose from: what of which group can be measured here, and which bounds it takes.

Knows which metrics can exist in a scenario, and what is offered first. Offers nothing that the
scenario would refuse; reads no condition and judges none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from airtcp.conditions import CELL, FRACTIONS, STATISTICS
from airtcp.judge.targets import EXPECTED, expected
from airtcp.metrics import METRICS, Metric
from airtcp.scenario.measured import measurable, measurable_of_cells
from airtcp.web.judged import condition

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

Json = dict[str, Any]

#: The units in which a bound may be written, and the factor of each, the usual one first.
_UNITS: Final[dict[str, list[tuple[str, float]]]] = {
    "s": [("ms", 1e-3), ("s", 1.0), ("min", 60.0)],
    "b/s": [("Mb/s", 1e6), ("kb/s", 1e3), ("Gb/s", 1e9)],
}
#: Metrics that people ask for first, in this order; all others follow.
_FIRST: Final = ("packet_delay", "packet_loss", "page_time", "transfer_time", "flow_goodput")


def choices(scenario: Scenario) -> Json:
    """Say what a condition may be about in a scenario.

    `scopes` are everything, groups, their directions, and several cells: each with the metrics that
    can have a value there, of each its statistics, units of bounds, and a bound to begin with.
    `targets` are those of the file, `usual` those of its traffic.
    """
    return {
        "scopes": [
            *(_scope(scenario, *one) for one in _scopes(scenario)),
            *_scopes_of_cells(scenario),
        ],
        "targets": [condition(one) for one in scenario.targets],
        "usual": [condition(one.condition) for one in expected(scenario)],
    }


def _scopes(scenario: Scenario) -> Iterator[tuple[str | None, str]]:
    yield None, "all"
    for group in scenario.stations:
        directions = sorted({f.direction for f in scenario.flows if f.stations == group.name})
        if directions:
            yield group.name, "all"
        # Of a group with one direction the two are one.
        if len(directions) > 1:
            yield from ((group.name, direction) for direction in directions)


def _scope(scenario: Scenario, group: str | None, part: str) -> Json:
    metrics = _metrics(measurable(scenario, group, part))
    text = "everything" if group is None else group if part == "all" else f"{group} {part}s"
    value = "" if group is None else group if part == "all" else f"{group}/{part}"
    return {"value": value, "text": text, "metrics": metrics}


def _scopes_of_cells(scenario: Scenario) -> Iterator[Json]:
    metrics = _metrics(measurable_of_cells(scenario))
    for cell in scenario.cells or () if metrics else ():
        yield {"value": f"{CELL} {cell.name}", "text": f"cell {cell.name}", "metrics": metrics}


def _metrics(can: list[str]) -> list[Json]:
    bases = [METRICS[name] for name in can if not re.search(r"_p\d+_", name)]
    metrics = [_metric(one, can) for one in bases if one.better is not None]
    places = {name: place for place, name in enumerate(_FIRST)}
    metrics.sort(key=lambda one: (places.get(one["metric"], len(places)), one["detail"]))
    return metrics


def _metric(metric: Metric, can: list[str]) -> Json:
    suffix = metric.name.removeprefix(metric.short)
    label, _, mean = metric.label.partition(", ")
    statistics = [one for one in STATISTICS[1:] if f"{metric.short}_{one}{suffix}" in can]
    fraction = not metric.unit and any(part in metric.name for part in FRACTIONS)
    units = _UNITS.get(metric.unit) or [("%", 0.01) if fraction else (metric.unit, 1.0)]
    return {
        "metric": metric.short,
        "label": metric.label if mean not in ("mean", "") else label,
        "statistics": ["mean", *statistics],
        "usually": _usually(metric, statistics),
        "above": metric.better == "higher",
        "units": [{"text": text, "factor": factor} for text, factor in units],
        "most": 1.0 if fraction else None,
        "begin": _begin(metric, fraction=fraction),
        "first": metric.short in _FIRST,
        "detail": metric.detail,
        "meaning": metric.meaning,
    }


def _usually(metric: Metric, statistics: list[str]) -> str:
    """Name the statistic that a profile has of the metric; else that of nine in ten, if any."""
    asked = [one.metric.split() for expectations in EXPECTED.values() for one in expectations]
    known = [words[0] for words in asked if words[-1] == metric.short and words[0] in statistics]
    return next(iter(known), "p90" if "p90" in statistics else "mean")


def _begin(metric: Metric, *, fraction: bool) -> float:
    """Say what bound to begin with: that of a profile that has the metric, or a round number."""
    for expectations in EXPECTED.values():
        for one in expectations:
            if one.metric.rpartition(" ")[2] == metric.short:
                value = one.value
                # Rates of profiles are quotients; people begin with a power of ten.
                return value if metric.unit != "b/s" else 10.0 ** math.floor(math.log10(value))
    if fraction:
        return 0.8 if metric.better == "higher" else 0.01
    return {"s": 0.1, "b/s": 1e6}.get(metric.unit, 80.0 if metric.better == "higher" else 10.0)
