"""Sliders for the figures of paper L: uploads, windows, the wired link and AIMD."""

from __future__ import annotations

from typing import Any, Final

from airtcp_papers.common.sliders import Asked, Line, Movable, Opens, Slider, Values
from airtcp_papers.leith import convergence, throughput, wired
from airtcp_papers.leith.fairness import access

_COUNT: Final = "stations.station.count"
_CW_KEY: Final = "mac.edca.stations.AC_BE.cw_min"
_RATE_KEY: Final = "links.wire.rate"


def _cw_min(values: Values) -> dict[str, Any]:
    return {_CW_KEY: int(values["w0"]) - 1}


def _wire(values: Values) -> dict[str, Any]:
    # The queue holds 1e-5 B packets for B in b/s (erratum L9).
    return {_RATE_KEY: f"{values['rate']:g} Mb/s", "links.wire.queue": round(10 * values["rate"])}


def _second(values: Values) -> dict[str, Any]:
    aimd = {"increase": values.get("increase", 1.0), "decrease": values.get("decrease", 0.5)}
    return {"flows.b.tcp.aimd": aimd}


def _behind(values: Values) -> dict[str, Any]:
    return {"flows.b.path": ["wire", {"delay": f"{values['delay']:g} ms"}]}


def _uploads(paper: int) -> Slider:
    return Slider(
        "n", "Uploads", (1, 2, 5, 10, 15, 20, 30, 50), paper,
        keys=lambda values: {_COUNT: int(values["n"])},
    )  # fmt: skip


def _queue(paper: int) -> Slider:
    return Slider(
        "queue", "Queue of the access point (packets)", (10, 20, 50, 100, 200), paper,
        keys=lambda values: {"ap.queue.limit": int(values["queue"])},
    )  # fmt: skip


def _ack(paper: int) -> Slider:
    return Slider(
        "d", "Segments for each TCP ACK", (1, 2), paper,
        keys=lambda values: {
            "flows.station.tcp.delayed_ack": {"every": int(values["d"]), "timeout": "100 ms"}
        },
    )  # fmt: skip


_HOLD: Final = Slider(
    "hold", "Stations wait longer than the ACKs (slots)", (0, 1, 2, 4, 8), 2,
    keys=lambda values: {"mac.edca.stations.AC_BE.aifs": f"{50 + 20 * int(values['hold'])} us"},
)  # fmt: skip
_CW: Final = Slider("w0", "CWmin of the stations (slots)", (8, 16, 32, 64, 128), 32, keys=_cw_min)
_INCREASE: Final = Slider(
    "increase", "Increase alpha of the second flow", (0.2, 0.5, 1.0, 2.0, 5.0), 1.0, keys=_second
)
_DECREASE: Final = Slider(
    "decrease", "Decrease beta of the second flow", (0.1, 0.3, 0.5, 0.7, 0.9, 0.95), 0.5,
    keys=_second,
)  # fmt: skip
_SHARE: Final = Slider(
    "share", "The second begins with", (0.0, 0.1, 0.25, 0.5, 0.9), 0.0,
    ("nothing", "10 %", "25 %", "half", "90 %"),
)  # fmt: skip
_RTT: Final = Slider(
    "rtt", "RTT of the second over the first's", (1.0, 1.25, 1.5, 1.75, 2.0, 3.0), 1.75
)
_LOST: Final = Slider(
    "lost", "Losses of the second over the first's", (0.25, 0.5, 0.75, 1.0, 1.5, 2.0), 1.0
)
_DELAY: Final = Slider(
    "delay", "Delay T2 of the second (ms)", (0, 10, 20, 40, 80, 120), 40, keys=_behind
)


def _rate(paper: float) -> Slider:
    return Slider(
        "rate", "Bandwidth B of the wired link (Mb/s)", (1, 2, 3, 4, 5, 6, 8, 10), paper,
        keys=_wire,
    )  # fmt: skip


def _against_windows(item: str, d: int) -> Movable:
    return Movable(
        item,
        (_uploads(10), _ack(d), _HOLD),
        "CWmin (slots)", "goodput (Mb/s)", (32, "CWmin = 32"), throughput.models,
        opens=Opens("uploads", _CW_KEY, "goodput_bps"),
        log_x=True,
    )  # fmt: skip


