"""Make the tables of docs/explanation/aggregation.md: TCP over A-MPDUs, model and simulation.

All numbers come from the installed airtcp. Seeds are fixed, so every run gives the same
same tables.

    .venv/bin/python docs/make_aggregation.py   # minutes
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import tables
from airtcp import predict, simulate
from airtcp.scenario import loads
from airtcp.stats import Interval

PAGE = Path(__file__).parent / "explanation" / "aggregation.md"
PHY = {
    "802.11n": 'standard = "802.11n"\nband = "5 GHz"\nmcs = 7\nguard_interval = "400 ns"',
    "802.11ac": 'standard = "802.11ac"\nchannel_width = "80 MHz"\nmcs = 9\n'
    'guard_interval = "400 ns"',
    "802.11ax": 'standard = "802.11ax"\nband = "5 GHz"\nchannel_width = "80 MHz"\nmcs = 11',
}
COUNTS = (1, 2, 5, 10, 20)
EVERY = (1, 2, 4, 8)
WINDOWS = {"small-windows": '"65535 B"', "large-windows": "{ segments = 256 }"}
WIRED = (16, 32, 64, 128, 256, 512, 1024)
DELAYS_MS = (0, 0.1, 0.5, 1, 2, 5, 20)
"""Windows in segments and one-way delays that test (A10), with d = 1 and 2."""
SCENARIO = """
[ap]
queue = {{ limit = "unlimited" }}

[phy]
{phy}
[[stations]]
name = "sta"
count = {count}
[[flows]]
stations = "sta"
start_spread = "0 s"
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
    """Return simulated goodput in Mb/s, and the model's difference in percent."""
    scenario = SCENARIO.format(phy=PHY[standard], count=count, every=every, window=window)
    simulated, off = beside(scenario)
    return f"{tables.shown(simulated, 1, 1e6)}, {off:+.1f}"


def beside(text: str) -> tuple[Interval, float]:
    """Return simulated goodput, and the model's difference in percent."""
    scenario = loads(text)
    simulated = simulate(scenario).metrics["goodput_bps"]
    model = predict(scenario).best("goodput_bps")
    assert model is not None
    assert not isinstance(model.value, list)
    assert simulated.mean is not None
    return simulated, 100.0 * (model.value / simulated.mean - 1.0)


def row(name: str, standard: str, count: int) -> list[str]:
    """Return a row of a table: one number of downloads, each value of d."""
    cells = [cell(standard, count, every, WINDOWS[name]) for every in EVERY]
    return [f"{standard}, {count}", *cells]


def table(name: str) -> str:
    """Return the table of one window."""
    head = ["downloads", *(f"d = {every}" for every in EVERY)]
    rows = [row(name, standard, count) for standard in PHY for count in COUNTS]
    return tables.markdown(head, rows)


def wired_cell(standard: str, window: int, delay_ms: float) -> str:
    """Return the model's difference in percent for a download over a link: d = 1, d = 2."""
    offs = [beside(wired(standard, window, delay_ms, every))[1] for every in (1, 2)]
    return ", ".join(f"{off:+.1f}" for off in offs)


def wired(standard: str, window: int, delay_ms: float, every: int) -> str:
    """Return the scenario of one download over a link."""
    segments = f"{{ segments = {window} }}"
    text = SCENARIO.format(phy=PHY[standard], count=1, every=every, window=segments)
    path = f'path = [{{ delay = "{delay_ms:g} ms" }}]\n' if delay_ms else ""
    return text.replace("[flows.tcp]", f"{path}[flows.tcp]")


def wired_row(standard: str, window: int) -> list[str]:
    """Return a row of the grid of links: all delays of one window."""
    cells = [wired_cell(standard, window, delay_ms) for delay_ms in DELAYS_MS]
    return [f"{standard}, {window}", *cells]


def wires() -> str:
    """Return the grid of links."""
    head = ["window", *(f"{delay_ms:g} ms" for delay_ms in DELAYS_MS)]
    return tables.markdown(head, [wired_row(phy, window) for phy in PHY for window in WIRED])


TABLES: dict[str, Callable[[], str]] = {
    **{name: partial(table, name) for name in WINDOWS},
    "wires": wires,
}
#: Sample rows that take seconds: few events, many stations, and wired links.
SAMPLES = {
    "small-windows": partial(row, "small-windows", "802.11ac", 1),
    "large-windows": partial(row, "large-windows", "802.11n", 5),
    "wires": partial(wired_row, "802.11ac", 64),
}

if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
