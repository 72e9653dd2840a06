"""Sliders for the figures of paper L: uploads, windows, the wired link and AIMD."""

from __future__ import annotations

from typing import Final

from airtcp_papers.common.sliders import Changes, Values, declared
from airtcp_papers.leith import convergence, throughput, wired
from airtcp_papers.leith.fairness import access


def second(values: Values) -> Changes:
    """Return the AIMD parameters of the second flow; 1 and 0.5 without a slider."""
    aimd = {"increase": values.get("increase", 1.0), "decrease": values.get("decrease", 0.5)}
    return {"flows.b.tcp.aimd": aimd}


def edca(values: Values) -> Changes:
    """Return categories that differ only in CWmin."""
    categories = {"ap": access(32), "stations": access(int(values["w0"]))}
    return {"mac.edca": {side: {"AC_BE": category} for side, category in categories.items()}}


FIGURES: Final = declared(
    __file__,
    second,
    edca,
    throughput.models,
    wired.all_uploads,
    wired.peaks_by_increase,
    wired.peaks_by_decrease,
    wired.shares_of_bandwidth,
    convergence.windows_by_epoch,
)
