"""`airtcp.plan` for capacity: the largest value that meets all targets, and what raises it.

The targets are those of the file, or the defaults for its traffic; conditions of `until` replace
targets about the same metric.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from airtcp.conditions import Condition, ConditionError, parse_condition
from airtcp.exceptions import QuestionError
from airtcp.judge.decide import is_open, timed
from airtcp.judge.outcome import UNREACHED
from airtcp.judge.targets import targets_of
from airtcp.phrases import phrase
from airtcp.plan.axis import axis_of
from airtcp.plan.changes import Changes, is_refused, target_of
from airtcp.plan.search import Found, Search
from airtcp.remedies import catalogue
from airtcp.results import Provenance
from airtcp.results.cells import SHARE_OF_ALONE
from airtcp.results.plans import Evidence, Plan, PlanStopped
from airtcp.results.verdict import Target
from airtcp.run.points import Points, TimeIsOver
from airtcp.scenario.measured import check
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.scenario import Scenario


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
    changes: Changes | None = None
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
            if is_refused(search, asked):
                found = None
            if names is not None:
                changes = Changes(search, found, settings, names, asked)
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


def _targets(scenario: Scenario, texts: Sequence[str]) -> list[Target]:
    """Return the targets that bound the capacity. Raises QuestionError if one is invalid."""
    stops = list(dict.fromkeys(map(parse_condition, texts)))
    for one in stops:
        try:
            if one.metric == SHARE_OF_ALONE:
                raise ConditionError(
                    phrase("plan.capacity.isolated", metric=SHARE_OF_ALONE, cell=one.cell)
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
        raise QuestionError(phrase("plan.capacity.no_target"))
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
            raise QuestionError(phrase("plan.capacity.not_a_remedy", name=name, allowed=allowed))
    return frozenset(remedies)


def _check_direction(search: Search, asked: Sequence[str]) -> None:
    """Raise QuestionError if a condition holds at the first value because it asks for the better.

    Of a condition that asks for the worse, that is the answer: no value meets the target.
    """
    for text in asked:
        condition = parse_condition(text)
        wants_better = condition.about.better == ("higher" if condition.above else "lower")
        if wants_better and target_of(condition).text in search.never:
            raise QuestionError(
                phrase("plan.capacity.met_at_once", text=text, value=search.axis.name(0))
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
            phrase(
                "plan.capacity.never_met", texts=texts, axis=search.axis.name(len(search.axis) - 1)
            )
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
