"""Builds the tables of the documentation that follow from code, and checks those that are stored.

Knows which scripts make tables, and which of these take seconds. Does not know how a table is made.
A table that is simulated is stored on its page, as the measurement that it is; all others are built
with the pages, into docs/_generated, and are not in git.

    .venv/bin/python docs/pages.py                   # build, as `make docs` does
    .venv/bin/python docs/pages.py --check           # make stored tables again that take seconds
    .venv/bin/python docs/pages.py --check --long    # and those that take minutes
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import tables

DOCS = Path(__file__).parent
GENERATED = DOCS / "_generated"

#: The modules of tables that are built.
BUILT = (
    "built.keys",
    "built.resolved_form",
    "built.cards",
    "built.records",
    "built.remedies",
    "built.imports",
    "built.profiles",
)
#: The scripts of tables that are stored and come out the same on every machine, with those of their
#: tables that take seconds; None for all of them.
STORED: Mapping[str, tuple[str, ...] | None] = {
    "make_scoreboard": None,
    "make_readme": None,
    "make_validation": ("saturated", "ns-3-modern"),
    "make_models": ("saturated", "categories", "uploads", "alone"),
    "make_aggregation": (),
    "make_acks": ("802.11n", "limits", "bbr"),
    "make_concurrent_access": None,
    "make_coverage": None,
    "make_paper_b": None,
    "make_paper_g": (),
    "make_paper_h": ("cycle",),
    "make_ack_gain": (),
    "make_diff": (),
    "make_gaps": (),
    "make_cells": (),
    "make_glance": None,
}
#: The pages with tables of a machine, or of programs that are no part of airtcp.
MEASURED = ("cluster.md", "packetdrill.md", "performance.md", "testbed.md")

_INCLUDE = re.compile(r"```\{include\} \.\./_generated/([\w-]+)\.md\n```")


def written() -> list[Path]:
    """Lists the pages of guide and laboratory, and the one that leads to both."""
    folders = (DOCS, DOCS / "guide", DOCS / "laboratory")
    return [page for folder in folders for page in sorted(folder.glob("*.md"))]


class Stored(NamedTuple):
    """A stored table; of one that takes minutes perhaps a row that takes seconds."""

    script: str
    page: Path
    name: str
    make: Callable[[], str]
    is_quick: bool
    sample: Callable[[], list[str]] | None

    def is_current(self) -> bool:
        """Makes the table again, and compares."""
        return tables.found(self.page.read_text("utf-8"), self.name) == self.make()

    def has_sample(self) -> bool:
        """Makes the row again, and looks for it in the table."""
        assert self.sample is not None
        line = tables.line(self.sample())
        return line in tables.found(self.page.read_text("utf-8"), self.name).splitlines()


def stored() -> Iterator[Stored]:
    """Lists the stored tables."""
    for script, quick in STORED.items():
        module = import_module(script)
        pages, samples = getattr(module, "PAGES", {}), getattr(module, "SAMPLES", {})
        for name, make in module.TABLES.items():
            page = pages[name] if pages else module.PAGE
            is_quick = quick is None or name in quick
            yield Stored(script, page, name, make, is_quick, samples.get(name))


@cache
def built() -> Mapping[str, Callable[[], str]]:
    """Lists the makers of the built tables by their names."""
    makers = dict(import_module("make_scoreboard").BUILT)
    for module in BUILT:
        makers |= import_module(module).TABLES
    return makers


def text(page: Path) -> str:
    """Reads a page with its built tables in their places."""
    return _INCLUDE.sub(lambda match: built()[match[1]](), page.read_text("utf-8"))


def includes(page: Path) -> list[str]:
    """Lists the names of the built tables of a page."""
    return _INCLUDE.findall(page.read_text("utf-8"))


def build() -> None:
    """Writes the built tables. One that is as before keeps its time, for Sphinx looks at that."""
    GENERATED.mkdir(exist_ok=True)
    made = {GENERATED / f"{name}.md": f"{make()}\n" for name, make in built().items()}
    for path in set(GENERATED.iterdir()) - set(made):
        path.unlink()
    for path, content in made.items():
        if not path.exists() or path.read_text("utf-8") != content:
            path.write_text(content, encoding="utf-8")


def stale(*, long: bool) -> Iterator[str]:
    """Names the stored tables that their scripts make otherwise today."""
    for one in stored():
        if one.is_quick or long:
            is_current = one.is_current()
        else:
            is_current = one.sample is None or one.has_sample()
        if not is_current:
            page = one.page.relative_to(DOCS.parent)
            yield f"{page}: table {one.name} is no longer what docs/{one.script}.py makes"


def main() -> None:
    """Builds, or checks with exit status 1 if a table is stale."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare the stored tables instead")
    parser.add_argument("--long", action="store_true", help="those, too, that take minutes")
    given = parser.parse_args()
    if not given.check:
        build()
        return
    told = False
    for line in stale(long=given.long):
        print(line, flush=True)
        told = True
    sys.exit(told)


if __name__ == "__main__":
    main()
