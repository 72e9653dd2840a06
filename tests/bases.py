"""Scenario texts that tests share: a cell with one group of stations, each of which has one flow.

A test says what of `cell` it is about. Those with several groups, and those whose numbers a reader
works out key by key, have texts of their own.
"""

import json
from pathlib import Path
from typing import Any

from airtcp.examples import directory
from airtcp.scenario import Scenario, load

BULK = '{ kind = "bulk" }'
#: Desks that download beside phones in calls; keys of the top level may stand before it.
CALLS = """
phy = { standard = "802.11ac", mcs = 5 }
stations = [{ name = "desk", count = 2 }, { name = "phone", count = 3 }]
[[flows]]
stations = "desk"
direction = "download"
application = { kind = "bulk" }
[[flows]]
stations = "phone"
direction = "both"
application = { kind = "udp", packet = "200 B", rate = "100 kb/s" }
"""
SATURATED = '{ kind = "udp", packet = "1500 B", rate = "saturated" }'
"""UDP that is faster than any air: the queue is never empty."""

LINUX_DOWNLOAD = f"""
application = {BULK}
path = [{{ rate = "1 Gb/s", delay = "5 ms" }}]
tcp = {{ preset = "linux" }}
"""
"""Keys of a flow: the kernel's TCP over a wire."""
RADIOS = 'received = [["left", "reader", -50], ["right", "clerk", -50], ["left", "right", -75]]'
"""Keys of `[air]` in `two_cells`: access points hear each other, stations their own."""


def reading(size: str, think_time: str = "1 s") -> str:
    """Returns readers of web pages with exponential sizes and pauses of these means."""
    size_law = f'{{ distribution = "exponential", mean = "{size}" }}'
    think_law = f'{{ distribution = "exponential", mean = "{think_time}" }}'
    return f'{{ kind = "web", size = {size_law}, think_time = {think_law} }}'


def cell(
    count: int = 1,
    *,
    title: str = "",
    standard: str = "802.11b",
    phy: str = "",
    tables: str = "",
    name: str = "laptop",
    group: str = "",
    direction: str = "download",
    application: str = BULK,
    flow: str = "",
    **run: str | int,
) -> str:
    """Returns the text of a cell with `count` stations, whose keys of `[run]` are `run`.

    `phy`, `group` and `flow` are further lines of these tables, `tables` whole ones before them.
    """
    lines = [
        f'title = "{title}"' if title else "",
        "[phy]",
        f'standard = "{standard}"',
        phy,
        tables,
        "[[stations]]",
        f'name = "{name}"',
        f"count = {count}",
        group,
        "[[flows]]",
        f'stations = "{name}"',
        f'direction = "{direction}"',
        f"application = {application}",
        flow,
        "[run]" if run else "",
        *(f"{key} = {json.dumps(value)}" for key, value in run.items()),
    ]
    return "\n".join(line for line in lines if line) + "\n"


def two_cells(air: str, *, reader: str, clerk: str, **run: str | int) -> str:
    """Returns the text of two cells over 802.11a, `left` with a reader and `right` with a clerk.

    `air` are the keys of `[air]`, `reader` and `clerk` those of what each downloads.
    """
    lines = [
        'phy = { standard = "802.11a" }',
        "cells = { left = {}, right = {} }",
        f"air = {{ {air} }}",
        "stations = [",
        '    { name = "reader", count = 1, cell = "left" },',
        '    { name = "clerk", count = 1, cell = "right" },',
        "]",
    ]
    for name, keys in (("reader", reader), ("clerk", clerk)):
        lines += ["[[flows]]", f'stations = "{name}"', 'direction = "download"', keys]
    lines += ["[run]", *(f"{key} = {json.dumps(value)}" for key, value in run.items())]
    return "\n".join(lines)


def example(name: str, **changes: Any) -> Scenario:
    """Returns an example of airtcp with changes of its keys."""
    return load(Path(str(directory())) / f"{name}.toml").vary(changes)


def short_example(name: str, duration: str, replications: int, **changes: Any) -> Scenario:
    """Returns an example whose runs begin after a second."""
    run = {"run.warmup": "1 s", "run.duration": duration, "run.replications": replications}
    return example(name, **run | changes)
