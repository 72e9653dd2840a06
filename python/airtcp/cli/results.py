"""`airtcp results` and `airtcp plot`: query and plot the store of a sweep."""

from __future__ import annotations

import json as json_
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from airtcp.cli.options import Force, Json
from airtcp.cli.outcome import outcome
from airtcp.cli.process import Status, end_at_once, note
from airtcp.exceptions import QuestionError, one_line

if TYPE_CHECKING:
    from airtcp.results.query import Results

Store = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="The store of a sweep: the directory given to sweep --to."),
]
Sql = Annotated[
    str | None,
    typer.Option(
        "--sql",
        metavar="QUERY",
        help="The query, in SQL, on the table `results`. It reads this store and each --file, and "
        "writes nothing.",
    ),
]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="A table (.csv, .parquet) that the query may read: FROM 'FILE'. Repeatable.",
    ),
]

Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Write the answer, or all rows, to a table (.csv, .parquet)."
    ),
]

#: Rows converted from Arrow at a time.
_PIECE = 10_000


def results(
    store: Store,
    sql: Sql = None,
    file: Files = None,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Show what the points of a sweep measured, or query its rows by SQL."""
    if file and sql is None:
        raise typer.BadParameter("needs --sql", param_hint="--file")
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise typer.BadParameter(f"must end in .csv or .parquet (got {out})", param_hint="--out")
    if out is not None and json:
        raise typer.BadParameter("cannot be combined with --json", param_hint="--out")
    with outcome():
        from airtcp.results.query import open as opened

        found = opened(store)
        if out is not None:
            _write(found, sql, file or (), out, force=force)
            return
        if sql is None:
            if json:
                print(json_.dumps(_about(found), indent=2))
            else:
                from airtcp.cli import show
                from airtcp.messages import results as words

                show.parts(words.parts(found))
            return
        with _ending_at_once():
            answer = found.sql(sql, file or ())
            # In pieces, because Arrow does not react to signals. Column names may occur twice.
            pieces = answer.to_batches(max_chunksize=_PIECE)
            columns = [[one.to_pylist() for one in piece.columns] for piece in pieces]
            rows = [row for piece in columns for row in zip(*piece, strict=True)]
            names = answer.column_names
            if json:
                print(as_json([dict(zip(names, row, strict=True)) for row in rows]))
            elif names:
                tell(names, rows)


def _write(
    found: Results, sql: str | None, files: Sequence[Path], out: Path, *, force: bool
) -> None:
    """Write the answer to a query, or all rows without one, to a table; print its location."""
    from airtcp.cli.outputs import check_table
    from airtcp.files import prepare, write_files
    from airtcp.present.sense import many
    from airtcp.results.sql import as_file

    check_table(out, force=force)
    with _ending_at_once():
        table = found.table if sql is None else found.sql(sql, files)
    content = as_file(table, out.suffix)
    prepare(out.parent)
    write_files(out.parent, {out.name: content})
    print(f"table of {many(len(table), 'row')}: {one_line(str(out))}")


@contextmanager
def _ending_at_once() -> Iterator[None]:
    """End the process when a query is interrupted: DuckDB may still be working on it.

    A query writes nothing, so nothing is lost.
    """
    try:
        yield
    except KeyboardInterrupt:
        note("interrupted")
        end_at_once(Status.INTERRUPTED)


def _about(found: Results) -> dict[str, Any]:
    axes = {
        column.name: {"unit": column.unit, "values": _steps(found, column.name)}
        for column in found.axes
    }
    return {
        "points": found.points,
        "rows": len(found),
        "axes": axes,
        "metrics": list(found.metrics),
        "versions": found.table.column("version").unique().to_pylist(),
    }


def _steps(found: Results, name: str) -> list[Any]:
    return list(found.table.column(name).unique().to_pylist())


def plot(
    store: Store,
    y: Annotated[str, typer.Option("--y", metavar="METRIC", help="The metric to draw.")],
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="AXIS", help="Axis of the sweep for the x axis."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="AXIS",
            help="Second axis of the sweep: one line, or one row of a heat map, per value.",
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", help="The kind of picture: line, scatter, heat or cdf.")
    ] = "line",
    where: Annotated[
        str | None,
        typer.Option(
            "--where", metavar="CONDITION", help="Draw only rows that meet this SQL condition."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The picture to write (.png or .svg).")
    ] = Path("plot.png"),
    force: Force = False,
) -> None:
    """Draw a metric of a sweep over one of its axes, with confidence intervals."""
    with outcome():
        from dataclasses import replace
        from typing import cast

        from airtcp.cli.outputs import check_picture
        from airtcp.files import prepare, write_files
        from airtcp.present import drawing
        from airtcp.present.plot_table import KINDS, Kind, picture
        from airtcp.results.query import open as opened

        if kind not in KINDS:
            allowed = ", ".join(KINDS)
            raise typer.BadParameter(f"{kind!r} is unknown; use {allowed}", param_hint="--kind")
        if out.suffix not in (".png", ".svg"):
            raise typer.BadParameter(f"must end in .png or .svg (got {out})", param_hint="--out")
        check_picture(out, force=force)
        found = opened(store)
        if where is not None:
            try:
                with _ending_at_once():
                    asked = found.sql(f"SELECT * FROM results WHERE {where}")
            except QuestionError as error:
                named = str(error).replace("--sql", "--where", 1)
                raise QuestionError(named) from error
            found = replace(found, table=asked)
        figure, caption = picture(found, x=x, y=y, by=by, kind=cast("Kind", kind))
        content = drawing.png(figure) if out.suffix == ".png" else drawing.svg(figure).encode()
        prepare(out.parent)
        write_files(out.parent, {out.name: content})
        print(caption)
        print(f"picture: {one_line(str(out))}")


#: Width of output to a pipe if COLUMNS is not set.
_PIPE_WIDTH: Final = 120
_GAP: Final = "  "


def width() -> int:
    """Return the width of stdout in characters."""
    return shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns


def lines(names: Sequence[str], rows: Sequence[Sequence[Any]], most: int) -> Iterator[str]:
    """Yield a table in lines of at most `most` characters, as far as its cells allow."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    numbers = [
        all(isinstance(row[at], int | float) or row[at] is None for row in rows)
        for at in range(len(names))
    ]
    if sum(widths) + len(_GAP) * (len(widths) - 1) <= most:
        for row in [list(names), *cells]:
            placed = (
                cell.rjust(wide) if number else cell.ljust(wide)
                for cell, wide, number in zip(row, widths, numbers, strict=True)
            )
            yield _GAP.join(placed).rstrip()
        return
    longest = max(map(len, names))
    for at, row in enumerate(cells):
        if at:
            yield ""
        for name, cell in zip(names, row, strict=True):
            if longest + len(_GAP) + len(cell) <= most:
                yield f"{name.ljust(longest)}{_GAP}{cell}"
            else:
                yield name
                yield f"{_GAP}{cell}"


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a JSON list of objects. Values without a JSON type (dates) become text."""
    plain = [{name: _plain(value) for name, value in row.items()} for row in rows]
    # Iterate, because the encoder does not react to signals.
    return "".join(json_.JSONEncoder(indent=2).iterencode(plain))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value - value != 0.0:
        return None
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    # DuckDB returns sums of integers as DECIMAL.
    return float(value) if type(value).__name__ == "Decimal" else str(value)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    return one_line(str(value))


def tell(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table on stdout."""
    for line in lines(names, rows, width()):
        print(line)
    sys.stdout.flush()
