"""Run several scenarios on common random numbers, for any number of replications each.

Tracks the completed replications of each scenario, and runs the missing ones of all scenarios
together on threads. The results depend only on scenarios and seed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from airtcp.choices import has_own
from airtcp.results import Replication
from airtcp.run import core_of
from airtcp.run.interruption import Interruption
from airtcp.run.memory import refuse_too_large
from airtcp.run.processors import processors
from airtcp.run.replications import Replications, Runner
from airtcp.run.warmup import with_warmup

if TYPE_CHECKING:
    from airtcp import _core
    from airtcp.scenario import ResolvedScenario

_Key = TypeVar("_Key", bound=Hashable)


class TimeIsOver(Exception):  # noqa: N818
    """The given time is over."""


class _Watch(Interruption):
    """An interruption that also ends the work at a deadline."""

    deadline = math.inf

    def check(self) -> None:
        """Raise KeyboardInterrupt after a signal, or TimeIsOver after the deadline."""
        super().check()
        if time.monotonic() > self.deadline:
            raise TimeIsOver


class Points(Generic[_Key]):
    """Replications of scenarios by key. As a context manager it delays Ctrl-C to safe moments."""

    def __init__(
        self,
        seed: int,
        *,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.simulated_s = 0.0
        self._seed = seed
        self._threads = threads or processors()
        self._progress = progress
        self._interruption = _Watch()
        self._cores: dict[_Key, tuple[_core.Simulation, float]] = {}
        self._ended: dict[_Key, dict[int, Replication]] = {}

    def __enter__(self) -> Points[_Key]:
        self._interruption.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._interruption.__exit__()

    @property
    def deadline(self) -> float:
        """The time (`time.monotonic`) at which TimeIsOver is raised; completed runs are kept."""
        return self._interruption.deadline

    @deadline.setter
    def deadline(self, time_s: float) -> None:
        self._interruption.deadline = time_s

    @property
    def generator(self) -> str:
        """The name of the random number generator."""
        from airtcp import _core

        return _core.GENERATOR

    @property
    def runs(self) -> int:
        """The number of completed replications."""
        return sum(map(len, self._ended.values()))

    @property
    def interrupted(self) -> bool:
        """Whether there was a Ctrl-C, even one that came too late to stop anything."""
        return self._interruption.asked

    def check(self) -> None:
        """Raise KeyboardInterrupt if there was a Ctrl-C."""
        self._interruption.check()

    def warmed_up(self, scenario: ResolvedScenario) -> int:
        """Return the warm-up of a scenario in nanoseconds; detect it with pilots if not set."""
        found = with_warmup(scenario, threads=self._threads, interruption=self._interruption)
        return found.run.warmup_ns or 0

    def add(self, key: _Key, scenario: ResolvedScenario) -> None:
        """Add a scenario, which has a warm-up, under `key`.

        Raises SimulationError, and ScenarioError if it may need more memory than available.
        """
        if key in self._cores:
            return
        refuse_too_large(
            scenario, threads=self._threads, replications=scenario.run.replications or 1
        )
        self._cores[key] = core_of(scenario.for_core()), scenario.run.whole_s
        self._ended[key] = {}

    def know(self, key: _Key, runs: Iterable[Replication]) -> None:
        """Take replications of a scenario that were completed elsewhere, with the same seed."""
        self._ended[key] = {run.index: run for run in runs}

    def ended(self, key: _Key) -> list[Replication]:
        """Return the completed replications of a scenario, in the order of their index."""
        runs = self._ended.get(key, {})
        return [runs[index] for index in sorted(runs)]

    def run(self, wanted: Mapping[_Key, int]) -> None:
        """Run the replications 0 .. n-1 of each key that have not been run yet.

        Raises SimulationError, KeyboardInterrupt on Ctrl-C, and TimeIsOver. Completed runs are
        kept.
        """
        tasks = [
            (key, index)
            for key, n in wanted.items()
            for index in range(n)
            if index not in self._ended[key]
        ]
        runners = {key: Runner(self._cores[key][0], self._seed) for key in wanted}
        together = _Together([(runners[key], index) for key, index in tasks])
        with Replications(
            together, self._threads, self._progress, self._interruption, None, plugged=has_own()
        ) as done:
            try:
                done.run_until(len(tasks))
            finally:
                for number, run in done.finished.items():
                    key, index = tasks[number]
                    self._ended[key][index] = replace(run, index=index)
                    self.simulated_s += self._cores[key][1]


@dataclass(frozen=True)
class _Together:
    """Numbered runs, each a replication of its own scenario."""

    runs: list[tuple[Runner, int]]

    def run(self, index: int, control: _core.RunControl) -> Replication:
        runner, replication = self.runs[index]
        return runner.run(replication, control)

    def name(self, index: int) -> str:
        runner, replication = self.runs[index]
        return runner.name(replication)
