"""Run an SQL query that reads only tables in memory, and that can be interrupted.

DuckDB's settings keep the query from files, extensions and settings.
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

#: Settings of a connection before the query runs: no spilling to disk, no extensions, no files, and
#: a lock on these settings. The order matters.
_SEALED: Final = (
    "temp_directory = ''",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "enable_external_access = false",
    "lock_configuration = true",
)
#: The largest CSV file, in bytes.
_MOST_BYTES: Final = 2**30
_ALLOWED: Final = "allowed: the view results, and files given with --file"
#: The time for an interrupted query to end, and the interval of repeated interrupts: an interrupt
#: between two steps of a query is lost.
_PATIENCE_S: Final = 1.0
_AGAIN_S: Final = 0.1


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """Run a query on the tables of a connection, close the connection, and return the rows.

    The query cannot read or write files, load extensions or change settings. Raises QuestionError
    with DuckDB's message. KeyboardInterrupt ends it; a query that does not react continues in its
    thread until the process ends.
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
        except BaseException as error:  # the waiting thread raises it
            failed.append(error)

    # DuckDB does not reliably distinguish signals from errors; a waiting thread does.
    thread = threading.Thread(target=ask, name="airtcp query", daemon=True)
    thread.start()
    try:
        # Poll, because a signal delivered to another thread does not wake this one.
        while thread.is_alive():
            thread.join(_AGAIN_S)
    except KeyboardInterrupt:
        for _ in range(round(_PATIENCE_S / _AGAIN_S)):
            # A query that has ended in the meantime has closed the connection.
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
    """Return the tables in CSV and Parquet files, by the given names.

    Raises QuestionError for a file of another type, or one that cannot be read.
    """
    return {str(file): _read(Path(file)) for file in files}


def _read(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv, parquet

    suffix = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if suffix not in ("csv", "parquet"):
        raise QuestionError(f"--file: {path} is not a table; allowed: .csv, .csv.gz, .parquet")
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
        raise QuestionError(f"--file: {path}: file not found") from error
    except (OSError, pa.ArrowException) as error:
        said = " ".join((getattr(error, "strerror", None) or str(error)).split())
        raise QuestionError(f"--file: {path} cannot be read as .{suffix}: {said}") from error


def as_file(table: pa.Table, suffix: str) -> bytes:
    """Return a table as the bytes of a .csv or .parquet file.

    Raises QuestionError if the format cannot represent it, such as Parquet with two columns of the
    same name.
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
