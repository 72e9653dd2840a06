"""Quick simulations: their work stays within the budget, and too short ones report bounds."""

from __future__ import annotations

import copy
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.estimates.short import Short
from airtcp.estimates.windows import Windows, _Kind
from airtcp.examples import directory
from airtcp.exceptions import SimulationError
from airtcp.prediction import predict
from airtcp.present.summary import glanced
from airtcp.results.glance import SOURCE
from airtcp.run.glance import BUDGET, RUNS, TIMES, glance
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, Scenario, loads
from airtcp.stats import Interval
from bases import SATURATED, cell, reading

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
    """Pilot runs use at most a quarter of the budget, and a replication that has begun is finished.

    While windows still grow, short replications take less work than pilots estimate.
    """
    seen = glance(loads(mixed(number)))

    assert 0.35 < seen.events / (TIMES * BUDGET) < 1.5
    assert 4 <= seen.metrics["goodput_bps"].n <= RUNS


def test_the_budget_holds_for_packets_in_long_aggregates() -> None:
    """A saturated sender has no arrival events, but each attempt has hundreds of packets."""
    seen = glance(loads(cell(2, standard="802.11ax", application=SATURATED)))

    bits = seen.metrics["goodput_bps"].mean * seen.simulation.simulated_s
    assert bits / (8 * 1472) < 2 * TIMES * BUDGET


def test_an_idle_scenario_is_not_looked_at_for_ever() -> None:
    """One page of 100 bytes in ten hours: simulating 16 hours takes almost no work."""
    seen = glance(loads(cell(1, application=reading("100 B", "36000 s"))))

    assert seen.simulation.simulated_s == pytest.approx(16 * 3600, rel=1e-6)
    assert seen.events < 0.05 * TIMES * BUDGET


def test_goodput_of_datagrams_is_what_they_carry() -> None:
    """80 kb/s in 200-byte packets with 28 bytes of headers are 68.8 kb/s each, without loss."""
    application = '{ kind = "udp", packet = "200 B", rate = "80 kb/s" }'
    found = glance(loads(cell(3, direction="upload", application=application)))

    goodput = found.metrics["goodput_bps"]
    assert goodput.mean == pytest.approx(3 * 68_800, rel=2e-3)
    assert goodput.low <= 3 * 68_800 <= goodput.high or goodput.half_width < 1e3


def test_an_interval_is_as_wide_as_both_halves_of_replications_lie_apart() -> None:
    """Equal replications are not exact if their second half (11 s) differs from the first (9 s)."""
    seen = glance(browsing())

    def told(halfway_s: float) -> Interval:
        runs = []
        for run in seen.simulation.runs:
            answer = copy.deepcopy(run.answer)
            answer["metrics"]["rtt_s"], answer["halfway"]["metrics"]["rtt_s"] = 10.0, halfway_s
            runs.append(replace(run, answer=answer))
        return Short(runs, seen.scenario).told("rtt_s", Interval(10.0, 10.0, 10.0, len(runs)))

    apart = told(9.0)
    assert (apart.low, apart.high) == pytest.approx((10 * math.exp(-0.4), 10 * math.exp(0.4)))
    # No interval is narrower than ±2 %, however equal the replications are.
    assert told(10.0).half_width == pytest.approx(0.2)


def test_phases_are_drawn_anew_in_each_replication() -> None:
    """Whether six calls of one rate collide depends on their start phases."""
    application = '{ kind = "udp", packet = "1200 B", rate = "480 kb/s" }'
    seen = glance(loads(cell(6, application=application, direction="upload")))

    means = seen.simulation.values("packet_delay_s")
    assert len(set(means)) == len(means) == RUNS


def test_what_takes_longer_than_the_look_is_told_from_below() -> None:
    """Forty 802.11b users load 200 kB files: the number of transfers in progress keeps growing."""
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

    every = [part for parts in seen.groups.values() for part in parts.values()]
    times = [one["transfer_time_s"] for one in (seen.metrics, *every) if "transfer_time_s" in one]
    assert max(one.low or 0.0 for one in times) < 0.66 + 0.15


def test_a_few_transfers_bound_nothing() -> None:
    """Eight readers with 2 s of think time load 20 MB each: few loads end in a quick simulation."""
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
    # A bound of zero is not shown.
    vars(seen)["metrics"] = {"page_time_s": Interval(None, 0.0, None, 3)}
    assert seen.shown() == []


