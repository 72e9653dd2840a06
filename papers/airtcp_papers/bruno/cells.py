"""Reproduce paper B, Fig. 1 to 3: goodput, windows and active stations, TCP versus UDP.

Windows are given as in the paper, W = CW + 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Final

from airtcp.models.airtime import HOT_SPOT
from airtcp.results import Simulation
from airtcp.stats import Interval

from airtcp_papers.bruno.model import theoretical_limit
from airtcp_papers.common.bench import Bench, Changes
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import (
    Answer,
    difference,
    least,
    mapped,
    mean,
    most,
    over_runs,
    ratio,
    scaled,
)

STATIONS = (1, 2, 3, 5, 7, 10, 15, 20)
MBPS = 1e6
#: The paper has five runs, which leave its second decimals open. Quick runs have fewer replications
#: of the same length, because overflowing queues take a while to settle.
_LESS_OFTEN: Final[Changes] = {"run.replications": 40}
#: Two values are near their bounds: the access point's UDP goodput with 20 stations relative to
#: one, and the active stations of 20 with TCP.
_MORE_OFTEN, _TWICE_AS_OFTEN = 300, 200
#: Quick runs of other rules, and of UDP except for that ratio: both are far from their bounds.
_FEW: Final[Changes] = {"run.replications": 20}
#: As in most operating systems; RFC 6298, which the scenario follows, says 1 s.
_SHORT_RTO = {"flows.station.tcp.min_rto": "200 ms"}
#: Rules and frame limits found by a search for the paper's numbers; the paper mentions none of
#: them.
FITTED: Final[Mapping[str, Any]] = {
    "mac.rules": {"post_backoff": False, "after_collision": "difs"},
    "mac.short_retry_limit": 4,
    "phy.cw_max": 127,
}
#: The corresponding TCP rules.
FITTED_TCP: Final[Mapping[str, Any]] = {
    **FITTED,
    "flows.station.tcp.rules": {"preset": "ns-2"},
}
#: Constant-rate sources at ten times a station's share, with initially empty queues.
_CONSTANT_RATE = {
    "ap.queue": {"discipline": "fifo", "limit": 100},
    "stations.station.queue": {"discipline": "fifo", "limit": 100},
    "flows.up.application.rate": "500 kb/s",
    "flows.down.application.rate": "2 Mb/s",
}


def downloads(
    bench: Bench,
    stations: int,
    changes: Changes | None = None,
    *,
    often: int = 100,
    quick: Changes = _LESS_OFTEN,
    file: str = "hotspot",
) -> Simulation:
    """Simulate the TCP case; `often` is the number of runs, `quick` the keys of a quick run.

    `changes` as in `Bench.scenario`.
    """
    keys = {"stations.station.count": stations, "run.replications": often, **(changes or {})}
    return bench.simulate(file, keys, quick=quick)


#: The UDP case.
datagrams: Final = partial(downloads, quick=_FEW, file="datagrams")


def _downlink(answer: Answer) -> float:
    """Return the access point's goodput in a replication, b/s."""
    flows = answer["flows"]
    return float(sum(flow["goodput_bps"] for flow in flows if flow["direction"] == "download"))


def udp_kept(one: Simulation, twenty: Simulation) -> Interval:
    """Compare the access point's saturated UDP goodput with 20 stations and with one."""
    return ratio(twenty, one, _downlink)


@item("B.fig1")
def fig1(bench: Bench) -> Found:
    tcp = [downloads(bench, n) for n in STATIONS]
    udp = [datagrams(bench, n) for n in STATIONS]
    limit = theoretical_limit()
    # Frame and MAC ACK each have 2 us of propagation delay.
    apart = theoretical_limit(replace(HOT_SPOT, propagation_delay_ns=2_000))
    downlink: list[Value] = [over_runs(one, lambda answer: _downlink(answer) / MBPS) for one in udp]
    series = [
        Series("TCP", STATIONS, [*scaled(tcp, "goodput_bps", MBPS)], "simulation"),
        Series("UDP, all", STATIONS, [*scaled(udp, "goodput_bps", MBPS)], "simulation"),
        Series("UDP, of the access point", STATIONS, downlink, "simulation"),
        Series("limit without contention", STATIONS, [limit.goodput_bps / MBPS] * 8, "dotted"),
        Series("paper", (1, 1, 20), (0.474 * 11, 7.28, 0.93 * 0.474 * 11), "paper"),
        Series("paper, 15 % of ours with one", (20,), (0.15 * mean(downlink[0]),), "paper"),
    ]
    share = udp_kept(*(datagrams(bench, n, often=_MORE_OFTEN, quick={}) for n in (1, 20)))
    kept = ratio(tcp[-1], tcp[0], "goodput_bps")
    short = [downloads(bench, n, _SHORT_RTO, quick=_FEW) for n in (1, 20)]
    kept_short = ratio(short[1], short[0], "goodput_bps")
    fitted = [downloads(bench, n, FITTED_TCP, quick=_FEW) for n in (1, 20)]
    rate = bench.scenario("hotspot").phy.data_rate.bps
    used = mapped(tcp[0], "goodput_bps", lambda goodput: goodput / rate)
    return Found(
        series,
        values={
            "utilization": used,
            "tcp_most_over_one": most(ratio(one, tcp[0], "goodput_bps") for one in tcp[1:]),
            "udp_step": most(ratio(b, a, "goodput_bps") for a, b in pairwise(udp)),
            "collisions": tcp[-1].metrics["collision_probability"],
            "collisions_added": difference(tcp[-1], tcp[0], "collision_probability"),
            "udp_collisions": udp[-1].metrics["collision_probability"],
            "limit_far": apart.goodput_bps,
            "tcp_ratio": kept,
            "tcp_ratio_short_rto": kept_short,
            "tcp_ratio_fitted": ratio(fitted[1], fitted[0], "goodput_bps"),
            "tcp_jain": least(one.metrics["jain_index"] for one in tcp[1:]),
            "udp_ratio_fitted": udp_kept(*(datagrams(bench, n, FITTED) for n in (1, 20))),
            "utilization_fitted": mapped(fitted[0], "goodput_bps", lambda goodput: goodput / rate),
            "udp_ratio": share,
            "limit": limit.goodput_bps,
            "limit_utilization": limit.utilization,
        },
    )


