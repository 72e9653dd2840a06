"""Define the sliders of paper G's figures: windows for (1), uploads that skip ACKs."""

from __future__ import annotations

from typing import Any, Final

from airtcp_papers.common.sliders import Movable, Opens, Slider, Values
from airtcp_papers.gopal import contention

_FLOW: Final = "flows.node"


def _path(values: Values) -> dict[str, Any]:
    path = {"rate": "100 Mb/s", "delay": f"{values['delay']:g} ms", "queue": 50}
    return {f"{_FLOW}.path": [path]}


_SKIP: Final = Slider(
    "skip", "Skipped ACKs", (0, 1, 2, 3, 4), 1,
    keys=lambda values: {f"{_FLOW}.tcp.ack_skip": {
        "skip": int(values["skip"]), "after_segment": 50
    }},
)  # fmt: skip
_RTS: Final = Slider(
    "rts", "RTS/CTS", (0, 1), 1, ("never", "always"),
    lambda values: {"mac.rts_threshold": "0 B" if values["rts"] else None},
)  # fmt: skip

_CHOSEN: Final = Slider(
    "skip", "Skipped ACKs", (-1, 0, 1, 2, 3, 4), -1, ("by the MAC", "0", "1", "2", "3", "4"),
    lambda values: {f"{_FLOW}.tcp.ack_skip": {
        **({"adaptive": {}} if values["skip"] < 0 else {"skip": int(values["skip"])}),
        "after_segment": 50,
    }},
)  # fmt: skip
_TOLD: Final = Slider(
    "told", "TCP hears of frames given up", (0, 1, 2), 1,
    ("never", "and sends again", "and keeps its window"),
    lambda values: {f"{_FLOW}.tcp.mac_feedback": {
        "give_up": "retransmit" if values["told"] == 1 else "freeze"
    }} if values["told"] else {},
)  # fmt: skip
_NOISE: Final = Slider(
    "noise", "Frames of 1076 B lost to noise (%)", (0, 1, 2, 5, 10), 0,
    keys=lambda values: {
        "stations.node.frame_errors": {"rate": f"{values['noise']:g} %", "of": "1076 B"}
    } if values["noise"] else {},
)  # fmt: skip
_POLLED: Final = Slider(
    "polled", "Contention-free of each 102.4 ms (ms)", (0, 10, 25, 50, 75, 100), 100,
    keys=lambda values: {
        "mac.pcf": {"interval": "102.4 ms", "max_duration": f"{values['polled']:g} ms"}
    } if values["polled"] else {},
)  # fmt: skip


def _uploads(
    item: str, *, size: int, flows: int, retries: bool, more: tuple[Slider, ...] = ()
) -> Movable:
    """Return uploads of files and their goodput over the number of skipped ACKs."""
    return Movable(
        item,
        (
            *more,
            Slider(
                "size", "File (MB)", (1, 2, 5, 10), size,
                keys=lambda values: {f"{_FLOW}.application.size": f"{values['size']:g} MB"},
            ),
            Slider(
                "flows", "Uploads at a time", (1, 2, 3, 5), flows,
                keys=lambda values: {"stations.node.count": int(values["flows"])},
            ),
            Slider(
                "limit", "Transmissions of a frame at most", (1, 2, 4, 7), 7 if retries else 1,
                keys=lambda values: {"mac.short_retry_limit": int(values["limit"])},
            ),
            Slider("delay", "Delay of the wired link (ms)", (2, 5, 10, 15, 50), 2, keys=_path),
        ),
        opens=Opens(
            "uploads", "stations.node.count", "flow_goodput_bps",
        ),
    )  # fmt: skip


FIGURES: Final = (
    Movable(
        "G.eq1",
        (
            Slider(
                "w", "CW (slots)", (8, 16, 32, 64, 128, 256, 512, 1024), 32,
                keys=lambda values: {"phy.cw_min": int(values["w"]) - 1},
            ),
        ),
        "stations N besides the access point", "probability", (3, "three stations"),
        contention.same_slot,
        opens=Opens("saturated", "stations.node.count", "collision_probability"),
    ),
    _uploads("G.fig2", size=10, flows=1, retries=False, more=(_SKIP,)),
    _uploads("G.fig3", size=1, flows=1, retries=False, more=(_SKIP,)),
    _uploads("G.fig4", size=10, flows=1, retries=False, more=(_SKIP,)),
    _uploads("G.fig5", size=1, flows=1, retries=True, more=(_SKIP,)),
    _uploads("G.fig6", size=10, flows=1, retries=True, more=(_SKIP,)),
    _uploads("G.figA1", size=10, flows=1, retries=True, more=(_SKIP,)),
    _uploads("G.figA2", size=10, flows=3, retries=False, more=(_SKIP,)),
    _uploads("G.figA3", size=10, flows=3, retries=True, more=(_SKIP,)),
    _uploads("G.figA4", size=1, flows=1, retries=False, more=(_SKIP,)),
    _uploads("G.figA5", size=1, flows=3, retries=False, more=(_SKIP,)),
    _uploads("G.adaptive", size=10, flows=1, retries=False, more=(_CHOSEN,)),
    _uploads("G.feedback", size=10, flows=1, retries=False, more=(_TOLD, _NOISE)),
    _uploads("G.polling", size=10, flows=1, retries=False, more=(_POLLED,)),
    _uploads("G.rts", size=10, flows=1, retries=False, more=(_RTS,)),
    _uploads("G.scenarios", size=1, flows=1, retries=False, more=(_SKIP,)),
)  # fmt: skip
