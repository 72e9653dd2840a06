"""Sliders for the figures of paper M: windows of Table 1, users, and what they download."""

from __future__ import annotations

from typing import Final

from airtcp_papers.common.sliders import Asked, Line, Movable, Opens, Slider, Values
from airtcp_papers.miorandi import chains, contention, sessions, throughput
from airtcp_papers.miorandi.moved import ATTEMPTS, W0
from airtcp_papers.miorandi.users import MEAN_BYTES, dynamic, every

_COUNT: Final = "stations.laptop.count"
_WINDOW_KEY: Final = "flows.laptop.tcp.receive_window.segments"
_EVERY_KEY: Final = "flows.laptop.tcp.delayed_ack.every"
_GOODPUT: Final = "goodput (Mb/s)"
_DELAY: Final = "mean session delay (s)"
_TIME: Final = "transfer_time_to_last_ack_s"
_PER_ACK: Final = "segments per ACK, d"


def _cw_min(values: Values) -> dict[str, object]:
    # The scenario files have the rules of ns-2, which draws from one slot less.
    return {"phy.cw_min": int(values["w0"]) - 2}


def _doubled(values: Values) -> dict[str, object]:
    return {
        "phy.cw_min": int(values["w0"]) - 1,
        "phy.cw_max": int(values["w0"] * 2 ** values.get("stages", 5)) - 1,
    }


def _ack(values: Values) -> dict[str, object]:
    # With an initial window below d the first ACK waits for the delayed-ACK timer.
    d = int(values["d"])
    window = {"flows.laptop.tcp.initial_window": d, _WINDOW_KEY: d} if d > 1 else {}
    return {_EVERY_KEY: d, **window}


_CW: Final = Slider("w0", "CWmin (slots)", (8, 16, 32, 64, 128, 256), W0, keys=_cw_min)
_CW_DOUBLED: Final = Slider("w0", "CWmin (slots)", (16, 32, 64, 128, 256), W0, keys=_doubled)
_RTS: Final = Slider(
    "rts", "RTS/CTS", (0, 1), 1, ("never", "always"),
    lambda values: {"mac.rts_threshold": "0 B" if values["rts"] else None},
)  # fmt: skip
_D: Final = Slider("d", "Segments for each TCP ACK", (1, 2, 3, 4, 6, 8), 1, keys=_ack)
_SIZE: Final = Slider(
    "size", "Mean file", (5e3, 10e3, 20e3, 30e3, 50e3, 80e3, 120e3, 200e3, 300e3), MEAN_BYTES,
    tuple(f"{kb} kB" for kb in (5, 10, 20, 30, 50, 80, 120, 200, 300)),
    lambda values: {"flows.laptop.application.size.mean": f"{values['size'] / 1e3:g} kB"},
)  # fmt: skip
_THINK: Final = Slider(
    "think", "Mean time to think (s)", (1, 2, 5, 10, 15, 20, 30, 60), 10,
    keys=lambda values: {"flows.laptop.application.think_time.mean": f"{values['think']:g} s"},
)  # fmt: skip
_LAW: Final = Slider(
    "law", "Law of sizes", (0, 1), 0, ("Pareto", "exponential"),
    lambda values: {
        "flows.laptop.application.size": {"distribution": "exponential", "mean": "30 kB"}
    } if values["law"] else {},
)  # fmt: skip


def _users(paper: int, name: str = "laptop") -> Slider:
    return Slider(
        "users", "Web users", (1, 2, 5, 10, 20, 30, 40), paper,
        keys=lambda values: {f"stations.{name}.count": int(values["users"])},
    )  # fmt: skip


def _window(paper: int, *groups: str) -> Slider:
    return Slider(
        "window", "Window W* (packets)", (1, 2, 3, 5, 10, 30, 100, 1000), paper,
        keys=lambda values: {
            f"flows.{name}.tcp.receive_window.segments": int(values["window"])
            for name in groups or ("laptop",)
        },
    )  # fmt: skip


_QUEUE: Final = Slider(
    "queue", "Queue of the access point", (0, 1, 2), 0, ("first in, first out", "RED", "per flow"),
    lambda values: {"ap.queue.discipline": ("fifo", "red", "per-flow")[int(values["queue"])]},
)  # fmt: skip
_LARGE: Final = {_WINDOW_KEY: 1000}

