"""The conditions that a page offers: scopes, metrics and bounds that fit the scenario."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from airtcp.conditions import CELL, STATISTICS
from airtcp.judge.targets import EXPECTED, expected
from airtcp.metrics import METRICS, Metric
from airtcp.scenario.measured import measurable, measurable_of_cells
from airtcp.web.judged import condition

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

Json = dict[str, Any]

#: Units for a bound with their factors, the usual unit first.
_UNITS: Final[dict[str, list[tuple[str, float]]]] = {
    "s": [("ms", 1e-3), ("s", 1.0), ("min", 60.0)],
    "b/s": [("Mb/s", 1e6), ("kb/s", 1e3), ("Gb/s", 1e9)],
}
#: The metrics offered first, in this order; all others follow.
_FIRST: Final = ("packet_delay", "packet_loss", "page_time", "transfer_time", "flow_goodput")


def choices(scenario: Scenario) -> Json:
    """Return what a condition may refer to in a scenario.

    `scopes` are all flows, groups, their directions, and several cells. Each has the metrics that
    can have a value there, with statistics, units of bounds, and an initial bound. `targets` are
    those of the file, and `usual` the defaults for its traffic.
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
        # With one direction, the group and its direction are the same.
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
    bases = [METRICS[name] for name in can if not METRICS[name].quantile]
    metrics = [_metric(one, can) for one in bases if one.better is not None]
    places = {name: place for place, name in enumerate(_FIRST)}
    metrics.sort(key=lambda one: (places.get(one["metric"], len(places)), one["detail"]))
    return metrics


def _metric(metric: Metric, can: list[str]) -> Json:
    found = {one: metric.with_statistic(one) for one in STATISTICS[1:]}
    statistics = [one for one, other in found.items() if other is not None and other.name in can]
    fraction = metric.most is not None
    units = _UNITS.get(metric.unit) or [("%", 0.01) if fraction else (metric.unit, 1.0)]
    return {
        "metric": metric.short,
        "label": metric.what if metric.statistic else metric.label,
        "statistics": ["mean", *statistics],
        "usually": _usually(metric, statistics),
        "above": metric.better == "higher",
        "units": [{"text": text, "factor": factor} for text, factor in units],
        "most": metric.most,
        "begin": _begin(metric, fraction=fraction),
        "first": metric.short in _FIRST,
        "detail": metric.detail,
        "meaning": metric.meaning,
    }


def _usually(metric: Metric, statistics: list[str]) -> str:
    """Return the statistic that a profile uses for the metric; otherwise p90 or the mean."""
    asked = [one.metric.split() for expectations in EXPECTED.values() for one in expectations]
    known = [words[0] for words in asked if words[-1] == metric.short and words[0] in statistics]
    return next(iter(known), "p90" if "p90" in statistics else "mean")


def _begin(metric: Metric, *, fraction: bool) -> float:
    """Return an initial bound: a profile's bound for this metric, or a round number."""
    for expectations in EXPECTED.values():
        for one in expectations:
            if one.metric.rpartition(" ")[2] == metric.short:
                value = one.value
                # Rates of profiles are quotients; round down to a power of ten.
                return value if metric.unit != "b/s" else 10.0 ** math.floor(math.log10(value))
    if fraction:
        return 0.8 if metric.better == "higher" else 0.01
    return {"s": 0.1, "b/s": 1e6}.get(metric.unit, 80.0 if metric.better == "higher" else 10.0)
