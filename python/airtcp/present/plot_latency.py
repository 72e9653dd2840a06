"""The picture of latency: delays of each group, next to the bounds of targets.

Shows one-way delays of datagrams, and round trips of segments under load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import quantity
from airtcp.judge.targets import is_live
from airtcp.present.drawing import BLUE, INK, SKY, VERMILION, legend_above, minor_label, new_figure
from airtcp.results import Comparison, SimulationResult
from airtcp.scenario.keys.traffic import is_endless

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The most rows; those with the longest delays are shown.
_MOST: Final = 16
_QUANTILES: Final = ("p50", "p95", "p99")


@dataclass(frozen=True)
class _Row:
    """The median, 95th and 99th percentile of a delay of a group in one direction, in seconds."""

    label: str
    metric: str
    group: str
    part: str
    quantiles: tuple[float, float, float]


def latency(result: Comparison | SimulationResult) -> Figure | None:
    """Draw delays of calls and round trips of endless flows; None if there are neither."""
    rows = sorted(_rows(result), key=lambda row: -row.quantiles[1])[:_MOST]
    if not rows:
        return None
    figure, axes = new_figure(height=1.45 + 0.5 * len(rows))
    places = range(len(rows))
    p50, p95, p99 = ([row.quantiles[which] for row in rows] for which in range(3))
    axes.hlines(places, p50, p99, color=SKY, linewidth=6.0, alpha=0.75)
    for values, marker, colour, label in (
        (p50, "|", INK, "median"),
        (p95, "o", BLUE, "95 %"),
        (p99, "D", SKY, "99 %"),
    ):
        axes.plot(
            values, places, linestyle="none", marker=marker, color=colour, markersize=7, label=label
        )
    for row, place in zip(rows, places, strict=True):
        axes.annotate(
            quantity(row.quantiles[1], "s", 2),
            (row.quantiles[1], place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    bounds = [(bound, place) for place, row in enumerate(rows) for bound in _bounds(result, row)]
    if bounds:
        at, where = zip(*bounds, strict=True)
        mark: dict[str, Any] = {
            "linestyle": "none",
            "marker": "|",
            "markersize": 22,
            "markeredgewidth": 2.5,
        }
        axes.plot(at, where, **mark, color=VERMILION, label="bound of a target")
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(low / 1.2, high * 1.2)
    axes.xaxis.set_major_formatter(lambda x, _: quantity(x, "s", 1))
    axes.xaxis.set_minor_formatter(minor_label(*axes.get_xlim()))
    axes.set_yticks(places, [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.7)
    axes.set_xlabel("time (logarithmic)")
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    legend_above(figure, axes)
    return figure


def _rows(result: Comparison | SimulationResult) -> list[_Row]:
    found = []
    for group in result.scenario.stations:
        for part in ("download", "upload"):
            flows = [
                flow
                for flow in result.scenario.flows
                if flow.stations == group.name and flow.direction == part
            ]
            metrics = []
            if any(map(is_live, flows)):
                metrics.append(("packet_delay", "one way"))
            if any(is_endless(flow) and flow.tcp is not None for flow in flows):
                metrics.append(("path_rtt", "round trip"))
            for metric, what in metrics:
                measured = result.simulation.groups[group.name][part]
                values = [measured[f"{metric}_{one}_s"] for one in _QUANTILES]
                p50, p95, p99 = (one.low if one.mean is None else one.mean for one in values)
                # With few packets the 99th percentile is unknown.
                p99 = p99 or p95
                if p50 and p95 and p99:
                    label = f"{group.name} {part}s\n{what}"
                    found.append(_Row(label, metric, group.name, part, (p50, p95, p99)))
    return found


def _bounds(result: Comparison | SimulationResult, row: _Row) -> list[float]:
    """Return the bounds of targets on the 95th percentile of a row."""
    verdict = result.verdict if isinstance(result, Comparison) else None
    return [
        one.target.condition.bound
        for one in (() if verdict is None else verdict.targets)
        if one.target.condition.metric == f"{row.metric}_p95_s"
        and one.target.condition.group in (None, row.group)
        and one.target.condition.part in ("all", row.part)
    ]