_CONTENTION: Final = (
    Movable(
        "M.fig1",
        (_CW_DOUBLED, Slider("stages", "Doublings at most", tuple(range(8)), 5, keys=_doubled)),
        "backlogged nodes", "collision probability", (10, "10 backlogged nodes"),
        contention.collisions,
        opens=Opens("saturated", "stations.node.count", "collision_probability"),
    ),
    Movable(
        "M.fig2",
        (
            _CW_DOUBLED,
            Slider(
                "m", "Attempts at most", (2, 3, 4, 5, 6, 7, 8, 10), ATTEMPTS,
                keys=lambda values: {"mac.short_retry_limit": int(values["m"])},
            ),
        ),
        "backlogged nodes", "drop probability", (10, "10 backlogged nodes"),
        contention.drops,
        opens=Opens("saturated", "stations.node.count", "drop_probability_mac"),
    ),
    Movable(
        "M.fig4",
        (_CW_DOUBLED, _window(1)),
        "endless downloads", "collision probability", (10, "10 downloads"),
        lambda w0, window: contention.download_collisions(w0=w0),
        opens=Opens("persistent", _COUNT, "collision_probability"),
    ),
)  # fmt: skip

_DOWNLOADS: Final = (
    Movable(
        "M.fig3",
        (_CW, _RTS),
        _PER_ACK, _GOODPUT, (2, "d = 2"), throughput.one_download,
        opens=Opens("persistent", _EVERY_KEY, "goodput_bps", {_COUNT: 1, **_LARGE}),
    ),
    Movable(
        "M.fig5",
        (_D, _CW, _RTS),
        "endless downloads", _GOODPUT, (20, "20 downloads"), throughput.all_downloads,
        opens=Opens("persistent", _COUNT, "goodput_bps"),
    ),
    Movable(
        "M.fig6",
        (
            Slider(
                "n", "Endless downloads", (2, 5, 10, 20, 40), 10,
                keys=lambda values: {_COUNT: int(values["n"])},
            ),
            _CW,
            _RTS,
        ),
        _PER_ACK, "goodput per download (kb/s)", (2, "d = 2"), throughput.each_download,
        opens=Opens("persistent", _EVERY_KEY, "flow_goodput_bps", _LARGE),
    ),
    Movable(
        "M.figA2",
        (_CW, _RTS),
        "window W* (packets)", "phi (us)", (10, "W* = 10"), throughput.waits,
        opens=Opens("persistent", _WINDOW_KEY, "goodput_bps", {_COUNT: 1}),
    ),
    Movable(
        "M.figA3",
        (_CW, _RTS),
        _PER_ACK, _GOODPUT, (2, "d = 2"), throughput.one_download_by_window,
        opens=Opens("persistent", _EVERY_KEY, "goodput_bps", {_COUNT: 1, **_LARGE}),
    ),
    Movable(
        "M.faster",
        (
            Slider(
                "n", "Endless downloads", (1, 2, 5, 10, 20), 1,
                keys=lambda values: {_COUNT: int(values["n"])},
            ),
            Slider(
                "payload", "Payload of a segment (bytes)", (500, 1000, 1460), 1000,
                keys=lambda values: {"flows.laptop.tcp.mss": f"{int(values['payload'])} B"},
            ),
        ),
        _PER_ACK, "goodput over that of d = 1", (2, "d = 2"),
        asked=Asked(
            [(d, d) for d in (1, 2, 3, 4)],
            [
                Line("802.11b, 11 Mb/s"),
                *(
                    Line(f"{standard}, 54 Mb/s", {
                        "phy": {"standard": standard, "data_rate": "54 Mb/s"}
                    })
                    for standard in ("802.11a", "802.11g")
                ),
            ],
            relative=True,
        ),
        opens=Opens("persistent", _EVERY_KEY, "goodput_bps", _LARGE),
    ),
)  # fmt: skip

