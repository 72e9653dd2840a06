"""`airtcp.plan` for capacity: the largest value that meets all targets, and what raises it.

The targets are those of the file, or the defaults for its traffic; conditions of `until` replace
targets about the same metric. Candidate changes compete just beyond the capacity
(`airtcp.judge.race`), and the capacity is searched again with each of the best.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from airtcp.conditions import Condition, ConditionError, parse_condition
from airtcp.exceptions import QuestionError
from airtcp.judge.candidates import COSTS, EASY, Candidate, singles
from airtcp.judge.decide import is_open, timed
from airtcp.judge.outcome import UNREACHED
from airtcp.judge.race import Race, cost
from airtcp.judge.recommend import effects_of, lines_of
from airtcp.judge.targets import targets_of
from airtcp.plan.axis import STATIONS, axis_of
from airtcp.plan.search import Found, Search
from airtcp.remedies import as_written, catalogue, meet, named, together
from airtcp.results import Provenance
from airtcp.results.cells import SHARE_OF_ALONE
from airtcp.results.plans import Answer, Evidence, Gain, Plan, PlanStopped
from airtcp.results.plans import Verdict as Word
from airtcp.results.verdict import Target
from airtcp.run.points import Points, TimeIsOver
from airtcp.scenario.measured import check
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.plan.axis import Axis
    from airtcp.scenario import Scenario

#: The changes compete at these multiples of the capacity, until some help. At twice the capacity
#: even short runs show which changes gain most; closer to it, the short runs of the office example
#: have no losses and complete no page. A change with a small gain helps only close to the capacity.
_BEYOND: Final = (2.0, 1.25)
#: The work of the competition, in the core's counts: about two seconds of CPU time.
_BUDGET: Final = 2e7
#: The number of changes whose capacity is searched.
_SOUGHT: Final = 3
#: A smaller relative gain counts as none.
_LITTLE: Final = 0.03


def capacity(
    scenario: Scenario,
    *,
    vary: str,
    until: str | Sequence[str],
    begin: Any | None,
    end: Any | None,
    seed: int | None,
    replications: int | None,
    threads: int | None,
    remedies: bool | Sequence[str],
    limit_s: float,
    progress: Callable[[float], None] | None,
    tell: Callable[[str], None] | None,
) -> Plan:
    """Do the work of `airtcp.plan`, which documents the arguments."""
    fixed = not is_open(scenario)
    scenario = cast("Scenario", timed(scenario))
    axis = axis_of(scenario, vary, begin, end)
    asked = [until] if isinstance(until, str) else list(until)
    targets = _targets(scenario, asked)
    names = _names(remedies)
    run_as = scenario if seed is None else scenario.with_run(seed=seed)
    run = run_as.run
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    points: Points[Any] = Points(run.seed, threads=threads, progress=progress)
    provenance = Provenance.of(run_as, seed=run.seed, generator=points.generator)
    stopped: PlanStopped = "done"
    found: Found | None = None
    changes: _Changes | None = None
    with points:
        points.deadline = time.monotonic() + limit_s
        start = axis.present
        start = len(axis) // 2 if start is None else start
        settings: dict[str, Any] = {
            "targets": targets,
            "points": points,
            "provenance": provenance,
            "warmup_ns": points.warmed_up(axis.at(start)),
            "replications": replications or run.replications or 2,
            "confidence": run.confidence,
            "fixed": fixed,
            "tell": tell,
        }
        search = Search("", axis, **settings)
        try:
            found = search.find(start)
            _check_direction(search, asked)
            if _is_refused(search, asked):
                found = None
            if names is not None:
                changes = _Changes(search, found, settings, names, asked)
                changes.run(start)
        except (KeyboardInterrupt, TimeIsOver) as over:
            if not points.runs:
                raise KeyboardInterrupt from None
            found = found or search.known()
            stopped = "time" if isinstance(over, TimeIsOver) else "interrupted"
    if points.interrupted:
        stopped = "interrupted"
    _check_answerable(search, targets, asked, found, stopped)
    unsteady = None
    if found is not None and found.index in search.places:
        unsteady = search.steadiness(found.index)
        if unsteady is not None and _is_about(unsteady, targets, search.never):
            found = replace(found, answer=replace(found.answer, low=None))
    return Plan(
        scenario=run_as,
        provenance=provenance,
        until=tuple(asked),
        conditions=tuple(one.condition for one in targets),
        label=axis.label,
        present=None if axis.present is None else axis.numbers[axis.present],
        answer=None if found is None else found.answer,
        unsteady=unsteady,
        limits=() if found is None else found.limits,
        never=search.never,
        evidence=_evidence(search, targets),
        remedies=[] if changes is None else changes.gains(),
        tried=0 if changes is None else changes.tried,
        left_out={} if changes is None else changes.left_out,
        runs=points.runs,
        simulated_s=points.simulated_s,
        wall_s=time.perf_counter() - wall_start,
        cpu_s=time.process_time() - cpu_start,
        stopped=stopped,
    )


def _is_about(unsteady: Mapping[str, Any], targets: Sequence[Target], never: Sequence[str]) -> bool:
    """Whether runs that are too short leave a target's metric without a mean."""
    metrics = {one.condition.metric for one in targets if one.condition.text not in never}
    return bool(metrics & set(unsteady["at_least"]) or unsteady.get("state") == "unsteady")


