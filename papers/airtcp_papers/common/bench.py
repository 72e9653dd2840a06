"""Provide items with the scenarios of their paper, and with cached simulations.

It finds and varies scenario files, and defines quick runs; `store` keeps finished
simulations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airtcp.results import Simulation
from airtcp.results.trace import Trace
from airtcp.run.simulate import simulate as run_packets
from airtcp.scenario import ResolvedScenario, Scenario, load

from airtcp_papers.common.runs import SimulatedPoint
from airtcp_papers.common.store import Store, code_digest, key_of

#: A quick run measures a quarter of the time, in at most ten replications: with fewer, intervals
#: are too wide for the papers' statements.
QUICK_DURATION = 0.25
QUICK_REPLICATIONS = 10

#: The event counts that determine a simulation's CPU time: timers and links, transmissions,
#: segments.
_EVENTS = ("events", "mac_attempts", "tcp_segments")
#: Typical number of events per simulated second in a traced cell.
_TRACED_EVENTS = 2000

#: The folder of finished runs, below the output folder.
STORE = "runs"

Changes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """Options for making items. `seed` and `replications` replace those of the scenarios.

    `threads` is the number of parallel replications; it does not change the results. `times`
    multiplies the scenarios' number of replications, unless `replications` is given.
    """

    quick: bool = False
    seed: int | None = None
    replications: int | None = None
    threads: int | None = None
    times: int = 1


@dataclass
class Bench:
    """Scenarios and simulations for the items of one paper.

    `folder` has the paper's scenario files, `store` the finished runs. `used` collects, for each
    file, the varied keys and their values, for the page. `simulated` collects the simulations, for
    the table of runs. `events` counts timers, transmissions and segments in them, a tenth of a
    microsecond of CPU time each, and estimates those of traces from their length.
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
        """The store of finished runs."""
        return Store(self.store)

    @property
    def quick(self) -> bool:
        """Whether this is a quick run."""
        return self.settings.quick

    def scenario(
        self, name: str, changes: Changes | None = None, quick: Changes | None = None
    ) -> Scenario:
        """Return the scenario file `name`.toml of the paper, with changes.

        `changes` maps key paths to written values. A group or flow is addressed by its name, a flow
        also by its station group, as in "stations.laptop.count". A quick run measures a quarter of
        the time with at most ten replications, or uses `quick` instead.

        Raises ScenarioError if the changed file is not a scenario, or a path leads to no key of it.
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
        """Return the simulation of a varied scenario file; see `scenario`.

        It comes from the store if it is there. `transfer_times`: whether the times of single
        transfers are needed, which are not kept otherwise.

        Raises SimulationError, OutputError, and KeyboardInterrupt if interrupted.
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
        reduce: Callable[[ResolvedScenario, Sequence[Trace]], Any],
        interval_s: float,
        quick: Changes | None = None,
    ) -> Any:
        """Return the result of `reduce` on the traces of a varied scenario file; see `scenario`.

        `reduce` gets the scenario and the trace of each replication, sampled every `interval_s`,
        and returns plain JSON. Only that is kept. It is recomputed if the code of its paper
        changes, or that of results and models. Errors as in `simulate`.
        """
        scenario = self.scenario(name, changes, quick)
        code = code_digest("airtcp.results", "airtcp.models", "airtcp.stats", _room(reduce))
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
            return reduce(scenario, [one.trace for one in result.simulation.runs if one.trace])

        return self.finished.answer(key, run)

    def kept(self, kind: str, compute: Callable[[], Any], *parts: object) -> Any:
        """Return what `compute` returns, plain JSON, from the store if it was computed before.

        It depends on `parts`, which are plain JSON, and on the code of its paper and of the
        simulators. `kind` says what it is.
        """
        code = code_digest("airtcp.run", "airtcp_papers.common", _room(compute))
        return self.finished.answer(key_of(kind, code, *parts), compute)


def _room(function: Callable[..., Any]) -> str:
    """Return the package of a function's paper."""
    return ".".join(function.__module__.split(".")[:2])


def _quick_run(scenario: Scenario) -> Changes:
    run = scenario.run
    assert run.replications is not None, "the papers' scenarios say how many"
    return {
        "run.duration": f"{round(QUICK_DURATION * run.duration_ns)} ns",
        "run.replications": min(run.replications, QUICK_REPLICATIONS),
    }
