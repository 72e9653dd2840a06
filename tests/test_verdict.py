"""Verdicts: confidence intervals decide targets, and are wrong no more often than stated."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import airtcp
import numpy as np
import pytest
from airtcp.conditions import read_condition
from airtcp.judge import growth as growing
from airtcp.judge.targets import EXPECTED, expected
from airtcp.judge.verdicts import (
    _of_those_who_wait,
    _while_running,
    glanced,
    joint_level,
    starved_runs,
    state_of,
)
from airtcp.results.verdict import Judged, Target, Verdict
from airtcp.scenario import load, loads
from airtcp.scenario.measured import measurable
from airtcp.stats import Interval
from bases import CALLS, SATURATED, cell, reading
from commands import call

VALID = sorted((Path(__file__).parent / "scenarios" / "valid").glob("*.toml"))
SHORT = 'run = { warmup = "1 s", duration = "1 s", replications = 4, seed = 1 }\n'


def judged(text: str, *interval: float | None) -> Judged:
    condition = read_condition(text)
    mean, low, high = interval
    found = Interval(mean, low, high, 5)
    return Judged(Target(condition), found, state_of(condition, found))


@pytest.mark.parametrize(
    ("text", "interval", "state", "margin"),
    [
        ("goodput > 2 Mb/s", (2.2e6, 2.1e6, 2.3e6), "holds", 0.1),
        ("goodput > 2 Mb/s", (1.5e6, 1.4e6, 1.9e6), "fails", -0.25),
        ("goodput > 2 Mb/s", (2.1e6, 1.9e6, 2.3e6), "unknown", 0.05),
        ("goodput > 2 Mb/s", (2.1e6, 2.0e6, 2.2e6), "unknown", 0.05),
        ("transfer_time < 2 s", (1.5, 1.1, 1.9), "holds", 0.25),
        ("transfer_time < 2 s", (2.5, 2.1, 2.9), "fails", -0.25),
        # One replication has no interval.
        ("transfer_time < 2 s", (1.0, None, None), "unknown", 0.5),
        # Runs that are too short give only a lower bound for a time.
        ("transfer_time < 2 s", (None, 3.0, None), "fails", -0.5),
        ("transfer_time < 2 s", (None, 1.5, None), "unknown", None),
        ("transfer_time > 2 s", (None, 2.5, None), "holds", 0.25),
        ("transfer_time < 2 s", (None, None, None), "unknown", None),
        # Percentiles of delays are known to 0.8 %: 49.8 ms might be 50.2.
        ("p95 packet_delay < 50 ms", (0.0498, 0.0498, 0.0498), "unknown", 0.004),
        ("p95 packet_delay < 50 ms", (0.0495, 0.0495, 0.0495), "holds", 0.01),
    ],
)
def test_a_target_is_judged_by_its_whole_interval(text, interval, state, margin):
    """The margin is the distance from the bound over the bound."""
    one = judged(text, *interval)
    assert one.state == state
    assert margin is None or one.margin == pytest.approx(margin)


@pytest.mark.parametrize(
    ("runs", "least_bps", "starved"),
    [
        # A run below half of 1 Mb/s is starved. A quarter of the runs, and at least two, must be.
        (8, [499e3, 499e3], 2),
        (8, [500e3, 500e3], 0),
        (8, [1e3], 0),
        (12, [1e3, 1e3], 0),
        (12, [1e3, 1e3, 1e3], 3),
        (4, [1e3], 0),
        (4, [1e3, 1e3], 2),
    ],
)
def test_a_flow_below_half_of_its_target_in_a_quarter_of_the_runs_is_starved(
    runs: int, least_bps: list[float], starved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [[one, 2e6] for one in least_bps] + [[2e6]] * (runs - len(least_bps))
    monkeypatch.setattr("airtcp.judge.verdicts.endless_goodputs", lambda answer, *_: answer)
    measured: Any = SimpleNamespace(runs=[SimpleNamespace(answer=one) for one in answers])
    scenario: Any = None

    wanted = read_condition("flow_goodput > 1 Mb/s")
    assert starved_runs(measured, wanted, scenario) == least_bps[:starved]
    for other in ("flow_goodput < 1 Mb/s", "goodput > 1 Mb/s"):
        assert starved_runs(measured, read_condition(other), scenario) == []


@pytest.mark.parametrize(
    ("ages_s", "text", "low_s"),
    [
        # The median age of ten pages in progress is 5.5 s; nine are too few for a percentile.
        (range(1, 11), "p90 page_time < 4 s", 5.5),
        (range(1, 10), "p90 page_time < 4 s", None),
        (range(1, 11), "laptop/upload p90 page_time < 4 s", None),
        (range(1, 11), "p50 page_time < 4 s", None),
        (range(1, 11), "page_time < 4 s", None),
    ],
)
def test_ten_pages_that_wait_tell_of_a_percentile(ages_s, text, low_s):
    """Each of two runs has every second page."""
    runs = [list(ages_s)[place::2] for place in (0, 1)]
    pages = [
        SimpleNamespace(under_way_age_s=np.array(one), under_way_entry=np.zeros(len(one), int))
        for one in runs
    ]
    measured: Any = SimpleNamespace(
        runs=[SimpleNamespace(accounts=SimpleNamespace(pages=one)) for one in pages]
    )
    flow = SimpleNamespace(stations="laptop", direction="download")
    scenario: Any = SimpleNamespace(flows=[flow])

    found = _of_those_who_wait(measured, read_condition(text), scenario)
    assert (found and found.low) == low_s


@pytest.mark.parametrize(
    ("text", "parts", "bps"),
    [
        ("laptop/download goodput > 1 Mb/s", ["all", "download"], 8e6),
        ("laptop goodput > 1 Mb/s", ["all", "download"], 8e6),
        # Both directions include the jobs.
        ("laptop goodput > 1 Mb/s", ["all", "download", "upload"], None),
        ("laptop flow_goodput > 1 Mb/s", ["all", "download"], 4e6),
        ("laptop/upload goodput > 1 Mb/s", ["all", "download"], None),
        ("laptop transfer_time < 1 s", ["all", "download"], None),
    ],
)
def test_the_goodput_of_two_jobs_is_that_until_their_end(text, parts, bps):
    together = Interval(8e6, 7e6, 9e6, 4)
    job = SimpleNamespace(group="laptop", part="download", count=2, goodput_bps=together)
    measured: Any = SimpleNamespace(groups={"laptop": parts}, jobs=[job])

    found = _while_running(measured, read_condition(text))
    assert (found and found.mean) == bps


@pytest.mark.parametrize(
    ("reached", "settled", "low_bps", "state"),
    [
        (True, True, 2.1e6, "holds"),
        (True, False, 2.1e6, "unknown"),
        (False, True, 2.1e6, "unknown"),
        (False, False, 1.0e6, "fails"),
    ],
)
def test_only_a_whole_quick_simulation_tells_that_a_target_is_met(reached, settled, low_bps, state):
    found = Interval(low_bps + 5e4, low_bps, low_bps + 1e5, 5)
    surer = SimpleNamespace(interval=lambda *_: found)
    simulation = SimpleNamespace(confidence=0.95)
    seen: Any = SimpleNamespace(
        reached=reached, settled=settled, simulation=simulation, at=lambda level: surer
    )
    judged_by = glanced(loads(cell(2)).vary({"targets": {"goodput": "> 2 Mb/s"}}), seen)

    assert [one.state for one in judged_by.targets] == [state]


GOOD, NEAR = judged("goodput > 1 Mb/s", 2e6, 2e6, 2e6), judged("jain_index > 0.9", 1, 1, 1)
BAD = judged("transfer_time < 2 s", 9.0, 8.0, 10.0)
OPEN = judged("page_time < 2 s", 2.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("targets", "state", "nearest"),
    [
        ((GOOD, NEAR), "holds", NEAR),
        ((GOOD, OPEN), "unknown", OPEN),
        ((GOOD, OPEN, BAD), "fails", BAD),
    ],
)
def test_one_target_that_fails_fails_all_and_the_nearest_decides(targets, state, nearest):
    verdict = Verdict(targets, written=True, confidence=0.95)
    assert (verdict.state, verdict.nearest) == (state, nearest)


@pytest.mark.parametrize(("targets", "level"), [(1, 0.95), (2, 0.95), (5, 0.98)])
def test_intervals_of_many_targets_are_wider_so_that_all_are_right_together(targets, level):
    """A verdict is wrong at one end of an interval only.

    At .95, two targets are wrong with probability 2 x .025. Five targets share .05 in five ends.
    """
    assert joint_level(0.95, targets) == pytest.approx(level)


@pytest.mark.slow
def test_a_verdict_at_the_truth_is_wrong_no_more_often_than_it_says() -> None:
    """The bounds are the true values, so every definite verdict is wrong.

    Each of two targets at .95 is missed with probability 2.5 %. At 5 % in all, more than 20 misses
    in 200 seeds have probability .0003.
    """
    run: dict[str, Any] = {"warmup": "200 ms", "duration": "300 ms"}
    base = loads(cell(4, direction="upload", application=SATURATED, **run))
    long = airtcp.simulate(base.with_run(seed=10**6, replications=3000)).metrics
    goodput, collisions = long["goodput_bps"].mean, long["collision_probability"].mean

    def states(seeds: int, **targets: str) -> list[list[str]]:
        scenario = base.vary({"targets": targets})
        found = (
            airtcp.verdict(airtcp.simulate(scenario.with_run(seed=seed, replications=5)))
            for seed in range(seeds)
        )
        return [[one.state, *(each.state for each in one.targets)] for one in found]

    truth = {"goodput": f"> {goodput:.0f} b/s", "collision_probability": f"< {collisions}"}
    told = states(200, **truth)
    assert sum(whole == "fails" for whole, _, _ in told) <= 20
    for place in (1, 2):
        assert sum(one[place] == "holds" for one in told) <= 13  # at 2.5 %: chance .0007
    # Nearly every run decides a bound outside the width of the interval.
    easy = states(20, goodput=f"> {0.9 * goodput:.0f} b/s")
    assert sum(whole == "holds" for whole, _ in easy) >= 19


def test_targets_are_no_physics() -> None:
    plain = loads(SHORT + CALLS)
    asked = plain.vary({"targets.phone p95 packet_delay": "< 50 ms"})

    assert asked.hash() == plain.hash()
    assert asked.to_json() == plain.to_json()
    assert asked.with_run(seed=3).targets == asked.targets
    assert asked.vary({"stations.phone.count": 4}).targets == asked.targets
    assert asked.vary({"targets": None}).targets == ()


@pytest.mark.parametrize("path", VALID, ids=[path.stem for path in VALID])
def test_no_metric_that_has_a_value_is_said_not_to_exist(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    scenario = load(path).with_run(warmup_ns=0, duration_ns=300_000_000, replications=1)
    simulation = airtcp.simulate(scenario).simulation

    measured: list[Any] = [(None, "all", simulation.metrics)]
    for name, parts in simulation.groups.items():
        measured += [(name, part, parts[part]) for part in parts if part != "airtime"]
    for group, part, metrics in measured:
        has = {name for name, interval in metrics.items() if interval.mean}
        assert has <= set(measurable(scenario, group, part)), (group, part)


CALL_TARGETS = [
    ("call", f"phone/{way} {target}")
    for way in ("download", "upload")
    for target in ("p95 packet_delay < 100 ms", "packet_loss < 1 %")
]
VIDEO = cell(application='{ kind = "udp", packet = "1200 B", rate = "4 Mb/s" }')
PAGE = ("web page", "desk/download p90 page_time < 4 s")
FILM = ("video segments", "desk/download p95 transfer_time < 6 s")


def desk(*traffic: str) -> str:
    return f"""
        phy = {{ standard = "802.11ax" }}
        stations = [{{ name = "desk", profile = "office-laptop", traffic = {list(traffic)} }}]
    """


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (CALLS, CALL_TARGETS),
        (cell(application=reading("30 kB")), [("web", "laptop/download p90 transfer_time < 4 s")]),
        (
            VIDEO,
            [
                ("video", "laptop/download p95 packet_delay < 10 s"),
                ("video", "laptop/download packet_loss < 1 %"),
            ],
        ),
        (cell(direction="upload", application=SATURATED), []),
        # The purpose in a file overrides the shape of the traffic. A metric that mixes pings and
        # films has no default target.
        (desk("video"), [FILM]),
        (desk("video", "ping"), []),
        (desk("web", "video"), [PAGE]),
        (desk("ping"), []),
    ],
)
def test_traffic_has_the_targets_of_its_profile(text: str, told: list[tuple[str, str]]) -> None:
    assert [(one.profile, one.condition.text) for one in expected(loads(text))] == told


def test_video_that_waits_in_queues_without_a_limit_does_not_hold() -> None:
    """At twice the channel's capacity almost nothing is lost, but no picture arrives in time."""
    camera = '{ kind = "udp", packet = "1200 B", rate = "6 Mb/s" }'
    scenario = loads(cell(2, direction="upload", application=camera, duration="30 s"))
    found = airtcp.verdict(airtcp.simulate(scenario, replications=2))

    assert [one.state for one in found.targets] == ["fails", "holds"]
    late = found.targets[0].interval
    # The delay grows to the end of each run, so that no steady state bounds it from above.
    assert late.low > 15.0
    assert late.high is None


