"""Measure paper B's further work: bursts, with stations that also send data."""

from __future__ import annotations

from typing import Any, Final

from airtcp.results import Simulation

from airtcp_papers.bruno.bursts import BURSTS
from airtcp_papers.bruno.cells import downloads
from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series, chart, table_of
from airtcp_papers.common.item import Outcome, Value, item
from airtcp_papers.common.measure import ratio, scaled, words

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


def _beside(bench: Bench, callers: int, **changes: object) -> Simulation:
    return bench.simulate(
        "mixed", {"stations.caller.count": callers, **_OFTEN, **changes}, quick=_OFTEN
    )


@item(
    "B.mixed",
    title="Bursts beside callers",
    caption="Delay of the packets of stations that send 50 packets a second, 95th percentile, "
    "beside five endless downloads: a standard access point, and one that sends in bursts. A "
    "figure of our own.",
    states="Standard and modified cards inter-operate safely, without performance degradation "
    "(section 3); mixtures of TCP and UDP are further work (footnote 9).",
)
def mixed(bench: Bench) -> Outcome:
    standard = [_beside(bench, n) for n in _CALLERS]
    bursts = [_beside(bench, n, **BURSTS) for n in _CALLERS]
    fixed = {n: downloads(bench, n, **_FIXED) for n in (_TEN, _TWENTY)}
    adaptive = {n: downloads(bench, n, **BURSTS) for n in (_TEN, _TWENTY)}
    series = [
        Series("standard", _CALLERS, [*scaled(standard, _DELAY, _MS)], "simulation"),
        Series("adaptive bursts", _CALLERS, [*scaled(bursts, _DELAY, _MS)], "simulation"),
    ]
    over = ratio(bursts[0], standard[0], _DELAY)
    goodput = ratio(bursts[0], standard[0], "goodput_bps")
    overload = {n: ratio(fixed[n], adaptive[n], "goodput_bps") for n in fixed}
    collisions = ratio(fixed[_TWENTY], adaptive[_TWENTY], "collision_probability_stations")
    x, y = "callers", "packet delay, 95th percentile (ms)"
    values: dict[str, Value] = {
        "delay_over_standard": over,
        "goodput_over_standard": goodput,
        "fixed_over_adaptive": overload[_TWENTY],
        "fixed_collisions": collisions,
    }
    return Outcome(
        data=table_of(series, x=x, y=y),
        found=f"The packets of one caller are {words(over)} times as late with bursts as with a "
        f"standard access point, while all goodput is {words(goodput)} times as large. A station "
        "gets about one access in each cycle of a burst and 32 virtual slots, some 30 ms, which is "
        "too few for 50 packets a second: its queue grows until the caller ends. With bursts of "
        f"{2 * _TARGET} packets whatever the stations do, ten downloads have "
        f"{words(overload[_TEN])} and twenty {words(overload[_TWENTY])} times the goodput of "
        f"adaptive bursts, and stations collide {words(collisions)} times as often with twenty.",
        values=values,
        figure=chart(series, x=x, y=y, y_scale="log", x_ticks=_CALLERS),
    )
