"""Plans whose runs drift, or are hidden by chance: what they are sure of, and what they say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from airtcp.plan import plan
from airtcp.plan.crossing import Crossing
from airtcp.plan.search import Search
from airtcp.present.plan import doubt_line
from airtcp.results.plans import Plan
from airtcp.scenario import Scenario, loads


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    """Four downloads whose windows take half a minute to be cut, in runs of five seconds."""
    return loads("""
        run = { duration = "5 s", warmup = "1 s" }
        phy = { standard = "802.11n", mcs = 7 }
        ap = { queue = { limit = 1000 } }
        stations = [{ name = "desk", count = 4 }]

        [[flows]]
        name = "backup"
        stations = "desk"
        direction = "download"
        application = { kind = "bulk" }
        tcp = { congestion = "reno", receive_window = "4 MiB" }
        path = [{ delay = "20 ms", rate = "1 Gb/s" }]
    """)


def carried(scenario: Scenario, **asked: Any) -> Plan:
    """Plan without remedies."""
    found = plan(scenario, remedies=False, **asked)
    assert isinstance(found, Plan)
    return found


def test_a_mean_that_may_be_off_makes_an_end_less_sure(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {"until": "flow_goodput < 5 Mb/s", "vary": "stations.desk.count"}
    found = carried(scenario, **asked)
    monkeypatch.setattr(Search, "estimated", Search.by_chance)
    by_chance = carried(scenario, **asked)

    assert found.answer is not None
    assert by_chance.answer is not None
    assert by_chance.unsteady is None
    assert found.answer.value == by_chance.answer.value
    assert found.answer.low is not None
    assert found.answer.high is not None
    assert by_chance.answer.low is not None
    assert by_chance.answer.high is not None
    wide = found.answer.high - found.answer.low
    assert wide > by_chance.answer.high - by_chance.answer.low
    assert found.unsteady is not None
    assert "windows of endless connections" in found.unsteady
    assert str(doubt_line(found)).startswith("It is not known better than that: ")


def test_where_a_metric_is_bounded_below_alone_nobody_knows_how_far_it_carries(
    scenario: Scenario,
) -> None:
    short = scenario.vary({"run.duration": "2 s"})
    found = carried(short, until="rtt > 500 ms", vary="ap.queue.limit", begin=10, end=2000)

    assert found.answer is not None
    assert found.answer.low is None
    assert found.unsteady is not None
    assert str(doubt_line(found)).startswith("Cannot tell yet, it may not carry as far as that: ")


def test_an_end_that_chance_hides_gets_more_replications(scenario: Scenario) -> None:
    asked: dict[str, Any] = {
        "until": "rtt > 500 ms",
        "vary": "ap.queue.limit",
        "begin": 10,
        "end": 2000,
    }
    few, many = (carried(scenario, **asked, replications=n) for n in (5, 20))

    assert few.answer is not None
    assert few.answer.low is None
    assert str(doubt_line(few)).startswith("Chance hides it")
    assert many.answer is not None
    assert many.answer.low is not None
    assert many.answer.low < many.answer.value
    assert many.runs > 2 * few.runs


@pytest.mark.parametrize(("ratios", "by"), [(True, math.log(1.25) / 0.1), (False, 50.0 / 0.1)])
def test_a_crossing_is_known_as_its_metric_is(ratios: bool, by: float) -> None:
    crossing = Crossing(at=40.0, low=30.0, high=None, parts={}, slope=0.1, ratios=ratios)

    wider = crossing.widened(50.0, 200.0)

    assert wider.low == pytest.approx(30.0 - by)
    assert (wider.at, wider.high) == (40.0, None)
    assert crossing.widened(0.0, 200.0) is crossing
    assert replace(crossing, slope=0.0).widened(50.0, 200.0).low is None
