"""The contents of a log, in rows of text and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from airtcp.amounts import duration, percent
from airtcp.present.drawing import BLUE, SERIES, legend_above, new_figure, styled
from airtcp.units import format_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lines(study: Any) -> list[tuple[str, str]]:
    """Return names and texts, the most important first. `study` comes from `airtcp.traffic`."""
    skipped = "; ".join(f"{count} {why}" for why, count in study.skipped.items())
    shown = [
        ("used", f"{study.used} of {study.lines} lines ({study.form})"),
        *([("not used", skipped)] if skipped else []),
        (
            "mean size",
            f"{format_size(study.mean, 3)}, squared coefficient of variation {study.scv:.3g}",
        ),
        (
            "quantiles",
            ", ".join(f"{name} {format_size(size, 3)}" for name, size in study.quantiles.items()),
        ),
    ]
    if study.tail_index is not None:
        words = "a variance" if study.tail_index >= 2.0 else "no variance"
        words = "not even a mean" if study.tail_index < 1.0 else words
        shown.append(("tail index", f"{study.tail_index:.2f} (Hill, largest 5 %): {words}"))
    for fit in study.fits:
        parameters = ", ".join(f"{name} {value:.4g}" for name, value in fit.parameters.items())
        shown.append(
            (fit.law, f"Kolmogorov-Smirnov distance {percent(fit.distance)} ({parameters})")
        )
    if study.clients is not None:
        shown.append(("clients", f"{study.clients}, {study.requests_per_client:.1f} requests each"))
    if study.span_s is not None:
        shown.append(("time", duration(study.span_s)))
    if study.think_mean_s is not None and study.think_median_s is not None:
        shown.append(
            (
                "think time",
                f"mean {duration(study.think_mean_s)}, median "
                f"{duration(study.think_median_s)} ({study.think_times} pauses "
                "of 1 s to 30 min)",
            )
        )
    return shown


def picture(sizes: list[float], laws: dict[str, Any]) -> Figure:
    """Draw the fraction of requests above a size, with both axes logarithmic, and the fits."""
    ordered = np.sort(np.array(sizes))
    above = 1.0 - np.arange(len(ordered)) / len(ordered)
    with styled():
        figure, axes = new_figure()
        axes.step(ordered, above, where="post", color=BLUE, label="log")
        grid = np.geomspace(ordered[0], ordered[-1], 200) if ordered[0] < ordered[-1] else ordered
        for colour, (name, survival) in zip(SERIES[1:], laws.items(), strict=False):
            axes.plot(grid, survival(grid), color=colour, linewidth=1.2, label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(0.5 / len(ordered), 1.5)
        axes.set_xlabel("size (B)")
        axes.set_ylabel("share of requests that are larger")
        legend_above(figure, axes)
    return figure
