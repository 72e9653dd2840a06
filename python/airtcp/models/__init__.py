"""Collect the analytical models: closed forms that take plain numbers and arrays.

- `airtime_fairness`: stations at different rates behind one sender with A-MPDUs
- `airtime`: durations of frames and exchanges, from the `phy` section of a resolved scenario
- `ampdu`: A-MPDUs: how many MPDUs fit, how long they last, what errors leave
- `bianchi`: saturated DCF, basic access and RTS/CTS, with and without a retry limit
- `cells`: saturated cells on one channel, some of which hear each other
- `checks`: checks of arguments, which all models share
- `cubic`: mean windows of CUBIC and Reno on a lossy path
- `edca`: saturated EDCA with access categories of different AIFS
- `heusse`: hosts at different rates, the performance anomaly
- `hidden`: two saturated stations that are hidden from each other
- `max_throughput`: theoretical maximum throughput of a single sender
- `ofdma`: saturated downlink OFDMA
- `processor_sharing`: M/G/1-PS, with a limit on flows and with few sources
- `replies`: the contenders in a cell with TCP, and TCP ACKs without backoff
- `roots`: roots of monotone functions, which all models share
- `tcp_ampdu`: TCP over A-MPDUs: aggregation, channel access of ACKs, collisions

`airtcp-papers` adds `aimd`, `bruno`, `bursts`, `coupled_sharing`, `gopal`, `hoekstra`, `leith` and
`miorandi`, as attributes of this package.

Results are small objects. Every model raises `ValueError` with the name of an invalid argument, and
`ConvergenceError` instead of returning a number that did not converge. Models never import the
simulator.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airtcp.models import (
        airtime,
        airtime_fairness,
        ampdu,
        bianchi,
        cells,
        checks,
        cubic,
        edca,
        heusse,
        hidden,
        max_throughput,
        ofdma,
        processor_sharing,
        replies,
        roots,
        tcp_ampdu,
    )

__all__ = [
    "airtime",
    "airtime_fairness",
    "ampdu",
    "bianchi",
    "cells",
    "checks",
    "cubic",
    "edca",
    "heusse",
    "hidden",
    "max_throughput",
    "ofdma",
    "processor_sharing",
    "replies",
    "roots",
    "tcp_ampdu",
]


def __getattr__(name: str) -> ModuleType:
    """Import a model at its first use: a scenario needs only a few of them."""
    if name in __all__:
        return import_module(f"airtcp.models.{name}")
    if not name.startswith("_"):
        from airtcp.extensions import equations

        if name in (known := equations()):
            return import_module(known[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
