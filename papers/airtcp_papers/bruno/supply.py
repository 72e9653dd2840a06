"""Measure for paper B whether the access point always has data, and other burst targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airtcp.results import Replication
from airtcp.scenario import ResolvedScenario
from airtcp.stats import Interval, student_interval

from airtcp_papers.bruno.bursts import BURSTS
from airtcp_papers.bruno.cells import downloads
from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Cell, Data
from airtcp_papers.common.measure import least, ratio, words

_POPULATIONS: Final = (10, 20)
_ENDS: Final = (1, 20)
#: m* = 8 is the paper's target, a quarter of the window of 32 slots; the others are an eighth and a
#: half.
_BEST: Final = 8
_OTHERS: Final = (4, 16)


def waiting(scenario: ResolvedScenario, runs: Sequence[Replication]) -> list[float]:
    """Return for each run the fraction of measured time with a packet at the access point."""
    warmup_ns = scenario.run.warmup_ns
    assert warmup_ns is not None, "the papers' scenarios say how long"
    warmup_s = warmup_ns / 1e9
    found = []
    for run in runs:
        if run.trace is None:
            raise ValueError("the simulation has no trace")
        queue = run.trace.queue("ap")
        measured = queue.time_s >= warmup_s
        found.append(float((queue.packets[measured] > 0).mean()))
    return found


@item("B.supply")
def supply(bench: Bench) -> Found:
    has = {
        n: student_interval(
            bench.traced(
                "hotspot",
                {"stations.station.count": n},
                reduce=waiting,
                interval_s=0.02,
                quick={},
            )
        )
        for n in _ENDS
    }
    gains: dict[tuple[int, int], Interval] = {}
    shares = []
    for n in _POPULATIONS:
        best = downloads(bench, n, **BURSTS)
        shares.append(best.metrics["jain_index"])
        for target in _OTHERS:
            access = {**BURSTS["ap.access"], "target_active": target}
            changes = {**BURSTS, "ap.access": access}
            other = downloads(bench, n, **changes)
            gains[n, target] = ratio(best, other, "goodput_bps")
    rows: list[list[Cell]] = [
        *(
            [f"share of the time that the access point has a packet, {n} stations", *_ends(one)]
            for n, one in has.items()
        ),
        *(
            [f"goodput with a target of {_BEST} over that with {target}, {n} stations", *_ends(one)]
            for (n, target), one in gains.items()
        ),
        *(
            [f"Jain index of {n} stations with bursts", *_ends(one)]
            for n, one in zip(_POPULATIONS, shares, strict=True)
        ),
    ]
    return Found(
        data=Data(["what", "mean", "low", "high"], rows),
        values={
            "always_one": has[1],
            "always_twenty": has[20],
            "best_everywhere": least(gains.values()),
            "even": least(shares),
        },
        told={
            "each": " and ".join(f"{words(one)} ({n} stations)" for n, one in has.items()),
            "best": _BEST,
            "each_2": ", ".join(
                f"{words(one)} times the goodput of {target} ({n} stations)"
                for (n, target), one in gains.items()
            ),
        },
    )


def _ends(one: Interval) -> list[Cell]:
    return [one.mean, one.low, one.high]
