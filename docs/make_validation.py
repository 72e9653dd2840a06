"""Make the tables of validation.md: simulation compared with Bianchi's model, ns-2 and ns-3.

The peers' numbers and scenarios come from validation/peers and validation/cells, all others
from the installed airtcp. Scenarios and seeds are fixed, so every run gives the same
tables.

    .venv/bin/python docs/make_validation.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import tables
from airtcp import compare, simulate
from airtcp.scenario import loads

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "accuracy.md"

sys.path.insert(0, str(ROOT / "validation"))
from cells import komondor  # noqa: E402
from peers import ns2, ns3_modern, table  # noqa: E402

SENDERS = (1, 2, 5, 10, 20, 50)
#: Starting conditions of five endless downloads: slow-start threshold in segments, minimum RTO and
#: warm-up in s.
BEGINNINGS = (
    (20, 0.2, 135),
    (1000, 0.2, 135),
    (1000, 0.2, 5000),
    (1000, 60, 135),
    (1000, 60, 5000),
)

_SATURATED = """
title = "Saturated senders"
[phy]
standard = "802.11b"
[mac]
rules = {{ preset = "{preset}" }}
[[stations]]
name = "sender"
count = {count}
[[flows]]
stations = "sender"
start_spread = "0 s"
direction = "upload"
application = {{ kind = "udp", packet = "1500 B", rate = "saturated" }}
[run]
warmup = "2 s"
duration = "60 s"
replications = 10
seed = 1
"""


def saturated_table() -> str:
    """Return collision probability and goodput of saturated senders, in Markdown."""
    head = ["n", "P, model", "P, its rules", "P, standard"]
    head += ["Mb/s, model", "Mb/s, its rules", "Mb/s, standard"]
    lines = []
    for count in SENDERS:
        plain = compare(loads(_SATURATED.format(preset="bianchi", count=count)))
        standard = simulate(loads(_SATURATED.format(preset="standard", count=count)))
        model = plain.model
        goodput = model["goodput_bps"][0].value
        assert isinstance(goodput, float)
        cells = [
            str(count),
            f"{model['collision_probability'][0].value:.4f}",
            tables.shown(plain.simulation.metrics["collision_probability"], 4),
            tables.shown(standard.metrics["collision_probability"], 4),
            f"{goodput / 1e6:.3f}",
            tables.shown(plain.simulation.metrics["goodput_bps"], 3, 1e6),
            tables.shown(standard.metrics["goodput_bps"], 3, 1e6),
        ]
        lines.append(cells)
    return tables.markdown(head, lines)


def peer_table(peer: str) -> str:
    """Return each stored row of a peer and airtcp's value at the same point, in Markdown."""
    return table.markdown(table.lines([peer]))


def beginning(ssthresh: int, min_rto_s: float, warmup_s: int, duration_s: int = 500) -> str:
    """Return five endless downloads with W = 1000, a slow-start threshold and a minimum RTO."""
    return ns2.download(
        stations=5,
        application=ns2.ENDLESS,
        window=1000,
        ssthresh=ssthresh,
        min_rto=min_rto_s,
        initial_rto=max(3, min_rto_s),
        warmup=warmup_s,
        duration=duration_s,
        replications=8,
    )


def beginnings_table() -> str:
    """Return the lasting effect of the start on five endless downloads, W = 1000, in Markdown."""
    head = (
        "threshold",
        "least RTO",
        "after",
        "P, stations",
        "backlogged",
        "AP queue",
        "Jain index",
    )
    lines = []
    for ssthresh, min_rto_s, warmup_s in BEGINNINGS:
        measured = simulate(loads(beginning(ssthresh, min_rto_s, warmup_s))).metrics
        cells = [
            f"{ssthresh} segments",
            f"{min_rto_s:g} s",
            f"{warmup_s} s",
            tables.shown(measured["collision_probability_stations"], 4),
            tables.shown(measured["mean_backlogged_nodes"], 3),
            tables.shown(measured["ap_queue_packets"], 0),
            f"{measured['jain_index'].mean:.4f}",
        ]
        lines.append(cells)
    return tables.markdown(head, lines)


def komondor_table() -> str:
    """Return throughputs of chains and a star: Komondor, the models of cells, and a slot count."""
    return tables.markdown(*komondor.markdown())


#: The tables of the page by their marker names.
TABLES: dict[str, Callable[[], str]] = {
    "bianchi": saturated_table,
    "ns-2": partial(peer_table, "ns-2"),
    "beginnings": beginnings_table,
    "ns-3": partial(peer_table, "ns-3"),
    "ns-3-modern": ns3_modern.markdown,
    "komondor": komondor_table,
}


if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
