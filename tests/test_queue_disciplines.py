"""Queue disciplines in the simulator: shares, queue lengths, and delays."""

from typing import Any

import pytest
from airtcp.results import Simulation
from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from bases import BULK, cell

SATURATED_BESIDE_BULK = """
phy = { standard = "802.11b" }
ap = { queue = { discipline = "per-flow", limit = 6 } }
stations = [{ name = "saturated", count = 4 }, { name = "browser", count = 4 }]
run = { warmup = "2 s", duration = "20 s", replications = 2 }
[[flows]]
stations = "saturated"
direction = "download"
application = { kind = "udp", packet = "1500 B", rate = "saturated" }
[[flows]]
stations = "browser"
direction = "download"
application = { kind = "bulk" }
"""
#: Overlapping transfers of one client, each on its own connection.
FTP = (
    '{ kind = "ftp", interarrival = { distribution = "exponential", mean = "0.5 s" }, '
    'size = { distribution = "pareto", mean = "200 kB", shape = 1.5 } }'
)
#: A sparse flow next to a download.
PING = """
[[flows]]
name = "ping"
stations = "sta"
direction = "download"
application = { kind = "udp", packet = "92 B", rate = "7360 b/s" }
"""
TARGET_S = 0.005


def run(queue: str, count: int = 1, **more: Any) -> Simulation:
    """Return a cell whose access point has a queue with these keys."""
    keys: dict[str, Any] = {"warmup": "5 s", "duration": "20 s", "replications": 1} | more
    text = cell(count, name="sta", tables=f"[ap]\nqueue = {{ {queue} }}", **keys)
    return simulate(loads(text), threads=1, trace="ack_filter" in queue).simulation


def test_a_saturated_flow_goes_on_after_it_lost_its_only_packet() -> None:
    """With fewer places than flows an overflow can drop a flow's only packet. The source offers the
    next one when there is room, so no saturated flow falls silent.
    """
    flows = simulate(loads(SATURATED_BESIDE_BULK), threads=1).simulation.flows
    goodput = [flow.goodput_bps for flow in flows if flow.name.startswith("saturated")]
    assert len(goodput) == 4
    assert min(goodput) > 0.5 * sum(goodput) / 4 > 0, goodput


def test_connections_take_turns_by_flow_or_each() -> None:
    """Per connection, small files overtake large ones; per scenario flow nothing changes.

    With one connection per flow both are the same."""

    def answers(discipline: str, application: str = FTP, count: int = 1) -> list[Any]:
        keys: dict[str, Any] = {"application": application, "warmup": "0 s", "duration": "60 s"}
        queue = f'discipline = "{discipline}", limit = 50'
        return [one.answer for one in run(queue, count, **keys, replications=2).runs]

    fifo, by_flow, by_connection = map(answers, ("fifo", "per-scenario-flow", "per-flow"))
    assert by_connection != fifo == by_flow
    by_connection = answers("per-flow", BULK, 4)
    assert by_connection == answers("per-scenario-flow", BULK, 4) != answers("fifo", BULK, 4)


def test_a_filter_takes_acks_out_that_newer_ones_cover() -> None:
    """ACKs of five uploads wait at the access point.

    The more aggressive filter removes more of them, and the trace has as many removals as the
    counter.
    """

    def filtered(told: str) -> int:
        tcp = 'tcp = { variant = "sack", receive_window = "256 KiB" }'
        keys: dict[str, Any] = {"standard": "802.11n", "direction": "upload", "flow": tcp}
        keys |= {"warmup": "0 s", "duration": "5 s"}
        (one,) = run(f"limit = 300, ack_filter = {told}", 5, **keys).runs
        count = int(one.answer["counts"]["acks_filtered"])
        assert len(one.trace.events("ack_filtered").time_s) == count
        return count

    none, careful, bold = map(filtered, ("false", "true", '"aggressive"'))
    assert none == 0
    assert 1_000 < careful < bold


def test_a_ring_bounds_what_a_discipline_can_still_drop() -> None:
    """CoDel keeps its own queue near the target; packets in the driver's ring add delay to that."""
    flow = 'path = [{ delay = "1 ms" }]\ntcp = { variant = "sack", receive_window = "4 MiB" }'
    plain, ringed = (
        run(f'discipline = "fq-codel"{ring}', standard="802.11n", flow=flow).metrics["rtt_s"].mean
        for ring in ("", ", mac_limit = 100")
    )
    # 100 packets of 1500 bytes at some 55 Mb/s are 22 ms.
    assert plain + 0.01 < ringed < plain + 0.025


@pytest.mark.parametrize(("standard", "rate_bps"), [("802.11g", 25e6), ("802.11n", 55e6)])
def test_a_ping_beside_a_download_waits_for_less_than_twice_the_target(
    standard: str, rate_bps: float
) -> None:
    """A drop-tail queue of 300 packets of 1500 bytes is full, at some 25 or 55 Mb/s."""
    flow = 'name = "file"\npath = [{ rate = "1 Gb/s", delay = "5 ms" }]\n'
    flow += 'tcp = { variant = "sack", receive_window = "1 MiB" }' + PING
    fair, codel, full = (
        run(queue, standard=standard, flow=flow).metrics
        for queue in ('discipline = "fq-codel"', 'discipline = "codel"', "limit = 300")
    )
    delays: list[Any] = [one["packet_delay_s"].mean for one in (fair, codel, full)]
    delay_s, of_codel_s, full_s = delays
    assert delay_s < min(2 * TARGET_S, of_codel_s)
    assert codel["ap_queue_delay_s"].mean < 0.5 * full_s
    # The window oscillates between half and all of the capacity of path and queue.
    assert full_s > 0.5 * 300 * 12_000 / rate_bps
