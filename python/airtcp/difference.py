"""Simulate two scenarios on common random numbers and compare their metrics.

Both use the same seed and number of replications; runs continue until the paired differences are
precise enough. `airtcp.results.differences` computes the differences.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airtcp.judge.decide import timed
from airtcp.results import Provenance, Simulation, SimulationResult
from airtcp.results.differences import Difference
from airtcp.run import HEADLINES
from airtcp.run.points import Points
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, as_scenario
from airtcp.stats import FIRST_ROUND, Interval, is_precise, next_round
from airtcp.units import parse_percent

if TYPE_CHECKING:
    from pathlib import Path

    from airtcp.results.objects import Stopped


def diff(
    a: ResolvedScenario | str | Path,
    b: ResolvedScenario | str | Path,
    *,
    seed: int | None = None,
    replications: int | None = None,
    precision: str | float | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Difference:
    """Simulate two scenarios with the same seed, and return the paired difference of every metric.

    `a` and `b` are scenarios, or any argument of `airtcp.load`. `seed` and `replications` override
    the scenarios' values; by default both scenarios use the settings of `a`. If `a` sets a
    precision, it applies to the intervals of `a` itself. `b` uses its own warm-up and duration.
    Identical scenarios have differences of exactly 0. With `precision` (0.02 or "2 %"), pairs are
    added until the intervals of the paired differences of goodput and transfer time are within
    ±precision of the means of `a`, or until `a`'s `run.max_replications`.

    Raises the errors of `airtcp.simulate`; ValueError for a precision out of bounds, or together
    with replications; UnitError for a text that is not a percentage. Ctrl-C compares the pairs that
    have ended, or raises KeyboardInterrupt if there are none.

    With the `cafe` of `airtcp.load`:

    >>> crowd = cafe.vary({"stations.laptop.count": 10})
    >>> airtcp.diff(cafe, crowd, replications=5).ranked()[0].metric
    'flow_goodput_bps'
    """
    a, b = as_scenario(a), as_scenario(b)

    def part(begin: float) -> Callable[[float], None] | None:
        return None if progress is None else lambda fraction: progress(begin + fraction / 2)

    if precision is not None:
        if replications is not None:
            raise ValueError(
                "precision cannot be combined with replications; allowed: only one of them"
            )
        wanted = parse_percent(precision) if isinstance(precision, str) else precision
        if not 0.0 < wanted < 1.0:
            raise ValueError(
                f"precision: {precision!r} is out of range; allowed: more than 0 % and less than "
                "100 %"
            )
        return _Pairs(a, b, wanted, seed).difference(threads, progress)
    a, b = timed(a), timed(b)
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


@dataclass
class _Spent:
    """Time used by the replications of one scenario."""

    wall_s: float = 0.0
    cpu_s: float = 0.0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Add the time of the enclosed block."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.wall_s += time.perf_counter() - wall
            self.cpu_s += time.process_time() - cpu


class _Pairs:
    """Pairs of replications, run in rounds until their differences are precise enough."""

    def __init__(
        self, a: ResolvedScenario, b: ResolvedScenario, precision: float, seed: int | None
    ) -> None:
        self._seed = a.run.seed if seed is None else seed
        self._scenarios = [a, b]
        self._precision = precision
        self._most = a.run.max_replications
        self._spent = [_Spent(), _Spent()]

    def difference(
        self, threads: int | None, progress: Callable[[float], None] | None
    ) -> Difference:
        """Run as many pairs as needed, and compare the completed ones."""
        at = 0

        def both(fraction: float) -> None:
            if progress is not None:
                progress((at + fraction) / 2)

        with Points[int](self._seed, threads=threads, progress=both) as points:
            stopped: Stopped = "interrupted"
            try:
                for key, scenario in enumerate(self._scenarios):
                    warm = scenario.with_run(seed=self._seed, replications=FIRST_ROUND)
                    warm = warm.with_run(warmup_ns=points.warmed_up(warm))
                    points.add(key, warm)
                    self._scenarios[key] = warm
                target = min(FIRST_ROUND, self._most)
                while True:
                    for at in range(2):
                        with self._spent[at].counting():
                            points.run({at: target})
                    found = self._compared(points, "precision")
                    known = _headlines(found)
                    if is_precise(known, self._precision):
                        return found
                    if target >= self._most:
                        return self._compared(points, "cap")
                    target = next_round(known, self._precision, target, self._most)
            except KeyboardInterrupt:
                if not all(points.ended(key) for key in range(2)):
                    raise
            return self._compared(points, stopped)

    def _compared(self, points: Points[int], stopped: Stopped) -> Difference:
        """Compare the replications that ended in both scenarios."""
        n = min(len(points.ended(key)) for key in range(2))
        a, b = (self._result(points, key, n, stopped) for key in range(2))
        return Difference(a, b, self._precision)

    def _result(self, points: Points[int], key: int, n: int, stopped: Stopped) -> SimulationResult:
        scenario = self._scenarios[key].with_run(replications=n)
        run, spent = scenario.run, self._spent[key]
        simulation = Simulation.gather(
            points.ended(key)[:n],
            confidence=run.confidence,
            simulated_s=n * run.whole_ns / 1e9,
            wall_s=spent.wall_s,
            cpu_s=spent.cpu_s,
            stopped=stopped,
            scenario=scenario,
        )
        provenance = Provenance.of(scenario, seed=run.seed, generator=points.generator)
        return SimulationResult(scenario, provenance, simulation)


def _headlines(found: Difference) -> list[Interval]:
    """Return the intervals of the headline differences, centred on the means of `a`.

    An interval without a mean marks runs too short for a difference. It counts as not precise.
    """
    known = []
    for name in HEADLINES:
        change = found.metrics[name]
        moved = change.difference
        if moved.n == 0:
            continue
        mean, wide = change.a.mean, moved.half_width
        if wide == 0.0:
            known.append(Interval(0.0, 0.0, 0.0, moved.n))
        elif change.unsteady is not None or mean is None or wide is None:
            known.append(Interval(None, None, None, moved.n))
        else:
            known.append(Interval(mean, mean - wide, mean + wide, moved.n))
    return known
