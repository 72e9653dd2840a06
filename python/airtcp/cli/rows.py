"""Tables of any width on a terminal: in columns if they fit, otherwise one value per line."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from airtcp.exceptions import one_line

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
    import json

    plain = [{name: _plain(value) for name, value in row.items()} for row in rows]
    # Iterate, because the encoder does not react to signals.
    return "".join(json.JSONEncoder(indent=2).iterencode(plain))


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
