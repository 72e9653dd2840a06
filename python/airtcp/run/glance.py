"""A quick simulation: a few short replications, with a budget in events instead of a length.

A pilot run grows until it has seen enough events to estimate the events per simulated second. The
budget divided by that rate is the simulated time. Six replications share it, and a quarter of each
is warm-up. The replications are independent: a single run would draw the phases of calls, or which
of two hidden stations captures the channel, only once. Each starts with an empty cell, so many
values have only a lower bound (`airtcp.estimates.short`). Work is counted in events, not in seconds
of a clock, so the same scenario and seed give the same bits on any machine. A curve over a key is
smooth, since all of its points use the same random numbers.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.estimates.percentiles import FEWEST_RUNS
from airtcp.exceptions import SimulationError
from airtcp.phrases import phrase
from airtcp.results import Provenance, Replication, Simulation
from airtcp.results.glance import Glance
from airtcp.run import core_of
from airtcp.run.memory import refuse_too_large
from airtcp.run.replications import Runner
from airtcp.scenario.alone import cell_alone
from airtcp.scenario.keys.traffic import has_end, is_job
from airtcp.scenario.load import as_scenario

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.run import Run

#: The unit of work: events of the event loop, plus twice the transmission attempts and segments, or
#: the MPDUs in data PPDUs if these are more. A million takes about 80 ms.
BUDGET: Final = 270_000
#: The default work in these units. One unit sees no page of a busy office and leaves a quarter of
#: the metrics without a value, three leave a sixth.
TIMES: Final = 3
#: Number of replications, and the fewest to run if they take more work than expected.
RUNS: Final = 6
_FEWEST: Final = FEWEST_RUNS
#: If all traffic is jobs, seeing them end may take this many budgets, a quarter of a second: the
#: first part of a job shows little.
_WHOLE_JOBS: Final = 4
#: The fraction of the time that is warm-up, if the scenario has a steady state.
_WARMUP: Final = 0.25
#: The fraction of the budget that a pilot must have seen, and the fraction for all pilots.
_PILOT: Final = 1 / 24
_PILOTS: Final = 1 / 4
#: The length of the first pilot, and its growth factors: after almost no events, and otherwise.
_FIRST_NS: Final = 50_000_000
_GROWTH: Final = (4, 2)
#: The longest total time of all replications, however little happens, and the shortest time of one.
_LONGEST_NS: Final = 16 * 3_600_000_000_000
_SHORTEST_NS: Final = 5_000_000
#: Setting up a station or a flow is as much work as this many events.
_SET_UP: Final = 20
#: The replication number of the pilot, far from the numbers of runs and of warm-up pilots.
_PILOT_NUMBER: Final = 2**33
#: The extra budget for simulating isolated cells, as a fraction, and the most cells to simulate.
_ALONE: Final = 0.5
_MOST_ALONE: Final = 8


def glance(
    scenario: ResolvedScenario | str | Path,
    *,
    seed: int | None = None,
    times: int = TIMES,
    alone: bool = True,
) -> Glance:
    """Run a quick simulation: intervals from a few short runs, in tens of milliseconds.

    `scenario` is a scenario, or any argument of `airtcp.load`. `seed` replaces its seed. `times` is
    the amount of work in units of 270,000 events: four times the work halves the width of
    intervals. For a scenario with a steady state, the run measures this state, whatever warm-up and
    measured time the scenario sets. Transfers that end once and for all, and those of a log, have
    no steady state: the run then covers the scenario's own warm-up and measured time from the
    beginning, as far as the budget goes, or up to four times as far if all traffic ends then. The
    result depends only on scenario and seed.

    With several cells, the disturbed cells with the least goodput, at most eight, are also
    simulated alone: `cells` then has their `share_of_alone`. This takes half as much work again, or
    none with `alone=False`.

    Raises SimulationError if the core rejects the scenario, or cannot run it because transfers pile
    up without bound; ScenarioError if it may need more memory than available.

    With the `cafe` of `airtcp.load`:

    >>> round(airtcp.glance(cafe).metrics["goodput_bps"].mean / 1e6)
    25
    """
    scenario = as_scenario(scenario)
    scenario = scenario.with_run(seed=seed, replications=1)
    seen = _looked(scenario, times * BUDGET)
    # If a cell sends rarely, a longer run may rank the cells differently.
    if not alone or not seen.reached or seen.seldom:
        return seen
    return _with_cells_alone(scenario, seen, int(_ALONE * times * BUDGET))


def _with_cells_alone(scenario: ResolvedScenario, seen: Glance, budget: int) -> Glance:
    """Add the isolated goodput of the disturbed cells with the least goodput."""
    order = list(seen.cells)
    goodputs = {name: seen.cells[name].goodput_bps.mean or 0.0 for name in seen.disturbed}
    least = sorted(goodputs, key=lambda name: goodputs[name])[:_MOST_ALONE]
    events = seen.events
    alone: dict[str, Glance] = {}
    for name in least:
        alone[name] = _looked(cell_alone(scenario, order.index(name)), budget // len(least))
        events += alone[name].events
    return replace(seen, alone=alone, events=events)


def _looked(scenario: ResolvedScenario, budget: int) -> Glance:
    """Run a quick simulation of a scenario, with its own seed, for a budget of events."""
    from airtcp import _core

    wall_start, cpu_start = time.perf_counter(), time.process_time()
    look = _Look(scenario, budget)
    planned, reached = look.planned()
    runs = look.runs(planned)
    run = planned.run
    simulation = Simulation.gather(
        runs,
        confidence=run.confidence,
        simulated_s=len(runs) * run.whole_ns / 1e9,
        wall_s=time.perf_counter() - wall_start,
        cpu_s=time.process_time() - cpu_start,
        stopped="replications",
        scenario=planned,
    )
    provenance = Provenance.of(planned, seed=run.seed, generator=_core.GENERATOR)
    return Glance(planned, provenance, simulation, look.events, reached)


class _Look:
    """The work spent on a quick simulation of one scenario."""

    def __init__(self, scenario: ResolvedScenario, budget: int) -> None:
        self._scenario = scenario
        self._budget = budget
        self.events = 0
        stations = sum(group.count for group in scenario.stations)
        flows = sum(scenario.group(flow.stations).count for flow in scenario.flows)
        self._set_up = _SET_UP * (stations + flows)

    def planned(self) -> tuple[ResolvedScenario, bool]:
        """Return the scenario to run for the budget, and whether it covers the scenario's own time.

        Its warm-up and measured time are for one replication.
        """
        run = self._scenario.run
        own_warmup_ns = run.warmup_ns or 0
        own_ns = own_warmup_ns + run.duration_ns
        is_finite = any(map(has_end, self._scenario.flows))
        most_ns = own_ns if is_finite else _LONGEST_NS // RUNS
        pace, delivered_bps = self._pace(most_ns)
        whole = self._work_of_jobs(pace, delivered_bps)
        if whole is not None and _FEWEST * whole <= _WHOLE_JOBS * self._budget:
            count = RUNS if RUNS * whole <= self._budget else _FEWEST
            return self._scenario.with_run(warmup_ns=own_warmup_ns, replications=count), True
        affordable_ns = int(max(0, self._budget - self.events - RUNS * self._set_up) / pace / RUNS)
        length_ns = max(min(_SHORTEST_NS, most_ns), min(most_ns, affordable_ns))
        warmup_ns = int(_WARMUP * length_ns)
        if is_finite:
            warmup_ns = own_warmup_ns * length_ns // own_ns
        planned = self._scenario.with_run(
            warmup_ns=warmup_ns, duration_ns=max(1, length_ns - warmup_ns), replications=RUNS
        )
        return planned, not is_finite or length_ns >= own_ns

    def runs(self, planned: ResolvedScenario) -> list[Replication]:
        """Run the planned replications, or fewer if they take more work than expected."""
        return self._run(planned, 0, planned.run.replications or RUNS)

    def _work_of_jobs(self, pace: float, delivered_bps: float) -> float | None:
        """Estimate the work until all jobs have ended, given what `_pace` returns.

        None if there is other traffic.
        """
        if not delivered_bps or not all(map(is_job, self._scenario.flows)):
            return None
        bits = 0.0
        for flow in self._scenario.flows:
            if flow.application.kind == "bulk" and flow.application.size is not None:
                size_bytes = flow.application.size.mean()
                bits += 8.0 * size_bytes * self._scenario.group(flow.stations).count
        return self._set_up + 1e9 * pace * bits / delivered_bps

    def _pace(self, most_ns: int) -> tuple[float, float]:
        """Measure events per simulated nanosecond, and goodput, with pilots of growing length."""
        length_ns = min(_FIRST_NS, most_ns)
        while True:
            before = self.events
            pilot = self._scenario.with_run(warmup_ns=0, duration_ns=length_ns)
            (found,) = self._run(pilot, _PILOT_NUMBER, 1)
            seen = max(1, self.events - before - self._set_up)
            if (
                seen >= _PILOT * self._budget
                or length_ns >= most_ns
                or self.events >= _PILOTS * self._budget
            ):
                return seen / length_ns, found.answer["metrics"]["goodput_bps"] or 0.0
            slow, fast = _GROWTH
            grown = length_ns * (slow if slow * seen < _PILOT * self._budget else fast)
            length_ns = min(most_ns, grown)

    def _run(self, scenario: ResolvedScenario, first: int, most: int) -> list[Replication]:
        """Run replications from number `first` on, and count their events."""
        from airtcp import _core

        run = scenario.run
        refuse_too_large(scenario, threads=1, replications=1)
        runner = Runner(core_of(scenario.for_core()), run.seed, first=first)
        # The callback only lets signals be handled.
        control = _core.RunControl(lambda: None)
        found: list[Replication] = []
        while len(found) < most and (len(found) < _FEWEST or self.events < self._budget):
            try:
                found.append(runner.run(len(found), control))
            except _core.SimulationFailed as error:
                raise SimulationError(
                    phrase("run.failed.quick", seed=run.seed, error=error)
                ) from error
            self.events += self._set_up + _work(run, found[-1].answer)
        return found


def _work(run: Run, answer: Mapping[str, Any]) -> int:
    """Return the work of a replication, with its warm-up."""
    counts = answer["counts"]
    measured = 2 * (counts["mac_attempts"] + counts["tcp_segments"])
    mpdus = 0.0
    for one in answer["stations"]:
        side = "stations" if "/" in one["name"] else "ap"
        mpdus += one["attempts"] * (answer["metrics"].get(f"mpdus_per_ppdu_{side}") or 0.0)
    # These counts exclude the warm-up, so they are scaled to include it.
    of_events: int = counts["events"] + measured * run.whole_ns // run.duration_ns
    return max(of_events, int(mpdus) * run.whole_ns // run.duration_ns)
