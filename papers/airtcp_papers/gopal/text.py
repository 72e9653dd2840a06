"""Measure paper G's statements without a figure: after how many segments skipping begins."""

from __future__ import annotations

from typing import Final

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.item import Cell, Data, Outcome, item
from airtcp_papers.common.measure import most, words
from airtcp_papers.gopal.observed import gain, observe

#: The paper's threshold, and others from nothing to a tenth of the upload.
_CHOSEN: Final = 50
#: Enough runs to tell a twentieth.
_OFTEN: Final = {"run.replications": 320}
_OTHERS: Final = (1, 10, 200, 1000)


@item(
    "G.text",
    title="From which segment on ACKs are skipped",
    caption="Goodput of one upload of 10 MB without MAC retries whose receiver skips one ACK from "
    "other segments on than the paper's 50, over that from 50 on. A table of our own.",
    states="Skipping starts at segment 50, chosen by trial and error (section III).",
)
def text(bench: Bench) -> Outcome:
    def uploads(after: int) -> dict[str, object]:
        return {**_OFTEN, "flows.node.tcp.ack_skip": {"skip": 1, "after_segment": after}}

    chosen = observe(bench, 1, varied=_OFTEN)
    gains = {n: gain(observe(bench, 1, varied=uploads(n)), chosen) for n in _OTHERS}
    rows: list[list[Cell]] = [[n, one.mean, one.low, one.high] for n, one in gains.items()]
    return Outcome(
        data=Data(["from segment", "gain over 50", "low", "high"], rows),
        found="Over a start at segment 50: "
        + ", ".join(f"{words(one)} (from {n})" for n, one in gains.items())
        + ".",
        values={"best_over_chosen": most(gains.values())},
    )
