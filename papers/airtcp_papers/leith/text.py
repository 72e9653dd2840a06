"""Measure paper L's statements without a figure: infrequent ACKs, and few packets in flight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from airtcp.results.trace import Trace
from airtcp.scenario import ResolvedScenario
from airtcp.stats import student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.measure import Answer, over_runs, ratio

#: Segments of an ACK: each, and as many as k = 8 leaves of them on a reverse path.
_EACH, _FEW_ACKS = 1, 8
#: One upload of 1 MB over a path of 40 ms and back, whose window grows in slow start.
_SHORT: Final[dict[str, Any]] = {
    "stations.station.count": 1,
    "flows.station.application": {"kind": "bulk", "size": "1 MB"},
    "flows.station.path": [{"rate": "100 Mb/s", "delay": "20 ms"}],
    "flows.station.tcp.initial_window": 2,
    "run.warmup": "0 s",
    "run.duration": "60 s",
    "run.replications": 20,
}
#: Frames are sent once, so that the channel loses data and ACKs alike.
_LOSSY: Final[dict[str, Any]] = {"mac.short_retry_limit": 1, "stations.station.count": 5}
#: Segments in flight: few, and many.
_LITTLE, _MUCH = 4, 40
_INTERVAL_S: Final = 0.005


def bursts(scenario: ResolvedScenario, traces: Sequence[Trace]) -> list[float]:
    """Return for each run the mean number of packets in the station's queue."""
    warmup_s = (scenario.run.warmup_ns or 0) / 1e9
    queues = [trace.queue("station/0 AC_BE") for trace in traces]
    return [float(np.mean(queue.packets[queue.time_s >= warmup_s])) for queue in queues]


def _recoveries(answer: Answer) -> float:
    """Return the timeouts for each segment that is sent again."""
    counts = answer["counts"]
    return float(counts["tcp_timeouts"] / counts["tcp_retransmissions"])


@item("L.text")
def text(bench: Bench) -> Found:
    def changes(every: int) -> dict[str, Any]:
        return {**_SHORT, "flows.station.tcp.delayed_ack": {"every": every, "timeout": "200 ms"}}

    acked, thinned = (bench.simulate("uploads", changes(n), quick={}) for n in (_EACH, _FEW_ACKS))
    longer = ratio(thinned, acked, "transfer_time_s")
    # The window is less than the path carries: only bursts wait at the station.
    waiting = {
        n: bench.traced(
            "uploads",
            {
                **changes(n),
                "flows.station.application": {"kind": "bulk"},
                "flows.station.tcp.receive_window": {"segments": 16},
                "run.warmup": "10 s",
            },
            reduce=bursts,
            interval_s=_INTERVAL_S,
            quick={},
        )
        for n in (_EACH, _FEW_ACKS)
    }
    burstier = student_interval(
        few / each for few, each in zip(waiting[_FEW_ACKS], waiting[_EACH], strict=True)
    )
    little, much = (
        bench.simulate(
            "uploads", {**_LOSSY, "flows.station.tcp.receive_window": {"segments": window}}
        )
        for window in (_LITTLE, _MUCH)
    )
    return Found(
        values={
            "longer": longer,
            "burstier": burstier,
            "susceptible": ratio(little, much, _recoveries),
        },
        told={f"held_{n}": student_interval(some) for n, some in waiting.items()}
        | {f"timeouts_{_LITTLE}": over_runs(little, _recoveries)}
        | {f"timeouts_{_MUCH}": over_runs(much, _recoveries)},
    )
