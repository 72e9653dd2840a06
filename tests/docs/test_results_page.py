"""docs/results.md defines every key of a result and every metric, and nothing that is not there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from airtcp import compare
from airtcp.metrics import METRICS
from airtcp.scenario import loads

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
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

    assert set(keys(without_scenario)) <= DEFINED


def test_every_metric_has_a_row_with_its_unit(result: dict[str, Any]) -> None:
    rows = dict(re.findall(r"(?m)^\| `(\w+)` \| (\S* ?)\| ", PAGE.split("### Metrics")[1]))

    assert set(result["simulation"]["metrics"]) == set(METRICS)
    for name, metric in METRICS.items():
        assert rows[name].strip() == metric.unit, name


def test_airtime_and_counts_are_complete(result: dict[str, Any]) -> None:
    for section in ("airtime", "counts"):
        text = PAGE.split(f"### `{section}`")[1].split("###")[0]
        for key in result["simulation"][section]:
            assert f"`{key}`" in text, key


def test_no_metric_is_defined_that_does_not_exist() -> None:
    text = PAGE.split("### Metrics")[1].split("###")[0]

    assert set(re.findall(r"(?m)^\| `(\w+)` \|", text)) == set(METRICS)
