"""A change under which somebody gets nothing: it is held against it, and never recommended."""

from __future__ import annotations

import statistics
from typing import Any

import airtcp
import pytest
from airtcp.judge.recommend import advise
from airtcp.present.silence import silences
from airtcp.results import Replication, SimulationResult
from airtcp.results.advice import Advice

#: Ten calls with video, which fill the voice category once they are in it: stations that always
#: have a frame there draw from 0 to 3 slots, and best effort waits one slot longer than they do.
OFFICE: dict[str, Any] = {
    "phy": {"standard": "802.11ax", "channel_width": "40 MHz"},
    "stations": [
        {"profile": "office-laptop", "name": "laptop", "count": 40},
        {"profile": "office-laptop", "name": "caller", "count": 10, "traffic": ["call"]},
    ],
    "flows": [{"name": "caller-call", "application": {"video": "3 Mb/s"}}],
    "targets": {"laptop p90 page_time": "< 2 s", "caller p95 delay": "< 50 ms"},
    "run": {"warmup": "2 s", "duration": "8 s", "replications": 3},
}
VOICE = {"mac.edca.preset": "wmm", "mac.classify": {"udp": "AC_VO"}}


@pytest.fixture(scope="module")
def plain() -> SimulationResult:
    return airtcp.simulate(airtcp.load(OFFICE))


@pytest.fixture(scope="module")
def voice() -> SimulationResult:
    return airtcp.simulate(airtcp.load(OFFICE).vary(VOICE))


@pytest.fixture(scope="module")
def advice(plain: SimulationResult) -> Advice:
    return advise(plain, effort=1.0)


def test_a_change_that_takes_all_from_others_is_not_recommended(advice: Advice) -> None:
    assert "calls-first" not in advice.recommended.name.split(" + ")
    assert not advice.recommended.breaks
    assert {one.group for one in advice.recommended.loses if one.after == 0.0} == set()


def test_flows_of_one_cause_are_told_together(voice: SimulationResult) -> None:
    """Of forty each has its own number of timeouts."""
    found = list(silences(voice))

    timeouts = [flow.timeouts for flow in voice.simulation.flows if flow.timeouts > 0.0]
    assert len(set(timeouts)) > 1
    assert [len(one.flows) for one in found] == [len(timeouts)]


def test_a_target_on_pages_of_which_none_comes_is_missed(voice: SimulationResult) -> None:
    """Forty laptops ask for one every half minute: half of those in progress have waited longer
    than 2 s, and no longer run is proposed."""
    found = airtcp.verdict(voice)
    (pages,) = (one for one in found.targets if one.target.condition.metric.startswith("page"))

    assert not voice.simulation.groups["laptop"]["download"]["page_time_p90_s"].is_known
    assert (pages.state, pages.interval.mean) == ("fails", None)
    ages_s = [age for run in voice.simulation.runs for age in under_way_s(run)]
    assert pages.interval.low == statistics.median(ages_s)
    assert pages.interval.low > 2.0


def under_way_s(run: Replication) -> list[float]:
    return [float(age) for age in run.accounts.pages.under_way_age_s]
