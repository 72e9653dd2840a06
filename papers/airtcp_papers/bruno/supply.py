"""Measure for paper B whether the access point always has data, and other burst targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airtcp.results.trace import Trace
from airtcp.scenario import ResolvedScenario
from airtcp.stats import student_interval

from airtcp_papers.bruno.bursts import BURSTS
from airtcp_papers.bruno.cells import downloads
from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.measure import least, ratio

_POPULATIONS: Final = (10, 20)
_ENDS: Final = (1, 20)
#: m* = 8 is the paper's target, a quarter of the window of 32 slots; the others are an eighth and a
#: half.
_BEST: Final = 8
_OTHERS: Final = (4, 16)


def waiting(scenario: ResolvedScenario, traces: Sequence[Trace]) -> list[float]:
    """Return for each run the fraction of measured time with a packet at the access point."""
    warmup_s = (scenario.run.warmup_ns or 0) / 1e9
    queues = [trace.queue("ap") for trace in traces]
    return [float((queue.packets[queue.time_s >= warmup_s] > 0).mean()) for queue in queues]


@item("B.supply")
def supply(bench: Bench) -> Found:
    has = {}
    for n in _ENDS:
        keys = {"stations.station.count": n}
        shares = bench.traced("hotspot", keys, reduce=waiting, interval_s=0.02, quick={})
        has[n] = student_interval(shares)
    gains, even = {}, {}
    for n in _POPULATIONS:
        best = downloads(bench, n, BURSTS)
        even[f"even_{n}"] = best.metrics["jain_index"]
        for target in _OTHERS:
            access = {**BURSTS["ap.access"], "target_active": target}
            other = downloads(bench, n, {**BURSTS, "ap.access": access})
            gains[f"over_{target}_{n}"] = ratio(best, other, "goodput_bps")
    return Found(
        values={
            "always_one": has[1],
            "always_twenty": has[20],
            "best_everywhere": least(gains.values()),
            "even": least(even.values()),
        },
        told={"best": _BEST, **gains, **even},
    )
