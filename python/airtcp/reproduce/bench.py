"""What an item works with: scenarios of its paper, and simulations that are remembered.

Knows where scenario files lie, how they are varied, what a quick run is, and the store of finished
simulations: one file per scenario (with its seed and replications) and core, named by their hash,
so that items that need the same run share it and a run that was killed goes on where it was. Does
not know what items do with the answers.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from airtcp.exceptions import OutputError
from airtcp.files import prepare, write_files
from airtcp.results import Replication, Simulation
from airtcp.run.simulate import simulate as run_packets
from airtcp.scenario import ResolvedScenario, Scenario, load

#: A quick run measures a quarter of the time, in five replications at most.
QUICK_DURATION = 0.25
QUICK_REPLICATIONS = 5

#: Where finished runs are kept, below the folder of the output.
STORE = "runs"

Changes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """How items are to be made. `seed` and `replications` replace those of the scenarios.

    `threads` is how many replications run at a time, and changes no number.
    """

    quick: bool = False
    seed: int | None = None
    replications: int | None = None
    threads: int | None = None


@dataclass
class Bench:
    """Scenarios and simulations for the items of one paper.

    `folder` holds the paper's scenario files, `store` the finished runs. `used` gathers, for each
    file, the keys that were varied and the values that they took: what the page shows.
    """

    folder: Path
    store: Path
    settings: Settings
    on_run: Callable[[float], None] | None = None
    used: dict[str, dict[str, list[Any]]] = field(default_factory=dict)

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
        quick run the measured time is a quarter and replications are five at most, or what `quick`
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
        return scenario.with_run(seed=self.settings.seed, replications=self.settings.replications)

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
        key = key_of("packets", transfer_times, scenario.to_json())

        def run() -> Any:
            result = run_packets(scenario, threads=self.settings.threads, progress=self.on_run)
            if result.simulation.stopped == "interrupted":
                raise KeyboardInterrupt
            return _simulation_dict(result.simulation, transfer_times=transfer_times)

        return _simulation(self.remember(key, run))

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
        `interval_s`, and gives plain JSON. Only that is kept: it is made again when the module of
        `reduce` changes. Errors as `simulate`.
        """
        scenario = self.scenario(name, changes, quick)
        code = Path(inspect.getfile(reduce)).read_text(encoding="utf-8")
        key = key_of("trace", reduce.__name__, code, interval_s, scenario.to_json())

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

        return self.remember(key, run)

    def remember(self, key: str, compute: Callable[[], Any]) -> Any:
        """What `compute` gives (plain JSON), from the store if it was computed before.

        `key` must name everything that the answer depends on; `key_of` makes one.
        """
        name = f"{key}.json.gz"
        file = self.store / name
        try:
            return json.loads(gzip.decompress(file.read_bytes()))
        except (FileNotFoundError, EOFError, ValueError, gzip.BadGzipFile):
            # Not there, or damaged by something else than us: made again.
            pass
        except OSError as error:
            raise OutputError(f"cannot read {file}: {error.strerror or error}") from error
        answer = compute()
        prepare(self.store)
        # No time of day inside, so that equal answers are equal bytes.
        write_files(
            self.store, {name: gzip.compress(json.dumps(answer, default=list).encode(), mtime=0)}
        )
        return answer


def key_of(kind: str, *parts: object) -> str:
    """A key for `Bench.remember`: the hash of what is computed and of all that it depends on.

    The compiled core is always one of those; `parts` are plain JSON.
    """
    return hashlib.sha256(json.dumps([core_digest(), kind, *parts]).encode()).hexdigest()


def _quick_run(scenario: Scenario) -> Changes:
    run = scenario.run
    assert run.replications is not None, "the papers' scenarios say how many"
    return {
        "run.duration": f"{round(QUICK_DURATION * run.duration_ns)} ns",
        "run.replications": min(run.replications, QUICK_REPLICATIONS),
    }


@cache
def core_digest() -> str:
    """SHA-256 of the compiled core: runs of another core are not taken from the store."""
    from airtcp import _core

    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()


def _simulation_dict(simulation: Simulation, *, transfer_times: bool) -> dict[str, Any]:
    return {
        "confidence": simulation.confidence,
        "simulated_s": simulation.simulated_s,
        "stopped": simulation.stopped,
        "answers": [run.answer for run in simulation.runs],
        "transfer_times": [
            base64.b64encode(run.transfer_times_s.astype("<f8").tobytes()).decode()
            if transfer_times
            else ""
            for run in simulation.runs
        ],
    }


def _simulation(kept: Mapping[str, Any]) -> Simulation:
    import numpy as np

    runs = [
        Replication(index, answer, np.frombuffer(base64.b64decode(times), dtype="<f8"))
        for index, (answer, times) in enumerate(
            zip(kept["answers"], kept["transfer_times"], strict=True)
        )
    ]
    return Simulation.gather(
        runs,
        confidence=kept["confidence"],
        simulated_s=kept["simulated_s"],
        wall_s=0.0,
        cpu_s=0.0,
        stopped=kept["stopped"],
    )
