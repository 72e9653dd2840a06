"""Finished work on disk: one file per result, named by the hash of its inputs.

Equal simulations are shared, and interrupted work can be resumed. A result depends on its scenario
(with seed and replications), on the compiled core, and on the packages of Python code that made it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airtcp.exceptions import OutputError
from airtcp.files import prepare, unpacked, write_files
from airtcp.results.objects import Replication, Simulation
from airtcp.results.provenance import core_digest

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_MOST_BYTES = 2**30


@dataclass(frozen=True, slots=True)
class Store:
    """The finished work in `folder`, which is created when something is stored."""

    folder: Path

    def answer(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute` (plain JSON), from the store if it was computed before.

        `key` must identify everything that the result depends on; use `key_of`. A damaged file is
        computed again. Raises OutputError if a file cannot be read or written, and the errors of
        `compute`.
        """
        name = f"{key}.json.gz"
        file = self.folder / name
        try:
            return json.loads(unpacked(file, _MOST_BYTES))
        except (FileNotFoundError, EOFError, ValueError, gzip.BadGzipFile, zlib.error):
            # Missing or damaged: compute it again.
            pass
        except OSError as error:
            raise OutputError(f"cannot read {file}: {error.strerror or error}") from error
        answer = compute()
        prepare(self.folder)
        text = json.dumps(answer, default=list)
        # No timestamp inside, so that equal results are equal bytes.
        write_files(self.folder, {name: gzip.compress(text.encode(), mtime=0)})
        return answer

    def simulation(
        self,
        scenario: ResolvedScenario,
        simulate: Callable[[ResolvedScenario], Simulation],
        *,
        transfer_times: bool = False,
    ) -> Simulation:
        """Return the result of `simulate` for the scenario, from the store if available.

        `transfer_times` keeps the times of single transfers. `wall_s` and `cpu_s` are 0, there are
        no traces, and all intervals are of means over replications, because the data for estimates
        is not stored. Raises KeyboardInterrupt if the simulation was interrupted, in which case
        nothing is stored, and the errors of `answer`.
        """

        def compute() -> Any:
            simulation = simulate(scenario)
            if simulation.stopped == "interrupted":
                raise KeyboardInterrupt
            return _kept(simulation, transfer_times=transfer_times)

        # The code that determines the number of replications and the warm-up.
        code = code_digest("airtcp.run", "airtcp.stats")
        key = key_of("packets", code, transfer_times, scenario.hash())
        return _simulation(self.answer(key, compute))


def key_of(kind: str, *parts: object) -> str:
    """Return a key for `Store.answer`: the hash of the kind of result and all its inputs.

    The compiled core is always one of the inputs; `parts` are plain JSON.
    """
    return hashlib.sha256(json.dumps([core_digest(), kind, *parts]).encode()).hexdigest()


@cache
def code_digest(*names: str) -> str:
    """Return the SHA-256 of the Python files of modules and packages, with their subpackages."""
    digest = hashlib.sha256()
    for name in names:
        spec = find_spec(name)
        assert spec is not None, name
        file = Path(spec.origin or "")
        files = sorted(file.parent.rglob("*.py")) if spec.submodule_search_locations else [file]
        for one in files:
            digest.update(f"{name} {one.relative_to(file.parent)}\n".encode())
            digest.update(one.read_bytes())
    return digest.hexdigest()


def _kept(simulation: Simulation, *, transfer_times: bool) -> dict[str, Any]:
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
