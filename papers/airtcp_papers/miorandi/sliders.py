"""Sliders for the figures of paper M: windows of Table 1, users, and what they download."""

from __future__ import annotations

from typing import Final

from airtcp_papers.common.chart import Series
from airtcp_papers.common.sliders import Changes, Values, declared
from airtcp_papers.miorandi import chains, contention, sessions, throughput
from airtcp_papers.miorandi.users import dynamic, every


def doubled(values: Values) -> Changes:
    """Return the windows of a doubling that ends."""
    return {
        "phy.cw_min": int(values["w0"]) - 1,
        "phy.cw_max": int(values["w0"] * 2 ** values["stages"]) - 1,
    }


def acks(values: Values) -> Changes:
    """Return the ACK policy: an ACK for every `acks` segments, or the dynamic scheme for 0."""
    return every(int(values["acks"]), "40 ms") if values["acks"] else dynamic("40 ms")


def download_collisions(*, w0: float, window: float) -> list[Series]:
    """Return the model's curve of Fig. 4, which does not depend on the window."""
    return contention.download_collisions(w0=w0)


FIGURES: Final = declared(
    __file__,
    doubled,
    acks,
    contention.collisions,
    contention.drops,
    download_collisions,
    throughput.one_download,
    throughput.all_downloads,
    throughput.each_download,
    throughput.waits,
    throughput.one_download_by_window,
    chains.active_transfers,
    chains.packets_of_a_window,
    sessions.delays,
    sessions.delays_of_thinkers,
)
