"""Build the scenarios of the rows: topologies with received powers, and each simulator's rules.

ns-3's set-up: `MatrixPropagationLossModel` with the powers of `links` in dBm (unnamed pairs do not
hear each other); 20 MHz channels in 5 GHz; sensitivity -82, energy detection -62, noise -94 dBm;
transmit power 16 dBm, with OBSS-PD 20; queues of 1000 packets at access points; TCP with SACK and
timestamps, 1448-byte segments, a window of 64 segments, delayed ACKs for two segments or 40 ms.
Flows start in order, 10 ms apart. Servers are 1 ms away. ns-3 counts failures: `FrameRetryLimit` 7
allows 8 transmissions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from airtcp.scenario import Scenario, resolve

HERE = Path(__file__).parent
FLOORS: Mapping[str, Mapping[str, Any]] = {
    name: floor
    for file in ("scenarios.json", "held_out.json")
    for name, floor in json.loads((HERE / file).read_text()).items()
}
"""Nodes (`A` is an access point, `a1` a station of A), links and flows of each scenario."""

#: `FrameRetryLimit`, with which ns-3's rules allow 8 transmissions.
_RETRY_LIMIT = 7
#: Transmit power in dBm of scenarios that set none.
_POWER = 16.0206
_CONTROL = "24 Mb/s"
_UDP_HEADERS = 28
_FLOOR = re.compile(r"floor \d+: (\d+) cells, who hears whom: (.*)")


def scenario(name: str, **run: Any) -> Scenario:
    """Return the scenario of a row, with these keys of `[run]`."""
    floor = FLOORS.get(name)
    if floor is None:
        return drawn(name, "udp", **run)
    standard = floor.get("standard", "a")
    modes = dict(mode.split(":") for mode in floor.get("modes", ()))
    stations = [node for node in floor["nodes"] if node.islower()]
    groups = [
        {
            "name": name,
            "count": 1,
            "cell": name[0].upper(),
            "queue": {"limit": 1000},
            **_rate(modes.get(name, floor.get("mode", "")), standard),
        }
        for name in stations
    ]
    return resolve(
        {
            "title": name,
            "phy": _phy(standard, floor.get("control", ""), floor.get("mode", "")),
            "mac": _mac(standard, rts="rts" in floor),
            "ap": {"queue": {"limit": floor.get("ap_queue", 1000)}},
            "cells": {node: {} for node in floor["nodes"] if node.isupper()},
            "air": {
                "received": [_link(link) for link in floor["links"]],
                "power": f"{floor.get('power', _POWER)} dBm",
                **({"capture": "5 dB"} if floor.get("capture") else {}),
                **({"obss_pd": f"{floor['obss_pd']} dBm"} if "obss_pd" in floor else {}),
            },
            "stations": groups,
            "links": _wires(filter(str.isupper, floor["nodes"])),
            "flows": [_flow(flow, floor, place) for place, flow in enumerate(floor["flows"])],
            "run": run,
        }
    )


def drawn(name: str, kind: str, **run: Any) -> Scenario:
    """Return a floor of the second simulator: cells of one station with a `udp` or `tcp` download.

    A UDP sender always has a datagram waiting; TCP has the settings of ns-3's rows.
    """
    match = _FLOOR.fullmatch(name)
    assert match is not None, name
    cells = "ABCDEFGHIJ"[: int(match[1])]
    heard = [] if match[2] == "none" else [list(pair) for pair in match[2].split()]
    groups = [{"name": f"{cell.lower()}1", "count": 1, "cell": cell} for cell in cells]
    return resolve(
        {
            "title": name,
            "phy": _phy("a", "", ""),
            "mac": _mac("a", rts=False),
            "cells": {cell: {} for cell in cells},
            "air": {"heard": heard},
            "stations": groups,
            "links": _wires(cells),
            "flows": [
                _flow(f"{cell}>{cell.lower()}1:{kind}", {}, place)
                for place, cell in enumerate(cells)
            ],
            "run": run,
        }
    )


def _phy(standard: str, control: str, mode: str) -> dict[str, Any]:
    control_rate = f"{_mbps(control)} Mb/s" if control else _CONTROL
    phy = {"standard": f"802.11{standard}", "control_rate": control_rate}
    if standard == "a":
        return phy
    return phy | {"channel_width": "20 MHz", "mcs": int((mode or "HeMcs5").removeprefix("HeMcs"))}


def _mac(standard: str, *, rts: bool) -> dict[str, Any]:
    mac: dict[str, Any] = {
        "rules": {"preset": "ns-3"},
        "short_retry_limit": _RETRY_LIMIT,
        "long_retry_limit": _RETRY_LIMIT,
    }
    if rts:
        mac["rts_threshold"] = "0 B"
    if standard == "ax":
        best_effort = {"cw_min": 15, "cw_max": 1023, "aifsn": 3, "txop_limit": "0 us"}
        mac["edca"] = {"ap": {"AC_BE": best_effort}, "stations": {"AC_BE": best_effort}}
    return mac


def _rate(mode: str, standard: str) -> dict[str, Any]:
    return {} if standard == "ax" else {"data_rate": f"{_mbps(mode or 'OfdmRate54Mbps')} Mb/s"}


def _mbps(mode: str) -> int:
    """Parse a rate: `OfdmRate54Mbps` is 54."""
    return int(mode.removeprefix("OfdmRate").removesuffix("Mbps"))


def _link(link: str) -> list[Any]:
    """Parse a link: `A-a1:-50` has both nodes and the received power in dBm."""
    pair, _, power = link.partition(":")
    return [*pair.split("-"), float(power)]


def _wires(cells: Iterable[str]) -> dict[str, Any]:
    """Return the wired link between each access point and its server."""
    return {_wire_of(cell): {"rate": "10 Gb/s", "delay": "1 ms"} for cell in cells}


def _wire_of(cell: str) -> str:
    return f"wire-{cell}"


def _flow(flow: str, floor: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Parse a flow: `A>a1:tcp` is a download, `a1>A:udp` an upload; TCP flows start in order."""
    pair, _, kind = flow.partition(":")
    sender, receiver = pair.split(">")
    station, direction = (receiver, "download") if sender.isupper() else (sender, "upload")
    told = {"name": pair.replace(">", "-"), "stations": station, "direction": direction}
    if kind == "udp":
        size = floor.get("payload", 1472) + _UDP_HEADERS
        return told | {
            "application": {"kind": "udp", "packet": f"{size} B", "rate": "saturated"},
            "start_spread": "0 s",
        }
    return told | {
        "application": {"kind": "bulk", "start": f"{10 * place} ms"},
        "path": [_wire_of(station[0].upper())],
        "tcp": {
            "variant": "sack",
            "mss": "1448 B",
            "timestamps": True,
            "header_bits": 320,
            "receive_window": {"segments": floor.get("window", 64)},
            "delayed_ack": {"every": 2, "timeout": "40 ms"},
            "initial_window": 10,
            "min_rto": "200 ms",
        },
    }
