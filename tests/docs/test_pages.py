"""Tables of the documentation: stored tables are current, and each placeholder has its script.

Same check as `make pages-check`; tables that take minutes are left to `make verify`.
"""

import re

import pages
import pytest
import tables

TABLES = list(pages.stored())
STORED = [one for one in TABLES if one.script not in pages.BUILT]
ROOT = pages.DOCS.parent
PAGES = [ROOT / "README.md", ROOT / "papers" / "SCOREBOARD.md", *pages.written()]
LONG = [pytest.mark.verify, pytest.mark.timeout(1800)]


def named(one: pages.Stored) -> str:
    return f"{one.page.stem}-{one.name}"


def names(table: str) -> list[str]:
    """Return the first cell of each row; for a list of tables, its headings."""
    return re.findall(r"(?m)^\| `([^`]+)`", table) or re.findall(r"(?m)^##+ (.*)$", table)


def test_tables_of_declarations_have_their_rows() -> None:
    """A new key, option or metric is on its page. `make docs` updates the text too."""
    for one in TABLES:
        if one.script in pages.BUILT:
            page = one.page.read_text("utf-8")
            is_file = f"<!-- table {one.name}: begins" not in page
            shown = tables.found(tables.whole(one.page) if is_file else page, one.name)
            assert names(shown) == names(one.make()), "run: .venv/bin/python docs/pages.py"


@pytest.mark.verify
def test_tables_of_declarations_are_current() -> None:
    stale = [one.name for one in TABLES if one.script in pages.BUILT and not one.is_current()]

    assert not stale, "run: .venv/bin/python docs/pages.py"


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, id=named(one), marks=() if one.is_quick else LONG) for one in STORED],
)
def test_a_stored_table_is_what_its_script_makes(one: pages.Stored) -> None:
    assert one.is_current(), f"run: python docs/{one.script}.py {one.name}"


@pytest.mark.parametrize("one", [one for one in STORED if one.sample], ids=named)
def test_a_row_of_a_long_table_is_what_its_script_makes(one: pages.Stored) -> None:
    assert one.has_sample(), f"run: python docs/{one.script}.py {one.name}"


def test_each_place_for_a_table_has_its_script() -> None:
    places = {
        (page, name)
        for page in PAGES
        for name in tables.places(page)
        if not pages.MEASURED.fullmatch(name)
    }

    assert places == {(one.page, one.name) for one in TABLES}
