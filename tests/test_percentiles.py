"""Percentiles of pooled samples, limits of metrics, and bounds on events that were never seen."""

from __future__ import annotations

import math

import airtcp
import numpy as np
import pytest
from airtcp.estimates.accounts import bin_bounds_s
from airtcp.estimates.limits import (
    confined,
    never_happens,
    of_category,
    stretched,
    unseen,
    widened,
    within_limits,
)
from airtcp.estimates.parts import Tree, _among
from airtcp.estimates.percentiles import Distribution, distribution, in_order
from airtcp.estimates.steadiness import Steadiness
from airtcp.estimates.told import Estimate
from airtcp.estimates.traffic import Traffic
from airtcp.examples import directory
from airtcp.results import Replication, SimulationResult
from airtcp.scenario import load, loads
from airtcp.stats import Interval
from bases import BULK, cell

CALLS = '{ kind = "udp", packet = "200 B", rate = "80 kb/s" }'


def simulated(text: str, replications: int = 4) -> SimulationResult:
    return airtcp.simulate(airtcp.load(text), replications=replications, threads=1)


def of_counts(counts: list[list[float]]) -> Distribution:
    """Make samples of 1, 2, 3, ... s; `counts` says how many of each every replication has."""
    ended = np.array(counts)
    at = np.arange(1.0, ended.shape[1] + 1.0)
    return Distribution(at, at, ended, ended[:, ::-1].cumsum(axis=1)[:, ::-1])


def test_a_percentile_is_that_of_all_samples_and_not_the_mean_of_those_of_replications() -> None:
    """Three replications of 1 s and one of 1000 s: a quarter of all samples is long."""
    long = [0.0] * 1000
    long[999] = 1000.0
    short = [1000.0] + [0.0] * 999
    found = of_counts([short, short, short, long]).percentile(0.9, 0.95)

    # The mean of the four percentiles would be 251 s.
    assert found.interval.mean == 1000.0
    assert found.interval.low == 1.0
    assert found.interval.high == 1000.0


def test_intervals_of_percentiles_hold_them_as_often_as_they_say() -> None:
    """Six replications of 400 exponential times; each replication has its own mean."""
    random = np.random.default_rng(7)
    held, percents = 0, (0.5, 0.9)

    def draw(runs: int, samples: int) -> np.ndarray:
        means = np.exp(0.3 * random.standard_normal(runs))[:, None]
        return means * random.exponential(size=(runs, samples))

    # The pooled distribution: exponential times whose means are lognormal.
    truth = np.quantile(draw(400_000, 1), percents)
    for _ in range(200):
        runs = draw(6, 400)
        at = np.unique(runs)
        ended = np.stack([np.isin(at, row).astype(float) for row in runs])
        of = Distribution(at, at, ended, ended[:, ::-1].cumsum(axis=1)[:, ::-1])
        for q, true in zip(percents, truth, strict=True):
            one = of.percentile(q, 0.95).interval
            held += (one.low or 0.0) <= true <= (math.inf if one.high is None else one.high)

    assert held >= 0.92 * 400


@pytest.mark.parametrize(("runs", "is_bounded"), [(4, True), (3, False)])
def test_few_samples_have_a_bound_or_nothing(runs: int, is_bounded: bool) -> None:
    """No sample lies beyond the 99th percentile of 100. Four runs bound it, three do not."""
    found = of_counts([[10.0, 10.0, 5.0]] * runs).percentile(0.99, 0.95).interval

    assert (found.mean, found.low is not None) == (None, is_bounded)
    assert of_counts([[1.0, 1.0]] * runs).percentile(0.5, 0.95) is None


@pytest.mark.parametrize(("number", "high"), [(13, None), (14, 1.0)])
def test_few_samples_without_a_long_one_have_an_upper_end(number: int, high: float | None) -> None:
    """Of n samples none is longer than 1 s, so 90 % are shorter if .025^(1.5 / n) > .9: n >= 53."""
    assert (0.025 ** (1.5 / (4 * number)) > 0.9) is (high is not None)

    found = of_counts([[float(number)]] * 4).percentile(0.9, 0.95)

    assert (found.interval.mean, found.interval.high) == (high, high)


