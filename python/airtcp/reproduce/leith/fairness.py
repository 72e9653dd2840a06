"""Paper L, Fig. 1 to 3: uploads that starve each other, and uploads that do not."""

from __future__ import annotations

from airtcp.reproduce.bench import Bench
from airtcp.reproduce.chart import Series, chart, table_of
from airtcp.reproduce.diagram import Edge, Node, diagram
from airtcp.reproduce.item import Cell, Data, Outcome, item
from airtcp.reproduce.measure import flow_goodputs, over_runs, words
from airtcp.results import Simulation
from airtcp.stats import Interval

_KILO = 1e3
_X, _Y = "upload, least to most in each run", "goodput (kb/s)"


def _by_rank(simulation: Simulation) -> list[Interval]:
    """Goodput of the least, the second, ... flow of each run, kb/s."""
    ranked = [sorted(flow_goodputs(simulation, run)) for run in range(len(simulation.runs))]
    return [
        over_runs(simulation, lambda run, rank=rank: ranked[run][rank] / _KILO)  # type: ignore[misc]
        for rank in range(len(ranked[0]))
    ]


def _starved(simulation: Simulation) -> Interval:
    """How many flows starve in a run: less than 1 % of an equal share."""
    return over_runs(
        simulation,
        lambda run: float(sum(flow["starved"] for flow in simulation.runs[run].answer["flows"])),
    )


@item(
    "L.fig1",
    title="Ten uploads through a plain access point",
    caption="Goodput of ten endless uploads over TCP SACK through a plain 802.11b access point, "
    "ranked in each run, means over runs.",
    states="Gross unfairness: some flows get a large share and others are locked out for long, "
    "because TCP ACKs pile up at the access point and most are lost.",
)
def fig1(bench: Bench) -> Outcome:
    plain = bench.simulate("plain")
    ranks = _by_rank(plain)
    places = list(range(1, len(ranks) + 1))
    series = [Series("simulation", places, ranks, "bars")]
    starved, jain = _starved(plain), plain.metrics["jain_index"]
    lost = plain.metrics["ap_queue_drop_probability"]
    ap = next(station for station in plain.stations if station.name == "ap")
    share = over_runs(plain, lambda run: _ap_share(plain, run))
    return Outcome(
        data=table_of(series, x=_X, y=_Y),
        found=f"{words(starved)} of ten uploads starve, the Jain index is {words(jain)}. The "
        f"access point has {words(share)} of all successful transmissions, not half of them, and "
        f"loses {words(lost)} of the ACKs at its queue ({ap.queue_drops:.0f} in a run).",
        values={"starved": starved, "jain": jain, "acks_lost": lost, "ap_share": share},
        figure=chart(series, x=_X, y=_Y, from_zero=True, whole_x=True),
    )


def _ap_share(simulation: Simulation, run: int) -> float:
    stations = simulation.runs[run].answer["stations"]
    everybody = sum(station["successes"] for station in stations)
    return float(
        next(station["successes"] for station in stations if station["name"] == "ap") / everybody
    )


@item(
    "L.fig2",
    title="Uploads: who sends what",
    caption="Stations send data over the air to the access point; TCP ACKs come back from one "
    "queue that all flows share.",
    states="n stations and the access point each get 1/(n+1) of the transmissions, so that n/(n+1) "
    "of them are data and 1/(n+1) ACKs.",
)
def fig2(bench: Bench) -> Outcome:
    nodes = [
        *(Node(f"s{k}", 0.0, -0.75 * k, f"station {k + 1}", "box", 0.6) for k in range(3)),
        Node("ap", 3.4, -0.75, "access point", "box", 0.75),
        Node("server", 5.8, -0.75, "receivers", "box", 0.65),
    ]
    edges = [
        *(Edge(f"s{k}", "ap", "", kind="air") for k in range(3)),
        Edge("ap", "server", "", kind="wire"),
    ]
    links: list[list[Cell]] = [
        ["station k", "access point", "TCP data", "one queue for each station"],
        ["access point", "station k", "TCP ACKs", "one queue for all"],
    ]
    counts = (1, 2, 5, 10)
    shares = {
        n: over_runs(simulation, lambda run, simulation=simulation: _ap_share(simulation, run))  # type: ignore[misc]
        for n in counts
        for simulation in [bench.simulate("plain", {"stations.station.count": n})]
    }
    gaps = {n: words(share) for n, share in shares.items()}
    return Outcome(
        data=Data(["from", "to", "what", "queue"], links),
        found="The access point's share of successful transmissions: "
        + ", ".join(f"{share} with {n}" for n, share in gaps.items())
        + " uploads. A station alone takes turns with it; where ACKs are lost TCP sends less than "
        "it could, so that the share is not exactly 1/(n+1).",
        values={"ten": shares[10]},
        figure=diagram(nodes, edges, height=2.2),
    )


@item(
    "L.fig3",
    title="Twenty uploads with prioritised TCP ACKs",
    caption="Goodput of twenty endless uploads when TCP ACKs go 50 us after the medium falls "
    "silent without backoff, and data 90 us and a backoff after it; ranked in each run.",
    states="The uploads share the channel fairly: ACKs pass with hardly any queueing, data are "
    "queued and dropped at the stations, as TCP expects.",
)
def fig3(bench: Bench) -> Outcome:
    fair = bench.simulate("uploads")
    ranks = _by_rank(fair)
    places = list(range(1, len(ranks) + 1))
    series = [Series("simulation", places, ranks, "bars")]
    jain, starved = fair.metrics["jain_index"], _starved(fair)
    queue, lost = fair.metrics["ap_queue_packets"], fair.metrics["ap_queue_drop_probability"]
    return Outcome(
        data=table_of(series, x=_X, y=_Y),
        found=f"The Jain index is {words(jain)} and {words(starved)} flows starve. The access "
        f"point holds {words(queue)} ACKs on average and loses {words(lost)} of them.",
        values={"jain": jain, "starved": starved, "ap_queue": queue, "acks_lost": lost},
        figure=chart(series, x=_X, y=_Y, from_zero=True, whole_x=True),
    )
