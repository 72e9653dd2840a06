"""Remedies: the metric by which each is judged, and whether targets hold with it.

Uses examples, which have these problems: an office whose calls lose packets and are not late, and
cells of which one starves.
"""

from functools import cache
from pathlib import Path

import airtcp
import pytest
from airtcp.examples import directory
from airtcp.metrics import METRICS
from airtcp.present import advice as words
from airtcp.present.felt import felt_changes
from airtcp.present.verdict import amount
from airtcp.results import SimulationResult
from airtcp.results.advice import Advice, Advised, Trial
from airtcp.scenario import Scenario, loads
from bases import LINUX_DOWNLOAD, two_cells


def scenario(example: str) -> Scenario:
    return airtcp.load(Path(str(directory() / f"{example}.toml")))


@cache
def simulated(example: str) -> SimulationResult:
    return airtcp.simulate(scenario(example))


@cache
def advised(example: str) -> Advice:
    found: Advice = airtcp.advise(simulated(example))
    return found


def trial_of(example: str, remedy: str) -> tuple[Advised, Trial]:
    return next(
        (found, trial)
        for found in advised(example).problems
        for trial in found.remedies
        if trial.name == remedy
    )


def test_losses_of_calls_that_are_not_late_are_what_a_remedy_is_judged_by() -> None:
    found, trial = trial_of("office-wifi5", "calls-first")

    assert (found.finding.goal.metric, found.finding.goal.whose) == (
        "packet_loss",
        "call downloads",
    )
    assert "packet loss of call downloads 3.8 % → 0.00 %" in words.effect_line(found, trial)
    assert "packet_delay_p95_s" in {one.metric for one in trial.wins}


def test_mac80211s_queues_mend_losses_of_calls_without_delays() -> None:
    """Room for 10,240 packets loses none, and turns by airtime do not let calls wait in it."""
    _, trial = trial_of("office-wifi5", "managed-queue")

    assert trial.outcome == "helps"
    assert words.others(trial)[0] == "All 7 targets hold then."


@pytest.mark.parametrize(
    ("remedy", "told"),
    [
        ("channels-apart", "The target holds then."),
        ("managed-queue", "Missed then: goodput per flow of guest."),
    ],
)
def test_whether_the_target_holds_with_a_remedy_is_told(remedy: str, told: str) -> None:
    _, trial = trial_of("three-cells", remedy)

    assert words.targets_line(trial) == told
    assert trial.to_dict()["targets"][0]["state"] == ("holds" if "holds" in told else "fails")


def test_what_chance_may_have_done_is_no_gain_and_no_loss_of_others() -> None:
    """Which of two hidden uploads has the air differs from run to run: RTS shares it."""
    found, trial = trial_of("hidden-uploads", "rts-all")
    own = simulated("hidden-uploads").simulation
    means = [own.groups[name]["upload"]["flow_goodput_bps"] for name in found.finding.groups]

    assert trial.outcome == "helps"
    assert all(one.half_width is not None and one.half_width > 5e6 for one in means)
    assert (trial.wins, trial.loses) == ((), ())


def test_frames_of_several_cells_that_come_through_are_no_collisions() -> None:
    """Two that ignore each other, by spatial reuse, send at once nearly always."""
    rows = [["left", "reader", -35], ["right", "clerk", -35], ["left", "right", -70]]
    text = two_cells(
        f'received = {rows}, obss_pd = "-62 dBm"',
        reader=LINUX_DOWNLOAD,
        clerk=LINUX_DOWNLOAD,
        warmup="500 ms",
        duration="1 s",
        replications=2,
    )
    result = airtcp.simulate(loads(text.replace("802.11a", "802.11ax")))

    assert result.simulation.airtime["collision"] > 0.35
    assert "collisions" not in {one.finding.problem for one in airtcp.advise(result).problems}


def test_a_difference_tells_losses_beside_delays_where_there_are_more_than_a_few() -> None:
    office = scenario("office-wifi5")
    found = airtcp.diff(office, office.vary({"mac.classify.udp": "AC_VO"}))

    told = {(one.metric, one.group, one.part) for one in felt_changes(found)}
    assert ("packet_loss", "call", "download") in told
    assert ("packet_delay_p95_s", "call", "download") in told
    assert ("packet_loss", "call", "upload") not in told


def test_parts_of_one_are_told_in_per_cent() -> None:
    assert amount(0.0382, METRICS["packet_loss"]) == "3.8 %"
    assert amount(0.0743, METRICS["packet_delay_p95_s"]) == "74.3 ms"
    assert amount(0.25, METRICS["jain_index"]) == "0.250"


def test_targets_of_a_trial_are_judged_as_a_run_of_its_command_judges_them() -> None:
    """Of pages that have not ended means alone say less than a run does."""
    _, trial = trial_of("office-wifi6", "calls-first")
    changed = scenario("office-wifi6").vary(trial.set)
    own = airtcp.verdict(airtcp.simulate(changed, replications=trial.difference.n))

    assert own is not None
    assert [(one.state, one.interval) for one in trial.targets] == [
        (one.state, one.interval) for one in own.targets
    ]
