"""The tables of docs/aggregation.md are what airtcp says now, and what is said of them holds."""

import re
from pathlib import Path
from types import ModuleType

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "aggregation.md").read_text(encoding="utf-8")


def rows(name: str) -> dict[str, list[str]]:
    match = re.search(rf"(?s)<!-- table {name}: begins -->\n(.*?)\n\n<!-- table", PAGE)
    assert match is not None, name
    lines = [line.strip("|").split("|") for line in match[1].strip().splitlines()[2:]]
    return {first.strip(): [cell.strip() for cell in cells] for first, *cells in lines}


def test_the_page_has_every_table(make_aggregation: ModuleType) -> None:
    assert re.findall(r"<!-- table (\S+): begins", PAGE) == list(make_aggregation.TABLES)


# A row with few events, and one with many stations; `make pages` makes all of them.
@pytest.mark.parametrize(
    ("name", "standard", "count"),
    [("small-windows", "802.11ac", 1), ("large-windows", "802.11n", 5)],
)
def test_a_row_is_up_to_date(
    make_aggregation: ModuleType, name: str, standard: str, count: int
) -> None:
    first, *cells = make_aggregation.row(name, standard, count)

    assert rows(name)[first] == cells, "run: python docs/make_aggregation.py"


@pytest.mark.parametrize("name", ["small-windows", "large-windows"])
def test_the_model_is_within_3_per_cent(make_aggregation: ModuleType, name: str) -> None:
    told = rows(name)

    assert len(told) == 15
    for first, cells in told.items():
        assert len(cells) == len(make_aggregation.EVERY)
        for cell in cells:
            assert abs(float(cell.split(",")[1])) <= 3.0, (first, cell)
