"""Compute the true values of all metrics of a system, and their precision.

A long run starts after five windows of its system and lasts for twenty, so transfers in progress at
its ends matter a twentieth as much as in one window. Long runs are estimated like any run. Three
checks justify that. On the processor, exact values have a product form. `estimated` compares with
Student's intervals of the same long runs. In a closed loop, goodput g and mean time t are related
by g = n E[S] / (E[Z] + t): `off_loop`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from airtcp.distributions import Exponential
from airtcp.estimates import estimate
from airtcp.models.processor_sharing import engset_sojourn_quantile
from airtcp.results import Replication
from intervals import sharing, store
from intervals.cells import CONFIDENCE, System, Window

WARMUP_WINDOWS: Final = 5
WINDOWS: Final = 20
#: Long runs per block of truths.
RUNS: Final = 8
#: Maximum blocks of truths.
MOST: Final = 5


@dataclass(frozen=True, slots=True)
class Truth:
    """A true value and the half width of its own 95 % interval; 0 if exact."""

    value: float
    half_width: float

    def to_list(self) -> list[float]:
        return [self.value, self.half_width]


def exact(system: System) -> dict[str, Truth]:
    """Return the true values that theory gives for the processor, and none for Wi-Fi cells."""
    if not system.is_processor:
        return {}
    sizes, thinks = system.laws()
    capacity = system.place.bulk_bps / 8.0
    given = (sizes.mean(), thinks.mean(), system.laptops, capacity)
    time_s, served = sharing.mean_values(*given)
    known = {"transfer_time_s": Truth(time_s, 0.0), "goodput_bps": Truth(8.0 * served, 0.0)}
    if isinstance(sizes, Exponential):
        alone_s = sizes.mean() / capacity
        ratio = alone_s / thinks.mean()
        p90_s = float(engset_sojourn_quantile(0.9, system.laptops, ratio, alone_s))
        known["transfer_time_p90_s"] = Truth(p90_s, 0.0)
    return known


def window(system: System) -> Window:
    """Return the window of a long run."""
    window_s = system.window.measured_s
    return Window(WARMUP_WINDOWS * window_s, WINDOWS * window_s)


def long_runs(system: System, block: int, threads: int) -> list[Replication]:
    """Simulate a block of long runs with a seed that no block of the cells uses."""
    return store.simulate(
        system, -1 - block, threads=threads, replications=RUNS, window=window(system)
    )


def estimated(system: System, runs: Sequence[Replication]) -> tuple[dict[str, Truth], float]:
    """Estimate true values from long runs, and their maximum distance to plain means."""
    scenario = system.scenario(0, window=window(system))
    found, off = {}, 0.0
    for metric in system.metrics:
        one = estimate(runs, scenario, metric, confidence=CONFIDENCE)
        said, plain = one.interval, one.plain
        if said.mean is None or said.half_width is None:
            continue
        found[metric] = Truth(said.mean, said.half_width)
        if plain.mean is not None and plain.half_width:
            off = max(off, abs(said.mean - plain.mean) / plain.half_width)
    return found, off


def off_loop(system: System, truths: dict[str, Truth]) -> float | None:
    """Return the relative error in the closed-loop equation, or None in an open system."""
    loop_bps = system.loop_bps({metric: one.value for metric, one in truths.items()})
    return None if loop_bps is None else truths["goodput_bps"].value / loop_bps - 1.0
