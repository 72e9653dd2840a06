"""The parts of an answer. A state colors a line: `good`, `bad`, `open`, `dim`, or none."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

State: TypeAlias = Literal["good", "bad", "open", "dim", "bold", ""]

#: What a cell with a number begins with, unless with a digit.
_NUMBERS: Final = "≥≤<>+-−–±~"
#: The least width of a column of words other than the first.
_LEAST_WORDS: Final = 20


@dataclass(frozen=True)
class Heading:
    """A heading, with a note at the right margin if there is room."""

    text: str
    aside: str = ""
    state: State = "bold"


@dataclass(frozen=True)
class Lines:
    """A block of lines, each with its state.

    `labels` are set in a column before the lines. A line whose label is None begins at the margin.
    """

    lines: Sequence[tuple[str, State]]
    labels: Sequence[str | None] = ()


@dataclass(frozen=True)
class Column:
    """A column of a table.

    `right` aligns numbers. If the table is too wide, columns of words shrink to `least`. If that
    does not suffice, columns are dropped by `rank`, the highest first, but never those of rank 0.
    On a page, columns of words wrap only if they are `prose`, and a `verdict` colors its cell.
    """

    head: str
    right: bool = False
    rank: int = 0
    least: int = 28
    prose: bool = False
    verdict: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text under columns, each row with its state. `foot` holds lines right below.

    `narrow` is what a terminal shows if the table does not fit: another table, or "lines", the rows
    as lines. By default cells wrap.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    states: Sequence[State] = ()
    foot: Sequence[tuple[str, State]] = ()
    narrow: Table | Literal["lines", ""] = ""


def listing(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    least_first: int | None = None,
    verdicts: Container[int] = (),
    prose: Container[int] = (),
    narrow: Table | Literal["lines"] = "lines",
) -> Table:
    """Return a table whose numbers are never cut: if it does not fit, it is shown as `narrow`.

    Columns of numbers are found by their cells. Of the others the longest may shrink, the first
    only to `least_first`.
    """
    columns = []
    for place, (name, *cells) in enumerate(zip(head, *rows, strict=True)):
        right = place > 0 and all(
            cell[0].isdigit() or cell[0] in _NUMBERS for cell in cells if cell
        )
        least = least_first if place == 0 else _LEAST_WORDS
        if right or least is None:
            least = max(len(one) for one in (name, *cells))
        columns.append(Column(name, right, 0, least, place in prose, place in verdicts))
    return Table(columns, rows, narrow=narrow)


@dataclass(frozen=True)
class Pairs:
    """Names with their descriptions."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Items:
    """A list of sentences, each with its sources, and a note below it."""

    rows: Sequence[tuple[str, Sequence[str]]]
    foot: str = ""


@dataclass(frozen=True)
class Code:
    """Lines to copy, such as commands and configuration. They never wrap."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Note:
    """A sentence of less importance, wrapped."""

    text: str
    state: State = "dim"


Part: TypeAlias = Heading | Lines | Table | Pairs | Items | Code | Note
