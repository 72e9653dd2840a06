"""Effects of a change on groups: what each feels before and after, on the same replications.

Knows the metrics by which groups feel how they are served, and which changes are worth telling.
Does not know what was changed, nor whether it was meant to help.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from airtcp.advice.complaints import felt_metrics, is_felt
from airtcp.advice.problems import unhappy
from airtcp.advice.profiles import targets_of
from airtcp.advice.reading import Reading, Scope, Simulated
from airtcp.estimates.traffic import measured
from airtcp.metrics import METRICS
from airtcp.results import Simulation, SimulationResult
from airtcp.results.advice import Effect, Goal
from airtcp.stats import Interval, jain_index, student_interval

if TYPE_CHECKING:
    from airtcp.results import Provenance, Replication
    from airtcp.results.cells import Alone
    from airtcp.scenario import ResolvedScenario

#: Pairs from which on their own spread is taken.
_PAIRS: Final = 3
#: A change of what others feel by less, as a logarithm of a ratio, is not told.
TOLD = 0.1
#: The metric of those who wait for pages of which none ends.
_THROUGH: Final = "flow_goodput_bps"


def value_of(run: Replication, goal: Goal) -> float | None:
    """Return the metric of a goal in one replication."""
    if goal.among:
        return jain_index(
            flow["goodput_bps"]
            for flow in run.answer["flows"]
            if flow["station"].rpartition("/")[0] in goal.among
        )
    return measured(run, goal.metric, goal.group or None, goal.part)


def gain_of(goal: Goal, before: float, after: float) -> float:
    """Return the gain of one value over another, the logarithm of their ratio; positive is good."""
    tiny = 1e-9 * max(abs(before), abs(after), 1e-9)
    ratio = math.log(max(after, tiny) / max(before, tiny))
    return ratio if METRICS[goal.metric].better == "higher" else -ratio


def gain_interval(
    goal: Goal, known: Sequence[tuple[float, float]], all_before: Sequence[float], level: float
) -> Interval:
    """Return the interval of a gain, of pairs of values before and after.

    From three pairs on it is that of their gains. Of fewer it is the one in which as many more runs
    without the change would lie: if it changed nothing, its own would be among them.
    """
    if len(known) >= _PAIRS:
        return student_interval([gain_of(goal, *pair) for pair in known], level)
    return _unlike(goal, [after for _, after in known], all_before, level)


def _unlike(goal: Goal, after: Sequence[float], before: Sequence[float], level: float) -> Interval:
    """The interval of the gain of a few runs over others, which spread as the others do."""
    least = 1e-9 * max(map(abs, [*after, *before, 1e-9]))
    sign = 1.0 if METRICS[goal.metric].better == "higher" else -1.0
    logs = [sign * math.log(max(value, least)) for value in before]
    own = student_interval(logs, level)
    mean = sum(sign * math.log(max(value, least)) for value in after) / len(after)
    if own.mean is None or own.half_width is None:
        return Interval(None, None, None, len(after))
    # Of the mean of m more runs: s sqrt(1/m + 1/n), where the interval itself has s sqrt(1/n).
    half = own.half_width * math.sqrt(own.n / len(after) + 1.0)
    gain = mean - own.mean
    return Interval(gain, gain - half, gain + half, len(after))


def gathered(
    scenario: ResolvedScenario,
    provenance: Provenance,
    runs: Sequence[Replication],
    *,
    confidence: float,
    alone: Alone | None = None,
) -> SimulationResult:
    """Put replications of a trial together as a result, with plain means.

    `alone` are the goodputs of those cells that were simulated alone, replication by replication.
    """
    length_s = ((scenario.run.warmup_ns or 0) + scenario.run.duration_ns) / 1e9
    simulation = Simulation.gather(
        runs,
        confidence=confidence,
        simulated_s=length_s * len(runs),
        wall_s=0.0,
        cpu_s=0.0,
        stopped="replications",
    )
    return SimulationResult(scenario, provenance, replace(simulation, alone=alone or {}))


def effects(
    before: Reading,
    own: Sequence[Replication],
    after: Sequence[Replication],
    goal: Goal | None,
) -> tuple[tuple[Effect, ...], tuple[Effect, ...], tuple[Effect, ...]]:
    """Return what groups win and lose, beyond the goal's own, over replications that both have.

    As far as replications tell that is no chance; the last are all that they lose by the means.
    """
    found = list(_effects(before, own, after, goal))
    return (
        tuple(effect for effect, gain, is_chance in found if gain > 0.0 and not is_chance),
        tuple(effect for effect, gain, is_chance in found if gain < 0.0 and not is_chance),
        tuple(effect for effect, gain, _ in found if gain < 0.0),
    )


def newly_unhappy(before: Simulated, after: Simulated) -> list[str]:
    """Return the groups, with their direction, that are badly served after a change alone.

    Those too that wait for pages in both, and get less than half after it. Then the targets that
    are missed after it alone, by means: those of the file, else those of the profiles of traffic.
    What as many runs without the change might have shown as well is not told. Both have estimates
    of a kind, such as plain means.
    """
    then, now = Reading(before), Reading(after)
    scopes = {(one.group, one.part): one for one in then.scopes}
    groups = {
        (group, part)
        for group, part in unhappy(after) - unhappy(before)
        if any(
            _moves(before, after, Goal(metric, group, part))
            for metric in (*felt_metrics(scopes[group, part]), "path_rtt_s")
        )
    }
    groups |= {
        (scope.group, scope.part)
        for scope in then.scopes
        if scope.waits_for_pages and _is_halved(before, after, scope)
    }
    wanted = [target.condition for target in targets_of(before.scenario)[0]]
    return sorted(f"{group} {part}s" for group, part in groups) + [
        target.label
        for target in wanted
        if (target.group, target.part) not in groups
        and now.misses(target)
        and not then.misses(target)
        and (
            target.cell is not None
            or _moves(before, after, Goal(target.metric, target.group or "", target.part))
        )
    ]


def _is_halved(before: Simulated, after: Simulated, scope: Scope) -> bool:
    """Tell whether flows of a scope get less than half after a change, and not by chance."""
    goal = Goal(_THROUGH, scope.group, scope.part)
    values = _values(goal, before.simulation.runs, after.simulation.runs)
    is_less = values.old is not None and values.new is not None and values.new < values.old / 2.0
    return is_less and _moves(before, after, goal)


def _moves(before: Simulated, after: Simulated, of: Goal) -> bool:
    """Tell whether a metric is another after a change, as far as replications tell."""
    values = _values(of, before.simulation.runs, after.simulation.runs)
    return not _is_chance(of, values.own, values.after, before.simulation.confidence)


def _effects(
    before: Reading,
    own: Sequence[Replication],
    after: Sequence[Replication],
    goal: Goal | None,
) -> Iterator[tuple[Effect, float, bool]]:
    """Yield what groups feel of a change, by how much it is better, and whether by chance."""
    for scope, metric in ((one, metric) for one in before.scopes for metric in felt_metrics(one)):
        of = Goal(metric, scope.group, scope.part)
        values = _values(of, own, after)
        if scope.waits_for_pages and values.old is not None and values.new is None:
            # Nothing ends any more, so that no time of it is known.
            of = Goal(_THROUGH, scope.group, scope.part)
            values = _values(of, own, after)
        old, new = values.old, values.new
        if of == goal or old is None or new is None or old == new:
            continue
        gain = gain_of(of, old, new)
        if abs(gain) > TOLD and is_felt(of.metric, old, new):
            is_chance = _is_chance(of, values.own, values.after, before.simulation.confidence)
            yield Effect(of.metric, scope.group, scope.part, old, new), gain, is_chance


class _Values(NamedTuple):
    """Values of a metric by replication without and with a change, and means over those of both."""

    own: dict[int, float | None]
    after: dict[int, float | None]
    old: float | None
    new: float | None


def _values(of: Goal, own: Sequence[Replication], after: Sequence[Replication]) -> _Values:
    """Return the values of a metric in replications without and with a change."""
    one, other = ({run.index: value_of(run, of) for run in runs} for runs in (own, after))
    both = sorted(one.keys() & other.keys())
    old, new = (_mean([values[index] for index in both]) for values in (one, other))
    return _Values(one, other, old, new)


def _is_chance(
    of: Goal, own: Mapping[int, float | None], after: Mapping[int, float | None], level: float
) -> bool:
    """Tell whether the interval of a gain holds none, of values by replication."""
    known = [
        (old, new)
        for index, new in after.items()
        if new is not None and (old := own.get(index)) is not None
    ]
    if not known:
        return True
    interval = gain_interval(of, known, [one for one in own.values() if one is not None], level)
    low, high = interval.low, interval.high
    return low is not None and high is not None and low <= 0.0 <= high


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
