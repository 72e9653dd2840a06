"""Measure for paper G how often a sender has data queued, its windows, and its timeouts.

It evaluates traces of single uploads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from airtcp.results.trace import Trace
from airtcp.scenario import ResolvedScenario
from airtcp.stats import student_interval

from airtcp_papers.common.bench import Bench, Changes
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Cell, Data, Value
from airtcp_papers.common.measure import mean, words
from airtcp_papers.gopal.observed import observe

#: With windows of twenty segments no queue of the path overflows: the lossless capacity.
_LOSSLESS: Final[Changes] = {"flows.node.tcp.receive_window": "20 kB"}
_CASES: Final[dict[str, tuple[str, Changes]]] = {
    "none": ("no MAC retries", {"mac.short_retry_limit": 1}),
    "retries": ("MAC retries", {"mac.short_retry_limit": 7}),
    "lossless": ("MAC retries and a window of 20 kB", {"mac.short_retry_limit": 7, **_LOSSLESS}),
}
#: A window this close to the product counts as equal.
_CLOSE: Final = 0.05
_UPLOAD: Final[Changes] = {"run.replications": 20}
#: An upload has begun by then.
_FROM_S: Final = 2.0
#: Uploads that stall, as long as the paper's simulations.
_STALLED: Final[Changes] = {
    "run.replications": 20,
    "mac.short_retry_limit": 1,
    "flows.node.tcp.ack_skip": {"skip": 4, "after_segment": 50},
}


def uploads(scenario: ResolvedScenario, traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """Return for each run the shares of time with a packet waiting, the RTT, and the windows.

    `waiting` has the shares of station and access point, `windows` the number of samples by window
    in whole segments. Only samples during the upload count.
    """
    found = []
    for trace in traces:
        flow = trace.flow(trace.flow_names[0])
        lasts = (flow.time_s >= _FROM_S) & (flow.connections > 0)
        waiting = {
            name: float((trace.queue(name).packets[lasts] > 0).mean()) for name in ("node/0", "ap")
        }
        mss = scenario.flows[0].tcp.mss_bytes  # type: ignore[union-attr]
        segments = (flow.cwnd_bytes[lasts] / mss).astype(int)
        sizes, counts = np.unique(segments, return_counts=True)
        found.append(
            {
                "waiting": waiting,
                "srtt_s": float(np.nanmean(flow.srtt_s[lasts])),
                "windows": dict(zip(map(str, sizes), map(int, counts), strict=True)),
            }
        )
    return found


def waits(scenario: ResolvedScenario, traces: Sequence[Trace]) -> list[list[float]]:
    """Return for each run the times between successive timeouts of the upload, in seconds."""
    timeouts = [trace.events("timeout", flow=trace.flow_names[0]) for trace in traces]
    return [np.diff(one.time_s).tolist() for one in timeouts]


@item("G.steady")
def steady(bench: Bench) -> Found:
    carried = mean(observe(bench, 0, retries=True, varied=_LOSSLESS).goodputs())
    rows: list[list[Cell]] = [["what the path carries without a loss, Mb/s", carried]]
    values: dict[str, Value] = {}
    told = []
    for name, (how, keys) in _CASES.items():
        runs = bench.traced(
            "uploads", {**_UPLOAD, **keys}, reduce=uploads, interval_s=0.02, quick={}
        )
        products = [1e6 * carried * run["srtt_s"] / 8e3 for run in runs]
        both = list(zip(runs, products, strict=True))
        product = student_interval(products)
        reached = student_interval(_share(run, p, math.inf) for run, p in both)
        close = student_interval(_share(run, p * (1 - _CLOSE), p * (1 + _CLOSE)) for run, p in both)
        values |= {f"reached_{name}": reached, f"close_{name}": close}
        for node, called in (("node/0", "station"), ("ap", "access point")):
            waiting = student_interval(run["waiting"][node] for run in runs)
            values[f"supply_{called.split()[0]}_{name}"] = waiting
            rows.append([f"{how}: share of the time that the {called} has a packet", mean(waiting)])
        rows += [
            [f"{how}: delay-bandwidth product, segments", mean(product)],
            [f"{how}: share of the time that the window reaches it", mean(reached)],
            [f"{how}: share of the time that it is within a twentieth of it", mean(close)],
        ]
        told.append(
            f"{how}: the station has a packet {words(values[f'supply_station_{name}'])} of the "
            f"time, and the window reaches the product of {words(product)} segments "
            f"{words(reached)} of it"
        )
    gaps = bench.traced("uploads", _STALLED, reduce=waits, interval_s=1.0, quick={})
    values["longest_wait"] = longest = student_interval(max(some, default=None) for some in gaps)
    scenario = bench.scenario("uploads", _STALLED, {})
    least_s = 2.0 * scenario.flows[0].tcp.min_rto_ns / 1e9  # type: ignore[union-attr]
    duration_s = scenario.run.duration_ns / 1e9
    values["backed_off"] = backoff = student_interval(
        np.sum([gap for gap in some if gap > least_s]) / duration_s for some in gaps
    )
    rows.append(["share of the time between timeouts that backoff doubled", mean(backoff)])
    rows.append(["longest time between two timeouts, four ACKs skipped, s", mean(longest)])
    return Found(
        data=Data(["what", "mean"], rows),
        values=values,
        told={"carried": carried, "each": "; ".join(told), "longest": longest, "backoff": backoff},
    )


def _share(run: dict[str, Any], least: float, most: float) -> float:
    """Return the fraction of samples whose window is in a range of segments."""
    windows = run["windows"]
    inside = sum(count for size, count in windows.items() if least <= float(size) <= most)
    return float(inside / sum(windows.values()))