def _epochs(item: str, file: str, decrease: float, increase: float) -> Movable:
    """Return a figure whose curves are the theory by epoch; the simulation shows time."""
    return Movable(
        item,
        (
            Slider("increase", _INCREASE.label, _INCREASE.values, increase, keys=_second),
            Slider("decrease", _DECREASE.label, _DECREASE.values, decrease, keys=_second),
            _SHARE,
        ),
        "congestion epochs since the second began", "share of the path",
        (4, "four epochs"), convergence.windows_by_epoch,
        opens=Opens(file, _RATE_KEY, "goodput_bps"),
    )  # fmt: skip


def _of_air(item: str, decrease: float, increase: float) -> Movable:
    """Return a figure of two uploads with the channel as bottleneck, which no model covers."""
    return Movable(
        item,
        (
            Slider("increase", _INCREASE.label, _INCREASE.values, increase, keys=_second),
            Slider("decrease", _DECREASE.label, _DECREASE.values, decrease, keys=_second),
            _rate(10),
        ),
        opens=Opens("wired", _RATE_KEY, "jain_index"),
    )


FIGURES: Final = (
    Movable(
        "L.fig1", (_uploads(10), _queue(50), _ack(1)), opens=Opens("plain", _COUNT, "jain_index")
    ),
    Movable(
        "L.fig2", (_uploads(10), _queue(50)),
        opens=Opens("plain", _COUNT, "collision_probability_ap"),
    ),
    Movable(
        "L.fig3",
        (_CW, _HOLD, _ack(1)),
        "uploads", "goodput per upload (kb/s)", (20, "20 uploads"),
        asked=Asked([(n, n) for n in (1, 2, 5, 10, 15, 20, 30)], [Line("model")], per=1e3),
        opens=Opens("uploads", _COUNT, "flow_goodput_bps"),
    ),
    _against_windows("L.fig4", 1),
    _against_windows("L.fig5", 2),
    Movable(
        "L.fig6",
        (_CW,),
        "bandwidth B of the wired link (Mb/s)", "goodput of both (Mb/s)", (4.0, "B = 4 Mb/s"),
        wired.all_uploads,
        opens=Opens("wired", _RATE_KEY, "goodput_bps"),
    ),
    Movable(
        "L.fig7a",
        (_RTT, _LOST, _DECREASE),
        "alpha of the second flow", "peak window, second over first", (2.0, "alpha = 2"),
        wired.peaks_by_increase,
        opens=Opens("wired", _RATE_KEY, "jain_index"),
        log_x=True,
    ),
    Movable(
        "L.fig7b",
        (_RTT, _LOST, _INCREASE),
        "beta of the second flow", "peak window, second over first", (0.7, "beta = 0.7"),
        wired.peaks_by_decrease,
        opens=Opens("wired", _RATE_KEY, "jain_index"),
    ),
    Movable(
        "L.fig8a",
        (
            _DELAY,
            Slider("filled", "The wired queue is filled to", (0.25, 0.5, 0.75, 1.0), 0.75,
                   ("a quarter", "a half", "three quarters", "its end")),
            _LOST,
            _CW,
        ),
        "bandwidth B of the wired link (Mb/s)", "goodput (Mb/s)", (4.0, "B = 4 Mb/s"),
        wired.shares_of_bandwidth,
        opens=Opens("wired", _RATE_KEY, "goodput_bps"),
    ),
    Movable(
        "L.fig8b", (_DELAY, _rate(10), _CW), opens=Opens("wired", _RATE_KEY, "jain_index")
    ),
    _epochs("L.fig9", "two-flows", 0.5, 1.0),
    _epochs("L.fig10a", "wired", 0.5, 1.0),
    _epochs("L.fig10b", "wired", 0.95, 0.2),
    _of_air("L.fig11a", 0.5, 1.0),
    _of_air("L.fig11b", 0.95, 0.2),
    Movable(
        "L.cwmin",
        (
            Slider(
                "w0", "CWmin of the station (slots)", (32, 64, 128, 256), 64,
                keys=lambda values: {
                    "mac.edca": {
                        "ap": {"AC_BE": access(32)},
                        "stations": {"AC_BE": access(int(values["w0"]))},
                    }
                },
            ),
        ),
        opens=Opens("saturated", _COUNT, "collision_probability_ap", {_COUNT: 1}),
    ),
    Movable(
        "L.mixed",
        (
            Slider(
                "down", "Downloads", (1, 2, 5, 10, 20), 10,
                keys=lambda values: {"stations.reader.count": int(values["down"])},
            ),
            Slider(
                "queue", "Queue of the access point (packets)", (20, 50, 100, 200), 50,
                keys=lambda values: {"ap.queue.limit": int(values["queue"])},
            ),
        ),
        opens=Opens("mixed", "stations.writer.count", "jain_index"),
    ),
)  # fmt: skip
