"""TACK: how often a receiver acknowledges, worked out by hand."""

from __future__ import annotations

from typing import Any

import airtcp
import pytest
from airtcp.scenario import loads
from bases import cell

MSS_BYTES = 1460


def rates(direction: str, rate: str, acks: str, window: str = "256 KiB") -> tuple[float, float]:
    """Segments with payload a second, and others."""
    wire = f'[links.wire]\nrate = "{rate}"\ndelay = "10 ms"'
    flow = f'path = ["wire"]\ntcp = {{ variant = "sack", receive_window = "{window}", {acks} }}'
    run: dict[str, Any] = {"warmup": "2 s", "duration": "5 s", "replications": 1, "seed": 1}
    keys: dict[str, Any] = {"standard": "802.11n", "name": "sta", "direction": direction}
    text = cell(tables=wire, flow=flow, **keys, **run)
    answer = airtcp.simulate(loads(text), threads=1).simulation.runs[0].answer
    data = answer["metrics"]["goodput_bps"] / (8 * MSS_BYTES)
    return data, answer["counts"]["tcp_segments"] / 5 - data


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_acknowledgments_are_four_in_a_least_round_trip(direction: str) -> None:
    """The least round trip is the handshake's: 20 ms of wire and less than 1 ms of air.

    So at most 200 ACKs a second, whatever comes; and not a fifth less, since a segment comes every
    0.2 ms. With an ACK for every second segment there are half as many as segments.
    """
    data, acks = rates(direction, "1 Gb/s", "tack = { every = 2, beta = 4 }")
    assert 160 < acks <= 202
    usual, every_second = rates(direction, "1 Gb/s", "delayed_ack = { every = 2 }")
    assert every_second == pytest.approx(usual / 2, rel=0.02)
    # What waits for an ACK waits for a fourth of 20 ms longer, and the window is not endless.
    assert data > 0.9 * usual


def test_where_segments_are_rare_they_are_counted() -> None:
    """At 1 Mb/s a segment takes 12 ms, more than a fourth of 45 ms: an ACK for every three."""
    data, acks = rates("download", "1 Mb/s", "tack = { every = 3, beta = 4 }", "16 KiB")
    assert data == pytest.approx(1e6 / (8 * 1500), rel=0.02)
    assert acks == pytest.approx(data / 3, rel=0.03)
