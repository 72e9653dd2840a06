"""A glance: the same for the same seed, no more work than its budget, and never nothing to say."""

import copy
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import airtcp
import pytest
from airtcp.estimates.short import Short
from airtcp.examples import directory
from airtcp.exceptions import ScenarioError
from airtcp.prediction import predict
from airtcp.present.summary import glanced
from airtcp.results.glance import SOURCE
from airtcp.run.glance import BUDGET, RUNS, TIMES, glance
from airtcp.scenario import ResolvedScenario, loads
from airtcp.stats import Interval
from bases import SATURATED, cell, reading
from hypothesis import HealthCheck, given, reject, settings
from test_predict_any import written

ROOT = Path(__file__).parents[1]
OFFICE = ROOT / "benches" / "scenarios" / "office-ax.toml"

sys.path.insert(0, str(ROOT / "validation"))

from accuracy.mixed import mixed  # noqa: E402
from wing import with_papers  # noqa: E402


def browsing(count: int = 5) -> ResolvedScenario:
    return loads(cell(count, application=reading("30 kB")))


def test_the_same_seed_gives_the_same_bits_and_another_others() -> None:
    first, again, other = glance(browsing()), glance(browsing()), glance(browsing(), seed=2)

    assert first.to_json() == again.to_json()
    assert first.metrics["goodput_bps"] != other.metrics["goodput_bps"]
    assert other.part()["seed"] == 2


@pytest.mark.parametrize("number", [0, 3, 14, 18])
def test_the_budget_holds_whatever_is_looked_at(number: int) -> None:
    """Pilots take a quarter at most, and a replication that has begun goes to its end.

    Where windows grow slowly, short replications are less work than pilots say.
    """
    seen = glance(loads(mixed(number)))

    assert 0.35 < seen.events / (TIMES * BUDGET) < 1.5
    assert 4 <= seen.metrics["goodput_bps"].n <= RUNS


def test_the_budget_holds_for_packets_in_long_aggregates() -> None:
    """A saturated sender has no events, and hundreds of packets in each attempt."""
    seen = glance(loads(cell(2, standard="802.11ax", application=SATURATED)))

    goodput_bps = seen.metrics["goodput_bps"].mean
    assert goodput_bps is not None
    packets = goodput_bps * seen.simulation.simulated_s / (8 * 1472)
    assert packets < 2 * TIMES * BUDGET


def test_an_idle_scenario_is_not_looked_at_for_ever() -> None:
    """A page of 100 bytes in ten hours: 16 hours are seen, which is next to no work."""
    seen = glance(loads(cell(1, application=reading("100 B", "36000 s"))))

    assert seen.simulation.simulated_s == pytest.approx(16 * 3600, rel=1e-6)
    assert seen.events < 0.05 * TIMES * BUDGET


def test_goodput_of_datagrams_is_what_they_carry() -> None:
    """Of 80 kb/s in packets of 200 bytes 28 are headers: 68.8 kb/s each, and nothing is lost."""
    application = '{ kind = "udp", packet = "200 B", rate = "80 kb/s" }'
    found = glance(loads(cell(3, direction="upload", application=application)))

    goodput = found.metrics["goodput_bps"]
    assert goodput.mean == pytest.approx(3 * 68_800, rel=2e-3)
    assert goodput.low <= 3 * 68_800 <= goodput.high or goodput.half_width < 1e3


def test_an_interval_is_as_wide_as_both_halves_of_replications_lie_apart() -> None:
    """Of equal replications whose second half has 2 s more than the first, 2 s and no less."""
    seen = glance(browsing())
    runs = []
    for run in seen.simulation.runs:
        answer = copy.deepcopy(run.answer)
        answer["metrics"]["rtt_s"], answer["halfway"]["metrics"]["rtt_s"] = 10.0, 9.0
        runs.append(replace(run, answer=answer))
    known = Interval(10.0, 10.0, 10.0, len(runs))

    told = Short(runs, seen.scenario).told("rtt_s", known)

    assert told.low == pytest.approx(10.0 * math.exp(-0.4))
    assert told.high == pytest.approx(10.0 * math.exp(0.4))
    # Nothing is known better than to 2 %, whatever replications say.
    for run in runs:
        run.answer["halfway"]["metrics"]["rtt_s"] = 10.0
    assert Short(runs, seen.scenario).told("rtt_s", known).half_width == pytest.approx(0.2)


def test_phases_are_drawn_anew_in_each_replication() -> None:
    """Six calls of one rate meet each other or do not, as their beginnings have it."""
    application = '{ kind = "udp", packet = "1200 B", rate = "480 kb/s" }'
    seen = glance(loads(cell(6, application=application, direction="upload")))

    means = seen.simulation.values("packet_delay_s")
    assert len(set(means)) == len(means) == RUNS


def test_what_takes_longer_than_the_look_is_told_from_below() -> None:
    """Files of 200 kB for forty users of 802.11b: ever more of them are in progress."""
    seen = glance(loads(cell(40, application=reading("200 kB"))))

    assert not seen.settled
    time, goodput = seen.metrics["transfer_time_s"], seen.metrics["goodput_bps"]
    assert (time.mean, time.high) == (None, None)
    assert time.low > 0.1
    assert goodput.half_width is not None
    assert dict(seen.shown())["transfer_time_s"].startswith("at least ")


