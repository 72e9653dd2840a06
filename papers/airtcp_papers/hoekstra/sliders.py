"""Define the sliders of paper H's figures: file sizes, request rates, clients."""

from __future__ import annotations

from typing import Any, Final

from airtcp_papers.common.sliders import Asked, Line, Movable, Opens, Slider, Values
from airtcp_papers.hoekstra import concurrent, tails, times
from airtcp_papers.hoekstra.testbed import LAWS, gaps, service_s

_FLOW: Final = "flows.client.application"
_METRIC: Final = "transfer_time_s"
_GAP_KEY: Final = f"{_FLOW}.interarrival.mean"
_SIZES: Final = (20e3, 50e3, 100e3, 150e3, 200e3)


def _gap(values: Values) -> dict[str, Any]:
    mean = f"{values['gap'] * values.get('clients', 1):g} s"
    return {f"{_FLOW}.interarrival": {"distribution": "exponential", "mean": mean}}


def _law(values: Values) -> dict[str, Any]:
    return {f"{_FLOW}.size": LAWS[tuple(LAWS)[int(values["law"])]]}


_SIZE: Final = Slider(
    "size", "Mean file", _SIZES, 200e3, tuple(f"{size / 1e3:g} kB" for size in _SIZES),
    lambda values: {f"{_FLOW}.size.mean": f"{values['size'] / 1e3:g} kB"},
)  # fmt: skip
_GAP: Final = Slider(
    "gap", "Mean time between downloads (s)", (0.35, 0.36, 0.38, 0.40, 0.44, 0.48, 0.6, 1.0, 2.0),
    0.40, keys=_gap,
)  # fmt: skip
_CLIENTS: Final = Slider(
    "clients", "Clients", (1, 2, 5, 10, 20), 10,
    # Together they request as often as the single client does.
    keys=lambda values: {
        "stations.client.count": int(values["clients"]), **_gap({"gap": 0.40, **values})
    },
)  # fmt: skip


def _of_law(paper: int) -> Slider:
    return Slider("law", "Law of sizes", range(len(LAWS)), paper, tuple(LAWS), _law)


FIGURES: Final = (
    Movable(
        "H.fig1",
        (_SIZE,),
        "effective load rho_eff", "E[R] / beta_eff", (0.79, "a load of 0.79"), times.mean_times,
        opens=Opens("downloads", _GAP_KEY, _METRIC),
    ),
    Movable(
        "H.fig2",
        (_SIZE, _GAP),
        "t (s)", "P(R > t)", (5.0, "t = 5 s"), tails.tails,
        opens=Opens("downloads", _GAP_KEY, _METRIC),
    ),
    Movable("H.fig3", (_of_law(2), _GAP), opens=Opens("downloads", _GAP_KEY, _METRIC)),
    Movable(
        "H.fig4",
        (
            _of_law(0),
            Slider(
                "gap", "Mean time between downloads (s)", (1.7, 1.77, 1.93, 2.12, 2.34, 3.0, 5.0),
                1.93, keys=_gap,
            ),
        ),
        opens=Opens("downloads", _GAP_KEY, _METRIC),
    ),
    Movable(
        "H.fig5",
        (_SIZE, _GAP),
        "n", "P(N >= n)", (5, "n = 5"), tails.numbers,
        opens=Opens("downloads", _GAP_KEY, "active_flows"),
    ),
    Movable(
        "H.clients",
        (_CLIENTS, _SIZE),
        "effective load rho_eff", "mean transfer time (s)", (0.79, "a load of 0.79"),
        asked=Asked(
            [
                (service_s("exponential", beacons=False) / gap, f"{gap:g} s")
                for gap in gaps("exponential")
            ],
            [Line("model of one client", {"stations.client.count": 1})],
        ),
        opens=Opens("downloads", _GAP_KEY, _METRIC),
    ),
    Movable(
        "H.concurrent",
        (
            Slider(
                "share", "Downloads of the first cell", (0.5, 0.52, 0.54, 0.6, 0.7, 0.8), 0.5,
                ("50 %", "52 %", "54 %", "60 %", "70 %", "80 %"),
            ),
        ),
        "load of each cell", "mean transfer time over beta_eff", (0.5, "a load of 0.5"),
        concurrent.split_at_random,
    ),
)  # fmt: skip
