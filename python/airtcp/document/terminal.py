"""Render a tree on a terminal: lines fit the width and have no trailing blanks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING, Final

from rich.text import Text

from airtcp.document.tree import Code, Heading, Items, Lines, Note, Pairs, Part, State, Table
from airtcp.exceptions import one_line

if TYPE_CHECKING:
    from rich.console import Console


_STYLES: Final = {
    "good": "green",
    "bad": "red",
    "open": "yellow",
    "dim": "dim",
    "bold": "bold",
    "": "",
}
_BETWEEN: Final = "  "
#: Details in a heading that are dropped first on narrow terminals.
_BRACKETS: Final = re.compile(r" \([^()]*\)")
#: The space between a number and its unit.
_QUANTITY: Final = re.compile(
    r"(?<=\d) (?=%|(?:[kMGT]?b/s|[kMG]?B|[KMG]iB|[mun]?s|min|h|k?m|dBm?|[kMG]Hz)(?![\w/]))"
)
#: The place of a row in its name.
_NUMBERED: Final = re.compile(r"^\d+ ")
#: From this width on, long names in the first column are truncated; below it they wrap.
_WRAPPED: Final = 80


def show(console: Console, parts: Sequence[Part]) -> None:
    """Print parts, separated by an empty line except after a heading."""
    width = console.width
    before: Part | None = None
    for part in parts:
        close = isinstance(part, Code) or (
            isinstance(before, Heading) and not (before.aside and isinstance(part, Table))
        )
        if before is not None and not close:
            console.print()
        for line, state in _lines(part, width):
            text = Text(line.rstrip(), style=_STYLES[state], overflow="ignore", no_wrap=True)
            console.print(text, crop=False, soft_wrap=True)
        before = part


def _lines(part: Part, width: int) -> Iterator[tuple[str, State]]:
    if isinstance(part, Heading):
        text = one_line(part.text)
        for aside in (part.aside, _BRACKETS.sub("", part.aside)):
            room = width - len(text) - len(aside)
            if aside and room >= 2:
                yield f"{text}{' ' * room}{aside}", part.state
                return
        yield from ((line, part.state) for line in _wrapped(text, width))
        yield from ((line, "dim") for line in (_wrapped(part.aside, width) if part.aside else ()))
    elif isinstance(part, Lines):
        labels = part.labels or [None] * len(part.lines)
        indent = max((len(label) for label in labels if label is not None), default=-2) + 2
        for label, (text, state) in zip(labels, part.lines, strict=True):
            room = 0 if label is None else indent
            for each, line in enumerate(_wrapped(text, width - room)):
                yield f"{(label or '') if each == 0 else '':{room}}{line}", state
    elif isinstance(part, Pairs):
        texts: list[tuple[str, State]] = [(text, "") for _, text in part.rows]
        yield from _lines(Lines(texts, [f"  {name}" for name, _ in part.rows]), width)
    elif isinstance(part, Items):
        for sentence, sources in part.rows:
            text = f"{sentence}  [{'; '.join(sources)}]" if sources else sentence
            lines = textwrap.wrap(one_line(text), max(width, 20) - 2, break_on_hyphens=False)
            yield from ((f"{'  ' if each else '- '}{line}", "") for each, line in enumerate(lines))
        if part.foot:
            yield part.foot, "dim"
    elif isinstance(part, Note):
        for line in _wrapped(part.text, width):
            yield line, part.state
    elif isinstance(part, Code):
        for line in part.lines:
            yield f"  {line}", ""
    else:
        yield from _table(part, width)


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text. A number and its unit stay on one line."""
    lines = textwrap.wrap(
        _QUANTITY.sub("\N{NO-BREAK SPACE}", one_line(text)),
        max(width, 20),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] or [""]


def _as_lines(table: Table, width: int) -> Iterator[tuple[str, State]]:
    """Yield the rows of a table that is too wide as lines: numbers are never cut."""
    head = "; ".join(column.head for column in table.columns if column.head)
    yield from ((line, "dim") for line in _wrapped(head, width))
    for first, *more in table.rows:
        if first:
            yield from ((line, "") for line in _wrapped(first, width))
        if any(more):
            lines = _wrapped("  ".join(filter(None, more)), width - 4)
            yield from ((f"    {line}", "") for line in lines)


def _table(table: Table, width: int) -> Iterator[tuple[str, State]]:
    shown = list(range(len(table.columns)))
    widths = [
        max([len(column.head), *(len(row[place]) for row in table.rows)])
        for place, column in enumerate(table.columns)
    ]

    def total() -> int:
        return sum(widths[place] for place in shown) + len(_BETWEEN) * (len(shown) - 1)

    def slack(place: int) -> int:
        """Return how much a column of words can shrink."""
        column = table.columns[place]
        return 0 if column.right else max(0, widths[place] - column.least)

    if table.narrow and total() - width > sum(map(slack, shown)):
        narrow = table.narrow
        yield from _as_lines(table, width) if narrow == "lines" else _table(narrow, width)
        yield from _foot(table, width)
        return
    while total() - width > sum(map(slack, shown)):
        last = max(shown, key=lambda place: (table.columns[place].rank, place))
        if table.columns[last].rank == 0:
            break
        shown.remove(last)
    while total() > width and slack(widest := max(shown, key=slack)):
        widths[widest] -= min(slack(widest), total() - width)

    def line(name: str, cells: Sequence[str]) -> Iterator[str]:
        """Yield the cells side by side; a long cell wraps to the next line."""
        wrapped = [
            textwrap.wrap(text, max(1, widths[place]), subsequent_indent="  ") or [""]
            for place, text in zip(
                shown, [name, *(cells[place] for place in shown[1:])], strict=True
            )
        ]
        for row in zip_longest(*wrapped, fillvalue=""):
            yield _BETWEEN.join(
                f"{text:{'>' if table.columns[place].right else '<'}{widths[place]}}"
                for place, text in zip(shown, row, strict=True)
            )

    heads = [one_line(column.head) for column in table.columns]
    rows = [[one_line(cell) for cell in row] for row in table.rows]
    names = [row[shown[0]] for row in (heads, *rows)]
    if width >= _WRAPPED:
        names = _cut(names, widths[shown[0]])
    for text in line(names[0], heads):
        yield text, "bold"
    for place, (name, row) in enumerate(zip(names[1:], rows, strict=True)):
        for text in line(name, row):
            yield text, table.states[place] if table.states else ""
    yield from _foot(table, width)


def _cut(names: Sequence[str], width: int) -> list[str]:
    """Cut long names at their end, or leave out the beginning that they share."""

    def cut(name: str) -> str:
        return name if len(name) <= width else f"{name[: width - 1]}…"

    told = [cut(name) for name in names]
    if len({_NUMBERED.sub("", one) for one in told}) == len(set(names)):
        return told
    words = (_NUMBERED.sub("", name).split(" ") for name in names if len(name) > width)
    same = takewhile(lambda each: len(set(each)) == 1, zip(*words, strict=False))
    shared = "".join(f"{each[0]} " for each in same)
    kept = shared[: width // 4].rstrip()
    return [
        one if len(one) <= width or not kept else cut(one.replace(shared, f"{kept}…", 1))
        for one in names
    ]


def _foot(table: Table, width: int) -> Iterator[tuple[str, State]]:
    for text, state in table.foot:
        yield from ((each, state) for each in _wrapped(text, width))
