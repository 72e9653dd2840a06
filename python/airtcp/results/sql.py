"""A question in SQL that reads tables in memory and nothing else, and that can be interrupted.

Knows DuckDB: what keeps a query from files, extensions and settings, and how one is ended. Does not
know what the tables are about.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import QuestionError
from airtcp.results.columns import refuse_large

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

#: The settings of a connection before it gets the question: no spilling to disk, no extension, no
#: file, and that none of this can be taken back. The order counts.
_SEALED: Final = (
    "temp_directory = ''",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "enable_external_access = false",
    "lock_configuration = true",
)
#: The text of a CSV file.
_MOST_BYTES: Final = 2**30
_ALLOWED: Final = "allowed: to read the view results, and files that are named with --file"
#: The time that a query may take to end that was interrupted, and the time after which it is told
#: so again: an interruption between two of its steps is lost.
_PATIENCE_S: Final = 1.0
_AGAIN_S: Final = 0.1


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """The rows that a query finds in the tables of a connection, which it closes.

    The query can read no file, write none, load no extension and change no setting. Raises
    QuestionError with what DuckDB says against it. KeyboardInterrupt ends it; a query that does not
    listen goes on in its thread until the process ends.
    """
    import duckdb

    for setting in _SEALED:
        connection.execute(f"SET {setting}")
    found: list[pa.Table] = []
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            with connection:
                relation = connection.sql(query)
                found.append(_nothing() if relation is None else relation.to_arrow_table())
        except BaseException as error:  # the thread that waits raises it
            failed.append(error)

    # DuckDB tells a signal from an error neither always nor soon; a thread that waits does.
    thread = threading.Thread(target=ask, name="airtcp query", daemon=True)
    thread.start()
    try:
        # A signal that another thread was given wakes nobody here.
        while thread.is_alive():
            thread.join(_AGAIN_S)
    except KeyboardInterrupt:
        for _ in range(round(_PATIENCE_S / _AGAIN_S)):
            # A query that has ended meanwhile has closed it.
            with suppress(duckdb.ConnectionException):
                connection.interrupt()
            thread.join(_AGAIN_S)
            if not thread.is_alive():
                break
        raise
    if not failed:
        return found[0]
    error = failed[0]
    if not isinstance(error, duckdb.Error):
        raise error
    said = " ".join(str(error).split())
    sealed = isinstance(error, duckdb.PermissionException) or "has been locked" in said
    raise QuestionError(f"--sql: {said}{f'; {_ALLOWED}' if sealed else ''}") from error


def files_as_tables(files: Sequence[str | Path]) -> Mapping[str, pa.Table]:
    """The tables in CSV and Parquet files, by the names of these as they were given.

    Raises QuestionError for a file that is none of both, or cannot be read.
    """
    return {str(file): _read(Path(file)) for file in files}


def _read(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv, parquet

    suffix = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if suffix not in ("csv", "parquet"):
        raise QuestionError(f"--file: {path} is no table; allowed: .csv, .csv.gz, .parquet")
    try:
        if suffix == "parquet":
            refuse_large(path)
            return parquet.read_table(path)
        with pa.input_stream(path, compression="detect") as file:
            text = file.read_buffer(_MOST_BYTES + 1)
        if text.size > _MOST_BYTES:
            raise OSError(errno.EFBIG, f"larger than {_MOST_BYTES // 2**20} MiB")
        return csv.read_csv(pa.BufferReader(text))
    except FileNotFoundError as error:
        raise QuestionError(f"--file: {path}: there is no such file") from error
    except (OSError, pa.ArrowException) as error:
        said = " ".join((getattr(error, "strerror", None) or str(error)).split())
        raise QuestionError(f"--file: {path} cannot be read as .{suffix}: {said}") from error


def as_file(table: pa.Table, suffix: str) -> bytes:
    """The bytes of a file that holds a table, .csv or .parquet.

    Raises QuestionError where the format cannot hold it, as Parquet two columns of one name.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    writer: Any = csv.write_csv if suffix == ".csv" else parquet.write_table
    sink = pa.BufferOutputStream()
    try:
        writer(table, sink)
    except (pa.ArrowException, ValueError) as error:
        said = " ".join(str(error).split())
        raise QuestionError(f"--out: no {suffix} can hold the answer: {said}") from error
    return bytes(sink.getvalue())


def _nothing() -> pa.Table:
    import pyarrow as pa

    return pa.table({})
