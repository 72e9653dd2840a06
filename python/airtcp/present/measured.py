"""Measured values next to simulated and predicted ones, and explanations of a gap as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.messages.run import settings
from airtcp.metrics import METRICS

if TYPE_CHECKING:
    from airtcp.results.measured import Explanation, Measured


class Row(NamedTuple):
    """A measured value, or below it a simulated or predicted one; `by` is empty or its source."""

    name: str
    by: str
    value: str
    difference: str
    verdict: str


def head(beside: Measured) -> tuple[str, str, str, str]:
    """Return the column headings; the first column has a row's name or source."""
    return f"measured ({beside.measurement.source})", "", "difference", ""


def rows(beside: Measured) -> list[Row]:
    """Return the measured values, each followed by its simulated and predicted values."""
    found = []
    for row in beside.rows:
        metric = METRICS[row.metric]
        name = f"{metric.label}, {row.of}" if row.of else metric.label
        found.append(Row(name, "", quantity_with_interval(row.measured, metric.unit), "", ""))
        for one in row.answers:
            value = quantity(one.value, metric.unit)
            if one.by == "simulation":
                value = quantity_with_interval(row.simulation, metric.unit)
            off = "" if one.difference is None else f"{100 * one.difference:+.1f} %"
            found.append(Row(name, one.by, value, off, one.verdict))
    return found


def unfollowed(beside: Measured) -> list[str]:
    """List conditions of the measurement that the scenario lacks, and the metrics they affect."""
    found = []
    for one in beside.unfollowed:
        rows = [row for row in beside.rows if one.moves(row.metric)]
        named = dict.fromkeys(METRICS[row.metric].label for row in rows)
        if rows:
            found.append(f"Not simulated: {one.sentence}. Not compared: {', '.join(named)}.")
    return found


def how(one: Explanation) -> list[str]:
    """Return how to apply an explanation: options to paste, or lines of the file."""
    return [settings(one.set)] if one.set else one.written.splitlines()
