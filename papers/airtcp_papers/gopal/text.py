"""Measure paper G's statements without a figure: after how many segments skipping begins."""

from __future__ import annotations

from typing import Final

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Cell, Data
from airtcp_papers.common.measure import most, words
from airtcp_papers.gopal.observed import gain, observe

#: Enough runs to tell a twentieth.
_OFTEN: Final = {"run.replications": 320}
#: Thresholds other than the paper's 50, from nothing to a tenth of the upload.
_OTHERS: Final = (1, 10, 200, 1000)


@item("G.text")
def text(bench: Bench) -> Found:
    def uploads(after: int) -> dict[str, object]:
        return {**_OFTEN, "flows.node.tcp.ack_skip": {"skip": 1, "after_segment": after}}

    chosen = observe(bench, 1, varied=_OFTEN)
    gains = {n: gain(observe(bench, 1, varied=uploads(n)), chosen) for n in _OTHERS}
    rows: list[list[Cell]] = [[n, one.mean, one.low, one.high] for n, one in gains.items()]
    return Found(
        data=Data(["from segment", "gain over 50", "low", "high"], rows),
        values={"best_over_chosen": most(gains.values())},
        told={"each": ", ".join(f"{words(one)} (from {n})" for n, one in gains.items())},
    )
