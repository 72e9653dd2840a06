"""Documents on a terminal: no line too wide, no trailing blanks, columns dropped by rank."""

from __future__ import annotations

import io

import pytest
from airtcp.document import Code, Column, Heading, Lines, Note, Table, page, terminal
from airtcp.document.tree import Part
from rich.console import Console

LONG = "a change with a rather long name that says what it does and to whom, and then some more"
TABLE = Table(
    [
        Column("change"),
        Column("first", right=True, rank=1),
        Column("second", right=True, rank=2),
        Column("third", right=True),
    ],
    [(LONG[:40], "1" * 12, "2" * 12, "3" * 12), ("short", "1", "2", "3")],
    ["good", ""],
    [("a line below the table", "dim")],
)
PARTS: tuple[Part, ...] = (
    Heading("A network with a long title, of an office", "802.11ax 40 MHz · 28 stations · 4 runs"),
    Lines([(LONG, "bad"), (LONG, "")], [None, "  Cause"]),
    TABLE,
    Note(LONG),
)


def printed(parts: tuple[Part, ...], width: int) -> list[str]:
    file = io.StringIO()
    terminal.show(Console(file=file, width=width), parts)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal_or_ends_in_blanks(width: int) -> None:
    lines = printed(PARTS, width)

    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (120, ["change", "first", "second", "third"]),
        (80, ["change", "first", "second", "third"]),  # The name is cut before a column goes.
        (45, ["change", "third"]),
    ],
)
def test_columns_of_the_highest_rank_are_dropped_first(width: int, heads: list[str]) -> None:
    (head, *rows) = printed((TABLE,), width)

    assert head.split() == heads
    # Below 80 columns a long name wraps.
    assert len(rows) == (3 if width >= 80 else 4)
    assert max(map(len, (head, *rows))) <= width


def test_numbers_stand_at_the_right_and_are_never_cut() -> None:
    _, first, second, third, _ = printed((TABLE,), 60)

    assert first.endswith("3" * 12)
    assert second.startswith("  ")
    assert third.endswith("3")
    assert len(first) == len(third)


def test_lines_are_broken_at_blanks_that_may_go() -> None:
    """At twenty columns. "ms" in a longer word is not a unit; code is never wrapped."""
    text = Lines([("idle 90 %, data 0.05 %", ""), ("waits for about 12 msdus", "")])
    lines = printed((text,), 20)
    assert lines == ["idle 90 %, data", "0.05 %", "waits for about 12", "msdus"]
    assert printed((Code([LONG]),), 40) == [f"  {LONG}"]
    assert [len(printed((PARTS[0],), width)) for width in (120, 60)] == [1, 2]


def test_texts_behind_labels_begin_in_one_column() -> None:
    first, second = printed((Lines([("one", ""), ("two", "")], ["  Also affected", "  Fix"]),), 60)
    assert first.index("one") == second.index("two")


def test_html_escapes_what_comes_from_a_file() -> None:
    found = "".join(page.html([Heading("<b>"), Note("a & b"), Table([Column("<i>")], [["<u>"]])]))

    assert "<b>" not in found
    assert "<u>" not in found
    assert "a &amp; b" in found
