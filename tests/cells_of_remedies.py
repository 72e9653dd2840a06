"""Cells that remedies are tried in: each remedy of the catalogue fits one of them."""

import itertools
from typing import Any

import airtcp
from airtcp.remedies import Changed, Remedy, catalogue, changed, named
from airtcp.scenario import Scenario

DOWNLOAD = {"stations": "laptop", "direction": "download", "application": {"kind": "bulk"}}
UPLOAD = DOWNLOAD | {"direction": "upload"}


RUN = {"warmup": "1 s", "duration": "2 s", "replications": 2}


def cell(standard: str, *flows: dict[str, Any], **tables: Any) -> Scenario:
    """A cell of two stations. Without flows: a download and an upload."""
    scenario = {
        "phy": {"standard": standard} | tables.pop("phy", {}),
        "stations": [{"name": "laptop", "count": 2} | tables.pop("laptop", {})],
        "flows": list(flows) or [DOWNLOAD, UPLOAD],
        "run": RUN,
    }
    return named(airtcp.load(scenario | tables))


def floor(phy: dict[str, Any], air: dict[str, Any], **cells: dict[str, Any]) -> Scenario:
    """Return a scenario of cells, each with one station that downloads.

    A station is 3 m from the position of its cell, if the cell has one.
    """
    stations = []
    for name, keys in cells.items():
        x, *_ = keys.get("position", [None])
        place = {} if x is None else {"positions": [[x, 3]]}
        stations.append({"name": f"of-{name}", "count": 1, "cell": name} | place)
    flows = [DOWNLOAD | {"stations": f"of-{name}"} for name in cells]
    tables = {"cells": cells, "air": air, "stations": stations, "flows": flows, "run": RUN}
    return named(airtcp.load({"phy": phy} | tables))


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
NEIGHBOURS = floor(
    {"standard": "802.11ax", "mcs": 5},
    {"path_loss": {"model": "log-distance", "at_1m": "46.4 dB", "exponent": 3.5}},
    one={"position": [0, 0]},
    other={"position": [20, 0]},
)
CROWDED = floor(
    {"standard": "802.11g"},
    {"heard": [[*pair] for pair in itertools.combinations("abcd", 2)]},
    **{name: {"channel": 6} for name in "abcd"},
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


def fitting(name: str, *cells: Scenario) -> tuple[Changed, Scenario]:
    """Return the first cell to which a remedy applies, and that cell with the remedy."""
    reasons = []
    for one in cells or CELLS:
        new = changed(one, remedy(name))
        if isinstance(new, Changed):
            return new, one
        reasons.append(new)
    raise AssertionError(f"{name}: {reasons}")


def applied(name: str, *cells: Scenario) -> Changed:
    return fitting(name, *cells)[0]
