"""Single transfers: flow, start, size and duration of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airtcp.results.columns import Column, Columns, arrow, writer

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from airtcp.results.objects import Replication

#: The columns of a file of transfers, with their types.
KINDS: Final = {
    "replication": "int32",
    "flow": "string",
    "start_s": "double",
    "size_bytes": "int64",
    "time_s": "double",
}


@dataclass(frozen=True, slots=True, eq=False)
class Transfers:
    """The transfers of one replication that ended in the measured time, in the order of their end.

    A transfer ends with its last byte at the receiver. `flow` is `name/index`. `start_s` counts
    from the start of the run, warm-up included. `size_bytes` is payload, and `time_s` the same as
    `transfer_times_s` of the replication. Each object of a web page is a transfer.
    """

    flow: NDArray[np.str_]
    start_s: NDArray[np.float64]
    size_bytes: NDArray[np.int64]
    time_s: NDArray[np.float64]

    @classmethod
    def of_core(
        cls,
        columns: Mapping[str, bytes],
        answer: Mapping[str, Any],
        times_s: NDArray[np.float64],
    ) -> Transfers:
        """Create transfers from the core's columns; `answer` belongs to the same replication."""
        known = {name: np.frombuffer(column, dtype="<i8") for name, column in columns.items()}
        names = np.array([flow["name"] for flow in answer["flows"]], dtype=np.str_)
        return cls(names[known["flow"]], known["began_ns"] / 1e9, known["bytes"], times_s)

    def __len__(self) -> int:
        return len(self.time_s)


def columns(runs: Sequence[Replication]) -> Columns:
    """Return the transfers of replications as one table, in the order of their index.

    Raises ValueError if they were not kept.
    """
    parts = [run.transfers for run in runs if run.transfers is not None]
    if len(parts) < len(runs):
        raise ValueError("the transfers were not kept; airtcp.simulate(..., transfers=True) does")
    index = np.repeat([run.index for run in runs], [len(part) for part in parts])
    values = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in KINDS
        if name != "replication"
    }
    return {name: Column(cells) for name, cells in ({"replication": index} | values).items()}


def table(runs: Sequence[Replication]) -> pa.Table:
    """Return the transfers of replications as an Arrow table.

    Raises ValueError if they were not kept, QuestionError if there is no PyArrow.
    """
    return arrow(KINDS, columns(runs))


def write(runs: Sequence[Replication], path: Path, ending: str) -> None:
    """Write the transfers of replications to a file. Raises OSError."""
    with path.open("wb") as file, writer(ending, file, KINDS) as rows:
        rows.write(columns(runs))
