"""The parts of an answer. A state colors a line: `good`, `bad`, `open`, `dim`, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["good", "bad", "open", "dim", "bold", ""]


@dataclass(frozen=True)
class Heading:
    """A heading, with a note at the right margin if there is room."""

    text: str
    aside: str = ""


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
    """

    head: str
    right: bool = False
    rank: int = 0
    least: int = 28


@dataclass(frozen=True)
class Table:
    """Rows of text under columns, each row with its state. `foot` holds lines right below."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    states: Sequence[State] = ()
    foot: Sequence[tuple[str, State]] = ()


@dataclass(frozen=True)
class Code:
    """Lines to copy, such as commands and configuration. They never wrap."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Note:
    """A sentence of less importance, wrapped."""

    text: str
    state: State = "dim"


Part: TypeAlias = Heading | Lines | Table | Code | Note
