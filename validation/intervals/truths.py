"""The true values of all metrics of a system, and how well they are known.

A long run of a system begins after five of its windows and lasts for twenty, so that what is in
progress at its ends matters by a twentieth of what it does to a window. Long runs are estimated as
any runs are, and may be so because three witnesses agree: on the processor the values are those of
a product form; `estimated` compares with Student's intervals of the same long runs; and in a
closed loop a goodput g and a mean time t go together by g = n E[S] / (E[Z] + t): `off_loop`.
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
#: Long runs of a block of truths.
RUNS: Final = 8
#: Blocks of truths, at most.
MOST: Final = 5


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
        alone_s = sizes.mean() / capacity
        ratio = alone_s / thinks.mean()
        p90_s = float(engset_sojourn_quantile(0.9, system.laptops, ratio, alone_s))
        known["transfer_time_p90_s"] = Truth(p90_s, 0.0)
    return known


def window(system: System) -> Window:
    """The window of a long run."""
    window_s = system.window.measured_s
    return Window(WARMUP_WINDOWS * window_s, WINDOWS * window_s)


def long_runs(system: System, block: int, threads: int) -> list[Replication]:
    """Simulates a block of long runs, whose seed no block of the cells has."""
    return store.simulate(
        system, -1 - block, threads=threads, replications=RUNS, window=window(system)
    )


def estimated(system: System, runs: Sequence[Replication]) -> tuple[dict[str, Truth], float]:
    """The true values by long runs, and how many half widths they are off plain means, at most."""
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
    """The goodput over that of the closed loop with its mean time, less 1; None of no loop."""
    loop_bps = system.loop_bps({metric: one.value for metric, one in truths.items()})
    return None if loop_bps is None else truths["goodput_bps"].value / loop_bps - 1.0
