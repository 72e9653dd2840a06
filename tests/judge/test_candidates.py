"""Candidates: every remedy that applies, each scenario once, and pairs that do not collide."""

from __future__ import annotations

from typing import Any

import airtcp
import pytest
from airtcp.judge.candidates import COSTS, Candidate, pair, singles
from airtcp.remedies import catalogue, named
from airtcp.scenario import Scenario


@pytest.fixture(scope="module")
def base() -> Scenario:
    scenario: dict[str, Any] = {
        "phy": {"standard": "802.11ac", "mcs": 5},
        "ap": {"queue": {"limit": 100}},
        "stations": [{"name": "desk", "count": 3}],
        "flows": [
            {"stations": "desk", "direction": "download", "application": {"kind": "bulk"}},
            {"stations": "desk", "direction": "both", "application": {"kind": "call"}},
        ],
    }
    return named(airtcp.load(scenario))


@pytest.fixture(scope="module")
def known(base: Scenario) -> dict[str, Candidate]:
    return {one.name: one for one in singles(base)[0]}


def test_every_remedy_is_a_candidate_or_has_a_reason_why_not(base: Scenario) -> None:
    found, unfit = singles(base)
    names = [one.name for one in found]

    assert len(names) > 10
    assert not set(names) & set(unfit)
    assert set(names) | set(unfit) <= {one.name for one in catalogue()}
    assert all(unfit.values())
    hashes = [one.changed.scenario.hash() for one in found]
    assert len({base.hash(), *hashes}) == len(hashes) + 1
    # The cheapest kind comes first.
    costs = [COSTS.index(one.cost) for one in found]
    assert costs == sorted(costs)


def test_a_pair_has_the_changes_of_both_and_the_higher_cost(
    base: Scenario, known: dict[str, Candidate]
) -> None:
    one, other = known["managed-queue"], known["calls-first"]
    both = pair(base, one, other)

    assert both.name == "managed-queue + calls-first"
    assert set(both.changes) == set(one.changes) | set(other.changes)
    assert COSTS.index(both.cost) == max(COSTS.index(each.cost) for each in (one, other))
    # Changes of the same keys are no pair.
    assert pair(base, one, known["larger-buffer"]) is None
    assert pair(base, one, one) is None