def test_what_ends_is_looked_at_in_its_own_time() -> None:
    """1 MB in ten seconds is 800 kb/s, and nothing follows it."""
    once = cell(1, application='{ kind = "bulk", size = "1 MB" }', warmup="0 s", duration="10 s")
    seen = glance(loads(once))

    assert seen.simulation.simulated_s == pytest.approx(RUNS * 10.0, rel=1e-6)
    assert seen.metrics["goodput_bps"].mean == pytest.approx(8e5, rel=1e-6)
    assert seen.reached


@pytest.mark.parametrize(("size", "runs"), [("2 MB", RUNS), ("20 MB", 4)])
def test_jobs_are_seen_to_their_end_in_fewer_replications(size: str, runs: int) -> None:
    """Twelve jobs of 20 MB are 164,000 segments of three work units: four runs are 2.4 budgets."""
    job = f"""{{ kind = "bulk", size = "{size}" }}"""
    text = cell(12, standard="802.11ac", application=job, warmup="0 s", duration="40 s")
    seen = glance(loads(text))
    goodput = seen.metrics["goodput_bps"]

    assert seen.reached
    assert goodput.n == runs
    assert goodput.mean == pytest.approx(12 * 8 * int(size.removesuffix(" MB")) * 1e6 / 40)


def test_the_first_part_of_jobs_bounds_only_their_times() -> None:
    """As jobs of uneven size end, the remaining ones see shorter queues."""
    job = """{ kind = "bulk", size = { distribution = "exponential", mean = "60 MB" } }"""
    text = cell(12, standard="802.11ac", application=job, warmup="0 s", duration="40 s")
    scenario = loads(text).with_run(replications=4)
    seen, whole = glance(scenario), airtcp.simulate(scenario).metrics

    assert not seen.reached
    lows = {name: one.low for name, one in seen.metrics.items() if one.low is not None}
    assert "transfer_time_s" in lows
    assert [name for name, low in lows.items() if low > (whole[name].high or math.inf)] == []


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


LOSSES = ("packet_loss", "r_factor", "ap_queue_drop_probability")
WAITS = ("rtt_s", "packet_delay_s", "ap_queue_delay_s")


def test_a_look_that_fails_is_told_unless_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise SimulationError("too many transfers")

    monkeypatch.setattr("airtcp.run.glance.glance", fails)
    of = airtcp.load(OFFICE)

    said = predict(of)
    assert said.unanswered[SOURCE] == "too many transfers"
    assert said.uncovered.endswith(f"; {SOURCE}: too many transfers")
    with pytest.raises(SimulationError):
        predict(of, glance=True)


def office(group: str, **tcp: Any) -> Scenario:
    """Return an 802.11n cell with a queue of 1000 packets at the access point, and a group."""
    scenario = loads(f"""
        phy = {{ standard = "802.11n" }}
        ap = {{ queue = {{ limit = 1000 }} }}
        stations = [{{ profile = "office-laptop", name = "desk", {group} }}]
    """)
    return scenario.vary({f"stations.desk.tcp.{key}": value for key, value in tcp.items()})


@pytest.mark.parametrize("seed", [1, 3])
def test_what_waits_behind_windows_that_grow_is_told_from_below(seed: int) -> None:
    """The ACKs of six backups fill the access point's queue for minutes, next to calls."""
    scenario = office('count = 6, traffic = ["backup", "call"]')
    seen = glance(scenario, seed=seed)
    longer = scenario.with_run(warmup_ns=20 * 10**9, duration_ns=60 * 10**9, replications=2, seed=5)
    truth = simulate(longer).metrics
    assert seen.short_for in {("windows",), ("sawteeth",)}
    for metric in WAITS:
        known = seen.metrics[metric]
        assert known.mean is None
        assert known.low < truth[metric].mean
    assert seen.metrics["goodput_bps"].low is not None
    # No loss has limited these windows yet.
    for metric in LOSSES:
        one = seen.metrics[metric]
        assert (one.mean, one.low, one.high) == (None, None, None)
        assert metric not in dict(seen.shown())
    told = glanced(predict(scenario.with_run(seed=seed))) or ""
    assert "delays are lower bounds" in told


def test_windows_that_the_receiver_bounds_are_seen_as_they_are() -> None:
    scenario = office('count = 6, traffic = ["backup", "call"]', receive_window="64 KiB")
    seen = glance(scenario)

    assert seen.short_for == ()
    assert all(seen.metrics[metric].half_width is not None for metric in WAITS)
    assert "lower bounds" not in (glanced(predict(scenario)) or "")


