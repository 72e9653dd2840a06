"""Percentiles of pooled samples, limits of metrics, and what was never seen."""

from __future__ import annotations

import math

import airtcp
import numpy as np
import pytest
from airtcp.estimates.accounts import bin_bounds_s
from airtcp.estimates.limits import (
    confined,
    never_happens,
    stretched,
    unseen,
    widened,
    within_limits,
)
from airtcp.estimates.parts import Tree, _among
from airtcp.estimates.percentiles import BY_BASE, Distribution, distribution, in_order
from airtcp.estimates.steadiness import Steadiness
from airtcp.estimates.told import Estimate
from airtcp.estimates.traffic import Traffic
from airtcp.examples import directory
from airtcp.results import Replication, SimulationResult
from airtcp.scenario import load, loads
from airtcp.stats import Interval
from bases import BULK, cell, reading

CALLS = '{ kind = "udp", packet = "200 B", rate = "80 kb/s" }'


def simulated(text: str, replications: int = 4) -> SimulationResult:
    return airtcp.simulate(airtcp.load(text), replications=replications, threads=1)


def of_counts(counts: list[list[float]]) -> Distribution:
    """Make samples of 1, 2, 3, ... s, so many in each replication."""
    ended = np.array(counts)
    at = np.arange(1.0, ended.shape[1] + 1.0)
    return Distribution(at, at, ended, ended[:, ::-1].cumsum(axis=1)[:, ::-1])


def test_a_percentile_is_that_of_all_samples_and_not_the_mean_of_those_of_replications() -> None:
    """Three replications of 1 s and one of 1000 s: of all samples a fourth is long."""
    long = [0.0] * 1000
    long[999] = 1000.0
    short = [1000.0] + [0.0] * 999
    found = of_counts([short, short, short, long]).percentile(0.9, 0.95)

    # The mean of the four percentiles would be 251 s.
    assert found.interval.mean == 1000.0
    assert found.interval.low == 1.0
    assert found.interval.high == 1000.0


def test_intervals_of_percentiles_hold_them_as_often_as_they_say() -> None:
    """Six replications of 400 exponential times, each with a mean of its own."""
    random = np.random.default_rng(7)
    shift, held, percents = 0.3, 0, (0.5, 0.9)
    # The law of all: exponential times with means of a lognormal law.
    means = np.exp(shift * random.standard_normal(400_000))
    truth = np.quantile(means * random.exponential(size=len(means)), percents)
    for _ in range(200):
        runs = np.exp(shift * random.standard_normal(6))[:, None] * random.exponential(
            size=(6, 400)
        )
        at = np.unique(runs)
        ended = np.stack([np.isin(at, row).astype(float) for row in runs])
        of = Distribution(at, at, ended, ended[:, ::-1].cumsum(axis=1)[:, ::-1])
        for q, true in zip(percents, truth, strict=True):
            one = of.percentile(q, 0.95)
            low, high = one.interval.low, one.interval.high
            held += (low or 0.0) <= true <= (math.inf if high is None else high)

    assert held >= 0.92 * 400


def test_few_samples_have_a_bound_or_nothing() -> None:
    """The 99th percentile of 100 samples has none beyond it, and that of three runs no bound."""
    four, three = (of_counts([[10.0, 10.0, 5.0]] * runs) for runs in (4, 3))
    of_four, of_three = four.percentile(0.99, 0.95), three.percentile(0.99, 0.95)

    assert of_four.interval.mean is None
    assert of_four.interval.low is not None
    assert of_three.interval.low is None
    assert of_counts([[1.0, 1.0]] * 4).percentile(0.5, 0.95) is None


@pytest.mark.parametrize(("number", "high"), [(13, None), (14, 1.0)])
def test_few_samples_without_a_long_one_have_an_upper_end(number: int, high: float | None) -> None:
    """Of n samples none is longer than 1 s, so 90 % are shorter if .025^(1.5 / n) > .9: n >= 53."""
    assert (0.025 ** (1.5 / (4 * number)) > 0.9) is (high is not None)

    found = of_counts([[float(number)]] * 4).percentile(0.9, 0.95)

    assert (found.interval.mean, found.interval.high) == (high, high)


def test_the_lower_end_of_a_percentile_stays_where_the_samples_have_it() -> None:
    """A mean less an error of 60 % would be moved to exp(-.6) = .55 of the mean."""
    ends = Interval(1.0, 0.4, 1.6, 4)
    told = within_limits({"transfer_time_p90_s": ends, "transfer_time_s": ends}, [], None)

    assert told["transfer_time_p90_s"].low == 0.4
    assert told["transfer_time_s"].low == pytest.approx(math.exp(-0.6))