_CHAINS: Final = (
    Movable(
        "M.fig7",
        (Slider("stations", "Stations", (2, 5, 10, 20, 40), 10), _THINK, _SIZE),
        "transfers in progress k", "probability", (1, "one transfer"), chains.active_transfers,
        opens=Opens("web", _COUNT, "active_flows"),
    ),
    Movable(
        "M.figA1",
        (Slider("window", "Window W* (packets)", (1, 2, 3, 4, 6, 8, 12, 20, 30), 4),),
        "packets at the sender", "probability", (1, "one packet at the sender"),
        chains.packets_of_a_window,
        opens=Opens("persistent", _WINDOW_KEY, "goodput_bps", {_COUNT: 1}),
    ),
)  # fmt: skip

_SESSIONS: Final = (
    Movable(
        "M.fig8",
        (_SIZE, _THINK, Slider("d", _D.label, (1, 2, 4), 1, keys=_ack), _CW),
        "stations", _DELAY, (40, "40 stations"), sessions.delays,
        opens=Opens("web", _COUNT, _TIME),
    ),
    Movable(
        "M.fig9",
        (_users(10), _SIZE, Slider("d", _D.label, (1, 2, 4), 1, keys=_ack), _CW),
        "mean think time (s)", _DELAY, (1, "1 s to think"), sessions.delays_of_thinkers,
        opens=Opens("web", "flows.laptop.application.think_time.mean", _TIME),
    ),
    Movable(
        "M.table2",
        (_users(1), _window(1)),
        "mean file (kB)", _DELAY, (30, "30 kB"),
        asked=Asked([(kb, f"{kb} kB") for kb in (5, 10, 20, 30, 50, 80, 120)]),
        opens=Opens(
            "web", "flows.laptop.application.size.mean", _TIME,
            {"flows.laptop.application.think_time.mean": "1 s"},
        ),
    ),
    Movable(
        "M.perflow",
        (_THINK, _SIZE),
        "stations", _DELAY, (40, "40 stations"),
        asked=Asked(
            [(n, n) for n in (5, 10, 20, 30, 40)], [Line("queue per flow, model")]
        ),
        opens=Opens(
            "web", _COUNT, _TIME, {**_LARGE, "ap.queue": {"discipline": "per-flow"}}
        ),
    ),
)  # fmt: skip

_BESIDE: Final = (_users(10), _window(1000, "laptop", "hog"), _QUEUE)

_SIMULATED: Final = (
    Movable(
        "M.table3",
        (_users(1), Slider("d", _D.label, (1, 2, 3, 4, 5), 1, keys=lambda values: every(
            int(values["d"]), "40 ms"))),
        opens=Opens("web", _COUNT, _TIME, {
            **_LARGE, "flows.laptop.application.think_time.mean": "1 s"
        }),
    ),
    Movable(
        "M.fig10",
        (
            _users(20),
            Slider(
                "buffer", "Queue of the access point (packets)", (10, 20, 30, 50, 100), 30,
                keys=lambda values: {"ap.queue.limit": int(values["buffer"])},
            ),
            _LAW,
        ),
        opens=Opens("web", _WINDOW_KEY, _TIME),
    ),
    Movable(
        "M.fig11",
        (
            Slider(
                "acks", "Receivers acknowledge", (1, 2, 3, 0), 1,
                ("every segment", "every second", "every third", "the dynamic scheme"),
                lambda values: every(int(values["acks"]), "40 ms") if values["acks"]
                else dynamic("40 ms"),
            ),
            _window(1000),
            _LAW,
        ),
        opens=Opens("web", _COUNT, _TIME),
    ),
    Movable("M.persistent", _BESIDE, opens=Opens("mixed", "stations.hog.count", _TIME)),
    Movable("M.red", _BESIDE, opens=Opens("mixed", "stations.hog.count", _TIME)),
    Movable(
        "M.mice",
        (
            Slider(
                "users", "Other web users", (5, 10, 20, 37, 60), 37,
                keys=lambda values: {_COUNT: int(values["users"])},
            ),
            _QUEUE,
        ),
        opens=Opens("sizes", _WINDOW_KEY, "transfer_time_s"),
    ),
    Movable(
        "M.bothways",
        (_window(1, "reader", "writer"), _QUEUE),
        opens=Opens("both-ways", "stations.writer.count", "transfer_time_s"),
    ),
)  # fmt: skip

FIGURES: Final = (*_CONTENTION, *_DOWNLOADS, *_CHAINS, *_SESSIONS, *_SIMULATED)
