"""Growth: the number of stations at which a target fails first, by glances.

All groups grow in proportion, as `airtcp plan --vary stations` has it, whose search is the exact
one: a glance is a short look without a promise. Its budget is counted in what the core has to do,
never in time, so that the same scenario and seed have the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from airtcp.advice.reading import Simulated
from airtcp.exceptions import AirtcpError
from airtcp.results.verdict import Growth, Target
from airtcp.run.glance import BUDGET, glance
from airtcp.scenario import Scenario
from airtcp.scenario.vary import MOST_STATIONS

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.results import Replication
    from airtcp.results.glance import Glance
    from airtcp.results.verdict import Verdict

#: Numbers of stations on both sides of the end, and the target that fails at the second.
_Enclosed: TypeAlias = tuple[int, int, Target]

#: The part of the cost of a simulation that glances may have.
_PART: Final = 1.0
#: The work beside the core's of a glance (files, estimates), some 10 ms, in events.
_BESIDE: Final = 300_000
#: Glances at most, and the fewest with which it is begun.
_MOST: Final = 12
_FEWEST: Final = 4
#: The number of stations grows by this factor until a target fails.
_STEP: Final = 2
#: The end is known well enough where the two numbers are so near to each other.
_NEAR: Final = 1.15


class _TooMuchError(Exception):
    """The budget is spent."""


class _Looks:
    """Glances at a scenario with other numbers of stations, as long as the budget lasts."""

    def __init__(self, scenario: Scenario, targets: Sequence[Target], budget: float) -> None:
        self._scenario = scenario
        self._targets = targets
        self._left = budget
        self.taken = 0

    def worst(self, stations: int) -> Target | None:
        """Return the target that fails at so many stations, of several the one that does most.

        Raises _TooMuchError.
        """
        if self.taken >= _MOST or self._left < BUDGET + _BESIDE:
            raise _TooMuchError
        seen = glance(self._scenario.with_stations(stations))
        self.taken += 1
        self._left -= max(seen.events, BUDGET) + _BESIDE
        shortfalls = [(_shortfall(seen, target.condition), target) for target in self._targets]
        most, found = max(shortfalls, key=lambda one: one[0])
        if most > 0.0:
            return found
        if not (seen.reached and seen.settled):
            # It is too short for its transfers: longer, it might see the target fail.
            raise _TooMuchError
        return None


def _shortfall(seen: Glance, condition: Condition) -> float:
    """Measure how far a metric is beyond a bound that it shall keep, over the bound."""
    interval = seen.interval(condition.metric, condition.group, condition.part)
    value = interval.low if interval.mean is None else interval.mean
    return 0.0 if value is None else -condition.excess(value) / (condition.bound or 1.0)


def growth_of(result: Simulated, verdict: Verdict) -> Growth | None:
    """Return where the first target fails as the network grows, or holds again as it shrinks.

    None where the verdict is open, where the scenario is known in its resolved form alone, where
    the simulation was too cheap for glances beside it, and where these do not see an end.
    """
    scenario = result.scenario
    if verdict.state == "unknown" or not isinstance(scenario, Scenario):
        return None
    budget = _PART * sum(map(_cost, result.simulation.runs))
    if budget < _FEWEST * (BUDGET + _BESIDE):
        return None
    looks = _Looks(scenario, [one.target for one in verdict.targets], budget)
    counts = [group.count for group in scenario.stations]
    search = _outwards if verdict.state == "holds" else _inwards
    try:
        found = search(looks, sum(counts), len(counts))
        if found is None:
            return None
        good, bad, target = _narrowed(looks, *found)
    except (AirtcpError, _TooMuchError):
        # Of too many stations something else is wrong: there is no room for them.
        return None
    return Growth(target.text, sum(counts), good, bad, looks.taken)


def _outwards(looks: _Looks, present: int, least: int) -> _Enclosed | None:
    """Enclose the end of a network that holds its targets."""
    good, target = present, looks.worst(present)
    if target is not None:
        # A glance sees it otherwise than the simulation.
        return None
    while good < MOST_STATIONS:
        here = min(MOST_STATIONS, _STEP * good)
        target = looks.worst(here)
        if target is not None:
            return good, here, target
        good = here
    return None


def _inwards(looks: _Looks, present: int, least: int) -> _Enclosed | None:
    """Enclose the end of a network that fails; 0 stations hold if none do that were looked at."""
    bad, target = present, looks.worst(present)
    if target is None:
        return None
    while bad > least:
        here = max(least, bad // _STEP)
        found = looks.worst(here)
        if found is None:
            return here, bad, target
        bad, target = here, found
    return 0, bad, target


def _narrowed(looks: _Looks, good: int, bad: int, target: Target) -> _Enclosed:
    """Halve what encloses the end until it is narrow, or the budget is spent."""
    with suppress(_TooMuchError):
        while good and bad - good > 1 and bad > _NEAR * good:
            here = min(max(round(math.sqrt(good * bad)), good + 1), bad - 1)
            found = looks.worst(here)
            if found is None:
                good = here
            else:
                bad, target = here, found
    return good, bad, target


def _cost(run: Replication) -> float:
    """Count the work of the core for a replication, as a glance counts its own."""
    counts = run.answer["counts"]
    return float(counts["events"] + 2 * (counts["mac_attempts"] + counts["tcp_segments"]))