def test_transfers_in_progress_count_as_longer_than_they_are_old() -> None:
    """With 40 kB at 1 Mb/s and a long tail, those that have ended are the quick ones."""
    law = '{ distribution = "lognormal", mean = "300 kB", scv = 20 }'
    text = cell(6, application=f'{{ kind = "web", size = {law}, think_time = "1 s" }}')
    result = simulated(text)
    of = distribution(
        Traffic(result.simulation.runs, result.scenario, None, "all"), "transfer_time"
    )
    pooled = np.concatenate([run.transfer_times_s for run in result.simulation.runs])
    found = of.percentile(0.9, 0.95)

    bound = found.interval.mean or found.interval.low or 0.0
    assert bound >= 0.98 * np.quantile(pooled, 0.9)


def test_the_histograms_of_the_core_give_its_own_percentiles() -> None:
    result = simulated(cell(3, application=CALLS, direction="upload"), 2)
    for run in result.simulation.runs:
        counts = run.accounts.delays.of("packet_delay", None)
        low, high = bin_bounds_s(np.arange(len(counts) + 1))
        place = int(np.searchsorted(counts.cumsum(), 0.9 * counts.sum()))
        told = run.answer["metrics"]["packet_delay_p90_s"]
        assert low[place - 1] <= told <= high[place + 1]
        mean = float(counts @ (low + high)[:-1] / 2.0 / counts.sum())
        assert mean == pytest.approx(run.answer["metrics"]["packet_delay_s"], rel=0.01)


def test_percentiles_of_a_simulation_are_in_order() -> None:
    metrics = simulated(cell(4, application=reading("300 kB"))).metrics
    for names in BY_BASE.values():
        for end in ("low", "mean", "high"):
            ends = [getattr(metrics[name], end) for name in names]
            known = [one for one in ends if one is not None]
            assert known == sorted(known)
    wild = {
        "rtt_p50_s": Interval(3.0, 2.0, 9.0, 4),
        "rtt_p90_s": Interval(2.0, 1.0, 4.0, 4),
        "rtt_s": Interval(None, 20.0, None, 4),
    }
    in_order(wild)
    assert wild["rtt_p90_s"] == Interval(3.0, 2.0, 9.0, 4)
    assert wild["rtt_s"].low == 9.0


@pytest.mark.parametrize(
    ("metric", "interval", "low", "high"),
    [
        ("rtt_s", Interval(1.0, -1.0, 3.0, 4), math.exp(-2.0), math.exp(2.0)),
        ("rtt_s", Interval(1.0, 0.9, 1.1, 4), 0.9, 1.1),
        ("packet_loss", Interval(0.5, -0.5, 1.5, 4), 1.0 / (1.0 + math.exp(4.0)), None),
        ("r_factor", Interval(90.0, 60.0, 120.0, 4), 60.0, 100.0),
    ],
)
def test_an_interval_lives_on_the_scale_of_its_metric(
    metric: str, interval: Interval, low: float, high: float | None
) -> None:
    told = confined(metric, interval)

    assert told.low == pytest.approx(low)
    assert told.high == pytest.approx(1.0 - low if high is None else high)
    # Once there, it stays as it is.
    assert widened(metric, told, 0.0).low == pytest.approx(told.low)


def test_no_goodput_is_above_what_the_air_carries() -> None:
    told = confined("goodput_bps", Interval(1e6, -9e6, 11e6, 4))

    assert told.high == pytest.approx(1e6 * math.exp(4.0))
    assert confined("goodput_bps", Interval(1e6, -1e6, 3e6, 4), most=2e6).high == 2e6


def test_what_was_never_seen_is_at_most_three_over_the_trials() -> None:
    result = simulated(cell(2, application=CALLS, direction="upload"))
    runs = result.simulation.runs
    nothing = Interval(0.0, 0.0, 0.0, 4)
    attempts = sum(node["attempts"] for run in runs for node in run.answer["stations"])

    lost = unseen("collision_probability", nothing, runs, None, "all")
    assert lost == Interval(0.0, 0.0, 3.0 / attempts, 4)
    assert unseen("tcp_timeouts", nothing, runs, None, "all").high == 0.75
    assert unseen("goodput_bps", nothing, runs, None, "all").mean is None
    assert unseen("rtt_s", Interval(1.0, 0.5, 1.5, 4), runs, None, "all").mean == 1.0


def test_few_that_have_ended_are_bounded_by_those_that_have_not() -> None:
    """Of 100 pages in progress two came, after 1 and 2 s; all others have lasted for 3 s so far."""
    at = np.array([1.0, 2.0, 3.0])
    ended = np.zeros((4, 3))
    ended[0, 0] = ended[1, 1] = 1.0
    at_risk = np.full((4, 3), 25.0)
    at_risk[0, 1:] = at_risk[1, 2] = 24.0
    found = Distribution(at, at, ended, at_risk)

    for q in (0.5, 0.9):
        told = found.percentile(q, 0.95)
        assert told.interval == Interval(None, 3.0, None, 4)
    assert found.percentile(0.05, 0.95) is None
    # One replication says nothing of others.
    assert Distribution(at, at, ended[:1], at_risk[:1]).percentile(0.5, 0.95) is None


