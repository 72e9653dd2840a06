"""Tables of docs/reference/import-options.md: how airtcp import handles foreign options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from airtcp.importer.options import PROGRAMS, options_of
from tables import markdown

VERDICTS = {
    "followed": "followed",
    "named": "named, not followed",
    "unseen": "changes traffic, but is in no file",
    "refused": "refused",
    "harmless": "harmless",
}


def _maker(program: str) -> Callable[[], str]:
    """Return a function that makes the table of a program."""

    def table() -> str:
        rows = []
        options = options_of(program)
        for verdict, called in VERDICTS.items():
            of_verdict = [one for one in options.values() if one.verdict == verdict]
            for reason in dict.fromkeys(one.reason for one in of_verdict):
                names = [name for name, one in options.items() if one == (verdict, reason)]
                rows.append([called, reason, " ".join(f"`{name}`" for name in names)])
        return markdown(["", "why, or what it becomes", "options"], rows)

    return table


DOCS = Path(__file__).parents[1]
PAGE = DOCS / "reference" / "import-options.md"
TABLES = {f"import-{program}": _maker(program) for program in PROGRAMS}
