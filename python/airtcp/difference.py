"""Two scenarios on common random numbers, and how far their metrics are apart.

Knows that both run on the same seed for the same number of replications. What a difference is, is
said in `airtcp.results.differences`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from airtcp.results.differences import Difference
from airtcp.run.simulate import simulate

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario


def diff(
    a: ResolvedScenario,
    b: ResolvedScenario,
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Difference:
    """Simulate two scenarios with the same seed, and give the paired difference of every metric.

    `seed` and `replications` replace those of the scenarios; without them, those of `a` hold for
    both, and a precision is that of `a`'s own intervals. `b` measures for its own duration, after
    its own warm-up. Two scenarios that differ in nothing have differences of exactly 0.

    Raises what `airtcp.simulate` raises. On Ctrl-C the pairs that had ended are compared;
    KeyboardInterrupt if there is none.

    With the `cafe` of `airtcp.load`:

    >>> crowd = cafe.vary({"stations.laptop.count": 10})
    >>> airtcp.diff(cafe, crowd, replications=5).ranked()[0].metric
    'ap_queue_packets'
    """

    def part(begin: float) -> Callable[[float], None] | None:
        return None if progress is None else lambda fraction: progress(begin + fraction / 2)

    first = simulate(a, seed=seed, replications=replications, threads=threads, progress=part(0.0))
    if first.simulation.stopped == "interrupted":
        raise KeyboardInterrupt
    second = simulate(
        b,
        seed=first.scenario.run.seed,
        replications=first.simulation.replications,
        threads=threads,
        progress=part(0.5),
    )
    return Difference(first, second)
