"""Write tables on pages of the documentation, or into CSV files that the pages name.

A table on a page is between `<!-- table NAME: begins -->` and `<!-- table NAME: ends -->`. A long
table is a CSV file, which the page names with `<!-- table NAME: ../data/FILE.csv -->`, or with a
link `[NAME.csv](../data/NAME.csv)` on a line of its own. The built site shows such links as tables.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from airtcp.stats import Interval

_FILE = r"<!-- table {}: (\S+\.csv) -->"
#: A link to a CSV file on a line of its own.
_LINK = r"(?m)^\[[^\]\n]+\]\((\S+\.csv)\)$"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with this heading."""
    return "\n".join(map(line, [head, ["---"] * len(head), *rows]))


def line(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cells) + " |"


def found(page: str, name: str) -> str:
    """Return the table of that name from a page. Raise ValueError if it has no such markers."""
    match = re.search(
        rf"(?s)<!-- table {name}: begins -->\n\n(.*?)\n\n<!-- table {name}: ends -->", page
    )
    if match is None:
        raise ValueError(f"there is no place for the table {name} on the page")
    return match[1]


def cells(path: Path, name: str) -> list[list[str]]:
    """Return the cells of a table of the page at `path`, without its heading."""
    rows = found(whole(path), name).splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def number(cell: str) -> float:
    """Return the number at the start of a cell."""
    return float(cell.split()[0].rstrip("%"))


def numbers(path: Path, name: str) -> dict[str, list[float]]:
    """Return the number at the start of each cell of a table, by the first cell of its row."""
    return {first: [*map(number, others)] for first, *others in cells(path, name)}


def put(page: str, name: str, table: str) -> str:
    """Put `table` between its markers on a page. Raise ValueError if there are none."""
    pattern = re.compile(
        rf"(<!-- table {name}: begins -->\n).*?(<!-- table {name}: ends -->)", re.DOTALL
    )
    if not pattern.search(page):
        raise ValueError(f"there is no place for the table {name} on the page")
    return pattern.sub(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", page)


def places(path: Path) -> list[str]:
    """List the names of the tables of a page."""
    text = path.read_text(encoding="utf-8")
    names = re.findall(r"<!-- table (\S+): (?:begins|\S+\.csv) -->", text)
    marked = re.findall(_FILE.format(r"\S+"), text)
    for made in re.findall(r"(?s)<!-- table (\S+): begins -->(.*?)<!-- table \1: ends -->", text):
        names += [Path(file).stem for file in re.findall(_LINK, made[1]) if file not in marked]
    return names


def whole(path: Path) -> str:
    """Read a page with the tables of its CSV files in place."""

    def shown(file: str) -> str:
        with (path.parent / file).open(encoding="utf-8", newline="") as rows:
            head, *others = csv.reader(rows)
        return markdown(head, others)

    def table(name: str, file: str) -> str:
        return f"<!-- table {name}: begins -->\n\n{shown(file)}\n\n<!-- table {name}: ends -->"

    def linked(match: re.Match[str]) -> str:
        return "" if match[1] in marked else table(Path(match[1]).stem, match[1])

    text = path.read_text(encoding="utf-8")
    marked = {file for _, file in re.findall(_FILE.format(r"(\S+)"), text)}
    page = re.sub(_LINK, linked, text)
    return re.sub(_FILE.format(r"(\S+)"), lambda match: table(match[1], match[2]), page)


def directives(page: str) -> str:
    """Convert links to CSV files on a line of their own to Sphinx tables."""
    return re.sub(
        _LINK,
        lambda match: f"```{{csv-table}}\n:file: {match[1]}\n:header-rows: 1\n```",
        page,
    )


def as_csv(table: str) -> str:
    """Convert a Markdown table to CSV."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    for number, row in enumerate(table.splitlines()):
        if number != 1:
            cells = re.split(r"(?<!\\)\|", row.strip()[1:-1])
            writer.writerow(re.sub(r"\\([|*])", r"\1", cell.strip()) for cell in cells)
    return written.getvalue()


def file(name: str) -> str:
    """Return the marker of a CSV file on a page."""
    return f"[{name}.csv](../data/{name}.csv)"


def is_current(path: Path, name: str, table: str) -> bool:
    """Return True if a table equals the one on the page or in its CSV file."""
    file = _file(path, name)
    if file is None:
        return found(path.read_text(encoding="utf-8"), name) == table
    return file.exists() and file.read_text(encoding="utf-8") == as_csv(table)


def remake(path: Path, makers: Mapping[str, Callable[[], str]], names: Sequence[str] = ()) -> None:
    """Update the named tables of the page at `path`, or all."""
    for name in names or makers:
        table = makers[name]()
        file = _file(path, name)
        if file is None:
            old = path.read_text(encoding="utf-8")
            new = put(old, name, table)
            if new != old:
                path.write_text(new, encoding="utf-8")
        elif not is_current(path, name, table):
            file.parent.mkdir(exist_ok=True)
            file.write_text(as_csv(table), encoding="utf-8")


def _file(path: Path, name: str) -> Path | None:
    text = path.read_text(encoding="utf-8")
    match = re.search(_FILE.format(re.escape(name)), text) or re.search(
        rf"(?m)^\[{re.escape(name)}\.csv\]\((\S+)\)$", text
    )
    return None if match is None else path.parent / match[1]


def shown(interval: Interval, decimals: int = 3, unit: float = 1.0) -> str:
    """Format mean and half width of an interval that has both, in multiples of `unit`."""
    assert interval.mean is not None
    assert interval.half_width is not None
    return f"{interval.mean / unit:.{decimals}f} ± {interval.half_width / unit:.{decimals}f}"
