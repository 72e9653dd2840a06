"""Define the sliders of paper B's figures: rates, windows, ACK policies."""

from __future__ import annotations

from typing import Final

from airtcp_papers.bruno import slots
from airtcp_papers.bruno.bursts import BURSTS
from airtcp_papers.bruno.cells import STATIONS
from airtcp_papers.common.sliders import Asked, Line, Movable, Opens, Slider

_COUNT: Final = "stations.station.count"
_TEN: Final = {_COUNT: 10}
_RATE: Final = Slider(
    "rate", "Data rate (Mb/s)", (2, 5.5, 11), 11,
    keys=lambda values: {"phy.data_rate": f"{values['rate']:g} Mb/s"},
)  # fmt: skip
_CW: Final = Slider(
    "w0", "CWmin (slots)", (8, 16, 32, 64, 128), 32,
    keys=lambda values: {"phy.cw_min": int(values["w0"]) - 1},
)  # fmt: skip
_LIMIT: Final = Slider(
    "m", "Transmissions of a frame at most", (3, 4, 5, 7, 10), 7,
    keys=lambda values: {"mac.short_retry_limit": int(values["m"])},
)  # fmt: skip
_EVERY: Final = Slider(
    "d", "Segments for each TCP ACK", (1, 2, 4), 2,
    keys=lambda values: {
        "flows.station.tcp.delayed_ack": {"every": int(values["d"]), "timeout": "200 ms"}
    },
)  # fmt: skip
_TARGET: Final = Slider(
    "target", "Stations that should contend, m*", (4, 6, 8, 10, 12), 8,
    keys=lambda values: {"ap.access.target_active": int(values["target"])},
)  # fmt: skip
_SLOTS: Final = Slider(
    "w", "Window of the bursts (slots)", (16, 32, 64), 32,
    keys=lambda values: {"ap.access.window_slots": int(values["w"])},
)  # fmt: skip
_POINTS: Final = [(n, n) for n in STATIONS]

FIGURES: Final = (
    Movable(
        "B.fig1",
        (_RATE, _CW, _LIMIT),
        "stations", "goodput (Mb/s)", (20, "20 stations"),
        asked=Asked(
            _POINTS, [Line("TCP, model"), Line("UDP, all, model", file="datagrams")], per=1e6
        ),
        opens=Opens("hotspot", _COUNT, "goodput_bps"),
    ),
    Movable("B.fig2", (_RATE, _CW, _LIMIT), opens=Opens("datagrams", _COUNT, "mean_cw_stations")),
    Movable(
        "B.fig3",
        (_RATE, _CW, _EVERY),
        opens=Opens("hotspot", _COUNT, "active_stations_after_ap_success"),
    ),
    Movable(
        "B.fig4",
        (Slider("w", "Window w (slots)", (8, 16, 32, 64, 128, 256), 32),),
        "stations that contend, m", "successes per second", (8, "m = 8"),
        lambda w: [slots.rates(w)],
    ),
    Movable(
        "B.fig5",
        (_SLOTS, _TARGET),
        opens=Opens("hotspot", _COUNT, "goodput_bps", {**_TEN, **BURSTS}, view="timeline"),
    ),
    Movable(
        "B.fig6",
        (_RATE, _SLOTS, _TARGET, _EVERY),
        opens=Opens("hotspot", _COUNT, "goodput_bps", BURSTS),
    ),
)  # fmt: skip
