"""Paper L, Fig. 4 and 5: goodput of prioritised uploads, models and simulation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airtcp.results import Simulation
from airtcp.stats import Interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import Series, panels, table_of
from airtcp_papers.common.described import Found, items
from airtcp_papers.common.measure import difference, gap, least, mean, most, ratio, scaled
from airtcp_papers.leith.model import Parameters, simplified_throughput, throughput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UPLOADS = (2, 5, 10, 20)
#: CWmin as the paper counts it: backoff is drawn from 0 .. CWmin - 1.
_WINDOWS = (4, 8, 16, 32, 64, 128, 256)
_CW_MAX = 1024
_HOLD_SLOTS = 2
_MBPS = 1e6
#: Collision probability above which the paper says that the models stop agreeing.
_MANY_COLLISIONS = 0.3


@dataclass(frozen=True, slots=True)
class _Curve:
    """One number of uploads over all windows; rates in Mb/s.

    `holding` is the simplified model plus the slots that stations hold.
    """

    uploads: int
    full: list[float]
    simplified: list[float]
    holding: list[float]
    p: list[float]
    runs: list[Simulation]

    @property
    def simulated(self) -> list[Interval]:
        return scaled(self.runs, "goodput_bps", _MBPS)

    def gaps(self, model: list[float]) -> list[Interval]:
        return [gap(m, s) for m, s in zip(model, self.simulated, strict=True)]

    @property
    def at_the_model_s_best(self) -> Interval:
        """Return simulated goodput at the full model's best window, over the best simulated one."""
        best = self.runs[self.full.index(max(self.full))]
        found = self.runs[_best(self.simulated)]
        return ratio(best, found, "goodput_bps")


_X, _Y = "CWmin (slots, as the paper counts)", "goodput (Mb/s)"


def models(*, n: float, d: float = 1, hold: float = _HOLD_SLOTS) -> list[Series]:
    """Return curves of Fig. 4 (d = 1) and 5 (d = 2) for n uploads: full and simplified model.

    `hold` is the number of slots that stations wait longer than the access point's ACKs.
    """
    times, doublings = Parameters.of_figures(), _doublings()
    full = throughput(int(n), _WINDOWS, doublings, int(hold), times, d=int(d))
    simple = simplified_throughput(int(n), _WINDOWS, doublings, times, d=int(d))
    return [
        Series("full model", _WINDOWS, _mbps(full.goodput_bps), "model", 0),
        Series("simplified model", _WINDOWS, _mbps(simple.goodput_bps), "dotted", 1),
    ]


def _doublings() -> list[int]:
    # CWmax is fixed, so a smaller CWmin has more doublings.
    return [int(math.log2(_CW_MAX / window)) for window in _WINDOWS]


def _mbps(values: Iterable[float]) -> list[float]:
    return [float(value) / _MBPS for value in values]


def _curve(bench: Bench, uploads: int, every: int) -> _Curve:
    times, doublings = Parameters.of_figures(), _doublings()
    full, simple = models(n=uploads, d=every)
    p = throughput(uploads, _WINDOWS, doublings, _HOLD_SLOTS, times, d=every).collision_probability
    holding = simplified_throughput(
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
        [mean(value) for value in full.y],
        [mean(value) for value in simple.y],
        _mbps(holding.goodput_bps),
        [float(value) for value in p],
        simulations,
    )


def _compared(bench: Bench, every: int) -> Found:
    curves = [_curve(bench, uploads, every) for uploads in _UPLOADS]
    series = []
    for number, curve in enumerate(curves):
        n = curve.uploads
        series += [
            Series(f"n = {n}, full", _WINDOWS, curve.full, "model", number),
            Series(f"n = {n}, simulation", _WINDOWS, [*curve.simulated], "points", number),
            Series(f"n = {n}, simplified", _WINDOWS, curve.simplified, "dotted", number),
        ]
    calm: list[tuple[Interval, ...]] = []
    crowded: list[Interval] = []
    # TCP timeouts added between the windows with fewest and with most collisions.
    added = [
        difference(curve.runs[0], curve.runs[-1], "tcp_timeouts")
        for curve in curves
        if curve.p[0] > _MANY_COLLISIONS
    ]
    for curve in curves:
        models = (curve.full, curve.simplified, curve.holding)
        for *gaps, p in zip(*map(curve.gaps, models), curve.p, strict=True):
            if p < _MANY_COLLISIONS:
                calm.append(tuple(gaps))
            else:
                crowded.append(gaps[0])
    full, simplified, holding = (most(some) for some in zip(*calm, strict=True))
    beyond = most(crowded)
    standard = _WINDOWS.index(32)
    ten, twenty = (curves[_UPLOADS.index(n)] for n in (10, 20))
    best = [_WINDOWS[curve.full.index(max(curve.full))] for curve in curves]
    found_best = [_WINDOWS[_best(curve.simulated)] for curve in curves]
    return Found(
        values={
            "full_gap": full,
            "simplified_gap": simplified,
            "holding_gap": holding,
            "beyond_gap": beyond,
            "timeouts_added": least(added),
            "p_standard_ten": ten.p[standard],
            "p_standard_twenty": twenty.p[standard],
            "best_share": least(curve.at_the_model_s_best for curve in curves),
        },
        told={
            "uploads": ", ".join(map(str, _UPLOADS)),
            "best": ", ".join(map(str, best)),
            "found_best": ", ".join(map(str, found_best)),
        },
        data=table_of(series, x=_X, y=_Y),
        figure=_panels(curves),
    )


def _panels(curves: list[_Curve]) -> Figure:
    """Return one pair of axes per number of uploads; in one picture the curves would overlap."""
    return panels(
        {
            f"n = {curve.uploads}": [
                Series("full model", _WINDOWS, curve.full, "model", 0),
                Series("simplified model", _WINDOWS, curve.simplified, "dotted", 1),
                Series("simulation", _WINDOWS, [*curve.simulated], "points", 2),
            ]
            for curve in curves
        },
        x=_X,
        y=_Y,
        x_ticks=_WINDOWS,
    )


def _best(values: list[Interval]) -> int:
    means = [mean(value) for value in values]
    return means.index(max(means))


items(_compared, {"L.fig4": {"every": 1}, "L.fig5": {"every": 2}})
