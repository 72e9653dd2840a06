"""The words for metrics: of which part of everything one is, and what people may call it.

Knows the labels and names of the catalogue (`metrics`). Does not know how values are written
(`amounts`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from airtcp.metrics import METRICS, Metric

#: The parts of a group's flows that are measured: all of them, and those of one direction.
PARTS: Final = ("all", "download", "upload")

#: Heads of columns, and words of the field, that are neither a name nor a label.
_HEADS: Final = {
    "per_flow": "flow_goodput_bps",
    "delay": "packet_delay_s",
    "loss": "packet_loss",
    "round_trip": "path_rtt_s",
    "airtime": "airtime_share",
    "fairness": "jain_index",
}


def label_of(metric: Metric, whose: str) -> str:
    """Say a metric of some flows or of a cell: "p95 packet delay of caller downloads"."""
    label, _, statistic = metric.label.partition(", ")
    if metric.scopes == ("cell",):
        # Its label speaks of what the cell has.
        return f"{whose}'s {label}"
    quantile = re.search(r"_(p\d+)_", metric.name)
    if quantile is not None:
        label = f"{quantile[1]} {label}"
    counts = quantile is None and statistic not in ("mean", "all flows", "")
    return f"{label} of {whose}, {statistic}" if counts else f"{label} of {whose}"


def spoken(metric: Metric) -> str:
    """Say a metric of everything within a sentence: "mean page time", "p90 page time"."""
    label, _, statistic = metric.label.partition(", ")
    if statistic in ("mean", "median"):
        return f"{statistic} {label}"
    quantile = re.search(r"_(p\d+)_", metric.name)
    return metric.label if quantile is None else f"{quantile[1]} {label}"


def flows_of(group: str, part: str | None) -> str:
    """Name the flows of a group, or those of one direction: "caller downloads"; or a cell."""
    if part == "cell":
        return f"cell {group}"
    return group if part in (None, "all") else f"{group} {part}s"


@cache
def spellings() -> dict[str, Metric]:
    """Lists all names that stand for a metric: its own, without unit, its label, its column's head.

    Labels are written with underscores, without ", mean" and ", all flows": `goodput_per_flow`.
    """
    known = dict(METRICS)
    for one in METRICS.values():
        known.setdefault(one.short, one)
    for one in METRICS.values():
        label = re.sub(r", (mean|all flows)$", "", one.label).lower()
        known.setdefault(re.sub(r"\W+", "_", label), one)
    return known | {head: METRICS[name] for head, name in _HEADS.items()}
