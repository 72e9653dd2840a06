"""Make the table of docs/explanation/aggregation.md about OFDMA: downloads and calls.

All numbers come from the installed airtcp. Seeds are fixed, so every run gives the
same table.

    .venv/bin/python docs/make_ofdma.py
"""

from __future__ import annotations

from pathlib import Path

import tables
from airtcp import simulate
from airtcp.results import SimulationResult
from airtcp.scenario import loads

PAGE = Path(__file__).parent / "explanation" / "aggregation.md"
DOWNLOADS = (2, 4, 8)
CALLS = (16, 32, 48)
WITH = {
    "without OFDMA": "",
    "downlink OFDMA": "[mac.ofdma]",
    "with triggers": '[mac.ofdma]\nuplink = "trigger"',
}
SCENARIO = """
[phy]
standard = "802.11ax"
band = "5 GHz"
channel_width = "20 MHz"
mcs = 7
{ofdma}
[[stations]]
name = "sta"
count = {count}
[[flows]]
stations = "sta"
{flow}
[run]
warmup = "2 s"
duration = "8 s"
replications = 4
seed = 1
"""
BULK = """
direction = "download"
application = { kind = "bulk" }
tcp = { preset = "linux", receive_window = { segments = 64 } }
"""
CALL = """
direction = "both"
application = { kind = "udp", packet = "200 B", rate = "80 kb/s" }
"""


def ofdma() -> str:
    """Return goodput of downloads and delay of a datagram every 20 ms, without and with OFDMA."""
    head = ["traffic in 20 MHz", "stations", *WITH]
    calls = [row for count in CALLS for row in _calls(count)]
    return tables.markdown(head, [*map(_downloads, DOWNLOADS), *calls])


def _each(count: int, flow: str) -> list[SimulationResult]:
    texts = (SCENARIO.format(count=count, flow=flow, ofdma=one) for one in WITH.values())
    return [simulate(loads(text)) for text in texts]


def _downloads(count: int) -> list[str]:
    found = [one.metrics["goodput_bps"] for one in _each(count, BULK)]
    return ["downloads: goodput, Mb/s", f"{count}", *(tables.shown(one, 1, 1e6) for one in found)]


def _calls(count: int) -> list[list[str]]:
    found = _each(count, CALL)
    rows = []
    for direction, name in (("download", "down"), ("upload", "up")):
        delays = [one.simulation.groups["sta"][direction]["packet_delay_p95_s"] for one in found]
        shown = [tables.shown(one, 1, 1e-3) for one in delays]
        rows.append([f"calls, {name}: p95 delay, ms", f"{count}", *shown])
    return rows


TABLES = {"ofdma": ofdma}

if __name__ == "__main__":
    tables.remake(PAGE, TABLES)
