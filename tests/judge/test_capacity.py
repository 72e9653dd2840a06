"""Capacity: every target bounds it, and longer runs confirm the claims."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import airtcp
import pytest
from airtcp.conditions import read_condition
from airtcp.judge.candidates import Candidate
from airtcp.judge.outcome import Outcome, TargetOutcome, outcome_of
from airtcp.plan.axis import Axis, axis_of
from airtcp.plan.capacity import _evidence
from airtcp.plan.changes import Changes, _Sought, _sure
from airtcp.plan.search import Found, Place, Search
from airtcp.remedies import catalogue
from airtcp.results.plans import Answer, Gain, Plan
from airtcp.results.verdict import Target
from airtcp.scenario import Scenario
from airtcp.stats import Interval, student_quantile
from test_causes import BULK, CALL, flow

#: Calls next to readers of pages: with more of both, calls are late first, and pages later.
PAGES = {
    "kind": "web",
    "size": {"distribution": "exponential", "mean": "300 kB"},
    "think_time": {"distribution": "exponential", "mean": "2 s"},
}
MIXED: dict[str, Any] = {
    "phy": {"standard": "802.11g"},
    "ap": {"queue": {"limit": 500}},
    "stations": [{"name": "reader", "count": 4}, {"name": "caller", "count": 2}],
    "flows": [flow("reader", "download", PAGES), flow("caller", "both", CALL)],
    "targets": {"caller p95 packet_delay": "< 50 ms", "reader p90 transfer_time": "< 2 s"},
    "run": {"warmup": "2 s", "duration": "15 s", "replications": 4},
}


def load(**changes: Any) -> Scenario:
    return airtcp.load(MIXED | changes)


@pytest.fixture(scope="module")
def whole() -> Plan:
    return airtcp.plan(load(), threads=2)


def missed(scenario: Scenario, number: float) -> set[str]:
    """Return the targets missed at a number of stations in four times longer runs."""
    axis = axis_of(scenario, "stations")
    at = axis.at(axis.nearest(number))
    longer = at.with_run(duration_ns=60_000_000_000, replications=4, seed=99)
    return {one.text for one in outcome_of(airtcp.simulate(longer)).targets if one.miss > 0.9}


def test_what_is_claimed_is_met_when_simulated_for_longer_and_fails_beyond(whole: Plan) -> None:
    number = whole.answer.value

    assert missed(load(), number) == set()
    assert whole.limits[0].target in missed(load(), 1.3 * number)
    # The target that is missed first comes first, and lies beyond the answer.
    places = [one.at for one in whole.limits]
    assert places == sorted(places)
    assert places[0] > number
    # Up to the capacity with a change every target is met.
    best = whole.best
    assert best.gain.mean == best.answer.value - number > 0
    assert best.answer.low is not None
    assert missed(load().vary(dict(best.changes)), best.answer.low) == set()


def test_until_replaces_the_target_on_the_same_metric_and_leaves_the_others() -> None:
    never = "reader p50 transfer_time"
    asked = load(targets=MIXED["targets"] | {never: "< 1 us"})
    found = airtcp.plan(asked, until="caller p95 packet_delay > 5 ms", remedies=False)

    assert [one.text for one in found.conditions] == [
        "caller p95 packet_delay < 5 ms",
        "reader p90 transfer_time < 2 s",
        f"{never} < 1 us",
    ]
    assert found.until == ("caller p95 packet_delay > 5 ms",)
    # A target that is missed at every number bounds nothing and is named.
    assert found.never == (f"{never} < 1 us",)
    assert found.answer is not None
    assert f"{never} < 1 us" not in [one.target for one in found.limits]


def test_other_targets_are_followed_no_further_than_four_times_the_number() -> None:
    targets = {"reader p50 transfer_time": "< 1 us", "caller p95 packet_delay": "< 100 s"}
    found = airtcp.plan(load(targets=targets), remedies=False)
    answer = found.answer

    assert answer is not None
    assert answer.high is None
    # Steps grow by half of the number.
    assert 4.0 <= answer.value / found.present < 1.5 * 4.0
    assert [found.never, found.limits] == [("reader p50 transfer_time < 1 us",), ()]


@pytest.mark.slow
def test_the_same_plan_on_any_number_of_threads() -> None:
    short = load(run={"warmup": "1 s", "duration": "4 s", "replications": 2})
    one, other = (airtcp.plan(short, threads=threads) for threads in (1, 2))

    assert other.answer == one.answer
    assert [each.to_dict() for each in other.remedies] == [each.to_dict() for each in one.remedies]


def test_a_search_whose_longer_runs_miss_everywhere_still_ends() -> None:
    """Runs of half a second: a target that a short run meets, a longer one may miss everywhere."""
    short = load(
        phy={"standard": "802.11g", "data_rate": "54 Mb/s"},
        stations=[{"name": "desk", "count": 2}, {"name": "phone", "count": 2}],
        flows=[flow(name, "download", BULK) for name in ("desk", "phone")],
        targets={},
        run={"warmup": "100 ms", "duration": "400 ms", "replications": 3},
    )
    found = airtcp.plan(short, until="desk flow_goodput < 1 Mb/s")

    assert found.answer is not None
    assert found.tried > 0


@pytest.mark.parametrize(
    ("found", "order"),
    [
        ([("red", 13, 11), ("codel", 19, 18)], ["codel", "red"]),
        # A gain of 9 - 10 is uncertain, so it does not count next to a certain one.
        ([("red", 13, 11), ("codel", 19, 9)], ["red"]),
        ([("codel", 19, 9)], ["codel"]),
        # A setting with nine tenths of the gain (16 of 17) comes before spectrum.
        ([("wider-channel", 27, 27), ("codel", 26, 20)], ["codel", "wider-channel"]),
        ([("wider-channel", 27, 27), ("codel", 25, 25)], ["wider-channel", "codel"]),
    ],
)
def test_changes_are_listed_by_what_they_support(found, order, monkeypatch):
    remedies = {one.name: one for one in catalogue()}
    anything: Any = None
    changes: Changes = Changes.__new__(Changes)
    base: Any = SimpleNamespace(axis=axis_of(load(), "stations"), never=())
    changes._base = base
    changes._found = Found(answer(10, 10), 0)
    changes._sought = [
        _Sought(
            Candidate((remedies[name],), anything), anything, anything, Found(answer(value, low), 0)
        )
        for name, value, low in found
    ]

    def gain(_: Changes, one: _Sought) -> Any:
        assert one.found is not None
        assert one.found.answer.low is not None
        moved = Interval(0.0, one.found.answer.low - 10, None, 2)
        return Gain(one.candidate.name, "", "", (), "setting", {}, "gains", moved)

    monkeypatch.setattr(Changes, "_gain", gain)

    assert [one.name for one in changes.gains() if one.verdict == "gains"] == order


@pytest.mark.parametrize(
    ("never", "verdicts"), [((), ["gains", "gains"]), (("p95 rtt < 1 s",), ["gains", "none"])]
)
def test_a_change_that_meets_another_target_gains_at_fewer_stations(
    never: tuple[str, ...], verdicts: list[str]
) -> None:
    # Today one target is missed at every value. The second change does not help with it either.
    gains = [
        Gain(name, "", "", (), "setting", {}, "gains", Interval(-1.0, -3.0, 1.0, 2), never=missed)
        for name, missed in (("red", ()), ("codel", never))
    ]

    assert [one.verdict for one in _sure(gains, 1)] == verdicts


def answer(value: int, low: int) -> Answer:
    return Answer("stations", value, low, 60, "", 0.95)


def ends(ratios: dict[int, float]) -> tuple[float, float, float]:
    """Return the capacity within its interval for these ratios by number, with a spread of .1."""
    anything: Any = None
    axis = Axis(load(), "stations", "", range(1, 61), range(1, 61))
    search = Search("", axis, (anything,), anything, anything, 0, 2, 0.95)
    for number, ratio in ratios.items():
        target = TargetOutcome("reader p90 transfer_time < 2 s", "unknown", ratio, 0.1)
        outcome = Outcome((target,), frozenset(), {}, {}, {})
        search.places[number - 1] = Place(number - 1, 2, 2.5, outcome)
    found: Any = search.known().answer
    return found.low, found.value, found.high


def test_many_values_on_the_same_random_numbers_do_not_narrow_the_interval_of_a_capacity() -> None:
    low, value, high = ends({number: number / 24.5 for number in range(20, 30)})

    # The target holds up to 24.5 stations, so 24 are supported.
    assert value == 24
    # The curve has an error of .1 / sqrt(10) from ten values, plus a common error of .1.
    half = student_quantile(0.95, 18) * 0.1 * math.sqrt(1.0 + 1.0 / 10.0)
    assert math.log(high / low) == pytest.approx(2.0 * half, rel=0.15)


def test_where_values_do_not_rise_the_interval_ends_where_targets_are_surely_met_and_missed():
    assert ends({5: 0.3, 18: 0.99, 20: 1.1, 24: 0.8, 26: 0.7, 40: 2.0})[::2] == (5, 40)


def test_evidence_has_the_value_behind_each_ratio_with_two_standard_errors() -> None:
    """A ratio of 1.5 to 2 s is 3 s; a ratio of 2 to at least 2 Mb/s is 1 Mb/s."""
    texts = {"rtt < 2 s": 1.5, "goodput > 2 Mb/s": 2.0, "packet_loss < 1 %": None}
    targets = [Target(read_condition(text)) for text in texts]
    ratios = tuple(TargetOutcome(text, "unknown", one, 0.1) for text, one in texts.items())
    place = Place(4, 2, 2.5, Outcome(ratios, frozenset(), {}, {}, {}))
    search: Any = SimpleNamespace(axis=SimpleNamespace(numbers=range(1, 61)), places={4: place})

    (found,) = _evidence(search, targets)

    assert found.value == 5
    ends = {text: (one.mean, one.low, one.high) for text, one in found.metrics.items()}
    assert ends.pop("packet_loss < 1 %") == (None, None, None)
    assert ends == {
        "rtt < 2 s": pytest.approx((3.0, 2.4, 3.6)),
        "goodput > 2 Mb/s": pytest.approx((1e6, 0.8e6, 1.2e6)),
    }
