"""The order of problems, of trials, and what is held against a remedy: what it causes itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import airtcp
import pytest
from airtcp.advice.effects import gathered, newly_unhappy
from airtcp.advice.trials import advise
from airtcp.examples import directory
from airtcp.metrics import METRICS
from airtcp.present import advice as words
from airtcp.results.advice import Advice
from airtcp.stats import student_interval

#: Six uploads beside three downloads on 802.11g: stations contend nine times as often as the
#: access point, whose queue is full of ACKs.
UPLOADS: dict[str, Any] = {
    "phy": {"standard": "802.11g"},
    "ap": {"queue": {"limit": 50}},
    "stations": [{"name": "down", "count": 3}, {"name": "up", "count": 6}],
    "flows": [
        {"stations": "down", "direction": "download", "application": {"kind": "bulk"}},
        {"stations": "up", "direction": "upload", "application": {"kind": "bulk"}},
    ],
    "run": {"warmup": "5 s", "duration": "20 s", "replications": 4},
}

#: Games beside backups in both directions, each of which has little of the other's, and pages.
DORM: dict[str, Any] = {
    "phy": {"standard": "802.11ac", "channel_width": "40 MHz"},
    "ap": {"queue": {"limit": 1000}},
    "stations": [
        {"profile": "console", "name": "gamer", "count": 4},
        {
            "profile": "home-laptop",
            "name": "sync",
            "count": 3,
            "traffic": ["backup", "download"],
        },
        {"profile": "home-laptop", "name": "surf", "count": 5},
    ],
    "run": {"warmup": "5 s", "duration": "20 s", "replications": 6},
}


@pytest.fixture(scope="module")
def dorm() -> Advice:
    return advise(airtcp.simulate(airtcp.load(DORM)))


def test_a_direction_that_has_nearly_nothing_is_told_before_its_uneven_shares() -> None:
    advice = advise(airtcp.simulate(airtcp.load(UPLOADS)))

    order = [one.finding.problem for one in advice.problems]
    assert order.index("direction") < order.index("starving")
    assert advice.best is not None
    assert advice.best.name == "ap-priority"
    assert {one.state for one in advice.best.targets} == {"holds"}


def test_of_remedies_that_help_one_that_misses_fewer_targets_is_first() -> None:
    """Calls in a category of their own lose least; with FQ-CoDel desks get their goodput, too."""
    office = airtcp.load(str(directory() / "office-wifi5.toml"))
    advice = advise(airtcp.simulate(office))
    helping = [one for one in advice.problems[0].remedies if one.outcome == "helps"]
    open_of = [[one.state for one in trial.targets if one.state != "holds"] for trial in helping]

    assert advice.best is not None
    assert advice.best is helping[0]
    assert len(helping) > 1
    assert open_of[0] == []
    assert any(open_of[1:])


def test_the_best_remedy_of_the_first_problem_has_most_replications(dorm: Advice) -> None:
    first, *others = dorm.problems
    assert first.finding.problem == "ap-queue"
    assert first.remedies[0].name == "calls-first"
    assert first.remedies[0].difference.n == 6
    assert [one.finding.problem for one in others][:1] == ["direction"]
    assert all(trial.difference.n < 6 for one in others for trial in one.remedies)


def test_mac80211s_queues_help_calls_that_fq_codel_alone_does_not(dorm: Advice) -> None:
    trial = next(one for one in dorm.problems[0].remedies if one.name == "managed-queue")
    assert dict(trial.set) == {"ap.queue": {"discipline": "fq-codel"}, "ap.scheduler": "airtime"}
    assert trial.before.mean is not None
    assert trial.after.mean is not None
    assert trial.after.mean < trial.before.mean / 3.0


def test_a_metric_that_no_pair_of_runs_has_is_told_as_such(dorm: Advice) -> None:
    """As the fairness of flows of which none gets anything, without a remedy or with it."""
    advised = dorm.problems[0]
    trial = replace(advised.remedies[0], before=student_interval([], 0.95), outcome="cannot tell")

    assert words.effect_line(advised, trial).endswith(
        "(no run has a value of "
        f"{METRICS[advised.finding.goal.metric].label} both without and with it)"
    )


def test_who_is_badly_served_by_a_remedy_alone_is_named(dorm: Advice) -> None:
    """The data of the access point go first, and uploads of games wait for them."""
    advised = dorm.problems[1]
    trial = next(one for one in advised.remedies if one.name == "ap-priority")
    assert trial.outcome == "costs others"
    assert words.effect_line(advised, trial).endswith("helps, and brings another problem")
    assert "gamer uploads" in trial.hurts
    assert trial.to_dict()["hurts"] == list(trial.hurts)
    assert any(line.startswith("Badly served then: gamer uploads") for line in words.others(trial))


def test_what_chance_does_is_not_held_against_a_remedy() -> None:
    """Of one scenario replications on other random numbers are missed targets, and no harm."""
    scenario = airtcp.load(
        DORM
        | {
            "stations": [{"profile": "office-laptop", "name": "reader", "count": 6}],
            "targets": {"reader p90 page_time": "< 1 s"},
        }
    )
    runs = airtcp.simulate(scenario, replications=12).simulation.runs
    pages = sorted(runs, key=lambda run: float(run.answer["metrics"]["page_time_p90_s"] or 0.0))
    provenance = airtcp.simulate(scenario, replications=1).provenance
    # Of each pair of neighbours by value one is among the first, so that means differ by little.
    one, other = (
        gathered(scenario, provenance, half, confidence=0.95) for half in (pages[::2], pages[1::2])
    )
    value = [
        half.simulation.groups["reader"]["download"]["page_time_p90_s"].mean
        for half in (one, other)
    ]
    assert value[0] is not None
    assert value[1] is not None
    bound = f"{500.0 * (value[0] + value[1]):.0f} ms"
    judged = scenario.vary({"targets": {"reader p90 page_time": f"< {bound}"}})
    before, after = (
        gathered(judged, provenance, half.simulation.runs, confidence=0.95) for half in (one, other)
    )
    assert newly_unhappy(before, after) == []
