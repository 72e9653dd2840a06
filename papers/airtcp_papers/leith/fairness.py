"""Paper L, Fig. 1 to 3: uploads that starve each other, and uploads that do not."""

from __future__ import annotations

from itertools import pairwise

from airtcp.results import Simulation
from airtcp.stats import Interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.diagram import Edge, Node, diagram
from airtcp_papers.common.item import Cell, Data
from airtcp_papers.common.measure import (
    flow_goodputs,
    least,
    mean,
    most,
    off,
    over_runs,
    paired_runs,
    quotients,
    words,
)

_KILO = 1e3


def _by_rank(simulation: Simulation) -> list[Interval]:
    """Return goodput by rank in each run, lowest flow first, kb/s."""
    ranked = [sorted(flow_goodputs(simulation, run)) for run in range(len(simulation.runs))]
    return [
        over_runs(simulation, lambda run, rank=rank: ranked[run][rank] / _KILO)  # type: ignore[misc]
        for rank in range(len(ranked[0]))
    ]


def _starved(simulation: Simulation) -> Interval:
    """Return how many flows starve in a run: they have less than 1 % of an equal share."""
    return over_runs(
        simulation,
        lambda run: float(sum(flow["starved"] for flow in simulation.runs[run].answer["flows"])),
    )


@item("L.fig1")
def fig1(bench: Bench) -> Found:
    plain = bench.simulate("plain")
    ranks = _by_rank(plain)
    places = list(range(1, len(ranks) + 1))
    series = [Series("simulation", places, ranks, "bars")]
    starved, jain = _starved(plain), plain.metrics["jain_index"]
    lost = plain.metrics["ap_queue_drop_probability"]
    ap = next(station for station in plain.stations if station.name == "ap")
    share = over_runs(plain, lambda run: _ap_share(plain, run))
    saturated = bench.simulate("saturated", quick={})
    fair_share = over_runs(saturated, lambda run: _ap_share(saturated, run))
    fair = bench.simulate("uploads", {"stations.station.count": 10})
    return Found(
        series,
        values={
            "starved": starved,
            "jain": jain,
            "acks_lost": lost,
            "ap_share": share,
            "ap_share_saturated": fair_share,
            "station_shares_off": _shares_off(saturated),
            "segments_an_ack": over_runs(plain, lambda run: 1.0 / _acks_a_segment(plain, run)),
            "timeouts_added": paired_runs(plain, fair, _timeouts),
        },
        told={"ap": ap},
    )


def _timeouts(simulation: Simulation, run: int) -> float:
    return float(simulation.runs[run].answer["metrics"]["tcp_timeouts"])


def _shares_off(simulation: Simulation) -> Interval:
    """Return the largest distance of a node's share of the successes from an equal share."""
    nodes = [run.answer["stations"] for run in simulation.runs]
    count = len(nodes[0])

    def share(place: int, run: int) -> float:
        everybody = sum(node["successes"] for node in nodes[run])
        return float(nodes[run][place]["successes"] / everybody)

    return most(
        off(over_runs(simulation, lambda run, place=place: share(place, run)), 1.0 / count)  # type: ignore[misc]
        for place in range(count)
    )


def _ap_share(simulation: Simulation, run: int) -> float:
    stations = simulation.runs[run].answer["stations"]
    everybody = sum(station["successes"] for station in stations)
    return float(
        next(station["successes"] for station in stations if station["name"] == "ap") / everybody
    )


