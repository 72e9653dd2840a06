"""The pictures of a result.

`airtcp.present.drawing` defines their style and `airtcp.present.report` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import percent, quantity, quantity_with_interval, scaled
from airtcp.estimates.percentiles import PERCENTILES
from airtcp.metrics import METRICS
from airtcp.present import plot_latency, plot_trace
from airtcp.present.cells import airtime_parts
from airtcp.present.drawing import (
    BLUE,
    GREEN,
    GREY,
    INK,
    PAPER,
    PURPLE,
    SERIES,
    SKY,
    VERMILION,
    legend_above,
    minor_label,
    new_figure,
    styled,
)
from airtcp.present.summary import headlines_of
from airtcp.results import (
    Comparison,
    Model,
    Row,
    Simulation,
    SimulationResult,
    TestbedResult,
)
from airtcp.scenario.keys.traffic import is_endless

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from airtcp.results.testbed import Beside
    from airtcp.stats import Interval

#: The captions of pictures, by name, in the order of a report.
CAPTIONS: Final[dict[str, str]] = {
    "latency": (
        "Packet delays: datagrams one way, TCP segments as round trips. A tick is the "
        "bound of a target."
    ),
    "comparison": (
        "Models and simulation: the difference of each prediction from the "
        "simulated mean. A filled mark is the preferred model for such a scenario. "
        "Models with broken assumptions and large differences are only in the "
        "table."
    ),
    "airtime": "Airtime by use.",
    "transfer-times": (
        "Transfer times: the fraction that ends within a time, averaged over replications."
    ),
    "stations": "Goodput of each station with endless flows, in ascending order.",
    "active-transfers": "Distribution of the number of transfers in progress.",
    "goodput": "Goodput over the measured time.",
    "flow-goodput": (
        "Goodput of each flow in replication 0 over time; dashed: end of the warm-up."
    ),
    "windows": "Congestion windows in replication 0, up to the receive windows.",
}

#: The parts of `airtime_parts` from useful to idle: key, label, color.
AIRTIME: Final = (
    ("data", "data", BLUE),
    ("tcp_ack", "TCP ACK", SKY),
    ("control", "RTS, CTS, MAC ACK", GREEN),
    ("collision", "collisions", VERMILION),
    ("heard", "frames of other cells", PURPLE),
    ("idle", "idle, backoff and inter-frame spaces", GREY),
)

#: The least number of replications for which quartiles are drawn.
_QUARTILES_FROM: Final = 4

#: More bars than this are drawn as one outline.
_MOST_BARS: Final = 60


def pictures(result: Comparison | SimulationResult) -> dict[str, Figure]:
    """Return the pictures that make sense for a result, by name, in the order of `CAPTIONS`.

    `latency` needs datagrams or endless flows, `comparison` a model that applies or a testbed,
    `transfer-times` and `active-transfers` need transfers, `stations` at least two stations with
    endless flows, `flow-goodput` and `windows` a trace.
    """
    simulation = result.simulation
    comparison = isinstance(result, Comparison)
    model = _that_applies(result) if isinstance(result, Comparison) else {}
    rows = _of_models(result.comparison, model) if isinstance(result, Comparison) else []
    testbed = result.testbed if isinstance(result, Comparison) else None
    # Every simulated scenario has a warm-up, set or detected.
    warmup_s = (result.scenario.run.warmup_ns or 0) / 1e9
    duration_s = result.scenario.run.duration_ns / 1e9
    with styled():
        figures = {
            "latency": plot_latency.latency(result),
            "comparison": (_comparison(rows, simulation, testbed) if comparison else None),
            "airtime": _airtime(simulation),
            "transfer-times": _transfer_times(simulation, testbed),
            "stations": _stations(simulation, _greedy(result)),
            "active-transfers": _active_transfers(simulation, model),
            "goodput": _goodput(simulation, warmup_s, duration_s),
            **_traced(result, warmup_s),
        }
    return {name: figure for name, figure in figures.items() if figure is not None}


def _that_applies(result: Comparison) -> Model:
    """Leave out models that have a broken assumption and are far off for some metric."""
    off = {row.source for row in result.comparison if row.verdict.startswith("far ")}
    return {
        name: [entry for entry in entries if not (entry.broken and entry.source in off)]
        for name, entries in result.model.items()
    }


def _of_models(rows: Sequence[Row], model: Model) -> list[Row]:
    known = {(name, entry.source) for name, entries in model.items() for entry in entries}
    return [row for row in rows if (row.metric, row.source) in known]


def _greedy(result: Comparison | SimulationResult) -> set[str]:
    """Return the groups with endless flows: only for these are shares meaningful."""
    return {flow.stations for flow in result.scenario.flows if is_endless(flow)}


def _comparison(
    rows: Sequence[Row], simulation: Simulation, testbed: TestbedResult | None
) -> Figure | None:
    rows = [row for row in rows if row.difference is not None]
    real = {} if testbed is None else {row.metric: row for row in testbed.comparison}
    real = {name: row for name, row in real.items() if row.difference is not None}
    names = list(dict.fromkeys(row.metric for row in rows))
    headlines = [name for name in headlines_of(simulation) if name in real]
    names += [name for name in headlines if name not in names]
    if not names:
        return None
    figure, axes = new_figure(height=1.45 + 0.62 * len(names))
    axes.axvline(0.0, color=BLUE, linewidth=1.2)
    widths, best, others = [], [], []
    for y, name in enumerate(names):
        mine = [row for row in rows if row.metric == name]
        widths.append(100.0 * (_simulated(rows, real, name).relative_half_width or 0.0))
        points = [(100.0 * (row.difference or 0.0), y) for row in mine]
        best += points[:1]
        others += points[1:]
    measured = [
        (100.0 * (real[name].difference or 0.0), y) for y, name in enumerate(names) if name in real
    ]
    axes.barh(
        range(len(names)),
        [2.0 * width for width in widths],
        left=[-width for width in widths],
        height=0.42,
        color=SKY,
        alpha=0.75,
        label=f"simulation, {100 * simulation.confidence:g} % interval",
    )
    diamonds: dict[str, Any] = {"linestyle": "none", "marker": "D", "color": VERMILION}
    if best:
        axes.plot(*zip(*best, strict=True), **diamonds, markersize=7.5, label="preferred model")
    if others:
        hollow: dict[str, Any] = {
            "markerfacecolor": PAPER,
            "markeredgewidth": 1.4,
            "markersize": 6.5,
        }
        axes.plot(*zip(*others, strict=True), **diamonds, **hollow, label="other readings, models")
    if measured:
        square: dict[str, Any] = {"linestyle": "none", "marker": "s", "color": GREEN}
        axes.plot(*zip(*measured, strict=True), **square, markersize=6.5, label="testbed")
    axes.set_yticks(
        range(len(names)), [_row_label(name, _simulated(rows, real, name)) for name in names]
    )
    axes.set_ylim(len(names) - 0.4, -0.6)
    if max(abs(x) for x, _ in best + others + measured) > 150.0:
        # Symlog, so that a model that is far off does not compress the others into one line.
        axes.set_xscale("symlog", linthresh=10.0)
    # Otherwise the axis would end exactly where the bars do.
    axes.use_sticky_edges = False
    axes.autoscale_view(scaley=False)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, -5.0), max(high, 5.0))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:+g}" if x else "0")
    axes.set_xlabel("difference from the simulated mean (%)")
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    legend_above(figure, axes)
    return figure


def _simulated(rows: Sequence[Row], real: Mapping[str, Beside], name: str) -> Interval:
    of_models = (row.simulation for row in rows if row.metric == name)
    return next(of_models, None) or real[name].simulation


def _row_label(name: str, simulated: Interval) -> str:
    return f"{METRICS[name].label}\n{quantity_with_interval(simulated, METRICS[name].unit)}"


def _airtime(simulation: Simulation) -> Figure:
    figure, axes = new_figure(height=1.75)
    left = 0.0
    parts = airtime_parts(simulation)
    for key, label, colour in AIRTIME:
        share = 100.0 * parts.get(key, 0.0)
        if share == 0.0:
            continue
        axes.barh(
            0.0,
            share,
            left=left,
            height=0.6,
            color=colour,
            edgecolor=PAPER,
            linewidth=1.0,
            label=f"{label}  {percent(parts[key])}",
        )
        left += share
    axes.set_xlim(0.0, 100.0)
    axes.set_ylim(-0.42, 0.42)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    cells = len(simulation.cells)
    mean = f", mean of {cells} access points" if cells > 1 else ""
    axes.set_xlabel(f"share of the measured time (%){mean}")
    axes.grid(visible=False)
    legend_above(figure, axes, columns=3)
    return figure


def _transfer_times(simulation: Simulation, testbed: TestbedResult | None) -> Figure | None:
    import numpy as np

    times = _quantiles(simulation)
    if times is None:
        return None
    figure, axes = new_figure()
    levels = _levels()
    axes.plot(times, levels, color=BLUE, linewidth=1.8, label="simulation")
    real = None if testbed is None else _quantiles(testbed.testbed)
    if real is not None:
        dashed = (0, (4, 1.5))
        axes.plot(real, levels, color=GREEN, linewidth=1.4, linestyle=dashed, label="testbed")
    for level in (0.50, 0.90, 0.99):
        at = float(np.interp(level, levels, times))
        told = simulation.metrics[f"transfer_time_p{100 * level:g}_s"]
        words = quantity(at, "s", 3)
        if told.mean is not None:
            axes.plot([at], [level], marker="o", markersize=6, color=VERMILION)
        elif told.low is not None:
            # The run is too short: the curve covers only finished transfers.
            words = f"at least {quantity(told.low, 's', 3)}"
        axes.annotate(
            f"{100 * level:g} %: {words}",
            (at, level),
            xytext=(9, -4),
            textcoords="offset points",
            va="top",
            fontsize=9,
        )
    axes.set_xscale("log")
    # Leave room on the right for the label of the last percentile.
    low, high = axes.get_xlim()
    axes.set_xlim(low, max(high, float(np.interp(0.99, levels, times)) * (high / low) ** 0.25))
    axes.xaxis.set_major_formatter(lambda x, _: quantity(x, "s", 1))
    axes.xaxis.set_minor_formatter(minor_label(*axes.get_xlim()))
    axes.set_ylim(0.0, 1.03)
    axes.set_xlabel("transfer time (logarithmic)")
    axes.set_ylabel("fraction of transfers")
    if real is not None:
        legend_above(figure, axes)
    return figure


def _levels() -> NDArray[np.float64]:
    """Return fractions from 0 to 1, denser in the upper tail; they include 0.5, 0.9 and 0.99."""
    import numpy as np

    return np.concatenate(
        [np.linspace(0.0, 0.99, 397), 1.0 - np.geomspace(0.0099, 1e-4, 80), [1.0]]
    )


def _quantiles(simulation: Simulation) -> NDArray[np.float64] | None:
    """Return the quantile at each of `_levels`, averaged over replications and fitted to estimates.

    If the table has estimates of percentiles, the curve passes through them: it is scaled by the
    ratio of estimate to mean, log-linearly interpolated between percentiles. None if there are too
    few transfers to draw.
    """
    import numpy as np

    runs = [run.transfer_times_s for run in simulation.runs if len(run.transfer_times_s)]
    if sum(map(len, runs)) < 2 or min(float(times.min()) for times in runs) <= 0.0:
        return None
    levels = _levels()
    quantiles: NDArray[np.float64] = np.mean([np.quantile(one, levels) for one in runs], axis=0)
    ratios = {
        q: told.mean / float(np.interp(q, levels, quantiles))
        for name, (base, q) in PERCENTILES.items()
        if base == "transfer_time"
        if (told := simulation.metrics[name]).mean
    }
    if ratios:
        moved = np.exp(np.interp(levels, list(ratios), np.log(list(ratios.values()))))
        quantiles = np.maximum.accumulate(quantiles * moved)
    return quantiles


def _stations(simulation: Simulation, greedy: set[str]) -> Figure | None:
    stations = sorted(
        (station for station in simulation.stations if station.name.rpartition("/")[0] in greedy),
        key=lambda station: (station.goodput_bps, station.name),
    )
    if len(stations) < 2 or stations[-1].goodput_bps == 0.0:
        return None
    fair = sum(station.goodput_bps for station in stations) / len(stations)
    factor, unit = scaled(stations[-1].goodput_bps, "b/s")
    figure, axes = new_figure()
    names = (station.name.split("/")[0] for station in simulation.stations)
    groups = [name for name in dict.fromkeys(names) if name in greedy]
    colours = {group: SERIES[i % len(SERIES)] for i, group in enumerate(groups)}
    for group in groups:
        heights = [
            station.goodput_bps / factor if station.name.split("/")[0] == group else 0.0
            for station in stations
        ]
        _bars(axes, 1, heights, color=colours[group], label=group if len(groups) > 1 else None)
    axes.axhline(
        fair / factor,
        color=INK,
        linewidth=1.2,
        linestyle=(0, (5, 3)),
        label=f"equal share, {quantity(fair, 'b/s', 3)}",
    )
    axes.set_xlim(0.4, len(stations) + 0.6)
    axes.set_xlabel("station, by rank")
    if len(stations) <= 12:
        axes.set_xticks(range(1, len(stations) + 1), [station.name for station in stations])
        if sum(len(station.name) for station in stations) > 85:
            axes.tick_params(axis="x", rotation=40)
        axes.set_xlabel("")
    else:
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel(f"goodput ({unit})")
    axes.grid(axis="x", visible=False)
    legend_above(figure, axes)
    return figure


def _active_transfers(simulation: Simulation, model: Model) -> Figure | None:
    measured = simulation.active_flows_distribution
    if sum(share > 0.0 for share in measured) < 2:
        return None
    from matplotlib.ticker import MaxNLocator

    predicted = next(
        (
            entry
            for entry in model.get("active_flows_distribution", ())
            if isinstance(entry.value, list)
        ),
        None,
    )
    expected = predicted.value if predicted and isinstance(predicted.value, list) else []
    last = max(_bulk_end(measured), _bulk_end(expected))
    figure, axes = new_figure()
    _bars(axes, 0, measured[: last + 1], color=BLUE, label="simulation")
    if predicted is not None:
        axes.plot(
            range(len(expected[: last + 1])),
            expected[: last + 1],
            color=VERMILION,
            marker="D",
            markersize=6,
            linewidth=1.0,
            linestyle=(0, (2, 2)),
            label=f"model: {predicted.source}",
        )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    first = next(k for k, share in enumerate(measured) if share > 0.0)
    axes.set_xlim(min(first, last) - 0.6, last + 0.6)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("transfers in progress")
    axes.set_ylabel("fraction of the time")
    axes.grid(axis="x", visible=False)
    legend_above(figure, axes)
    return figure


def _bulk_end(distribution: Sequence[float]) -> int:
    """Return the index beyond which less than 0.1 % of the time lies."""
    rest = 1.0
    for index, share in enumerate(distribution):
        rest -= share
        if rest < 1e-3:
            return index
    return max(0, len(distribution) - 1)


def _goodput(simulation: Simulation, warmup_s: float, duration_s: float) -> Figure | None:
    import numpy as np

    series = np.array(simulation.goodput_series_bps)
    mean = simulation.metrics["goodput_bps"].mean
    if not len(series) or not mean:
        return None
    factor, unit = scaled(float(series.max()), "b/s")
    edges = warmup_s + duration_s * np.arange(len(series) + 1) / len(series)
    figure, axes = new_figure()
    if len(simulation.runs) >= _QUARTILES_FROM:
        runs = np.array([run.answer["goodput_series_bps"] for run in simulation.runs]) / factor
        lower, upper = np.quantile(runs, [0.25, 0.75], axis=0)
        axes.stairs(
            upper,
            edges,
            baseline=lower,
            fill=True,
            color=SKY,
            alpha=0.45,
            label="middle half of the replications",
        )
    axes.stairs(
        series / factor,
        edges,
        baseline=None,
        color=BLUE,
        linewidth=1.6,
        label="mean over replications" if len(simulation.runs) > 1 else "goodput",
    )
    axes.axhline(
        mean / factor,
        color=INK,
        linewidth=1.2,
        linestyle=(0, (5, 3)),
        label=f"mean, {quantity(mean, 'b/s', 3)}",
    )
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0.0, 1.05 * axes.get_ylim()[1])
    axes.set_xlabel("simulated time (s)")
    axes.set_ylabel(f"goodput ({unit})")
    legend_above(figure, axes)
    return figure


def _traced(result: Comparison | SimulationResult, warmup_s: float) -> dict[str, Figure | None]:
    """Return the pictures of the trace of replication 0, if there is one."""
    first = next(iter(result.simulation.runs), None)
    if first is None or first.trace is None:
        return {}
    return {
        "flow-goodput": plot_trace.flow_goodput(first.trace, warmup_s),
        "windows": plot_trace.windows(first.trace, result.scenario, warmup_s),
    }


def _bars(
    axes: Axes, first: int, heights: Sequence[float], *, color: str, label: str | None
) -> None:
    """Draw bars at `first`, `first` + 1, ..., or one outline if there are too many bars."""
    if len(heights) <= _MOST_BARS:
        places = range(first, first + len(heights))
        axes.bar(places, heights, width=0.8, color=color, label=label)
    else:
        edges = [first - 0.5 + k for k in range(len(heights) + 1)]
        axes.stairs(heights, edges, fill=True, color=color, label=label)
