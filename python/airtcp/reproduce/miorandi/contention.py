"""Paper M, Fig. 1, 2 and 4: how often frames collide. Knows no transfer times."""

from __future__ import annotations

from itertools import pairwise

from airtcp.models.miorandi import collision_probability, contention, throughput
from airtcp.reproduce.bench import Bench
from airtcp.reproduce.chart import Series, chart, table_of
from airtcp.reproduce.item import Outcome, Value, item
from airtcp.reproduce.measure import difference, least, mean, most, off, over_runs, ratio, words
from airtcp.reproduce.miorandi.moved import ATTEMPTS, W0, parameters, solved
from airtcp.results import Simulation

_NODES = (2, 3, 5, 7, 10, 15, 20, 30, 40, 50)
_SIMULATED = (2, 3, 5, 10, 20, 30, 50)


def collisions(*, w0: float = W0, stages: float = 5) -> list[Series]:
    """Fig. 1: the model's curve, and the paper's number."""
    radio = parameters(w0=w0, w_max=w0 * 2**stages)
    model, noted = solved(lambda variant: collision_probability(_NODES, radio, variant))
    return [
        Series(f"model, (1) and (2){noted}", _NODES, [float(p) for p in model], "model"),
        Series("paper", (2,), (0.060,), "paper"),
    ]


@item(
    "M.fig1",
    title="Collision probability against backlogged nodes",
    caption="How often an attempt of one of n backlogged nodes collides: equations (1) and (2), "
    "and nodes that are simulated with a packet always ready.",
    states="P_C grows with the number of backlogged nodes, fast at first and then ever more "
    "slowly; two nodes collide in 6 % of their attempts (section 3.1).",
)
def fig1(bench: Bench) -> Outcome:
    curve, paper = collisions()
    model = [mean(p) for p in curve.y]
    runs = [_backlogged(bench, n) for n in _SIMULATED]
    simulated: list[Value] = [one.metrics["collision_probability"] for one in runs]
    series = [curve, Series("simulation", _SIMULATED, simulated, "simulation"), paper]
    steps = [right - left for left, right in pairwise(model)]
    grown = [difference(more, less, "collision_probability") for less, more in pairwise(runs)]
    x, y = "backlogged nodes", "collision probability"
    two, fifty = simulated[0], simulated[-1]
    return Outcome(
        data=table_of(series, x=x, y=y),
        found=f"Two nodes collide with probability {model[0]:.4f} in the model and {words(two)} in "
        f"the simulation; fifty with {model[-1]:.3f} and {words(fifty)}. The model takes 1/b for "
        "the chance to send in a slot (erratum M6) and independent backoff stages, so it is a "
        "little too high throughout.",
        values={
            "two_nodes_model": model[0],
            "two_nodes": two,
            "smallest_step": least(grown),
            "smallest_step_model": min(steps),
            "fifty_over_two": model[-1] / model[0],
        },
        figure=chart(series, x=x, y=y, from_zero=True),
    )


def drops(*, w0: float = W0, m: float = ATTEMPTS) -> list[Series]:
    """Fig. 2: the model's curve."""
    radio = parameters(w0=w0, w_max=32 * w0, m=m)
    found, noted = solved(lambda variant: contention(_NODES, radio, variant))
    return [Series(f"model, P_C^m{noted}", _NODES, [float(p) for p in found.p_drop], "model")]


@item(
    "M.fig2",
    title="Drop probability against backlogged nodes",
    caption="How often a frame is given up after m = 7 attempts, P_C^m, and simulated nodes "
    "with a packet always ready.",
    states="Negligible for few backlogged nodes, which is why the throughput analysis leaves "
    "drops out; it grows steeply with their number.",
)
def fig2(bench: Bench) -> Outcome:
    (curve,) = drops()
    model = [mean(p) for p in curve.y]
    simulated = [_backlogged(bench, n).metrics["drop_probability_mac"] for n in _SIMULATED]
    # On a logarithmic axis a point that saw no drop has no place.
    seen = [(n, p) for n, p in zip(_SIMULATED, simulated, strict=True) if mean(p) > 0.0]
    series = [
        curve,
        Series("simulation", [n for n, _ in seen], [p for _, p in seen], "simulation"),
    ]
    x, y = "backlogged nodes", "drop probability"
    at = dict(zip(_SIMULATED, simulated, strict=True))
    return Outcome(
        data=table_of(series, x=x, y=y),
        found=f"Two nodes drop one frame in {1.0 / model[0]:.2g} in the model, ten {model[4]:.2g} "
        f"of theirs and fifty {model[-1]:.2g}; simulated fifty drop {words(at[50])}. Drops can be "
        "left out where two nodes are backlogged, as with TCP.",
        values={
            "two_nodes_model": model[0],
            "two_nodes": at[2],
            "fifty_nodes": at[50],
            "fifty_nodes_model": model[-1],
        },
        figure=chart(series, x=x, y=y, y_scale="log"),
    )


