"""Measure paper B's statements without a figure: windows, PCF, ACKs of a burst, active stations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from airtcp_papers.bruno.bursts import BURSTS
from airtcp_papers.bruno.cells import datagrams, downloads
from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.measure import (
    Answer,
    ap_share,
    changed,
    difference,
    most,
    over_runs,
    ratio,
)

_TEN: Final = 10
#: Minimum windows other than the standard's 31.
_WINDOWS: Final = (7, 15, 63, 127)
#: Contention-free periods: the default, and as long as beacons at that interval allow, rounded.
_HALF: Final[dict[str, Any]] = {"mac.pcf": {"interval": "102.4 ms", "max_duration": "51.2 ms"}}
_LONGEST: Final[dict[str, Any]] = {"mac.pcf": {"interval": "102.4 ms", "max_duration": "100 ms"}}
#: Ten windows of 44 segments fit.
_LOSSLESS: Final[dict[str, Any]] = {"ap.queue.limit": 1000}
_ACTIVE: Final = (1, 5, 20)


@item("B.text")
def text(bench: Bench) -> Found:
    standard, bursts = downloads(bench, _TEN), downloads(bench, _TEN, BURSTS)
    tuned = {
        window: ratio(downloads(bench, _TEN, {"phy.cw_min": window}), standard, "goodput_bps")
        for window in _WINDOWS
    }
    half, longest = (
        ratio(bursts, downloads(bench, _TEN, keys), "goodput_bps") for keys in (_HALF, _LONGEST)
    )
    lossless = downloads(bench, _TEN, {**BURSTS, **_LOSSLESS})
    saturated = {n: datagrams(bench, n) for n in _ACTIVE}
    steps = [difference(more, less, ap_share) for less, more in pairwise(saturated.values())]
    return Found(
        values={
            "tuning_gain": changed(most(tuned.values()), lambda best: best - 1.0),
            "bursts_over_pcf": half,
            "bursts_over_longest": longest,
            "acks_of_burst": over_runs(bursts, _acks),
            "acks_lossless": over_runs(lossless, _acks),
            "largest_step_of_ap": most(steps),
        },
        told={f"cw_{w}": one for w, one in tuned.items()}
        | {f"part_{n}": over_runs(one, ap_share) for n, one in saturated.items()},
    )


def _acks(answer: Answer) -> float:
    """Return the successes of all stations over those of the access point."""
    ap, *stations = answer["stations"]
    return float(sum(one["successes"] for one in stations) / ap["successes"])
