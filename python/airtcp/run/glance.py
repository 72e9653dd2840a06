"""A glance: one short run in batches, with a budget in events instead of a length.

Knows how long a scenario can be looked at for so many events. A pilot that becomes longer until it
has seen enough tells how many events a simulated second has; the budget, divided by that, is the
time there is. A quarter of it is warm-up, the rest is one replication in batches, whose means are
the samples: several short replications would each begin with an empty cell, and see little else
(`airtcp.results.glance` has the intervals). Events are counted, never seconds of a clock: the same
scenario and seed give the same bits on any machine, and a curve over a key is smooth, since all of
its points have the same random numbers. Does not know what the numbers are for.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airtcp.estimates.books import Books
from airtcp.exceptions import SimulationError
from airtcp.results import Provenance, Replication, Simulation
from airtcp.results.glance import Glance
from airtcp.run.memory import refuse_too_large
from airtcp.scenario.alone import cell_alone
from airtcp.scenario.load import load

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: The work of a glance, in events of the world, and twice the attempts on the air and the segments.
#: A million takes some 80 ms.
BUDGET: Final = 270_000
#: Batches, and the fewest that a glance makes do with where they are more work than was thought.
BATCHES: Final = 16
_FEWEST: Final = 6
#: The part of the time that is warm-up, where the scenario has a steady state.
_WARMUP: Final = 0.25
#: The part of the budget that a pilot must have seen, and that all of them may take.
_PILOT: Final = 1 / 24
_PILOTS: Final = 1 / 4
#: The first pilot, and by what it grows where it saw next to nothing, and where it saw more.
_FIRST_NS: Final = 50_000_000
_GROWTH: Final = (4, 2)
#: No glance is longer, however little happens, and none shorter.
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
    """Look at a scenario for a moment: intervals from one short run, in tens of milliseconds.

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
    batches = look.batches(planned)
    run = planned.run
    simulation = Simulation.gather(
        batches,
        confidence=run.confidence,
        simulated_s=((run.warmup_ns or 0) + len(batches) * run.duration_ns) / 1e9,
        wall_s=time.perf_counter() - wall_start,
        cpu_s=time.process_time() - cpu_start,
        stopped="replications",
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

        The measured time of what is given back is that of one batch.
        """
        run = self._scenario.run
        own_warmup_ns = run.warmup_ns or 0
        own_ns = own_warmup_ns + run.duration_ns
        has_end = any(_has_end(flow.application) for flow in self._scenario.flows)
        most_ns = own_ns if has_end else _LONGEST_NS
        pace = self._pace(most_ns)
        affordable_ns = int(max(0, self._budget - self.events - self._set_up) / pace)
        length_ns = max(min(_SHORTEST_NS, most_ns), min(most_ns, affordable_ns))
        warmup_ns = int(_WARMUP * length_ns)
        if has_end:
            warmup_ns = own_warmup_ns * length_ns // own_ns
        batch_ns = max(1, (length_ns - warmup_ns) // BATCHES)
        planned = self._scenario.with_run(warmup_ns=warmup_ns, duration_ns=batch_ns)
        return planned, not has_end or length_ns >= own_ns

    def batches(self, planned: ResolvedScenario) -> list[Replication]:
        """Run all batches that are planned, fewer where they turn out to be more work."""
        return self._run(planned, 0, BATCHES, max(0, self._budget - self.events))

    def _pace(self, most_ns: int) -> float:
        """Count the events of a simulated nanosecond, by pilots that grow."""
        length_ns = min(_FIRST_NS, most_ns)
        while True:
            before = self.events
            pilot = self._scenario.with_run(warmup_ns=0, duration_ns=length_ns)
            self._run(pilot, _PILOT_NUMBER, 1, self._budget)
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

    def _run(
        self, scenario: ResolvedScenario, number: int, most: int, work: int
    ) -> list[Replication]:
        """One replication in batches; its events are spent."""
        from airtcp import _core

        run = scenario.run
        whole = scenario.with_run(duration_ns=most * run.duration_ns)
        refuse_too_large(whole, threads=1, replications=1)
        try:
            core = _core.Simulation(scenario.to_json())
        except ValueError as error:
            raise SimulationError(f"the simulator does not take this scenario: {error}") from error
        # Signals are handled on the way.
        control = _core.RunControl(lambda: None)
        try:
            told = core.run_batches(
                run.seed, number, control, most=most, least=min(most, _FEWEST), work=work
            )
        except _core.SimulationFailed as error:
            raise SimulationError(f"a glance with seed {run.seed} failed: {error}") from error
        batches = [
            Replication(
                index,
                json.loads(text),
                np.frombuffer(times, dtype="<f8"),
                books=Books.of_core(books),
            )
            for index, (text, times, books) in enumerate(told)
        ]
        counts = [batch.answer["counts"] for batch in batches]
        measured = 2 * sum(one["mac_attempts"] + one["tcp_segments"] for one in counts)
        measured_ns = len(batches) * run.duration_ns
        # Attempts and segments are counted without the warm-up, where they are as many a second.
        measured = measured * ((run.warmup_ns or 0) + measured_ns) // measured_ns
        self.events += self._set_up + int(counts[-1]["events"]) + measured
        return batches


def _has_end(application: Any) -> bool:
    """Tell whether an application has no steady state, but a beginning or an end."""
    if application.kind == "bulk":
        return application.size is not None or application.start.mean() > 0.0
    return bool(application.kind == "replay")
