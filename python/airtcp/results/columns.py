"""Tables as files: CSV or Parquet, depending on the file name.

Converts columns to CSV, and to Arrow for Parquet if PyArrow is installed.
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

#: The file name endings of a table.
ENDINGS: Final = (".parquet", ".csv")
#: The most cells of a table to read: 2 GB of numbers.
_MOST_CELLS: Final = 250_000_000
#: The types of columns, by Arrow's names: int32, int64, double, string, bool.
Kinds = Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The cells of a column: their values, and a mask of empty cells (None: no cell is empty)."""

    values: NDArray[Any]
    empty: NDArray[np.bool_] | None = None

    @classmethod
    def natural(cls, values: NDArray[np.int64]) -> Column:
        """Create a column of integers in which negative values mark empty cells."""
        return cls(values, values < 0)

    @classmethod
    def named(cls, names: Sequence[str], index: NDArray[np.int64]) -> Column:
        """Create a column of texts from indices into `names`; negative ones are empty cells."""
        return cls(np.array([*names, ""], dtype=object)[index], index < 0)

    @classmethod
    def absent(cls, count: int, kind: str) -> Column:
        """Create a column of empty cells."""
        values = np.full(count, "", object) if kind == "string" else np.zeros(count, np.int64)
        return cls(values, np.ones(count, dtype=np.bool_))

    @classmethod
    def joined(cls, parts: Sequence[Column]) -> Column:
        """Concatenate columns."""
        empty = [
            np.zeros(len(part.values), np.bool_) if part.empty is None else part.empty
            for part in parts
        ]
        return cls(np.concatenate([part.values for part in parts]), np.concatenate(empty))

    def take(self, order: NDArray[np.intp]) -> Column:
        """Return the cells in another order."""
        return Column(self.values[order], None if self.empty is None else self.empty[order])


Columns = Mapping[str, Column]


def check_ending(path: Path, what: str) -> None:
    """Check that a table can be written under this name; `what` describes it, as in "a trace".

    Raises OutputError for another ending, and for Parquet without PyArrow.
    """
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(f"{path}: the name of {what} must end in {' or '.join(ENDINGS)}")
    if path.suffix.lower() == ".parquet" and not is_installed("pyarrow"):
        allowed = how_to_get("pyarrow", "sweeps", "Parquet")
        raise OutputError(f"{path}: {allowed}, or a name that ends in .csv")


def refuse_large(file: Path) -> None:
    """Reject a Parquet file whose cells do not fit into memory: few bytes may expand to many.

    Raises OSError (EFBIG), and the errors of `pyarrow.parquet.read_metadata`.
    """
    from pyarrow import parquet

    about = parquet.read_metadata(file)
    if about.num_rows * about.num_columns > _MOST_CELLS:
        raise OSError(errno.EFBIG, f"more than {_MOST_CELLS:.0e} cells")


def arrow(kinds: Kinds, columns: Columns) -> pa.Table:
    """Return the table as an Arrow table. Raises QuestionError if there is no PyArrow."""
    pa = needed("pyarrow", "sweeps", "an Arrow table")
    fields = schema(kinds)
    cells = [_cells(pa, columns[field.name]).cast(field.type) for field in fields]
    return pa.table(cells, schema=fields)


def writer(ending: str, file: BinaryIO, kinds: Kinds) -> CsvWriter | ParquetWriter:
    """Return a writer for consecutive tables, as a context manager."""
    return (ParquetWriter if ending.lower() == ".parquet" else CsvWriter)(file, kinds)


class CsvWriter:
    """Writes tables as CSV: texts in quotation marks, numbers without rounding."""

    def __init__(self, file: BinaryIO, kinds: Kinds) -> None:
        self._file = file
        self._kinds = kinds
        self._file.write(f"{','.join(map(_quoted, kinds))}\n".encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: Any) -> None:
        """Leave the file open for its owner."""

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
        """Write the footer, without which the file is not valid Parquet."""
        self._writer.__exit__(*why)

    def write(self, columns: Columns) -> None:
        """Append rows. Raises OSError."""
        self._writer.write_table(arrow(self._kinds, columns))


def schema(kinds: Kinds) -> pa.Schema:
    """Return the Arrow schema of the columns."""
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in kinds.items()])


def _cells(pa: Any, column: Column) -> pa.Array:
    """Return a column as an Arrow array. The few distinct texts are encoded by index."""
    if column.values.dtype.kind not in "OU":
        return pa.array(column.values, mask=column.empty)
    known = dict.fromkeys(column.values.tolist())
    number = {text: at for at, text in enumerate(known)}
    index = np.array([number[text] for text in column.values.tolist()], dtype=np.int64)
    return pa.array(list(known), pa.string()).take(pa.array(index, mask=column.empty))


def _texts(column: Column, kind: str) -> list[str]:
    """Return the cells of a column as CSV texts."""
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
