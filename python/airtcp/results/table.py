"""A table of results on disk, with one row per replication of each point.

    store.json              describes the table, and lists the files that belong to it
    points-N.parquet        the points: `point` (scenario hash), a column for each axis
    rows-N.parquet          the rows: `point`, `replication`, a column for each metric, `seed`,
                            `version` and `core` (of airtcp, of the compiled core)
    lock                    held by the writing process

Each file is written to a temporary name and renamed, and belongs to the table once store.json lists
it. store.json is also replaced by renaming, so a process that dies leaves a consistent table. Point
and replication identify a row uniquely. A point with several names (two steps of an axis with the
same scenario) is simulated once and shown under each name.

`airtcp.sweep` produces the rows, and `airtcp.results.open` reads a table.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

from airtcp.exceptions import OutputError
from airtcp.extras import needed
from airtcp.files import aside, prepare, read_text

if TYPE_CHECKING:
    import pyarrow as pa

#: The version of store.json and the columns. Increase it for changes that older versions cannot
#: read.
FORMAT: Final = 1
_CONTENTS: Final = "store.json"
_MOST_BYTES: Final = 2**28
_OURS: Final = re.compile(
    r"(rows|points)-\d+\.parquet|\.(rows-\d+\.parquet|points-\d+\.parquet|store\.json)\.\d+"
)
#: Other files of airtcp in the folder: the lock, and the file of `airtcp.sweep.decided`.
_BESIDE: Final = ("lock", "precision.json")
#: Columns that are neither axes nor metrics.
_FIXED: Final = ("point", "replication", "seed", "version", "core")
#: If there are more files of rows than this, they are merged during the sweep.
_MOST_FILES: Final = 40
#: This many written rows are kept in memory, so that merging files need not read them again: 60 MB
#: with all metrics.
_MOST_HELD: Final = 100_000


@dataclass(frozen=True, slots=True)
class AxisColumn:
    """A column of an axis: its `name`, the `axis` it belongs to, its unit ("" for plain values)."""

    name: str
    axis: str
    unit: str = ""


@dataclass(frozen=True)
class Contents:
    """The contents of a table, as in store.json.

    `version` and `core` made the rows. `base` is the resolved form of the scenario that was varied,
    and `next` the number of the next file.
    """

    version: str
    core: str
    axes: tuple[AxisColumn, ...]
    metrics: tuple[str, ...]
    confidence: float
    base: str
    points: str | None = None
    rows: tuple[str, ...] = ()
    next: int = 0
    format: int = FORMAT

    def to_json(self) -> str:
        """Return the text of store.json."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Contents | None:
        """Read store.json of a folder; None if it is not a table. Raises OutputError."""
        file = folder / _CONTENTS
        try:
            data = json.loads(read_text(file, _MOST_BYTES))
            if data["format"] != FORMAT:
                raise OutputError(
                    f"{folder} is a store of format {data['format']}, made by airtcp "
                    f"{data.get('version', '?')}; this version reads format {FORMAT}; allowed: "
                    "the version that made it, or another directory"
                )
            data["axes"] = tuple(AxisColumn(**column) for column in data["axes"])
            data["metrics"], data["rows"] = tuple(data["metrics"]), tuple(data["rows"])
            return cls(**data)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise OutputError(f"cannot read {file}: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(
                f"{file}: is damaged, or not from airtcp; allowed: the store of a sweep, or an "
                "empty directory"
            ) from error


