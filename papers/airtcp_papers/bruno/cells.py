"""Reproduce paper B, Fig. 1 to 3: goodput, windows and active stations, TCP versus UDP.

Windows are given as in the paper, W = CW + 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from airtcp.models.airtime import HOT_SPOT
from airtcp.results import Simulation
from airtcp.stats import Interval, student_interval

from airtcp_papers.bruno.model import theoretical_limit
from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series, chart, table_of
from airtcp_papers.common.item import Outcome, Value, item
from airtcp_papers.common.measure import (
    difference,
    least,
    mapped,
    mean,
    most,
    over_runs,
    ratio,
    scaled,
    words,
)

STATIONS = (1, 2, 3, 5, 7, 10, 15, 20)
MBPS = 1e6
_X = "stations"
#: The paper has five runs, which leave its second decimals open. Quick runs have fewer replications
#: of the same length, because overflowing queues take a while to settle.
_OFTEN = {"run.replications": 100}
_LESS_OFTEN = {"run.replications": 40}
#: Two values are near their bounds: the access point's UDP goodput with 20 stations relative to
#: one, and the active stations of 20 with TCP.
_MORE_OFTEN = {"run.replications": 300}
_TWICE_AS_OFTEN = {"run.replications": 200}
#: Quick runs of other rules, and of UDP except for that ratio: both are far from their bounds.
_FEW = {"run.replications": 20}
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


def downloads(bench: Bench, stations: int, **changes: object) -> Simulation:
    """Simulate the TCP case with `stations` stations; `changes` as in `Bench.scenario`."""
    keys = {"stations.station.count": stations, **_OFTEN, **changes}
    return bench.simulate("hotspot", keys, quick=_LESS_OFTEN)


def downloads_more_often(bench: Bench, stations: int) -> Simulation:
    """Simulate the TCP case with enough runs for a number near its bound."""
    keys = {"stations.station.count": stations, **_TWICE_AS_OFTEN}
    return bench.simulate("hotspot", keys, quick={})


def downloads_beside(bench: Bench, stations: int, **changes: object) -> Simulation:
    """Simulate the TCP case with other rules, which do not affect verdicts."""
    keys = {"stations.station.count": stations, **_OFTEN, **changes}
    return bench.simulate("hotspot", keys, quick=_FEW)


def datagrams(bench: Bench, stations: int, **changes: object) -> Simulation:
    """Simulate the UDP case with `stations` stations."""
    keys = {"stations.station.count": stations, **_OFTEN, **changes}
    return bench.simulate("datagrams", keys, quick=_FEW)


def datagrams_more_often(bench: Bench, stations: int) -> Simulation:
    """Simulate the UDP case with enough runs for a ratio near its bound."""
    keys = {"stations.station.count": stations, **_MORE_OFTEN}
    return bench.simulate("datagrams", keys, quick={})


def _downlink(simulation: Simulation) -> list[float]:
    """Return the access point's goodput in each replication, b/s."""
    return [
        sum(flow["goodput_bps"] for flow in run.answer["flows"] if flow["direction"] == "download")
        for run in simulation.runs
    ]


def udp_kept(one: Simulation, twenty: Simulation) -> Interval:
    """Compare the access point's saturated UDP goodput with 20 stations and with one."""
    pairs = zip(_downlink(twenty), _downlink(one), strict=True)
    return student_interval([above / below for above, below in pairs], one.confidence)


@item(
    "B.fig1",
    title="Goodput against stations, TCP and UDP",
    caption="Endless downloads over TCP, an ACK for every second segment; and saturated UDP, the "
    "access point's packets and all.",
    states="TCP hardly depends on the number of stations: with 20 it has 93 % of what one has, a "
    "channel utilization of 0.474. UDP collapses: with 20 stations the access point has 15 % of "
    "what it has with one. At most 7.28 Mb/s are possible, a utilization of 0.66.",
)
def fig1(bench: Bench) -> Outcome:
    tcp = [downloads(bench, n) for n in STATIONS]
    udp = [datagrams(bench, n) for n in STATIONS]
    limit = theoretical_limit()
    # Frame and MAC ACK each have 2 us of propagation delay.
    apart = theoretical_limit(replace(HOT_SPOT, propagation_delay_ns=2_000))
    downlink: list[Value] = [
        student_interval([goodput / MBPS for goodput in _downlink(one)], one.confidence)
        for one in udp
    ]
    series = [
        Series("TCP", STATIONS, [*scaled(tcp, "goodput_bps", MBPS)], "simulation"),
        Series("UDP, all", STATIONS, [*scaled(udp, "goodput_bps", MBPS)], "simulation"),
        Series("UDP, of the access point", STATIONS, downlink, "simulation"),
        Series("limit without contention", STATIONS, [limit.goodput_bps / MBPS] * 8, "dotted"),
        Series("paper", (1, 1, 20), (0.474 * 11, 7.28, 0.93 * 0.474 * 11), "paper"),
        Series("paper, 15 % of ours with one", (20,), (0.15 * mean(downlink[0]),), "paper"),
    ]
    share = udp_kept(*(datagrams_more_often(bench, n) for n in (1, 20)))
    kept = ratio(tcp[-1], tcp[0], "goodput_bps")
    short = [downloads_beside(bench, n, **_SHORT_RTO) for n in (1, 20)]
    kept_short = ratio(short[1], short[0], "goodput_bps")
    fitted = [downloads_beside(bench, n, **FITTED_TCP) for n in (1, 20)]
    rate = bench.scenario("hotspot").phy.data_rate.bps
    used = mapped(tcp[0], "goodput_bps", lambda goodput: goodput / rate)
    return Outcome(
        data=table_of(series, x=_X, y="goodput (Mb/s)"),
        found=f"One download uses {words(used)} of the channel; twenty together get {words(kept)} "
        f"of its goodput, {words(kept_short)} if TCP's timer may expire after 200 ms: a full queue "
        "of 100 packets takes longer than that, so that timers expire and segments go twice. The "
        f"access point's UDP keeps {words(share)}.",
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
            "udp_ratio_fitted": udp_kept(*(datagrams(bench, n, **FITTED) for n in (1, 20))),
            "utilization_fitted": mapped(fitted[0], "goodput_bps", lambda goodput: goodput / rate),
            "udp_ratio": share,
            "limit": limit.goodput_bps,
            "limit_utilization": limit.utilization,
        },
        figure=chart(series, x=_X, y="goodput (Mb/s)", from_zero=True, whole_x=True),
    )


