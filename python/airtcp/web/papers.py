"""Figures of the papers whose parameters can be moved: what their models say, at once.

Knows which model function is behind a figure, which of its parameters a reader wants to move, and
where the paper has them. Does not know equations (`airtcp.models`) nor simulations: those of the
figures as they are in the papers are made by `airtcp.reproduce`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from airtcp.exceptions import ConvergenceError, QuestionError

__all__ = ["catalogue", "figure"]

_Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Slider:
    """A parameter: its values, and the index of that of the paper."""

    name: str
    label: str
    values: Sequence[float]
    start: int
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Interactive:
    """A figure: the item that reproduces it, its parameters, and what computes its curves."""

    item: str
    paper: str
    title: str
    caption: str
    sliders: Sequence[Slider]
    curves: Callable[[_Values], dict[str, Any]]


def catalogue() -> list[dict[str, Any]]:
    """All figures with their sliders, in the order of the papers."""
    return [
        {
            "item": one.item,
            "paper": one.paper,
            "title": one.title,
            "caption": one.caption,
            "sliders": [
                {
                    "name": slider.name,
                    "label": slider.label,
                    "values": list(slider.values),
                    "start": slider.start,
                    "unit": slider.unit,
                }
                for slider in one.sliders
            ],
        }
        for one in _FIGURES
    ]


def figure(item: str, values: _Values) -> dict[str, Any]:
    """The curves of a figure at values of its parameters; those that are not given are the paper's.

    Keys `x` and `y` (label, unit), `series` (name, colour, data of x and y), `words`. Raises
    QuestionError for a figure or a value that there is not.
    """
    known = {one.item: one for one in _FIGURES}
    if item not in known:
        raise QuestionError(f'there is no figure "{item}" here; allowed: {", ".join(known)}')
    one = known[item]
    taken = {slider.name: float(slider.values[slider.start]) for slider in one.sliders}
    for slider in one.sliders:
        if slider.name in values:
            value = values[slider.name]
            if value not in slider.values:
                allowed = ", ".join(f"{number:g}" for number in slider.values)
                raise QuestionError(f"{slider.name}: {value:g} is not on it; allowed: {allowed}")
            taken[slider.name] = float(value)
    unknown = set(values) - set(taken)
    if unknown:
        raise QuestionError(f'"{min(unknown)}" is no slider; allowed: {", ".join(taken)}')
    return one.curves(taken)


def _curve(name: str, colour: str, x: Any, y: Any, *, dash: bool = False) -> dict[str, Any]:
    data = [{"x": float(a), "y": float(b)} for a, b in zip(x, y, strict=True)]
    return {"name": name, "kind": "line", "colour": colour, "dash": dash, "data": data}


def _collisions(values: _Values) -> dict[str, Any]:
    import numpy as np

    from airtcp.models.miorandi import PAPER, Parameters, collision_probability

    nodes = np.arange(2, 61)
    w0 = int(values["w0"])
    parameters = replace(Parameters.table_1(), w0=w0, w_max=w0 * 2 ** int(values["stages"]))
    note = ""
    try:
        moved = collision_probability(nodes, parameters)
    except ConvergenceError:
        moved = collision_probability(nodes, parameters, replace(PAPER, stages="normalised"))
        note = (
            " With these parameters (1) and (2) have no root for all numbers of nodes (erratum "
            "M5): the chances of the stages are made to add up to one."
        )
    paper = collision_probability(nodes, Parameters.table_1())
    return {
        "x": {"label": "backlogged nodes", "unit": "", "log": False},
        "y": {"label": "collision probability", "unit": "share"},
        "series": [
            _curve("as moved", "model", nodes, moved),
            _curve("paper's parameters", "fourth", nodes, paper, dash=True),
        ],
        "words": f"Ten nodes collide in {100 * float(moved[8]):.3g} % of their attempts "
        f"(paper's parameters: {100 * float(paper[8]):.3g} %).{note}",
    }


def _drops(values: _Values) -> dict[str, Any]:
    import numpy as np

    from airtcp.models.miorandi import PAPER, Parameters, contention

    nodes = np.arange(2, 51)
    w0, m = int(values["w0"]), int(values["m"])
    parameters = replace(Parameters.table_1(), w0=w0, w_max=32 * w0, m=m)
    note = ""
    try:
        moved = contention(nodes, parameters).p_drop
    except ConvergenceError:
        moved = contention(nodes, parameters, replace(PAPER, stages="normalised")).p_drop
        note = " The chances of the stages are made to add up to one (erratum M5)."
    paper = contention(nodes, Parameters.table_1()).p_drop
    return {
        "x": {"label": "backlogged nodes", "unit": "", "log": False},
        "y": {"label": "drop probability", "unit": "share"},
        "series": [
            _curve("as moved", "model", nodes, moved),
            _curve("paper's parameters", "fourth", nodes, paper, dash=True),
        ],
        "words": f"Two nodes give {100 * float(moved[0]):.2g} % of their frames up after {m} "
        f"attempts, ten {100 * float(moved[8]):.2g} %.{note}",
    }


def _downloads(values: _Values) -> dict[str, Any]:
    import numpy as np

    from airtcp.models.miorandi import Parameters, throughput

    connections = np.arange(1, 41)
    table = Parameters.table_1()
    w0 = int(values["w0"])
    rts = bool(values["rts"])
    moved = replace(
        table, w0=w0, w_max=max(w0, table.w_max), rts_before_data=rts, rts_before_tcp_ack=rts
    )
    goodput = throughput(connections, moved, d=values["d"]).goodput_bps
    paper = throughput(connections, table).goodput_bps
    return {
        "x": {"label": "endless downloads", "unit": "", "log": False},
        "y": {"label": "goodput of all", "unit": "b/s"},
        "series": [
            _curve("as moved", "model", connections, goodput),
            _curve("paper's parameters", "fourth", connections, paper, dash=True),
        ],
        "words": f"Twenty downloads get {goodput[19] / 1e6:.4g} Mb/s "
        f"(paper's parameters: {paper[19] / 1e6:.4g} Mb/s). Their number hardly matters: few "
        "stations have a TCP ACK to send at a time.",
    }


def _sessions(values: _Values) -> dict[str, Any]:
    import numpy as np

    from airtcp.models.miorandi import Parameters, session_delay

    stations = np.arange(1, 101)
    table = Parameters.table_1()
    told = session_delay(
        stations,
        table,
        think_time_s=values["think"],
        mean_size_bytes=1e3 * values["size"],
        d=values["d"],
    ).session_s
    paper = session_delay(stations, table, think_time_s=10.0, mean_size_bytes=30e3).session_s
    return {
        "x": {"label": "web users", "unit": "", "log": False},
        "y": {"label": "mean session delay", "unit": "s"},
        "series": [
            _curve("as moved", "model", stations, told),
            _curve("paper's parameters", "fourth", stations, paper, dash=True),
        ],
        "words": f"Forty users wait {told[39]:.3g} s for a page on average.",
    }


def _thinking(values: _Values) -> dict[str, Any]:
    import numpy as np

    from airtcp.models.miorandi import Parameters, session_delay

    thinks = np.linspace(1.0, 20.0, 39)
    table, users = Parameters.table_1(), int(values["users"])
    told = session_delay(
        users, table, think_time_s=thinks, mean_size_bytes=1e3 * values["size"], d=values["d"]
    ).session_s
    paper = session_delay(10, table, think_time_s=thinks, mean_size_bytes=30e3).session_s
    return {
        "x": {"label": "mean think time", "unit": "s", "log": False},
        "y": {"label": "mean session delay", "unit": "s"},
        "series": [
            _curve("as moved", "model", thinks, told),
            _curve("paper's parameters", "fourth", thinks, paper, dash=True),
        ],
        "words": f"{users} users who think for {thinks[0]:g} s wait {told[0]:.3g} s for a page, "
        f"those who think for {thinks[-1]:g} s {told[-1]:.3g} s.",
    }


def _success(values: _Values) -> dict[str, Any]:
    import numpy as np

    from airtcp.models.bruno import Overheads, best_stations, success_rate

    w = int(values["w"])
    stations = np.arange(1, 65)
    overheads = Overheads.hot_spot()
    rate = success_rate(w, stations, overheads)
    paper = success_rate(32, stations, overheads)
    best = int(best_stations(w, overheads))
    return {
        "x": {"label": "stations that contend", "unit": "", "log": False},
        "y": {"label": "successes per second", "unit": ""},
        "series": [
            _curve(f"w = {w}", "model", stations, rate),
            _curve("w = 32", "fourth", stations, paper, dash=True),
        ],
        "words": f"With a window of {w} slots {best} stations that contend are best, m* = {best}.",
    }


def _uploads(values: _Values) -> dict[str, Any]:
    import numpy as np

    from airtcp.models.leith import Parameters, simplified_throughput, throughput

    n, hold, d = int(values["n"]), int(values["hold"]), int(values["d"])
    windows = np.array([4, 8, 16, 32, 64, 128, 256, 512, 1024])
    # CWmax stays 1024: the number of times that the window doubles falls with CWmin.
    doublings = np.log2(1024 / windows).astype(int)
    parameters = Parameters.of_figures()
    full = throughput(n, windows, doublings, hold, parameters, d=d).goodput_bps
    simple = simplified_throughput(n, windows, doublings, parameters, d=d).goodput_bps
    best = int(np.argmax(full))
    return {
        "x": {"label": "CWmin of the stations", "unit": "", "log": True},
        "y": {"label": "goodput of all uploads", "unit": "b/s"},
        "series": [
            _curve("full model", "model", windows, full),
            _curve("simplified, (9)", "simulated", windows, simple, dash=True),
        ],
        "words": f"{n} uploads get the most, {full[best] / 1e6:.4g} Mb/s, with a CWmin of "
        f"{windows[best]}.",
    }


def _transfers(values: _Values) -> dict[str, Any]:
    import numpy as np

    from airtcp.models.hoekstra import Parameters, effective_load, effective_service_time

    size = 1e3 * values["size"]
    testbed = Parameters.testbed()
    beta_s = float(effective_service_time(size, testbed).est_with_beacons_s)
    loads = np.linspace(0.05, 0.95, 46)
    told = effective_load(size, loads / beta_s, testbed).mean_transfer_s
    paper_s = float(effective_service_time(200_000, testbed).est_with_beacons_s)
    paper = effective_load(200_000, loads / paper_s, testbed).mean_transfer_s
    return {
        "x": {"label": "load", "unit": "", "log": False},
        "y": {"label": "mean transfer time", "unit": "s"},
        "series": [
            _curve("as moved", "model", loads, told),
            _curve("files of 200 kB", "fourth", loads, paper, dash=True),
        ],
        "words": f"A file alone takes {beta_s:.4g} s, FTP dialogue included; at a load of 0.75 "
        f"{float(np.interp(0.75, loads, told)):.3g} s.",
    }


def _simultaneous(values: _Values) -> dict[str, Any]:
    import numpy as np

    from airtcp.models.gopal import simultaneous_send

    w0 = int(values["w0"])
    others = np.arange(1, 31)
    told = simultaneous_send(others, w0)
    return {
        "x": {"label": "other nodes", "unit": "", "log": False},
        "y": {"label": "probability", "unit": "share"},
        "series": [
            _curve("two of all choose the same slot, (1)", "model", others, told.any_two),
            _curve(
                "the next transmission collides", "simulated", others, told.next_transmission,
                dash=True,
            ),
        ],
        "words": f"With ten others and a window of {w0} slots two of all choose the same slot in "
        f"{100 * float(told.any_two[9]):.3g} % of the draws; the next transmission collides in "
        f"{100 * float(told.next_transmission[9]):.3g} %.",
    }  # fmt: skip


def _ack_gain(values: _Values) -> dict[str, Any]:
    from importlib import resources

    from airtcp.predict import predict
    from airtcp.reproduce.acks.gain import PHYS
    from airtcp.scenario import loads

    folder = resources.files("airtcp") / "reproduce" / "acks"
    base = loads((folder / "downloads.toml").read_text(encoding="utf-8"))
    count = int(values["count"])
    phy = PHYS[int(values["phy"])]
    every = (1, 2, 3, 4, 6, 8, 12, 16)
    series = []
    gains: dict[str, float] = {}
    for shown, colour, dash in ((phy, "model", False), (PHYS[0], "fourth", True)):
        keys = {
            **shown.keys,
            "stations.laptop.count": count,
            "flows.laptop.tcp.receive_window.segments": shown.window,
            "flows.laptop.tcp.initial_window": shown.window,
        }
        scenario = base.vary(keys)
        goodput = []
        for d in every:
            best = predict(scenario.vary({"flows.laptop.tcp.delayed_ack.every": d})).best(
                "goodput_bps"
            )
            assert best is not None
            assert not isinstance(best.value, list)
            goodput.append(best.value)
        gain = [value / goodput[0] - 1.0 for value in goodput]
        gains[shown.label] = gain[1]
        series.append(_curve(f"802.11{shown.label}", colour, every, gain, dash=dash))
    if phy is PHYS[0]:
        series.pop()
    return {
        "x": {"label": "segments for each TCP ACK", "unit": "", "log": False},
        "y": {"label": "gain over one ACK for each", "unit": "share"},
        "series": series,
        "words": f"An ACK for every second segment gains {100 * gains[phy.label]:.3g} % in "
        f"802.11{phy.label}, with {count} download{'s' if count > 1 else ''}; the models say so.",
    }


_FIGURES: Final = (
    Interactive(
        "M.fig1",
        "M",
        "Collision probability against backlogged nodes",
        "Equations (1) and (2) of paper M: how often an attempt of one of n backlogged nodes "
        "collides. The paper has CWmin = 32, doubled five times at most.",
        (
            Slider("w0", "CWmin (slots)", (4, 8, 16, 32, 64, 128, 256), 3),
            Slider("stages", "Doublings at most", tuple(range(8)), 5),
        ),
        _collisions,
    ),
    Interactive(
        "M.fig2",
        "M",
        "Drop probability against backlogged nodes",
        "P_C of equations (1) and (2) of paper M to the power of m: a frame is given up after m "
        "attempts. The paper has CWmin = 32, doubled five times at most, and m = 7.",
        (
            Slider("w0", "CWmin (slots)", (16, 32, 64, 128, 256), 1),
            Slider("m", "Attempts at most", (2, 3, 4, 5, 6, 7, 8, 10), 5),
        ),
        _drops,
    ),
    Interactive(
        "M.fig5",
        "M",
        "Goodput of all endless downloads against their number",
        "Equations (10) and (12) of paper M, with windows of d packets and an ACK for each d.",
        (
            Slider("d", "Segments for each TCP ACK", (1, 2, 3, 4, 6, 8), 0),
            Slider("w0", "CWmin (slots)", (16, 32, 64, 128, 256), 1),
            Slider("rts", "RTS/CTS (1: always)", (0, 1), 1),
        ),
        _downloads,
    ),
    Interactive(
        "M.fig8",
        "M",
        "Session delay against the number of stations",
        "The queueing model of paper M, (17) with the set-up of (13): web users who read for a "
        "while between pages.",
        (
            Slider("size", "Mean page (kB)", (5, 10, 20, 30, 50, 80, 120, 200, 300), 3),
            Slider("think", "Mean think time (s)", (1, 2, 5, 10, 15, 20, 30, 60), 3),
            Slider("d", "Segments for each TCP ACK", (1, 2, 4), 0),
        ),
        _sessions,
    ),
    Interactive(
        "M.fig9",
        "M",
        "Session delay against the mean time to think",
        "The queueing model (17) of paper M: from an access point that is always busy, on the "
        "left, to one that is idle. The paper has ten stations.",
        (
            Slider("users", "Web users", (2, 5, 10, 20, 40), 2),
            Slider("size", "Mean page (kB)", (5, 10, 20, 30, 50, 80, 120), 3),
            Slider("d", "Segments for each TCP ACK", (1, 2, 4), 0),
        ),
        _thinking,
    ),
    Interactive(
        "B.fig4",
        "B",
        "Success rate against contending stations",
        "Equation (1) of paper B: successes per second of w slots, for m stations that contend.",
        (Slider("w", "Window w (slots)", (8, 16, 32, 64, 128, 256), 2),),
        _success,
    ),
    Interactive(
        "L.fig4",
        "L",
        "Goodput of prioritised uploads against CWmin",
        "Section 4 of paper L: uploads whose TCP ACKs the access point sends first, with CWmax "
        "= 1024.",
        (
            Slider("n", "Uploads", (2, 5, 10, 15, 20, 30, 50), 2),
            Slider("d", "Segments for each TCP ACK (1 or 2)", (1, 2), 0),
            Slider("hold", "AIFS of stations over that of the AP (slots)", (0, 1, 2, 4, 8), 2),
        ),
        _uploads,
    ),
    Interactive(
        "H.fig1",
        "H",
        "Mean transfer time of downloads against the load",
        "Equations (19), (22) and (29) of paper H: FTP downloads of the test bed as processor "
        "sharing with their effective service time.",
        (Slider("size", "Mean file (kB)", (20, 50, 100, 200, 400, 1000, 2000), 3),),
        _transfers,
    ),
    Interactive(
        "G.eq1",
        "G",
        "Probability that nodes choose the same slot",
        "Equation (1) of paper G, and beside it the chance that the next transmission collides.",
        (Slider("w0", "CWmin (slots)", (8, 16, 32, 64, 128, 256, 512, 1024), 2),),
        _simultaneous,
    ),
    Interactive(
        "acks",
        "ours",
        "What delayed ACKs gain, from 802.11b to 802.11ax",
        "Goodput of downloads with an ACK for d segments over that with one for each, less one; "
        "dashed 802.11b. PHYs: 0 b, 1 g, 2 and 3 n (72, 300 Mb/s), 4 and 5 ac (433, 867), 6 and 7 "
        "ax (600, 1201).",
        (
            Slider("phy", "PHY (0 b ... 7 ax)", tuple(range(8)), 1),
            Slider("count", "Downloads", (1, 2, 5, 10), 0),
        ),
        _ack_gain,
    ),
)
