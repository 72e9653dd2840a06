"""Table of the items' runs, which `airtcp results out/reproduce/runs` reads.

It has a row for each replication of each simulated scenario, with the scenario's file and varied
keys. Sweeps write the same table (`airtcp.results.table`). Single flows and transfers have no
column; they are only in `store`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp import __version__
from airtcp.exceptions import OutputError
from airtcp.extras import is_installed
from airtcp.files import prepare
from airtcp.results.provenance import core_digest
from airtcp.results.table import AxisColumn, Contents, Writer, forget
from airtcp.run.numbers import metric_names

if TYPE_CHECKING:
    from airtcp.results import Simulation
    from airtcp.scenario import ResolvedScenario

#: Processes that reproduce into one folder write in turns, each for a fraction of a second.
_TRIES: Final = 100
_WAIT_S: Final = 0.1


@dataclass(frozen=True)
class SimulatedPoint:
    """A simulated scenario.

    `file` is the scenario's file without its ending, `changes` the varied keys in written form.
    `quick` says whether runs were short. `rows` has the metrics of each replication, by name.
    """

    file: str
    changes: Mapping[str, Any]
    quick: bool
    point: str
    seed: int
    rows: tuple[Mapping[str, float | None], ...]

    @classmethod
    def of(
        cls,
        file: str,
        changes: Mapping[str, Any],
        quick: bool,
        scenario: ResolvedScenario,
        simulation: Simulation,
    ) -> SimulatedPoint:
        """Return what is stored of a simulation of `scenario`."""
        rows = tuple(run.answer["metrics"] for run in simulation.runs)
        return cls(file, dict(changes), quick, scenario.hash(), scenario.run.seed, rows)

    def names(self, paper: str) -> dict[str, str]:
        """Return the columns that identify the point; values that are not text become JSON."""
        told = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in self.changes.items()
        }
        how = "quick" if self.quick else "full"
        return {"paper": paper, "scenario": self.file, "length": how, **told}


def keep(folder: Path, paper: str, points: Sequence[SimulatedPoint]) -> None:
    """Make sure that the table of `folder` has rows for these points of a paper.

    A table of another version or core is started anew. Without PyArrow, which reading needs too,
    nothing is written. Raises OutputError if the table cannot be written, or if another process
    holds it for too long.
    """
    if not points or not is_installed("pyarrow"):
        return
    import pyarrow as pa

    named = [{"point": one.point, **one.names(paper)} for one in points]
    columns = list(dict.fromkeys(name for names in named for name in names))
    texts = pa.schema([(name, pa.string()) for name in columns])
    axes = tuple(AxisColumn(name, name) for name in columns if name != "point")
    metrics = metric_names()
    about = Contents(__version__, core_digest()[:16], axes, metrics, 0.95, base="")
    with _opened(folder, about) as writer:
        writer.add_points(pa.Table.from_pylist(named, schema=texts))
        have = writer.have()
        missing = {
            (one.point, replication): (one.seed, row)
            for one in points
            for replication, row in enumerate(one.rows)
            if replication not in have.get(one.point, ())
        }
        if missing:
            rows = [row for _, row in missing.values()]
            writer.add(
                {
                    "point": [point for point, _ in missing],
                    "replication": [replication for _, replication in missing],
                    "seed": [seed for seed, _ in missing.values()],
                    **{name: [row.get(name) for row in rows] for name in metrics},
                }
            )


@contextmanager
def _opened(folder: Path, about: Contents) -> Iterator[Writer]:
    """Open the table for writing. Raises OutputError if others hold it for too long."""
    prepare(folder)
    with ExitStack() as stack:
        for left in reversed(range(_TRIES)):
            try:
                if not _fits(folder, about):
                    forget(folder)
                writer = stack.enter_context(Writer.open(folder, about))
                break
            except OutputError:
                if not left:
                    raise
                time.sleep(_WAIT_S)
        yield writer


def _fits(folder: Path, about: Contents) -> bool:
    """Return whether rows of this version and core can be added to the folder's table."""
    try:
        there = Contents.read(folder)
    except OutputError:
        return False
    return there is None or (there.version, there.core) == (about.version, about.core)