def target_of(condition: Condition) -> Condition:
    """Return the target that is missed when a stop condition holds."""
    old, new = (">", "<") if condition.above else ("<", ">")
    return replace(condition, text=condition.text.replace(old, new, 1), above=not condition.above)


def _targets(scenario: Scenario, texts: Sequence[str]) -> list[Target]:
    """Return the targets that bound the capacity. Raises QuestionError if one is invalid."""
    stops = list(dict.fromkeys(map(parse_condition, texts)))
    for one in stops:
        try:
            if one.metric == SHARE_OF_ALONE:
                raise ConditionError(
                    f"{SHARE_OF_ALONE} needs isolated cells, which a plan does not simulate "
                    f"at each step; use the goodput of a cell, such as cell {one.cell} goodput"
                )
            check(scenario, one)
        except ConditionError as error:
            raise QuestionError(f'--until "{one.text}": {error}') from None
    added = [Target(target_of(one)) for one in stops]
    about = {_about(one.condition) for one in added}
    own = [
        one
        for one in targets_of(scenario)[0]
        if _about(one.condition) not in about and one.condition.metric != SHARE_OF_ALONE
    ]
    if not added and not own:
        raise QuestionError(
            '--until: the scenario has no target; use --until "p90 transfer_time > 2 s", or '
            "[targets] in the file"
        )
    return [*added, *own]


def _about(condition: Condition) -> tuple[str, str | None, str, str | None]:
    return condition.metric, condition.group, condition.part, condition.cell


def _names(remedies: bool | Sequence[str]) -> frozenset[str] | None:
    """Return the names of the changes to try, None for none. Raises QuestionError."""
    known = {one.name for one in catalogue()}
    if isinstance(remedies, bool):
        return frozenset(known) if remedies else None
    for name in remedies:
        if name not in known:
            allowed = ", ".join(one.name for one in catalogue())
            raise QuestionError(f"--remedy {name}: is not a remedy; allowed: {allowed}")
    return frozenset(remedies)


def _is_refused(search: Search, asked: Sequence[str]) -> bool:
    """Whether a condition of `until` holds at every value."""
    return any(target_of(parse_condition(text)).text in search.never for text in asked)


def _check_direction(search: Search, asked: Sequence[str]) -> None:
    """Raise QuestionError if a condition holds at the first value because it asks for the better.

    Of a condition that asks for the worse, that is the answer: no value meets the target.
    """
    for text in asked:
        condition = parse_condition(text)
        wants_better = condition.about.better == ("higher" if condition.above else "lower")
        if wants_better and target_of(condition).text in search.never:
            raise QuestionError(
                f'--until "{text}": is already met at {search.axis.name(0)}; use a condition that '
                "is not met there, or another --from"
            )


def _check_answerable(
    search: Search,
    targets: Sequence[Target],
    asked: Sequence[str],
    found: Found | None,
    stopped: PlanStopped,
) -> None:
    """Raise QuestionError if every target is met even at the last value."""
    if stopped == "done" and not search.never and found and found.answer.high is None:
        texts = " or ".join(f'"{one}"' for one in asked) or ", ".join(
            f'"{one.text}"' for one in targets
        )
        raise QuestionError(
            f"--until {texts}: is never met, not even at "
            f"{search.axis.name(len(search.axis) - 1)}; use a condition that is met "
            "somewhere, or another --to"
        )


