"""Wired links: packet losses, and the queues before them."""

from typing import Any

import airtcp.scenario
import pytest
from airtcp.predict.limits import most_goodput
from airtcp.results import SimulationResult
from airtcp.run.simulate import simulate
from bases import BULK, cell

UDP = '{ kind = "udp", packet = "1000 B", rate = "4 Mb/s" }'


def run(link: str, *, direction: str = "download", application: str = BULK) -> SimulationResult:
    keys: dict[str, Any] = {"direction": direction, "application": application, "name": "sta"}
    keys |= {"warmup": "1 s", "duration": "20 s", "replications": 1, "flow": 'path = ["wire"]'}
    text = cell(standard="802.11g", tables=f"[links.wire]\n{link}", **keys)
    return simulate(airtcp.scenario.loads(text), threads=1)


@pytest.mark.parametrize(
    ("direction", "loss", "drops", "off"),
    [
        ("download", "{ every = 250 }", 40, 1),
        ("upload", "{ every = 250 }", 40, 1),
        # Four standard deviations, which are 14 packets.
        ("download", '"2 %"', 200, 56),
    ],
)
def test_a_link_loses_packets(direction: str, loss: str, drops: int, off: int) -> None:
    """4 Mb/s in packets of 1000 B are 500 a second, 10 000 in 20 s.

    Their payload is 972 B, without the headers of UDP and IP.
    """
    result = run(f'delay = "1 ms"\nloss = {loss}', direction=direction, application=UDP)
    lost = result.simulation.counts["wired_drops"]
    assert lost == pytest.approx(drops, abs=off)
    goodput = result.simulation.metrics["goodput_bps"].mean
    assert goodput == pytest.approx(500 * 972 * 8 * (1 - lost / 10_000), rel=2e-4)


@pytest.mark.parametrize(("direction", "rate_bps"), [("download", 3e6), ("upload", 1e6)])
def test_a_link_may_have_another_rate_towards_the_server(direction: str, rate_bps: float) -> None:
    """Datagrams of 1000 B carry 972 B of payload; 4 Mb/s of them are more than either rate."""
    result = run(
        'rate = "3 Mb/s"\nup_rate = "1 Mb/s"\nqueue = 10', direction=direction, application=UDP
    )
    goodput = result.simulation.metrics["goodput_bps"].mean
    assert goodput == pytest.approx(0.972 * rate_bps, rel=1e-3)
    most = most_goodput(result.scenario)
    assert most is not None
    # The payload of a datagram is that without 28 bytes of headers.
    assert goodput == pytest.approx(most.bps, rel=1e-3)


def test_retransmissions_count_and_bare_acks_do_not() -> None:
    """A download with a loss of one in 100; `tcp_segments` counts both ends, ACKs included.

    With `acks = true` one of 100 of all segments is lost. Otherwise only data is lost. An ACK
    covers at most two data segments, so data are at most two thirds of all segments.
    """
    plain = run('rate = "5 Mb/s"\nloss = { every = 100 }').simulation.counts
    acks = run('rate = "5 Mb/s"\nloss = { every = 100, acks = true }').simulation.counts
    assert plain["tcp_retransmissions"] >= plain["wired_drops"] > 50
    assert acks["wired_drops"] / acks["tcp_segments"] == pytest.approx(0.01, rel=0.03)
    assert plain["wired_drops"] / plain["tcp_segments"] < 0.01 * 2 / 3 * 1.02


def test_a_discipline_before_a_link_drops_early() -> None:
    """RED keeps the mean queue between its thresholds, while drop-tail fills the limit."""
    limit = 'rate = "5 Mb/s"\ndelay = "5 ms"\nqueue = {}'
    tail = run(limit.format("20"))
    red = run(limit.format('{ discipline = "red", limit = 20, max_probability = 0.1 }'))
    full, halved = (of.simulation.metrics["goodput_bps"].mean for of in (tail, red))
    assert full == pytest.approx(5e6 * 1460 / 1500, rel=0.03)
    # A window that is halved at the capacity of path and queue averages three quarters of it.
    assert halved > 0.75 * full
    assert red.simulation.counts["wired_drops"] > tail.simulation.counts["wired_drops"] > 0