def test_the_lower_end_of_a_percentile_stays_where_the_samples_have_it() -> None:
    """A mean with an error of 60 % would have its lower end at exp(-.6) = .55 of the mean."""
    ends = Interval(1.0, 0.4, 1.6, 4)
    told = within_limits({"transfer_time_p90_s": ends, "transfer_time_s": ends}, [], None)

    assert told["transfer_time_p90_s"].low == 0.4
    assert told["transfer_time_s"].low == pytest.approx(math.exp(-0.6))


def test_transfers_in_progress_count_as_longer_than_they_are_old() -> None:
    """With heavy-tailed sizes, the transfers that have ended are the quick ones."""
    law = '{ distribution = "lognormal", mean = "300 kB", scv = 20 }'
    text = cell(6, application=f'{{ kind = "web", size = {law}, think_time = "1 s" }}')
    result = simulated(text)
    runs = result.simulation.runs
    times = distribution(Traffic(runs, result.scenario, None, "all"), "transfer_time")
    pooled = np.concatenate([run.transfer_times_s for run in runs])
    found = times.percentile(0.9, 0.95).interval

    assert (found.mean or found.low or 0.0) >= 0.98 * np.quantile(pooled, 0.9)


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


def test_percentiles_are_put_in_order() -> None:
    wild = {
        "rtt_p50_s": Interval(3.0, 2.0, 9.0, 4),
        "rtt_p90_s": Interval(2.0, 1.0, 4.0, 4),
        "rtt_s": Interval(None, 20.0, None, 4),
    }
    in_order(wild)
    assert wild["rtt_p90_s"] == Interval(3.0, 2.0, 9.0, 4)
    assert wild["rtt_s"].low == 9.0


@pytest.mark.parametrize(
    ("metric", "mean", "half", "most", "low", "high"),
    [
        ("rtt_s", 1.0, 2.0, math.inf, math.exp(-2.0), math.exp(2.0)),
        ("rtt_s", 1.0, 0.1, math.inf, 0.9, 1.1),
        ("packet_loss", 0.5, 1.0, math.inf, 1 / (1 + math.exp(4)), 1 / (1 + math.exp(-4))),
        ("r_factor", 90.0, 30.0, math.inf, 60.0, 100.0),
        # No goodput is above the capacity of the channel.
        ("goodput_bps", 1e6, 10e6, math.inf, 1e6 * math.exp(-4.0), 1e6 * math.exp(4.0)),
        ("goodput_bps", 1e6, 2e6, 2e6, 1e6 * math.exp(-2.0), 2e6),
    ],
)
def test_an_interval_lives_on_the_scale_of_its_metric(metric, mean, half, most, low, high):
    told = confined(metric, Interval(mean, mean - half, mean + half, 4), most=most)

    assert (told.low, told.high) == pytest.approx((low, high))
    # Widening by zero changes nothing.
    assert widened(metric, told, 0.0).low == pytest.approx(told.low)


def test_what_was_never_seen_is_at_most_three_over_the_trials() -> None:
    result = simulated(cell(2, application=CALLS, direction="upload"))
    runs = result.simulation.runs
    nothing = Interval(0.0, 0.0, 0.0, 4)
    attempts = sum(node["attempts"] for run in runs for node in run.answer["stations"])

    lost = unseen("collision_probability", nothing, runs, None, "all")
    assert lost == Interval(0.0, 0.0, 3.0 / attempts, 4)
    assert unseen("tcp_timeouts", nothing, runs, None, "all").high == 0.75
    # A Poisson variable of mean 3.45 is 8 or more in 2.5 %, and of mean 15.76 8 or fewer.
    two = unseen("tcp_timeouts", Interval(2.0, 2.0, 2.0, 4), runs, None, "all")
    assert (two.low, two.high) == pytest.approx((3.454 / 4, 15.763 / 4), rel=1e-3)
    assert unseen("goodput_bps", nothing, runs, None, "all").mean is None
    assert unseen("rtt_s", Interval(1.0, 0.5, 1.5, 4), runs, None, "all").mean == 1.0


@pytest.mark.parametrize(
    ("metric", "high", "n", "told"),
    [
        # At least one transmission of the category was seen in each of four replications.
        ("failed_ppdu_ratio", 0.0, 4, 0.75),
        ("failed_ppdu_ratio", 0.0, 2, 1.0),
        ("failed_ppdu_ratio", 0.0, 1, 0.0),
        ("failed_ppdu_ratio", 0.5, 4, 0.5),
        ("goodput_bps", 0.0, 4, 0.0),
    ],
)
def test_what_a_category_never_saw_is_at_most_three_over_its_replications(metric, high, n, told):
    assert of_category(metric, Interval(high, high, high, n)).high == told