def test_what_a_scenario_rules_out_is_zero_however_short_the_run() -> None:
    """Queues without a limit drop nothing, and without Block ACKs nothing is out of order."""
    plain = simulated(cell(3, application=reading("30 kB"), duration="2 s"))
    zero = Interval(0.0, 0.0, 0.0, 4)

    assert plain.metrics["station_queue_drop_probability"] == zero
    assert plain.metrics["ap_queue_drop_probability"] == zero
    limited = loads(cell(3, tables="[ap]\nqueue = { limit = 50 }"))
    assert not never_happens("ap_queue_drop_probability", limited)
    assert never_happens("station_queue_drop_probability", limited)
    assert never_happens("reorder_delay_p99_s", limited)
    assert not never_happens("tcp_timeouts", limited)
    calls = loads(cell(3, application='{ kind = "udp", packet = "200 B", rate = "80 kb/s" }'))
    assert never_happens("tcp_timeouts", calls)
    aggregating = loads(cell(3, standard="802.11ax"))
    assert aggregating.mac.aggregation is not None
    assert not never_happens("reorder_delay_p99_s", aggregating)


def test_arms_are_stretched_on_the_scale_of_the_metric() -> None:
    seen = Interval(10.0, 9.0, 11.0, 6)
    told = stretched("goodput_bps", seen, 0.0, 1.0)

    assert told.low == pytest.approx(9.0)
    assert told.high == pytest.approx(10.0 * math.exp(math.hypot(0.1, 1.0)))
    odds = stretched("collision_probability", Interval(0.5, 0.5, 0.5, 6), math.log(2.0), 0.0)
    assert odds.low == pytest.approx(1.0 / 3.0)


def test_round_trips_of_starving_uploads_have_only_a_lower_bound() -> None:
    """Two hidden uploads: in each replication one starves, and its packets wait for seconds.

    32 runs of 600 s have a mean round trip of 7.0 s and 6.9 s.
    """
    scenario = load(str(directory() / "hidden-uploads.toml"))
    found = airtcp.simulate(scenario, replications=4, seed=8102).simulation

    for group in ("near-wall", "behind-wall"):
        of_group = found.groups[group]["all"]
        for metric in ("rtt_s", "rtt_p50_s", "path_rtt_s", "path_rtt_p90_s"):
            one = of_group[metric]
            assert (one.mean, one.high) == (None, None), (group, metric)
            assert 0.0 < (one.low or 0.0) < 3.0, (group, metric)
        assert not of_group["ap_queue_delay_s"].is_known


def test_a_mean_of_all_transfers_lies_among_those_of_the_groups() -> None:
    def one(mean: float | None) -> Estimate:
        interval = Interval(mean, None if mean is None else mean - 1.0, None, 4 if mean else 0)
        values = (mean, mean)
        steady = Steadiness("steady")
        return Estimate("page_time_s", interval, interval, "plain", None, values, steady)

    groups = [one(2.0), one(3.0), one(None)]
    assert _among(one(2.5), groups) == one(2.5)
    assert _among(one(3.5), groups).interval.mean == 3.0
    assert _among(one(3.5), groups).values == (3.0, 3.0)
    assert _among(one(1.0), groups).interval.low == pytest.approx(1.0)
    assert _among(one(1.0), [one(None)]) == one(1.0)


@pytest.mark.parametrize("metric", ["transfer_time_s", "rtt_s", "packet_delay_s"])
def test_groups_that_lead_in_turns_bound_the_mean_of_all(metric: str) -> None:
    """All have the time of the one with most packets: 10 and 10, of 1 and 10, and 10 and 1."""
    text = cell(1, application=BULK) + (
        '[[stations]]\nname = "other"\ncount = 1\n'
        '[[flows]]\nstations = "other"\ndirection = "upload"\n' + f"application = {BULK}\n"
    )
    scenario = loads(text)
    runs = []
    for times_s in ((1.0, 10.0), (10.0, 1.0)):
        groups = [
            {"name": name, "all": {metric: time_s}, "download": None, "upload": None}
            for name, time_s in zip(("laptop", "other"), times_s, strict=True)
        ]
        answer = {"metrics": {metric: 10.0}, "groups": groups}
        runs.append(Replication(0, answer, np.empty(0)))

    found = Tree(runs, scenario, 0.95).whole(metric)

    assert found.interval.mean == 5.5
