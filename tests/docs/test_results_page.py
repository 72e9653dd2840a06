"""results.md defines every key of a result and every metric, and no others."""

import re
from collections.abc import Iterator
from typing import Any

import pages
import tables
from airtcp import compare
from airtcp.scenario import loads
from bases import cell, reading

PAGE = tables.whole(pages.DOCS / "reference" / "results.md")
DEFINED = set(re.findall(r"`([a-z0-9_]+)`", PAGE))

SCENARIO = cell(2, application=reading("30 kB"), warmup="1 s", duration="10 s", replications=2)


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
