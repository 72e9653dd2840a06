"""Cells that remedies are tried in: each remedy of the catalogue fits one of them."""

import itertools
from typing import Any

import airtcp
from airtcp.remedies import Changed, Remedy, catalogue, changed, named
from airtcp.scenario import Scenario

DOWNLOAD = {"stations": "laptop", "direction": "download", "application": {"kind": "bulk"}}
UPLOAD = DOWNLOAD | {"direction": "upload"}


def cell(standard: str, *flows: dict[str, Any], **tables: Any) -> Scenario:
    """A cell of two stations. Without flows: a download and an upload."""
    return named(
        airtcp.load(
            {
                "phy": {"standard": standard} | tables.pop("phy", {}),
                "stations": [{"name": "laptop", "count": 2} | tables.pop("laptop", {})],
                "flows": list(flows) or [DOWNLOAD, UPLOAD],
                "run": {"warmup": "1 s", "duration": "2 s", "replications": 2},
            }
            | tables
        )
    )


PLAIN = cell(
    "802.11b",
    DOWNLOAD | {"tcp": {"delayed_ack": {"every": 1}}},
    laptop={"data_rate": "2 Mb/s"},
    ap={"queue": {"limit": 100}},
    mac={"rts_threshold": "0 B"},
)
OFDM = cell("802.11a", laptop={"data_rate": "6 Mb/s"})
AGGREGATES = cell(
    "802.11ac", DOWNLOAD, phy={"channel_width": "20 MHz"}, mac={"aggregation": {"ampdu": "8 kB"}}
)
OFFICE = cell(
    "802.11n",
    DOWNLOAD | {"path": ["line"]},
    {"stations": "laptop", "direction": "both", "application": {"kind": "call", "profile": "call"}},
    links={"line": {"rate": "10 Mb/s", "delay": "10 ms", "loss": "1 %"}},
    mac={"classify": {"tcp_data": "AC_VI"}},
)
NEIGHBOURS = named(
    airtcp.load(
        {
            "phy": {"standard": "802.11ax", "mcs": 5},
            "cells": {"one": {"position": [0, 0]}, "other": {"position": [20, 0]}},
            "air": {"path_loss": {"model": "log-distance", "at_1m": "46.4 dB", "exponent": 3.5}},
            "stations": [
                {"name": f"of-{name}", "count": 1, "cell": name, "positions": [[x, 3]]}
                for name, x in (("one", 0), ("other", 20))
            ],
            "flows": [DOWNLOAD | {"stations": f"of-{name}"} for name in ("one", "other")],
            "run": {"warmup": "1 s", "duration": "2 s", "replications": 2},
        }
    )
)
CROWDED = named(
    airtcp.load(
        {
            "phy": {"standard": "802.11g"},
            "cells": {name: {"channel": 6} for name in "abcd"},
            "air": {"heard": [[*pair] for pair in itertools.combinations("abcd", 2)]},
            "stations": [{"name": f"of-{name}", "count": 1, "cell": name} for name in "abcd"],
            "flows": [DOWNLOAD | {"stations": f"of-{name}"} for name in "abcd"],
            "run": {"warmup": "1 s", "duration": "2 s", "replications": 2},
        }
    )
)
MIXED = cell(
    "802.11g",
    DOWNLOAD,
    stations=[{"name": "laptop", "count": 1}, {"name": "old", "count": 1, "data_rate": "1 Mb/s"}],
)
FAR = cell("802.11ac", DOWNLOAD, laptop={"mcs": 1})
AGED = cell("802.11ax", DOWNLOAD, laptop={"standard": "802.11n", "mcs": 3})
BURSTS = cell(
    "802.11b",
    phy={"control_rate": "1 Mb/s"},
    ap={"access": {"scheme": "adaptive-burst"}, "queue": {"limit": 8, "mac_limit": 4}},
)
UPLOADS = cell("802.11g", UPLOAD)
SHARED = cell("802.11ax", DOWNLOAD, mac={"ofdma": {}})
PROTECTED = cell("802.11g", DOWNLOAD, phy={"protection": "rts-cts"})
BEACONS = cell("802.11g", DOWNLOAD, mac={"beacon": {"interval": "10 ms"}})
CELLS = (
    *(PLAIN, OFDM, AGGREGATES, OFFICE, NEIGHBOURS, CROWDED, MIXED, FAR, AGED, BURSTS, UPLOADS),
    *(SHARED, PROTECTED, BEACONS),
)


def remedy(name: str) -> Remedy:
    return next(one for one in catalogue() if one.name == name)


def applied(name: str, *cells: Scenario) -> Changed:
    """A remedy in the first cell that takes it."""
    for one in cells or CELLS:
        new = changed(one, remedy(name))
        if isinstance(new, Changed):
            return new
    raise AssertionError(f"{name}: {[changed(one, remedy(name)) for one in cells or CELLS]}")
