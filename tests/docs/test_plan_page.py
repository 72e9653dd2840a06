"""The table of remedies in docs/plan.md is that of the catalogue."""

from pathlib import Path

import make_plan
from tables import put

PAGE = Path(__file__).parents[2] / "docs" / "plan.md"


def test_the_table_of_remedies_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")

    for name, make in make_plan.TABLES.items():
        page = put(page, name, make())
    assert page == PAGE.read_text(encoding="utf-8")
