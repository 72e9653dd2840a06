"""Draw healthy networks at random, into which faults are planted.

Each follows good practice: calls have priority, queues are managed, windows are large, and no
station is far away.
"""

from __future__ import annotations

from random import Random
from typing import Any

Written = dict[str, Any]

#: Run of a healthy network: 3 s of warm-up for windows and queues, 8 s measured,
#: four replications.
RUN = {"warmup": "3 s", "duration": "8 s", "replications": 4, "seed": 1}
MANAGED = {"discipline": "fq-codel"}
CALLS_FIRST = {"udp": "AC_VO"}


def office(draw: Random) -> Written:
    """Draw an office on Wi-Fi 6: web pages, calls, a backup."""
    phy = _phy("802.11ax", draw, width=[40, 80], mcs=[7, 8, 9], streams=[2])
    link = {"uplink": {"rate": "1 Gb/s", "delay": f"{draw.randint(4, 12)} ms"}}
    counts = {"laptop": draw.randint(10, 25), "phone": draw.randint(4, 8), "nas": 1}
    flows = [
        _web("laptop", path=["uplink"]),
        _call("phone", path=["uplink"]),
        bulk("nas-upload", "nas", "upload", path=["uplink"]),
    ]
    written = _network("office", phy, link, counts, flows)
    written["stations"][1]["mcs"] = 5
    return written


def home(draw: Random) -> Written:
    """Draw a home on Wi-Fi 5: downloads, a video, a call."""
    phy = _phy("802.11ac", draw, width=[80], mcs=[5, 7, 8], streams=[2])
    link = {"line": {"rate": "500 Mb/s", "delay": f"{draw.randint(5, 15)} ms"}}
    counts = {"console": 1, "tablet": draw.randint(1, 3), "phone": draw.randint(1, 2)}
    flows = [
        bulk("console-download", "console", "download", path=["line"]),
        bulk("tablet-download", "tablet", "download", path=["line"]),
        _call("phone", path=["line"]),
    ]
    return _network("home", phy, link, counts, flows)


def cafe(draw: Random) -> Written:
    """Draw a cafe on Wi-Fi 4: pages, some downloads, calls."""
    phy = _phy("802.11n", draw, width=[20], mcs=[4, 5, 7], streams=[1, 2])
    link = {"line": {"rate": "200 Mb/s", "delay": f"{draw.randint(5, 20)} ms"}}
    counts = {
        "guest": draw.randint(3, 8),
        "reader": draw.randint(1, 3),
        "caller": draw.randint(1, 3),
    }
    flows = [
        _web("guest", path=["line"]),
        bulk("reader-download", "reader", "download", path=["line"]),
        _call("caller", path=["line"]),
    ]
    return _network("cafe", phy, link, counts, flows)


def studio(draw: Random) -> Written:
    """Draw a studio on Wi-Fi 6: endless uploads and downloads, a call."""
    phy = _phy("802.11ax", draw, width=[40], mcs=[6, 7, 9], streams=[2])
    link = {"line": {"rate": "1 Gb/s", "delay": f"{draw.randint(3, 10)} ms"}}
    counts = {
        "editor": draw.randint(2, 4),
        "camera": draw.randint(1, 3),
        "phone": draw.randint(1, 3),
    }
    flows = [
        bulk("editor-download", "editor", "download", path=["line"]),
        bulk("camera-upload", "camera", "upload", path=["line"]),
        _call("phone", path=["line"]),
    ]
    return _network("studio", phy, link, counts, flows)


NETWORKS = (office, home, cafe, studio)


def _web(stations: str, *, path: list[str]) -> Written:
    return {
        "name": f"{stations}-web",
        "stations": stations,
        "direction": "download",
        "application": {
            "kind": "web",
            "size": {"distribution": "lognormal", "mean": "400 kB", "scv": 3},
            "think_time": {"distribution": "exponential", "mean": "3 s"},
            "request": "500 B",
        },
        "tcp": {"preset": "linux"},
        "path": path,
    }


def bulk(name: str, stations: str, direction: str, *, path: list[str]) -> Written:
    """Write an endless transfer of Linux's TCP."""
    return {
        "name": name,
        "stations": stations,
        "direction": direction,
        "application": {"kind": "bulk"},
        "tcp": {"preset": "linux"},
        "path": path,
    }


def _call(stations: str, *, path: list[str]) -> Written:
    return {
        "name": f"{stations}-call",
        "stations": stations,
        "direction": "both",
        "application": {"kind": "call", "profile": "call"},
        "path": path,
    }


def _phy(
    standard: str, draw: Random, *, width: list[int], mcs: list[int], streams: list[int]
) -> Written:
    """Draw channel width, MCS and streams; a single choice draws nothing."""
    width_mhz, index, many = (
        choices[0] if len(choices) == 1 else draw.choice(choices)
        for choices in (width, mcs, streams)
    )
    return {
        "standard": standard,
        "channel_width": f"{width_mhz} MHz",
        "mcs": index,
        "spatial_streams": many,
    }


def _network(
    title: str, phy: Written, links: Written, counts: dict[str, int], flows: list[Written]
) -> Written:
    """Write a network without a fault."""
    return {
        "title": title,
        "phy": phy,
        "mac": {"classify": dict(CALLS_FIRST)},
        "ap": {"queue": dict(MANAGED), "scheduler": "airtime"},
        "links": links,
        "stations": [{"name": name, "count": count} for name, count in counts.items()],
        "flows": flows,
        "run": dict(RUN),
    }
