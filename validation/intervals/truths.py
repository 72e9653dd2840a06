"""The true values of all metrics of a system, and how well they are known.

Knows long runs, and what is known exactly of the processor. Knows no estimate that is judged: the
one that is made here is for runs so long that what happens at their ends does not matter.

A long run of a system begins after five of its windows and lasts for twenty. Its mean time is
Little's: transfers in progress over transfers that end in a second. Over long runs the values are
regressed on what the laws made differ from their means, which are known (Lavenberg and Welch,
Management Science 27(3), 1981). Where a goodput g and a mean time t are true, n E[S] / (E[Z] + t)
is g in a closed loop: both come from the same runs, and `off_loop` says how far they are apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from airtcp.distributions import Exponential
from airtcp.estimates.books import SUMS
from airtcp.results import Replication
from intervals import sharing, store
from intervals.cells import METRICS, System, Window
from numpy.typing import NDArray
from scipy.special import stdtrit

FloatArray = NDArray[np.float64]
WARMUP_WINDOWS: Final = 5
WINDOWS: Final = 20
#: Long runs of a block of truths.
RUNS: Final = 8
#: Blocks of truths, at most.
MOST: Final = 12
#: Controls, and the mean itself.
_PARAMETERS: Final = 3


@dataclass(frozen=True, slots=True)
class Truth:
    """A true value and the half width of its own interval of 95 %; 0 where it is exact."""

    value: float
    half_width: float

    def to_list(self) -> list[float]:
        return [self.value, self.half_width]


def exact(system: System) -> dict[str, Truth]:
    """Gives the true values that theory has of the processor; it has none of radios."""
    if not system.is_processor:
        return {}
    sizes, thinks = system.laws()
    capacity = system.place.bulk_bps / 8.0
    given = (sizes.mean(), thinks.mean(), system.laptops, capacity)
    time_s, served = sharing.mean_values(*given)
    known = {"transfer_time_s": Truth(time_s, 0.0), "goodput_bps": Truth(8.0 * served, 0.0)}
    if isinstance(sizes, Exponential):
        p90_s = sharing.exponential_quantile_s(0.9, *given)
        known["transfer_time_p90_s"] = Truth(p90_s, 0.0)
    return known


def long_runs(system: System, block: int, threads: int) -> list[list[float]]:
    """A row of each of `RUNS` long runs: metrics, and by how much both draws differ, per second."""
    window_s = system.window.measured_s
    window = Window(WARMUP_WINDOWS * window_s, WINDOWS * window_s)
    runs = store.simulate(system, -1 - block, threads=threads, replications=RUNS, window=window)
    return [_row(system, run, window.measured_s) for run in runs]


def regressed(rows: Sequence[Sequence[float]]) -> dict[str, Truth]:
    """The true values by long runs."""
    table = np.asarray(rows, dtype=float)
    count = len(METRICS)
    return {
        metric: _intercept(table[:, column], table[:, count:])
        for column, metric in enumerate(METRICS)
    }


def off_loop(system: System, truths: dict[str, Truth]) -> float:
    """The goodput over that of the closed loop with its mean time, less 1."""
    sizes, thinks = system.laws()
    time_s = truths["transfer_time_s"].value
    loop_bps = 8.0 * system.laptops * sizes.mean() / (thinks.mean() + time_s)
    return truths["goodput_bps"].value / loop_bps - 1.0


def _row(system: System, run: Replication, measured_s: float) -> list[float]:
    assert run.books is not None
    totals = dict(zip(SUMS, run.books.sums.sum(axis=(0, 1)).tolist(), strict=True))
    sizes, thinks = system.laws()
    values: dict[str, Any] = {
        "transfer_time_s": totals["active_s"] / totals["ended"],
        "goodput_bps": 8.0 * totals["delivered_bytes"] / measured_s,
        "transfer_time_p90_s": float(np.quantile(run.transfer_times_s, 0.9)),
    }
    return [
        *(values[metric] for metric in METRICS),
        (totals["unit_bytes"] - totals["units"] * sizes.mean()) / measured_s,
        (totals["paused_s"] - totals["pauses"] * thinks.mean()) / measured_s,
    ]


def _intercept(values: FloatArray, controls: FloatArray) -> Truth:
    scale = np.abs(controls).max(axis=0)
    design = np.column_stack([np.ones(len(values)), controls / np.where(scale > 0, scale, 1.0)])
    found, *_ = np.linalg.lstsq(design, values, rcond=None)
    degrees = len(values) - _PARAMETERS
    variance = float(np.sum((values - design @ found) ** 2)) / degrees
    error = (variance * float(np.linalg.inv(design.T @ design)[0, 0])) ** 0.5
    return Truth(float(found[0]), float(stdtrit(degrees, 0.975)) * error)
