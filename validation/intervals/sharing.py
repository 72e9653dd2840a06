"""Simulate a processor that sources share, in plain Python, and compute its exact results.

In a closed system each source thinks, starts a transfer, which gets an equal share of the capacity
with all others present, and thinks again. `crates/flow` simulates the same system, measured in
jobs. Here a time window is measured as in the packet simulator, and draws that have not ended are
reported, too.

Truths: mean time and goodput have a product form for any size distribution (Baskett,
Chandy, Muntz and Palacios, Open, Closed, and Mixed Networks of Queues with Different Classes of
Customers, JACM 22(2), 1975), by mean value analysis (Reiser and Lavenberg, JACM 27(2), 1980).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final

import numpy as np
from airtcp.distributions import Distribution, Empirical, Exponential, Pareto
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
#: Equal blocks of the measured time in which the core accumulates.
BLOCKS: Final = 20
_CHUNK: Final = 4096


@dataclass(slots=True)
class Sums:
    """The sums, in the order of the core's statistics."""

    units: int = 0
    unit_bytes: float = 0.0
    pauses: int = 0
    paused_s: float = 0.0
    begun: int = 0
    ended: int = 0
    ended_s: float = 0.0
    delivered_bytes: float = 0.0
    active_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Observation:
    """The measurements of a window, as the core would record them.

    `times_s` are the times of the transfers that ended in it, in order. `carried_over` has the
    indices in `times_s` of the transfers that had begun before, with their ages when the window
    began; `under_way_s` has the ages of those in progress at its end. `sums` has a row for each of
    `BLOCKS` equal parts of the window, and the columns of `Sums`.
    """

    measured_s: float
    times_s: FloatArray
    carried_over: list[tuple[int, float]]
    under_way_s: FloatArray
    sums: FloatArray

    @property
    def metrics(self) -> dict[str, float | None]:
        """The metrics of the packet simulator, from ended transfers only."""
        times_s = self.times_s
        some = len(times_s) > 0
        delivered = self.sums[:, list(Sums.__slots__).index("delivered_bytes")].sum()
        return {
            "transfer_time_s": float(times_s.mean()) if some else None,
            "goodput_bps": 8.0 * float(delivered) / self.measured_s,
            "transfer_time_p90_s": float(np.quantile(times_s, 0.9)) if some else None,
        }


def observe(
    sizes: Distribution,
    thinks: Distribution,
    sources: int,
    capacity: float,
    warmup_s: float,
    measured_s: float,
    rng: np.random.Generator,
) -> Observation:
    """Simulate one replication; `capacity` in bytes per second. All sources start by thinking.

    A size is drawn when its transfer begins, a think time when a transfer ends.
    """
    size_draws, think_draws = _draws(sizes, rng), _draws(thinks, rng)
    thinking = [next(think_draws) for _ in range(sources)]
    heapq.heapify(thinking)
    # Sorted by the attained service of a permanent transfer at which each one ends.
    present: list[tuple[float, float]] = []
    times_s: list[float] = []
    carried_over: list[tuple[int, float]] = []
    rows: list[tuple[float, ...]] = []
    sums = Sums()
    ends_s = [warmup_s + measured_s * block / BLOCKS for block in range(BLOCKS, -1, -1)]
    now = attained = 0.0
    while ends_s:
        count = len(present)
        comes_s = thinking[0] if thinking else np.inf
        leaves_s = now + (present[0][0] - attained) * count / capacity if count else np.inf
        until_s = min(comes_s, leaves_s, ends_s[-1])
        if count:
            work = capacity * (until_s - now)
            attained += work / count
            sums.delivered_bytes += work
            sums.active_s += count * (until_s - now)
        now = until_s
        if now == ends_s[-1]:
            ends_s.pop()
            rows.append(tuple(getattr(sums, name) for name in Sums.__slots__))
            sums = Sums()
        elif now == leaves_s:
            attained, began_s = heapq.heappop(present)
            if len(ends_s) <= BLOCKS and began_s < warmup_s:
                carried_over.append((len(times_s), warmup_s - began_s))
            if len(ends_s) <= BLOCKS:
                times_s.append(now - began_s)
            think_s = next(think_draws)
            heapq.heappush(thinking, now + think_s)
            sums.ended += 1
            sums.ended_s += now - began_s
            sums.pauses += 1
            sums.paused_s += think_s
        else:
            heapq.heappop(thinking)
            size = next(size_draws)
            heapq.heappush(present, (attained + size, now))
            sums.begun += 1
            sums.units += 1
            sums.unit_bytes += size
    return Observation(
        measured_s=measured_s,
        times_s=np.array(times_s),
        carried_over=carried_over,
        under_way_s=np.array([now - began_s for _, began_s in present]),
        sums=np.array(rows[1:]),
    )


def mean_values(
    mean_size: float, mean_think_s: float, sources: int, capacity: float
) -> tuple[float, float]:
    """Return a transfer's mean time in seconds, and the total throughput in bytes per second."""
    waiting = 0.0
    for present in range(1, sources + 1):
        time_s = mean_size / capacity * (1.0 + waiting)
        throughput = present / (mean_think_s + time_s)
        waiting = throughput * time_s
    return time_s, throughput * mean_size


def _draws(law: Distribution, rng: np.random.Generator) -> Any:
    for _ in repeat(None):
        yield from _chunk(law, rng).tolist()


def _chunk(law: Distribution, rng: np.random.Generator) -> FloatArray:
    if isinstance(law, Exponential):
        return rng.exponential(law.mean(), _CHUNK)
    if isinstance(law, Pareto):
        # One by one, by the C library: with AVX-512, NumPy's power of an array differs in the last
        # bits, and the feedback in the system then changes the whole run.
        power = -1.0 / law.shape
        return law.scale * np.array([(1.0 - one) ** power for one in rng.random(_CHUNK).tolist()])
    if isinstance(law, Empirical):
        counts = np.asarray(law.counts, dtype=float)
        return rng.choice(np.asarray(law.values, dtype=float), _CHUNK, p=counts / counts.sum())
    raise TypeError(f"no draws of {law!r}")
