"""The runs of items as a table: what `airtcp results out/reproduce/runs` is asked about.

A row for each replication of each scenario that an item simulated, beside the file of that scenario
and the keys that were varied, in the table that sweeps write too (`airtcp.results.table`). What has
no column, such as single flows and transfers, is in `airtcp.results.store` alone. Knows scenarios
and rows; neither items nor papers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp._version import __version__
from airtcp.exceptions import OutputError
from airtcp.extras import is_installed
from airtcp.files import prepare
from airtcp.results.store import core_digest
from airtcp.results.table import AxisColumn, Contents, Writer, forget
from airtcp.run.numbers import metric_names

if TYPE_CHECKING:
    from airtcp.results import Simulation
    from airtcp.scenario import ResolvedScenario

#: Two that reproduce into one folder write in turns, each for a part of a second.
_TRIES: Final = 100
_WAIT_S: Final = 0.1


@dataclass(frozen=True)
class SimulatedPoint:
    """A scenario that was simulated.

    `file` is that of the scenario without its ending, `changes` the keys that were varied, in the
    written form; `quick` says whether runs were short; `rows` has the metrics of each
    replication, by name.
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
        """What is kept of a simulation of `scenario`."""
        rows = tuple(run.answer["metrics"] for run in simulation.runs)
        return cls(file, dict(changes), quick, scenario.hash(), scenario.run.seed, rows)

    def names(self, paper: str) -> dict[str, str]:
        """The columns that say what the point is; a value that is no text as JSON."""
        told = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in self.changes.items()
        }
        how = "quick" if self.quick else "full"
        return {"paper": paper, "scenario": self.file, "length": how, **told}


def keep(folder: Path, paper: str, points: Sequence[SimulatedPoint]) -> None:
    """Have rows for these points of a paper in the table of `folder`.

    A table of another version or another core is begun anew. Without PyArrow, which asking the
    table needs, too, there is none. Raises OutputError if it cannot be written, or if another
    process does not let go of it.
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
    """The table, ours to write to. Raises OutputError if others hold it for too long."""
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
    """Whether rows of this version and this core go on with what is in the folder."""
    try:
        there = Contents.read(folder)
    except OutputError:
        return False
    return there is None or (there.version, there.core) == (about.version, about.core)
