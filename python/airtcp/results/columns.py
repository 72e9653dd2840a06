"""Tables as files, CSV or Parquet by the ending of their name.

Knows columns, how CSV says them and how PyArrow, which not everybody has, is handed them for
Parquet. Does not know what stands in a table.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Self

import numpy as np

from airtcp.exceptions import OutputError
from airtcp.extras import how_to_get, is_installed, needed

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

#: The endings of a file that is a table.
ENDINGS: Final = (".parquet", ".csv")
#: The cells of a table that is read: 2 GB of numbers.
_MOST_CELLS: Final = 250_000_000
#: The kinds of columns, by the names that Arrow has for them: int32, int64, double, string, bool.
Kinds = Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The cells of a column: their values, and which of them are empty (None: none is)."""

    values: NDArray[Any]
    empty: NDArray[np.bool_] | None = None

    @classmethod
    def natural(cls, values: NDArray[np.int64]) -> Column:
        """Take integers of which those below 0 stand for empty cells."""
        return cls(values, values < 0)

    @classmethod
    def named(cls, names: Sequence[str], index: NDArray[np.int64]) -> Column:
        """Take texts by their index among a few names; below 0 is an empty cell."""
        return cls(np.array([*names, ""], dtype=object)[index], index < 0)

    @classmethod
    def absent(cls, count: int, kind: str) -> Column:
        """Make a column of empty cells."""
        values = np.full(count, "", object) if kind == "string" else np.zeros(count, np.int64)
        return cls(values, np.ones(count, dtype=np.bool_))

    @classmethod
    def joined(cls, parts: Sequence[Column]) -> Column:
        """Put columns one below the other."""
        empty = [
            np.zeros(len(part.values), np.bool_) if part.empty is None else part.empty
            for part in parts
        ]
        return cls(np.concatenate([part.values for part in parts]), np.concatenate(empty))

    def take(self, order: NDArray[np.intp]) -> Column:
        """Put the cells into an order."""
        return Column(self.values[order], None if self.empty is None else self.empty[order])


Columns = Mapping[str, Column]


def check_ending(path: Path, what: str) -> None:
    """See that a table can be written under this name; `what` is written, such as "a trace".

    Raises OutputError for another ending, and for Parquet where there is no PyArrow.
    """
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(f"{path}: the name of {what} must end in {' or '.join(ENDINGS)}")
    if path.suffix.lower() == ".parquet" and not is_installed("pyarrow"):
        allowed = how_to_get("pyarrow", "sweeps", "Parquet")
        raise OutputError(f"{path}: {allowed}, or a name that ends in .csv")


def refuse_large(file: Path) -> None:
    """Refuse a Parquet file whose cells do not fit into memory: a few bytes may stand for many.

    Raises OSError (EFBIG), and as `pyarrow.parquet.read_metadata`.
    """
    from pyarrow import parquet

    about = parquet.read_metadata(file)
    if about.num_rows * about.num_columns > _MOST_CELLS:
        raise OSError(errno.EFBIG, f"more than {_MOST_CELLS:.0e} cells")


def arrow(kinds: Kinds, columns: Columns) -> pa.Table:
    """Hand a table to Arrow. Raises QuestionError if there is no PyArrow."""
    pa = needed("pyarrow", "sweeps", "an Arrow table")
    fields = schema(kinds)
    cells = [_cells(pa, columns[field.name]).cast(field.type) for field in fields]
    return pa.table(cells, schema=fields)


def writer(ending: str, file: BinaryIO, kinds: Kinds) -> CsvWriter | ParquetWriter:
    """A writer of tables that follow one another, a context manager."""
    return (ParquetWriter if ending.lower() == ".parquet" else CsvWriter)(file, kinds)


class CsvWriter:
    """Writes tables as CSV: texts in quotation marks, numbers so that none of them is rounded."""

    def __init__(self, file: BinaryIO, kinds: Kinds) -> None:
        self._file = file
        self._kinds = kinds
        self._file.write(f"{','.join(map(_quoted, kinds))}\n".encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: Any) -> None:
        """Leave the file to its owner."""

    def write(self, columns: Columns) -> None:
        """Append rows. Raises OSError."""
        texts = [_texts(columns[name], kind) for name, kind in self._kinds.items()]
        rows = "\n".join(map(",".join, zip(*texts, strict=True)))
        if rows:
            self._file.write(f"{rows}\n".encode())


class ParquetWriter:
    """Writes tables as Parquet, by PyArrow."""

    def __init__(self, file: BinaryIO, kinds: Kinds) -> None:
        from pyarrow import parquet

        self._kinds = kinds
        self._writer = parquet.ParquetWriter(file, schema(kinds), compression="zstd")

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def __exit__(self, *why: Any) -> None:
        """Write the end of the file, without which it is no Parquet."""
        self._writer.__exit__(*why)

    def write(self, columns: Columns) -> None:
        """Append rows. Raises OSError."""
        self._writer.write_table(arrow(self._kinds, columns))


def schema(kinds: Kinds) -> pa.Schema:
    """The columns as Arrow has them."""
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in kinds.items()])


def _cells(pa: Any, column: Column) -> pa.Array:
    """The cells of a column as Arrow has them; texts, of which there are few, by their number."""
    if column.values.dtype.kind not in "OU":
        return pa.array(column.values, mask=column.empty)
    known = dict.fromkeys(column.values.tolist())
    number = {text: at for at, text in enumerate(known)}
    index = np.array([number[text] for text in column.values.tolist()], dtype=np.int64)
    return pa.array(list(known), pa.string()).take(pa.array(index, mask=column.empty))


def _texts(column: Column, kind: str) -> list[str]:
    """The cells of a column as CSV says them."""
    values: list[Any] = column.values.tolist()
    if kind == "string":
        quoted = {one: _quoted(one) for one in set(values)}
        texts = [quoted[one] for one in values]
    elif kind == "bool":
        texts = ["true" if one else "false" for one in values]
    else:
        texts = list(map(repr, values))
    if column.empty is None or not column.empty.any():
        return texts
    return ["" if empty else text for text, empty in zip(texts, column.empty.tolist(), strict=True)]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
