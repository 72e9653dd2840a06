"""The text of docs/papers/paper-b.md agrees with its tables."""

from pathlib import Path

import pytest
import tables

PAGE = Path(__file__).parents[3] / "docs" / "papers" / "paper-b.md"


def test_what_is_said_of_downloads() -> None:
    table = tables.numbers(PAGE, "downloads")
    kept = {name: cells[1] for name, cells in table.items()}
    active = {name: (cells[2], cells[3]) for name, cells in table.items()}
    scenario = "as in the scenario"

    assert table[scenario][0] == pytest.approx(0.474, abs=0.003)
    assert active[scenario] == pytest.approx((0.78, 0.95), abs=0.01)
    assert kept[scenario] == pytest.approx(0.97, abs=0.005)
    assert kept["access point's queue without limit"] > 0.99
    assert kept["least RTO of 200 ms"] == pytest.approx(0.93, abs=0.01)
    assert active["least RTO of 200 ms"][1] == pytest.approx(1.01, abs=0.005)
    # No variation gives both of the paper's numbers.
    assert not any(
        abs(kept[name] - 0.93) < 0.01 and abs(active[name][1] - 0.95) < 0.02 for name in table
    )


def test_what_is_said_of_datagrams() -> None:
    table = tables.numbers(PAGE, "datagrams")

    assert table["7"][0] == pytest.approx(74, abs=0.5)
    assert table["3"][0] < 59 < table["4"][0]
    assert table["7"][1] == pytest.approx(0.4, abs=0.005)


def test_what_is_said_of_bursts() -> None:
    table = tables.numbers(PAGE, "bursts")
    gains = [cells[2] for cells in table.values()]

    assert max(gains) == pytest.approx(15.0, abs=1.5)
    assert max(cells[1] for cells in table.values()) == pytest.approx(5.9, abs=0.05)
    # Fewer collisions than without bursts if one station responds, more if many do.
    assert table["1"][4] < table["1"][3]
    assert table["20"][4] > 3 * table["20"][3]
