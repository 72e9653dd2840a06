"""Plant faults into healthy networks: a cause, its severity, and its effect on one group.

A planted fault at least doubles the metric of its group (for ACKs, it worsens it by a tenth).
Networks and severities with less effect are drawn again. `SEEDS` has the seeds of the table.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random

import airtcp
import networks
from networks import Written

#: Seeds of the faults and of the healthy networks of the table.
SEEDS = range(701, 731)
HEALTHY_SEEDS = range(801, 811)
#: Minimum factor by which a planted fault worsens the metric.
USUALLY_WORSE = 2.0
#: ACKs cost part of the airtime, and a fairness index is at most 1: smaller factors are noticeable.
#: With airtime fairness, a far station already has its share.
WORSE = {"acks": 1.1, "starving": 1.3, "slow-station": 1.3}
#: Faster packets do not improve a conversation below this delay (ITU-T G.114).
LATE_S = 0.15


@dataclass(frozen=True)
class Feels:
    """The metric by which a group notices a fault."""

    group: str
    part: str
    metric: str
    lower_is_better: bool


@dataclass(frozen=True)
class Fault:
    """A network with a fault, the network without it, and the affected group."""

    cause: str
    seed: int
    network: str
    healthy: Written
    faulty: Written
    feels: Feels


Planted = tuple[Written, Written, Feels]


def bufferbloat_ap(data: Written, draw: Random) -> Planted:
    """Plant a long FIFO at the access point, with calls and data in one category."""
    _more_downloads(data, draw)
    faulty = copy.deepcopy(data)
    faulty["ap"] = {"queue": {"discipline": "fifo", "limit": draw.randint(1500, 6000)}}
    faulty["mac"].pop("classify")
    return data, faulty, Feels(_callers(data), "download", "packet_delay_p95_s", True)


def bufferbloat_client(data: Written, draw: Random) -> Planted:
    """Plant a long FIFO at stations that call and back up at once, all in one category."""
    group = _callers(data)
    data["mac"].pop("classify")
    data["ap"].pop("scheduler")
    upload = _bulk(f"{group}-sync", group, "upload", data)
    upload["tcp"] |= {"small_queue": False}
    data["flows"].append(upload)
    faulty = copy.deepcopy(data)
    _group(data, group)["queue"] = dict(networks.MANAGED)
    _group(faulty, group)["queue"] = {"discipline": "fifo", "limit": draw.randint(1500, 6000)}
    return data, faulty, Feels(group, "upload", "packet_delay_p95_s", True)


def anomaly(data: Written, draw: Random) -> Planted:
    """Plant an oldest-first scheduler, with a far station at the lowest rate in both networks."""
    victims = _downloaders(data, draw)
    data["stations"].append({"name": "far", "count": 1, "mcs": 0, "spatial_streams": 1})
    data["flows"].append(_bulk("far", "far", "download", data))
    faulty = copy.deepcopy(data)
    faulty["ap"]["scheduler"] = "oldest"
    return data, faulty, Feels(victims, "download", "flow_goodput_bps", False)


def priority_inversion(data: Written, draw: Random) -> Planted:
    """Plant calls in the background category, below the data."""
    _more_downloads(data, draw)
    faulty = copy.deepcopy(data)
    faulty["mac"]["classify"] = {"udp": "AC_BK"}
    if draw.random() < 0.5:
        faulty["mac"]["classify"]["tcp_data"] = "AC_VI"
    return data, faulty, Feels(_callers(data), "upload", "packet_delay_p95_s", True)


def tiny_window(data: Written, draw: Random) -> Planted:
    """Plant a receive window of a few segments on a long path."""
    group = _downloaders(data, draw)
    for link in data["links"].values():
        link["delay"] = f"{draw.randint(20, 40)} ms"
    faulty = copy.deepcopy(data)
    window = {"receive_window": {"segments": draw.randint(4, 12)}}
    for flow in faulty["flows"]:
        if flow["stations"] == group and "tcp" in flow:
            flow["tcp"] |= window
    return data, faulty, Feels(group, "download", "flow_goodput_bps", False)


def ack_flood(data: Written, draw: Random) -> Planted:
    """Plant receivers that acknowledge each segment, where an ACK takes as much airtime as data."""
    _as_80211g(data)
    _more_downloads(data, draw)
    faulty = copy.deepcopy(data)
    for flow in faulty["flows"]:
        if "tcp" in flow:
            flow["tcp"] |= {"delayed_ack": {"every": 1}}
    return data, faulty, Feels(_downloaders(data, draw), "download", "flow_goodput_bps", False)


def slow_wire(data: Written, draw: Random) -> Planted:
    """Plant a link far slower than the Wi-Fi."""
    faulty = copy.deepcopy(data)
    for link in faulty["links"].values():
        link["rate"] = f"{draw.randint(5, 15)} Mb/s"
        link["queue"] = {"discipline": "fq-codel"}
    return data, faulty, Feels(_downloaders(data, draw), "download", "flow_goodput_bps", False)


def too_many_calls(data: Written, draw: Random) -> Planted:
    """Plant more calls than the channel supports."""
    data["phy"] = {"standard": "802.11n", "channel_width": "20 MHz", "mcs": draw.randint(3, 7)}
    _one_rate(data)
    faulty = copy.deepcopy(data)
    group = _callers(data)
    _group(faulty, group)["count"] = draw.randint(35, 60)
    return data, faulty, Feels(group, "upload", "packet_delay_p95_s", True)


def starving_uploads(data: Written, draw: Random) -> Planted:
    """Plant a short queue at the access point that loses the ACKs of many uploads."""
    _as_80211g(data)
    data["ap"] = {"queue": {"discipline": "fifo", "limit": 1000}}
    data["stations"].append({"name": "sender", "count": draw.randint(6, 12)})
    data["flows"].append(_bulk("sender", "sender", "upload", data))
    faulty = copy.deepcopy(data)
    faulty["ap"] = {"queue": {"discipline": "fifo", "limit": draw.randint(8, 20)}}
    return data, faulty, Feels("sender", "upload", "jain_index", False)


def short_queue(data: Written, draw: Random) -> Planted:
    """Plant a queue of a few packets at the access point."""
    faulty = copy.deepcopy(data)
    faulty["ap"] = {"queue": {"discipline": "fifo", "limit": draw.randint(2, 5)}}
    return data, faulty, Feels(_downloaders(data, draw), "download", "flow_goodput_bps", False)


def lossy_wire(data: Written, draw: Random) -> Planted:
    """Plant a link that loses packets."""
    for link in data["links"].values():
        link["delay"] = f"{draw.randint(15, 30)} ms"
    faulty = copy.deepcopy(data)
    for link in faulty["links"].values():
        link["loss"] = f"{draw.uniform(2.0, 5.0):.1f} %"
    return data, faulty, Feels(_downloaders(data, draw), "download", "flow_goodput_bps", False)


def no_aggregation(data: Written, draw: Random) -> Planted:
    """Plant transmission without aggregation."""
    faulty = copy.deepcopy(data)
    faulty["mac"]["aggregation"] = {"ampdu": "0 B"}
    return data, faulty, Feels(_downloaders(data, draw), "download", "flow_goodput_bps", False)


CAUSES: dict[str, Callable[[Written, Random], Planted]] = {
    "ap-queue": bufferbloat_ap,
    "client-queue": bufferbloat_client,
    "slow-station": anomaly,
    "priority": priority_inversion,
    "window": tiny_window,
    "acks": ack_flood,
    "wire": slow_wire,
    "calls": too_many_calls,
    "starving": starving_uploads,
    "short-queue": short_queue,
    "lossy-wire": lossy_wire,
    "aggregation": no_aggregation,
}


def faults(seeds: Iterable[int]) -> Iterator[Fault]:
    """Draw a fault for each seed, cycling through the causes."""
    names = list(CAUSES)
    for seed in seeds:
        yield _fault(names[seed % len(names)], seed)


def healthy(seeds: Iterable[int]) -> Iterator[Written]:
    """Draw a network without a fault for each seed, cycling through the kinds."""
    for seed in seeds:
        yield networks.NETWORKS[seed % len(networks.NETWORKS)](Random(seed))


def measured(data: Written, feels: Feels, *, seed: int = 1, replications: int = 4) -> float:
    """Simulate a network, and return a group's metric: infinite or 0 if nothing is delivered."""
    result = airtcp.simulate(airtcp.load(data), seed=seed, replications=replications)
    mean = result.simulation.groups[feels.group][feels.part][feels.metric].mean
    worst = math.inf if feels.lower_is_better else 0.0
    return worst if mean is None else mean


