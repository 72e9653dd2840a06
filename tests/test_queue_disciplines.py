"""Queue disciplines in the simulator: who gets through a full queue in which flows take turns."""

from pathlib import Path

import airtcp.scenario
from airtcp.simulate import simulate

SCENARIO = """
[phy]
standard = "802.11b"
[ap]
queue = { discipline = "per-flow", limit = 20 }
[[stations]]
name = "saturated"
count = 4
[[stations]]
name = "browser"
count = 4
[[flows]]
stations = "saturated"
direction = "download"
application = { kind = "udp", packet = "1500 B", rate = "saturated" }
[[flows]]
stations = "browser"
direction = "download"
application = { kind = "bulk" }
[run]
warmup = "2 s"
duration = "20 s"
replications = 2
"""


def test_a_saturated_flow_goes_on_after_it_lost_its_only_packet() -> None:
    """An overflow may cost a flow its only packet; the source offers the next one when there is
    room. Flows take turns a packet each, so all of them get about the same.
    """
    scenario = airtcp.scenario.loads(SCENARIO, name="queues.toml", base=Path())

    result = simulate(scenario, threads=1)

    goodput = [flow.goodput_bps for flow in result.simulation.flows]
    fair = sum(goodput) / len(goodput)
    assert all(0.5 * fair < share < 1.5 * fair for share in goodput), goodput