def test_each_threshold_of_a_profile_has_its_source() -> None:
    for targets in EXPECTED.values():
        for one in targets:
            assert re.search("ITU-T|Apple", one.reason)
            bound = read_condition(f"{one.metric} {one.bound}").bound
            assert bound == pytest.approx(one.value, rel=0.005)


def test_growth_ends_where_plan_says() -> None:
    """802.11b downloads share 5 Mb/s: each gets 400 kb/s up to about twelve stations."""
    text = cell(4, warmup="2 s", duration="400 s", replications=10)
    scenario = loads(text).vary({"targets": {"laptop flow_goodput": "> 400 kb/s"}})

    growth = airtcp.verdict(airtcp.simulate(scenario), growth=True).growth
    until = "laptop flow_goodput < 400 kb/s"
    exact = airtcp.plan(scenario, vary="stations.laptop.count", until=until, remedies=False)

    assert growth.present == 4
    assert growth.holds_at < growth.fails_at <= 1.15 * growth.holds_at + 1
    assert 0.85 * growth.holds_at <= exact.answer.value <= 1.15 * growth.fails_at


def test_growth_goes_outwards_in_steps_of_1_6_and_inwards_until_15_percent_are_left() -> None:
    """Twenty stations meet all targets, more do not: 10, 16, 26; then 20, 23 by square roots."""
    asked = []

    def seen(stations: int) -> Any:
        asked.append(stations)
        return growing._Seen("holds" if stations <= 20 else "fails")

    looks: Any = SimpleNamespace(seen=seen)
    ends: Any = growing._outwards(looks, 10, 1)
    narrow = growing._narrowed(looks, ends)

    assert (ends.good, ends.bad) == (16, 26)
    assert (narrow.good, narrow.bad) == (20, 23)
    assert asked == [10, 16, 26, 20, 23]
    assert growing._outwards(looks, 21, 1) is None