def test_few_that_have_ended_are_bounded_by_those_that_have_not() -> None:
    """Two of 100 pages loaded, after 1 and 2 s; all others have been loading for 3 s so far."""
    at = np.array([1.0, 2.0, 3.0])
    ended, at_risk = np.zeros((4, 3)), np.full((4, 3), 25.0)
    ended[0, 0] = ended[1, 1] = 1.0
    at_risk[0, 1:] = at_risk[1, 2] = 24.0
    found = Distribution(at, at, ended, at_risk)

    for q in (0.5, 0.9):
        assert found.percentile(q, 0.95).interval == Interval(None, 3.0, None, 4)
    assert found.percentile(0.05, 0.95) is None
    # One replication gives no interval.
    assert Distribution(at, at, ended[:1], at_risk[:1]).percentile(0.5, 0.95) is None


LIMITED = cell(3, tables="[ap]\nqueue = { limit = 50 }")


@pytest.mark.parametrize(
    ("text", "metric", "is_ruled_out"),
    [
        # Queues without a limit drop nothing, and without Block ACKs nothing is out of order.
        (cell(3), "ap_queue_drop_probability", True),
        (LIMITED, "ap_queue_drop_probability", False),
        (LIMITED, "station_queue_drop_probability", True),
        (LIMITED, "reorder_delay_p99_s", True),
        (cell(3, standard="802.11ax"), "reorder_delay_p99_s", False),
        (LIMITED, "tcp_timeouts", False),
        (cell(3, application=CALLS), "tcp_timeouts", True),
    ],
)
def test_what_a_scenario_rules_out_is_zero_however_short_the_run(text, metric, is_ruled_out):
    scenario = loads(text)
    assert never_happens(metric, scenario) == is_ruled_out
    if is_ruled_out and "drop" in metric:
        short = airtcp.simulate(scenario.with_run(duration_ns=10**9, replications=4))
        assert short.metrics[metric] == Interval(0.0, 0.0, 0.0, 4)


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


def paged(mean: float | None, low: float | None, n: int = 4) -> Estimate:
    """Return an estimate of the page time from replications that all have this mean."""
    interval = Interval(mean, low, None, n)
    steady = Steadiness("steady")
    return Estimate("page_time_s", interval, interval, "plain", None, (mean, mean), steady)


NOBODY = (None, None, 0)


@pytest.mark.parametrize(
    ("whole", "groups", "told"),
    [
        ((2.5, 1.5), [(2.0, 1.0), (3.0, 2.0), NOBODY], (2.5, 1.5)),
        ((3.5, 2.5), [(2.0, 1.0), (3.0, 2.0), NOBODY], (3.0, 2.0)),
        ((1.0, 0.5), [(2.0, 1.0), (3.0, 2.0), NOBODY], (2.0, 1.5)),
        ((1.0, 0.5), [NOBODY], (1.0, 0.5)),
        # Which group dominates may change later: the bound is the lowest one, and unknown if a
        # group has none.
        ((None, 2.0), [(None, 1.5), (3.0, 2.5)], (None, 1.5)),
        ((None, 2.0), [(None, 2.5), NOBODY], (None, 2.0)),
        ((None, 2.0), [(None, None), (3.0, 2.5)], (None, None)),
    ],
)
def test_a_mean_of_all_transfers_lies_among_those_of_the_groups(whole, groups, told):
    found = _among(paged(*whole), [paged(*one) for one in groups])
    assert (found.interval.mean, found.interval.low) == told
    assert found.values == (told[0], told[0])


@pytest.mark.parametrize("metric", ["transfer_time_s", "rtt_s", "packet_delay_s"])
def test_groups_that_lead_in_turns_bound_the_mean_of_all(metric: str) -> None:
    """The group with most packets decides: groups have 1 and 10, then 10 and 1; all have 10."""
    other = f'[[flows]]\nstations = "other"\ndirection = "upload"\napplication = {BULK}\n'
    scenario = loads(cell(1) + '[[stations]]\nname = "other"\ncount = 1\n' + other)
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
