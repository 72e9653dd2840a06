"""Draws valid networks in which the newest keys of scenario files stand together."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

#: Standards of today with channel widths that each has, in MHz.
STANDARDS = {
    "802.11b": [],
    "802.11g": [],
    "802.11a": [],
    "802.11n": [20, 40],
    "802.11ac": [20, 80, 160],
    "802.11ax": [20, 40, 80, 160],
    "802.11be": [20, 80, 160, 320],
}
DEVICES = ["phone", "office-laptop", "tv", "camera"]
TRAFFIC = ["download", "web", "video", "call", "game", "camera", "backup"]

Data = dict[str, Any]


#: Standards by band, the oldest first.
BANDS = {
    "2.4 GHz": ["802.11b", "802.11g", "802.11n", "802.11ax", "802.11be"],
    "5 GHz": ["802.11a", "802.11n", "802.11ac", "802.11ax", "802.11be"],
    "6 GHz": ["802.11ax", "802.11be"],
}
LINKS = [
    ["5 GHz/80 MHz", "6 GHz/160 MHz"],
    ["6 GHz/20 MHz", "5 GHz/20 MHz"],
    ["5 GHz/40 MHz", "6 GHz/320 MHz"],
]


def network(seed: int, log: Path) -> Data:
    """The written form of a network; `log` is a file of requests that it may replay.

    Networks with odd seeds have keys of links, OFDMA, cells and groups that are newer still.
    """
    draw = random.Random(seed)
    data = _network(draw, log)
    if seed % 2:
        _add_newest(draw, data)
    return data


def _network(draw: random.Random, log: Path) -> Data:
    standard = draw.choice(list(STANDARDS))
    phy: Data = {"standard": standard}
    if (widths := STANDARDS[standard]) and draw.random() < 0.8:
        phy["channel_width"] = f"{draw.choice(widths)} MHz"
        if standard == "802.11be" or phy["channel_width"] == "320 MHz":
            phy["band"] = "6 GHz"
    if widths and draw.random() < 0.5:
        phy["mcs"] = draw.randint(0, 7)
    data: Data = {"phy": phy, "run": _run(draw)}
    cells = [f"c{one}" for one in range(draw.choice([0, 0, 1, 2, 2, 3]))]
    links = {f"l{one}": _link(draw) for one in range(draw.choice([0, 0, 1, 2]))}
    if links:
        data["links"] = links
    if cells:
        data["cells"] = {name: _cell(draw) for name in cells}
    elif draw.random() < 0.5:
        data["ap"] = _ap(draw)
    if draw.random() < 0.5 and (mac := _mac(draw, aggregates=bool(widths))):
        data["mac"] = mac
    groups = [
        _group(draw, f"g{one}", cells, one) for one in range(max(draw.randint(1, 4), len(cells)))
    ]
    data["stations"] = groups
    if len(cells) > 1 or (cells and draw.random() < 0.5):
        data["air"] = _air(draw, cells, groups)
    _place(draw, data, groups)
    flows = [_flow(draw, group, list(links), log) for group in groups if "profile" not in group]
    # Groups and cells may be idle.
    if flows := [flow for flow in flows if draw.random() < 0.85]:
        data["flows"] = flows
    elif all("profile" not in group for group in groups):
        data["flows"] = [_flow(draw, groups[0], list(links), log)]
    _targets(draw, data)
    return data


def _run(draw: random.Random) -> Data:
    return {
        "warmup": draw.choice(["0 s", "0 s", "50 ms", "300 ms"]),
        "duration": draw.choice(["1 ms", "10 ms", "100 ms", "500 ms", "1 s"]),
        "replications": draw.choice([1, 2, 3, 4]),
        "seed": draw.randrange(2**32),
        "confidence": draw.choice([0.5, 0.9, 0.95, 0.99]),
    }


def _queue(draw: random.Random) -> Any:
    return draw.choice(
        [
            {"limit": draw.choice([1, 5, 100, 1000])},
            {"discipline": "codel", "limit": draw.choice([10, 1000])},
            {"discipline": "fq-codel", "limit": draw.choice([10, 1000])},
            {"discipline": "per-flow", "limit": draw.choice([1, 50])},
            {"discipline": "red", "limit": 100},
            {"discipline": "fq-codel", "limit": 100, "ack_filter": True},
            {"discipline": "codel", "ecn": True, "target": "1 ms", "interval": "2 s"},
        ]
    )


def _link(draw: random.Random) -> Data:
    link: Data = {"delay": draw.choice(["0 s", "1 ms", "30 ms"])}
    if draw.random() < 0.7:
        link["rate"] = draw.choice(["64 kb/s", "8 Mb/s", "1 Gb/s"])
        if draw.random() < 0.5:
            link["queue"] = _queue(draw)
    if draw.random() < 0.2:
        link["loss"] = draw.choice(["0.1 %", "5 %", "90 %"])
    return link


def _ap(draw: random.Random) -> Data:
    found: Data = {}
    if draw.random() < 0.6:
        found["queue"] = _queue(draw)
    if draw.random() < 0.3:
        found["scheduler"] = "airtime"
        found.pop("queue", None)
    return found


def _cell(draw: random.Random) -> Data:
    return {"ap": {"queue": _queue(draw)}} if draw.random() < 0.4 else {}


def _mac(draw: random.Random, *, aggregates: bool) -> Data:
    found: Data = {}
    if aggregates and draw.random() < 0.6:
        category = {
            "aifsn": draw.choice([2, 3, 7, 15]),
            "cw_min": draw.choice([0, 1, 3, 15]),
            "cw_max": draw.choice([15, 1023, 1048575]),
            "txop_limit": draw.choice(["0 us", "4 ms", "32 ms"]),
        }
        sides = draw.choice([["ap"], ["stations"], ["ap", "stations"]])
        word = draw.choice(["AC_VO", "AC_VI", "AC_BE", "AC_BK"])
        found["edca"] = {side: {word: category} for side in sides}
    if aggregates and draw.random() < 0.3:
        found["aggregation"] = {
            "amsdu": draw.choice(["0 B", "3839 B"]),
            "ppdu_time": draw.choice(["1 ms", "4 ms"]),
        }
    if draw.random() < 0.3:
        found["rts_threshold"] = draw.choice(["0 B", "500 B"])
    if draw.random() < 0.3:
        found["short_retry_limit"] = draw.choice([1, 7, 255])
        found["long_retry_limit"] = draw.choice([1, 4])
    return found


def _group(draw: random.Random, name: str, cells: list[str], index: int) -> Data:
    group: Data = {"name": name, "count": draw.choice([1, 1, 2, 3, 8])}
    if cells:
        group["cell"] = cells[index] if index < len(cells) else draw.choice(cells)
    if draw.random() < 0.4:
        group["profile"] = draw.choice(DEVICES)
        if draw.random() < 0.5:
            group["traffic"] = draw.sample(TRAFFIC, draw.randint(1, 3))
        if draw.random() < 0.4:
            group["place"] = draw.choice(["near", "room", "edge", "far"])
    elif draw.random() < 0.2:
        group["frame_errors"] = draw.choice(["0.01 %", "1 %", "30 %", "99.9 %"])
    return group


def _air(draw: random.Random, cells: list[str], groups: list[Data]) -> Data:
    pairs = [[one, other] for at, one in enumerate(cells) for other in cells[at + 1 :]]
    if draw.random() < 0.4:
        return {"heard": [pair for pair in pairs if draw.random() < 0.6]}
    if draw.random() < 0.4:
        return {"path_loss": {"exponent": draw.choice([2, 3, 4])}}
    nodes = [*cells, *(group["name"] for group in groups)]
    rows = [
        [one, other, draw.choice([-40, -55, -70, -82, -95, -120])]
        for at, one in enumerate(nodes)
        for other in nodes[at:]
        if one != other or one not in cells
    ]
    own = {(group["cell"], group["name"]) for group in groups}
    return {"received": [[a, b, -50 if (a, b) in own else dbm] for a, b, dbm in rows]}


def _place(draw: random.Random, data: Data, groups: list[Data]) -> None:
    if "path_loss" not in data.get("air", {}):
        return
    for at, cell in enumerate(data["cells"].values()):
        cell["position"] = [at * draw.choice([5, 30, 300]), 0]
    for group in groups:
        group["positions"] = {"disc": draw.choice(["2 m", "8 m"]), "seed": draw.randrange(100)}


def _size(draw: random.Random) -> Any:
    laws: list[Any] = [
        "1 B",
        "100 kB",
        {"distribution": "exponential", "mean": "50 kB"},
        {"distribution": "pareto", "mean": "20 kB", "shape": 1.2},
        {"distribution": "uniform", "low": "1 B", "high": "50 B"},
        {"distribution": "hyperexponential", "mean": "5 kB", "scv": 50.0},
    ]
    return draw.choice(laws)


def _application(draw: random.Random, log: Path) -> Data:
    pause = {"distribution": "exponential", "mean": draw.choice(["20 ms", "300 ms"])}
    page = {"objects": draw.randint(1, 30), "connections": draw.choice([1, 6])}
    return draw.choice(
        [
            {"kind": "bulk"},
            {"kind": "bulk", "size": draw.choice(["1 B", "10 kB", "1 MB"])},
            {"kind": "web", "size": _size(draw), "think_time": pause},
            {"kind": "web", "size": "5 kB", "think_time": pause, "page": page, "request": "400 B"},
            {"kind": "ftp", "size": _size(draw), "interarrival": pause},
            {"kind": "udp", "packet": "200 B", "rate": draw.choice(["8 kb/s", "5 Mb/s"])},
            {"kind": "udp", "packet": "1000 B"},
            {"kind": "call", "codec": draw.choice(["G.711", "G.729A"])},
            {"kind": "replay", "file": str(log)},
        ]
    )


def _direction(draw: random.Random, application: Data) -> str:
    if "page" in application:
        return "download"
    one_way = application["kind"] in ("web", "ftp", "replay")
    return draw.choice(["download", "upload"] if one_way else ["download", "upload", "both"])


def _flow(draw: random.Random, group: Data, links: list[str], log: Path) -> Data:
    application = _application(draw, log)
    flow: Data = {
        "stations": group["name"],
        "direction": _direction(draw, application),
        "application": application,
    }
    is_saturated = application["kind"] == "udp" and "rate" not in application
    if links and not is_saturated and draw.random() < 0.6:
        flow["path"] = draw.sample(links, draw.randint(1, len(links)))
    if application["kind"] not in ("udp", "call") and draw.random() < 0.5:
        flow["tcp"] = {"congestion": draw.choice(["reno", "cubic", "bbr", "own-reno"])}
        if draw.random() < 0.3:
            flow["tcp"]["preset"] = "linux"
        if draw.random() < 0.2:
            flow["tcp"]["initial_window"] = draw.choice([1, 10, 1_000_000])
        if draw.random() < 0.2:
            flow["tcp"]["initial_rto"] = draw.choice(["1 ms", "60 s"])
    return flow


def _targets(draw: random.Random, data: Data) -> None:
    names = [flow["stations"] for flow in data.get("flows", ())]
    if names and draw.random() < 0.3:
        data["targets"] = {f"{draw.choice(names)} goodput": "> 1 Mb/s"}


def _add_newest(draw: random.Random, data: Data) -> None:
    standard, groups = data["phy"]["standard"], data["stations"]
    mac = data.setdefault("mac", {})
    is_high = bool(STANDARDS[standard])
    kind = draw.choice(["ofdma", "links", "control", "pcf", "groups", "groups"])
    if kind == "links":
        _add_links(draw, data)
    elif kind == "ofdma" and standard in ("802.11ax", "802.11be") and "cells" not in data:
        mac["ofdma"] = draw.choice([{}, {"acknowledgment": "bar-sequence"}, {"block_ack_mcs": 0}])
        data.get("ap", {}).pop("scheduler", None)
    elif kind == "pcf" and not is_high and "cells" not in data:
        data["mac"] = {"pcf": {}}
    elif kind == "control" and is_high:
        _add_rate_control(draw, data)
    if kind != "links":
        _add_standards(draw, data, standard)
        _add_air(draw, data, standard)
    if draw.random() < 0.3:
        mac["rules"] = {"preset": draw.choice(["standard", "ns-3", "ns-3", "ns-2"])}
    if (is_high or "edca" in mac) and draw.random() < 0.2:
        mac["classify"] = {"tcp_ack": draw.choice(["AC_VO", "AC_BE"]), "udp": "AC_VI"}
    if draw.random() < 0.2 and "ofdma" not in mac:
        kept = {key: one for key, one in data.get("ap", {}).items() if key == "links"}
        data["ap"] = kept | {"profile": draw.choice(["openwrt", "vendor"])}
        if data["ap"]["profile"] == "openwrt":
            draw.choice(groups)["airtime_weight"] = draw.choice([1, 65536])
    for flow in data.get("flows", ()):
        if flow["application"] == {"kind": "bulk"} and draw.random() < 0.3:
            flow |= draw.choice([{"start_spread": "20 ms"}, {"connections": 3}])
        if "tcp" in flow and draw.random() < 0.3:
            thresholds = {"thresholds": [[0, 1], [10, 8]], "adaptive": True}
            flow["tcp"]["delayed_ack"] = draw.choice([{"every": 1}, thresholds])
            flow["tcp"]["receive_window"] = draw.choice(["4 KiB", {"segments": 2}, "4 MiB"])


def _add_links(draw: random.Random, data: Data) -> None:
    """An access point of 802.11be with two links, and older stations on one of them."""
    data["phy"] = {"standard": "802.11be"}
    for key in ("cells", "air"):
        data.pop(key, None)
    links = draw.choice(LINKS)
    data.setdefault("ap", {})["links"] = links
    for group in data["stations"]:
        for key in ("cell", "positions", "profile", "traffic", "place"):
            group.pop(key, None)
        if draw.random() < 0.6:
            group["links"] = [draw.choice(links)]
            band = group["links"][0].partition("/")[0]
            group["standard"] = draw.choice(BANDS[band])
    data.setdefault("flows", [])
    if not data["flows"]:
        bulk = {"application": {"kind": "bulk"}, "direction": "download"}
        data["flows"] = [{"stations": data["stations"][0]["name"], **bulk}]


def _add_rate_control(draw: random.Random, data: Data) -> None:
    has_powers = {"received", "path_loss"} & data.get("air", {}).keys()
    for group in data["stations"]:
        if draw.random() < 0.6:
            group.pop("frame_errors", None)
            group["rate_control"] = draw.choice(["minstrel-ht", "ideal"])
            if not has_powers:
                group["snr"] = f"{draw.choice([2, 12, 25, 45])} dB"


def _add_standards(draw: random.Random, data: Data, standard: str) -> None:
    low = "2.4 GHz" if standard in ("802.11b", "802.11g") else "5 GHz"
    known = BANDS[data["phy"].get("band", low)]
    older = known[: known.index(standard) + 1]
    for group in data["stations"]:
        if draw.random() < 0.3:
            group["standard"] = draw.choice(older)
    for cell in data.get("cells", {}).values():
        if STANDARDS[standard] and draw.random() < 0.4:
            cell["standard"] = draw.choice([one for one in older if STANDARDS[one]])
        if STANDARDS[standard] and draw.random() < 0.3:
            cell["channel_width"] = "20 MHz"


def _add_air(draw: random.Random, data: Data, standard: str) -> None:
    air, cells = data.get("air", {}), data.get("cells", {})
    if draw.random() < 0.3 and STANDARDS[standard]:
        for cell in cells.values():
            cell["channel"] = draw.choice([1, 5, 37] if "band" in data["phy"] else [36, 40, 149])
    if not {"received", "path_loss"} & air.keys():
        return
    if draw.random() < 0.4:
        air["capture"] = draw.choice(["0 dB", "5 dB", "20 dB"])
    if standard in ("802.11ax", "802.11be") and draw.random() < 0.3:
        air["obss_pd"] = draw.choice(["-72 dBm", "-62 dBm"])
    elif "path_loss" in air and draw.random() < 0.4:
        next(iter(cells.values()))["power"] = draw.choice(["0 dBm", "30 dBm"])
    if draw.random() < 0.2:
        air["detect"] = "4 us"
