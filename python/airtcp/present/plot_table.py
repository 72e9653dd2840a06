"""Pictures of a table of results: a metric along an axis, a heat map, or a distribution.

`samples` turns rows into samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, get_args

from airtcp.exceptions import QuestionError
from airtcp.present.drawing import (
    GREY,
    INK,
    SERIES,
    legend_above,
    new_figure,
    styled,
    whole_ticks,
)
from airtcp.present.samples import (
    Intervals,
    Samples,
    Side,
    caption,
    intervals_of,
    samples_of,
    side_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airtcp.results import Results

Kind = Literal["line", "scatter", "heat", "cdf"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)

#: The most series: one per color.
_MOST_SERIES: Final = len(SERIES)
#: Values that span a larger ratio are drawn on a log scale.
_LOG_FROM: Final = 30.0
#: The offset of two series on a categorical axis, in steps.
_ASIDE: Final = 0.08
#: The most cells of a heat map whose numbers are legible.
_MOST_NUMBERS: Final = 80


def picture(
    results: Results, *, y: str, x: str | None = None, by: str | None = None, kind: Kind = "line"
) -> tuple[Figure, str]:
    """Return a picture of results, and its caption.

    `line` and `scatter` show a metric `y` along the axis `x`, for each step of `by`. `heat` shows
    it in the cells of `x` and `by`. `cdf` shows the distribution of the replications of `y`. Names
    are column names, or unique parts of them.

    Raises QuestionError if there is no such column, nothing to draw, or too many lines.
    """
    if not len(results):
        raise QuestionError(
            f"{results.folder} has no rows that meet --where; allowed: a condition that some "
            "rows meet"
        )
    if kind == "heat" and by is None:
        raise QuestionError("a heat map needs --x and --by; allowed: --by AXIS for the rows")
    if kind != "cdf" and x is None:
        raise QuestionError("--x is missing; allowed: an axis of the sweep")
    up = side_of(results, y)
    across = None if x is None or kind == "cdf" else side_of(results, x)
    lines = None if by is None else side_of(results, by)
    if up.is_text:
        raise QuestionError(f"{up.name} has no numbers to draw; allowed: a metric")
    if lines is not None and kind != "heat" and len(lines.steps) > _MOST_SERIES:
        raise QuestionError(
            f"{lines.name} has {len(lines.steps)} values, too many for lines; allowed: "
            f"{_MOST_SERIES} at most, or --kind heat"
        )
    shown = [side.name for side in (up, across, lines) if side is not None]
    samples = samples_of(results, up, across, lines)
    with styled():
        figure, axes = new_figure()
        if kind == "cdf":
            _cdf(axes, samples, up, lines)
        elif kind == "heat":
            assert across is not None
            assert lines is not None
            _heat(figure, axes, intervals_of(results, samples), up, across, lines)
        else:
            assert across is not None
            if kind == "line":
                _lines(axes, intervals_of(results, samples), up, across, lines)
            else:
                _scatter(axes, results, up, across, lines)
            _x_axis(axes, across)
        if kind != "heat":
            axes.set_ylabel(up.label if kind != "cdf" else "share of replications")
            if lines is not None:
                legend_above(figure, axes)
                if figure.legends:
                    figure.legends[0].set_title(lines.label)
                    figure.legends[0].set_alignment("left")
    return figure, caption(results, kind, shown, samples)


def _lines(axes: Axes, intervals: Intervals, up: Side, across: Side, lines: Side | None) -> None:
    for number, ((line, places), colour) in enumerate(zip(intervals.items(), SERIES, strict=False)):
        # On a categorical axis, draw series next to each other instead of on top of each other.
        aside = _ASIDE * (number - (len(intervals) - 1) / 2) if across.is_text else 0.0
        known = {place: one for place, one in places.items() if one.mean is not None}
        xs = [across.at(place) + aside for place in known]
        means = [(one.mean or 0.0) / up.factor for one in known.values()]
        widths = [(one.half_width or 0.0) / up.factor for one in known.values()]
        axes.errorbar(
            xs,
            means,
            yerr=widths if any(widths) else None,
            color=colour,
            marker="o",
            markersize=4,
            linewidth=1.6,
            linestyle="none" if across.is_text else "-",
            capsize=2.5,
            elinewidth=1.0,
            label=None if lines is None else lines.told(line),
        )
    if all(
        one.mean is None or one.mean >= 0
        for places in intervals.values()
        for one in places.values()
    ):
        axes.set_ylim(bottom=0.0)


def _scatter(axes: Axes, results: Results, up: Side, across: Side, lines: Side | None) -> None:
    table = results.table
    xs, ys = table.column(across.name).to_pylist(), table.column(up.name).to_pylist()
    colours = [None] * len(table) if lines is None else table.column(lines.name).to_pylist()
    for line, colour in zip([None] if lines is None else lines.steps, SERIES, strict=False):
        mine = [
            (across.at(place), value / up.factor)
            for place, value, of in zip(xs, ys, colours, strict=True)
            if of == line and value is not None and (place is not None or across.is_text)
        ]
        axes.scatter(
            [place for place, _ in mine],
            [value for _, value in mine],
            s=14,
            color=colour,
            alpha=0.7,
            linewidths=0,
            label=None if lines is None else lines.told(line),
        )


def _heat(
    figure: Figure,
    axes: Axes,
    intervals: Intervals,
    up: Side,
    across: Side,
    lines: Side,
) -> None:
    cells = []
    for line in lines.steps:
        known = [intervals.get(line, {}).get(place) for place in across.steps]
        means = [None if one is None else one.mean for one in known]
        cells.append([math.nan if mean is None else mean / up.factor for mean in means])
    image = axes.imshow(cells, aspect="auto", origin="lower", cmap="cividis")
    axes.set_facecolor(GREY)
    axes.grid(visible=False)
    axes.set_xticks(range(len(across.steps)), [across.told(step) for step in across.steps])
    axes.set_yticks(range(len(lines.steps)), [lines.told(step) for step in lines.steps])
    axes.set_xlabel(across.label)
    axes.set_ylabel(lines.label)
    bar = figure.colorbar(image, ax=axes)
    bar.set_label(up.label)
    bar.outline.set_visible(False)
    known_cells = [value for row in cells for value in row if not math.isnan(value)]
    if len(across.steps) * len(lines.steps) <= _MOST_NUMBERS and known_cells:
        middle = (min(known_cells) + max(known_cells)) / 2
        for row, values in enumerate(cells):
            for at, value in enumerate(values):
                if not math.isnan(value):
                    colour = "#ffffff" if value < middle else INK
                    axes.text(
                        at, row, f"{value:.3g}", ha="center", va="center", fontsize=8, color=colour
                    )


def _cdf(axes: Axes, samples: Samples, up: Side, lines: Side | None) -> None:
    for (line, places), colour in zip(samples.items(), SERIES, strict=False):
        values = sorted(
            value / up.factor for row in places.values() for value in row if value is not None
        )
        if not values:
            continue
        shares = [(index + 1) / len(values) for index in range(len(values))]
        label = None if lines is None else lines.told(line)
        axes.step([values[0], *values], [0.0, *shares], where="post", color=colour, label=label)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel(up.label)


def _x_axis(axes: Axes, across: Side) -> None:
    axes.set_xlabel(across.label)
    if across.is_text:
        axes.set_xticks(range(len(across.steps)), [across.told(step) for step in across.steps])
        axes.set_xlim(-0.5, len(across.steps) - 0.5)
        return
    numbers: Sequence[float] = [step / across.factor for step in across.steps]
    whole_ticks(axes, numbers)
    if min(numbers) > 0 and max(numbers) / min(numbers) > _LOG_FROM and len(numbers) > 3:
        axes.set_xscale("log")
        if len(numbers) <= 12:
            axes.set_xticks(numbers, [across.told(step) for step in across.steps])
            axes.minorticks_off()