def _backlogged(bench: Bench, nodes: int) -> Simulation:
    return bench.simulate("saturated", {"stations.node.count": nodes})


_DOWNLOADS = (1, 2, 3, 5, 7, 10, 15, 20)
_WINDOWS = (1, 2, 10, 1000)
#: The rules of ns-2, and its windows, which are one slot smaller.
NS2 = {"mac.rules": {"preset": "ns-2"}, "phy.cw_min": 30, "phy.cw_max": 1022}


def download_collisions(*, w0: float = W0, m: float = ATTEMPTS) -> list[Series]:
    """Fig. 4: the model's curve, which is that of two backlogged nodes."""
    radio = parameters(w0=w0, w_max=32 * w0, m=m)
    found, noted = solved(lambda variant: throughput(_DOWNLOADS, radio, variant))
    chances = [float(p) for p in found.collision_probability]
    return [Series(f"model, two backlogged nodes{noted}", _DOWNLOADS, chances, "model")]


@item(
    "M.fig4",
    title="Collision probability against endless downloads",
    caption="How often an attempt collides when n_c stations download, for several advertised "
    "windows W* (packets); the model says that two nodes are backlogged, whatever n_c.",
    states="With W* = 1 the simulation matches the model very well. P_C grows with W*, and even "
    "for a large W* depends little on the number of downloads.",
)
def fig4(bench: Bench) -> Outcome:
    series = download_collisions()
    model = [mean(p) for p in series[0].y]
    runs = {
        window: [
            bench.simulate(
                "persistent",
                {"stations.laptop.count": n, "flows.laptop.tcp.receive_window.segments": window}
                | ({"run.warmup": "120 s"} if window == max(_WINDOWS) else {}),
            )
            for n in _DOWNLOADS
        ]
        for window in _WINDOWS
    }
    for window, simulations in runs.items():
        points: list[Value] = [one.metrics["collision_probability"] for one in simulations]
        series.append(Series(f"simulation, W* = {window}", _DOWNLOADS, points, "simulation"))
    ns2 = [bench.simulate("persistent", {"stations.laptop.count": n} | NS2) for n in (1, 5, 10, 20)]
    points = [one.metrics["collision_probability"] for one in ns2]
    series.append(Series("W* = 1, rules of ns-2", (1, 5, 10, 20), points, "simulation"))
    last = {window: runs[window][-1].metrics for window in _WINDOWS}
    name = "collision_probability"
    nodes = [one.metrics["mean_backlogged_nodes"] for one in runs[1]]
    x, y = "endless downloads", "collision probability"
    return Outcome(
        data=table_of(series, x=x, y=y),
        found=f"The model's {model[0]:.3f} lies between what the access point meets with 20 "
        f"downloads and W* = 1, {words(last[1]['collision_probability_ap'])}, and what stations "
        f"meet, {words(last[1]['collision_probability_stations'])}; all attempts together "
        f"collide with {words(last[1]['collision_probability'])}. A station with an ACK meets an "
        "access point that always has a packet, and the others; the access point meets stations "
        "that mostly have none. With one download P_C grows with W*, from 0: access point and "
        "station take turns. With many it falls a little (erratum M18), since a large window sends "
        "several packets in a row to one station, which then acknowledges alone. With W* = 1 "
        f"{words(nodes[1])} nodes are backlogged with two downloads and {words(nodes[-1])} with "
        "twenty.",
        values={
            "model": model[-1],
            "w1_all": last[1]["collision_probability"],
            "w1_ap": last[1]["collision_probability_ap"],
            "w1_gap": most(off(one.metrics[name], model[0]) for one in runs[1][1:]),
            **{
                f"grows_{_DOWNLOADS[place]}": difference(runs[1000][place], runs[1][place], name)
                for place in (0, 3, 7)
            },
            "w1000_spread": most(off(ratio(one, runs[1000][3], name)) for one in runs[1000]),
            "nodes_off": most(off(one, 2.0) for one in nodes[1:]),
            "nodes_one": nodes[0],
            "ap_half": over_runs(runs[1][-1], lambda run: _share_of_ap(runs[1][-1], run)),
            "drops": most(
                one.metrics["drop_probability_mac"] for some in runs.values() for one in some
            ),
        },
        figure=chart(series, x=x, y=y, from_zero=True, whole_x=True),
    )


def _share_of_ap(simulation: Simulation, run: int) -> float:
    """The access point's share of the successful transmissions."""
    nodes = simulation.runs[run].answer["stations"]
    (ap,) = (node["successes"] for node in nodes if node["name"] == "ap")
    return float(ap / sum(node["successes"] for node in nodes))