def harm(without: float, with_: float, feels: Feels) -> float:
    """Return the factor by which a value is worse than another."""
    return with_ / without if feels.lower_is_better else without / with_


def _fault(cause: str, seed: int) -> Fault:
    draw = Random(1_000 * seed)
    for _ in range(100):
        network = draw.choice(networks.NETWORKS)
        data, faulty, feels = CAUSES[cause](network(draw), draw)
        before, after = (measured(one, feels) for one in (data, faulty))
        late = feels.metric != "packet_delay_p95_s" or after > LATE_S
        hurts = after == 0.0 or harm(before, after, feels) >= WORSE.get(cause, USUALLY_WORSE)
        if late and hurts:
            return Fault(cause, seed, network.__name__, data, faulty, feels)
    raise ValueError(f"no {cause} of seed {seed} hurts anyone")


def _callers(data: Written) -> str:
    return str(
        next(one["stations"] for one in data["flows"] if one["application"]["kind"] == "call")
    )


def _downloaders(data: Written, draw: Random) -> str:
    """Return a group that downloads endlessly, or else the web users."""
    downloads = [one for one in data["flows"] if one["direction"] == "download"]
    endless = [one for one in downloads if one["application"]["kind"] == "bulk"]
    return str(draw.choice(endless or downloads)["stations"])


def _group(data: Written, name: str) -> Written:
    return next(one for one in data["stations"] if one["name"] == name)


def _more_downloads(data: Written, draw: Random) -> None:
    data["stations"].append({"name": "desk", "count": draw.randint(2, 5)})
    data["flows"].append(_bulk("desk", "desk", "download", data))


def _bulk(name: str, stations: str, direction: str, data: Written) -> Written:
    return networks.bulk(name, stations, direction, path=list(data["links"]))


def _as_80211g(data: Written) -> None:
    data["phy"] = {"standard": "802.11g"}
    data["mac"]["edca"] = {"preset": "wmm"}
    data["ap"].pop("scheduler")
    _one_rate(data)


def _one_rate(data: Written) -> None:
    for station in data["stations"]:
        station.pop("mcs", None)
        station.pop("spatial_streams", None)
