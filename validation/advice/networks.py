"""Healthy networks, drawn at random, into which faults are planted.

Knows what people run: offices, homes, cafes, rooms full of uploads, as scenario files. Each has
what such a network needs to be well: calls go first, queues are managed, windows are large enough,
nobody is far away. Knows nothing of faults or of advice.
"""

from __future__ import annotations

from random import Random
from typing import Any

Written = dict[str, Any]

#: What a network without a fault runs: 3 s until windows and queues have filled, 8 s that count,
#: four times.
RUN = {"warmup": "3 s", "duration": "8 s", "replications": 4, "seed": 1}
MANAGED = {"discipline": "fq-codel"}
CALLS_FIRST = {"udp": "AC_VO"}


def office(draw: Random) -> Written:
    """An office on Wi-Fi 6: web pages, calls, a backup."""
    return {
        "title": "office",
        "phy": {
            "standard": "802.11ax",
            "channel_width": draw.choice(["40 MHz", "80 MHz"]),
            "mcs": draw.choice([7, 8, 9]),
            "spatial_streams": 2,
        },
        "mac": {"classify": dict(CALLS_FIRST)},
        "ap": {"queue": dict(MANAGED), "scheduler": "airtime"},
        "links": {"uplink": {"rate": "1 Gb/s", "delay": f"{draw.randint(4, 12)} ms"}},
        "stations": [
            {"name": "laptop", "count": draw.randint(10, 25)},
            {"name": "phone", "count": draw.randint(4, 8), "mcs": 5},
            {"name": "nas", "count": 1},
        ],
        "flows": [
            _web("laptop", path=["uplink"]),
            _call("phone", path=["uplink"]),
            bulk("nas-upload", "nas", "upload", path=["uplink"]),
        ],
        "run": dict(RUN),
    }


def home(draw: Random) -> Written:
    """A home on Wi-Fi 5: downloads, a video, a call."""
    return {
        "title": "home",
        "phy": {
            "standard": "802.11ac",
            "channel_width": "80 MHz",
            "mcs": draw.choice([5, 7, 8]),
            "spatial_streams": 2,
        },
        "mac": {"classify": dict(CALLS_FIRST)},
        "ap": {"queue": dict(MANAGED), "scheduler": "airtime"},
        "links": {"line": {"rate": "500 Mb/s", "delay": f"{draw.randint(5, 15)} ms"}},
        "stations": [
            {"name": "console", "count": 1},
            {"name": "tablet", "count": draw.randint(1, 3)},
            {"name": "phone", "count": draw.randint(1, 2)},
        ],
        "flows": [
            bulk("console-download", "console", "download", path=["line"]),
            bulk("tablet-download", "tablet", "download", path=["line"]),
            _call("phone", path=["line"]),
        ],
        "run": dict(RUN),
    }


def cafe(draw: Random) -> Written:
    """A cafe on Wi-Fi 4: pages, some uploads of pictures, calls."""
    return {
        "title": "cafe",
        "phy": {
            "standard": "802.11n",
            "channel_width": "20 MHz",
            "mcs": draw.choice([4, 5, 7]),
            "spatial_streams": draw.choice([1, 2]),
        },
        "mac": {"classify": dict(CALLS_FIRST)},
        "ap": {"queue": dict(MANAGED), "scheduler": "airtime"},
        "links": {"line": {"rate": "200 Mb/s", "delay": f"{draw.randint(5, 20)} ms"}},
        "stations": [
            {"name": "guest", "count": draw.randint(3, 8)},
            {"name": "reader", "count": draw.randint(1, 3)},
            {"name": "caller", "count": draw.randint(1, 3)},
        ],
        "flows": [
            _web("guest", path=["line"]),
            bulk("reader-download", "reader", "download", path=["line"]),
            _call("caller", path=["line"]),
        ],
        "run": dict(RUN),
    }


def studio(draw: Random) -> Written:
    """A studio on Wi-Fi 6: uploads and downloads without end, a call."""
    return {
        "title": "studio",
        "phy": {
            "standard": "802.11ax",
            "channel_width": "40 MHz",
            "mcs": draw.choice([6, 7, 9]),
            "spatial_streams": 2,
        },
        "mac": {"classify": dict(CALLS_FIRST)},
        "ap": {"queue": dict(MANAGED), "scheduler": "airtime"},
        "links": {"line": {"rate": "1 Gb/s", "delay": f"{draw.randint(3, 10)} ms"}},
        "stations": [
            {"name": "editor", "count": draw.randint(2, 4)},
            {"name": "camera", "count": draw.randint(1, 3)},
            {"name": "phone", "count": draw.randint(1, 3)},
        ],
        "flows": [
            bulk("editor-download", "editor", "download", path=["line"]),
            bulk("camera-upload", "camera", "upload", path=["line"]),
            _call("phone", path=["line"]),
        ],
        "run": dict(RUN),
    }


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
    """Writes an endless transfer of Linux's TCP."""
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
