"""The text of docs/papers/concurrent-access.md holds of its table."""

import re
from pathlib import Path

import pytest
import tables

PAGE = tables.whole(Path(__file__).parents[3] / "docs" / "papers" / "concurrent-access.md")


def rows() -> list[list[float]]:
    """The numbers of the table, without their intervals."""
    match = re.search(r"(?s)<!-- table splits: begins -->\n(.*?)\n\n<!-- table", PAGE)
    assert match is not None
    lines = [line.strip("|").split("|") for line in match[1].strip().splitlines()[2:]]
    return [[float(cell.split()[0]) for cell in cells] for cells in lines]


def test_what_is_said_of_splits() -> None:
    for load, theory, chance, fewest, pooled, _, above in rows():
        assert theory == pytest.approx(1.0 / (1.0 - load), abs=0.0005)
        assert chance == pytest.approx(theory, rel=0.03)
        assert pooled == pytest.approx(theory / 2.0, rel=0.03)
        assert pooled < fewest < chance
        assert above > 1.0
    # The split by number loses most to one server where loads are light.
    beyond = [row[-1] for row in rows()]
    assert beyond == sorted(beyond, reverse=True)
