"""Make the tables of docs/results.md: metrics, flows and stations, from their declarations.

.venv/bin/python docs/make_results.py
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from airtcp.metrics import METRICS, Metric
from airtcp.results import Flow, Station
from tables import markdown, remake

PAGE = Path(__file__).parent / "results.md"


def metrics() -> str:
    """Every metric: unit, what it is of, which values are better, definition."""
    rows = (
        (f"`{one.name}`", one.unit, scopes(one), one.better or "", one.meaning)
        for one in METRICS.values()
    )
    return markdown(("metric", "unit", "of", "better", "definition"), rows)


def scopes(metric: Metric) -> str:
    """What a metric is measured of, in the words of the page."""
    return ", ".join(metric.scopes) or "models alone"


def records(kind: type[Flow] | type[Station]) -> str:
    """The keys of a record and their meaning."""
    rows = ((f"`{one.name}`", one.metadata["meaning"]) for one in fields(kind))
    return markdown((f"key of a {kind.__name__.lower()}", "meaning"), rows)


TABLES = {
    "metrics": metrics,
    "flows": lambda: records(Flow),
    "stations": lambda: records(Station),
}

if __name__ == "__main__":
    remake(PAGE, TABLES)