def test_a_few_readers_tell_no_interval_of_waits() -> None:
    seen = glance(office('count = 4, traffic = ["web", "call"]'), times=1)

    assert "readers" in seen.short_for
    for metric in WAITS:
        one = seen.metrics[metric]
        assert one.half_width is None
        assert "±" not in dict(seen.shown()).get(metric, "")
    assert seen.metrics["r_factor"].mean is None


def test_a_look_without_a_loss_does_not_say_how_rare_they_are() -> None:
    calls = glance(office('count = 2, traffic = ["call"]'))

    assert calls.short_for == ()
    lost = calls.metrics["packet_loss"]
    accounts = [run.accounts for run in calls.simulation.runs]
    seen = sum(one.delays.of("packet_delay", None).sum() for one in accounts if one and one.delays)
    assert (lost.mean, lost.low) == (0.0, 0.0)
    assert lost.high == pytest.approx(3.0 / seen)
    assert dict(calls.shown())["packet_loss"].startswith("at most ")
    rated = calls.metrics["r_factor"]
    assert rated.mean == pytest.approx(92.0, abs=1.5)
    assert rated.half_width is not None


def under_way(segments: float, rtt_s: float, **tcp: Any) -> _Kind:
    """Make connections of a backup that always have this number of segments in flight."""
    scenario = office('count = 1, traffic = ["backup"]', **tcp)
    own = scenario.flows[0].tcp
    assert own is not None
    size = segments * own.mss_bytes
    return _Kind(own, size, size, size, rtt_s)


@pytest.mark.parametrize(
    ("segments", "rtt_s", "congestion", "tooth_s"),
    [
        # K of 1000 segments is the cubic root of 1000 x 0.3 / 0.4 (RFC 9438, (2)).
        (1000.0, 0.1, "cubic", 750.0 ** (1.0 / 3.0)),
        # With short round trips the additive increase of 0.53 segments is faster (4.3).
        (40.0, 0.01, "cubic", 12.0 / 0.5294 * 0.01),
        # Reno regains half a window at one segment per round trip (RFC 5681).
        (40.0, 0.01, "reno", 0.2),
        (1000.0, 0.1, "bbr", 0.0),
    ],
)
def test_a_sawtooth_lasts_as_long_as_its_law_says(segments, rtt_s, congestion, tooth_s):
    found = under_way(segments, rtt_s, congestion=congestion).tooth_s
    assert found == pytest.approx(tooth_s, rel=1e-3)


def test_windows_grow_that_are_a_quarter_larger_in_the_second_half() -> None:
    kind = under_way(40.0, 0.01)

    grows = [by for by in (0.7, 1.2, 1.3) if replace(kind, second=by * kind.first).grows]
    assert grows == [1.3]
    assert (kind.is_full, under_way(2000.0, 0.1).is_full) == (False, True)


def test_traffic_that_ends_has_no_such_windows() -> None:
    seen = glance(office('count = 4, traffic = ["web"]'))

    windows = Windows.of_replications(seen.simulation.runs, seen.scenario)
    assert (windows.grow, windows.are_cut_seldom) == (False, False)


def test_shares_of_unlike_connections_need_many_sawteeth() -> None:
    """Slow start favours fast stations; each cut closes 30 % of the gap.

    Six runs of 200 s, after 200 s of warm-up, give 2.39 ± .12 Mb/s to each fast station and 3.23 ±
    .07 Mb/s to the slow one.
    """
    linux = 'direction = "download", application = { kind = "bulk" }, path = [{ delay = "12 ms" }]'
    linux += ', tcp = { preset = "linux", receive_window = "512 KiB" }'
    slow = loads(f"""
        phy = {{ standard = "802.11g" }}
        ap = {{ queue = {{ limit = 250 }} }}
        stations = [
            {{ name = "sofa", count = 3 }},
            {{ name = "shed", count = 1, data_rate = "6 Mb/s" }},
        ]
        flows = [{{ stations = "sofa", {linux} }}, {{ stations = "shed", {linux} }}]
    """)
    for seed in range(4):
        seen = glance(slow, seed=seed)
        assert seen.short_for in {("windows",), ("sawteeth",)}
        for group, truth in (("sofa", 2.39e6), ("shed", 3.23e6)):
            told = seen.interval("flow_goodput_bps", group)
            assert told.low < truth < told.high
