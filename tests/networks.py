"""Random networks with any combination of scenario keys, the newest standards most often."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airtcp.amendments import AMENDMENTS
from airtcp.scenario.profiles import names

#: Standards by band, the oldest first.
BANDS = {
    "2.4 GHz": ["802.11b", "802.11g", "802.11n", "802.11ax", "802.11be"],
    "5 GHz": ["802.11a", "802.11n", "802.11ac", "802.11ax", "802.11be"],
    "6 GHz": ["802.11ax", "802.11be"],
}
LINKS = [
    ["5 GHz/80 MHz", "6 GHz/160 MHz"],
    ["6 GHz/20 MHz", "5 GHz/20 MHz"],
    ["2.4 GHz/20 MHz", "5 GHz/40 MHz", "6 GHz/320 MHz"],
]
OFDMA = ["802.11ax", "802.11be"]
CATEGORIES = ["AC_VO", "AC_VI", "AC_BE", "AC_BK"]
ERRORS = ["0.01 %", "10 %", "99.9 %", {"rate": "30 %", "of": "1500 B"}]
#: Targets by kind of traffic.
TARGETS = {
    "bulk": {"flow_goodput": "> 3 Mb/s", "p95 rtt": "< 100 ms"},
    "udp": {"p95 packet_delay": "< 50 ms", "packet_loss": "< 1 %"},
    "call": {"p95 packet_delay": "< 50 ms", "packet_loss": "< 1 %"},
    "web": {"transfer_time": "< 1 s", "goodput": "> 1 Mb/s"},
}
#: Plug-ins that networks name: one of each kind.
OWN = """
import airtcp

for kind, base in (
    ("congestion", "Reno"), ("acks", "Delayed"), ("queues", "Fifo"), ("schedulers", "RoundRobin")
):
    part = getattr(airtcp, kind)
    part.register(f"own-{kind}", type("Own", (getattr(part, base),), {}))
