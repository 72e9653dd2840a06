"""The text of docs/papers/concurrent-access.md agrees with its table."""

from pathlib import Path

import pytest
import tables

PAGE = Path(__file__).parents[3] / "docs" / "papers" / "concurrent-access.md"


def test_what_is_said_of_splits() -> None:
    rows = [[*map(tables.number, cells)] for cells in tables.cells(PAGE, "splits")]
    for load, theory, chance, fewest, pooled, _, above in rows:
        assert theory == pytest.approx(1.0 / (1.0 - load), abs=0.0005)
        assert chance == pytest.approx(theory, rel=0.03)
        assert pooled == pytest.approx(theory / 2.0, rel=0.03)
        assert pooled < fewest < chance
        assert above > 1.0
    # A split by number loses most against a single server at light loads.
    beyond = [row[-1] for row in rows]
    assert beyond == sorted(beyond, reverse=True)
