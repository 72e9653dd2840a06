"""Tables that scripts put between markers on pages of the documentation.

Knows Markdown and the markers `<!-- table NAME: begins -->` and `<!-- table NAME: ends -->`; knows
no numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with this head."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def put(page: str, name: str, table: str) -> str:
    """The page with `table` in the place of that name. ValueError if there is no such place."""
    pattern = re.compile(
        rf"(<!-- table {name}: begins -->\n).*?(<!-- table {name}: ends -->)", re.DOTALL
    )
    if not pattern.search(page):
        raise ValueError(f"there is no place for the table {name} on the page")
    return pattern.sub(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", page)
