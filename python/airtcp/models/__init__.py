"""The models: closed forms that take plain numbers and arrays, and return small result objects.

- `aimd`: paper L, section 5, AIMD flows that share a wired bottleneck
- `airtime_fairness`: stations at different rates behind one sender with A-MPDUs
- `airtime`: durations of frames and exchanges, from the `phy` section of a resolved scenario
- `ampdu`: PPDUs of several frames: how many fit, how long they last, what errors leave
- `bianchi`: saturated DCF, basic access and RTS/CTS, with and without a retry limit
- `bruno`: paper B, an idealised round of TCP downloads and the burst of the access point
- `bursts`: the goodput of downloads with such bursts
- `cells`: saturated cells on one channel, of which some hear each other
- `coupled_sharing`: processor-sharing queues that slow each other down
- `cubic`: mean windows of CUBIC and Reno on a path that loses
- `edca`: saturated EDCA with access categories of different AIFS
- `gopal`: paper G, simultaneous send
- `heusse`: hosts at different rates, the performance anomaly
- `hidden`: two saturated stations that do not hear each other
- `hoekstra`: paper H, effective service time of a file transfer
- `leith`: paper L, TCP uploads beside a prioritised access point
- `max_throughput`: theoretical maximum throughput of a lone sender
- `miorandi`: paper M, TCP downloads: contention, throughput, session delay
- `processor_sharing`: M/G/1-PS, with a limit on flows and with few sources
- `replies`: the contenders of a cell with TCP, and TCP ACKs that go at once
- `tcp_ampdu`: TCP over A-MPDUs: aggregates, accesses of ACKs, collisions

Every model raises `ValueError` naming an argument that cannot be, and `ConvergenceError` rather
than return a number that did not converge. Models never import the simulator.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airtcp.models import (
        aimd,
        airtime,
        airtime_fairness,
        ampdu,
        bianchi,
        bruno,
        bursts,
        cells,
        coupled_sharing,
        cubic,
        edca,
        gopal,
        heusse,
        hidden,
        hoekstra,
        leith,
        max_throughput,
        miorandi,
        processor_sharing,
        replies,
        tcp_ampdu,
    )

__all__ = [
    "aimd",
    "airtime",
    "airtime_fairness",
    "ampdu",
    "bianchi",
    "bruno",
    "bursts",
    "cells",
    "coupled_sharing",
    "cubic",
    "edca",
    "gopal",
    "heusse",
    "hidden",
    "hoekstra",
    "leith",
    "max_throughput",
    "miorandi",
    "processor_sharing",
    "replies",
    "tcp_ampdu",
]


def __getattr__(name: str) -> ModuleType:
    """Import a model when it is first asked for: few are asked about one scenario."""
    if name in __all__:
        return import_module(f"airtcp.models.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
