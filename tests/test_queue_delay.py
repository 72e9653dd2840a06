"""Latency under load: a flow that sends now and then, beside a download that fills the queue."""

import airtcp.scenario
import pytest
from airtcp.run.simulate import simulate

SCENARIO = """
phy = {{ standard = "{standard}" }}
ap = {{ queue = {queue} }}
stations = [{{ name = "sta", count = 1 }}]
run = {{ warmup = "5 s", duration = "20 s", replications = 1 }}
[[flows]]
name = "ping"
stations = "sta"
direction = "download"
application = {{ kind = "udp", packet = "92 B", rate = "7360 b/s" }}
[[flows]]
name = "file"
stations = "sta"
direction = "download"
application = {{ kind = "bulk" }}
path = [{{ rate = "1 Gb/s", delay = "5 ms" }}]
tcp = {{ variant = "sack", receive_window = "1 MiB" }}
"""
TARGET_S = 0.005


def delays_s(standard: str, queue: str) -> tuple[float, float]:
    """How long packets of the pinging flow are under way, and how long packets wait at all."""
    text = SCENARIO.format(standard=standard, queue=queue)
    metrics = simulate(airtcp.scenario.loads(text), threads=1).simulation.metrics
    found = metrics["packet_delay_s"].mean, metrics["ap_queue_delay_s"].mean
    assert None not in found
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("standard", ["802.11g", "802.11n"])
def test_a_ping_beside_a_download_waits_for_less_than_twice_the_target(standard: str) -> None:
    """A drop-tail queue of 300 packets of 1500 bytes is full, at some 25 or 55 Mb/s."""
    fair, _ = delays_s(standard, '{ discipline = "fq-codel" }')
    codel, waiting = delays_s(standard, '{ discipline = "codel" }')
    full, _ = delays_s(standard, "{ limit = 300 }")

    rate_bps = {"802.11g": 25e6, "802.11n": 55e6}[standard]
    assert fair < 2 * TARGET_S
    assert fair < codel
    assert waiting < 0.5 * full
    # The window saws between a half and all of what path and queue hold.
    assert full > 0.5 * 300 * 12_000 / rate_bps
