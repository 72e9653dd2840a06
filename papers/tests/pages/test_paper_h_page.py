"""The text of docs/papers/paper-h.md agrees with its tables."""

from pathlib import Path

import pytest
import tables

PAGE = Path(__file__).parents[3] / "docs" / "papers" / "paper-h.md"


def half_width(cell: str) -> float:
    return float(cell.split()[2])


def test_means_are_within_a_twentieth_up_to_a_load_of_four_fifths() -> None:
    """Except for files of 1 MB at 0.7996, whose interval includes that."""
    light = 0
    for row in tables.cells(PAGE, "means"):
        rho, *cells = row[1], *row[3:6]
        long_rho, long = row[7], row[9]
        for load, cell in [*((rho, cell) for cell in cells), (long_rho, long)]:
            if float(load) <= 0.8:
                light += 1
                assert abs(tables.number(cell)) < 5.0 + half_width(cell)
                assert abs(tables.number(cell)) <= 5.1
    assert light == 4 * 5


def test_what_is_said_of_variations() -> None:
    table = tables.numbers(PAGE, "variations")
    scenario = table["as in the scenario"]

    # Another initial window of the RFCs changes exponential sizes by less than the interval.
    assert table["initial window of 3 segments (RFC 5681)"][0] == pytest.approx(scenario[0], abs=1)
    assert table["a backoff before every frame"] == pytest.approx(scenario, abs=0.5)
    # A first segment waits 200 ms for its delayed ACK.
    assert table["initial window of 1 segment (RFC 2001)"][0] > 10
    assert table["no dialogue"][0] < scenario[0] - 8
