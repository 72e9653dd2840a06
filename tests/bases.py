"""Scenario texts that tests share: a cell with one group of stations, each of which has one flow.

A test passes to `cell` only the keys that it is about. Scenarios with several groups, or whose
numbers a reader computes key by key, have texts of their own.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from airtcp.examples import directory
from airtcp.exceptions import AirtcpError
from airtcp.phrases import Phrase
from airtcp.scenario import Scenario, load

BULK = '{ kind = "bulk" }'
#: Desks that download next to phones in calls; top-level keys may stand before it.
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
    """Return a web application with exponential sizes and think times of these means."""
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
    """Return the text of a cell with `count` stations and the keys `run` in `[run]`.

    `phy`, `group` and `flow` add lines to these tables, `tables` whole tables before the stations.
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
    """Return the text of two cells over 802.11a, `left` with a reader and `right` with a clerk.

    `air` has the keys of `[air]`, `reader` and `clerk` those of each station's download.
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
    """Return an example of airtcp with changed keys."""
    return load(Path(str(directory())) / f"{name}.toml").vary(changes)


def short_example(name: str, duration: str, replications: int, **changes: Any) -> Scenario:
    """Return an example with a warm-up of one second and short runs."""
    run = {"run.warmup": "1 s", "run.duration": duration, "run.replications": replications}
    return example(name, **run | changes)


def said(found: object) -> str:
    """Return the identifier of a sentence or of an error's; "" if it has none."""
    text = getattr(found, "message", found)
    text = text.args[0] if isinstance(text, BaseException) else text
    return text.id if isinstance(text, Phrase) else ""


@contextmanager
def refused(identifier: str, *, at: str | None = None, **values: object) -> Iterator[None]:
    """Expect an error with a sentence of `messages`, about a key or place, with some quantities."""
    with pytest.raises((ValueError, TypeError, AirtcpError)) as caught:
        yield
    assert said(caught.value) == identifier
    assert at is None or getattr(caught.value, "key", "") == at
    text = getattr(caught.value, "message", caught.value.args[0])
    assert {name: text.values[name] for name in values} == values
