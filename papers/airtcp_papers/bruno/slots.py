"""Reproduce paper B, Fig. 4: successes per second in w virtual slots. No simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from airtcp.models.airtime import HOT_SPOT

from airtcp_papers.bruno.model import Overheads, best_stations, expected_slots, success_rate
from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item

_WINDOWS = (8, 16, 32, 64)


def rates(*, w: float) -> list[Series]:
    """Return a curve of Fig. 4: the success rate in w slots over contending stations."""
    stations = np.arange(1, 33)
    found = success_rate(int(w), stations, Overheads.hot_spot())
    return [Series(f"w = {w:g}", stations.tolist(), found.tolist(), "model")]


@item("B.fig4")
def fig4(bench: Bench) -> Found:
    overheads = Overheads.hot_spot()
    series = [curve for w in _WINDOWS for curve in rates(w=w)]
    printed = [int(w) // 4 for w in _WINDOWS]
    tops = [float(success_rate(w, m, overheads)) for w, m in zip(_WINDOWS, printed, strict=True)]
    series.append(Series("paper, m* = w/4", printed, tops, "paper"))
    best = best_stations(np.array(_WINDOWS), overheads)
    most = [int(np.argmax(expected_slots(w, np.arange(1, 4 * w)).success)) + 1 for w in _WINDOWS]
    eifs = Overheads.hot_spot(collision="eifs")
    costly = best_stations(np.array(_WINDOWS), eifs)
    # SIFS and seven slots before a frame, as background traffic has in EDCA, instead of DIFS.
    spaces = replace(HOT_SPOT, difs_ns=HOT_SPOT.sifs_ns + 7 * HOT_SPOT.slot_time_ns)
    moved = best_stations(np.array([32]), Overheads.from_phy(spaces, collision="as-success"))
    slots = expected_slots(32, 8)
    shares = [float(m) / w for m, w in zip(best, _WINDOWS, strict=True)]
    return Found(
        series,
        values={
            "smallest_share": min(shares),
            "largest_share": max(shares),
            "smallest_share_eifs": min(float(m) / w for m, w in zip(costly, _WINDOWS, strict=True)),
            "largest_share_eifs": max(float(m) / w for m, w in zip(costly, _WINDOWS, strict=True)),
            "moved": abs(float(moved[0]) - float(best[2])),
            "collisions": float(slots.collision),
            "most_less_best": float(min(m - b for m, b in zip(most, best, strict=True))),
        },
        told={
            "windows": ", ".join(map(str, _WINDOWS)),
            "best": ", ".join(f"{m:g}" for m in best),
            "most": ", ".join(map(str, most)),
            "with_eifs": ", ".join(f"{m:g}" for m in costly),
        },
    )
