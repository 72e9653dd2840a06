"""Reproduce paper B, Fig. 5 and 6: an access point that sends in bursts."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from airtcp.run.simulate import simulate
from airtcp.stats import Interval, student_interval

from airtcp_papers.bruno.cells import FITTED_TCP, MBPS, STATIONS, downloads
from airtcp_papers.bruno.cycle import Burst, cycles, draw
from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Data
from airtcp_papers.common.measure import least, mapped, mean, most, ratio, scaled

_WINDOW: Final = 32
BURSTS: Final = {
    "ap.access": {"scheme": "adaptive-burst", "window_slots": _WINDOW, "target_active": 8}
}
#: The DCF's parameters, expressed in EDCA so that the access point can have its own windows.
_STANDARD: Final = {"AC_BE": {"aifsn": 2, "cw_min": 31, "cw_max": 1023, "txop_limit": "0 us"}}
_NULL_BACKOFF: Final = {
    "phy.mac_header_bits": 224,
    "mac.edca": {
        "ap": {"AC_BE": {"aifsn": 2, "cw_min": 0, "cw_max": 0, "txop_limit": "0 us"}},
        "stations": _STANDARD,
    },
}
_TEN: Final = 10
#: After slow start.
_FROM_NS: Final = 5_000_000_000
_CYCLES: Final = 200


@item("B.fig5")
def fig5(bench: Bench) -> Found:
    scenario = bench.scenario(
        "hotspot",
        {"stations.station.count": _TEN, "run.warmup": "0 s", "run.duration": "20 s", **BURSTS},
        quick={},
    )

    def captured() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "air.pcap"
            simulate(scenario.with_run(replications=1), threads=1, pcap=path)
            return cycles(path.read_bytes(), scenario.phy, from_ns=_FROM_NS, count=_CYCLES)

    kept = bench.kept("cycles", captured, scenario.hash())
    found = [Burst.from_dict(one) for one in kept]
    slots = [one.slots for one in found]
    drawn = found[-1]
    return Found(
        data=Data(
            ["who", "what", "begins (us)", "ends (us)"],
            [[frame.who, frame.what, frame.begin_us, frame.end_us] for frame in drawn.frames],
        ),
        figure=draw(drawn),
        values={
            "mean_slots": student_interval(slots),
            "as_stated": student_interval([float(count == _WINDOW) for count in slots]),
        },
        told={
            "drawn": drawn,
            "cycles": len(found),
            "whole": slots.count(_WINDOW),
            "window": _WINDOW,
            "most_slots": max(slots),
            "packets": sum(one.packets for one in found) / len(found),
        },
    )


@item("B.fig6")
def fig6(bench: Bench) -> Found:
    standard = [downloads(bench, n) for n in STATIONS]
    bursts = [downloads(bench, n, BURSTS) for n in STATIONS]
    series = [
        Series("standard", STATIONS, [*scaled(standard, "goodput_bps", MBPS)], "simulation"),
        Series("adaptive bursts", STATIONS, [*scaled(bursts, "goodput_bps", MBPS)], "simulation"),
    ]
    gains: list[Interval] = [
        ratio(new, old, "goodput_bps") for new, old in zip(bursts, standard, strict=True)
    ]
    null = {n: downloads(bench, n, _NULL_BACKOFF) for n in (1, 5, 20)}
    at = dict(zip(STATIONS, zip(standard, bursts, strict=True), strict=True))
    of_null = {n: ratio(one, at[n][0], "goodput_bps") for n, one in null.items()}
    fitted = downloads(bench, 5, FITTED_TCP)
    fitted_bursts = downloads(bench, 5, {**FITTED_TCP, **BURSTS})
    best = max(range(len(STATIONS)), key=lambda index: mean(gains[index]))
    top = max(bursts, key=lambda one: mean(one.metrics["goodput_bps"]))
    # The paper does not say at how many stations the maximum is.
    series.append(Series("paper, the most", (STATIONS[bursts.index(top)],), (5.9,), "paper"))
    rate = bench.scenario("hotspot").phy.data_rate.bps
    used = mapped(top, "goodput_bps", lambda goodput: goodput / rate)
    return Found(
        series,
        values={
            "largest_gain": most(gains),
            "smallest_gain": least(gains),
            "most": top.metrics["goodput_bps"],
            "utilization": used,
            "largest_gain_fitted": ratio(fitted_bursts, fitted, "goodput_bps"),
            "most_fitted": fitted_bursts.metrics["goodput_bps"],
            "null_backoff_1": of_null[1],
            "null_backoff_20": of_null[20],
            "bursts_over_null": least(ratio(at[n][1], null[n], "goodput_bps") for n in (5, 20)),
            "collisions_ap": most(one.metrics["collision_probability_ap"] for one in bursts),
            "collisions_ap_share": most(
                ratio(new, old, "collision_probability_ap")
                for new, old in zip(bursts[1:], standard[1:], strict=True)
            ),
        },
        told={
            "gain_of_one": mean(gains[0]) - 1,
            "gain_of_best": mean(gains[best]) - 1,
            "stations": STATIONS[best],
            "gain_of_twenty": mean(gains[-1]) - 1,
            "of_null": {f"{n} stations": one for n, one in of_null.items()},
        },
    )
