"""Table of docs/howto/plan.md: the remedies of the catalogue."""

from __future__ import annotations

from pathlib import Path

from airtcp.remedies import catalogue
from tables import markdown


def remedies() -> str:
    """List the remedies, in the order of the catalogue."""
    rows = [
        [
            f"`{one.name}`",
            one.title,
            ", ".join(one.where),
            one.cost,
            one.source,
            ", ".join(one.standards) or "all",
        ]
        for one in catalogue()
    ]
    return markdown(["name", "what", "who changes", "takes", "source", "standards"], rows)


DOCS = Path(__file__).parents[1]
PAGE = DOCS / "howto" / "plan.md"
TABLES = {"remedies": remedies}
