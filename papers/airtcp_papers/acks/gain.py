"""Draw the ACK-gain chart: download goodput with an ACK per d segments, relative to d = 1.

In 2006 paper M expected a larger gain of delayed ACKs in 802.11a/g (3.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.predict import predict
from airtcp.present.drawing import GREY, INK, SERIES, styled
from airtcp.scenario import Scenario, load
from airtcp.standards import UDP_IP_HEADER_BYTES
from airtcp.stats import Interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Cell, Data, Value
from airtcp_papers.common.measure import changed, mean, paired, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EVERY: Final = (1, 2, 4, 8, 16)
_COUNTS: Final = (1, 10)
_SEGMENT: Final = 1460
_PACKET: Final = 1500
BOUND: Final = "no ACK"


@dataclass(frozen=True, slots=True)
class _Phy:
    """A row of the chart; windows hold four PPDUs, or 64 segments without aggregation."""

    name: str
    label: str
    keys: Mapping[str, Any]
    window: int = 64

    def with_window(self) -> dict[str, Any]:
        """Return the keys of the PHY and of its window, which is open from the start."""
        return {
            **self.keys,
            "flows.laptop.tcp.receive_window.segments": self.window,
            "flows.laptop.tcp.initial_window": self.window,
        }


def _high(standard: str, width: str, mcs: int, streams: int) -> dict[str, Any]:
    keys: dict[str, Any] = {
        "phy.standard": standard,
        "phy.band": "5 GHz",
        "phy.channel_width": width,
        "phy.mcs": mcs,
        "phy.spatial_streams": streams,
    }
    # The shortest guard interval of the standard, which its advertised rates assume.
    keys["phy.guard_interval"] = "800 ns" if standard == "802.11ax" else "400 ns"
    return keys


PHYS: Final = (
    _Phy("b", "b, 11 Mb/s", {"phy.standard": "802.11b", "phy.data_rate": "11 Mb/s"}),
    _Phy("g", "g, 54 Mb/s", {"phy.standard": "802.11g", "phy.data_rate": "54 Mb/s"}),
    _Phy("n", "n, 72 Mb/s", _high("802.11n", "20 MHz", 7, 1), 128),
    _Phy("n2", "n, 300 Mb/s", _high("802.11n", "40 MHz", 7, 2), 256),
    _Phy("ac", "ac, 433 Mb/s", _high("802.11ac", "80 MHz", 9, 1), 256),
    _Phy("ac2", "ac, 867 Mb/s", _high("802.11ac", "80 MHz", 9, 2), 256),
    _Phy("ax", "ax, 600 Mb/s", _high("802.11ax", "80 MHz", 11, 1), 1024),
    _Phy("ax2", "ax, 1201 Mb/s", _high("802.11ax", "80 MHz", 11, 2), 1024),
)


def phy(values: Mapping[str, float]) -> dict[str, Any]:
    """Return the keys of a PHY of the chart, by number."""
    return PHYS[int(values["phy"])].with_window()


@dataclass(frozen=True, slots=True)
class _Cell:
    """Goodput of model and simulation in b/s, and the gain over one ACK per segment."""

    model: float
    simulated: Interval
    model_gain: float
    gain: Interval


@item("acks")
def gain(bench: Bench) -> Found:
    cells = {(phy.name, count): row_of(bench, phy, count) for phy in PHYS for count in _COUNTS}
    values: dict[str, Value] = {}
    for (name, count), row in cells.items():
        for what, cell in row.items():
            key = f"{what}_{name}_{count}".replace(" ", "_")
            values[f"gain_{key}"] = cell.gain
            values[f"gap_{key}"] = changed(cell.simulated, lambda x, m=cell.model: abs(m / x - 1.0))  # type: ignore[misc]
    return Found(data=_data(cells), figure=_figure(cells), values=values, told=_told(cells))


_Rows = Mapping[tuple[str, int], Mapping[str, _Cell]]


def row_of(bench: Bench, phy: _Phy, count: int) -> dict[str, _Cell]:
    stations = {"stations.laptop.count": count}
    keys = {**phy.keys, **stations}
    asked = {
        f"d = {every}": {
            **phy.with_window(),
            **stations,
            "flows.laptop.tcp.delayed_ack.every": every,
        }
        for every in _EVERY
    }
    runs = {what: bench.simulate("downloads", changes) for what, changes in asked.items()}
    model = {what: _model(bench.scenario("downloads", one)) for what, one in asked.items()}
    runs[BOUND] = bench.simulate("bound", keys)
    payload = _SEGMENT / (_PACKET - UDP_IP_HEADER_BYTES)
    model[BOUND] = payload * _model(bench.scenario("bound", keys))
    each = f"d = {_EVERY[0]}"
    row = {}
    for what, run in runs.items():
        scale = payload if what == BOUND else 1.0

        def over(above: float, below: float, scale: float = scale) -> float:
            return scale * above / below - 1.0

        row[what] = _Cell(
            model=model[what],
            simulated=changed(run.metrics["goodput_bps"], lambda x, s=scale: s * x),  # type: ignore[misc]
            model_gain=model[what] / model[each] - 1.0,
            gain=paired(run, runs[each], "goodput_bps", over),
        )
    return row


def gains(*, phy: float = 1, count: float = 1) -> list[Series]:
    """Return the models' gain over d for one PHY of the chart, by number, and for 802.11b."""
    chosen = PHYS[int(phy)]
    base = load(Path(__file__).parent / "downloads.toml")
    found = []
    for shown in dict.fromkeys((chosen.name, PHYS[0].name)):
        one = next(each for each in PHYS if each.name == shown)
        scenario = base.vary({**one.with_window(), "stations.laptop.count": int(count)})
        goodput = [
            _model(scenario.vary({"flows.laptop.tcp.delayed_ack.every": every})) for every in _EVERY
        ]
        per_cent = [100.0 * (value / goodput[0] - 1.0) for value in goodput]
        found.append(Series(f"802.11{one.label}", _EVERY, per_cent, "model"))
    return found


