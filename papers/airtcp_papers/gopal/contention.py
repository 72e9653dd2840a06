"""Reproduce paper G, (1): how often nodes with a frame transmit in the same slot."""

from __future__ import annotations

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import Answer, mean, over_runs
from airtcp_papers.gopal.model import simultaneous_send

_CW = 32
_OTHERS = tuple(range(1, 11))
_SIMULATED = (1, 2, 3, 5, 10)
#: The paper's numbers for one and three sessions; it prints the first as 3 %.
_PRINTED = {1: 0.03, 3: 0.176}


def same_slot(*, w: float = _CW) -> list[Series]:
    """Return the curves of (1) and of the earliest slot over stations, and the paper's numbers."""
    said = simultaneous_send(_OTHERS, int(w))
    return [
        Series("(1), any two slots", _OTHERS, [float(p) for p in said.any_two], "model"),
        Series("the earliest slot", _OTHERS, [float(p) for p in said.next_transmission], "model"),
        Series("paper", list(_PRINTED), list(_PRINTED.values()), "paper"),
    ]


@item("G.eq1")
def eq1(bench: Bench) -> Found:
    *curves, paper = same_slot()
    any_two = [mean(p) for p in curves[0].y]
    runs = {n: bench.simulate("saturated", {"stations.node.count": n}) for n in _SIMULATED}
    failing = {n: over_runs(one, _failing) for n, one in runs.items()}
    frames: dict[int, Value] = {n: one.metrics["collision_probability"] for n, one in runs.items()}
    series = [
        *curves,
        Series("transmissions, simulated", _SIMULATED, list(failing.values()), "simulation"),
        Series("frames, simulated", _SIMULATED, list(frames.values()), "simulation"),
        paper,
    ]
    both = runs[1].metrics["simultaneous_send_probability"]
    doubled = float(simultaneous_send(1, 2 * _CW).any_two)
    three = _OTHERS.index(3)
    return Found(
        series,
        values={
            "one": any_two[0],
            "one_simulated": both,
            "one_doubled": doubled,
            "three": any_two[three],
            "three_failing": failing[3],
            "three_frames": frames[3],
            "one_frames": frames[1],
        },
    )


def _failing(answer: Answer) -> float:
    """Return collisions over all slots with a transmission."""
    counts = answer["counts"]
    return float(counts["collisions"] / (counts["collisions"] + counts["mac_exchanges"]))
