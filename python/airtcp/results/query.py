"""Queries on the results of a sweep: SQL by DuckDB, pandas, Polars, xarray.

The table has a row for each replication of each point; `table` stores it on disk.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.conditions import ConditionError, read_measure
from airtcp.exceptions import OutputError, QuestionError
from airtcp.extras import needed
from airtcp.labels import spellings
from airtcp.pictured import figure_of
from airtcp.results.table import AxisColumn, Contents, TableFiles

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow as pa
    import xarray
    from matplotlib.figure import Figure

#: A running sweep may merge its files while they are read, so try again.
_TRIES: Final = 5


@dataclass(frozen=True)
class Results:
    """The results of a sweep.

    The columns are `point` (scenario hash), `replication`, those of the axes (`axes`), `seed`, the
    `metrics`, and the `version` and `core` that made the row. Rows are in the order of the points
    and replications.

    With the `cafe` of `airtcp.load`:

    >>> results = airtcp.sweep(cafe, {"stations.laptop.count": [1, 2]}, to="store")
    >>> results.points, len(results)
    (2, 6)
    >>> results.column("stations")
    'stations.laptop.count'
    >>> results.sql("SELECT max(replication) AS last FROM results").to_pylist()
    [{'last': 2}]
    >>> results.xarray().sizes["stations.laptop.count"]
    2
    """

    folder: Path
    contents: Contents
    table: pa.Table

    def __repr__(self) -> str:
        axes = ", ".join(column.name for column in self.axes)
        return f"<Results of {self.folder}: {len(self)} rows over {axes}>"

    def __len__(self) -> int:
        return len(self.table)

    @property
    def axes(self) -> tuple[AxisColumn, ...]:
        """The columns of the axes, with their units."""
        return self.contents.axes

    @property
    def metrics(self) -> tuple[str, ...]:
        """The columns of the metrics."""
        return self.contents.metrics

    @cached_property
    def points(self) -> int:
        """The number of points with rows."""
        return len(self.table.column("point").unique())

    def plot(
        self, y: str, *, x: str | None = None, by: str | None = None, kind: str = "line"
    ) -> Figure:
        """Return a picture of a metric along an axis as a Matplotlib figure for notebooks.

        `kind` is "line", "scatter" (both along `x`, for each step of `by`), "heat" (`x` and `by`)
        or "cdf" (the distribution of the replications of `y`). Raises QuestionError for an unknown
        column.
        """
        return figure_of(self, y=y, x=x, by=by, kind=kind)

    def to_pandas(self) -> pandas.DataFrame:
        """Return `pandas()`, under the name that other results use."""
        return self.pandas()

    def duckdb(self) -> duckdb.DuckDBPyConnection:
        """Return a connection to an in-memory database with the view `results`.

        It allows everything that DuckDB does; use `sql` for untrusted queries.
        """
        connection = needed("duckdb", "sweeps", "a question in SQL").connect()
        connection.register("results", self.table)
        return connection  # type: ignore[no-any-return]

    def sql(self, query: str, files: Sequence[str | Path] = ()) -> pa.Table:
        """Return the rows of an SQL query on the view `results`.

        The query can only read this view, and the tables in `files` (CSV, Parquet) under the names
        given here (`FROM 'measured.csv'`). It cannot write files, load extensions or change
        settings. Raises QuestionError with DuckDB's message.
        """
        from airtcp.results.sql import answer, files_as_tables

        connection = self.duckdb()
        for name, table in files_as_tables(files).items():
            connection.register(name, table)
        return answer(connection, query)

    def pandas(self) -> pandas.DataFrame:
        """Return all rows as a pandas frame."""
        needed("pandas", "frames", "a pandas frame")
        return self.table.to_pandas()

    def polars(self) -> polars.DataFrame:
        """Return all rows as a Polars frame."""
        return needed("polars", "frames", "a Polars frame").from_arrow(self.table)  # type: ignore[no-any-return]

    def xarray(self) -> xarray.Dataset:
        """Return the metrics on a full grid: a dimension for each axis, and `replication`.

        Keys that change together form one dimension, with their values along it, and so do Sobol
        points. Raises QuestionError if a point of the grid has no row, or several.
        """
        import numpy as np

        xr = needed("xarray", "frames", "an xarray dataset")
        frame = {name: self.table.column(name).to_pylist() for name in self._grid_columns()}
        dimensions: dict[str, list[Any]] = {}
        places = []
        for axis, columns in self._by_axis().items():
            keys = list(zip(*(frame[column] for column in columns), strict=True))
            found = list(dict.fromkeys(keys))
            number = {key: at for at, key in enumerate(found)}
            dimensions[axis] = found
            places.append([number[key] for key in keys])
        replications = sorted(set(frame["replication"]))
        at = {replication: index for index, replication in enumerate(replications)}
        places.append([at[replication] for replication in frame["replication"]])
        shape = (*map(len, dimensions.values()), len(replications))
        flat = np.ravel_multi_index(tuple(map(np.asarray, places)), shape)
        if len(flat) != np.prod(shape) or len(np.unique(flat)) != len(flat):
            raise QuestionError(
                f"{self.folder} is not a full grid: {len(flat)} rows for "
                f"{' x '.join(map(str, shape))} cells; allowed: the same replications at "
                "every combination of steps"
            )
        coordinates: dict[str, Any] = {"replication": replications}
        for axis, columns in self._by_axis().items():
            for index, column in enumerate(columns):
                values = [key[index] for key in dimensions[axis]]
                coordinates[column] = values if columns == [axis] else (axis, values)
        data = {}
        for metric in self.metrics:
            cells = np.full(int(np.prod(shape)), np.nan)
            cells[flat] = self.table.column(metric).to_numpy(zero_copy_only=False)
            data[metric] = ((*dimensions, "replication"), cells.reshape(shape))
        return xr.Dataset(data, coordinates)  # type: ignore[no-any-return]

    def column(self, name: str) -> str:
        """Return the column with a name, or the only column that has it as a part of its path.

        `stations` means `stations.laptop.count` if no other column has that part. A metric may be
        spelled as on the screen, or as in a condition: `guest/download p95 delay`. Raises
        QuestionError if there is none, or several.
        """
        names: list[str] = self.table.column_names
        if name in names:
            return name
        *of, last = name.split(".")
        metric = spellings().get(last.lower().replace(" ", "_"))
        spelled = _as_measured(name) if metric is None else ".".join([*of, metric.name])
        if spelled in names:
            return spelled
        meant = [word.split(".") for word in (name, spelled)]
        alike = [one for one in names if any(_within(steps, one.split(".")) for steps in meant)]
        if len(alike) == 1:
            return alike[0]
        shown = ", ".join([column.name for column in self.axes] + list(self.metrics))
        what = f"may be {', '.join(alike)}" if alike else "is not a column"
        word = last.lower()
        lasts = {one.rpartition(".")[2]: one for one in names}
        near = [one for last, one in lasts.items() if word in last.split("_")]
        near = near or [lasts[one] for one in difflib.get_close_matches(word, lasts, 1, 0.8)]
        if len(near) == 1 and not alike:
            what += f" (did you mean {near[0]}?)"
        raise QuestionError(f"{name} {what}; allowed: {shown}")

    def _by_axis(self) -> dict[str, list[str]]:
        axes: dict[str, list[str]] = {}
        for column in self.axes:
            axes.setdefault(column.axis, []).append(column.name)
        return axes

    def _grid_columns(self) -> list[str]:
        return [*(column.name for column in self.axes), "replication"]


def open(folder: str | Path) -> Results:  # noqa: A001  # airtcp.results.open(DIR)
    """Return the results in the store of a sweep, complete or not.

    Raises OutputError if the directory holds no store, or one that this version cannot read;
    QuestionError if there is no PyArrow.

    With the `cafe` of `airtcp.load`:

    >>> made = airtcp.sweep(cafe, {"stations.laptop.count": [1, 2]}, to="store")
    >>> len(open("store"))
    6
    """
    folder = Path(folder)
    needed("pyarrow", "sweeps", "the store of a sweep")
    for left in reversed(range(_TRIES)):
        contents = Contents.read(folder)
        if contents is None:
            raise OutputError(f"{folder}: holds no results; allowed: the --to directory of a sweep")
        try:
            return Results(folder, contents, _joined(TableFiles(folder, contents)))
        except FileNotFoundError as error:
            if not left:
                raise OutputError(
                    f"{error.filename or error} is missing; run the sweep again to restore it"
                ) from error
    raise AssertionError("the last attempt failed")


def _joined(files: TableFiles) -> pa.Table:
    """Join rows with their points, in the order of the points."""
    import pyarrow as pa

    points, rows = files.points(), files.rows()
    points = points.append_column("_at", pa.array(range(len(points)), pa.int64()))
    table = points.join(rows, keys="point", join_type="inner")
    table = table.sort_by([("_at", "ascending"), ("replication", "ascending")])
    axes = [column.name for column in files.contents.axes]
    metrics = files.contents.metrics
    return table.select(["point", "replication", *axes, "seed", *metrics, "version", "core"])


def _as_measured(name: str) -> str:
    """Return the column of a metric written as in a condition, or the name itself."""
    try:
        metric, group, part, cell = read_measure(name)
    except ConditionError:
        return name
    of = [] if group is None else [group, part]
    return ".".join([*(["cells", cell] if cell is not None else of), metric.name])


def _within(wanted: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the parts occur consecutively in a path."""
    steps = range(len(path) - len(wanted) + 1)
    return any(list(path[at : at + len(wanted)]) == list(wanted) for at in steps)
