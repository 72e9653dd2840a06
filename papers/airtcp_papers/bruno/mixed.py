"""Measure paper B's further work: bursts, with stations that also send data."""

from __future__ import annotations

from typing import Any, Final

from airtcp.results import Simulation

from airtcp_papers.bruno.bursts import BURSTS
from airtcp_papers.bruno.cells import downloads
from airtcp_papers.common.bench import Bench, Changes
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import ratio, scaled

_CALLERS: Final = (1, 2, 5, 10)
_DELAY: Final = "packet_delay_p95_s"
_MS: Final = 1e-3
_OFTEN: Final = {"run.replications": 20}
_TEN, _TWENTY = 10, 20
#: m*, and constant bursts of 2 m* packets.
_TARGET: Final = 8
_FIXED: Final[dict[str, Any]] = {
    "ap.access": {"scheme": "fixed-burst", "window_slots": 32, "packets": 2 * _TARGET}
}


def _beside(bench: Bench, callers: int, changes: Changes | None = None) -> Simulation:
    keys = {"stations.caller.count": callers, **_OFTEN, **(changes or {})}
    return bench.simulate("mixed", keys, quick=_OFTEN)


@item("B.mixed")
def mixed(bench: Bench) -> Found:
    standard = [_beside(bench, n) for n in _CALLERS]
    bursts = [_beside(bench, n, BURSTS) for n in _CALLERS]
    fixed = {n: downloads(bench, n, _FIXED) for n in (_TEN, _TWENTY)}
    adaptive = {n: downloads(bench, n, BURSTS) for n in (_TEN, _TWENTY)}
    series = [
        Series("standard", _CALLERS, [*scaled(standard, _DELAY, _MS)], "simulation"),
        Series("adaptive bursts", _CALLERS, [*scaled(bursts, _DELAY, _MS)], "simulation"),
    ]
    over = ratio(bursts[0], standard[0], _DELAY)
    goodput = ratio(bursts[0], standard[0], "goodput_bps")
    overload = {n: ratio(fixed[n], adaptive[n], "goodput_bps") for n in fixed}
    collisions = ratio(fixed[_TWENTY], adaptive[_TWENTY], "collision_probability_stations")
    values: dict[str, Value] = {
        "delay_over_standard": over,
        "goodput_over_standard": goodput,
        "fixed_over_adaptive": overload[_TWENTY],
        "fixed_collisions": collisions,
    }
    return Found(
        series,
        values=values,
        told={
            "over": over,
            "goodput": goodput,
            "burst": 2 * _TARGET,
            "overload": overload,
            "collisions": collisions,
        },
    )