def test_no_page_time_bounds_the_time_of_transfers() -> None:
    """Transfers of the office take 0.66 +- 0.15 s in 600 s; its pages take longer than 8 s."""
    seen = glance(airtcp.load(Path(str(directory() / "office-wifi6.toml"))), times=9)

    lows = {
        (group, part): intervals["transfer_time_s"].low
        for group, parts in seen.groups.items()
        for part, intervals in parts.items()
        if "transfer_time_s" in intervals
    } | {(None, "all"): seen.metrics["transfer_time_s"].low}
    assert max(low or 0.0 for low in lows.values()) < 0.66 + 0.15


def test_a_few_transfers_bound_nothing() -> None:
    """Eight readers who think for two seconds fetch 20 MB each: few come in so short a look."""
    heard = """
    phy = { standard = "802.11ac" }
    air = { heard = [["cafe", "flat"]] }
    cells = { cafe = {}, flat = {} }
    stations = [
        { name = "guests", count = 8, cell = "cafe" },
        { name = "home", count = 3, cell = "flat" },
    ]
    [[flows]]
    stations = "guests"
    direction = "download"
    application = { kind = "web", size = "20 MB", think_time = "2 s" }
    [[flows]]
    stations = "home"
    direction = "both"
    application = { kind = "bulk" }
    """
    seen = glance(loads(heard))

    assert not seen.settled
    time = seen.metrics["transfer_time_s"]
    assert (time.mean, time.low, time.high) == (None, None, None)
    assert "transfer_time_s" not in dict(seen.shown())
    assert "nor are transfer times" in (glanced(predict(seen.scenario)) or "")
    # Nor does a bound of zero tell anything.
    vars(seen)["metrics"] = {"page_time_s": Interval(None, 0.0, None, 3)}
    assert seen.shown() == []


def test_what_ends_is_looked_at_in_its_own_time() -> None:
    """A megabyte in the first of ten seconds: 800 kb/s over these ten, and it is not going on."""
    once = cell(1, application='{ kind = "bulk", size = "1 MB" }', warmup="0 s", duration="10 s")
    seen = glance(loads(once))

    assert seen.simulation.simulated_s == pytest.approx(RUNS * 10.0, rel=1e-6)
    assert seen.metrics["goodput_bps"].mean == pytest.approx(8e5, rel=1e-6)
    assert seen.reached


def test_the_first_part_of_jobs_bounds_only_their_times() -> None:
    """Jobs of uneven sizes leave shorter queues to each other as they end."""
    job = """{ kind = "bulk", size = { distribution = "exponential", mean = "20 MB" } }"""
    text = cell(12, standard="802.11ac", application=job, warmup="0 s", duration="40 s")
    scenario = loads(text).with_run(replications=4)
    seen, whole = glance(scenario), airtcp.simulate(scenario).metrics

    assert not seen.reached
    lows = {name: one.low for name, one in seen.metrics.items() if one.low is not None}
    assert "transfer_time_s" in lows
    tops = {name: whole[name].high for name in lows}
    assert [name for name, low in lows.items() if low > (tops[name] or math.inf)] == []


def test_it_says_so_where_the_budget_ends_before_a_scenario_does() -> None:
    beside = '[[flows]]\nstations = "laptop"\ndirection = "upload"\n'
    text = cell(
        5,
        application='{ kind = "bulk", size = "1 MB" }',
        flow=f'{beside}name = "more"\napplication = {SATURATED}',
        duration="10000 s",
    )
    prediction = predict(loads(text))

    assert not prediction.glance.reached
    assert prediction.glance.simulation.simulated_s < 1000.0


@with_papers
def test_a_glance_stands_where_no_model_does_and_nowhere_else() -> None:
    covered = browsing()
    office = airtcp.load(OFFICE)

    assert predict(covered).glance is None
    assert predict(office, glance=False).glance is None
    asked, told = predict(covered, glance=True), predict(office)
    assert asked.best("goodput_bps") == predict(covered).best("goodput_bps")
    assert asked.glance is not None
    assert SOURCE in repr(told)
    assert SOURCE not in repr(asked)
    assert json.loads(told.to_json())["glance"] == json.loads(json.dumps(told.glance.part()))
    assert json.loads(predict(covered).to_json())["glance"] is None


@given(written())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_prediction_is_never_empty(text: str) -> None:
    try:
        scenario = loads(text)
    except ScenarioError:
        reject()
    said = predict(scenario)

    if said.best("goodput_bps") is None and said.glance is None:
        # More transfers begin than any memory holds: that is told.
        assert SOURCE in said.unanswered
    elif said.best("goodput_bps") is None:
        goodput = said.glance.metrics["goodput_bps"]
        if goodput.mean is None:
            # Nothing came, or one replication of several has all; or the budget ended first.
            values = [one or 0.0 for one in said.glance.simulation.values("goodput_bps")]
            assert not said.glance.reached or min(values) < 0.1 * max(values) or not any(values)
        else:
            assert 0.0 <= goodput.low <= goodput.mean <= goodput.high < math.inf
    json.dumps(said.to_dict(), allow_nan=False)
