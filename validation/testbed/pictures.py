"""Draw the pictures of docs/howto/testbed.md: simulation and real TCP in one chart."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from airtcp.present import drawing
from numpy.typing import NDArray

#: Times in seconds and sequence numbers in segments, of data in order of arrival.
Arrivals = tuple[NDArray[np.float64], NDArray[np.float64]]

#: Filters for data that reached the station: over Wi-Fi, or through its network device.
_ON_AIR = "wlan.fc.fromds == 1 && radiotap.flags.badfcs == 0"
_AT_STATION = 'frame.interface_name == "sta/0" && frame.packet_flags_direction == 1'


def arrivals(capture: Path, mss_bytes: int) -> Arrivals:
    """Return data that reached the station, from the SYN of the connection with most data on.

    In a capture of the simulation, a packet's time is the start of its frame. Raises
    CalledProcessError if tshark cannot read the file, and FileNotFoundError if tshark is missing.
    """
    is_testbed = capture.read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    shown = subprocess.run(
        [
            *("tshark", "-r", str(capture), "-Y", _AT_STATION if is_testbed else _ON_AIR),
            *("-T", "fields", "-e", "tcp.stream", "-e", "frame.time_epoch"),
            *("-e", "tcp.seq", "-e", "tcp.len"),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    streams: dict[str, list[tuple[float, float, int]]] = {}
    for line in shown.splitlines():
        stream, time_s, number, length = line.split("\t")
        if stream:
            row = (float(time_s), float(number) / mss_bytes, int(length))
            streams.setdefault(stream, []).append(row)
    most = max(streams.values(), key=lambda rows: sum(length for _, _, length in rows))
    rows = np.array([(time_s, number) for time_s, number, length in most if length > 0])
    return rows[:, 0] - most[0][0], rows[:, 1]


def draw_arrivals(
    by_congestion: Mapping[str, tuple[Arrivals, Arrivals]], until_s: float, to: Path
) -> None:
    """Draw sequence numbers over time, one panel per congestion control: simulation and Linux."""
    from matplotlib.figure import Figure

    with drawing.styled():
        figure = Figure(figsize=(9.6, 3.6))
        panels = figure.subplots(1, len(by_congestion), sharex=True, sharey=True)
        for axes, (congestion, both) in zip(panels, by_congestion.items(), strict=True):
            looks = ((drawing.BLUE, "simulation"), (drawing.VERMILION, "Linux"))
            for (times_s, numbers), (colour, label) in zip(both, looks, strict=True):
                shown = times_s <= until_s
                axes.plot(
                    times_s[shown],
                    numbers[shown],
                    color=colour,
                    linestyle="none",
                    marker=".",
                    markersize=2.5,
                    label=label,
                )
            axes.set_title(congestion, fontsize=9.5, loc="left")
            axes.set_xlabel("time since SYN+ACK (s)")
        panels[0].set_ylabel("sequence number (segments)")
        panels[0].legend(loc="upper left", markerscale=5)
        figure.tight_layout()
        to.write_bytes(drawing.png(figure))


def draw_uploads(by_way: Mapping[str, tuple[Sequence[float], Sequence[float]]], to: Path) -> None:
    """Draw goodputs in Mb/s of simulation and testbed in ascending order, by contention method."""
    looks = ((drawing.VERMILION, "o"), (drawing.BLUE, "s"))
    with drawing.styled():
        figure, axes = drawing.new_figure()
        for (way, (simulated, measured)), (colour, marker) in zip(
            by_way.items(), looks, strict=True
        ):
            ranks = range(1, len(simulated) + 1)
            axes.plot(ranks, simulated, color=colour, linewidth=1.6, label=f"{way}: simulation")
            axes.plot(
                ranks,
                measured,
                color=colour,
                linestyle="none",
                marker=marker,
                markersize=7,
                label=f"{way}: Linux",
            )
        axes.set_xticks(list(ranks))
        axes.set_xlabel("upload, by rank")
        axes.set_ylabel("goodput (Mb/s)")
        axes.set_ylim(bottom=0)
        drawing.legend_above(figure, axes, columns=2)
        to.write_bytes(drawing.png(figure))


#: Times in seconds, and windows in segments.
Line = tuple[Sequence[float], Sequence[float]]


def draw_windows(by_congestion: Mapping[str, tuple[Line, Line]], to: Path) -> None:
    """Draw congestion windows over time, one panel per congestion control."""
    from matplotlib.figure import Figure

    with drawing.styled():
        figure = Figure(figsize=(7.2, 6.6))
        panels = figure.subplots(len(by_congestion), 1, sharex=True)
        for axes, (congestion, (simulated, seen)) in zip(
            panels, by_congestion.items(), strict=True
        ):
            axes.plot(*simulated, color=drawing.BLUE, linewidth=1.4, label="simulation")
            axes.plot(*seen, color=drawing.VERMILION, linewidth=1.4, label="Linux")
            axes.set_ylabel(f"{congestion}\nwindow (segments)")
            axes.set_ylim(bottom=0)
        panels[0].legend(loc="upper right", ncols=2)
        panels[-1].set_xlabel("time (s)")
        figure.tight_layout()
        to.write_bytes(drawing.png(figure))
