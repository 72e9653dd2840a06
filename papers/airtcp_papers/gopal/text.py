"""Measure paper G's statements without a figure: after how many segments skipping begins."""

from __future__ import annotations

from typing import Final

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import table_with_ends
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.measure import most
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
    return Found(
        data=table_with_ends(["from segment", "gain over 50", "low", "high"], gains),
        values={"best_over_chosen": most(gains.values())},
        told={"gains": {f"from {n}": one for n, one in gains.items()}},
    )