def _evidence(search: Search, targets: Sequence[Target]) -> list[Evidence]:
    """Return the simulated value of each target at each point, in the metric's unit."""
    found = []
    for index in sorted(search.places):
        place = search.places[index]
        metrics = {}
        for one, target in zip(place.outcome.targets, targets, strict=True):
            condition = target.condition
            if one.ratio is None or (one.ratio >= UNREACHED and not condition.above):
                metrics[condition.text] = Interval(None, None, None, 0)
                continue
            value = condition.bound / one.ratio if condition.above else condition.bound * one.ratio
            half = 2.0 * one.spread * value if place.replications > 1 else None
            low = None if half is None else max(0.0, value - half)
            high = None if half is None else value + half
            metrics[condition.text] = Interval(value, low, high, place.replications)
        found.append(Evidence(search.axis.numbers[index], "simulation", metrics))
    return found


@dataclass
class _Sought:
    candidate: Candidate
    search: Search
    found: Found | None = None
    endless: bool = False


class _Changes:
    """The changes of a scenario whose capacity was searched.

    `found` is None if no value meets a target, or one of `asked`.
    """

    def __init__(
        self,
        base: Search,
        found: Found | None,
        settings: dict[str, Any],
        names: frozenset[str],
        asked: Sequence[str],
    ) -> None:
        self.left_out: dict[str, str] = {}
        self.tried = 0
        self._base, self._found, self._settings = base, found, settings
        self._names, self._asked = names, asked
        self._named = named(base.axis.scenario)
        self._candidates: list[Candidate] = []
        self._sought: list[_Sought] = []
        self._race: Race | None = None

    def _stand(self, here: int) -> None:
        """Set the value of the axis at which the changes compete."""
        self._here = here
        self._scenario = named(self._base.axis.at(here)).with_run(warmup_ns=self._base.warmup_ns)
        every, unfit = singles(self._scenario)
        self.left_out = {name: why for name, why in unfit.items() if name in self._names}
        self._candidates = []
        for one in every:
            if one.name not in self._names:
                continue
            if self._varies(one):
                self.left_out[one.name] = "it changes the varied key"
            elif one.cost != "usage":
                self._candidates.append(one)

    @staticmethod
    def _beyond(axis: Axis, index: int, times: float) -> int:
        if axis.whole:
            number = axis.numbers[index] * times
            here = axis.nearest(math.ceil(number))
        else:
            here = index + max(1, len(axis) // 20)
        return min(max(here, index + 1), len(axis) - 1)

    def run(self, start: int) -> None:
        """Let the changes compete, and search the capacity with the best.

        They compete beyond the capacity, or at `start` if some target is missed at every value.
        Raises as `Search.find`.
        """
        axis, found = self._base.axis, self._found
        beyond = [start]
        if found is not None and not self._base.never:
            beyond = [self._beyond(axis, found.index, times) for times in _BEYOND]
        places = dict.fromkeys(beyond)
        contenders: list[Candidate] = []
        for here in places:
            self._stand(here)
            contenders = self._contenders(self._compete())
            if contenders:
                break
        for one in contenders:
            changed = self._with(one)
            if isinstance(changed, str):
                self.left_out[one.name] = changed
                continue
            along = Search(one.name, axis.of(changed), **self._settings)
            along.never_known = not self._base.never
            mine = _Sought(one, along)
            self._sought.append(mine)
            mine.found = along.find(self._here, rough=True)
            open_ended = mine.found is not None and mine.found.answer.high is None
            mine.endless = open_ended and not along.never
        ends = [one for one in self._sought if one.found is not None and not one.endless]
        easy = [one for one in ends if one.candidate.cost in EASY]
        easy.sort(key=lambda one: (len(one.search.never), -self._moved(one)))
        # The best change is confirmed, and so is one that costs somebody half of their goodput.
        for costly in (False, True):
            alike = [one for one in easy if self._raced.halves(one.candidate) == costly]
            for best in alike[:1]:
                best.search.confirm()
                best.found = best.search.known()

    def _compete(self) -> Race:
        """Race the changes where the axis stands."""
        search = self._base
        search.simulate([self._here])
        place = search.places[self._here]
        runs = search.points.ended(("", self._here, place.longer))
        run = self._scenario.run
        length_s = ((run.warmup_ns or 0) + place.longer * run.duration_ns) / 1e9
        rate = max(sum(map(cost, runs)) / len(runs) / length_s, 1.0)
        race = self._race = Race(
            self._scenario,
            search.provenance,
            search.points,
            _BUDGET,
            rate,
            search.confidence,
            whole=False,
            targets=search.targets,
            place=f"at {self._here}, ",
        )
        self.tried = len(self._candidates)
        race.run_to_end(self._candidates)
        return race

    def _moved(self, one: _Sought) -> float:
        """Return how much a change raises the capacity, in values of the axis."""
        if one.found is None:
            return -math.inf
        numbers = self._base.axis.numbers
        sign = 1.0 if numbers[-1] > numbers[0] else -1.0
        return sign * (one.found.answer.value - self._before)

    @property
    def _before(self) -> float:
        """The capacity without a change: none if no value meets a target."""
        if self._found is not None:
            return self._found.answer.value
        return 0.0 if self._base.axis.whole else self._base.axis.numbers[0]

    def _contenders(self, race: Race) -> list[Candidate]:
        """Return the changes whose capacity is worth a search: the helpful ones, best first.

        Of those that miss equally few targets, the single changes come first: their capacities
        differ by more than those of pairs that contain them. The last one is the best setting by
        which somebody loses half of their goodput: it is listed with this cost.
        """
        better = [one for one in race.ranked() if race.improves(one)]
        costly = [one for one in better if race.halves(one) and one.cost == "setting"]
        known = [one for one in better if not race.halves(one)]
        known.sort(key=lambda one: (race.misses(one), len(one.remedies), COSTS.index(one.cost)))
        easy = [one for one in known if one.cost in EASY and not _contains(one, known)]
        rest = [one for one in known if one.cost == "hardware"]
        return [*easy[:_SOUGHT], *rest[:1], *costly[:1]]

    def _with(self, one: Candidate) -> Scenario | str:
        """Return the scenario of the axis with a change, or the reason why it is invalid."""
        new = together(self._named, one.remedies)
        if isinstance(new, str):
            return new
        if new.scenario.hash() == self._named.hash():
            return "it has no effect at another size"
        return new.scenario

    def _varies(self, one: Candidate) -> bool:
        """Whether a change affects the varied key itself."""
        path, groups = self._base.axis.path, self._named.stations
        varied = [f"stations.{each.name}.count" for each in groups] if path == STATIONS else [path]
        return any(meet(each, key) for each in varied for key in one.changes)

    def gains(self) -> list[Gain]:
        """Return the changes with their capacity: first the one whose lowest gain is largest."""
        found = [self._gain(one) for one in self._sought]
        return sorted(
            found,
            key=lambda one: (
                one.verdict != "gains",
                len(one.never),
                not one.endless,
                -(one.gain.low if one.gain.low is not None else one.gain.mean or 0.0),
            ),
        )

    @property
    def _raced(self) -> Race:
        assert self._race is not None, "changes are searched after their race"
        return self._race

    def _gain(self, one: _Sought) -> Gain:
        axis, before = self._base.axis, self._found
        moved = Interval(None, None, None, 0)
        if one.found is not None:
            after = one.found.answer
            mean = self._moved(one)
            half = math.hypot(_half(None if before is None else before.answer), _half(after))
            moved = Interval(mean, mean - half, mean + half, 2)
        least = max(1.0 if axis.whole else 0.0, _LITTLE * abs(self._before))
        word: Word = "none"
        more = len(self._base.never) - len(one.search.never)
        if more < 0 or one.found is None or _is_refused(one.search, self._asked):
            pass
        elif more > 0 or one.endless or (moved.mean is not None and moved.mean >= least):
            word = "costs others" if self._raced.halves(one.candidate) else "gains"
        elif moved.mean is not None and moved.mean <= -least:
            word = "loses"
        candidate = one.candidate
        base, now = self._raced.change(candidate)
        wins, loses = effects_of(base, now)
        lines, notes = lines_of(candidate, self._scenario)
        return Gain(
            name=candidate.name,
            title=candidate.title,
            source=candidate.source,
            where=candidate.where,
            cost=candidate.cost,
            changes=as_written(axis.scenario, self._named, candidate.changes),
            verdict=word,
            gain=moved,
            answer=None if one.found is None or one.endless else one.found.answer,
            limits=() if one.found is None else one.found.limits,
            apply=lines,
            notes=notes,
            endless=one.endless,
            never=one.search.never,
            wins=wins,
            loses=loses,
        )


def _contains(one: Candidate, known: Sequence[Candidate]) -> bool:
    """Whether a subset of the change's remedies is ranked higher."""
    before = known[: known.index(one)]
    return any(
        len(each.remedies) < len(one.remedies)
        and all(part in one.remedies for part in each.remedies)
        for each in before
    )


def _half(answer: Answer | None) -> float:
    """Return half the width of an answer's interval, or 0 without an interval."""
    if answer is None or answer.low is None or answer.high is None:
        return 0.0
    return (answer.high - answer.low) / 2.0
