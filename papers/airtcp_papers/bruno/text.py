"""Measure paper B's statements without a figure: windows, PCF, ACKs of a burst, active stations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from airtcp.results import Simulation
from airtcp.stats import Interval

from airtcp_papers.bruno.bursts import BURSTS
from airtcp_papers.bruno.cells import datagrams, downloads
from airtcp_papers.common.bench import Bench
from airtcp_papers.common.item import Cell, Data, Outcome, item
from airtcp_papers.common.measure import changed, most, over_runs, paired_runs, ratio, words

_TEN: Final = 10
#: Minimum windows other than the standard's 31.
_WINDOWS: Final = (7, 15, 63, 127)
#: Contention-free periods: the default, and as long as beacons at that interval allow, rounded.
_HALF: Final[dict[str, Any]] = {"mac.pcf": {"interval": "102.4 ms", "max_duration": "51.2 ms"}}
_LONGEST: Final[dict[str, Any]] = {"mac.pcf": {"interval": "102.4 ms", "max_duration": "100 ms"}}
#: Ten windows of 44 segments fit.
_LOSSLESS: Final[dict[str, Any]] = {"ap.queue.limit": 1000}
_ACTIVE: Final = (1, 5, 20)


@item(
    "B.text",
    title="What the text states without a figure",
    caption="Goodput of ten downloads with other minimum windows over that with the standard's; "
    "with bursts over that with PCF; how many TCP ACKs a segment of a burst causes; and the access "
    "point's part of the successes against the stations that always have a frame. A table of our "
    "own.",
    states="Policies that tune the contention window are not effective in a hot spot (sections 1 "
    "and 3); PCF is less efficient than bursts (3); l packets cause at most half as many TCP ACKs "
    "(3); the more stations are active, the less often the access point succeeds (2).",
)
def text(bench: Bench) -> Outcome:
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
    told: dict[str, Interval] = {
        **{f"goodput with a CWmin of {w} over that with 31": one for w, one in tuned.items()},
        "goodput with bursts over that with PCF half of the time": half,
        "goodput with bursts over that with PCF nearly all of the time": longest,
        "TCP ACKs for a segment of a burst": acks,
        **{
            f"part of the successes that is the access point's, {n} active stations": one
            for n, one in zip(_ACTIVE, parts, strict=True)
        },
    }
    rows: list[list[Cell]] = [[name, one.mean, one.low, one.high] for name, one in told.items()]
    return Outcome(
        data=Data(["what", "mean", "low", "high"], rows),
        found="; ".join(f"{name}: {words(one)}" for name, one in told.items()) + ".",
        values={
            "tuning_gain": changed(most(tuned.values()), lambda best: best - 1.0),
            "bursts_over_pcf": half,
            "bursts_over_longest": longest,
            "acks_of_burst": acks,
            "acks_lossless": over_runs(lossless, lambda run: _acks(lossless, run)),
            "largest_step_of_ap": most(steps),
        },
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
