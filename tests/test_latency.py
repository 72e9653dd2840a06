"""Packet delays and losses against arithmetic and Little's law.

crates/sim/src/delays.rs tests the accuracy of a delay histogram,
crates/sim/src/world/ledger/latency.rs RFC 3550's jitter estimate.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from airtcp import simulate
from airtcp.results import Simulation
from airtcp.scenario import loads
from bases import cell

RUN = '[run]\nwarmup = "1 s"\nduration = "4 s"\nreplications = 1\nseed = 3\n'


def simulated(text: str) -> Simulation:
    return simulate(loads(text + RUN), threads=1).simulation


def means(text: str) -> dict[str, Any]:
    return {name: one.mean for name, one in simulated(text).metrics.items()}


def datagrams(direction: str, rate: str, count: int = 1) -> str:
    application = f'{{ kind = "udp", packet = "1500 B", rate = "{rate}" }}'
    keys = {"name": "a", "direction": direction, "application": application}
    return cell(count, phy='control_rate = "2 Mb/s"', **keys)


@pytest.mark.parametrize(("direction", "queue_s"), [("download", 1568e-6), ("upload", None)])
def test_a_datagram_at_an_idle_medium_takes_its_airtime(
    direction: str, queue_s: float | None
) -> None:
    """192 us and 1536 bytes at 11 Mb/s in whole microseconds: 1310 us. A packet leaves the access
    point's queue after SIFS and ACK, 10 and 248 us later.

    The medium has always been idle for longer than DIFS when one arrives, so none waits.
    """
    found = means(datagrams(direction=direction, rate="120 kb/s"))
    assert found["packet_delay_s"] == pytest.approx(1310e-6, rel=1e-12)
    for share in ("p50", "p90", "p95", "p99"):
        assert found[f"packet_delay_{share}_s"] == pytest.approx(1310e-6, rel=1 / 128)
    assert found["jitter_s"] == found["packet_loss"] == 0.0
    assert found["rtt_s"] is found["reorder_delay_s"] is None
    assert found["ap_queue_delay_s"] == (queue_s and pytest.approx(queue_s, rel=1e-12))


def test_losses_are_what_does_not_fit() -> None:
    """12 Mb/s are offered and about half is delivered: the rest finds the queue full."""
    simulation = simulated(
        datagrams(direction="download", rate="12 Mb/s") + "[ap]\nqueue = { limit = 10 }\n"
    )
    found = {name: one.mean for name, one in simulation.metrics.items()}
    offered = found["goodput_bps"] + 8 * 1472 * simulation.counts["ap_queue_drops"] / 4.0
    assert found["packet_loss"] == pytest.approx(1 - found["goodput_bps"] / offered, abs=1e-9)
    # Ten packets fit, and a new one arrives before the next one leaves.
    assert found["packet_delay_s"] == pytest.approx(9.5 * 1472 * 8 / found["goodput_bps"], rel=0.06)
    assert simulation.groups["a"]["download"]["packet_loss"].mean == found["packet_loss"]


@pytest.mark.parametrize(
    ("measured_from_us", "measured_us", "share"),
    [(610, 1000, 700 / 1310), (610, 99_390, 700 / 1310), (-500, 1000, 0.0)],
)
def test_a_frame_under_way_counts_in_part(
    tmp_path: Path, measured_from_us: int, measured_us: int, share: float
) -> None:
    """A datagram of 1310 us goes every 100 ms. Measurement begins 610 us into one: 700 us of 1310
    count, of a payload of 1472 bytes, 1070.5 us at 11 Mb/s. One in progress at the end does not
    count.
    """
    text = datagrams(direction="download", rate="120 kb/s")
    run = '[run]\nwarmup = "{} ns"\nduration = "{} us"\nreplications = 1\n'
    simulate(loads(text + run.format(0, 200_000)), threads=1, pcap=tmp_path / "air.pcap")
    # The start of the first frame is the time of the first record in the capture.
    seconds, nanos = struct.unpack_from("<II", (tmp_path / "air.pcap").read_bytes(), 24)
    warmup_ns = 1_000_000_000 * seconds + nanos + 1000 * measured_from_us
    simulation = simulate(loads(text + run.format(warmup_ns, measured_us)), threads=1).simulation
    found = simulation.metrics["channel_utilization"].mean
    payload_us = 1472 * 8 / 11 * share
    # Whole bits.
    assert found == pytest.approx(payload_us / measured_us, abs=1 / 11 / measured_us)
    assert simulation.groups["a"]["download"]["channel_utilization"].mean == found


def test_no_more_payload_crosses_the_air_than_there_is_time() -> None:
    """1 ms of saturated stations whose frames last longer. Counting whole frames gave 1.06."""
    text = datagrams("upload", "saturated", count=5)
    run = '[run]\nwarmup = "10 ms"\nduration = "1 ms"\nreplications = 200\nseed = 1\n'
    runs = simulate(loads(text + run)).simulation.runs
    found = [run.answer["metrics"]["channel_utilization"] for run in runs]
    # At most one frame of 1310 us that carries 1070.5 us of payload.
    assert 0.5 < max(found) <= 1070.6 / 1310


@pytest.mark.parametrize("standard", ["802.11g", "802.11n"])
@pytest.mark.parametrize("direction", ["download", "upload"])
def test_round_trips_and_queues_obey_littles_law(standard: str, direction: str) -> None:
    """Eight segments of each transfer are always in flight, so the mean round-trip time is 8 * 8000
    bits over one flow's goodput; the mean queue length is its arrival rate times its delay.

    The error is what is in flight at both ends of the measured time: 24 of some thousands.
    """
    tcp = 'tcp = { mss = "1000 B", receive_window = { segments = 8 } }'
    flow = f'path = [{{ delay = "20 ms" }}]\n{tcp}'
    simulation = simulated(cell(3, standard=standard, name="a", direction=direction, flow=flow))
    found = {name: one.mean for name, one in simulation.metrics.items()}
    per_flow = [flow.goodput_bps for flow in simulation.flows]
    assert max(per_flow) / min(per_flow) < 1.05
    assert found["rtt_s"] == pytest.approx(64_000 * 3 / sum(per_flow), rel=0.01)
    assert found["rtt_s"] > 0.04
    if standard == "802.11g":
        sent = next(one.successes for one in simulation.stations if one.name == "ap")
        assert found["ap_queue_delay_s"] * sent / 4.0 == pytest.approx(
            found["ap_queue_packets"], rel=0.01
        )
    part = simulation.groups["a"][direction]
    assert part["rtt_p90_s"].mean == found["rtt_p90_s"]
    assert found["rtt_p50_s"] <= found["rtt_p90_s"] <= found["rtt_p95_s"] <= found["rtt_p99_s"]
    assert found["packet_loss"] is None


def test_groups_and_directions_are_apart() -> None:
    """The far group has 30 ms more each way, which are 60 ms more of round-trip time."""
    groups = ("near", "download", 10), ("far", "upload", 40)
    one = "tcp = { receive_window = { segments = 1 }, delayed_ack = { every = 1 } }"
    text = 'phy.standard = "802.11g"\n' + "".join(
        f'[[stations]]\nname = "{name}"\ncount = 1\n[[flows]]\nstations = "{name}"\n'
        f'direction = "{direction}"\napplication.kind = "bulk"\n'
        f'path = [{{ delay = "{delay_ms} ms" }}]\n{one}\n'
        for name, direction, delay_ms in groups
    )
    simulation = simulated(text)
    near = simulation.groups["near"]["download"]["rtt_s"].mean
    far = simulation.groups["far"]["upload"]["rtt_s"].mean
    assert 0.0201 < near < 0.0215
    assert 0.0801 < far < 0.0815
    assert simulation.groups["near"]["all"]["rtt_s"].mean == near
    # The mean of all weights each group by the segments that it sent, here 1 to 4.
    both = simulation.metrics["rtt_s"].mean
    assert both == pytest.approx(2 / (1 / near + 1 / far), rel=0.01)


def test_the_path_does_not_wait_for_what_was_lost() -> None:
    """Segments behind a lost one wait for its retransmission, a round trip of 40 ms or more.

    The path's round-trip time stays as without losses. Without SACK the sender learns no earlier.
    """

    def of(variant: str, loss: str = "") -> dict[str, Any]:
        flow = f'path = [{{ delay = "20 ms"{loss} }}]\ntcp = {{ variant = "{variant}" }}'
        return means(cell(standard="802.11g", name="a", flow=flow))

    rate = ', loss = { rate = "1 %" }'
    clean, lossy, blind = of("sack"), of("sack", rate), of("newreno", rate)
    assert clean["path_rtt_s"] == clean["rtt_s"]
    assert lossy["rtt_s"] > lossy["path_rtt_s"] + 0.003
    # The link both ways plus airtime; the last of few segments waits for the delayed-ACK timer.
    assert 0.04 < lossy["path_rtt_s"] < 1.1 * clean["path_rtt_s"]
    assert lossy["path_rtt_p50_s"] <= lossy["path_rtt_p90_s"] <= lossy["path_rtt_p99_s"]
    assert lossy["path_rtt_p99_s"] < lossy["rtt_p99_s"]
    assert blind["path_rtt_s"] == blind["rtt_s"]
