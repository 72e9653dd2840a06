"""Find the recommendation, the cause and the opportunity of a run, all by experiment.

If a target is missed, or undecided and beyond its bound, every change that applies races
(`airtcp.judge.race`), and counterfactuals show the cause. If no target is in trouble, free changes
are simulated once, to find one that makes a group much better off and no group worse. Budgets
follow from the work of the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, cast

from airtcp.conditions import read_condition
from airtcp.estimates.drift import FEWEST_UNITS
from airtcp.estimates.traffic import Traffic, measured
from airtcp.judge.candidates import BOUGHT, EASY, Candidate, singles
from airtcp.judge.causes import causes, fixes, limits
from airtcp.judge.outcome import FEWER, NEAR, Outcome, TargetOutcome, outcome_of
from airtcp.judge.race import AS_IS, INDIFFERENT, Race, Standing, cost
from airtcp.judge.targets import targets_of
from airtcp.judge.verdicts import scenario_of
from airtcp.remedies import as_written, named
from airtcp.remedies.apply import lines_for
from airtcp.results.advice import Advice, Cause, Effect, TargetChange, Trial
from airtcp.results.advice import Outcome as Word
from airtcp.results.cells import SHARE_OF_ALONE
from airtcp.run.points import Points
from airtcp.scenario import ResolvedScenario, Scenario
from airtcp.scenario.keys.traffic import is_endless
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.results import Comparison, Replication, SimulationResult

#: Budget of a race relative to the work of the run, and its limits in the core's work: about two
#: and ten seconds of a processor.
EFFORT: Final = 2.0
LEAST: Final = 2e7
MOST: Final = 1e8
#: The part of the budget for counterfactuals.
_COUNTERFACTUALS: Final = 0.2
#: The order in which changes are listed.
_ORDER: Final = ("helps", "costs others", "no gain", "harms")
#: An opportunity improves a group by at least `_MUCH` and leaves every group at least `_NOBODY` of
#: its goodput.
_MUCH: Final = 1.33
_NOBODY: Final = 0.9
#: Opportunities are similar if their gains in goodput, or in delay, are within these factors.
_SIMILAR: Final = (0.9, 0.6)
#: Delays below this do not bother users, in seconds.
_FELT_S: Final = 0.05
#: Number of trials listed.
_LISTED: Final = 8


def advise(
    result: SimulationResult | Comparison,
    *,
    effort: float = EFFORT,
    everything: bool = False,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Advice:
    """Find why a simulation misses targets, and which change meets most of them.

    Every change of `airtcp.remedies.catalogue` that applies is simulated on the random numbers of
    the run. The best changes are simulated for longer, and so are the best pairs. If the best one
    still misses a target, the change that removes the cause is tried, and other changes are added
    to the best. `effort` is the work of all trials relative to the work of the run, limited to
    about 2 to 10 seconds of a processor; 0 tries nothing. `everything` gives each change as much
    work as the run had. If all targets are met, or there is none, a single round of free changes
    finds an opportunity, and counterfactuals show what limits endless transfers. On Ctrl-C complete
    results are returned.

    Raises SimulationError if a trial breaks a conservation law.

    With the `cafe` of `airtcp.load`, in which nothing is wrong:

    >>> airtcp.advise(airtcp.simulate(cafe)).recommended is None
    True
    """
    scenario = scenario_of(result)
    if effort <= 0.0 or not _can_vary(scenario) or not result.simulation.runs:
        return Advice()
    found = _Advising(cast("SimulationResult", result), effort, everything, threads, progress)
    return found.advice()


def _can_vary(scenario: ResolvedScenario) -> bool:
    """Return True if a scenario has a written form, which changes are applied to."""
    return isinstance(scenario, Scenario) and scenario.is_written


class _Advising:
    def __init__(
        self,
        result: SimulationResult,
        effort: float,
        everything: bool,
        threads: int | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        self._result = result
        self._scenario = cast("Scenario", result.scenario)
        self._base = named(self._scenario)
        self._now = outcome_of(result)
        self._threads, self._progress = threads, progress
        runs = result.simulation.runs
        self._work = sum(map(cost, runs))
        self._rate = max(self._work / len(runs) / self._base.run.whole_s, 1.0)
        self._candidates, self._unfit = singles(self._base)
        self._budget = min(max(effort * self._work, LEAST), max(MOST, effort / EFFORT * MOST))
        if everything:
            self._budget = max(self._budget, 4.0 * self._work * (len(self._candidates) + 1))

    def advice(self) -> Advice:
        """Race, or look for an opportunity if no target is missed.

        Nothing is tried if the run is too short to measure what is undecided.
        """
        troubled = [
            one
            for one in self._now.targets
            if one.state == "fails" or (one.state == "unknown" and one.miss > NEAR)
        ]
        if troubled and all(map(self._is_too_short_for, troubled)):
            return Advice(unfit=self._unfit)
        seed = self._result.provenance.seed or 0
        with Points[str](seed, threads=self._threads, progress=self._progress) as points:
            race = self._race_of(points)
            found = self._raced(race) if troubled else self._opportunity(race)
        # Read the flag last, when no signal can be pending any more.
        return replace(found, interrupted=points.interrupted)

    def _is_too_short_for(self, target: TargetOutcome) -> bool:
        """Return True if few pages or files of an undecided target began, and none shows a miss."""
        condition = read_condition(target.text)
        runs = self._result.simulation.runs
        traffic = Traffic(runs, self._scenario, condition.group, condition.part)
        if target.state == "fails" or (target.ratio or 0.0) > 1.0:
            return False
        recurrent = traffic.recurrent
        is_known = bool(recurrent) and traffic.has_accounts
        return is_known and traffic.units_begun(recurrent) < FEWEST_UNITS

    def _race_of(self, points: Points[str]) -> Race:
        asked = {
            one.condition.cell
            for one in targets_of(self._scenario)[0]
            if one.condition.metric == SHARE_OF_ALONE and one.condition.cell is not None
        }
        return Race(
            self._base,
            self._result.provenance,
            points,
            (1.0 - _COUNTERFACTUALS) * self._budget,
            self._rate,
            self._result.simulation.confidence,
            _is_finite(self._base),
            frozenset(asked),
            limit=MOST,
            known=self._now,
            own=self._result.simulation.runs,
        )

    def _raced(self, race: Race) -> Advice:
        found: tuple[Cause, ...] = ()
        with suppress(KeyboardInterrupt):
            race.run(self._candidates)
            found = causes(race, _COUNTERFACTUALS * self._budget)
            race.challenge(fixes(found, race))
            race.buy()
        if AS_IS not in race.standings:
            return Advice(unfit=self._unfit)
        order = [one.name for one in race.ranked()]
        words = {name: _word(race.standings[name], race.bases[name].outcome) for name in order}
        order.sort(key=lambda name: _ORDER.index(words[name]))
        # Shorter runs flatter changes, so only finalists are listed.
        final = [name for name in order if name in race.final]
        trials = [self._trial(race, race.standings[name]) for name in final[:_LISTED]]
        helping = [one for one in trials if one.outcome == "helps"]
        easy = [one for one in helping if one.cost in EASY]
        bought = [one for one in helping if one.cost in BOUGHT]
        enough = [
            one
            for one in easy
            if race.standings[one.name].outcome.meets_more(race.bases[one.name].outcome)
        ]
        # A purchase comes before a change that only brings targets nearer.
        best = next(iter([*enough, *bought, *easy]), None)
        sure = None
        if best is not None:
            others = [race.standings[name] for name in race.final if name != best.name]
            base = race.bases[best.name].outcome
            sure = odds(race.standings[best.name], others, base)
        none = tuple(name for name in order if words[name] == "no gain")
        # The list begins with the recommendation.
        trials.sort(key=lambda one: one is not best)
        return Advice(
            tuple(trials),
            found,
            best,
            None,
            self._now.counted,
            sure,
            len(order),
            none,
            tuple(race.left_out),
            self._unfit,
        )

    def _trial(self, race: Race, standing: Standing) -> Trial:
        one = standing.candidate
        assert one is not None, "the unchanged scenario is not a trial"
        base = race.bases[one.name]
        wins, loses = effects_of(base.outcome, standing.outcome)
        lines, notes = lines_of(one, self._base)
        met, missed, unknown = standing.outcome.counted
        metric, before, after, difference = self._measured(base, standing)
        return Trial(
            name=one.name,
            title=one.title,
            source=one.source,
            where=one.where,
            cost=one.cost,
            set=as_written(self._scenario, self._base, one.changes),
            outcome=_word(standing, base.outcome),
            met=met,
            missed=missed,
            open=unknown,
            worst=standing.outcome.worst,
            targets=tuple(
                TargetChange(after.text, after.likely, before.ratio, after.ratio, _value(after))
                for before, after in zip(
                    base.outcome.targets, standing.outcome.targets, strict=True
                )
            ),
            breaks=tuple(standing.outcome.breaks(base.outcome)),
            wins=wins,
            loses=loses,
            apply=lines,
            notes=notes,
            replications=len(standing.runs),
            simulated_s=standing.length_s * len(standing.runs),
            metric=metric,
            before=before,
            after=after,
            difference=difference,
        )

    def _measured(
        self, base: Standing, standing: Standing
    ) -> tuple[str | None, Interval, Interval, Interval]:
        """Return the metric of the worst target, and its values before, after and their difference.

        The runs of both scenarios are paired. The target is the worst of the unchanged scenario.
        Times of pages and transfers include those in progress and have no interval.
        """
        nothing = Interval(None, None, None, 0)
        known = [one for one in base.outcome.targets if one.ratio is not None]
        if not known:
            return None, nothing, nothing, nothing
        worst = max(known, key=lambda one: one.ratio or 0.0)
        condition = read_condition(worst.text)
        level = self._result.simulation.confidence
        if condition.cell is not None:
            return condition.metric, nothing, nothing, nothing
        if worst.is_of_transfers:
            # Those that ended are the short ones, so the values are the judged ones.
            number = len(standing.runs)
            changed = next(one for one in standing.outcome.targets if one.text == worst.text)
            was = Interval(_value(worst), None, None, number)
            now = Interval(_value(changed), None, None, number)
            return condition.metric, was, now, nothing

        def values(runs: Sequence[Replication]) -> dict[int, float]:
            found = {
                run.index: measured(run, condition.metric, condition.group, condition.part)
                for run in runs
            }
            return {index: value for index, value in found.items() if value is not None}

        old, new = values(base.runs), values(standing.runs)
        both = sorted(old.keys() & new.keys())
        return (
            condition.metric,
            student_interval([old[index] for index in both], level),
            student_interval([new[index] for index in both], level),
            student_interval([new[index] - old[index] for index in both], level),
        )

    def _opportunity(self, race: Race) -> Advice:
        """Simulate every free change once, and pick one that makes a group much better off."""
        free = [one for one in self._candidates if one.cost == "setting"]
        found: list[Candidate] = []
        limited: tuple[Cause, ...] = ()
        with suppress(KeyboardInterrupt):
            race.look(free, 1, 0.5 * LEAST)
            promising = sorted(free, key=lambda one: -max(self._gains(race, one)))[:6]
            promising = [one for one in promising if max(self._gains(race, one)) > _MUCH]
            race.look(promising, 2, 0.5 * LEAST)
            for kind, near in enumerate(_SIMILAR):
                gains = {one.name: self._gains(race, one)[kind] for one in promising}
                most = max(gains.values(), default=0.0)
                alike = [one for one in promising if gains[one.name] > max(_MUCH, near * most)]
                # Of similar changes, keep the one with the least effort and the shortest delays.
                alike.sort(key=lambda one: (one.effort, _delay(race.change(one)[1])))
                found += alike[:1]
            if transfers := self._without_target():
                limited = limits(race, _COUNTERFACTUALS * self._budget, transfers, _MUCH)
        names = list(dict.fromkeys(one.name for one in found))
        for name in names:
            base = race.bases[name]
            race.bases[name] = replace(base, outcome=base.outcome.calmer(self._now))
        trials = [self._trial(race, race.standings[name]) for name in names]
        return Advice(
            tuple(trials),
            limited,
            opportunity=trials[0] if trials else None,
            as_is=self._now.counted,
            tried=len(free),
            unfit=self._unfit,
        )

    def _without_target(self) -> list[tuple[str, str]]:
        """Return the endless transfers, as groups with directions, whose group has no target."""
        asked = {one.condition.group for one in targets_of(self._scenario)[0]}
        return list(
            dict.fromkeys(
                (flow.stations, flow.direction)
                for flow in self._scenario.flows
                if is_endless(flow) and flow.tcp is not None and flow.stations not in asked
            )
        )

    def _gains(self, race: Race, one: Candidate) -> tuple[float, float]:
        """Return the gains of a change, compared with the short runs and with the whole run."""
        base, now = race.change(one)
        return _gains(base, now, base.calmer(self._now))


def _delay(now: Outcome) -> float:
    """Return the sum of the delays that users feel."""
    return sum(now.delays.values())


def _gains(base: Outcome, now: Outcome, calmer: Outcome) -> tuple[float, float]:
    """Return the largest factors by which a group has more goodput, and less delay.

    Delays gain from those of `calmer`. Both are 0 if any group is worse off than in `base`.
    """
    worse = [
        who
        for who, before in base.goodputs.items()
        if now.goodputs.get(who, 0.0) < _NOBODY * before
    ] + [
        who
        for who, before in base.delays.items()
        if now.delays.get(who, 0.0) > max(before / _NOBODY, 2.0 * _FELT_S)
    ]
    if worse or now.breaks(base):
        return 0.0, 0.0
    goodputs = [
        now.goodputs[who] / before
        for who, before in base.goodputs.items()
        if before > 0.0 and who in now.goodputs and who not in base.readers
    ]
    delays = [
        before / now.delays[who]
        for who, before in calmer.delays.items()
        if before > _FELT_S and now.delays.get(who, 0.0) > 0.0
    ]
    return max([*goodputs, 1.0]), max([*delays, 1.0])


def _word(standing: Standing, base: Outcome) -> Word:
    """Classify a change by its outcome and the outcome of the unchanged scenario.

    Nobody buys hardware to miss a target by less, so hardware must lower the expected misses.
    """
    now = standing.outcome
    fewer = base.expected_misses - now.expected_misses
    is_bought = standing.candidate is not None and standing.candidate.cost in BOUGHT
    if now.improves(base) and (fewer > FEWER or not is_bought):
        return "costs others" if now.breaks(base) or now.halved(base) else "helps"
    if now.breaks(base) or now.halved(base) or fewer < -FEWER:
        return "harms"
    return "no gain"


def _value(one: TargetOutcome) -> float | None:
    if one.ratio is None:
        return None
    condition = read_condition(one.text)
    return condition.bound / one.ratio if condition.above else one.ratio * condition.bound


def lines_of(one: Candidate, base: Scenario) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return configuration lines by program, and notes, of all remedies of a candidate."""
    lines: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    for remedy in one.remedies:
        told = lines_for(remedy, one.changed, base)
        for tool, each in told.by_tool.items():
            lines[tool] = tuple(dict.fromkeys([*lines.get(tool, ()), *each]))
        notes += [note for note in told.notes if note not in notes]
    return lines, tuple(notes)


