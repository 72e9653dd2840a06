"""results.md defines every key of a result and every metric, and nothing that is not there."""

import re
from collections.abc import Iterator
from typing import Any

import pages
import pytest
from airtcp import compare
from airtcp.scenario import loads

PAGE = pages.text(pages.DOCS / "guide" / "results.md")
DEFINED = set(re.findall(r"`([a-z0-9_]+)`", PAGE))

SCENARIO = """
title = "Of everything a little"
[phy]
standard = "802.11b"
[[stations]]
name = "a"
count = 2
[[flows]]
stations = "a"
direction = "download"
application = { kind = "web", size = "30 kB", think_time = "0.5 s" }
[run]
warmup = "1 s"
duration = "10 s"
replications = 2
"""


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return compare(loads(SCENARIO)).to_dict()


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from keys(part)


def test_every_key_is_defined(result: dict[str, Any]) -> None:
    without_scenario = {key: part for key, part in result.items() if key != "scenario"}
    names_of_groups = set(result["simulation"]["groups"])

    assert set(keys(without_scenario)) - names_of_groups <= DEFINED


def test_airtime_and_counts_are_complete(result: dict[str, Any]) -> None:
    for section in ("airtime", "counts"):
        text = PAGE.split(f"### `{section}`")[1].split("###")[0]
        for key in result["simulation"][section]:
            assert f"`{key}`" in text, key


def test_pairs_are_worth_what_is_told() -> None:
    table = PAGE.split("<!-- table pairs: begins -->")[1].split("<!-- table pairs: ends")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]

    assert len(rows) == 5
    for change, mean, _, *_, of_mean, of_percentile in rows:
        assert float(of_mean) > 1, change
        assert float(of_percentile) > 1, change
        # Each mean is separated from zero by its pairs.
        difference, half_width = (float(part) for part in mean.split(" ± "))
        assert abs(difference) > half_width, change
    # Those of means are two to four times as narrow, but for RTS/CTS.
    narrower = sorted(float(row[-2]) for row in rows)
    assert narrower[0] > 1.5
    assert narrower[1] >= 2
