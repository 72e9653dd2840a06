"""The tables of docs/models.md about the cards are what the cards say."""

from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "models.md"


@pytest.mark.parametrize("name", ["cards", "harmless"])
def test_a_table_is_up_to_date(make_cards: ModuleType, name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    made = make_cards.tables.put(page, name, make_cards.MAKERS[name]())
    assert made == page, "run: python docs/make_cards.py"
