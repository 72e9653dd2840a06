"""Measure windows and queues over time, as described in paper G's text, from traces."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any, Final

import numpy as np
from airtcp.results.trace import Trace
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Cell, Data, Value
from airtcp_papers.common.measure import off

_INTERVAL_S: Final = 0.02
_RUN: Final[dict[str, Any]] = {"run.duration": "30 s", "run.replications": 20}
_THREE: Final = 3
#: Segments delivered when windows are compared: after skipping begins, before the first loss.
_SEGMENTS: Final = 100
_MSS: Final = 1000
#: In this interval three uploads have begun and none has ended.
_FROM_S, _TO_S = 2.0, 20.0


def beginnings(scenario: ResolvedScenario, traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """Return for each run queues, and the first flow's window growth until its first loss.

    `slow_start`: whether the window was below the threshold at that loss. `cwnd`: the window when a
    number of segments had been delivered.
    """
    found = []
    for trace in traces:
        name = trace.flow_names[0]
        flow, events = trace.flow(name), trace.events(flow=name)
        lost = np.flatnonzero(np.isin(events.event, ("fast_retransmit", "timeout")))
        reached = np.flatnonzero(flow.delivered_bytes >= _SEGMENTS * _MSS)
        queues = {}
        for queue in trace.queue_names:
            series = trace.queue(queue)
            inside = (series.time_s >= _FROM_S) & (series.time_s < _TO_S)
            queues[queue] = float(series.packets[inside].mean())
        first = int(lost[0]) if lost.size else None
        found.append(
            {
                "queues": queues,
                "slow_start": None if first is None else _in_slow_start(events, first),
                "cwnd": float(flow.cwnd_bytes[reached[0]] / _MSS) if reached.size else None,
            }
        )
    return found


def _in_slow_start(events: Any, place: int) -> bool:
    """Return whether a window is below its threshold, or has none, at an event."""
    threshold = events.ssthresh_bytes[place]
    return bool(np.isnan(threshold) or events.cwnd_bytes[place] < threshold)


@item("G.windows")
def windows(bench: Bench) -> Found:
    plain, skipping, three = (
        _observe(bench, skip, flows) for skip, flows in ((0, 1), (1, 1), (0, _THREE))
    )
    slow = student_interval(
        float(run["slow_start"]) for run in plain if run["slow_start"] is not None
    )
    grown = [_mean(runs, "cwnd") for runs in (plain, skipping)]
    slower = student_interval(b["cwnd"] / a["cwnd"] for a, b in zip(plain, skipping, strict=True))
    one, many = (_queues_over(runs) for runs in (plain, three))
    rows: list[list[Cell]] = [
        ["share of runs in slow start at the first loss", slow.mean],
        [f"window after {_SEGMENTS} segments, every ACK", grown[0].mean],
        [f"window after {_SEGMENTS} segments, one of two", grown[1].mean],
        ["access point's queue over a station's, one flow", one.mean],
        ["access point's queue over a station's, three flows", many.mean],
    ]
    values: dict[str, Value] = {
        "slow_start": slow,
        "slower": slower,
        "queue_one": one,
        "queue_three": many,
        "queue_three_off": off(many, float(_THREE)),
    }
    return Found(
        data=Data(["what", "mean"], rows),
        values=values,
        told={"slow": slow, "segments": _SEGMENTS, "grown": grown, "one": one, "many": many},
    )


def _observe(bench: Bench, skip: int, flows: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = bench.traced(
        "uploads",
        {
            **_RUN,
            "mac.short_retry_limit": 7,
            "stations.node.count": flows,
            "flows.node.tcp.ack_skip": {"skip": skip, "after_segment": 50},
        },
        reduce=beginnings,
        interval_s=_INTERVAL_S,
        quick={},
    )
    return found


def _mean(runs: Sequence[dict[str, Any]], name: str) -> Interval:
    return student_interval(run[name] for run in runs)


def _queues_over(runs: Sequence[dict[str, Any]]) -> Interval:
    """Return the access point's mean queue over a station's, run by run."""
    ratios = []
    for run in runs:
        stations = [
            packets
            for name, packets in run["queues"].items()
            if name.startswith("node/") and "hop" not in name
        ]
        ratios.append(run["queues"]["ap"] / fmean(stations))
    return student_interval(ratios)
