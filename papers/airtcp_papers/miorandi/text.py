"""Measure paper M's statements without a figure: feedback, RTS/CTS, fairness, delayed ACKs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from airtcp.results import Simulation
from airtcp.run.simulate import simulate
from airtcp.stats import Interval, student_interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import changed, mean, ratio
from airtcp_papers.miorandi.users import EXPONENTIAL, LARGE, PARETO, web

_FEW, _MANY = 5, 50
_NO_RTS: Final[Mapping[str, Any]] = {"mac.rts_threshold": "3000 B"}
#: The rules of ns-2, for the file of backlogged nodes, which has those of the equations.
_NS2: Final[Mapping[str, Any]] = {
    "mac.rules": {"preset": "ns-2"},
    "phy.cw_min": 30,
    "phy.cw_max": 1022,
}
#: Segments per ACK; the last has a window of 20 segments wait for the receiver's timer.
_LITTLE, _MUCH = 4, 40
_WINDOW: Final = 20
#: The longest timer of RFC 1122 4.2.3.2: longer than the sender's.
_LONGEST: Final = "500 ms"
#: Files that fit into a window of 30 packets, and files of more than ten windows.
_MICE_BYTES: Final = 30e3
_ELEPHANTS_BYTES: Final = 300e3
_BUFFER: Final = 30
_BEYOND: Final = 50
_LONG: Final = {"run.duration": "20000 s", "run.replications": 40}
_QUICK: Final = {"run.duration": "10000 s", "run.replications": 20}
#: Nodes that always have a frame, and the successes in a short and in a long time of each.
_NODES: Final = 10
_SHORT, _LASTING = 1, 1000
_W0: Final = 32
_STAGES: Final = 5
_RUNS: Final = 10


@item("M.text")
def text(bench: Bench) -> Found:
    elephants, mice = _beyond_the_buffer(bench)
    seed = bench.settings.seed or 1
    values: dict[str, Value] = {
        "left_by_feedback": _feedback(bench),
        "rts_over_basic": _rts(bench),
        "fair_short": student_interval(_fairness(_SHORT, seed)),
        "fair_long": student_interval(_fairness(_LASTING, seed)),
        "many_over_few": _thinned(bench),
        "short_sessions": _short_sessions(bench),
        "elephants": elephants,
        "mice": mice,
    }
    return Found(values=values)


def _feedback(bench: Bench) -> Interval:
    download = bench.simulate(
        "persistent",
        {
            "stations.laptop.count": 1,
            "flows.laptop.tcp.receive_window.segments": LARGE,
            "run.warmup": "120 s",
        },
    )
    alone = bench.simulate("saturated", {"stations.node.count": 1, **_NS2})
    # A datagram of 1040 B and a segment of 1000 B are equal packets.
    return changed(ratio(download, alone, "goodput_bps"), lambda share: share * 1012.0 / 1000.0)


def _rts(bench: Bench) -> Interval:
    kept = []
    for keys in ({}, _NO_RTS):
        few, many = (
            bench.simulate("saturated", {"stations.node.count": n, **_NS2, **keys})
            for n in (_FEW, _MANY)
        )
        kept.append(ratio(many, few, "goodput_bps"))
    with_rts, basic = kept
    # The runs with and without RTS/CTS are far apart: their intervals are a hundredth of that.
    return changed(with_rts, lambda share: share / mean(basic))


def _fairness(each: int, seed: int) -> list[float]:
    """Return Jain's index of the successes of saturated nodes, run by run, in slots of DCF."""
    found = []
    for run in range(_RUNS):
        draw = random.Random(f"{seed} {run}")
        waiting = {node: draw.randrange(_W0) for node in range(_NODES)}
        stage: Counter[int] = Counter()
        indices = []
        for _ in range(max(1, 200 // each)):
            won: Counter[int] = Counter()
            while won.total() < each * _NODES:
                idle = min(waiting.values())
                senders = [node for node, left in waiting.items() if left == idle]
                for node in waiting:
                    waiting[node] -= idle + 1
                for node in senders:
                    stage[node] = 0 if len(senders) == 1 else min(stage[node] + 1, _STAGES)
                    waiting[node] = draw.randrange(_W0 << stage[node])
                if len(senders) == 1:
                    won[senders[0]] += 1
            squares = sum(count * count for count in won.values())
            indices.append(won.total() ** 2 / (_NODES * squares))
        found.append(sum(indices) / len(indices))
    return found


def _thinned(bench: Bench) -> Interval:
    def run(every: int) -> Simulation:
        return bench.simulate(
            "persistent",
            {
                "stations.laptop.count": 1,
                "flows.laptop.tcp.receive_window.segments": _WINDOW,
                "flows.laptop.tcp.initial_window": 4,
                "flows.laptop.tcp.delayed_ack": {"every": every, "timeout": _LONGEST},
            },
        )

    return ratio(run(_MUCH), run(_LITTLE), "goodput_bps")


def _short_sessions(bench: Bench) -> Interval:
    thin = {"flows.laptop.tcp.delayed_ack": {"every": 2, "timeout": "200 ms"}}
    plain = web(bench, 1, LARGE, EXPONENTIAL)
    return web(bench, 1, LARGE, EXPONENTIAL, thin).over(plain)


def _beyond_the_buffer(bench: Bench) -> tuple[Interval, Interval]:
    """Return the times of elephants and of mice with a window beyond the buffer, over one of it."""
    beyond, at = (_classes(bench, window) for window in (_BEYOND, _BUFFER))
    elephants, mice = (
        student_interval([a[place] / b[place] for a, b in zip(beyond, at, strict=True)])
        for place in (0, 1)
    )
    return elephants, mice


def _classes(bench: Bench, window: int) -> Sequence[Sequence[float]]:
    """Return the mean times of elephants and mice of each replication, seconds."""
    keys = {
        "stations.laptop.count": 20,
        "flows.laptop.tcp.receive_window.segments": window,
        "ap.queue.limit": _BUFFER,
        **PARETO,
        **_LONG,
    }
    scenario = bench.scenario("web", keys, _QUICK)

    def run() -> Any:
        means = []
        for one in simulate(
            scenario, threads=bench.settings.threads, transfers=True
        ).simulation.runs:
            assert one.transfers is not None, "they were asked for"
            size, time = one.transfers.size_bytes, np.asarray(one.transfers.time_s)
            means.append(
                [
                    float(time[size > _ELEPHANTS_BYTES].mean()),
                    float(time[size < _MICE_BYTES].mean()),
                ]
            )
        return means

    found: Sequence[Sequence[float]] = bench.kept("elephants and mice", run, scenario.hash())
    return found
