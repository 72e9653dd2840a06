"""Tables of the documentation: the stored ones are current, and each place for one has its script.

This is the check that `make pages-check` makes; tables that take minutes are left to `make verify`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pages
import pytest

STORED = list(pages.stored())
PAGES = [pages.DOCS.parent / "README.md", *pages.written()]
LONG = [pytest.mark.verify, pytest.mark.timeout(1800)]


def named(one: pages.Stored) -> str:
    return f"{one.page.stem}-{one.name}"


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, id=named(one), marks=() if one.is_quick else LONG) for one in STORED],
)
def test_a_stored_table_is_what_its_script_makes(one: pages.Stored) -> None:
    assert one.is_current(), f"run: python docs/{one.script}.py {one.name}"


@pytest.mark.parametrize("one", [one for one in STORED if one.sample], ids=named)
def test_a_row_of_a_long_table_is_what_its_script_makes(one: pages.Stored) -> None:
    assert one.has_sample(), f"run: python docs/{one.script}.py {one.name}"


def test_a_table_that_has_changed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (board,) = (one for one in STORED if one.name == "scoreboard")
    (row,) = (one for one in STORED if one.name == "wires")

    def changed() -> Iterator[pages.Stored]:
        yield board
        yield board._replace(make=lambda: board.make().replace("met", "missed", 1))
        yield row._replace(sample=lambda: ["802.11ac, 64", "+9.9"])

    monkeypatch.setattr(pages, "stored", changed)

    assert list(pages.stale(long=False)) == [
        "docs/laboratory/reproduce.md: table scoreboard is no longer what"
        " docs/make_scoreboard.py makes",
        "docs/laboratory/aggregation.md: table wires is no longer what"
        " docs/make_aggregation.py makes",
    ]


def test_each_place_for_a_stored_table_has_its_script() -> None:
    places = {
        (page, name)
        for page in PAGES
        if page.name not in pages.MEASURED
        for name in re.findall(r"<!-- table (\S+): begins", page.read_text("utf-8"))
    }

    assert places == {(one.page, one.name) for one in STORED}


def test_every_built_table_is_on_one_page() -> None:
    included = [name for page in PAGES for name in pages.includes(page)]

    assert sorted(included) == sorted(pages.built())


def test_built_tables_are_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "_generated"
    monkeypatch.setattr(pages, "GENERATED", folder)
    pages.build()
    first = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (folder / "of-old.md").write_text("no longer built")
    (folder / "timing.md").write_text("of old")

    pages.build()

    again = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert set(again) == set(first) == {f"{name}.md" for name in pages.built()}
    assert {name for name in first if first[name] != again[name]} == {"timing.md"}
    assert (folder / "timing.md").read_text() == pages.built()["timing"]() + "\n"
