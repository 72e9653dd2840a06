"""Measured values next to simulated and predicted ones, and explanations of a gap as lines.

`airtcp.gaps` finds the explanations.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from airtcp.amounts import quantity, quantity_with_interval
from airtcp.messages.run import settings
from airtcp.metrics import METRICS
from airtcp.results.measured import EXPLAINS, Explanation, Gap, Measured

#: Explanations whose share differs by less than this from the best count as equally good.
ALIKE: Final = 0.1


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


def gap_lines(gap: Gap) -> list[str]:
    """Return the lines above the explanations of a gap, or that there is none."""
    if gap.state == "no gap":
        return ["No measured value differs from the simulation beyond both intervals."]
    if not gap.explanations:
        reasons = "; ".join(f"{kind}: {why}" for kind, why in gap.untried.items())
        return [f"Measured and predicted values differ. No explanation was tried: {reasons}."]
    if gap.state == "none of these":
        nearest = gap.explanations[0]
        closes = f"the nearest, {nearest.title}, closes {_percent(nearest.share)}"
        if nearest.share <= 0.0:
            closes = "each makes it wider"
        return [
            f"Measured and predicted values differ ({_rows(gap)}).",
            f"No explanation fits: {_kinds(gap)}; {closes}.",
            *_ruled_out(gap),
            "Not modelled, so not tried: power save, radar, multicast, driver faults.",
        ]
    lines = [f"Measured and predicted values differ ({_rows(gap)})."]
    lines.append("Possible explanations, simulated on the same random numbers:")
    first, *others = gap.best
    if others and first.share - others[0].share < ALIKE:
        lines.append("The first two fit about equally well; another measurement would decide.")
    following = [one for one in gap.explanations if one not in gap.best]
    if len(gap.best) == 1 and following:
        lines.append(f"Next: {explanation_line(following[0])}.")
    return lines


def _ruled_out(gap: Gap) -> list[str]:
    """List explanations that would close enough, but contradict a measured value."""
    return [
        f"Ruled out by {METRICS[one.against[0][0]].label}: {explanation_line(one)}."
        for one in gap.explanations
        if one.against and one.share >= EXPLAINS
    ]


def explanation_line(one: Explanation) -> str:
    """Describe an explanation and the share of the gap that it closes."""
    return f"{one.title}: closes {_percent(one.share)} of the gap"


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


def _rows(gap: Gap) -> str:
    """List the first metrics of a gap."""
    named = [
        f"{METRICS[metric].label}, {of}" if of else METRICS[metric].label for metric, of in gap.rows
    ]
    shown = "; ".join(named[:3])
    return shown if len(named) <= 3 else f"{shown}; and {len(named) - 3} more"


def _kinds(gap: Gap) -> str:
    """List the kinds that were tried and close too little."""
    titles = [one.title.partition(":")[0] for one in gap.explanations if one.share < EXPLAINS]
    return ", ".join(titles)
