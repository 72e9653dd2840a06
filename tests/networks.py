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
TARGETS = ["goodput", "flow_goodput", "p95 delay", "packet_loss", "transfer_time", "rtt"]

Data = dict[str, Any]


def network(seed: int, log: Path) -> Data:
    """The written form of a network; `log` is a file of requests that it may replay."""
    draw = random.Random(seed)
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
