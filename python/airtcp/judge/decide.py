"""Simulate until the targets are decided, if the file does not give a run length.

The first warm-up, duration and replications follow from the law of the traffic. They grow in
rounds. Runs become longer while they are not in steady state. More replications follow while
intervals are too wide. Rounds end when every target is decided, or when the core has done the work
of about 20 seconds of a processor. If a target is clearly missed, less work goes into deciding the
rest. Work is counted, never timed, so the result depends only on scenario and seed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

from airtcp.estimates.traffic import is_done, jobs_have_ended
from airtcp.judge.race import cost
from airtcp.judge.verdicts import verdict
from airtcp.results import Provenance, Replication, Simulation, SimulationResult
from airtcp.results.jobs import last_end_s
from airtcp.run.points import Points
from airtcp.run.processors import processors
from airtcp.run.simulate import goodputs_alone
from airtcp.scenario import ResolvedScenario, Scenario
from airtcp.scenario.keys.traffic import is_job

if TYPE_CHECKING:
    from airtcp.results.verdict import Verdict

#: Maximum work of all rounds, in the core's counts: about 20 seconds of a processor.
MOST: Final = 2.6e8
#: Maximum work if a target is clearly missed already: about two seconds.
SURELY: Final = 2.5e7
#: Replications of the first round, and the maximum. Later rounds add replications or length.
_FIRST: Final = 4
_MOST_RUNS: Final = 64
#: The growth of the length from round to round.
_GROWTH: Final = 2.0
#: Replications if two scenarios are compared.
_PAIRED: Final = 8
#: Relative distance from its bound below which a value is not worth deciding.
_AT_BOUND: Final = 0.02
_LONGEST_S: Final = 3600.0
#: The last round goes on after the last job, relatively and in seconds: its ACK comes later.
_IDLE: Final = 1.02
_IDLE_S: Final = 0.2


@dataclass(frozen=True)
class Times:
    """Run length: warm-up and measured time in seconds, and number of replications."""

    warmup_s: float
    duration_s: float
    replications: int


def is_open(scenario: ResolvedScenario) -> bool:
    """Return True if a scenario gives no run length, so that targets decide."""
    return (
        isinstance(scenario, Scenario) and scenario.is_written and not scenario.written.get("run")
    )


def decide(
    scenario: Scenario,
    *,
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> SimulationResult:
    """Simulate a scenario until its targets are decided.

    The scenario in the result has the chosen run length. On Ctrl-C the function returns the last
    complete round, with `stopped` set to "interrupted".

    Raises:
        SimulationError: a run failed.
        KeyboardInterrupt: before a round had ended.
    """
    seed = scenario.run.seed if seed is None else seed
    wall, cpu = time.perf_counter(), time.process_time()
    threads = threads or processors()
    times = first_times(scenario)
    spent = 0.0
    result: SimulationResult | None = None
    is_last = False
    with Points[Times](seed, threads=threads, progress=progress) as points:
        while True:
            asked = scenario.with_run(
                seed=seed,
                replications=times.replications,
                warmup_ns=round(times.warmup_s * 1e9),
                duration_ns=round(times.duration_s * 1e9),
            )
            key = Times(times.warmup_s, times.duration_s, 0)
            points.add(key, asked)
            before = len(points.ended(key))
            try:
                points.run({key: times.replications})
            except KeyboardInterrupt:
                if result is None:
                    raise
                break
            runs = points.ended(key)
            if is_last and result is not None and not jobs_have_ended(runs, asked):
                break
            spent += sum(map(cost, runs[before:]))
            simulation = Simulation.gather(
                runs,
                confidence=asked.run.confidence,
                simulated_s=points.simulated_s,
                wall_s=time.perf_counter() - wall,
                cpu_s=time.process_time() - cpu,
                stopped="replications",
                scenario=asked,
            )
            provenance = Provenance.of(asked, seed=seed, generator=points.generator)
            result = SimulationResult(asked, provenance, _with_alone(simulation, asked, threads))
            if is_last:
                break
            longer = _next(result, times, spent, runs)
            if longer is None:
                longer, is_last = _without_idle_time(result, times, runs), True
            if longer is None:
                break
            times = longer
        interrupted = points.interrupted
    assert result is not None, "the first round gives a result"
    if interrupted:
        result = replace(result, simulation=replace(result.simulation, stopped="interrupted"))
    return result


def first_times(scenario: Scenario) -> Times:
    """Return the run length of the first round, by the law of the traffic.

    Transfers of a given size are measured from their beginning. Web traffic needs several cycles of
    reading and loading. Calls and endless transfers need several round trips.
    """
    flows = scenario.flows
    if is_finite(scenario):
        return Times(0.0, 30.0, _FIRST)
    cycles = [
        flow.application.think_time.mean()
        for flow in flows
        if flow.application.kind == "web" and flow.application.think_time is not None
    ]
    if cycles:
        cycle = min(max(cycles), 60.0)
        return Times(max(10.0, cycle / 2.0), max(30.0, cycle), _FIRST)
    return Times(5.0, 20.0, _FIRST)


def timed(scenario: ResolvedScenario, replications: int = _PAIRED) -> ResolvedScenario:
    """Return the scenario with a run length by the law of its traffic, if the file gives none."""
    if not is_open(scenario):
        return scenario
    times = first_times(cast(Scenario, scenario))
    return scenario.with_run(
        warmup_ns=round(times.warmup_s * 1e9),
        duration_ns=round(times.duration_s * 1e9),
        replications=replications,
    )


def is_finite(scenario: Scenario) -> bool:
    """Return True if every TCP flow is a job that ends: a file of a given size, fetched once."""
    tcp = [flow for flow in scenario.flows if flow.tcp is not None]
    return bool(tcp) and all(map(is_job, tcp))


def _with_alone(simulation: Simulation, scenario: Scenario, threads: int) -> Simulation:
    """Return the simulation with the goodput that each cell has when simulated in isolation."""
    return replace(simulation, alone=goodputs_alone(scenario, simulation.replications, threads))


def _next(
    result: SimulationResult, times: Times, spent: float, runs: list[Replication]
) -> Times | None:
    """Return the run length of the next round; None if no further round is needed or possible."""
    finite = is_finite(cast(Scenario, result.scenario))
    if finite and not jobs_have_ended(runs, result.scenario):
        if times.duration_s >= _LONGEST_S:
            return None
        return Times(0.0, 2.0 * times.duration_s, times.replications)
    found = verdict(result)
    work = sum(map(cost, runs))
    steady = finite or result.simulation.steadiness is None
    if found is None:
        # Nothing to decide, but means are of a steady state.
        return None if steady else _longer(times, work, SURELY - spent)
    open_ = [one for one in found.targets if one.state == "unknown"]
    worth = [one for one in open_ if one.margin is None or abs(one.margin) > _AT_BOUND]
    if not worth:
        return None
    budget = SURELY if found.state == "fails" else MOST
    # Twice the replications, or as many as the budget still has room for.
    room = int(times.replications * (1.0 + max(budget - spent, 0.0) / work))
    more = min(2 * times.replications, room, _MOST_RUNS)
    if steady and more > times.replications and not _is_unseen(found):
        # The runs so far count, too.
        work *= more / times.replications - 1.0
        then = Times(times.warmup_s, times.duration_s, more)
        return then if spent + work <= budget else None
    return _longer(times, work, budget - spent)


def _longer(times: Times, work: float, budget: float) -> Times | None:
    """Return a longer run than one that took `work`, if the budget has room for it."""
    duration_s = min(_GROWTH * times.duration_s, _LONGEST_S)
    growth = duration_s / times.duration_s
    if growth <= 1.0 or growth * work > budget:
        return None
    return Times(min(_GROWTH * times.warmup_s, 60.0), duration_s, times.replications)


def _without_idle_time(
    result: SimulationResult, times: Times, runs: list[Replication]
) -> Times | None:
    """Return the run length up to the end of the last job; None if it is about that already.

    Shares of the airtime would count the idle time after the end.
    """
    scenario = cast("Scenario", result.scenario)
    if not is_done(runs, scenario) or (end_s := last_end_s(runs, scenario)) is None:
        return None
    duration_s = math.ceil(10.0 * (_IDLE * end_s + _IDLE_S)) / 10.0
    return Times(0.0, duration_s, times.replications) if duration_s < times.duration_s else None


def _is_unseen(found: Verdict) -> bool:
    """Return True if nothing is known of a metric: more runs of this length do not help."""
    return any(
        one.state == "unknown" and one.interval.mean is None and not one.interval.low
        for one in found.targets
    )