@dataclass(frozen=True)
class TableFiles:
    """Reads the files of a table."""

    folder: Path
    contents: Contents

    def rows(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows, or some of their columns. Raises OutputError."""
        import pyarrow as pa

        schema = _row_schema(self.contents.metrics)
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        tables = [_read(self.folder / name, schema) for name in self.contents.rows]
        return pa.concat_tables(tables) if tables else schema.empty_table()

    def points(self) -> pa.Table:
        """Return the points with their axis columns. Raises OutputError."""
        import pyarrow as pa

        if self.contents.points is None:
            columns = [column.name for column in self.contents.axes]
            return pa.table({name: pa.nulls(0, pa.string()) for name in ("point", *columns)})
        return _read(self.folder / self.contents.points, None)


class Writer:
    """A table open for writing. `Writer.open` locks it."""

    def __init__(self, folder: Path, contents: Contents) -> None:
        self.folder = folder
        self.contents = contents
        #: The contents of some of the files of rows.
        self._held: dict[str, pa.Table] = {}

    @classmethod
    @contextmanager
    def open(cls, folder: Path, about: Contents) -> Iterator[Self]:
        """Open or create a table in `folder` with the description `about`.

        An existing table keeps its axes and metrics in addition to those of `about`.

        Raises OutputError if it cannot be written, if another process is writing it, or if it has
        rows of another version or without some of the metrics; QuestionError if there is no
        PyArrow.
        """
        needed("pyarrow", "sweeps", "the store of a sweep")
        prepare(folder)
        with locked(folder / "lock", folder):
            there = Contents.read(folder)
            writer = cls(folder, about if there is None else _extended(folder, there, about))
            writer._remove_leftovers()
            yield writer

    def have(self) -> dict[str, set[int]]:
        """Return the replications in the table, by point."""
        rows = TableFiles(self.folder, self.contents).rows(("point", "replication"))
        found: dict[str, set[int]] = {}
        pairs = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        for point, replication in pairs:
            found.setdefault(point, set()).add(replication)
        return found

    def files(self) -> TableFiles:
        """Return the current files."""
        return TableFiles(self.folder, self.contents)

    def add_points(self, points: pa.Table) -> None:
        """Add points: the column `point`, and one for each axis column of the sweep.

        Raises OutputError.
        """
        there = self.files().points()
        merged = _merged(self.folder, there, points)
        if merged.equals(there):
            return
        name = self._next("points")
        _write(self.folder / name, merged)
        old = self.contents.points
        self._commit(replace(self.contents, points=name, next=self.contents.next + 1))
        if old is not None:
            self._remove([old])

    def add(self, rows: Mapping[str, Sequence[Any]]) -> None:
        """Add rows, which are on disk when this returns. Raises OutputError.

        `rows` has a column for each metric, and `point`, `replication` and `seed`.
        """
        import pyarrow as pa

        count = len(rows["point"])
        same = {"version": [self.contents.version] * count, "core": [self.contents.core] * count}
        name = self._next("rows")
        table = pa.table({**rows, **same}, schema=_row_schema(self.contents.metrics))
        _write(self.folder / name, table)
        if count + sum(map(len, self._held.values())) <= _MOST_HELD:
            self._held[name] = table
        files = (*self.contents.rows, name)
        self._commit(replace(self.contents, rows=files, next=self.contents.next + 1))
        if len(files) > _MOST_FILES:
            self.compact()

    def compact(self) -> None:
        """Merge the files of rows into one, sorted by point. Raises OutputError."""
        old = self.contents.rows
        if len(old) < 2:
            return
        import pyarrow as pa

        schema, held = _row_schema(self.contents.metrics), self._held
        self._held = {}
        tables = [held[name] if name in held else _read(self.folder / name, schema) for name in old]
        order = [("point", "ascending"), ("replication", "ascending")]
        table = pa.concat_tables(tables).sort_by(order)
        name = self._next("rows")
        _write(self.folder / name, table)
        self._commit(replace(self.contents, rows=(name,), next=self.contents.next + 1))
        self._remove(old)

    def _next(self, kind: str) -> str:
        return f"{kind}-{self.contents.next:06d}.parquet"

    def _commit(self, contents: Contents) -> None:
        with aside(self.folder / _CONTENTS) as beside:
            _write_through(beside, contents.to_json().encode())
        self.contents = contents

    def _remove(self, names: Sequence[str]) -> None:
        for name in names:
            # A reader may hold it open; the next writer then removes it.
            with suppress(OSError):
                (self.folder / name).unlink()

    def _remove_leftovers(self) -> None:
        """Remove leftovers of a dead process: files that store.json does not list."""
        named = {*self.contents.rows, self.contents.points}
        found = [path.name for path in self.folder.iterdir() if _OURS.fullmatch(path.name)]
        self._remove([name for name in found if name not in named])


def check_own(folder: Path) -> None:
    """Check that a folder without a table has only files of airtcp. Raises OutputError."""
    if not folder.is_dir() or (folder / _CONTENTS).exists():
        return
    names = sorted(path.name for path in folder.iterdir())
    found = [name for name in names if name not in _BESIDE and not _OURS.fullmatch(name)]
    if found:
        raise OutputError(
            f"{folder} has other files, such as {found[0]}; allowed: a new or empty "
            "directory, or the store of a sweep"
        )


def forget(folder: Path) -> None:
    """Reset the table of a folder; the next writer removes its files.

    Raises OutputError.
    """
    try:
        (folder / _CONTENTS).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot remove {folder / _CONTENTS}: {error.strerror}") from error


def _extended(folder: Path, there: Contents, about: Contents) -> Contents:
    """Return the contents of a table, extended for `about`. Raises OutputError."""
    if there.version != about.version and there.rows:
        raise OutputError(
            f"{folder} has results of airtcp {there.version}, and this is {about.version}: a "
            "store holds results of one version; allowed: that version, or another directory"
        )
    missing = [name for name in about.metrics if name not in there.metrics]
    if missing and there.rows:
        raise OutputError(
            f"{folder} does not have {', '.join(missing)}; allowed: its metrics "
            f"({', '.join(there.metrics)}), or another directory"
        )
    units = {column.name: column.unit for column in there.axes}
    for column in about.axes:
        if units.get(column.name, column.unit) != column.unit:
            raise OutputError(
                f"{folder} has {column.name} in {units[column.name] or 'no unit'}, and this sweep "
                f"in {column.unit or 'no unit'}; allowed: only one of them, or another directory"
            )
    known = {column.name for column in about.axes}
    axes = (*about.axes, *(column for column in there.axes if column.name not in known))
    metrics = there.metrics if there.rows else about.metrics
    # Ignore files that somebody has removed; they are created again.
    rows = tuple(name for name in there.rows if (folder / name).exists())
    points = there.points if there.points and (folder / there.points).exists() else None
    return replace(about, axes=axes, metrics=metrics, points=points, rows=rows, next=there.next)


def _merged(folder: Path, old: pa.Table, new: pa.Table) -> pa.Table:
    """Return the points of a table together with new ones.

    A point in both gets the columns of both, if they do not contradict each other.
    """
    import pyarrow as pa

    try:
        if len(old) == 0:
            return new
        shared = [name for name in old.column_names if name in new.column_names]
        if set(shared) < {*old.column_names, *new.column_names}:
            old, new = _with_each_others_columns(old, new, shared)
        both = pa.concat_tables([new, old], promote_options="permissive")
        # Keep the first of equal rows, in order.
        numbered = both.append_column("_at", pa.array(range(len(both))))
        kept = numbered.group_by(both.column_names).aggregate([("_at", "min")])
        at = kept.column("_at_min").combine_chunks().sort()
        return both.take(at)
    except pa.ArrowException as error:
        raise OutputError(
            f"the columns of {folder} and of this sweep differ ({error}); allowed: values of "
            "the same kind, or another directory"
        ) from error


def _with_each_others_columns(
    old: pa.Table, new: pa.Table, shared: Sequence[str]
) -> tuple[pa.Table, pa.Table]:
    """Return the old points, and the new points with the additional columns of the old ones."""
    import pyarrow as pa

    added = [name for name in old.column_names if name not in shared]
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in old.to_pylist():
        known[tuple(row[name] for name in shared)] = row
    found = [known.get(tuple(row[name] for name in shared)) for row in new.to_pylist()]
    for name in added:
        values = [None if row is None else row[name] for row in found]
        new = new.append_column(name, pa.array(values, type=old.schema.field(name).type))
    taken = {id(row) for row in found}
    mask = [id(row) not in taken for row in known.values()]
    rows = [row for row, keep in zip(known.values(), mask, strict=True) if keep]
    return pa.Table.from_pylist(rows, schema=old.schema), new


def _row_schema(metrics: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("point", pa.string()),
            ("replication", pa.int32()),
            ("seed", pa.int64()),
            *((name, pa.float64()) for name in metrics),
            ("version", pa.string()),
            ("core", pa.string()),
        ]
    )


def _read(file: Path, schema: pa.Schema | None) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    from airtcp.results.columns import refuse_large

    try:
        refuse_large(file)
        columns = None if schema is None else schema.names
        table = parquet.read_table(file, columns=columns, partitioning=None)
        return table if schema is None else table.cast(schema)
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise OutputError(
            f"{file} is damaged ({error}); remove it, and the sweep simulates its points again"
        ) from error


def _write(file: Path, table: pa.Table) -> None:
    """Write a Parquet file to a temporary name and rename it. Raises OutputError."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    with aside(file) as beside:
        _write_through(beside, sink.getvalue())


def _write_through(file: Path, content: Any) -> None:
    """Write a file, and flush it to the disk before it is renamed."""
    with file.open("wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


@contextmanager
def locked(file: Path, what: Path) -> Iterator[None]:
    """Hold `file` during the block. It is released even if the process dies.

    Raises OutputError if another process holds it, with that process and `what` it works on.
    """
    try:
        # Not "w", which would erase the name of the process that holds the lock.
        opened = file.open("a+", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write to {file}: {error.strerror or error}") from error
    with opened:
        if not _take(opened):
            opened.seek(0)
            who = opened.read(200).strip() or "another process"
            raise OutputError(
                f"{what} is being written by {who}; allowed: wait for its end, or another directory"
            )
        # On a full disk the name of the process is missing, but the lock still works.
        with suppress(OSError):
            opened.truncate(0)
            # Unbuffered: closing would flush the buffer again, and fail again.
            os.write(opened.fileno(), f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[str]) -> bool:
        try:
            # Lock a byte far behind the text, so that others can read the text.
            file.seek(2**20)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
