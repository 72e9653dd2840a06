"""Verdicts: whether a simulation meets its targets, by what margin, and which target fails first.

A target is met if the whole interval of its metric lies on the good side of the bound, and missed
if it lies on the other side. An interval on both sides is inconclusive, and so is a mean without an
interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates import estimate
from airtcp.judge.targets import targets_of
from airtcp.labels import PARTS
from airtcp.phrases import phrase
from airtcp.results import Comparison, Simulation, SimulationResult
from airtcp.results.cells import interval_of, of_simulation
from airtcp.results.least import endless_goodputs
from airtcp.results.verdict import Judged, State, Target, Verdict
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.results.glance import Glance
    from airtcp.scenario import ResolvedScenario

Simulated = Comparison | SimulationResult

#: The fewest pages in progress, with none finished, that bound a percentile above the median. With
#: ten pages, half would have finished in all but one of a thousand cases.
_FEWEST_PAGES: Final = 10
#: A flow is starved if its goodput is below this part of its target. Starvation is reported if a
#: flow starves in at least this part of the runs.
_STARVED: Final = 0.5
_OFTEN: Final = 0.25
#: Relative width of the bins of delays, and so the resolution of their percentiles.
_BIN: Final = 0.008


def verdict(
    result: Simulated, *, growth: bool = False, targets: Sequence[Target] | None = None
) -> Verdict | None:
    """Judge a simulation by the targets of its scenario, or by the defaults of its traffic.

    `targets` replaces both. Returns None if there is no target. With `growth`, quick simulations of
    more and of fewer stations show which target fails first, and at how many stations. Together
    they do at most as much work as the simulation did.

    The confidence level of intervals is that of the scenario for one or two targets, and higher for
    more. So a verdict is wrong no more often than the scenario's level says: only one end of an
    interval can make a verdict wrong, and each end has an equal share of the allowed error.

    With the `cafe` of `airtcp.load`, whose five downloads share some 25 Mb/s, and one target:

    >>> wanted = cafe.vary({"targets": {"laptop flow_goodput": "> 1 Mb/s"}})
    >>> found = airtcp.verdict(airtcp.simulate(wanted))
    >>> found.state, found.targets[0].target.text
    ('holds', 'laptop flow_goodput > 1 Mb/s')
    """
    scenario = scenario_of(result)
    written = True
    if targets is None:
        targets, written = targets_of(scenario)
    if not targets or not result.simulation.runs:
        return None
    level = joint_level(result.simulation.confidence, len(targets))
    judged = judged_by(_at(result, level), targets, result.scenario)
    found = Verdict(judged, written, level)
    if not growth:
        return found
    # A late import: it loads the simulator, which predictions by models do not need.
    from airtcp.judge.growth import growth_of

    return Verdict(judged, written, level, growth_of(result, found))


def scenario_of(result: Simulated) -> ResolvedScenario:
    """Return the scenario of a result. Raises TypeError for another object."""
    scenario: ResolvedScenario | None = getattr(result, "scenario", None)
    if scenario is None or not hasattr(result, "simulation"):
        raise TypeError(phrase("judge.verdict.not_a_result", result=result))
    return scenario


def glanced(scenario: ResolvedScenario, seen: Glance) -> Verdict | None:
    """Judge a scenario by a quick simulation, as `verdict` does; None without targets.

    A target counts as met only if the quick simulation reached all traffic and its transfers
    settled.
    """
    targets, written = targets_of(scenario)
    if not targets:
        return None
    level = joint_level(seen.simulation.confidence, len(targets))
    surer = seen.at(level)
    whole = seen.reached and seen.settled

    def judged(target: Target) -> Judged:
        one = target.condition
        interval = surer.interval(one.metric, one.group, one.part, one.cell)
        state = state_of(one, interval)
        return Judged(target, interval, state if whole or state == "fails" else "unknown")

    return Verdict(tuple(map(judged, targets)), written, level)


def joint_level(confidence: float, targets: int) -> float:
    """Return the level of single intervals that keeps the joint error of all targets as asked."""
    return max(confidence, 1.0 - 2.0 * (1.0 - confidence) / targets)


def state_of(condition: Condition, interval: Interval) -> State:
    """Return the state of a target by the side of its bound on which the interval lies.

    Runs that are too short have only a lower bound. It can decide only that the value lies above.
    """
    slack = _BIN if condition.mean_metric is not None else 0.0
    low = None if interval.low is None else interval.low * (1.0 - slack)
    high = None if interval.high is None else interval.high * (1.0 + slack)
    if low is not None and low > condition.bound:
        return "holds" if condition.above else "fails"
    if high is not None and high < condition.bound:
        return "fails" if condition.above else "holds"
    return "unknown"


def _at(result: Simulated, level: float) -> Simulation:
    """Return the simulation with intervals at another confidence level."""
    simulation = result.simulation
    return simulation if level == simulation.confidence else replace(simulation, confidence=level)


def judged_by(
    measured: Simulation, targets: Sequence[Target], scenario: ResolvedScenario
) -> tuple[Judged, ...]:
    """Judge targets by the intervals of a simulation, whatever their confidence level."""
    return tuple(_judged(measured, target, scenario) for target in targets)


def _judged(measured: Simulation, target: Target, scenario: ResolvedScenario) -> Judged:
    condition = target.condition
    if condition.cell is not None:
        cells = of_simulation(scenario, measured)
        interval = interval_of(cells, condition.cell, condition.metric)
    elif condition.group is not None:
        interval = measured.groups[condition.group][condition.part][condition.metric]
        interval = _while_running(measured, condition) or interval
    elif measured.scenario is None:
        # Plain means, as for groups.
        interval = measured.metrics.get(condition.metric, Interval(None, None, None, 0))
    else:
        level = measured.confidence
        interval = estimate(measured.runs, scenario, condition.metric, confidence=level).interval
    if interval.mean is None and interval.low is None:
        interval = _of_those_who_wait(measured, condition, scenario) or interval
    state = state_of(condition, interval)
    if state != "fails" and (
        starved_runs(measured, condition, scenario) or is_out_of_range(scenario, condition)
    ):
        state = "fails"
    return Judged(target, interval, state)


def _while_running(measured: Simulation, condition: Condition) -> Interval | None:
    """Return the goodput of jobs until their end; None for other traffic and metrics.

    The mean over the measured time would count the idle time after the end, too.
    """
    if condition.metric not in ("goodput_bps", "flow_goodput_bps"):
        return None
    own = [part for part in measured.groups[condition.group or ""] if part in PARTS[1:]]
    part = own[0] if condition.part == "all" and len(own) == 1 else condition.part
    for job in measured.jobs:
        if (job.group, job.part) == (condition.group, part):
            per_flow = condition.metric == "flow_goodput_bps"
            return job.goodput_bps.scaled(1.0 / job.count if per_flow else 1.0)
    return None


def is_out_of_range(scenario: ResolvedScenario, condition: Condition) -> bool:
    """Whether a target covers a flow of a station that is out of range."""
    cells = [cell.name for cell in scenario.cells or ()]
    return any(
        bool(group.out_of_range)
        and condition.group in (None, group.name)
        and condition.cell in (None, *cells[group.cell or 0 :][:1])
        and any(
            flow.stations == group.name and condition.part in ("all", flow.direction)
            for flow in scenario.flows
        )
        for group in scenario.stations
    )


def starved_runs(
    measured: Simulation, condition: Condition, scenario: ResolvedScenario
) -> list[float]:
    """Return the goodput of the slowest flow, for each run in which that flow is starved.

    A flow is starved below half of its target for goodput per flow. Only endless flows count. The
    list is empty if fewer than a quarter of the runs are affected: then it may be chance.
    """
    if condition.metric != "flow_goodput_bps" or not condition.above or condition.cell is not None:
        return []
    group, part = condition.group, condition.part
    least = [
        min(endless_goodputs(run.answer, scenario, group, part), default=math.inf)
        for run in measured.runs
    ]
    found = [one for one in least if one < _STARVED * condition.bound]
    return found if len(found) >= max(2, _OFTEN * len(least)) else []


def _of_those_who_wait(
    measured: Simulation, condition: Condition, scenario: ResolvedScenario
) -> Interval | None:
    """Return a lower bound of a percentile of page times if no page finished in any run.

    Half of the pages in progress are older than that. None if they are few, or if the condition is
    not about page times.
    """
    wanted = condition.metric.startswith("page_time_p")
    accounts = [run.accounts.pages for run in measured.runs if run.accounts and run.accounts.pages]
    if (
        not wanted
        or condition.about.name == "page_time_p50_s"
        or len(accounts) < len(measured.runs)
    ):
        return None
    places = [
        place
        for place, flow in enumerate(scenario.flows)
        if condition.group in (None, flow.stations) and condition.part in ("all", flow.direction)
    ]
    ages_s = np.concatenate(
        [one.under_way_age_s[np.isin(one.under_way_entry, places)] for one in accounts]
    )
    if len(ages_s) < _FEWEST_PAGES:
        return None
    return Interval(None, float(np.median(ages_s)), None, 0)
