"""Draw charts of curves in one style for all figures, with the data behind each.

Models are lines, simulations are markers with intervals, and numbers printed in a paper are hollow
diamonds, a second set of them hollow squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from airtcp.present.drawing import INK, SERIES, legend_above, new_figure, styled
from airtcp.stats import Interval

from airtcp_papers.common.item import Cell, Data, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Inches; printed at column width, letters are still about 7 points high.
WIDTH: Final = 5.0
HEIGHT: Final = 3.5

#: Room beyond both given limits of x, as a part of the axis.
_ROOM: Final = 0.02
_MARKERS: Final = ("o", "s", "^", "v", "P", "X")
_DASHES: Final[tuple[Any, ...]] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))

Kind = Literal["model", "dotted", "simulation", "points", "paper", "trace", "marks", "bars"]


@dataclass(frozen=True, slots=True)
class Series:
    """One curve: its legend entry, its points, and their origin.

    `kind` "dotted" is a second model of the same quantity, "points" a simulation with unconnected
    markers, "trace" a simulated line without markers, "marks" points on it, "bars" a simulation
    over unordered x. `colour` is an index of the palette, so that a model and a simulation of the
    same quantity can share one; by default each series has its own.
    """

    label: str
    x: Sequence[float]
    y: Sequence[Value]
    kind: Kind
    colour: int | None = None


def chart(
    series: Sequence[Series],
    *,
    x: str,
    y: str,
    x_scale: Literal["linear", "log"] = "linear",
    y_scale: Literal["linear", "log"] = "linear",
    from_zero: bool = False,
    whole_x: bool = False,
    columns: int = 2,
    x_limits: tuple[float, float] | None = None,
    y_limits: tuple[float, float] | None = None,
    x_ticks: Sequence[float] | None = None,
) -> Figure:
    """Draw a figure of curves. `x` and `y` are the axis labels, with units in brackets.

    `from_zero` starts the y axis at zero, `whole_x` puts ticks only at whole numbers, `columns` is
    the most columns of the legend, which is above the axes. `x_ticks` are the only labeled values
    of x.
    """
    with styled():
        figure, axes = new_figure(WIDTH, HEIGHT)
        axes.set_xscale(x_scale)
        axes.set_yscale(y_scale)
        _draw(axes, series)
        for axis, scale in ((axes.xaxis, x_scale), (axes.yaxis, y_scale)):
            if scale == "log":
                _plain_numbers(axis)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        if whole_x:
            from matplotlib.ticker import MaxNLocator

            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if x_ticks is not None:
            axes.set_xticks(x_ticks, [f"{tick:g}" for tick in x_ticks])
            axes.set_xticks([], minor=True)
        if from_zero:
            axes.set_ylim(bottom=0.0)
        if x_limits is not None:
            # A marker at the edge is drawn whole.
            room = _ROOM * (x_limits[1] - x_limits[0])
            axes.set_xlim(x_limits[0] - room, x_limits[1] + room)
        if y_limits is not None:
            axes.set_ylim(*y_limits)
        _legend(figure, axes, columns)
        return figure


def panels(
    parts: Mapping[str, Sequence[Series]],
    *,
    x: str,
    y: str,
    x_ticks: Sequence[float],
) -> Figure:
    """Draw a figure of several titled axes, two per row, with one legend.

    The x axes are logarithmic; all axes have the same series, drawn as in `chart`.
    """
    from matplotlib.figure import Figure as Empty

    with styled():
        rows = -(-len(parts) // 2)
        figure = Empty(figsize=(1.4 * WIDTH, 0.75 * HEIGHT * rows), layout="constrained")
        grid = figure.subplots(rows, 2, sharex=True, squeeze=False)
        for axes, (title, series) in zip(grid.flat, parts.items(), strict=False):
            axes.set_xscale("log")
            _draw(axes, series)
            axes.set_title(title, fontsize=9.5, loc="left")
            axes.set_xticks(x_ticks, [f"{tick:g}" for tick in x_ticks])
            axes.set_xticks([], minor=True)
        figure.supxlabel(x, fontsize=9.5)
        figure.supylabel(y, fontsize=9.5)
        legend_above(figure, grid.flat[0], 3)
        return figure


def table_of(series: Sequence[Series], *, x: str, y: str) -> Data:
    """Return the points of curves, one per row: series, x, y and the interval of y."""
    rows: list[list[Cell]] = [
        [one.label, at, *ends(value)]
        for one in series
        for at, value in zip(one.x, one.y, strict=True)
    ]
    return Data(["series", x, y, "low", "high"], rows)


def table_with_ends(columns: Sequence[str], values: Mapping[Any, Value]) -> Data:
    """Return a table of values by name, one per row: name, value and its interval."""
    return Data(columns, [[name, *ends(value)] for name, value in values.items()])


def ends(value: Value) -> list[Cell]:
    """Return three cells for a value: the value itself and both ends of its interval, or None."""
    if isinstance(value, Interval):
        return [value.mean, value.low, value.high]
    return [float(value), None, None]


def _legend(figure: Figure, axes: Axes, columns: int) -> None:
    """Add a legend with as many columns as the figure has room for, at most `columns`."""
    for wanted in range(columns, 0, -1):
        legend_above(figure, axes, wanted)
        figure.draw_without_rendering()
        if wanted == 1 or figure.legends[-1].get_window_extent().x1 <= figure.bbox.x1:
            return
        figure.legends[-1].remove()


#: How curves without intervals are drawn, by kind; models have dashes, marks have a form as well.
_LINES: Final[Mapping[str, Mapping[str, Any]]] = {
    "model": {"linewidth": 1.7},
    "dotted": {"linestyle": ":", "linewidth": 1.4},
    "trace": {"linewidth": 1.3},
    "marks": {"linestyle": "none", "markersize": 7, "markeredgewidth": 1.6, "zorder": 3},
    "paper": {
        "linestyle": "none",
        "markersize": 7,
        "markerfacecolor": "none",
        "markeredgecolor": INK,
        "markeredgewidth": 1.3,
        "zorder": 4,
    },
}


def _draw(axes: Axes, series: Sequence[Series]) -> None:
    models = simulations = papers = 0
    for number, one in enumerate(series):
        colour = number if one.colour is None else one.colour
        ink = SERIES[colour % len(SERIES)]
        means, below, above = _errors(one.y)
        style = dict(_LINES.get(one.kind, {}))
        if one.kind == "model":
            style["linestyle"] = _DASHES[models % len(_DASHES)]
            models += 1
        elif one.kind == "marks":
            style["marker"] = "+" if colour % 2 == 0 else "x"
        elif one.kind == "paper":
            style["marker"] = "Ds"[papers % 2]
            papers += 1
        if style:
            style.setdefault("color", INK if one.kind == "paper" else ink)
            axes.plot(one.x, means, label=one.label, **style)
        elif one.kind == "bars":
            axes.bar(one.x, means, width=0.75, color=ink, label=one.label, zorder=2)
            axes.errorbar(
                one.x, means, yerr=[below, above], fmt="none", ecolor=INK, capsize=2.5, zorder=3
            )
        else:
            marker = _MARKERS[simulations % len(_MARKERS)]
            simulations += 1
            axes.errorbar(
                one.x,
                means,
                yerr=[below, above],
                color=ink,
                marker=marker,
                markersize=5,
                linewidth=0.0 if one.kind == "points" else 0.8,
                elinewidth=1.2,
                capsize=2.5,
                label=one.label,
                zorder=3,
            )


def _plain_numbers(axis: Axis) -> None:
    """Label a logarithmic axis with a small range by 0.1, 0.2, 0.5 and so on; others as usual."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = axis.get_view_interval()
    if high < 1000.0 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_locator(NullLocator())


def _errors(values: Sequence[Value]) -> tuple[list[float], list[float], list[float]]:
    """Return means and interval lengths below and above; NaN for missing values."""
    means, below, above = [], [], []
    for value in values:
        one = value if isinstance(value, Interval) else Interval(float(value), None, None, 1)
        mean = float("nan") if one.mean is None else one.mean
        means.append(mean)
        below.append(0.0 if one.low is None else mean - one.low)
        above.append(0.0 if one.high is None else one.high - mean)
    return means, below, above
