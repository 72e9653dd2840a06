"""Tables of docs/reference/results.md: metrics, flows and stations, from their declarations."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from airtcp.metrics import METRICS, Metric
from airtcp.results import Flow, Station
from tables import markdown


def metrics() -> str:
    """List every metric: unit, scopes, direction, definition."""
    rows = (
        (f"`{one.name}`", one.unit, scopes(one), one.better or "", one.meaning)
        for one in METRICS.values()
    )
    return markdown(("metric", "unit", "of", "better", "definition"), rows)


def names() -> str:
    """List the names of all metrics by their unit."""
    units = dict.fromkeys(one.unit for one in METRICS.values())
    rows = [
        [unit or "–", ", ".join(f"`{one.name}`" for one in METRICS.values() if one.unit == unit)]
        for unit in units
    ]
    return markdown(("unit", "metrics"), rows)


def scopes(metric: Metric) -> str:
    """Return the scopes of a metric in the words of the page."""
    return ", ".join(metric.scopes) or "models alone"


def records(kind: type[Flow] | type[Station]) -> str:
    """List the keys of a record and their meaning."""
    rows = ((f"`{one.name}`", one.metadata["meaning"]) for one in fields(kind))
    return markdown((f"key of a {kind.__name__.lower()}", "meaning"), rows)


DOCS = Path(__file__).parents[1]
PAGE = DOCS / "reference" / "results.md"
TABLES = {
    "metrics": metrics,
    "metric-names": names,
    "flows": lambda: records(Flow),
    "stations": lambda: records(Station),
}
