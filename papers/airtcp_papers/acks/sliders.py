"""Define the sliders of the ACK-gain chart: the PHY and the number of downloads."""

from __future__ import annotations

from typing import Any, Final

from airtcp_papers.acks.gain import PHYS, gains
from airtcp_papers.common.sliders import Movable, Opens, Slider, Values


def _phy(values: Values) -> dict[str, Any]:
    phy = PHYS[int(values["phy"])]
    return {
        **phy.keys,
        "flows.laptop.tcp.receive_window.segments": phy.window,
        "flows.laptop.tcp.initial_window": phy.window,
    }


FIGURES: Final = (
    Movable(
        "acks",
        (
            Slider(
                "phy", "PHY", range(len(PHYS)), 1, [f"802.11{phy.label}" for phy in PHYS], _phy
            ),
            Slider(
                "count", "Downloads", (1, 2, 5, 10), 1,
                keys=lambda values: {"stations.laptop.count": int(values["count"])},
            ),
        ),
        "segments for each TCP ACK", "gain over one ACK for each (%)", (2, "d = 2"), gains,
        opens=Opens("downloads", "flows.laptop.tcp.delayed_ack.every", "goodput_bps"),
        log_x=True,
    ),
)  # fmt: skip
