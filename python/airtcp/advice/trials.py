"""Trials of remedies, each simulated on the random numbers of the run.

Knows problems, remedies as scenarios, and how many replications each gets; all together cost as
much as the run did, counted by what the core had to do, so that scenario and seed alone decide;
where that is next to nothing, as under a fault that stops nearly all, about a second. Cells whose
share of what they have alone is asked of are simulated alone beside, as the run's were. First every
remedy that fits in has one replication; of those that better the first problem the one that does
most has as many as are left, then those of the next. Does not know how a problem is found or told.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from airtcp.advice.effects import (
    effects,
    gain_interval,
    gain_of,
    gathered,
    newly_unhappy,
    value_of,
)
from airtcp.advice.problems import PROBLEMS, findings
from airtcp.advice.profiles import targets_of
from airtcp.advice.reading import Reading, Simulated
from airtcp.advice.verdicts import verdict
from airtcp.remedies import Changed, Remedy, as_written, catalogue, changed, named
from airtcp.remedies.apply import lines_for
from airtcp.results.advice import Advice, Advised, Effect, Finding, Goal, Outcome, Trial
from airtcp.results.cells import SHARE_OF_ALONE, cells, interval_of, of_simulation
from airtcp.run.points import Points
from airtcp.scenario.alone import cell_alone
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.results import Replication, SimulationResult
    from airtcp.scenario import Scenario

#: Remedies that `airtcp run` tries.
MOST: Final = 3
#: A change of its metric by less is no gain, whatever its interval says.
LITTLE: Final = 0.1
#: All trials may cost as much in any case, in what `_cost` counts: about a second of a processor.
FLOOR: Final = 1e7
#: A pilot of a trial has its length over this.
_PILOT: Final = 20
_TOO_MUCH: Final = "a trial would cost more than the run did; --advice all tries it"
#: Runs from which on they tell of targets.
_TOGETHER: Final = 2


@dataclass
class _Candidate:
    finding: Finding
    remedy: Remedy
    changed: Changed
    runs: list[Replication] = field(default_factory=list)
    #: Of cells that were simulated alone the goodputs, replication by replication.
    alone: dict[str, list[float]] = field(default_factory=dict)


def advise(
    result: Simulated,
    *,
    most: int | None = MOST,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Advice:
    """Find what is wrong in a simulation, and try the remedies that are most likely to help.

    `most` remedies are tried on the replications of the simulation, which cost as much as it did
    at most, or about a second of a processor if that is more; None tries all that fit, each with
    all replications. With `most=0`, and where the scenario is known in its resolved form alone,
    problems are found and nothing is tried. On Ctrl-C the trials that ended are told.

    Raises SimulationError if a trial breaks a conservation law.

    With the `cafe` of `airtcp.load`, in which nothing is wrong:

    >>> airtcp.advise(airtcp.simulate(cafe)).problems
    ()
    """
    found = findings(result)
    scenario = result.scenario
    if not found or most == 0 or not hasattr(scenario, "vary") or not result.simulation.runs:
        return Advice(tuple(Advised(one) for one in found))
    base = named(cast("Scenario", scenario))
    unfit: dict[int, dict[str, str]] = {}
    candidates = list(_candidates(base, found, most, unfit))
    runs = result.simulation.runs

    def leave_out(one: _Candidate, why: str) -> None:
        unfit.setdefault(found.index(one.finding), {})[one.remedy.name] = why

    with Points[str](result.provenance.seed or 0, threads=threads, progress=progress) as points:
        # On Ctrl-C what ended is told.
        with suppress(KeyboardInterrupt):
            _run(points, candidates, runs, found, leave_out, everything=most is None)
            _run_alone(points, candidates, base)
        for one in candidates:
            one.runs = points.ended(one.remedy.name)
            for cell, key in _alone_of(one, base).items():
                goodputs = [
                    float(run.answer["metrics"]["goodput_bps"] or 0.0) for run in points.ended(key)
                ]
                if len(goodputs) == len(one.runs):
                    one.alone[cell] = goodputs
    by_problem: dict[int, list[Trial]] = {}
    for one in candidates:
        if one.runs:
            trial = _trial(result, base, one, found)
            by_problem.setdefault(found.index(one.finding), []).append(trial)
    return Advice(
        tuple(
            Advised(
                finding,
                tuple(sorted(by_problem.get(place, ()), key=_rank)),
                unfit.get(place, {}),
            )
            for place, finding in enumerate(found)
        ),
        interrupted=points.interrupted,
    )


def _candidates(
    base: Scenario, found: Sequence[Finding], most: int | None, unfit: dict[int, dict[str, str]]
) -> Iterator[_Candidate]:
    """Yield the remedies to try: two of the first problem, then one of each, then what is left."""
    known = {remedy.name: remedy for remedy in catalogue()}
    queues = [list(PROBLEMS[finding.problem].remedies) for finding in found]
    taken: set[str] = set()
    order = [0, *range(len(found))]
    while any(queues) and (most is None or len(taken) < most):
        for place in order:
            while queues[place]:
                name = queues[place].pop(0)
                if name in taken:
                    continue
                new = changed(base, known[name])
                if isinstance(new, str):
                    unfit.setdefault(place, {})[name] = new
                    continue
                taken.add(name)
                yield _Candidate(found[place], known[name], new)
                break
            if most is not None and len(taken) >= most:
                return


def _run(
    points: Points[str],
    candidates: Sequence[_Candidate],
    runs: Sequence[Replication],
    found: Sequence[Finding],
    unfit: Callable[[_Candidate, str], None],
    *,
    everything: bool,
) -> None:
    """Run the candidates as far as the cost of the run itself allows, or `FLOOR` if it is more."""
    for one in candidates:
        points.add(one.remedy.name, one.changed.scenario)
    if everything:
        points.run({one.remedy.name: len(runs) for one in candidates})
        return
    budget = max(sum(_cost(run) for run in runs), FLOOR)
    budget -= _try_each(points, candidates, budget, unfit)
    tried = [one for one in candidates if points.ended(one.remedy.name)]
    for one in tried:
        one.runs = points.ended(one.remedy.name)
    for one in sorted(tried, key=lambda one: _turn(one, runs, found)):
        more = int(budget / max(_cost(one.runs[0]), 1.0))
        wanted = min(len(runs), 1 + more)
        if wanted > 1:
            points.run({one.remedy.name: wanted})
            budget -= sum(_cost(run) for run in points.ended(one.remedy.name)[1:])


def _run_alone(points: Points[str], candidates: Sequence[_Candidate], base: Scenario) -> None:
    """Run cells alone whose shares of that are asked of, as often as the trials were run."""
    wanted = {}
    for one in candidates:
        scenario = one.changed.scenario
        names = [cell.name for cell in scenario.cells or ()]
        for cell, key in _alone_of(one, base).items():
            points.add(key, cell_alone(scenario, names.index(cell)))
            wanted[key] = len(points.ended(one.remedy.name))
    points.run(wanted)


def _alone_of(one: _Candidate, base: Scenario) -> dict[str, str]:
    """Return the cells whose shares are asked of, by their problem or a target, and their keys."""
    names = [cell.name for cell in base.cells or ()]
    if len(names) < 2:
        return {}
    asked = {
        target.condition.cell
        for target in targets_of(base)[0]
        if target.condition.metric == SHARE_OF_ALONE
    }
    if one.finding.problem == "neighbours":
        asked.add(names[base.group(one.finding.goal.group).cell or 0])
    there = {cell.name for cell in one.changed.scenario.cells or ()}
    return {name: f"{name} alone, {one.remedy.name}" for name in names if name in asked & there}


def _shares(
    result: Simulated, after: SimulationResult, names: Iterable[str]
) -> dict[str, tuple[Interval, Interval]]:
    """Return of cells that were simulated alone their shares of that before and after."""
    simulation = result.simulation
    answers = [run.answer for run in simulation.runs[: after.simulation.replications]]
    before = cells(result.scenario, answers, simulation.confidence, simulation.alone)
    then = of_simulation(after.scenario, after.simulation)
    return {
        name: (
            interval_of(before, name, SHARE_OF_ALONE),
            interval_of(then, name, SHARE_OF_ALONE),
        )
        for name in names
    }


def _try_each(
    points: Points[str],
    candidates: Sequence[_Candidate],
    budget: float,
    unfit: Callable[[_Candidate, str], None],
) -> float:
    """Run a replication of each candidate that the budget has room for; return what it costs.

    A pilot, a part of the length, says what a replication will cost: a remedy may let through a
    hundred times what a fault did.
    """
    for one in candidates:
        run = one.changed.scenario.run
        length_ns = (run.warmup_ns or 0) + run.duration_ns
        short = one.changed.scenario.with_run(warmup_ns=0, duration_ns=length_ns // _PILOT)
        points.add(_pilot_of(one), short)
    points.run({_pilot_of(one): 1 for one in candidates})
    pilots = {one.remedy.name: _cost(points.ended(_pilot_of(one))[0]) for one in candidates}
    spent = sum(pilots.values())
    expected, chosen = spent, []
    for one in candidates:
        cost = _PILOT * pilots[one.remedy.name]
        if expected + cost > budget:
            unfit(one, _TOO_MUCH)
            continue
        expected += cost
        chosen.append(one.remedy.name)
    points.run(dict.fromkeys(chosen, 1))
    return spent + sum(_cost(points.ended(name)[0]) for name in chosen)


def _pilot_of(one: _Candidate) -> str:
    """Return the key of a pilot; names of remedies have no spaces."""
    return f"pilot of {one.remedy.name}"


def _cost(run: Replication) -> float:
    """Count the work of the core for a replication: attempts, segments, events."""
    counts = run.answer["counts"]
    return float(counts["mac_attempts"] + counts["tcp_segments"] + counts["events"])


def _turn(
    one: _Candidate, runs: Sequence[Replication], found: Sequence[Finding]
) -> tuple[int, float]:
    """Order candidates: those that better the first problem, those of the next, all others."""
    gain = _better(one, runs)
    return found.index(one.finding) if gain > LITTLE else len(found), -gain


def _better(one: _Candidate, runs: Sequence[Replication]) -> float:
    """Return the gain in the first replication; none of a metric that it does not have."""
    before, after = value_of(runs[0], one.finding.goal), value_of(one.runs[0], one.finding.goal)
    return 0.0 if before is None or after is None else gain_of(one.finding.goal, before, after)


def _trial(result: Simulated, base: Scenario, one: _Candidate, found: Sequence[Finding]) -> Trial:
    simulation, goal = result.simulation, one.finding.goal
    scenario = cast("Scenario", result.scenario)
    level = simulation.confidence
    own = {run.index: run for run in simulation.runs}
    pairs = [(own[run.index], run) for run in one.runs if run.index in own]
    values = [(value_of(before, goal), value_of(after, goal)) for before, after in pairs]
    known = [(a, b) for a, b in values if a is not None and b is not None]
    all_before = [value for run in own.values() if (value := value_of(run, goal)) is not None]
    after = gathered(
        one.changed.scenario,
        result.provenance,
        one.runs,
        confidence=simulation.confidence,
        alone=one.alone,
    )
    wins, loses, may_lose = effects(Reading(result), simulation.runs, one.runs, goal)
    left = findings(after)
    without = gathered(
        scenario,
        result.provenance,
        [before for before, _ in pairs],
        confidence=simulation.confidence,
    )
    hurts = tuple(newly_unhappy(without, after))
    judged = None
    if len(one.runs) >= _TOGETHER:
        # By the intervals that a run of the changed scenario has, and not by those of plain means.
        as_run = replace(after.simulation, scenario=one.changed.scenario)
        judged = verdict(replace(after, simulation=as_run))
    difference = student_interval([b - a for a, b in known], level)
    lines = lines_for(one.remedy, one.changed, base)
    return Trial(
        name=one.remedy.name,
        title=one.remedy.title,
        source=one.remedy.source,
        where=one.remedy.where,
        research=one.remedy.research,
        set=as_written(scenario, base, one.changed.changes),
        outcome="harms"
        if starves(goal, may_lose) and (difference.mean or 0.0) > 0.0
        else _outcome(goal, known, all_before, level, hurts=bool(hurts)),
        before=student_interval([a for a, _ in known], level),
        after=student_interval([b for _, b in known], level),
        difference=difference,
        wins=wins,
        loses=loses,
        hurts=hurts,
        left=tuple(dict.fromkeys(other.problem for other in left)),
        apply={tool: tuple(told) for tool, told in lines.by_tool.items()},
        notes=tuple(lines.notes),
        targets=() if judged is None else judged.targets,
        shares_of_alone=_shares(result, after, one.alone),
    )


def starves(goal: Goal, loses: Sequence[Effect]) -> bool:
    """Tell whether equal shares are bought with half of what they are shares of."""
    own = (goal.group, goal.part, "flow_goodput_bps")
    return goal.metric == "jain_index" and any(
        (one.group, one.part, one.metric) == own and one.after < one.before / 2.0 for one in loses
    )


def _outcome(
    goal: Goal,
    known: Sequence[tuple[float, float]],
    all_before: Sequence[float],
    level: float,
    *,
    hurts: bool,
) -> Outcome:
    """Judge a remedy by the interval of its gain, of logarithms of ratios."""
    if not known:
        return "cannot tell"
    interval = gain_interval(goal, known, all_before, level)
    mean, low, high = interval.mean, interval.low, interval.high
    if mean is None or low is None or high is None:
        return "cannot tell"
    if low > 0.0 and mean > LITTLE:
        return "costs others" if hurts else "helps"
    if high < 0.0 and mean < -LITTLE:
        return "harms"
    return "no gain" if high < LITTLE else "cannot tell"


def _rank(trial: Trial) -> tuple[bool, int, float, float, float]:
    """Order trials: ideas that no equipment has last, those that help first.

    Of these first the ones with which fewer targets are missed, fewer cannot be told, and the gain
    is larger. Of a single run no target is told.
    """
    order: Mapping[Outcome, int] = {
        "helps": 0,
        "costs others": 1,
        "cannot tell": 2,
        "no gain": 3,
        "harms": 4,
    }
    before, after = trial.before.mean, trial.after.mean
    gain = 0.0
    if before and after:
        gain = abs(math.log(after / before))
    missed = unknown = math.inf
    if trial.targets:
        states = [one.state for one in trial.targets]
        missed, unknown = float(states.count("fails")), float(states.count("unknown"))
    return trial.research, order[trial.outcome], missed, unknown, -gain
