"""Paper L, Fig. 4 and 5: goodput of prioritised uploads, models and simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass

from airtcp.models.leith import Parameters, simplified_throughput, throughput
from airtcp.reproduce.bench import Bench
from airtcp.reproduce.chart import Series, chart, table_of
from airtcp.reproduce.item import Outcome, Value, item
from airtcp.reproduce.measure import mean, scaled
from airtcp.results import Simulation

_UPLOADS = (2, 5, 10, 20)
#: As the paper counts: backoff is drawn from 0 .. CWmin - 1.
_WINDOWS = (4, 8, 16, 32, 64, 128, 256)
_CW_MAX = 1024
_HOLD_SLOTS = 2
_MBPS = 1e6
#: Where the paper says that agreement ends.
_MANY_COLLISIONS = 0.3


@dataclass(frozen=True, slots=True)
class _Curve:
    """One number of uploads over all windows; rates in Mb/s."""

    uploads: int
    full: list[float]
    simplified: list[float]
    p: list[float]
    simulated: list[Value]

    def gaps(self, model: list[float]) -> list[float]:
        return [abs(m / mean(s) - 1.0) for m, s in zip(model, self.simulated, strict=True)]


def _curve(bench: Bench, uploads: int, every: int) -> _Curve:
    times = Parameters.of_figures()
    doublings = [int(math.log2(_CW_MAX / window)) for window in _WINDOWS]
    full = throughput(uploads, _WINDOWS, doublings, _HOLD_SLOTS, times, d=every)
    simple = simplified_throughput(
        uploads, _WINDOWS, doublings, times, d=every, hold_slots=_HOLD_SLOTS
    )
    simulations: list[Simulation] = []
    for window in _WINDOWS:
        changes: dict[str, object] = {
            "stations.station.count": uploads,
            "mac.edca.stations.AC_BE.cw_min": window - 1,
        }
        if every > 1:
            changes["flows.station.tcp.delayed_ack"] = {"every": every, "timeout": "100 ms"}
        simulations.append(bench.simulate("uploads", changes))
    return _Curve(
        uploads,
        [float(value) / _MBPS for value in full.goodput_bps],
        [float(value) / _MBPS for value in simple.goodput_bps],
        [float(value) for value in full.collision_probability],
        scaled(simulations, "goodput_bps", _MBPS),
    )


def _compared(bench: Bench, every: int) -> Outcome:
    curves = [_curve(bench, uploads, every) for uploads in _UPLOADS]
    series = []
    for number, curve in enumerate(curves):
        n = curve.uploads
        series += [
            Series(f"n = {n}, full", _WINDOWS, curve.full, "model", number),
            Series(f"n = {n}, simulation", _WINDOWS, curve.simulated, "simulation", number),
            Series(f"n = {n}, simplified", _WINDOWS, curve.simplified, "dotted", number),
        ]
    calm: list[tuple[float, float]] = []
    crowded: list[tuple[float, float]] = []
    for curve in curves:
        both = zip(curve.gaps(curve.full), curve.gaps(curve.simplified), curve.p, strict=True)
        for full, simplified, p in both:
            (calm if p < _MANY_COLLISIONS else crowded).append((full, simplified))
    full, simplified = (max(gap) for gap in zip(*calm, strict=True))
    beyond = max(gap for gap, _ in crowded)
    standard = _WINDOWS.index(32)
    ten, twenty = (curves[_UPLOADS.index(n)] for n in (10, 20))
    best = [_WINDOWS[curve.full.index(max(curve.full))] for curve in curves]
    found_best = [_WINDOWS[_best(curve.simulated)] for curve in curves]
    x, y = "CWmin (slots, as the paper counts)", "goodput (Mb/s)"
    return Outcome(
        data=table_of(series, x=x, y=y),
        found=f"Where the collision probability is below 0.3 the full model is at most "
        f"{100 * full:.1f} % and the simplified one {100 * simplified:.1f} % from the simulation; "
        f"above, the full model is off by up to {100 * beyond:.1f} %. At CWmin = 32 the collision "
        f"probability is {ten.p[standard]:.2f} with ten uploads and {twenty.p[standard]:.2f} with "
        f"twenty. Of the windows drawn the best for {', '.join(map(str, _UPLOADS))} uploads are "
        f"{', '.join(map(str, best))} in the model, {', '.join(map(str, found_best))} in the "
        "simulation.",
        values={
            "full_gap": full,
            "simplified_gap": simplified,
            "beyond_gap": beyond,
            "p_standard_ten": ten.p[standard],
            "p_standard_twenty": twenty.p[standard],
            "windows_apart": max(
                abs(math.log2(a / b)) for a, b in zip(best, found_best, strict=True)
            ),
        },
        figure=chart(series, x=x, y=y, x_scale="log", columns=3, x_ticks=_WINDOWS),
    )


def _best(values: list[Value]) -> int:
    means = [mean(value) for value in values]
    return means.index(max(means))


_STATES = (
    "Model and simulation agree excellently except where the collision probability is above 0.3, "
    "which goes with windows below the standard's 32; the simplified model is close to the full "
    "one."
)


@item(
    "L.fig4",
    title="Goodput of prioritised uploads against CWmin, an ACK for each segment",
    caption="All uploads together, against the stations' CWmin and for several numbers of "
    "uploads: full model, simplified model and simulation; an ACK for each segment.",
    states=_STATES,
)
def fig4(bench: Bench) -> Outcome:
    return _compared(bench, 1)


@item(
    "L.fig5",
    title="Goodput of prioritised uploads against CWmin, delayed ACKs",
    caption="As Fig. 4 with an ACK for every second segment. The paper does not print the "
    "simplified model for that: here one TCP ACK goes with two successes (erratum L8).",
    states=_STATES,
)
def fig5(bench: Bench) -> Outcome:
    return _compared(bench, 2)
