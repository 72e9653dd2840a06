"""Paper M, Fig. 1, 2 and 4: how often frames collide."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from airtcp.results import Simulation
from airtcp.stats import Interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import difference, least, mean, most, off, ratio
from airtcp_papers.miorandi.model import collision_probability, contention, throughput
from airtcp_papers.miorandi.moved import ATTEMPTS, W0, parameters, solved
from airtcp_papers.miorandi.users import LARGE

#: The assumptions of (1) to (17), for scenario files with the rules of ns-2: a backoff before each
#: frame, no backoff after a success, no EIFS. The paper's 32 values are drawn from 0.
EQUATIONS: Final[Mapping[str, Any]] = {
    "mac.rules": {"preset": "bianchi"},
    "phy.cw_min": 31,
    "phy.cw_max": 1023,
}

_NODES = (2, 3, 5, 7, 10, 15, 20, 30, 40, 50)
_SIMULATED = (2, 3, 5, 10, 20, 30, 50)


def collisions(*, w0: float = W0, stages: float = 5) -> list[Series]:
    """Fig. 1: the model's curve and the paper's number."""
    radio = parameters(w0=w0, w_max=w0 * 2**stages)
    model, noted = solved(lambda variant: collision_probability(_NODES, radio, variant))
    return [
        Series(f"model, (1) and (2){noted}", _NODES, [float(p) for p in model], "model"),
        Series("paper", (2,), (0.060,), "paper"),
    ]


@item("M.fig1")
def fig1(bench: Bench) -> Found:
    curve, paper = collisions()
    model = [mean(p) for p in curve.y]
    runs = [_backlogged(bench, n) for n in _SIMULATED]
    simulated: list[Value] = [one.metrics["collision_probability"] for one in runs]
    series = [curve, Series("simulation", _SIMULATED, simulated, "simulation"), paper]
    steps = [right - left for left, right in pairwise(model)]
    grown = [difference(more, less, "collision_probability") for less, more in pairwise(runs)]
    two, fifty = simulated[0], simulated[-1]
    return Found(
        series,
        values={
            "two_nodes_model": model[0],
            "two_nodes": two,
            "smallest_step": least(grown),
            "smallest_step_model": min(steps),
            "fifty_over_two": model[-1] / model[0],
        },
        told={"model": model, "fifty": fifty},
    )


def drops(*, w0: float = W0, m: float = ATTEMPTS) -> list[Series]:
    """Fig. 2: the model's curve."""
    radio = parameters(w0=w0, w_max=32 * w0, m=m)
    found, noted = solved(lambda variant: contention(_NODES, radio, variant))
    return [Series(f"model, P_C^m{noted}", _NODES, [float(p) for p in found.p_drop], "model")]


@item("M.fig2")
def fig2(bench: Bench) -> Found:
    (curve,) = drops()
    model = [mean(p) for p in curve.y]
    simulated = [_backlogged(bench, n).metrics["drop_probability_mac"] for n in _SIMULATED]
    # A point without a drop has no place on a logarithmic axis.
    seen = [(n, p) for n, p in zip(_SIMULATED, simulated, strict=True) if mean(p) > 0.0]
    series = [
        curve,
        Series("simulation", [n for n, _ in seen], [p for _, p in seen], "simulation"),
    ]
    at = dict(zip(_SIMULATED, simulated, strict=True))
    return Found(
        series,
        values={
            "two_nodes_model": model[0],
            "two_nodes": at[2],
            "fifty_nodes": at[50],
            "fifty_nodes_model": model[-1],
        },
        told={"frames": 1.0 / model[0], "model": model},
    )


def _backlogged(bench: Bench, nodes: int) -> Simulation:
    return bench.simulate("saturated", {"stations.node.count": nodes})


_DOWNLOADS = (1, 2, 3, 5, 7, 10, 15, 20)
_WINDOWS = (1, 2, 10, LARGE)
#: Collision probabilities of the real ns-2 2.35 by W* and n_c, with half widths of their intervals.
#: Ten runs with W* = 1, five with W* = 1000.
_NS2 = {
    1: {1: (0.0, 0.0), 5: (0.07776, 0.00054), 20: (0.07767, 0.00080)},
    1000: {1: (0.06018, 0.00101), 5: (0.06998, 0.00105), 20: (0.07076, 0.00120)},
}


