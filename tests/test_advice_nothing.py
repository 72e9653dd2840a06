"""A remedy under which people get nothing: told, held against it, and never tried first."""

from __future__ import annotations

import statistics
from typing import Any

import airtcp
import pytest
from airtcp.advice.effects import newly_unhappy
from airtcp.advice.silence import silences
from airtcp.advice.trials import advise
from airtcp.present import advice as words
from airtcp.present.felt import sentence
from airtcp.present.verdict import next_step
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
    "run": {"warmup": "5 s", "duration": "20 s", "replications": 4},
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
    return advise(plain)


def test_a_remedy_under_which_pages_stop_brings_another_problem(advice: Advice) -> None:
    """Pages of laptops are late before as well, so that no new complaint tells of it."""
    trial = next(one for one in advice.problems[0].remedies if one.name == "calls-first")

    assert trial.outcome == "costs others"
    assert "laptop downloads" in trial.hurts
    lost = [one for one in trial.loses if one.group == "laptop"]
    assert [(one.metric, one.after) for one in lost] == [("flow_goodput_bps", 0.0)]
    assert any("goodput per flow of laptop downloads" in line for line in words.others(trial))


def test_a_remedy_that_costs_nobody_goes_before_it(advice: Advice) -> None:
    assert advice.best is not None
    assert advice.best.name != "calls-first"
    assert advice.best.outcome == "helps"


def test_who_gets_nothing_is_not_better_served(
    plain: SimulationResult, voice: SimulationResult
) -> None:
    assert "laptop downloads" in newly_unhappy(plain, voice)
    assert "laptop downloads" not in newly_unhappy(voice, plain)

    told = sentence(airtcp.diff(airtcp.load(OFFICE), airtcp.load(OFFICE).vary(VOICE)))
    assert "Nothing gets through in B alone: laptop downloads." in told
    assert "laptop" not in told.partition("Badly served in A alone: ")[2]


def test_flows_of_one_cause_are_told_together(voice: SimulationResult) -> None:
    """Of forty each has its own number of timeouts."""
    found = list(silences(voice))

    timeouts = [flow.timeouts for flow in voice.simulation.flows if flow.timeouts > 0.0]
    assert len(set(timeouts)) > 1
    assert [len(one.flows) for one in found] == [len(timeouts)]
    assert f"expired {min(timeouts):.3g} to {max(timeouts):.3g} times in a run" in found[0].why


def test_a_target_on_pages_of_which_none_comes_is_missed(voice: SimulationResult) -> None:
    """Forty laptops ask for one every half minute: half of those in progress have waited longer
    than 2 s, and no longer run is proposed."""
    found = airtcp.verdict(voice)
    assert found is not None
    (pages,) = (one for one in found.targets if one.target.condition.metric.startswith("page"))

    assert voice.simulation.groups["laptop"]["download"]["page_time_p90_s"].n == 0
    assert (pages.state, pages.interval.mean) == ("fails", None)
    ages_s = [age for run in voice.simulation.runs for age in under_way_s(run)]
    assert pages.interval.low == statistics.median(ages_s)
    assert pages.interval.low > 2.0
    assert next_step(found, voice.simulation) == (
        "No page of laptop comes in any of the runs: see what is wrong."
    )


def under_way_s(run: Replication) -> list[float]:
    assert run.books is not None
    assert run.books.pages is not None
    return [float(age) for age in run.books.pages.under_way_age_s]


def test_of_few_pages_that_have_not_come_nothing_is_told() -> None:
    """A run of a second has a page in progress or two."""
    short = airtcp.load(OFFICE).vary(VOICE | {"run.warmup": "0 s", "run.duration": "1 s"})
    found = airtcp.verdict(airtcp.simulate(short, replications=1))
    assert found is not None

    assert found.targets[0].state == "unknown"
    assert found.targets[0].interval.low is None
