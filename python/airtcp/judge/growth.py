"""Growth: the number of stations at which a target fails first, by glances.

All groups grow in proportion, as `airtcp plan --vary stations` has it, whose search is the exact
one: a glance is a short look without a promise. Its budget is counted in what the core has to do,
never in time, so that the same scenario and seed have the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from airtcp.exceptions import AirtcpError
from airtcp.results.cells import SHARE_OF_ALONE
from airtcp.results.verdict import Growth, State, Target
from airtcp.run.glance import BUDGET, glance
from airtcp.scenario import Scenario
from airtcp.scenario.vary import MOST_STATIONS

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.results import Comparison, Replication, SimulationResult
    from airtcp.results.glance import Glance
    from airtcp.results.verdict import Verdict


#: The part of the cost of a simulation that glances may have.
_PART: Final = 1.0
#: The work beside the core's of a glance (files, estimates), some 10 ms, in events.
_BESIDE: Final = 300_000
#: Glances at most, and the fewest with which it is begun.
_MOST: Final = 12
_FEWEST: Final = 4
#: The number of stations grows by this factor until a target fails.
_STEP: Final = 1.6
#: The end is known well enough where the two numbers are so near to each other.
_NEAR: Final = 1.15


class _TooMuchError(Exception):
    """The budget is spent."""


@dataclass(frozen=True)
class _Seen:
    """The state of all targets as a glance sees it, and the one that fails most if one does."""

    state: State
    target: Target | None = None


@dataclass(frozen=True)
class _Ends:
    """Numbers of stations on both sides of the end: all targets hold, and what is seen instead."""

    good: int
    bad: int
    seen: _Seen


class _Looks:
    """Glances at a scenario with other numbers of stations, as long as the budget lasts."""

    def __init__(self, scenario: Scenario, targets: Sequence[Target], budget: float) -> None:
        self._scenario = scenario
        self._targets = targets
        self._asks_alone = any(one.condition.metric == SHARE_OF_ALONE for one in targets)
        self._left = budget
        self.taken = 0

    def seen(self, stations: int) -> _Seen:
        """Say what a glance sees of so many stations. Raises _TooMuchError."""
        if self.taken >= _MOST or self._left < BUDGET + _BESIDE:
            raise _TooMuchError
        seen = glance(self._scenario.with_stations(stations), alone=self._asks_alone)
        self.taken += 1
        self._left -= max(seen.events, BUDGET) + _BESIDE
        shortfalls = [(_shortfall(seen, target.condition), target) for target in self._targets]
        known = [(shortfall, target) for shortfall, target in shortfalls if shortfall is not None]
        most, target = max(known, key=lambda one: one[0], default=(0.0, None))
        if most > 0.0:
            return _Seen("fails", target)
        # A glance that is too short for its transfers might see a target fail if it were longer.
        whole = seen.reached and seen.settled and len(known) == len(shortfalls)
        return _Seen("holds" if whole else "unknown")


def _shortfall(seen: Glance, condition: Condition) -> float | None:
    """Measure how far a metric is beyond a bound that it shall keep, over the bound.

    Negative where it keeps it; None where it has no value, or one from below that is no help.
    """
    interval = seen.interval(condition.metric, condition.group, condition.part, condition.cell)
    value = interval.low if interval.mean is None else interval.mean
    if value is None:
        return None
    shortfall = -condition.excess(value) / (condition.bound or 1.0)
    return None if interval.mean is None and shortfall <= 0.0 else shortfall


def growth_of(result: SimulationResult | Comparison, verdict: Verdict) -> Growth | None:
    """Return where the first target fails as the network grows, or holds again as it shrinks.

    None where the verdict is open, where the scenario is known in its resolved form alone, where
    the simulation was too cheap for glances beside it, and where these do not see an end.
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
        # Of too many stations something else is wrong: there is no room for them.
        return None
    if ends is None or ends.seen.target is None:
        return None
    return Growth(ends.seen.target.text, sum(counts), ends.good, ends.bad, looks.taken)


def _outwards(looks: _Looks, present: int, least: int) -> _Ends | None:
    """Enclose the end of a network that holds its targets."""
    good = present
    if looks.seen(present).state == "fails":
        # A glance sees it otherwise than the simulation.
        return None
    while good < MOST_STATIONS:
        here = min(MOST_STATIONS, math.ceil(_STEP * good))
        seen = looks.seen(here)
        if seen.state != "holds":
            return _Ends(good, here, seen)
        good = here
    return None


def _inwards(looks: _Looks, present: int, least: int) -> _Ends | None:
    """Enclose the end of a network that fails; 0 stations hold if none do that were looked at."""
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
    """Halve what encloses the end until it is narrow, or the budget is spent."""
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
    """Count the work of the core for a replication, as a glance counts its own."""
    counts = run.answer["counts"]
    return float(counts["events"] + 2 * (counts["mac_attempts"] + counts["tcp_segments"]))
