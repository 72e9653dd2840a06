"""Paper L, Fig. 1 to 3: uploads that starve each other, and uploads that do not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from airtcp.results import Simulation
from airtcp.stats import Interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Kind, Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.diagram import Edge, Node, diagram
from airtcp_papers.common.item import Cell, Data
from airtcp_papers.common.measure import (
    Answer,
    ap_share,
    difference,
    least,
    less,
    most,
    off,
    over_runs,
    ratio,
)

_KILO = 1e3


def _by_rank(label: str, simulation: Simulation, kind: Kind) -> Series:
    """Return goodput by rank in each run, lowest flow first, kb/s."""

    def of_rank(rank: int, answer: Answer) -> float:
        return float(sorted(flow["goodput_bps"] for flow in answer["flows"])[rank] / _KILO)

    ranks = range(len(simulation.runs[0].answer["flows"]))
    y = [over_runs(simulation, partial(of_rank, rank)) for rank in ranks]
    return Series(label, [rank + 1 for rank in ranks], y, kind)


def _starved(answer: Answer) -> float:
    """Return how many flows starve in a run: they have less than 1 % of an equal share."""
    return float(sum(flow["starved"] for flow in answer["flows"]))


@item("L.fig1")
def fig1(bench: Bench) -> Found:
    plain = bench.simulate("plain")
    ap = next(station for station in plain.stations if station.name == "ap")
    saturated = bench.simulate("saturated", quick={})
    fair = bench.simulate("uploads", {"stations.station.count": 10})
    return Found(
        [_by_rank("simulation", plain, "bars")],
        values={
            "starved": over_runs(plain, _starved),
            "jain": plain.metrics["jain_index"],
            "acks_lost": plain.metrics["ap_queue_drop_probability"],
            "ap_share": over_runs(plain, ap_share),
            "ap_share_saturated": over_runs(saturated, ap_share),
            "station_shares_off": _shares_off(saturated),
            "segments_an_ack": over_runs(plain, lambda answer: 1.0 / _acks_a_segment(answer)),
            "timeouts_added": difference(plain, fair, "tcp_timeouts"),
        },
        told={"ap": ap},
    )


def _shares_off(simulation: Simulation) -> Interval:
    """Return the largest distance of a node's share of the successes from an equal share."""
    count = len(simulation.runs[0].answer["stations"])

    def share(place: int, answer: Answer) -> float:
        nodes = answer["stations"]
        return float(nodes[place]["successes"] / sum(node["successes"] for node in nodes))

    return most(
        off(over_runs(simulation, partial(share, place)), 1.0 / count) for place in range(count)
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
        *(Edge(*ends, "", 0.1) for k in range(3) for ends in ((f"s{k}", "ap"), ("ap", f"s{k}"))),
        Edge("ap", "server", "", kind="wire"),
    ]
    links: list[list[Cell]] = [
        ["station k", "access point", "TCP data", "one queue for each station"],
        ["access point", "station k", "TCP ACKs", "one queue for all"],
    ]
    shares = {
        n: over_runs(bench.simulate("plain", {"stations.station.count": n}), ap_share)
        for n in (1, 2, 5, 10)
    }
    return Found(
        data=Data(["from", "to", "what", "queue"], links),
        figure=diagram(nodes, edges, height=2.2),
        values={"ten": shares[10]},
        told={"shares": shares},
    )


@item("L.fig3")
def fig3(bench: Bench) -> Found:
    fair = bench.simulate("uploads")
    # With twenty uploads the stations' queues take minutes to fill.
    long = bench.simulate("uploads", {"run.warmup": "200 s", "run.duration": "1000 s"}, quick={})
    delayed = {
        f"acks_a_segment_delayed{name}": _delayed(bench, stations, timeout)
        for name, stations, timeout in (
            ("", 20, "100 ms"),
            ("_ten", 10, "100 ms"),
            ("_five", 5, "100 ms"),
            ("_late", 20, "200 ms"),
        )
    }
    return Found(
        [_by_rank("simulation", fair, "bars")],
        values={
            "jain": fair.metrics["jain_index"],
            "starved": over_runs(fair, _starved),
            "ap_queue": fair.metrics["ap_queue_packets"],
            "acks_lost": fair.metrics["ap_queue_drop_probability"],
            "acks_a_segment": over_runs(fair, _acks_a_segment),
            **delayed,
            "backlogged_share": over_runs(fair, _backlogged_share),
            "collisions_ap": fair.metrics["collision_probability_ap"],
            "lost_at_stations": over_runs(long, _lost_at_stations),
            "given_up": over_runs(long, given_up),
        },
    )


def _delayed(bench: Bench, stations: int, timeout: str) -> Interval:
    """Return TCP ACKs on the air per segment when receivers acknowledge every second segment."""
    every = {"every": 2, "timeout": timeout}
    uploads = bench.simulate(
        "uploads", {"stations.station.count": stations, "flows.station.tcp.delayed_ack": every}
    )
    return over_runs(uploads, _acks_a_segment)