def download_collisions(*, w0: float = W0, window: float = 1) -> list[Series]:
    """Fig. 4: the model's curve, for two backlogged nodes whatever the window."""
    radio = parameters(w0=w0, w_max=32 * w0)
    found, noted = solved(lambda variant: throughput(_DOWNLOADS, radio, variant))
    chances = [float(p) for p in found.collision_probability]
    return [Series(f"model, two backlogged nodes{noted}", _DOWNLOADS, chances, "model")]


@item("M.fig4")
def fig4(bench: Bench) -> Found:
    series = download_collisions()
    model = [mean(p) for p in series[0].y]
    runs = {window: [downloads(bench, n, window) for n in _DOWNLOADS] for window in _WINDOWS}
    name = "collision_probability"
    for window, simulations in runs.items():
        points: list[Value] = [one.metrics[name] for one in simulations]
        series.append(Series(f"simulation, W* = {window}", _DOWNLOADS, points, "simulation"))
    # The large window has only the points that a claim needs: the ends, five, and one for the
    # curve.
    ideal = {
        window: [downloads(bench, n, window, more=EQUATIONS) for n in _DOWNLOADS]
        for window in (1, _WINDOWS[-1])
    }
    points = [one.metrics[name] for one in ideal[1]]
    label = "W* = 1, rules of the equations"
    series.append(Series(label, _DOWNLOADS, points, "simulation"))
    series += [_of_ns2(window) for window in _NS2]
    last = {window: runs[window][-1].metrics for window in _WINDOWS}
    values: dict[str, Value] = {"model": model[-1]}
    for some, rules in ((runs, ""), (ideal, "_equations")):
        one, large = some[1], some[_WINDOWS[-1]]
        apart = [off(run.metrics[name], model[0]) for run in one]
        insensitive = [off(ratio(run, large[3], name)) for run in large]
        values |= {
            f"w1_all{rules}": one[-1].metrics[name],
            f"w1_ap{rules}": one[-1].metrics["collision_probability_ap"],
            f"w1_gap{rules}": most(apart[1:]),
            f"w1_gap_from_five{rules}": most(apart[3:]),
            f"one_download_apart{rules}": off(large[0].metrics[name], model[0]),
            f"w1000_spread{rules}": most(insensitive),
            f"w1000_spread_from_two{rules}": most(insensitive[1:]),
            # With W* = 1 and one station there is no collision, so the spread leaves it out.
            f"w1_spread{rules}": most(off(ratio(run, one[3], name)) for run in one),
            f"drops{rules}": most(
                run.metrics["drop_probability_mac"] for runs in some.values() for run in runs
            ),
        }
        for place in (0, 3, 7):
            grown = difference(large[place], one[place], name)
            values[f"grows_{_DOWNLOADS[place]}{rules}"] = grown
    return Found(series, values=values, told={"model": model, "last": last, "ideal": ideal})


def _of_ns2(window: int) -> Series:
    """Return the measurements of ns-2 for one advertised window."""
    points: list[Value] = [
        Interval(found, found - half, found + half, 10 if window == 1 else 5)
        for found, half in _NS2[window].values()
    ]
    colour = 1 + _WINDOWS.index(window)
    return Series(f"ns-2, W* = {window}", list(_NS2[window]), points, "points", colour)


def downloads(
    bench: Bench, stations: int, window: int, every: int = 1, more: Mapping[str, Any] | None = None
) -> Simulation:
    """Simulate endless downloads with an ACK for `every` segments."""
    changes: dict[str, Any] = dict(more or {}) | {
        "stations.laptop.count": stations,
        "flows.laptop.tcp.receive_window.segments": window,
    }
    if every > 1:
        # With an initial window below d the first ACK waits for the delayed-ACK timer.
        changes["flows.laptop.tcp.delayed_ack.every"] = every
        changes["flows.laptop.tcp.initial_window"] = every
    if window == LARGE:
        # The window of one connection takes some 200 round trips to reach W* = 1000.
        changes["run.warmup"] = "120 s"
    return bench.simulate("persistent", changes)
