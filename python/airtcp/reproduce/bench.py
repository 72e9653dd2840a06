"""What an item works with: scenarios of its paper, and simulations that are remembered.

Knows where scenario files lie, how they are varied, and what a quick run is; finished simulations
are kept by `airtcp.results.store`. Does not know what items do with the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airtcp.reproduce.runs import SimulatedPoint
from airtcp.results import Replication, Simulation
from airtcp.results.store import Store, code_digest, key_of
from airtcp.run.simulate import simulate as run_packets
from airtcp.scenario import ResolvedScenario, Scenario, load

#: A quick run measures a quarter of the time, in ten replications at most: with fewer, intervals
#: are too wide for what the papers state.
QUICK_DURATION = 0.25
QUICK_REPLICATIONS = 10

#: The counts of a simulation that take its time: timers and wires, transmissions, segments.
_EVENTS = ("events", "mac_attempts", "tcp_segments")
#: Events of a cell whose traces are taken, in a second that is simulated: more or less.
_TRACED_EVENTS = 2000

#: Where finished runs are kept, below the folder of the output.
STORE = "runs"

Changes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """How items are to be made. `seed` and `replications` replace those of the scenarios.

    `threads` is how many replications run at a time, and changes no number. `times` is how many
    times as many replications are made as the scenarios say, where `replications` does not.
    """

    quick: bool = False
    seed: int | None = None
    replications: int | None = None
    threads: int | None = None
    times: int = 1


@dataclass
class Bench:
    """Scenarios and simulations for the items of one paper.

    `folder` holds the paper's scenario files, `store` is the folder of finished runs. `used`
    gathers, for each file, the keys that were varied and the values that they took: what the page
    shows. `simulated` gathers what was simulated: what the table of runs shows; `events` counts
    timers, transmissions and segments in it, a tenth of a microsecond of CPU time each, and those
    of traces by their length.
    """

    folder: Path
    store: Path
    settings: Settings
    on_run: Callable[[float], None] | None = None
    used: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    simulated: list[SimulatedPoint] = field(default_factory=list)
    events: int = 0

    @property
    def finished(self) -> Store:
        """The finished runs."""
        return Store(self.store)

    @property
    def quick(self) -> bool:
        """Whether runs are to be short."""
        return self.settings.quick

    def scenario(
        self, name: str, changes: Changes | None = None, quick: Changes | None = None
    ) -> Scenario:
        """The scenario file `name`.toml of the paper, varied.

        `changes` are key paths with the values that they get, in the written form: a group or flow
        goes by its name, a flow also by its station group, as in "stations.laptop.count". In a
        quick run the measured time is a quarter and replications are ten at most, or what `quick`
        says instead.

        Raises ScenarioError if the varied file is not a scenario, or a path leads to no key of it.
        """
        scenario = load(self.folder / f"{name}.toml").vary(changes or {})
        taken = self.used.setdefault(name, {})
        for path, value in (changes or {}).items():
            values = taken.setdefault(path, [])
            if value not in values:
                values.append(value)
        if self.quick:
            scenario = scenario.vary(_quick_run(scenario) if quick is None else quick)
        replications, times = self.settings.replications, self.settings.times
        if replications is None and times > 1:
            assert scenario.run.replications is not None, "the papers' scenarios say how many"
            replications = times * scenario.run.replications
        return scenario.with_run(seed=self.settings.seed, replications=replications)

    def simulate(
        self,
        name: str,
        changes: Changes | None = None,
        *,
        quick: Changes | None = None,
        transfer_times: bool = False,
    ) -> Simulation:
        """The simulation of a varied scenario file; see `scenario`.

        Taken from the store if it is there. `transfer_times` says that the times of the single
        transfers are needed, which are not kept otherwise.

        Raises SimulationError, OutputError, and KeyboardInterrupt if it was interrupted.
        """
        scenario = self.scenario(name, changes, quick)

        def run(scenario: ResolvedScenario) -> Simulation:
            threads = self.settings.threads
            return run_packets(scenario, threads=threads, progress=self.on_run).simulation

        simulation = self.finished.simulation(scenario, run, transfer_times=transfer_times)
        self.simulated.append(
            SimulatedPoint.of(name, changes or {}, self.quick, scenario, simulation)
        )
        self.events += sum(
            run.answer["counts"][name] for run in simulation.runs for name in _EVENTS
        )
        return simulation

    def traced(
        self,
        name: str,
        changes: Changes | None = None,
        *,
        reduce: Callable[[ResolvedScenario, Sequence[Replication]], Any],
        interval_s: float,
        quick: Changes | None = None,
    ) -> Any:
        """What `reduce` makes of the traces of a varied scenario file; see `scenario`.

        `reduce` gets the scenario and its replications, each with its trace sampled every
        `interval_s`, and gives plain JSON. Only that is kept: it is made again when the code of
        `reduce`'s module changes, or what that uses of results and models. Errors as `simulate`.
        """
        scenario = self.scenario(name, changes, quick)
        code = code_digest(reduce.__module__, follow=("results", "models", "stats"))
        assert scenario.run.replications is not None, "the papers' scenarios say how many"
        seconds = scenario.run.replications * scenario.run.duration_ns / 1e9
        self.events += round(_TRACED_EVENTS * seconds)
        key = key_of("trace", reduce.__name__, code, interval_s, scenario.hash())

        def run() -> Any:
            result = run_packets(
                scenario,
                threads=self.settings.threads,
                progress=self.on_run,
                trace=True,
                trace_interval_s=interval_s,
            )
            if result.simulation.stopped == "interrupted":
                raise KeyboardInterrupt
            return reduce(scenario, result.simulation.runs)

        return self.finished.answer(key, run)


def _quick_run(scenario: Scenario) -> Changes:
    run = scenario.run
    assert run.replications is not None, "the papers' scenarios say how many"
    return {
        "run.duration": f"{round(QUICK_DURATION * run.duration_ns)} ns",
        "run.replications": min(run.replications, QUICK_REPLICATIONS),
    }
