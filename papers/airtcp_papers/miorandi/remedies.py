"""Figures for remarks of paper M that it does not show: persistent users, per-flow queues, RED.

Sections 4.2 and 5 name these as remedies. The items cover web users and endless downloads.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from airtcp.results import Simulation

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import Answer, changed, off, over_runs, ratio
from airtcp_papers.miorandi.users import EXPONENTIAL, LARGE, PARETO, Users, web

_USERS: Final = 10
_HOGS: Final = (0, 1, 2, 3, 4)
_LIMIT: Final = 100
_QUEUES: Final[dict[str, dict[str, Any]]] = {
    "first in, first out": {"discipline": "fifo", "limit": _LIMIT},
    "RED": {"discipline": "red", "limit": _LIMIT},
    "per flow": {"discipline": "per-flow", "limit": _LIMIT},
}


def _beside(bench: Bench, hogs: int, window: int, queue: str) -> Users:
    keys: dict[str, Any] = {"ap.queue": _QUEUES[queue]}
    if hogs == 0:
        # As in the file of the mixture, without its second group.
        run = {"run.duration": "2000 s", "run.replications": 10}
        threshold = {"flows.laptop.tcp.initial_ssthresh": {"segments": window}}
        return web(bench, _USERS, window, keys | run | threshold)
    keys |= {"stations.hog.count": hogs, "flows.hog.tcp.receive_window.segments": window}
    return web(bench, _USERS, window, keys, file="mixed")


@item("M.persistent")
def persistent(bench: Bench) -> Found:
    fifo = "first in, first out"
    users = {
        window: [_beside(bench, hogs, window, fifo) for hogs in _HOGS] for window in (1, LARGE)
    }
    series = [
        Series(f"W* = {window}", _HOGS, [one.time_s for one in some], "simulation")
        for window, some in users.items()
    ]
    worse = users[LARGE][1].over(users[LARGE][0])
    small = users[1][1].over(users[1][0])
    between = users[LARGE][1].over(users[1][1])
    return Found(series, values={"worse": worse, "worse_small": small, "large_over_small": between})


_STATIONS = (5, 10, 20, 30, 40)
#: Quick runs of points that are only drawn.
_DRAWN: Final[dict[str, Any]] = {"run.duration": "1000 s", "run.replications": 10}
_PER_FLOW: Final = {"ap.queue": {"discipline": "per-flow"}}


@item("M.perflow")
def perflow(bench: Bench) -> Found:
    quick = {n: None if n == _STATIONS[-1] else _DRAWN for n in _STATIONS}
    one_queue = [web(bench, n, LARGE, PARETO, quick=quick[n]) for n in _STATIONS]
    small = [web(bench, n, 1, PARETO, quick=_DRAWN) for n in _STATIONS]
    turns = [web(bench, n, LARGE, PARETO, _PER_FLOW, quick=quick[n]) for n in _STATIONS]
    series = [
        Series("one queue, W* = 1000", _STATIONS, _times(one_queue), "simulation"),
        Series("one queue, W* = 1", _STATIONS, _times(small), "simulation"),
        Series("queue per flow, W* = 1000", _STATIONS, _times(turns), "simulation"),
    ]
    gain = turns[-1].over(one_queue[-1])
    beside = turns[-1].over(small[-1])
    law = turns[-1].over(web(bench, _STATIONS[-1], LARGE, EXPONENTIAL, _PER_FLOW))
    return Found(
        series, values={"gain": gain, "over_small_window": beside, "pareto_over_exponential": law}
    )


@item("M.red")
def red(bench: Bench) -> Found:
    users = {queue: [_beside(bench, hogs, LARGE, queue) for hogs in _HOGS] for queue in _QUEUES}
    series = [Series(queue, _HOGS, _times(some), "simulation") for queue, some in users.items()]
    fifo, early, turns = users.values()
    gain, alone = early[1].over(fifo[1]), early[0].over(fifo[0])
    fair = turns[1].over(early[1])
    return Found(series, values={"gain": gain, "alone": alone, "per_flow_over_red": fair})


def _times(users: list[Users]) -> list[Value]:
    return [one.time_s for one in users]


_SIZES: Final = {"mouse": "5 kB", "elephant": "300 kB"}


def _time(station: str, answer: Answer) -> float:
    """Return the mean transfer time of a group of stations, seconds."""
    flows = [one for one in answer["flows"] if one["station"].startswith(station)]
    mine = [flow for flow in flows if flow["transfers"]]
    transfers = sum(flow["transfers"] for flow in mine)
    return float(sum(flow["transfers"] * flow["mean_transfer_time_s"] for flow in mine) / transfers)


def _bits(station: str, answer: Answer) -> float:
    """Return bits per transfer of a group, up to a factor that all groups share."""
    flows = [one for one in answer["flows"] if one["station"].startswith(station)]
    return float(sum(one["goodput_bps"] for one in flows) / sum(one["transfers"] for one in flows))


def _up_over_down(answer: Answer) -> float:
    """Return the ratio of mean times of files of equal mean size, with less noise as in `Users`."""
    up, down = (_time(who, answer) / _bits(who, answer) for who in ("writer", "reader"))
    return up / down


def _both(
    bench: Bench, file: str, windows: tuple[int, ...], groups: tuple[str, ...]
) -> dict[int, Simulation]:
    """Simulate a scenario with several windows; claims use the first and the last."""
    return {
        window: bench.simulate(
            file,
            {f"flows.{name}.tcp.receive_window.segments": window for name in groups},
            quick=None if window in (windows[0], windows[-1]) else _DRAWN,
        )
        for window in windows
    }


@item("M.mice")
def mice(bench: Bench) -> Found:
    windows = (1, 3, 10, 30, 100, LARGE)
    runs = _both(bench, "sizes", windows, ("laptop", *_SIZES))
    series, values = [], {}
    for name, size in _SIZES.items():
        time = partial(_time, name)
        times: list[Value] = [over_runs(one, time) for one in runs.values()]
        series.append(Series(f"files of {size}", windows, times, "simulation"))
        values[name] = ratio(runs[LARGE], runs[1], time)
    return Found(
        series,
        axes={"x_ticks": windows},
        values={f"{name}_large_over_small": value for name, value in values.items()},
        told={"values": values},
    )


@item("M.bothways")
def both_ways(bench: Bench) -> Found:
    windows = (1, 3, 10, 100, LARGE)
    runs = _both(bench, "both-ways", windows, ("reader", "writer"))
    ratios = {window: over_runs(one, _up_over_down) for window, one in runs.items()}
    series = [Series("uploads over downloads", windows, [*ratios.values()], "simulation")]
    apart = changed(ratios[LARGE], lambda ratio: ratio - 1.0)
    return Found(
        series,
        axes={"x_ticks": windows},
        values={"small_off": off(ratios[1]), "large_apart": apart},
        told={"ratios": ratios, "ratios_large": ratios[LARGE]},
    )
