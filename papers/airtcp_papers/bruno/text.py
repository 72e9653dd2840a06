"""Measure paper B's statements without a figure: windows, PCF, ACKs of a burst, active stations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from airtcp.results import Simulation

from airtcp_papers.bruno.bursts import BURSTS
from airtcp_papers.bruno.cells import datagrams, downloads
from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.measure import changed, most, over_runs, paired_runs, ratio

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
    standard, bursts = downloads(bench, _TEN), downloads(bench, _TEN, **BURSTS)
    tuned = {
        window: ratio(downloads(bench, _TEN, **{"phy.cw_min": window}), standard, "goodput_bps")
        for window in _WINDOWS
    }
    half, longest = (
        ratio(bursts, downloads(bench, _TEN, **keys), "goodput_bps") for keys in (_HALF, _LONGEST)
    )
    lossless = downloads(bench, _TEN, **BURSTS, **_LOSSLESS)
    acks = over_runs(bursts, lambda run: _acks(bursts, run))
    saturated = [datagrams(bench, n) for n in _ACTIVE]
    parts = [
        over_runs(one, lambda run, one=one: _part_of_ap(one, run))  # type: ignore[misc]
        for one in saturated
    ]
    steps = [paired_runs(more, less, _part_of_ap) for less, more in pairwise(saturated)]
    return Found(
        values={
            "tuning_gain": changed(most(tuned.values()), lambda best: best - 1.0),
            "bursts_over_pcf": half,
            "bursts_over_longest": longest,
            "acks_of_burst": acks,
            "acks_lossless": over_runs(lossless, lambda run: _acks(lossless, run)),
            "largest_step_of_ap": most(steps),
        },
        told={f"cw_{w}": one for w, one in tuned.items()}
        | {f"part_{n}": one for n, one in zip(_ACTIVE, parts, strict=True)},
    )


def _successes(simulation: Simulation, run: int) -> tuple[float, float]:
    """Return the successful transmissions of the access point, and those of all stations."""
    ap, *stations = simulation.runs[run].answer["stations"]
    return float(ap["successes"]), float(sum(one["successes"] for one in stations))


def _acks(simulation: Simulation, run: int) -> float:
    ap, stations = _successes(simulation, run)
    return stations / ap


def _part_of_ap(simulation: Simulation, run: int) -> float:
    ap, stations = _successes(simulation, run)
    return ap / (ap + stations)