def _windows(simulations: list[Simulation], side: str) -> list[Interval]:
    return [mapped(one, f"mean_cw_{side}", lambda cw: cw + 1.0) for one in simulations]


@item("B.fig2")
def fig2(bench: Bench) -> Found:
    tcp = [downloads(bench, n) for n in STATIONS]
    udp = [datagrams(bench, n) for n in STATIONS]
    curves = {
        f"{case}, {name}": _windows(simulations, side)
        for case, simulations in (("TCP", tcp), ("UDP", udp))
        for name, side in (("access point", "ap"), ("stations", "stations"))
    }
    series = [Series(name, STATIONS, [*some], "simulation") for name, some in curves.items()]
    series.append(Series("paper", (20,), (59.0,), "paper"))
    ap, stations = ([mean(one) for one in curves[f"TCP, {who}"]] for who in _WHO)
    all_tcp = [one for who in _WHO for one in _windows(tcp, _SIDES[who])]
    fewer = {
        limit: _windows([datagrams(bench, 20, {"mac.short_retry_limit": limit})], "stations")[0]
        for limit in (3, 4)
    }
    last = curves["UDP, stations"][-1]
    fitted = _windows([datagrams(bench, 20, FITTED)], "stations")[0]
    collisions = udp[-1].metrics["collision_probability"]
    return Found(
        series,
        values={
            "tcp_smallest": least(all_tcp),
            "tcp_largest": most(all_tcp),
            "tcp_stations_less_ap": least(over_runs(one, _stations_less_ap) for one in tcp),
            "udp_stations": last,
            "udp_fitted": fitted,
            "udp_four_transmissions": fewer[4],
            "udp_three_transmissions": fewer[3],
        },
        told={
            "least_ap": min(ap),
            "most_ap": max(ap),
            "least_stations": min(stations),
            "most_stations": max(stations),
            "collisions": collisions,
        },
    )


_SIDES = {"access point": "ap", "stations": "stations"}
_WHO = tuple(_SIDES)


def _stations_less_ap(answer: Answer) -> float:
    """Return the stations' mean window minus the access point's."""
    return float(answer["metrics"]["mean_cw_stations"] - answer["metrics"]["mean_cw_ap"])


@item("B.fig3")
def fig3(bench: Bench) -> Found:
    name = "active_stations_after_ap_success"
    tcp: list[Value] = [downloads(bench, n).metrics[name] for n in STATIONS[:-1]]
    tcp.append(downloads(bench, STATIONS[-1], often=_TWICE_AS_OFTEN, quick={}).metrics[name])
    runs = {n: downloads(bench, n) for n in (1, 20)}
    udp: list[Value] = [datagrams(bench, n).metrics[name] for n in STATIONS]
    constant = datagrams(bench, 20, _CONSTANT_RATE)
    short = downloads(bench, 20, _SHORT_RTO, quick=_FEW).metrics[name]
    fitted = {n: downloads(bench, n, FITTED_TCP, quick=_FEW).metrics[name] for n in (1, 20)}
    always = {"mac.rules": {"post_backoff": True}}
    post = downloads(bench, 1, always, quick=_FEW).metrics[name]
    series = [
        Series("TCP", STATIONS, tcp, "simulation"),
        Series("UDP", STATIONS, udp, "simulation"),
        Series("paper", (1, 20), (0.78, 0.95), "paper"),
    ]
    return Found(
        series,
        values={
            "one": tcp[0],
            "twenty": tcp[-1],
            "growth": difference(runs[20], runs[1], name),
            "twenty_share": mapped(runs[20], name, lambda active: active / 20.0),
            "udp_share": mapped(constant, name, lambda active: active / 20.0),
            "one_fitted": fitted[1],
            "twenty_fitted": fitted[20],
            "one_post_backoff": post,
            "twenty_short_rto": short,
        },
    )