def _lost_at_stations(answer: Answer) -> float:
    """Return the share of all packets dropped at queues that stations dropped."""
    counts = answer["counts"]
    at_stations = counts["station_queue_drops"]
    return float(at_stations / (at_stations + counts["ap_queue_drops"]))


def given_up(answer: Answer) -> float | None:
    """Return how many packets the MAC gave up per packet that a station's queue dropped."""
    dropped = answer["counts"]["station_queue_drops"]
    return float(answer["counts"]["mac_drops"] / dropped) if dropped else None


def _acks_a_segment(answer: Answer) -> float:
    """Return the access point's successes over the sum of all stations' successes."""
    share = ap_share(answer)
    return share / (1.0 - share)


def _backlogged_share(answer: Answer) -> float:
    """Return the share of stations with a packet, without the access point's ACKs.

    The access point holds an ACK at most while its queue is not empty. This share of time is at
    most its mean number of packets.
    """
    metrics = answer["metrics"]
    stations = metrics["mean_backlogged_nodes"] - metrics["ap_queue_packets"]
    return float(stations / (len(answer["stations"]) - 1))


#: The largest ratio differs by nearly the allowed 10 %. This many runs of full length give it to
#: 0.5 %.
_OFTEN_SATURATED = {"run.replications": 100}
#: CWmin of the access point and of the stations, as the paper counts it.
_AP, _STATIONS = 32, (32, 64, 128, 256)


@item("L.cwmin")
def cwmin(bench: Bench) -> Found:
    runs = {
        slots / _AP: bench.simulate(
            "saturated",
            {"stations.station.count": 1, "mac.edca": _edca(slots), **_OFTEN_SATURATED},
            quick={},
        )
        for slots in _STATIONS
    }
    ratios = {wanted: over_runs(one, _acks_a_segment) for wanted, one in runs.items()}
    series = [
        Series("simulation", list(ratios), [*ratios.values()], "simulation"),
        Series("ratio of CWmin", list(ratios), list(ratios), "dotted"),
    ]
    return Found(
        series,
        axes={"x_ticks": list(ratios)},
        values={
            "ratio_off": most(off(value, wanted) for wanted, value in ratios.items()),
            "least_step": least(
                ratio(more, fewer, _acks_a_segment) for fewer, more in pairwise(runs.values())
            ),
        },
        told={"ratios": ratios},
    )


def _edca(slots: int, aifs: str = "50 us") -> dict[str, dict[str, object]]:
    """Return categories that differ only in AIFS and CWmin (as the paper counts it)."""
    return {
        side: {"AC_BE": {"aifs": wait, "cw_min": cw - 1, "cw_max": 1023, "txop_limit": "0 us"}}
        for side, cw, wait in (("ap", _AP, "50 us"), ("stations", slots, aifs))
    }


def edca(values: Mapping[str, float]) -> dict[str, object]:
    """Return the keys of the stations' CWmin."""
    return {"mac.edca": _edca(int(values["w0"]))}


#: DIFS, the AIFS of the paper's data frames, and values between and above them, us.
_AIFS_US = (50, 70, 90, 130, 170, 210)


@item("L.aifs")
def aifs(bench: Bench) -> Found:
    shares = []
    for wait_us in _AIFS_US:
        categories = _edca(_AP, f"{wait_us} us")
        one = bench.simulate(
            "saturated", {"stations.station.count": 1, "mac.edca": categories, **_OFTEN_SATURATED}
        )
        shares.append(over_runs(one, lambda answer: 1.0 - ap_share(answer)))
    series = [Series("simulation", _AIFS_US, [*shares], "simulation")]
    growth = [less(later, earlier) for earlier, later in pairwise(shares)]
    return Found(
        series,
        values={"growth": most(growth)},
        told={"shares": {f"{us} us": one for us, one in zip(_AIFS_US, shares, strict=True)}},
    )


@item("L.mixed")
def mixed(bench: Bench) -> Found:
    both, beside = bench.simulate("mixed"), bench.simulate("beside-udp")
    series = [
        _by_rank("uploads and downloads", both, "simulation"),
        _by_rank("TCP and UDP uploads", beside, "simulation"),
    ]

    def share(flows: str, answer: Answer) -> float:
        records = answer["flows"]
        mine = sum(one["goodput_bps"] for one in records if one["station"].startswith(flows))
        return float(mine / sum(one["goodput_bps"] for one in records))

    return Found(
        series,
        values={
            "jain_both_ways": both.metrics["jain_index"],
            "jain_udp": beside.metrics["jain_index"],
            "share_of_downloads": over_runs(both, partial(share, "reader")),
            "share_of_tcp": over_runs(beside, partial(share, "tcp")),
        },
    )
