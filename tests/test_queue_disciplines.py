"""Queue disciplines in the simulator: who gets through a full queue in which flows take turns."""

from pathlib import Path

import airtcp.scenario
from airtcp.run.simulate import simulate

SCENARIO = """
[phy]
standard = "802.11b"
[ap]
queue = { discipline = "per-flow", limit = 6 }
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
    """With fewer places than flows an overflow costs some flow its only packet; the source offers
    the next one when there is room, and no saturated flow falls silent.
    """
    scenario = airtcp.scenario.loads(SCENARIO, name="queues.toml", base=Path())

    result = simulate(scenario, threads=1)

    saturated = [flow for flow in result.simulation.flows if flow.name.startswith("saturated")]
    goodput = [flow.goodput_bps for flow in saturated]
    assert len(goodput) == 4
    assert min(goodput) > 0.5 * sum(goodput) / 4 > 0, goodput