def _model(scenario: Scenario) -> float:
    best = predict(scenario).best("goodput_bps")
    assert best is not None
    assert not isinstance(best.value, list)
    return float(best.value)


def _data(cells: _Rows) -> Data:
    rows: list[Sequence[Cell]] = []
    for phy in PHYS:
        for count in _COUNTS:
            for what, cell in cells[phy.name, count].items():
                simulated = cell.simulated
                rows.append(
                    [
                        f"802.11{phy.label}",
                        count,
                        what,
                        cell.model / 1e6,
                        mean(simulated) / 1e6,
                        None if simulated.half_width is None else simulated.half_width / 1e6,
                        100.0 * cell.model_gain,
                        100.0 * mean(cell.gain),
                    ]
                )
    columns = (
        "PHY",
        "downloads",
        "ACKs",
        "model (Mb/s)",
        "simulated (Mb/s)",
        "±",
        "model's gain (%)",
        "simulated gain (%)",
    )
    return Data(columns, rows)


def _told(cells: _Rows) -> dict[str, object]:
    """Return the gains in per cent, by PHY, number of downloads and ACKs, and the largest gap."""
    gains = {
        f"{name} {count} {what}": words(changed(cell.gain, lambda x: 100.0 * x))
        for (name, count), row in cells.items()
        for what, cell in row.items()
    }
    every = [cell for row in cells.values() for cell in row.values()]
    return {
        "gains": gains,
        "worst": max(abs(cell.model / mean(cell.simulated) - 1.0) for cell in every),
    }


_MARKERS: Final = {2: "o", 4: "s", 8: "^", 16: "D"}


def _figure(cells: _Rows) -> Figure:
    from matplotlib.figure import Figure as Empty

    with styled():
        figure = Empty(figsize=(7.2, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        for axes, count in ((left, _COUNTS[0]), (right, _COUNTS[1])):
            _panel(axes, {phy.name: cells[phy.name, count] for phy in PHYS})
            axes.set_title(f"{count} download{'s' if count > 1 else ''}", fontsize=9.5, loc="left")
        left.set_yticks(range(len(PHYS)), [phy.label for phy in PHYS])
        left.invert_yaxis()
        figure.supxlabel("gain over an ACK for each segment (%)", fontsize=9.5)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=6, columnspacing=1.2)
        return figure


def _panel(axes: Axes, rows: Mapping[str, Mapping[str, _Cell]]) -> None:
    """Draw one row per PHY, with marks offset vertically so that none hides another."""
    shown = {f"d = {every}": every for every in _EVERY[1:]} | {BOUND: 0}
    for index, (what, every) in enumerate(shown.items()):
        place = [row + 0.15 * (index - 2) for row in range(len(rows))]
        gains = [cells[what].gain for cells in rows.values()]
        x = [100.0 * mean(one) for one in gains]
        spread = [100.0 * (one.half_width or 0.0) for one in gains]
        colour = SERIES[index] if every else GREY
        axes.errorbar(
            x,
            place,
            xerr=spread,
            fmt=_MARKERS.get(every, "|"),
            color=colour,
            markersize=4.5 if every else 9,
            markeredgewidth=1.0 if every else 2.5,
            linewidth=0,
            elinewidth=1.2,
            label=what,
        )
        model = [100.0 * cells[what].model_gain for cells in rows.values()]
        axes.plot(
            model,
            place,
            "|",
            color=INK,
            markersize=7,
            markeredgewidth=1.0,
            label="model" if index == len(shown) - 1 else None,
        )
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    for row in range(1, len(rows)):
        axes.axhline(row - 0.5, color="none")
    axes.grid(visible=False, axis="y")
