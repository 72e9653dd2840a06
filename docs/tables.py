"""The tables that scripts put between markers on pages of the documentation.

Knows Markdown and the markers `<!-- table NAME: begins -->` and `<!-- table NAME: ends -->`; knows
no numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from airtcp.stats import Interval


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Writes a table with this head."""
    return "\n".join(map(line, [head, ["---"] * len(head), *rows]))


def line(cells: Sequence[str]) -> str:
    """Writes a row of a table."""
    return "| " + " | ".join(cells) + " |"


def found(page: str, name: str) -> str:
    """Takes the table of that name from a page. ValueError if there is no such place."""
    match = re.search(
        rf"(?s)<!-- table {name}: begins -->\n\n(.*?)\n\n<!-- table {name}: ends -->", page
    )
    if match is None:
        raise ValueError(f"there is no place for the table {name} on the page")
    return match[1]


def put(page: str, name: str, table: str) -> str:
    """Puts `table` into its place on a page. ValueError if there is no such place."""
    pattern = re.compile(
        rf"(<!-- table {name}: begins -->\n).*?(<!-- table {name}: ends -->)", re.DOTALL
    )
    if not pattern.search(page):
        raise ValueError(f"there is no place for the table {name} on the page")
    return pattern.sub(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", page)


def remake(path: Path, makers: Mapping[str, Callable[[], str]], names: Sequence[str] = ()) -> None:
    """Writes the tables of these names, or all, on the page at `path`."""
    page = path.read_text(encoding="utf-8")
    for name in names or makers:
        page = put(page, name, makers[name]())
    path.write_text(page, encoding="utf-8")


def shown(interval: Interval, decimals: int = 3, unit: float = 1.0) -> str:
    """Shows mean and half width of an interval that has both, in multiples of `unit`."""
    assert interval.mean is not None
    assert interval.half_width is not None
    return f"{interval.mean / unit:.{decimals}f} ± {interval.half_width / unit:.{decimals}f}"