"""
LOG = "time,size\n0,1\n0,100000\n0.2,3\n0.4,3000\n"

Data = dict[str, Any]


class Draw(random.Random):
    """A random generator with draws for networks."""

    def chance(self, share: float) -> bool:
        return self.random() < share

    def some(self, share: float, **options: Sequence[Any]) -> Data:
        """Pick each key with probability `share`, and one of its options."""
        return {key: self.choice(of) for key, of in options.items() if self.chance(share)}


def network(seed: int | str, log: Path) -> Data:
    """Return a network as scenario keys; it may replay the requests in the file `log`.

    In one network in five some keys contradict each other.
    """
    draw = Draw(seed)
    kind = draw.choice(["cell", "ofdma", "links", "cells", "cells"])
    band = draw.choice(list(BANDS))
    known = [one for one in BANDS[band] if kind != "ofdma" or one in OFDMA]
    standard = "802.11be" if kind == "links" else draw.choice([*known, *known[-2:]])
    older = [] if kind in ("links", "ofdma") else known[: known.index(standard) + 1]
    is_new = standard in AMENDMENTS
    cells = [f"c{one}" for one in range(draw.choice([1, 2, 3]))] if kind == "cells" else []
    if kind == "ofdma" and draw.chance(0.3):
        cells = ["c0", "c1"]
    links = {f"l{one}": _link(draw) for one in range(draw.choice([0, 0, 1, 2]))}
    radio = draw.choice(LINKS) if kind == "links" else []
    data: Data = {
        "phy": {"standard": standard} if radio else _phy(draw, standard, band),
        "mac": _mac(draw, kind, is_new=is_new),
        "ap": draw.some(0.3, queue=QUEUES) | ({"links": radio} if radio else {}),
        "stations": [
            _group(draw, f"g{one}", older, cells, radio)
            for one in range(max(draw.randint(1, 4), len(cells)))
        ],
        "run": _run(draw),
    }
    if kind != "ofdma" and draw.chance(0.3):
        schedulers = ("airtime", "round-robin", "own-schedulers")
        bursts = ("adaptive-burst", "fixed-burst")
        could: list[Data] = [{"scheduler": one} for one in schedulers[: 3 if is_new else 1]]
        if is_new:
            could += ({"profile": one} for one in names("access-point"))
        else:
            could += ({"access": {"scheme": one}} for one in bursts)
        data["ap"] = {**draw.choice(could), **({"links": radio} if radio else {})}
    if links:
        data["links"] = links
    if cells:
        _add_cells(draw, data, cells, older, is_even=kind == "ofdma")
    elif kind == "cell":
        for group in data["stations"]:
            group |= draw.some(0.1, hears=[[]])
    _add_flows(draw, data, list(links), log)
    return data


def measured(seed: int) -> str:
    """Return measured values of a network as a CSV table."""
    draw = Draw(f"measured {seed}")
    rows = ["goodput,1 Mb/s", "p95 rtt,20 ms", "collision_probability,0.1", "flow_goodput,9 Mb/s"]
    return "\n".join(["metric,value", *draw.sample(rows, 2)]) + "\n"


def _run(draw: Draw) -> Data:
    return {
        "warmup": draw.choice(["0 s", "0 s", "50 ms", "300 ms"]),
        "duration": draw.choice(["1 ms", "10 ms", "100 ms", "500 ms", "1 s"]),
        "replications": draw.choice([1, 2, 3, 4]),
        "seed": draw.randrange(2**32),
        "confidence": draw.choice([0.5, 0.9, 0.95, 0.99]),
    }


def _phy(draw: Draw, standard: str, band: str) -> Data:
    phy: Data = {"standard": standard}
    amendment = AMENDMENTS.get(standard)
    if amendment is None:
        return phy | draw.some(0.2, slot_time=["20 us"], cw_min=[0, 3])
    widest = amendment.widest_mhz[float(band.split()[0])]
    widths = [f"{one} MHz" for one in amendment.subcarriers if one <= widest]
    streams = [1, 2, 4]
    guards = [f"{one} ns" for one in amendment.guard_intervals_ns]
    return (
        phy
        | {"band": band}
        | draw.some(0.6, channel_width=widths)
        | draw.some(0.4, mcs=range(8), spatial_streams=streams, guard_interval=guards)
    )


QUEUES: list[Data] = [
    *({"limit": one} for one in (1, 5, 100, 1000)),
    *({"discipline": one, "limit": 10} for one in ("codel", "fq-codel", "red", "own-queues")),
    {"discipline": "per-flow", "limit": 50},
    {"discipline": "fq-codel", "limit": 100, "ack_filter": True},
    {"discipline": "codel", "ecn": True, "target": "1 ms", "interval": "2 s"},
]


def _link(draw: Draw) -> Data:
    rate = draw.some(0.7, rate=["64 kb/s", "8 Mb/s", "1 Gb/s"])
    queue = draw.some(0.5, queue=QUEUES) if rate else {}
    if rate:
        rate |= draw.some(0.3, up_rate=["64 kb/s", "2 Mb/s"])
    losses = ["0.1 %", "90 %", {"every": 50, "acks": True}]
    return (
        {"delay": draw.choice(["0 s", "1 ms", "30 ms"])}
        | rate
        | queue
        | draw.some(0.2, loss=losses)
    )


def _mac(draw: Draw, kind: str, *, is_new: bool) -> Data:
    mac = draw.some(0.15, short_retry_limit=[1, 7, 255], long_retry_limit=[1, 4])
    mac |= draw.some(0.3, rules=[{"preset": one} for one in ("standard", "ns-3", "ns-3", "ns-2")])
    classes = {"tcp_ack": "AC_VO", "tcp_data": "AC_BE", "udp": "AC_VI"}
    if kind == "ofdma":
        ofdma = draw.some(0.4, acknowledgment=["bar-sequence"], block_ack_mcs=[0, 11])
        if draw.chance(0.4):
            ofdma |= {"uplink": "trigger"} | draw.some(0.5, access_interval=["200 us", "20 ms"])
            classes = dict.fromkeys(classes, draw.choice(CATEGORIES))
        mac["ofdma"] = ofdma
    elif not is_new and kind == "cell" and draw.chance(0.3):
        return mac | {"pcf": {}}
    else:
        mac |= draw.some(0.3, rts_threshold=["0 B", "500 B"])
    if kind == "cell":
        mac |= draw.some(0.15, beacon=[{}, {"interval": "10 ms"}])
    if is_new or draw.chance(0.3):
        no_txop = kind == "ofdma"
        mac["edca"] = {side: _categories(draw, no_txop=no_txop) for side in ("ap", "stations")}
        mac |= draw.some(0.3, classify=[classes])
    if is_new:
        sizes = draw.some(0.3, amsdu=["3839 B"], ppdu_time=["1 ms"], block_ack_window=[1, 8])
        mac |= draw.some(0.4, aggregation=[sizes])
    return mac


def _categories(draw: Draw, *, no_txop: bool) -> Data:
    limits = ["0 us"] if no_txop else ["0 us", "4 ms", "32 ms"]
    found = {}
    for category in draw.sample(CATEGORIES, 4 if no_txop else draw.choice([0, 0, 1, 4])):
        low, high = draw.choice([(0, 0), (1, 3), (3, 1023), (15, 1048575)])
        windows = {"aifsn": draw.choice([2, 3, 15]), "cw_min": low, "cw_max": high}
        found[category] = windows | {"txop_limit": draw.choice(limits)}
    return found


def _group(draw: Draw, name: str, older: list[str], cells: list[str], radio: list[str]) -> Data:
    group: Data = {"name": name, "count": draw.choice([1, 1, 2, 3, 8])}
    if cells:
        index = int(name[1:])
        group["cell"] = cells[index] if index < len(cells) else draw.choice(cells)
    if radio:
        group |= (
            _one_link(draw, radio)
            if draw.chance(0.4)
            else draw.some(0.5, emlsr=[{}, {"padding": "256 us", "switch": "0 us"}])
        )
    elif older:
        group |= draw.some(0.4, standard=older)
    if draw.chance(0.4):
        words = draw.sample(names("traffic"), draw.randint(0, 3))
        group |= draw.some(0.5, profile=names("device"), place=names("place"))
        group |= draw.some(0.5, traffic=[words]) if "profile" in group else {"traffic": words}
        return group
    group |= draw.some(0.15, queue=QUEUES, frame_errors=ERRORS, airtime_weight=[1, 65536])
    standard = group.get("standard", older[-1] if older else "")
    if standard in AMENDMENTS and not radio and draw.chance(0.4):
        group.pop("frame_errors", None)
        group["rate_control"] = draw.choice(["minstrel-ht", "ideal"])
        group["snr"] = f"{draw.choice([2, 12, 25, 45])} dB"
    return group


def _one_link(draw: Draw, radio: list[str]) -> Data:
    link = draw.choice(radio)
    return {"links": [link], "standard": draw.choice(BANDS[link.partition("/")[0]])}


def _add_cells(
    draw: Draw, data: Data, cells: list[str], older: list[str], *, is_even: bool
) -> None:
    phy, groups = data["phy"], data["stations"]
    band = phy.get("band", "2.4 GHz" if phy["standard"] in ("802.11b", "802.11g") else "5 GHz")
    channels = {"2.4 GHz": [1, 5, 11], "5 GHz": [36, 40, 149], "6 GHz": [1, 5, 37]}[band]
    air: Data = {}
    own = {name: draw.some(0.3, ap=[{"queue": one} for one in QUEUES]) for name in cells}
    data["cells"] = own
    if draw.chance(0.4):
        for cell in own.values():
            cell["channel"] = draw.choice(channels)
    pairs = [[one, other] for at, one in enumerate(cells) for other in cells[at + 1 :]]
    kind = "heard" if is_even else draw.choice(["heard", "received", "places", "places"])
    data["air"] = air
    if kind == "heard":
        air["heard"] = pairs if is_even else [pair for pair in pairs if draw.chance(0.6)]
        return
    new = [one for one in older if one in AMENDMENTS]
    for cell in own.values() if new else ():
        cell |= draw.some(0.3, standard=new, channel_width=["20 MHz"])
    for group in groups:
        group.pop("snr", None)
    if kind == "received":
        nodes = [*cells, *(group["name"] for group in groups)]
        near = {(group["cell"], group["name"]) for group in groups}
        powers = [-40, -55, -70, -82, -95, -120]
        air["received"] = [
            [one, other, -50 if (one, other) in near else draw.choice(powers)]
            for at, one in enumerate(nodes)
            for other in nodes[at:]
            if one != other or one not in cells
        ]
    else:
        wall = {"from": [3, -50], "to": [3, 50], "loss": "10 dB"}
        air["path_loss"] = draw.some(0.5, exponent=[2, 3, 4], walls=[[wall]])
        apart = draw.choice([5, 30, 300])
        for at, name in enumerate(own):
            own[name]["position"] = [at * apart, 0]
        for group in groups:
            disc = {"disc": draw.choice(["2 m", "8 m"]), "seed": draw.randrange(100)}
            group |= draw.choice([{"positions": disc}, {"distance": "4 m"}])
    air |= draw.some(0.4, capture=["0 dB", "5 dB", "20 dB"])
    air |= draw.some(0.2, detect=["4 us"], energy=["-82 dBm"])
    if phy["standard"] in OFDMA:
        air |= draw.some(0.4, obss_pd=["-72 dBm", "-62 dBm"])
    if kind == "places" and "obss_pd" not in air:
        own[cells[0]] |= draw.some(0.3, power=["0 dBm", "30 dBm"])


def _add_flows(draw: Draw, data: Data, links: list[str], log: Path) -> None:
    """Add flows and targets; groups and cells may be idle."""
    flows = []
    for group in data["stations"]:
        for _ in range(draw.choice([0, 1, 1, 2])):
            flows.append(_flow(draw, group["name"], links, log))
    data["flows"] = flows or [_flow(draw, data["stations"][0]["name"], links, log)]
    for flow in data["flows"]:
        known = TARGETS.get(flow["application"]["kind"], {})
        asked = {metric: bound for metric, bound in known.items() if draw.chance(0.3)}
        targets = {f"{flow['stations']} {metric}": bound for metric, bound in asked.items()}
        data["targets"] = data.get("targets", {}) | targets


def _size(draw: Draw) -> Any:
    laws: list[Any] = [
        "1 B",
        "100 kB",
        {"distribution": "exponential", "mean": "50 kB"},
        {"distribution": "pareto", "mean": "20 kB", "shape": 1.2},
        {"distribution": "uniform", "low": "1 B", "high": "50 B"},
        {"distribution": "hyperexponential", "mean": "5 kB", "scv": 50.0},
    ]
    return draw.choice(laws)


def _application(draw: Draw, log: Path) -> Data:
    pause = {"distribution": "exponential", "mean": draw.choice(["20 ms", "300 ms"])}
    page = {"objects": draw.randint(1, 30), "connections": draw.choice([1, 6])}
    return draw.choice(
        [
            {"kind": "bulk"},
            {"kind": "bulk", "size": draw.choice(["1 B", "10 kB", "1 MB"])},
            {"kind": "bulk", "rate": "2 Mb/s", "start": "10 ms"},
            {"kind": "web", "size": _size(draw), "think_time": pause},
            {"kind": "web", "size": "5 kB", "think_time": pause, "page": page, "request": "400 B"},
            {"kind": "ftp", "size": _size(draw), "interarrival": pause, "control": True},
            {"kind": "udp", "packet": "200 B", "rate": draw.choice(["8 kb/s", "5 Mb/s"])},
            {"kind": "udp", "packet": "1000 B"},
            {"kind": "call", "codec": draw.choice(["G.711", "G.729A"])},
            {"kind": "replay", "file": str(log)},
        ]
    )


def _flow(draw: Draw, group: str, links: list[str], log: Path) -> Data:
    application = _application(draw, log)
    kind = application["kind"]
    ways = ["download", "upload"] if "page" not in application else ["download"]
    ways += ["both"] if kind in ("bulk", "udp", "call") else []
    flow = {"stations": group, "direction": draw.choice(ways), "application": application}
    is_saturated = kind == "udp" and "rate" not in application
    if links and not is_saturated and draw.chance(0.6):
        flow["path"] = draw.sample(links, draw.randint(1, len(links)))
    if kind in ("udp", "call"):
        return flow
    if application == {"kind": "bulk"}:
        flow |= draw.some(0.2, start_spread=["20 ms"], connections=[3])
    if draw.chance(0.6):
        acks = [{"every": 1}, {"thresholds": [[0, 1], [10, 8]]}, {"policy": "own-acks"}]
        windows = ["4 KiB", {"segments": 2}, "4 MiB"]
        flow["tcp"] = (
            draw.some(0.7, congestion=["reno", "cubic", "bbr", "bbr1", "own-congestion"])
            | draw.some(0.4, preset=["linux"])
            | draw.some(0.15, initial_window=[1, 1_000_000], initial_rto=["1 ms", "60 s"])
            | draw.some(0.15, delayed_ack=acks, receive_window=windows)
            | draw.some(0.05, variant=["reno", "sack"], slow_start=["hystart++"], tack=[{}])
            | draw.some(0.05, receiver=[{"preset": "rfc"}])
        )
    return flow
