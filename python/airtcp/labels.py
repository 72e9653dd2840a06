"""Names of metrics: labels with their scope, and the spellings that users may enter."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from airtcp.metrics import METRICS, Metric

#: The flows of a group that are measured: all, or one direction.
PARTS: Final = ("all", "download", "upload")

#: Column headings and common terms that are neither a metric's name nor its label.
_HEADS: Final = {
    "per_flow": "flow_goodput_bps",
    "delay": "packet_delay_s",
    "loss": "packet_loss",
    "round_trip": "path_rtt_s",
    "airtime": "airtime_share",
    "fairness": "jain_index",
}


def label_of(metric: Metric, whose: str) -> str:
    """Label a metric with its scope: "p95 packet delay of caller downloads"."""
    if metric.scopes == ("cell",):
        # Labels of cell-only metrics read well only as "CELL's ...".
        return f"{whose}'s {metric.what}"
    label = f"{metric.quantile} {metric.what}".lstrip()
    side = f", {metric.of}" if metric.of not in ("", "all flows") else ""
    return f"{label} of {whose}{side}"


def spoken(metric: Metric) -> str:
    """Label a metric over all flows, for use in a sentence: "mean page time", "p90 page time"."""
    if not metric.statistic:
        return metric.label
    return f"{'median' if metric.statistic == 'p50' else metric.statistic} {metric.what}"


def flows_of(group: str, part: str | None) -> str:
    """Name the flows of a group or of one of its directions ("caller downloads"), or a cell."""
    if part == "cell":
        return f"cell {group}"
    return group if part in (None, "all") else f"{group} {part}s"


@cache
def spellings() -> dict[str, Metric]:
    """Return all accepted names of metrics: the key, with and without unit, label, column heading.

    Labels are written with underscores, without ", mean" and ", all flows": `goodput_per_flow`.
    """
    known = dict(METRICS)
    for one in METRICS.values():
        known.setdefault(one.short, one)
    for one in METRICS.values():
        is_plain = one.statistic == "mean" or one.of == "all flows"
        label = (one.what if is_plain else one.label).lower()
        known.setdefault(re.sub(r"\W+", "_", label), one)
    return known | {head: METRICS[name] for head, name in _HEADS.items()}
