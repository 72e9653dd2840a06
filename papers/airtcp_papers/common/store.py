"""Finished work on disk: one file per result, named by the hash of its inputs.

Equal simulations are shared, and interrupted work can be resumed. A result depends on its scenario
(with seed and replications), on the compiled core, and on the Python code that made it, without
comments and docstrings.
"""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import json
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import airtcp
from airtcp.exceptions import OutputError
from airtcp.files import prepare, unpacked, write_files
from airtcp.results.objects import Replication, Simulation
from airtcp.results.provenance import core_digest

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_ROOT = Path(airtcp.__file__).parent
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

        # The modules that determine the number of replications and the warm-up.
        code = code_digest("airtcp.run.simulate", follow=("run", "stats"))
        key = key_of("packets", code, transfer_times, scenario.hash())
        return _simulation(self.answer(key, compute))


def key_of(kind: str, *parts: object) -> str:
    """Return a key for `Store.answer`: the hash of the kind of result and all its inputs.

    The compiled core is always one of the inputs; `parts` are plain JSON.
    """
    return hashlib.sha256(json.dumps([core_digest(), kind, *parts]).encode()).hexdigest()


@cache
def code_digest(module: str, *, follow: tuple[str, ...] | None = None) -> str:
    """Return the SHA-256 of a module and of what it imports from airtcp and its own package.

    Only imports from the rooms of a package in `follow` (such as "results") are included, or all if
    it is None. Comments, docstrings and formatting do not count.
    """
    digest = hashlib.sha256()
    for name in sorted(_reached(module, follow)):
        digest.update(f"{name}\n{_meaning(_file(name))}\n".encode())
    return digest.hexdigest()


def _reached(module: str, follow: Collection[str] | None) -> set[str]:
    """Return the module and everything it imports directly or indirectly, also inside functions."""
    tops = {"airtcp", module.partition(".")[0]}
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += (
                other
                for other in _imports(name, tops)
                if follow is None or other.split(".")[1] in follow
            )
    return reached


def _imports(module: str, tops: Collection[str]) -> Iterator[str]:
    """Yield the modules of the packages `tops` that a module imports, with repetitions.

    A package counts if a name is imported from it that is not a module; the package that contains
    an imported module does not count.
    """
    file = _file(module)
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            inner = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if _is_module(name, tops) else base for name in inner]
        else:
            continue
        yield from (name for name in names if "." in name and _is_module(name, tops))


def _is_module(name: str, tops: Collection[str]) -> bool:
    return name.split(".")[0] in tops and _file(name).exists()


def _file(module: str) -> Path:
    top, *rest = module.split(".")
    if top == "airtcp":
        root = _ROOT
    elif module in sys.modules:
        return Path(sys.modules[module].__file__ or "")
    else:
        root = Path(getattr(sys.modules.get(top), "__file__", None) or "").parent
    path = root.joinpath(*rest)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _meaning(file: Path) -> str:
    """Return the code of a file in a form independent of comments, docstrings and formatting."""
    return ast.dump(_WithoutWords().visit(ast.parse(file.read_text(encoding="utf-8"))))


class _WithoutWords(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """Leave out statements that consist only of a text: docstrings."""
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node


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