def _windows(simulations: list[Simulation], side: str) -> list[Interval]:
    return [mapped(one, f"mean_cw_{side}", lambda cw: cw + 1.0) for one in simulations]


@item(
    "B.fig2",
    title="Mean contention window against stations",
    caption="The mean window W = CW + 1 over backoffs drawn, of the access point and of the "
    "stations, in the TCP and the UDP case.",
    states="With TCP the windows are a little above 32, whatever the number of stations, and the "
    "access point's is below the stations'; with UDP they grow to 59 with 20 stations.",
)
def fig2(bench: Bench) -> Outcome:
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
        limit: _windows([datagrams(bench, 20, **{"mac.short_retry_limit": limit})], "stations")[0]
        for limit in (3, 4)
    }
    last = curves["UDP, stations"][-1]
    fitted = _windows([datagrams(bench, 20, **FITTED)], "stations")[0]
    collisions = udp[-1].metrics["collision_probability"]
    y = "mean contention window (slots)"
    return Outcome(
        data=table_of(series, x=_X, y=y),
        found=f"TCP: {min(ap):.1f} to {max(ap):.1f} at the access point, {min(stations):.1f} to "
        f"{max(stations):.1f} at the stations. UDP with 20 stations: {words(last)}, for "
        f"{words(collisions)} of the attempts collide. With at most four transmissions of a frame "
        f"it is {words(fewer[4])}, with three {words(fewer[3])}.",
        values={
            "tcp_smallest": least(all_tcp),
            "tcp_largest": most(all_tcp),
            "tcp_stations_less_ap": least(map(_stations_less_ap, tcp)),
            "udp_stations": last,
            "udp_fitted": fitted,
            "udp_four_transmissions": fewer[4],
            "udp_three_transmissions": fewer[3],
        },
        figure=chart(series, x=_X, y=y, from_zero=True, whole_x=True),
    )


_SIDES = {"access point": "ap", "stations": "stations"}
_WHO = tuple(_SIDES)


def _stations_less_ap(simulation: Simulation) -> Interval:
    """Return the stations' mean window minus the access point's."""
    answers = [run.answer["metrics"] for run in simulation.runs]
    return over_runs(
        simulation, lambda run: answers[run]["mean_cw_stations"] - answers[run]["mean_cw_ap"]
    )


@item(
    "B.fig3",
    title="Active stations after a success of the access point",
    caption="How many stations have a packet in their queue when an exchange of the access point "
    "has just succeeded, the TCP ACK that it caused included.",
    states="With UDP all of them; with TCP less than one on average, from 0.78 with one station "
    "to 0.95 with 20.",
)
def fig3(bench: Bench) -> Outcome:
    name = "active_stations_after_ap_success"
    tcp: list[Value] = [downloads(bench, n).metrics[name] for n in STATIONS[:-1]]
    tcp.append(downloads_more_often(bench, STATIONS[-1]).metrics[name])
    runs = {n: downloads(bench, n) for n in (1, 20)}
    udp: list[Value] = [datagrams(bench, n).metrics[name] for n in STATIONS]
    constant = datagrams(bench, 20, **_CONSTANT_RATE)
    short = downloads_beside(bench, 20, **_SHORT_RTO).metrics[name]
    fitted = {n: downloads_beside(bench, n, **FITTED_TCP).metrics[name] for n in (1, 20)}
    always = {"mac.rules": {"post_backoff": True}}
    post = downloads_beside(bench, 1, **always).metrics[name]
    series = [
        Series("TCP", STATIONS, tcp, "simulation"),
        Series("UDP", STATIONS, udp, "simulation"),
        Series("paper", (1, 20), (0.78, 0.95), "paper"),
    ]
    y = "active stations"
    return Outcome(
        data=table_of(series, x=_X, y=y),
        found=f"{words(tcp[0])} with one station and {words(tcp[-1])} with twenty; with UDP all "
        f"of them. A backoff that runs on after each success, as the standard has it, leaves "
        f"{words(post)} with one station; a least RTO of 200 ms makes it {words(short)} with "
        "twenty, for data that come again are acknowledged at once.",
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
        figure=chart(series, x=_X, y=y, y_scale="log", whole_x=True),
    )
