"""Make the tables of docs/aggregation.md: TCP over A-MPDUs, model beside simulation.

Takes all numbers from the installed airtcp; seeds are fixed, so that whoever runs this gets the
same tables.

    .venv/bin/python docs/make_aggregation.py   # minutes
"""

from __future__ import annotations

import sys
from pathlib import Path

import tables
from airtcp import predict, simulate
from airtcp.scenario import loads

PAGE = Path(__file__).parent / "aggregation.md"
PHY = {
    "802.11n": 'standard = "802.11n"\nband = "5 GHz"\nmcs = 7\nguard_interval = "400 ns"',
    "802.11ac": 'standard = "802.11ac"\nchannel_width = "80 MHz"\nmcs = 9\n'
    'guard_interval = "400 ns"',
    "802.11ax": 'standard = "802.11ax"\nband = "5 GHz"\nchannel_width = "80 MHz"\nmcs = 11',
}
COUNTS = (1, 2, 5, 10, 20)
EVERY = (1, 2, 4, 8)
WINDOWS = {"small-windows": '"65535 B"', "large-windows": "{ segments = 256 }"}
SCENARIO = """
[phy]
{phy}
[[stations]]
name = "sta"
count = {count}
[[flows]]
stations = "sta"
direction = "download"
application = {{ kind = "bulk" }}
[flows.tcp]
receive_window = {window}
delayed_ack = {{ every = {every} }}
min_rto = "3 s"
initial_rto = "3 s"
[run]
warmup = "8 s"
duration = "12 s"
replications = 4
seed = 1
"""


def cell(standard: str, count: int, every: int, window: str) -> str:
    """Simulated goodput in Mb/s, and the model less that in per cent."""
    scenario = loads(SCENARIO.format(phy=PHY[standard], count=count, every=every, window=window))
    simulated = simulate(scenario).metrics["goodput_bps"]
    model = predict(scenario).best("goodput_bps")
    assert model is not None
    assert not isinstance(model.value, list)
    assert simulated.mean is not None
    off = 100.0 * (model.value / simulated.mean - 1.0)
    return f"{tables.shown(simulated, 1, 1e6)}, {off:+.1f}"


def row(name: str, standard: str, count: int) -> list[str]:
    """A row of a table: one number of downloads, all d."""
    cells = [cell(standard, count, every, WINDOWS[name]) for every in EVERY]
    return [f"{standard}, {count}", *cells]


def table(name: str) -> str:
    """The table of one window."""
    head = ["downloads", *(f"d = {every}" for every in EVERY)]
    rows = [row(name, standard, count) for standard in PHY for count in COUNTS]
    return tables.markdown(head, rows)


TABLES = {name: (lambda name=name: table(name)) for name in WINDOWS}

if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
