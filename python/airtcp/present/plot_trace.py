"""Pictures of a trace: goodput and windows of flows over time.

A few flows are lines; many are rows of a heat map, in which a starving flow is a pale stripe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from airtcp.amounts import scaled
from airtcp.present.drawing import INK, PAPER, SERIES, VERMILION, legend_above, new_figure

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from airtcp.results.trace import Trace
    from airtcp.scenario import ResolvedScenario

#: Points over time in a picture. More would not be visible and only enlarge the files.
_POINTS: Final = 200
_MOST_LINES: Final = len(SERIES)


def flow_goodput(trace: Trace, warmup_s: float) -> Figure | None:
    """Draw the goodput of each flow over time; None without at least two flows."""
    rates = trace.goodput_bps()
    if len(rates) < 2 or rates.size == 0 or not rates.any():
        return None
    return _over_time(trace, rates, "b/s", "goodput", warmup_s)


def windows(trace: Trace, scenario: ResolvedScenario, warmup_s: float) -> Figure | None:
    """Draw congestion windows over time, capped by the receive windows; None without TCP."""
    import numpy as np

    limits = {flow.name: flow.tcp.receive_window_bytes for flow in scenario.flows if flow.tcp}
    names = [name for name in trace.flow_names if name.rsplit("/", 1)[0] in limits]
    if not names:
        return None
    flows = [trace.flow(name) for name in names]
    most = np.array([limits[name.rsplit("/", 1)[0]] for name in names])
    cwnd = np.array([flow.cwnd_bytes for flow in flows])
    # An entry with several connections has several receive windows.
    several = np.array([np.maximum(flow.connections, 1) for flow in flows])
    values = np.minimum(cwnd, most[:, np.newaxis] * several)
    if values.size == 0 or np.isnan(values).all():
        return None
    return _over_time(trace, values / 1e3, "kB", "congestion window", warmup_s, names)


def _over_time(
    trace: Trace,
    values: NDArray[np.float64],
    unit: str,
    label: str,
    warmup_s: float,
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw one row of `values` for each flow, as lines or as a heat map."""
    import numpy as np

    names = trace.flow_names if names is None else names
    means, width_s = _thinned(values, trace.interval_s)
    factor, scaled_unit = scaled(float(np.nanmax(means)), unit)
    end_s = width_s * means.shape[1]
    many = len(names) > _MOST_LINES
    figure, axes = new_figure(height=min(6.0, 2.4 + 0.14 * len(names)) if many else 3.6)
    if many:
        _map(figure, axes, means / factor, end_s, f"{label} ({scaled_unit})")
        _name_rows(axes, names)
    else:
        edges = np.linspace(0.0, end_s, means.shape[1] + 1)
        for row, name, colour in zip(means, names, SERIES, strict=False):
            axes.stairs(row / factor, edges, baseline=None, color=colour, linewidth=1.4, label=name)
        axes.set_ylabel(f"{label} ({scaled_unit})")
        axes.set_ylim(bottom=0.0)
        legend_above(figure, axes)
    axes.set_xlim(0.0, end_s)
    axes.set_xlabel("simulated time (s)")
    if warmup_s > 0.0:
        axes.axvline(warmup_s, color=VERMILION, linewidth=1.2, linestyle=(0, (2, 2)))
    return figure


def _thinned(values: NDArray[np.float64], interval_s: float) -> tuple[NDArray[np.float64], float]:
    """Return means over the intervals of each point, and its duration; NaN if all are NaN."""
    import numpy as np

    count = values.shape[1]
    each = -(-count // _POINTS)
    # Drop the incomplete point at the end.
    used = values[:, : count - count % each].reshape(len(values), -1, each)
    there = ~np.isnan(used)
    total, number = np.where(there, used, 0.0).sum(axis=2), there.sum(axis=2)
    means = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    return means, each * interval_s


def _map(figure: Figure, axes: Axes, values: NDArray[np.float64], end_s: float, label: str) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("airtcp", [PAPER, SERIES[0], INK])
    image = axes.imshow(
        values,
        extent=(0.0, end_s, len(values) - 0.5, -0.5),
        aspect="auto",
        interpolation="none",
        cmap=shades,
        vmin=0.0,
    )
    figure.colorbar(image, ax=axes, label=label, pad=0.02)
    axes.grid(visible=False)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Label the rows of a heat map with flow names, as many as fit."""
    step = -(-len(names) // 24)
    rows = range(0, len(names), step)
    axes.set_yticks(list(rows), [names[row] for row in rows])
