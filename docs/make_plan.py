"""Make the table of docs/plan.md: the remedies of the catalogue (at once).

.venv/bin/python docs/make_plan.py
"""

from __future__ import annotations

from pathlib import Path

from airtcp.remedies import catalogue
from tables import markdown, remake

PAGE = Path(__file__).parent / "plan.md"


def remedies() -> str:
    """What may be tried, in the order of the catalogue."""
    rows = [
        [
            f"`{one.name}`",
            one.title,
            ", ".join(one.where),
            one.source,
            ", ".join(one.standards) or "all",
        ]
        for one in catalogue()
    ]
    return markdown(["name", "what", "who changes", "source", "standards"], rows)


TABLES = {"remedies": remedies}

if __name__ == "__main__":
    remake(PAGE, TABLES)