@pytest.mark.parametrize(
    ("values", "whole", "state", "missed"),
    [
        # Half of 2 Mb/s are missing, and a third of 0.9.
        ((1e6, 0.6), True, "fails", "goodput > 2 Mb/s"),
        ((1.9e6, 0.6), True, "fails", "jain_index > 0.9"),
        ((2.1e6, 0.95), True, "holds", None),
        ((2.1e6, 0.95), False, "unknown", None),
        ((2.1e6, None), True, "unknown", None),
    ],
)
def test_a_look_at_more_stations_names_the_target_that_is_missed_by_most(
    values, whole, state, missed, monkeypatch
):
    texts = ("goodput > 2 Mb/s", "jain_index > 0.9")
    targets = [Target(read_condition(text)) for text in texts]
    known = dict(zip(("goodput_bps", "jain_index"), values, strict=True))
    told = {name: Interval(mean, None, None, 1) for name, mean in known.items()}
    glance = SimpleNamespace(
        events=1, reached=whole, settled=True, interval=lambda metric, *_: told[metric]
    )
    monkeypatch.setattr(growing, "glance", lambda *_, **__: glance)
    scenario: Any = SimpleNamespace(with_stations=lambda number: number)

    found = growing._Looks(scenario, targets, 1e9).seen(4)

    assert (found.state, found.target and found.target.text) == (state, missed)


def run(tmp_path: Path, targets: str, *arguments: str) -> Any:
    path = tmp_path / "office.toml"
    path.write_text(SHORT + CALLS + f"[targets]\n{targets}\n")
    command = ["run", str(path), "--quiet", "--no-advice", *arguments]
    return call(*command)


@pytest.mark.parametrize(
    ("targets", "more", "status", "state"),
    [
        ('"phone packet_loss" = "< 50 %"', (), 0, "holds"),
        ('"phone goodput" = "> 1 Gb/s"', (), 3, "fails"),
        ('"phone packet_loss" = "< 50 %"', ("--replications", "1"), 4, "unknown"),
    ],
)
def test_check_says_by_its_status_whether_targets_hold(tmp_path, targets, more, status, state):
    checked = run(tmp_path, targets, "--check", "--json", *more)

    assert checked.exit_code == status
    assert json.loads(checked.stdout)["verdict"]["state"] == state
    assert run(tmp_path, targets, *more).exit_code == 0


def test_check_without_targets_is_a_mistake(tmp_path: Path) -> None:
    refused = run(tmp_path, "", "--check")

    assert refused.exit_code == 2
    assert "office.toml has none" in refused.stderr
