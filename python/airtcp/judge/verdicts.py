"""Verdicts: does a simulation hold its targets, by how much, and which one fails first.

A target holds where the whole interval of its metric lies on the good side of the bound, and fails
where it lies on the other; an interval on both sides does not tell, nor does a mean without one.
Knows targets, those of a scenario's file or of its profiles of traffic, and measured intervals.
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
from airtcp.results import Comparison, SimulationResult
from airtcp.results.cells import interval_of, of_simulation
from airtcp.results.least import endless_goodputs
from airtcp.results.verdict import Judged, State, Target, Verdict
from airtcp.stats import Interval

if TYPE_CHECKING:
    from airtcp.conditions import Condition
    from airtcp.results import Simulation
    from airtcp.results.glance import Glance
    from airtcp.scenario import ResolvedScenario

Simulated = Comparison | SimulationResult

#: The fewest pages in progress, none of which came, that tell of a percentile above the median:
#: all but one in a thousand times half of ten would have.
_FEWEST_PAGES: Final = 10
#: The part of a wanted goodput below which a flow is starved, and of the runs in which that tells.
_STARVED: Final = 0.5
_OFTEN: Final = 0.25
#: Delays are counted in bins: their percentiles are known to this part of them.
_BIN: Final = 0.008


def verdict(
    result: Simulated, *, growth: bool = False, targets: Sequence[Target] | None = None
) -> Verdict | None:
    """Judge a simulation by the targets of its scenario, or by those of its profiles of traffic.

    `targets` replaces both. None where there is none. With `growth` quick simulations of more and
    of fewer stations show which target fails first, and at how many; together they cost at most as
    much as the simulation did.

    The level of intervals is that of the scenario for one target or two, and higher for more, so
    that a verdict is wrong no more often than the scenario's level says: a target is called wrong
    only by an end of its interval, and each end has an equal part of what is allowed.

    With the `cafe` of `airtcp.load`, whose five downloads share some 25 Mb/s, and one target:

    >>> wanted = cafe.vary({"targets": {"laptop flow_goodput": "> 1 Mb/s"}})
    >>> found = airtcp.verdict(airtcp.simulate(wanted))
    >>> found.state, found.targets[0].target.text
    ('holds', 'laptop flow_goodput > 1 Mb/s')
    """
    scenario = result.scenario
    written = True
    if targets is None:
        targets, written = targets_of(scenario)
    if not targets or not result.simulation.runs:
        return None
    level = joint_level(result.simulation.confidence, len(targets))
    measured = _at(result, level)
    judged = tuple(_judged(measured, target, result.scenario) for target in targets)
    found = Verdict(judged, written, level)
    if not growth:
        return found
    # It imports the simulator, which a prediction by models does without.
    from airtcp.judge.growth import growth_of

    return Verdict(judged, written, level, growth_of(result, found))


def glanced(scenario: ResolvedScenario, seen: Glance) -> Verdict | None:
    """Judge a scenario by a glance at it, as `verdict` does by a simulation; None without targets.

    That all is well is told only by a glance that saw as much of the traffic as there is.
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
    """Return the level of single intervals with which all ends together miss as rarely as asked."""
    return max(confidence, 1.0 - 2.0 * (1.0 - confidence) / targets)


def state_of(condition: Condition, interval: Interval) -> State:
    """Say on which side of the bound of a target an interval lies.

    Of a lower bound alone, which is what runs have that are too short, it can be told that it lies
    above.
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
    """Return the simulation with intervals of another level."""
    simulation = result.simulation
    return simulation if level == simulation.confidence else replace(simulation, confidence=level)


def _judged(measured: Simulation, target: Target, scenario: ResolvedScenario) -> Judged:
    condition = target.condition
    if condition.cell is not None:
        cells = of_simulation(scenario, measured)
        interval = interval_of(cells, condition.cell, condition.metric)
    elif condition.group is not None:
        interval = measured.groups[condition.group][condition.part][condition.metric]
        interval = _while_running(measured, condition) or interval
    elif measured.scenario is None:
        # Plain means, as of groups.
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
    """Return the goodput of jobs until their end; None of other traffic and metrics.

    Their mean over the measured time counts the idle time after the end, too.
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
    """Return the goodput of the flow that gets least, of each run in which it is starved.

    Starved is less than half of what a target for goodput per flow wants, of flows that take all
    they get. Empty where that happens in less than a quarter of the runs: then it may be chance.
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
    """Return what a percentile of page times is at least where no page came in any run.

    Half of the pages in progress have been so for longer than that. None where they are few, or
    pages are not what is asked of.
    """
    wanted = condition.metric.startswith("page_time_p")
    books = [run.books.pages for run in measured.runs if run.books and run.books.pages]
    if not wanted or condition.about.name == "page_time_p50_s" or len(books) < len(measured.runs):
        return None
    places = [
        place
        for place, flow in enumerate(scenario.flows)
        if condition.group in (None, flow.stations) and condition.part in ("all", flow.direction)
    ]
    ages_s = np.concatenate(
        [one.under_way_age_s[np.isin(one.under_way_entry, places)] for one in books]
    )
    if len(ages_s) < _FEWEST_PAGES:
        return None
    return Interval(None, float(np.median(ages_s)), None, 0)
