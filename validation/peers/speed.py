"""Measure the CPU time of airtcp on the points at which that of ns-2 and ns-3 was measured.

The stored figures are from another machine and day, so ratios are rough: validation/ns2
and `make bench` measure ns-2 and airtcp side by side.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from peers import ns2, ns3
from peers.references import Point
from peers.samples import Answer, answers

#: Simulated seconds per measured point; less would be too short for the clock.
_SECONDS = 2_000


def measure(peer: str, point: Point) -> dict[str, float]:
    """Return CPU microseconds per MAC exchange, and simulated seconds per CPU second."""
    scenario = {"ns-2": _ns2, "ns-3": _ns3}[peer](point)
    runs, cpu_s = _timed(lambda: answers(scenario))
    exchanges = sum(run["counts"]["mac_exchanges"] for run in runs)
    attempts = sum(run["counts"]["mac_attempts"] for run in runs)
    return {
        "simulated_s_per_cpu_s": _SECONDS * len(runs) / cpu_s,
        "cpu_us_per_mac_exchange": 1e6 * cpu_s / exchanges,
        "cpu_us_per_mac_transmission": 1e6 * cpu_s / attempts,
    }


def _timed(work: Callable[[], list[Answer]]) -> tuple[list[Answer], float]:
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin


def _ns2(point: Point) -> str:
    given = point.settings
    return ns2.download(
        stations=given["n"],
        application='{ kind = "bulk" }',
        window=given["W"],
        ssthresh=min(int(given["W"]), ns2.DEFAULT_SSTHRESH),
        warmup=0,
        duration=_SECONDS,
        replications=2,
    )


def _ns3(point: Point) -> str:
    group, count = point.parameters.split(" n=")
    if group == "udp-upload":
        traffic = ns3.DATAGRAMS.format(
            name="uplink", direction="upload", packet=1500, rate="saturated"
        )
    else:
        traffic = ns3.TCP.format(direction="download", every=2)
    cell = ns3.CELL.format(
        header_bits=224,
        edca="",
        rules=ns3.RULES,
        ap_queue=100,
        station_queue=100,
        n=count,
        duration=_SECONDS,
    )
    return cell.replace("replications = 10", "replications = 2") + traffic
