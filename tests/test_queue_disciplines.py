"""Queue disciplines in the simulator: who gets through a full queue in which flows take turns."""

from pathlib import Path
from typing import Any

import airtcp.scenario
from airtcp.run.simulate import simulate
from bases import cell

SCENARIO = """
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


SEVERAL = """
phy = {{ standard = "802.11b" }}
ap = {{ queue = {{ discipline = "{discipline}", limit = 50 }} }}
stations = [{{ name = "client", count = {count} }}]
run = {{ warmup = "0 s", duration = "60 s", replications = 2 }}
[[flows]]
stations = "client"
direction = "download"
application = {application}
"""
#: Transfers of one client that overlap, each on its own connection.
FTP = (
    '{ kind = "ftp", interarrival = { distribution = "exponential", mean = "0.5 s" }, '
    'size = { distribution = "pareto", mean = "200 kB", shape = 1.5 } }'
)


def several(discipline: str, application: str = FTP, count: int = 1) -> dict[str, object]:
    text = SEVERAL.format(discipline=discipline, application=application, count=count)
    scenario = airtcp.scenario.loads(text, name="several.toml", base=Path())
    runs = simulate(scenario, threads=1).simulation.runs
    return {str(run.index): run.answer for run in runs}


def test_connections_take_turns_by_flow_or_each() -> None:
    """By connection small files pass large ones; by the flow of the scenario nothing changes.
    With one connection a flow both are the same.
    """
    fifo, by_flow, by_connection = map(several, ("fifo", "per-scenario-flow", "per-flow"))
    assert by_flow == fifo
    assert by_connection != fifo
    one = '{ kind = "bulk" }'
    by_connection = several("per-flow", one, count=4)
    assert by_connection == several("per-scenario-flow", one, count=4)
    assert by_connection != several("fifo", one, count=4)


UPLOADS = cell(
    5,
    standard="802.11n",
    tables="[ap]\nqueue = { limit = 300 }",
    name="sta",
    direction="upload",
    flow='tcp = { variant = "sack", receive_window = "256 KiB" }',
    warmup="0 s",
    duration="5 s",
    replications=1,
)


def filtered(written: str) -> int:
    """How many ACKs leave queues since newer ones cover them; the trace has as many."""
    text = UPLOADS.replace("limit = 300", f"limit = 300{written}")
    result = simulate(airtcp.scenario.loads(text), threads=1, trace=True)
    run = result.simulation.runs[0]
    count = int(run.answer["counts"]["acks_filtered"])
    assert len(run.trace.events("ack_filtered").time_s) == count
    return count


def test_a_filter_takes_acks_out_that_newer_ones_cover() -> None:
    """ACKs of five uploads wait at the access point; the bolder filter takes more of them."""
    none, careful, bold = (
        filtered(s) for s in ("", ", ack_filter = true", ', ack_filter = "aggressive"')
    )

    assert none == 0
    assert 1_000 < careful < bold


def test_a_ring_bounds_what_a_discipline_can_still_drop() -> None:
    """CoDel alone keeps the queue near its target; what is in the driver's ring waits beyond it."""
    flow = 'path = [{ delay = "1 ms" }]\ntcp = { variant = "sack", receive_window = "4 MiB" }'
    run: dict[str, Any] = {"warmup": "5 s", "duration": "20 s", "replications": 1}
    rtts = []
    for ring in ("", ", mac_limit = 100"):
        queue = f'[ap]\nqueue = {{ discipline = "fq-codel"{ring} }}'
        text = cell(standard="802.11n", tables=queue, name="sta", flow=flow, **run)
        found = simulate(airtcp.scenario.loads(text), threads=1).simulation.metrics["rtt_s"]
        rtts.append(found.mean)
    # 100 packets of 1500 bytes at some 55 Mb/s are 22 ms.
    assert rtts[0] + 0.01 < rtts[1] < rtts[0] + 0.025
