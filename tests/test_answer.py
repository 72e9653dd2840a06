"""The first lines of an answer, of scenarios in which something is wrong, or nothing."""

from typing import Any

import airtcp
import pytest
from airtcp.advice.problems import findings
from airtcp.present.answer import first_lines

RUN = {"warmup": "1 s", "duration": "5 s", "replications": 2}


def lines(standard: str, flows: list[dict[str, Any]], **tables: Any) -> list[str]:
    names = dict.fromkeys(flow["stations"] for flow in flows)
    groups = [{"name": name, "count": 4} | tables.pop(name, {}) for name in names]
    scenario = {"phy": {"standard": standard}, "stations": groups, "flows": flows, "run": RUN}
    return first_lines(airtcp.simulate(airtcp.load(scenario | tables)))


def flow(stations: str, direction: str, kind: str = "bulk", **keys: Any) -> dict[str, Any]:
    return {
        "stations": stations,
        "direction": direction,
        "application": {"kind": kind} | keys,
    }


@pytest.mark.parametrize(
    ("shown", "says"),
    [
        (
            lines(
                "802.11b", [flow("near", "download", size="20 kB", kind="web", think_time="5 s")]
            ),
            ["Near downloads ", "A typical page takes ", "Nothing stands out", "airtcp plan"],
        ),
        (
            lines("802.11b", [flow("near", "download")], ap={"queue": {"limit": 200}}),
            [
                "(1.",
                " each)",
                "mostly at the access point",
                "What helps: airtcp run",
            ],
        ),
        (
            lines(
                "802.11b",
                [flow("near", "download", "udp", packet="1500 B", rate="5 Mb/s")],
            ),
            ["near downloads take up to ", "datagrams take 100.0 % of the air that is in use"],
        ),
        (
            lines(
                "802.11b",
                [flow("near", "download"), flow("far", "download")],
                far={"data_rate": "1 Mb/s"},
                ap={"queue": {"limit": 20}},
            ),
            ["Near downloads ", "far downloads ", "a station of far takes "],
        ),
    ],
    ids=["fine", "queue", "datagrams", "slow"],
)
def test_at_most_five_lines_say_it(shown: list[str], says: list[str]) -> None:
    assert len(shown) <= 5
    assert sum(line.startswith("The airtime goes to ") for line in shown) == 1
    for text in says:
        assert text in " ".join(shown)


def test_who_asks_for_little_does_not_starve_the_other_direction() -> None:
    """Speech one way beside pages the other way is no unfairness; endless uploads beside endless
    downloads behind a short queue are."""
    modest = lines(
        "802.11b",
        [
            flow("near", "download", size="200 kB", kind="web", think_time="1 s"),
            flow("far", "upload", "udp", packet="200 B", rate="20 kb/s"),
        ],
    )
    greedy = lines(
        "802.11b",
        [flow("near", "download"), flow("far", "upload")],
        ap={"queue": {"limit": 10}},
    )

    assert "goodput of endless flows" not in " ".join(modest)
    assert "uneven shares" not in " ".join(modest)
    assert "uploads take 9" in " ".join(greedy)


def test_an_echo_is_called_no_page() -> None:
    probe = {"profile": "office-laptop", "name": "probe", "count": 1, "traffic": ["ping"]}
    scenario = {"phy": {"standard": "802.11ax"}, "stations": [probe], "run": RUN}

    told = first_lines(airtcp.simulate(airtcp.load(scenario)))

    assert any(line.startswith("A typical ping takes") for line in told)


def test_one_page_is_not_told_to_take_more_than_itself() -> None:
    """Of a page every 5 s one ends in 4 s, if any."""
    once = flow("near", "download", "web", size="20 kB", think_time="5 s")
    (told,) = (line for line in lines("802.11b", [once], near={"count": 1}) if "typical" in line)

    assert "more than" not in told


def test_a_wait_that_two_problems_share_is_told_once() -> None:
    """Bob's upload fills its station's queue, and beside the other cell it gets half of the air.

    Both problems are told by its wait, the second one with the place of it as well.
    """
    bulk = {"application": {"kind": "bulk"}, "path": [{"rate": "1 Gb/s", "delay": "5 ms"}]}
    tcp = {"preset": "linux", "small_queue": False}
    scenario = {
        "phy": {"standard": "802.11g"},
        "ap": {"queue": {"limit": 100}},
        "cells": {"a": {}, "b": {}},
        "air": {"heard": [["a", "b"]]},
        "stations": [
            {"name": "ann", "count": 1, "cell": "a"},
            {"name": "bob", "count": 1, "cell": "b"},
        ],
        "flows": [
            {"stations": "ann", "direction": "download", "tcp": tcp} | bulk,
            {"stations": "bob", "direction": "upload", "tcp": tcp} | bulk,
        ],
        "run": RUN | {"warmup": "2 s"},
    }
    result = airtcp.simulate(airtcp.load(scenario))
    busy, full = findings(result)[:2]
    assert full.evidence.startswith(f"{busy.evidence.partition('; ')[0]}, ")

    (told,) = (line for line in first_lines(result) if line.startswith("What is wrong: "))

    assert told.count("segments of bob uploads wait") == 1
    assert "cell b hears frames of others" in told
    assert told.endswith(", at the stations.")
