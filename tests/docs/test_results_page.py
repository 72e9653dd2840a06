"""results.md defines every key of a result and every metric, and nothing that is not there."""

import re
from collections.abc import Iterator
from typing import Any

import pages
import tables
from airtcp import compare
from airtcp.scenario import loads

PAGE = tables.whole(pages.DOCS / "reference" / "results.md")
DEFINED = set(re.findall(r"`([a-z0-9_]+)`", PAGE))

SCENARIO = """
title = "Of everything a little"
phy = { standard = "802.11b" }
stations = [{ name = "a", count = 2 }]
run = { warmup = "1 s", duration = "10 s", replications = 2 }
[[flows]]
stations = "a"
direction = "download"
application = { kind = "web", size = "30 kB", think_time = "0.5 s" }
"""


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from keys(part)


def test_every_key_is_defined() -> None:
    result = compare(loads(SCENARIO)).to_dict()
    without_scenario = {key: part for key, part in result.items() if key != "scenario"}
    names_of_groups = set(result["simulation"]["groups"])

    assert set(keys(without_scenario)) - names_of_groups <= DEFINED
    for section in ("airtime", "counts"):
        text = PAGE.split(f"### `{section}`")[1].split("###")[0]
        for key in result["simulation"][section]:
            assert f"`{key}`" in text, key
