"""Advice where a target on goodput is missed: of a cell, of a group, of a profile of traffic."""

from __future__ import annotations

from typing import Any

import airtcp
import pytest
from airtcp.results.advice import Advised
from airtcp.scenario import loads

ALONE = """
    phy = { standard = "802.11n" }
    stations = [{ name = "desk", count = 6 }]
    flows = [{ stations = "desk", direction = "download", application = { kind = "bulk" } }]
    run = { warmup = "1 s", duration = "4 s", replications = 4 }
"""
BESIDE = """
    phy = { standard = "802.11n" }
    cells = { quick = {}, slow = {} }
    air = { heard = [["quick", "slow"]] }
    stations = [
      { name = "near", count = 3, cell = "quick", mcs = 7 },
      { name = "far", count = 1, cell = "slow", mcs = 0 },
    ]
    flows = [
      { stations = "near", direction = "download", application = { kind = "bulk" } },
      { stations = "far", direction = "download", application = { kind = "bulk" } },
    ]
    run = { warmup = "1 s", duration = "4 s", replications = 4 }
"""


def found(text: str, **changes: Any) -> list[Advised]:
    scenario = loads(text).vary({key.replace("__", "."): one for key, one in changes.items()})
    return list(airtcp.advise(airtcp.simulate(scenario)).problems)


def test_a_full_access_point_is_told_of_where_a_rate_is_asked_of_it() -> None:
    assert found(ALONE) == []
    assert found(ALONE, targets={"desk flow_goodput": "> 9 Mb/s"}) == []

    (one,) = found(ALONE, targets={"desk flow_goodput": "> 12 Mb/s"})

    assert one.finding.problem == "full"
    assert one.finding.evidence.startswith("goodput per flow of desk is 9.6")
    assert one.finding.evidence.endswith("Mb/s, wanted > 12 Mb/s; the air is full")
    assert one.remedies[0].outcome == "helps"
    assert one.remedies[0].before.mean == pytest.approx(9.6e6, rel=0.02)


@pytest.mark.parametrize(
    ("target", "evidence"),
    [
        ({"cell quick goodput": "> 35 Mb/s"}, "goodput of cell quick is 2"),
        ({"cell quick share_of_alone": "> 60 %"}, "cell quick's share of what it has alone is 4"),
        ({"near flow_goodput": "> 12 Mb/s"}, "goodput per flow of near is 8."),
    ],
)
def test_neighbours_are_told_of_where_they_leave_less_than_is_asked(
    target: dict[str, str], evidence: str
) -> None:
    (one,) = found(BESIDE, targets=target)

    assert (one.finding.problem, one.finding.groups) == ("busy-neighbours", ("near",))
    assert one.finding.evidence.startswith(evidence)
    assert (one.remedies[0].name, one.remedies[0].outcome) == ("channels-apart", "helps")
    assert [judged.state for judged in one.remedies[0].targets] == ["holds"]


def test_a_rate_that_is_asked_of_all_is_no_complaint_of_those_who_have_it() -> None:
    assert found(BESIDE, targets={"cell slow goodput": "> 2 Mb/s"}) == []
    assert found(BESIDE, targets={"far flow_goodput": "< 5 Mb/s"}) == []
