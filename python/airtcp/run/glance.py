"""A quick simulation: a few short replications, with a budget in events instead of a length.

A pilot that becomes longer until it has seen enough tells how many events a simulated second has;
the budget, divided by that, is the time there is. It is shared by six replications, and a quarter
of each is warm-up. They are independent: one run draws the phases of calls, and which of two hidden
stations has the air, once. Each begins with an empty cell, so that much has a lower bound alone
(`airtcp.estimates.short`). Events are counted, never seconds of a clock: the same scenario and seed
give the same bits on any machine, and a curve over a key is smooth, since all of its points have
the same random numbers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.estimates.books import Books
from airtcp.estimates.percentiles import FEWEST_RUNS
from airtcp.exceptions import SimulationError
from airtcp.results import Provenance, Replication, Simulation
from airtcp.results.glance import Glance
from airtcp.run.memory import refuse_too_large
from airtcp.scenario.alone import cell_alone
from airtcp.scenario.keys.traffic import has_end
from airtcp.scenario.load import load

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.run import Run

#: The work of a glance, in events of the world, and twice the attempts on the air and the segments.
#: A million takes some 80 ms.
BUDGET: Final = 270_000
#: Replications, and the fewest that it makes do with where they are more work than was thought.
RUNS: Final = 6
_FEWEST: Final = FEWEST_RUNS
#: The part of the time that is warm-up, where the scenario has a steady state.
_WARMUP: Final = 0.25
#: The part of the budget that a pilot must have seen, and that all of them may take.
_PILOT: Final = 1 / 24
_PILOTS: Final = 1 / 4
#: The first pilot, and by what it grows where it saw next to nothing, and where it saw more.
_FIRST_NS: Final = 50_000_000
_GROWTH: Final = (4, 2)
#: All replications together are no longer, however little happens, and none is shorter.
_LONGEST_NS: Final = 16 * 3_600_000_000_000
_SHORTEST_NS: Final = 5_000_000
#: To set up a station or a flow is as much work as so many events.
_SET_UP: Final = 20
#: The pilot's number among replications: far from those of a run, and from those of a warm-up.
_PILOT_NUMBER: Final = 2**33
#: The part of the budget that is spent beside it on cells alone, on so many of them at most.
_ALONE: Final = 0.5
_MOST_ALONE: Final = 8


def can_look() -> bool:
    """Tell whether there is a compiled core to look with."""
    try:
        from airtcp import _core  # noqa: F401  # a wheel without it has a module that says so
    except ImportError:
        return False
    return True


def glance(
    scenario: ResolvedScenario | str | Path,
    *,
    seed: int | None = None,
    times: int = 1,
    alone: bool = True,
) -> Glance:
    """Simulate a scenario for a moment: intervals from a few short runs, in tens of milliseconds.

    `scenario` is one, or what `airtcp.load` takes; `seed` replaces its own. `times` the usual work
    is spent on it: four times as much has intervals about half as wide. Of a scenario with a
    steady state this is seen, whatever warm-up and measured time are written. Transfers that end
    once for all and those of a log have none: there these two are looked at, from the beginning on,
    as far as the budget goes. The answer depends on scenario and seed alone.

    Of several cells those with the least goodput that others disturb, eight at most, are looked at
    with no other about, too: `cells` tells their `share_of_alone`. That is half as much work again,
    or none with `alone=False`.

    Raises SimulationError if the core does not take the scenario, or cannot run it: transfers that
    pile up without bound; ScenarioError if it may need more memory than there is.

    With the `cafe` of `airtcp.load`:

    >>> round(airtcp.glance(cafe).metrics["goodput_bps"].mean / 1e6)
    25
    """
    if isinstance(scenario, str | Path):
        scenario = load(scenario)
    scenario = scenario.with_run(seed=seed, replications=1)
    seen = _looked(scenario, times * BUDGET)
    if not alone or not seen.reached:
        return seen
    return _with_cells_alone(scenario, seen, int(_ALONE * times * BUDGET))


def _with_cells_alone(scenario: ResolvedScenario, seen: Glance, budget: int) -> Glance:
    """The glance with the goodput alone of the cells that may get little of it."""
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
    """Look at a scenario, whose seed is its own, for a budget."""
    from airtcp import _core

    wall_start, cpu_start = time.perf_counter(), time.process_time()
    look = _Look(scenario, budget)
    planned, reached = look.planned()
    runs = look.runs(planned)
    run = planned.run
    simulation = Simulation.gather(
        runs,
        confidence=run.confidence,
        simulated_s=len(runs) * ((run.warmup_ns or 0) + run.duration_ns) / 1e9,
        wall_s=time.perf_counter() - wall_start,
        cpu_s=time.process_time() - cpu_start,
        stopped="replications",
        scenario=planned,
    )
    provenance = Provenance.of(planned, seed=run.seed, generator=_core.GENERATOR)
    return Glance(planned, provenance, simulation, look.events, reached)


class _Look:
    """The work that is spent on one scenario, and on what."""

    def __init__(self, scenario: ResolvedScenario, budget: int) -> None:
        self._scenario = scenario
        self._budget = budget
        self.events = 0
        stations = sum(group.count for group in scenario.stations)
        flows = sum(scenario.group(flow.stations).count for flow in scenario.flows)
        self._set_up = _SET_UP * (stations + flows)

    def planned(self) -> tuple[ResolvedScenario, bool]:
        """Say what to run for the budget, and whether that reaches as far as the scenario does.

        Warm-up and measured time of what is given back are those of one replication.
        """
        run = self._scenario.run
        own_warmup_ns = run.warmup_ns or 0
        own_ns = own_warmup_ns + run.duration_ns
        is_finite = any(map(has_end, self._scenario.flows))
        most_ns = own_ns if is_finite else _LONGEST_NS // RUNS
        pace = self._pace(most_ns)
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
        """Run all replications that are planned, fewer where they turn out to be more work."""
        return self._run(planned, 0, RUNS)

    def _pace(self, most_ns: int) -> float:
        """Count the events of a simulated nanosecond, by pilots that grow."""
        length_ns = min(_FIRST_NS, most_ns)
        while True:
            before = self.events
            pilot = self._scenario.with_run(warmup_ns=0, duration_ns=length_ns)
            self._run(pilot, _PILOT_NUMBER, 1)
            seen = max(1, self.events - before - self._set_up)
            if (
                seen >= _PILOT * self._budget
                or length_ns >= most_ns
                or self.events >= _PILOTS * self._budget
            ):
                return seen / length_ns
            slow, fast = _GROWTH
            grown = length_ns * (slow if slow * seen < _PILOT * self._budget else fast)
            length_ns = min(most_ns, grown)

    def _run(self, scenario: ResolvedScenario, first: int, most: int) -> list[Replication]:
        """Run replications from number `first` on; their events are spent."""
        from airtcp import _core

        run = scenario.run
        refuse_too_large(scenario, threads=1, replications=1)
        try:
            core = _core.Simulation(scenario.to_json())
        except ValueError as error:
            raise SimulationError(f"the simulator does not take this scenario: {error}") from error
        # Signals are handled on the way.
        control = _core.RunControl(lambda: None)
        found: list[Replication] = []
        while len(found) < most and (len(found) < _FEWEST or self.events < self._budget):
            try:
                text, times, books = core.run(run.seed, first + len(found), control)
            except _core.SimulationFailed as error:
                raise SimulationError(
                    f"a quick simulation with seed {run.seed} failed: {error}"
                ) from error
            answer = json.loads(text)
            self.events += self._set_up + _work(run, answer["counts"])
            times_s = np.frombuffer(times, dtype="<f8")
            found.append(Replication(len(found), answer, times_s, books=Books.of_core(books)))
        return found


def _work(run: Run, counts: Mapping[str, int]) -> int:
    """The events of a replication, and twice its attempts and segments, warm-up included."""
    measured = 2 * (counts["mac_attempts"] + counts["tcp_segments"])
    # These are counted without the warm-up, where they are as many a second.
    whole_ns = (run.warmup_ns or 0) + run.duration_ns
    return counts["events"] + measured * whole_ns // run.duration_ns
