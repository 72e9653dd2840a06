"""The largest packets of a flow, for which periods and limits must have room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..standards import AccessCategory
from .keys.mac import Classify
from .keys.traffic import Flow

Side = Literal["ap", "stations"]

_SIDES: tuple[Side, ...] = ("ap", "stations")


def packets(flow: Flow, classify: Classify) -> Iterator[tuple[Side, AccessCategory, int]]:
    """Yield the largest packets of a flow in each category: their sender, category and bits.

    The bits do not include MAC and LLC headers.
    """
    sender, receiver = _SIDES if flow.direction == "download" else _SIDES[::-1]
    application, tcp = flow.application, flow.tcp
    if application.kind == "udp":
        yield sender, classify.udp, 8 * application.packet_bytes
        return
    assert tcp is not None, "transfers go over TCP"
    request = application.request_bytes if application.kind == "web" else 0
    yield sender, classify.tcp_data, 8 * tcp.mss_bytes + tcp.header_bits
    yield sender, classify.tcp_ack, tcp.header_bits
    # A SYN, or a request.
    yield receiver, classify.tcp_data, 8 * min(request, tcp.mss_bytes) + tcp.header_bits
    yield receiver, classify.tcp_ack, tcp.header_bits
