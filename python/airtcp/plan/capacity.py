"""The work of `airtcp.plan`: how far a scenario carries, and which remedies carry it further.

Knows the order of the work: models guess, the simulator decides, remedies are tried. Does
not know the places to look at (`search`), nor which remedies there are (`airtcp.remedies`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from airtcp.conditions import Condition, ConditionError, parse_condition
from airtcp.exceptions import QuestionError
from airtcp.plan.axis import axis_of
from airtcp.plan.beside import Beside, Other
from airtcp.plan.guess import Guess, guess
from airtcp.plan.ranking import Ranking
from airtcp.plan.search import MOST, TARGET, Found, Search
from airtcp.plan.stepped import Stepped
from airtcp.remedies import Remedy, catalogue
from airtcp.results import Provenance
from airtcp.results.cells import SHARE_OF_ALONE
from airtcp.results.glance import SOURCE
from airtcp.results.plans import Evidence, Plan, PlanStopped
from airtcp.run.points import Points, TimeIsOver
from airtcp.scenario.measured import check
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.plan.axis import Axis
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
    """The work of `airtcp.plan`, which says what the arguments are."""
    axis = axis_of(scenario, vary, begin, end)
    conditions = _conditions(scenario, until)
    tried = _remedies(remedies)
    asked = scenario if seed is None else scenario.with_run(seed=seed)
    run = asked.run
    most = replications or run.replications or min(run.max_replications, MOST)
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    said = guess(axis, conditions)
    stopped: PlanStopped = "done"
    points: Points[tuple[str, int]] = Points(run.seed, threads=threads, progress=progress)
    ranking: Ranking | None = None
    found: Found | None = None
    provenance = Provenance.of(asked, seed=run.seed, generator=points.generator)
    with points:
        points.deadline = time.monotonic() + limit_s
        start = said.index if said.index is not None else axis.present
        start = len(axis) // 2 if start is None else start
        settings: dict[str, Any] = {
            "warmup_ns": points.warmed_up(axis.at(start)),
            "most": most,
            "confidence": run.confidence,
            "target": run.precision or TARGET,
            "tell": tell,
        }
        kind = Stepped if axis.has_steps else Search
        search = kind("", axis, conditions, points, **settings)

        def search_of(name: str, along: Axis, other: Other) -> Search:
            return Beside(other, name, along, conditions, points, **settings)

        try:
            found = search.find(start)
            if tried:
                ranking = Ranking(
                    search,
                    found,
                    conditions,
                    search_of,
                    confidence=run.confidence,
                    provenance=provenance,
                    tell=tell,
                )
                ranking.run(tried, more=remedies is True)
        except (KeyboardInterrupt, TimeIsOver) as over:
            if not points.runs:
                raise KeyboardInterrupt from None
            found = found or search.known()
            stopped = "time" if isinstance(over, TimeIsOver) else "interrupted"
    if points.interrupted:
        stopped = "interrupted"
    answer, unsteady = (None, None) if found is None else search.as_known(found)
    return Plan(
        scenario=asked,
        provenance=provenance,
        conditions=tuple(conditions),
        label=axis.label,
        answer=answer,
        unsteady=None if unsteady is None else unsteady.advice,
        guess=None if said.index is None else axis.numbers[said.index],
        guessed_by=_source(said),
        evidence=[*_modelled(axis, said), *_simulated(axis, search, conditions)],
        remedies=[] if ranking is None else ranking.gains(),
        together=None if ranking is None else ranking.both(),
        left_out={} if ranking is None else ranking.left_out,
        runs=points.runs,
        simulated_s=points.simulated_s,
        wall_s=time.perf_counter() - wall_start,
        cpu_s=time.process_time() - cpu_start,
        stopped=stopped,
        limits=() if ranking is None else ranking.limits,
    )


def _conditions(scenario: Scenario, until: str | Sequence[str]) -> list[Condition]:
    texts = [until] if isinstance(until, str) else list(until)
    if not texts:
        raise QuestionError('--until: is missing; allowed: such as "p90 transfer_time > 2 s"')
    conditions = list(dict.fromkeys(map(parse_condition, texts)))
    for one in conditions:
        try:
            if one.metric == SHARE_OF_ALONE:
                raise ConditionError(
                    f"{SHARE_OF_ALONE} is of cells alone, which a plan does not simulate at each "
                    f"step; allowed: the goodput of a cell, such as cell {one.cell} goodput"
                )
            check(scenario, one)
        except ConditionError as error:
            raise QuestionError(f'--until "{one.text}": {error}') from None
    return conditions


def _remedies(names: bool | Sequence[str]) -> list[Remedy]:
    if isinstance(names, bool):
        return [one for one in catalogue() if not one.problem] if names else []
    known = {one.name: one for one in catalogue()}
    for name in names:
        if name not in known:
            raise QuestionError(f"--remedy {name}: is no remedy; allowed: {', '.join(known)}")
    return [known[name] for name in names]


def _source(said: Guess) -> str:
    sources = {source for metrics in said.seen.values() for _, source in metrics.values()}
    return "; ".join(sorted(sources)) if said.index is not None else ""


def _modelled(axis: Axis, said: Guess) -> list[Evidence]:
    return [
        Evidence(
            axis.numbers[index],
            "glance" if {SOURCE} == {source for _, source in metrics.values()} else "model",
            {name: value for name, (value, _) in metrics.items()},
            "; ".join(sorted({source for _, source in metrics.values()})),
        )
        for index, metrics in sorted(said.seen.items())
        if metrics
    ]


def _simulated(axis: Axis, search: Search, conditions: Sequence[Condition]) -> list[Evidence]:
    found = []
    for place in search.places:
        metrics: dict[str, float | Interval] = {
            one.text: search.estimated(one, place).interval for one in conditions
        }
        found.append(Evidence(axis.numbers[place], "simulation", metrics))
    return found
