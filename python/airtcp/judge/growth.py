"""Find the number of stations at which a target fails first, by quick simulations.

All groups grow in proportion, as with `airtcp plan --vary stations`. That search is exact; a quick
simulation is short and approximate. The budget counts the core's work, never time, so the result
depends only on scenario and seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from airtcp.exceptions import AirtcpError
from airtcp.results.cells import SHARE_OF_ALONE
from airtcp.results.verdict import Growth, State, Target, Verdict
from airtcp.run.glance import BUDGET, glance
from airtcp.scenario import Scenario
from airtcp.scenario.vary import MOST_STATIONS

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.results import Comparison, Replication, SimulationResult
    from airtcp.results.glance import Glance


#: Maximum work of all quick simulations, relative to the simulation of the run.
_PART: Final = 1.0
#: Work of a quick simulation outside the core (files, estimates), in events: about 10 ms.
_BESIDE: Final = 300_000
#: Maximum number of quick simulations, and the number that the budget must allow before it starts.
_MOST: Final = 12
_FEWEST: Final = 4
#: The number of stations grows by this factor until a target fails.
_STEP: Final = 1.6
#: The search ends when the two numbers of stations are within this factor.
_NEAR: Final = 1.15


class _TooMuchError(Exception):
    """The budget is spent."""


@dataclass(frozen=True)
class _Seen:
    """The state of all targets in a quick simulation, and the target that fails by most, if any."""

    state: State
    target: Target | None = None


@dataclass(frozen=True)
class _Ends:
    """Two numbers of stations: with `good` all targets are met, with `bad` they are not."""

    good: int
    bad: int
    seen: _Seen


class _Looks:
    """Quick simulations of a scenario with other numbers of stations, within a budget."""

    def __init__(self, scenario: Scenario, targets: Sequence[Target], budget: float) -> None:
        self._scenario = scenario
        self._targets = targets
        self._asks_alone = any(one.condition.metric == SHARE_OF_ALONE for one in targets)
        self._left = budget
        self.taken = 0

    def seen(self, stations: int) -> _Seen:
        """Run a quick simulation with `stations` stations. Raises _TooMuchError."""
        if self.taken >= _MOST or self._left < BUDGET + _BESIDE:
            raise _TooMuchError
        seen = glance(self._scenario.with_stations(stations), times=1, alone=self._asks_alone)
        self.taken += 1
        self._left -= max(seen.events, BUDGET) + _BESIDE
        shortfalls = [(_shortfall(seen, target.condition), target) for target in self._targets]
        known = [(shortfall, target) for shortfall, target in shortfalls if shortfall is not None]
        most, target = max(known, key=lambda one: one[0], default=(0.0, None))
        if most > 0.0:
            return _Seen("fails", target)
        # A quick simulation shorter than its transfers might miss a target if it ran longer.
        whole = seen.reached and seen.settled and len(known) == len(shortfalls)
        return _Seen("holds" if whole else "unknown")


def _shortfall(seen: Glance, condition: Condition) -> float | None:
    """Return by how much a metric misses the bound of its target, relative to the bound.

    Negative if the target is met. None if the metric has no value, or only a lower bound that does
    not decide.
    """
    interval = seen.interval(condition.metric, condition.group, condition.part, condition.cell)
    value = interval.low if interval.mean is None else interval.mean
    if value is None:
        return None
    shortfall = -condition.excess(value) / (condition.bound or 1.0)
    return None if interval.mean is None and shortfall <= 0.0 else shortfall


def growth_of(result: SimulationResult | Comparison, verdict: Verdict) -> Growth | None:
    """Return how many stations meet all targets, by growing or shrinking the network.

    None if the verdict is inconclusive, if the scenario has no written form, if the simulation did
    too little work to pay for quick simulations, or if these find no such number.
    """
    scenario = result.scenario
    if verdict.state != "holds" or not isinstance(scenario, Scenario) or not scenario.is_written:
        return None
    budget = _PART * sum(map(_cost, result.simulation.runs))
    if budget < _FEWEST * (BUDGET + _BESIDE):
        return None
    looks = _Looks(scenario, [one.target for one in verdict.targets], budget)
    counts = [group.count for group in scenario.stations]
    search = _outwards if verdict.state == "holds" else _inwards
    try:
        ends = search(looks, sum(counts), len(counts))
        if ends is not None:
            ends = _narrowed(looks, ends)
    except (AirtcpError, _TooMuchError):
        # So many stations make an invalid scenario: they have no room.
        return None
    if ends is None or ends.seen.target is None:
        return None
    return Growth(ends.seen.target.text, sum(counts), ends.good, ends.bad, looks.taken)


def _outwards(looks: _Looks, present: int, least: int) -> _Ends | None:
    """Grow a network that meets its targets until one fails."""
    good = present
    if looks.seen(present).state == "fails":
        # The quick simulation disagrees with the simulation.
        return None
    while good < MOST_STATIONS:
        here = min(MOST_STATIONS, math.ceil(_STEP * good))
        seen = looks.seen(here)
        if seen.state != "holds":
            return _Ends(good, here, seen)
        good = here
    return None


def _inwards(looks: _Looks, present: int, least: int) -> _Ends | None:
    """Shrink a network that misses targets until all are met.

    `good` is 0 if no tried number does.
    """
    bad, seen = present, looks.seen(present)
    if seen.state == "holds":
        return None
    while bad > least:
        here = max(least, math.floor(bad / _STEP))
        found = looks.seen(here)
        if found.state == "holds":
            return _Ends(here, bad, seen)
        bad, seen = here, found
    return _Ends(0, bad, seen)


def _narrowed(looks: _Looks, ends: _Ends) -> _Ends:
    """Bisect between the two numbers until they are close, or the budget is spent."""
    with suppress(_TooMuchError):
        while ends.good and ends.bad - ends.good > 1 and ends.bad > _NEAR * ends.good:
            middle = round(math.sqrt(ends.good * ends.bad))
            here = min(max(middle, ends.good + 1), ends.bad - 1)
            seen = looks.seen(here)
            if seen.state == "holds":
                ends = replace(ends, good=here)
            else:
                ends = replace(ends, bad=here, seen=seen)
    return ends


def _cost(run: Replication) -> float:
    """Count the core's work for a replication, by the same rule as for a quick simulation."""
    counts = run.answer["counts"]
    return float(counts["events"] + 2 * (counts["mac_attempts"] + counts["tcp_segments"]))