def effects_of(base: Outcome, now: Outcome) -> tuple[tuple[Effect, ...], tuple[Effect, ...]]:
    """Return what groups gain and lose: a tenth of their goodput, or a factor of two in delay."""
    lost = [
        Effect("goodput_bps", *who, base.goodputs[who], now.goodputs.get(who, 0.0))
        for who in now.harmed(base)
    ]
    lost += [
        Effect(now.delay_metrics[who], *who, base.delays[who], now.delays[who])
        for who in now.delayed(base)
    ]
    won = [
        Effect("goodput_bps", *who, base.goodputs[who], now.goodputs[who])
        for who, factor in now.gains(base).items()
        if factor > 1.1 and who not in base.readers
    ]
    won += [
        Effect(base.delay_metrics[who], *who, before, now.delays[who])
        for who, before in base.delays.items()
        if who in now.delays
        and now.delays[who] < before / _MUCH
        and before > _FELT_S
        and now.delay_metrics[who] == base.delay_metrics[who]
    ]
    return tuple(won), tuple(lost)


def _is_finite(scenario: Scenario) -> bool:
    """Return True if a flow is a job that ends, which a shorter run would cut off."""
    return any(
        flow.application.kind == "bulk" and flow.application.size is not None
        for flow in scenario.flows
    )


def odds(winner: Standing, others: Sequence[Standing], base: Outcome) -> float:
    """Return a lower bound on the probability that no other candidate meets half a target more.

    Uses Bonferroni's inequality with the expected misses and the spread of each candidate (the
    approximate probability of correct selection of Chen, Lin, Yücesan, Chick 2000, (6)).
    """
    mine = winner.score(base)
    total = 0.0
    for other in others:
        both = zip(winner.outcome.targets, other.outcome.targets, strict=True)
        # A target that neither run measured says nothing about which of the two is better.
        known = [two for two in both if any(one.ratio is not None for one in two)]
        spread = math.sqrt(sum(one.miss * (1.0 - one.miss) for two in known for one in two))
        ahead = other.score(base) - mine + INDIFFERENT
        if spread > 0.0:
            total += 1.0 - NormalDist().cdf(ahead / spread)
        elif ahead < 0.0:
            total += 1.0
    return max(0.0, 1.0 - total)
