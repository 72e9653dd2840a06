"""Make the tables of the documentation that follow from code, and check the stored ones.

All tables are in git. `make docs` makes those that follow from declarations. Simulated or measured
tables are stored, and only their scripts make them again.

    .venv/bin/python docs/pages.py                   # make tables from declarations
    .venv/bin/python docs/pages.py --check           # compare the tables that take seconds
    .venv/bin/python docs/pages.py --check --long    # and those that take minutes
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import tables

DOCS = Path(__file__).parent

#: The modules of tables that follow from declarations.
BUILT = (
    "built.commands",
    "built.keys",
    "built.resolved_form",
    "built.cards",
    "built.records",
    "built.remedies",
    "built.imports",
    "built.profiles",
)
#: The scripts of stored tables that are the same on every machine, with the names of those
#: that take seconds; None for all of them.
STORED: Mapping[str, tuple[str, ...] | None] = {
    "make_scoreboard": None,
    "make_readme": None,
    "make_validation": ("saturated",),
    "make_models": ("saturated", "categories", "uploads", "alone"),
    "make_aggregation": (),
    "make_ofdma": (),
    "make_acks": ("802.11n", "limits", "bbr"),
    "make_concurrent_access": (),
    "make_coverage": None,
    "make_paper_b": None,
    "make_paper_g": (),
    "make_paper_h": ("cycle", "cycles"),
    "make_ack_gain": (),
    "make_diff": (),
    "make_gaps": (),
    "make_cells": (),
    "make_glance": (),
}
#: Tables that depend on the machine, or on programs that are not part of airtcp.
MEASURED = re.compile("testbed-.*|cluster|packetdrill|scale")
#: The folders of pages.
FOLDERS = ("tutorial", "howto", "reference", "explanation", "papers", "development")


def written() -> list[Path]:
    """List all pages, the one that leads to the others first."""
    return [
        DOCS / "index.md",
        *(page for name in FOLDERS for page in sorted((DOCS / name).glob("*.md"))),
    ]


class Stored(NamedTuple):
    """A table, optionally with a row that takes seconds if the table takes minutes."""

    script: str
    page: Path
    name: str
    make: Callable[[], str]
    is_quick: bool
    sample: Callable[[], list[str]] | None

    def is_current(self) -> bool:
        """Make the table again, and compare."""
        return tables.is_current(self.page, self.name, self.make())

    def has_sample(self) -> bool:
        """Make the row again, and look for it in the table."""
        assert self.sample is not None
        line = tables.line(self.sample())
        return line in tables.found(tables.whole(self.page), self.name).splitlines()


def stored() -> Iterator[Stored]:
    """List the stored tables, and those that follow from declarations."""
    for script, quick in {**STORED, **dict.fromkeys(BUILT)}.items():
        module = import_module(script)
        pages, samples = getattr(module, "PAGES", {}), getattr(module, "SAMPLES", {})
        for name, make in module.TABLES.items():
            page = pages.get(name) or module.PAGE
            is_quick = quick is None or name in quick
            yield Stored(script, page, name, make, is_quick, samples.get(name))


def build() -> None:
    """Write the tables that follow from declarations, if changed."""
    for one in stored():
        if one.script in BUILT:
            tables.remake(one.page, {one.name: one.make})


def stale(*, long: bool) -> Iterator[str]:
    """Return the names of tables that their scripts would now make differently."""
    for one in stored():
        if one.is_quick or long:
            is_current = one.is_current()
        else:
            is_current = one.sample is None or one.has_sample()
        if not is_current:
            page = one.page.relative_to(DOCS.parent)
            script = one.script.replace(".", "/")
            yield f"{page}: table {one.name} is no longer what docs/{script}.py makes"


def main() -> None:
    """Make tables, or check them with exit status 1 if one is stale."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare stored tables")
    parser.add_argument("--long", action="store_true", help="also compare tables that take minutes")
    given = parser.parse_args()
    if not given.check:
        build()
        return
    differ = False
    for line in stale(long=given.long):
        print(line, flush=True)
        differ = True
    sys.exit(differ)


if __name__ == "__main__":
    main()
