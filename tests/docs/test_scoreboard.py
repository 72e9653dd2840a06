"""The scoreboard says what the claims and the verdicts of the tests say."""

from types import ModuleType

import pytest


@pytest.mark.parametrize("name", ["scoreboard", "claims"])
def test_a_table_is_up_to_date(make_scoreboard: ModuleType, name: str) -> None:
    page = make_scoreboard.PAGES[name].read_text(encoding="utf-8")

    assert make_scoreboard.with_table(name) == page, "run: python docs/make_scoreboard.py"