@item("L.fig2")
def fig2(bench: Bench) -> Found:
    nodes = [
        *(Node(f"s{k}", 0.0, -0.75 * k, f"station {k + 1}", "box", 0.6) for k in range(3)),
        Node("ap", 3.4, -0.75, "access point", "box", 0.75),
        Node("server", 5.8, -0.75, "receivers", "box", 0.65),
        Node("data", 2.3, 0.3, "→ data, a queue at each station", "none", 0.1),
        Node("acks", 2.3, -1.85, "← TCP ACKs, one queue for all", "none", 0.1),
    ]
    edges = [
        Edge("s0", "ap", "", 0.1),
        Edge("ap", "s0", "", 0.1),
        Edge("s1", "ap", "", 0.1),
        Edge("ap", "s1", "", 0.1),
        Edge("s2", "ap", "", 0.1),
        Edge("ap", "s2", "", 0.1),
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
    return Found(
        data=Data(["from", "to", "what", "queue"], links),
        figure=diagram(nodes, edges, height=2.2),
        values={"ten": shares[10]},
        told={"each": ", ".join(f"{share} with {n}" for n, share in gaps.items())},
    )


@item("L.fig3")
def fig3(bench: Bench) -> Found:
    fair = bench.simulate("uploads")
    ranks = _by_rank(fair)
    places = list(range(1, len(ranks) + 1))
    series = [Series("simulation", places, ranks, "bars")]
    jain, starved = fair.metrics["jain_index"], _starved(fair)
    queue, lost = fair.metrics["ap_queue_packets"], fair.metrics["ap_queue_drop_probability"]
    # With twenty uploads the stations' queues take minutes to fill.
    long = bench.simulate("uploads", {"run.warmup": "200 s", "run.duration": "1000 s"}, quick={})
    counts = [run.answer["counts"] for run in long.runs]
    delayed = {
        name: _delayed(bench, stations, timeout)
        for name, stations, timeout in (
            ("", 20, "100 ms"),
            ("_ten", 10, "100 ms"),
            ("_five", 5, "100 ms"),
            ("_late", 20, "200 ms"),
        )
    }
    queued = over_runs(
        long,
        lambda run: (
            counts[run]["station_queue_drops"]
            / (counts[run]["station_queue_drops"] + counts[run]["ap_queue_drops"])
        ),
    )
    given_up = over_runs(
        long, lambda run: counts[run]["mac_drops"] / counts[run]["station_queue_drops"]
    )
    return Found(
        series,
        values={
            "jain": jain,
            "starved": starved,
            "ap_queue": queue,
            "acks_lost": lost,
            "acks_a_segment": over_runs(fair, lambda run: _acks_a_segment(fair, run)),
            **{f"acks_a_segment_delayed{name}": value for name, value in delayed.items()},
            "backlogged_share": over_runs(fair, lambda run: _backlogged_share(fair, run)),
            "collisions_ap": fair.metrics["collision_probability_ap"],
            "lost_at_stations": queued,
            "given_up": given_up,
        },
    )


def _delayed(bench: Bench, stations: int, timeout: str) -> Interval:
    """Return TCP ACKs on the air per segment when receivers acknowledge every second segment."""
    every = {"every": 2, "timeout": timeout}
    uploads = bench.simulate(
        "uploads", {"stations.station.count": stations, "flows.station.tcp.delayed_ack": every}
    )
    return over_runs(uploads, lambda run: _acks_a_segment(uploads, run))


def _acks_a_segment(simulation: Simulation, run: int) -> float:
    """Return the access point's successes over the sum of all stations' successes."""
    share = _ap_share(simulation, run)
    return share / (1.0 - share)


def _backlogged_share(simulation: Simulation, run: int) -> float:
    """Return the share of stations with a packet, without the access point's ACKs.

    The access point holds an ACK at most while its queue is not empty. This share of time is at
    most its mean number of packets.
    """
    answer = simulation.runs[run].answer
    metrics = answer["metrics"]
    stations = metrics["mean_backlogged_nodes"] - metrics["ap_queue_packets"]
    return float(stations / (len(answer["stations"]) - 1))


#: The largest ratio differs by nearly the allowed 10 %. This many runs of full length give it to
#: 0.5 %.
_OFTEN_SATURATED = {"run.replications": 100}
#: CWmin of the access point and of the stations, as the paper counts them.
_RATIOS = ((32, 32), (32, 64), (32, 128), (32, 256))


@item("L.cwmin")
def cwmin(bench: Bench) -> Found:
    runs = {
        station / ap: bench.simulate(
            "saturated",
            {
                "stations.station.count": 1,
                "mac.edca": {
                    "ap": {"AC_BE": access(ap)},
                    "stations": {"AC_BE": access(station)},
                },
                **_OFTEN_SATURATED,
            },
            quick={},
        )
        for ap, station in _RATIOS
    }
    ratios = {
        ratio: over_runs(one, lambda run, one=one: _acks_a_segment(one, run))  # type: ignore[misc]
        for ratio, one in runs.items()
    }
    series = [
        Series("simulation", list(ratios), [*ratios.values()], "simulation"),
        Series("ratio of CWmin", list(ratios), list(ratios), "dotted"),
    ]
    return Found(
        series,
        axes={"x_ticks": list(ratios)},
        values={
            "ratio_off": most(off(value, ratio) for ratio, value in ratios.items()),
            "least_step": least(
                quotients(more, less, _acks_a_segment) for less, more in pairwise(runs.values())
            ),
        },
        told={
            "each": ", ".join(f"{words(value)} for {ratio:g}" for ratio, value in ratios.items())
        },
    )


def access(slots: int, aifs: str = "50 us") -> dict[str, object]:
    """Return an access category that differs only in AIFS and CWmin (as the paper counts it)."""
    return {"aifs": aifs, "cw_min": slots - 1, "cw_max": 1023, "txop_limit": "0 us"}


#: DIFS, the AIFS of the paper's data frames, and values between and above them, us.
_AIFS_US = (50, 70, 90, 130, 170, 210)


@item("L.aifs")
def aifs(bench: Bench) -> Found:
    shares = []
    for wait_us in _AIFS_US:
        edca = {
            "ap": {"AC_BE": access(32)},
            "stations": {"AC_BE": access(32, f"{wait_us} us")},
        }
        one = bench.simulate(
            "saturated", {"stations.station.count": 1, "mac.edca": edca, **_OFTEN_SATURATED}
        )
        shares.append(over_runs(one, lambda run, one=one: 1.0 - _ap_share(one, run)))  # type: ignore[misc]
    series = [Series("simulation", _AIFS_US, [*shares], "simulation")]
    growth = [_less(later, earlier) for earlier, later in pairwise(shares)]
    return Found(
        series,
        values={"growth": most(growth)},
        told={
            "each": ", ".join(
                f"{words(share)} ({wait_us} us)"
                for wait_us, share in zip(_AIFS_US, shares, strict=True)
            )
        },
    )


def _less(one: Interval, other: Interval) -> Interval:
    """Return the difference of two numbers; its interval is conservative."""
    difference = mean(one) - mean(other)
    if None in (one.low, one.high, other.low, other.high):
        return Interval(difference, None, None, one.n)
    low, high = one.low - other.high, one.high - other.low  # type: ignore[operator]
    return Interval(difference, low, high, one.n)


@item("L.mixed")
def mixed(bench: Bench) -> Found:
    both, beside = bench.simulate("mixed"), bench.simulate("beside-udp")
    ranks = {"uploads and downloads": _by_rank(both), "TCP and UDP uploads": _by_rank(beside)}
    series = [
        Series(name, list(range(1, len(some) + 1)), some, "simulation")
        for name, some in ranks.items()
    ]

    def share(simulation: Simulation, flows: str, run: int) -> float:
        records = simulation.runs[run].answer["flows"]
        mine = sum(one["goodput_bps"] for one in records if one["station"].startswith(flows))
        return float(mine / sum(one["goodput_bps"] for one in records))

    down = over_runs(both, lambda run: share(both, "reader", run))
    tcp = over_runs(beside, lambda run: share(beside, "tcp", run))
    return Found(
        series,
        values={
            "jain_both_ways": both.metrics["jain_index"],
            "jain_udp": beside.metrics["jain_index"],
            "share_of_downloads": down,
            "share_of_tcp": tcp,
        },
    )
