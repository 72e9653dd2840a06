"""Estimates from the random draws of replications: true means, accounts, control variates."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from airtcp import distributions, load, simulate
from airtcp.estimates import Estimate, estimate, improved_groups, laws
from airtcp.estimates.regression import adjusted
from airtcp.results import SimulationResult
from airtcp.scenario import ResolvedScenario
from airtcp.stats import student_interval
from bases import BULK, cell, example, reading

WEB = """
phy = {{ standard = "802.11b", data_rate = "11 Mb/s" }}
stations = [{{ name = "laptop", count = {count} }}]
run = {{ warmup = "20 s", duration = "{duration} s", replications = {replications}, seed = 3 }}
[[flows]]
stations = "laptop"
direction = "download"
application = {{ kind = "web", size = {size}, think_time = {think} {more} }}
tcp = {{ {tcp} }}
"""
EXPONENTIAL = '{ distribution = "exponential", mean = "30 kB" }'
SECONDS = '{ distribution = "exponential", mean = "1 s" }'


def web(*, duration: int = 100, replications: int = 10, **told: object) -> ResolvedScenario:
    keys = {"count": 5, "size": EXPONENTIAL, "think": SECONDS, "more": "", "tcp": ""} | told
    return load(WEB.format(duration=duration, replications=replications, **keys))


@cache
def simulated() -> SimulationResult:
    return simulate(web())


def of(result: SimulationResult, metric: str) -> Estimate:
    return estimate(result.simulation.runs, result.scenario, metric)


@pytest.mark.parametrize("step", [1, 1000])
@pytest.mark.parametrize("law", ["exponential", "pareto", "uniform"])
def test_the_true_mean_of_a_size_is_that_of_whole_bytes_or_segments(law: str, step: int) -> None:
    tcp = 'pad_last_segment = true, mss = "1000 B"' if step > 1 else ""
    more = {"pareto": ', mean = "30 kB", shape = 1.5', "exponential": ', mean = "30 kB"'}
    keys = more.get(law, ', low = "1 kB", high = "9 kB"')
    size = f'{{ distribution = "{law}"{keys} }}'
    # E[step ceil(X / step)] = step times the sum over k >= 0 of P(X > k step). For the Pareto law
    # of scale 10 kB, `rest` is the integral of (10^4 / x)^1.5 beyond half a step before the last k.
    x = np.arange(0, 3_000_000, step, dtype=float)
    survival = {
        "exponential": lambda: np.exp(-x / 30e3),
        "pareto": lambda: np.where(x < 1e4, 1.0, (1e4 / np.maximum(x, 1.0)) ** 1.5),
        "uniform": lambda: np.clip((9000 - x) / 8000, 0.0, 1.0),
    }[law]()
    rest = 2e4 * (1e4 / (x[-1] + step / 2)) ** 0.5 if law == "pareto" else 0.0

    found = laws.unit_bytes(web(size=size, tcp=tcp).flows[0])

    # The generator's largest random number cuts 5e-6 off the Pareto law's mean.
    assert found == pytest.approx(step * float(survival.sum()) + rest, rel=1e-5)


def test_a_pareto_law_ends_at_the_last_random_number() -> None:
    law = distributions.Pareto(shape=1.1, scale=1.0)
    # The generator's u is k / 2^53, so that X <= 2^(53 / 1.1); E[min(X, c)] = 11 - 10 c^-.1.
    assert laws._clipped_mean(law, math.inf) == pytest.approx(11 - 10 * 2.0 ** (-5.3 / 1.1))


@pytest.mark.parametrize(
    ("law", "mean"),
    [
        # U(0, 4) rounds to 0, 1 (and 0 counts as 1) below 1.5, to 2, 3, and to 4 from 3.5 on.
        (distributions.Uniform(low=0.0, high=4.0), (1.5 * 1 + 2 + 3 + 0.5 * 4) / 4),
        (distributions.Empirical(values=(0.2, 2.5), counts=(1, 3)), (1 + 3 * 3) / 4),
    ],
)
def test_objects_of_a_page_are_rounded_and_one_at_least(law, mean):
    assert laws._objects(law) == pytest.approx(mean)


def test_books_add_up_to_the_outcome() -> None:
    for run in simulated().simulation.runs:
        metrics, columns = run.answer["metrics"], run.accounts.column
        ended = columns("ended").sum()
        assert ended == run.answer["counts"]["transfers"] == len(run.transfer_times_s)
        assert columns("ended_s").sum() == pytest.approx(run.transfer_times_s.sum())
        assert 8 * columns("delivered_bytes").sum() / 100 == pytest.approx(metrics["goodput_bps"])
        assert columns("active_s").sum() / 100 == pytest.approx(metrics["active_flows"])
        # In progress at the end: carried over, plus begun, minus ended. A web user has at most one.
        begun = columns("begun").sum()
        carried = len(run.accounts.carried_over_index)
        late = (run.accounts.under_way_age_s > 100).sum()
        assert begun + carried + late - ended == len(run.accounts.under_way_age_s) <= 5
        assert (run.accounts.scopes == 0).all()


def test_what_is_drawn_has_its_true_mean() -> None:
    mean = laws.unit_bytes(simulated().scenario.flows[0])
    sums = [run.accounts.sums.sum(axis=(0, 1)) for run in simulated().simulation.runs]
    units, unit_bytes, pauses, paused_s = (sum(row[i] for row in sums) for i in range(4))
    # Some 4,000 draws: the tolerance is 4 standard deviations of the mean.
    assert abs(unit_bytes - mean * units) < 4 * 30e3 * math.sqrt(units)
    assert abs(paused_s - pauses) < 4 * math.sqrt(pauses)


def test_regression_takes_out_what_a_control_explains() -> None:
    generator = np.random.default_rng(5)
    control = generator.normal(size=(8, 4, 1))
    totals = 3.0 + 2.0 * control

    freed = adjusted(totals, control)

    # Four windows of 3 each, after removing the control's effect; also without one replication.
    assert freed.whole == pytest.approx(12.0)
    assert freed.without == pytest.approx(12.0)
    assert freed.pseudo_values(lambda sums: sums[..., 0]) == pytest.approx(12.0)


@pytest.mark.parametrize("metric", ["goodput_bps", "transfer_time_s", "active_flows"])
def test_controls_make_intervals_narrower_and_move_no_mean_beyond_them(metric: str) -> None:
    one = of(simulated(), metric)
    assert student_interval(one.values, 0.95) == one.interval
    if metric != "active_flows":
        assert one.gain > 2.0
        assert one.plain.low < one.interval.mean < one.plain.high


def test_a_metric_without_an_estimator_has_the_plain_interval() -> None:
    delay = of(simulated(), "rtt_s")
    student = student_interval(delay.values, 0.95)
    # Delays are skewed. The mean over all packets is close to the mean over replications.
    assert delay.interval.mean == student.mean
    assert delay.interval.low <= student.low
    assert student.high < delay.interval.high
    assert delay.interval.half_width < 1.1 * student.half_width
    assert (delay.estimator, delay.interval, delay.gain) == ("plain", delay.plain, None)
    # A single replication has the plain estimate too.
    lone = of(simulate(web(replications=1)), "transfer_time_s")
    assert (lone.estimator, lone.interval.n) == ("plain", 1)


def test_groups_and_directions_have_estimates_of_their_own() -> None:
    runs, scenario = simulated().simulation.runs, simulated().scenario
    part = estimate(runs, scenario, "transfer_time_s", group="laptop", part="download")
    assert part.interval == of(simulated(), "transfer_time_s").interval
    with pytest.raises(KeyError):
        estimate(runs, scenario, "nonsense")


PAGES = reading("20 kB")
FILES = '{ kind = "ftp", size = "10 kB", interarrival = "2 s" }'
CALL = '{ kind = "udp", packet = "200 B", rate = "80 kb/s" }'
MIXED = f"""
phy = {{ standard = "802.11b", data_rate = "11 Mb/s" }}
stations = [{{ name = "laptop", count = 4 }}, {{ name = "phone", count = 2 }}]
run = {{ warmup = "2 s", duration = "20 s", replications = REPLICATIONS }}
flows = [
  {{ name = "pages", stations = "laptop", direction = "download", application = {PAGES} }},
  {{ name = "backup", stations = "laptop", direction = "upload", application = {BULK} }},
  {{ name = "photos", stations = "phone", direction = "upload", application = {FILES} }},
  {{ name = "call", stations = "phone", direction = "download", application = {CALL} }},
]
"""


@pytest.mark.parametrize("replications", [1, 2, 3, 8])
def test_goodputs_of_flows_stations_groups_and_of_the_series_add_up_to_the_estimate(replications):
    told = simulate(load(MIXED.replace("REPLICATIONS", str(replications)))).simulation.to_dict()

    def exactly(mean: float) -> Any:
        return pytest.approx(mean, rel=1e-9)

    goodput = told["metrics"]["goodput_bps"]["mean"]
    assert ("plain" in told["metrics"]["goodput_bps"]) == (replications > 1)
    by_name = {station["name"]: station["goodput_bps"] for station in told["stations"]}
    assert by_name.pop("ap") == exactly(goodput)
    assert sum(by_name.values()) == exactly(goodput)
    assert sum(flow["goodput_bps"] for flow in told["flows"]) == exactly(goodput)
    assert np.mean(told["goodput_series_bps"]) == exactly(goodput)
    for metric in ("goodput_bps", "active_flows"):
        parts = [of_group["all"][metric]["mean"] for of_group in told["groups"].values()]
        assert sum(parts) == exactly(told["metrics"][metric]["mean"])
    for name, group in told["groups"].items():
        ways = {way: group[way]["goodput_bps"] for way in ("download", "upload")}
        whole = group["all"]["goodput_bps"]["mean"]
        assert sum(one["mean"] for one in ways.values()) == exactly(whole)
        for way, one in ways.items():
            flows = [flow for flow in told["flows"] if flow["station"].startswith(name)]
            of_way = [flow["goodput_bps"] for flow in flows if flow["direction"] == way]
            assert sum(of_way) == exactly(one["mean"])
            per_flow = group[way]["flow_goodput_bps"]["mean"]
            assert per_flow * len(of_way) == exactly(one["mean"])
            assert replications == 1 or one["low"] <= one["mean"] <= one["high"]


def test_what_is_known_well_takes_hardly_any_of_a_gap() -> None:
    # A call sends 80 kb/s whatever the pages draw, so the gap of some kb/s goes to the pages.
    result = simulate(load(MIXED.replace("REPLICATIONS", "8")))
    groups = improved_groups(result.simulation.runs, result.scenario, 0.95)
    known = groups["phone"]["download"]["goodput_bps"]
    assert known.interval.mean == pytest.approx(known.plain.mean, rel=1e-3)


@pytest.mark.parametrize("seed", [4, 13])
def test_an_interval_of_goodput_is_no_wider_than_the_plain_one(seed: int) -> None:
    # Coefficients from three short replications are noise: intervals 3.3 and 1.7 times as wide.
    result = simulate(web(replications=3, duration=20).with_run(seed=seed))
    one = of(result, "goodput_bps")
    assert one.interval.half_width == pytest.approx(one.plain.half_width)
    assert abs(one.interval.mean - one.plain.mean) <= one.plain.half_width


FILE = '{ kind = "ftp", size = { distribution = "exponential", mean = "200 kB" }, '
FILE += 'interarrival = { distribution = "exponential", mean = "0.45 s" } }'


def test_no_goodput_is_estimated_beyond_the_rate_of_its_stations() -> None:
    # In two seconds of an overloaded link the draws fit anything, such as 1.23 Mb/s at 1 Mb/s.
    rate, window = 'data_rate = "1 Mb/s"', "tcp = { receive_window = { segments = 6 } }"
    run: dict[str, Any] = {"warmup": "200 ms", "duration": "1 s", "replications": 2}
    slow = load(cell(group=rate, application=FILE, flow=window, **run))
    for seed in range(30, 60):
        simulation = simulate(slow.with_run(seed=seed)).simulation
        assert (simulation.metrics["goodput_bps"].mean or 0.0) < 1e6
        assert all(flow.goodput_bps < 1e6 for flow in simulation.flows)


WAREHOUSE = """
stations = [{ profile = "scanner", count = 20 }, { profile = "camera", count = 4 }]
phy = { standard = "802.11n", band = "2.4 GHz" }
run = { warmup = "200 ms", duration = "1 s", replications = 2 }
"""


def test_goodputs_add_up_where_no_part_can_take_the_gap() -> None:
    # By chance, windows of constant-rate cameras correlate with the draws of scanners.
    for seed in range(258, 274):
        simulation = simulate(load(WAREHOUSE).with_run(seed=seed)).simulation
        goodput = simulation.metrics["goodput_bps"].mean
        exactly = pytest.approx(goodput, rel=1e-9)
        assert sum(flow.goodput_bps for flow in simulation.flows) == exactly
        parts = [of_group["all"]["goodput_bps"] for of_group in simulation.groups.values()]
        assert sum(one.mean or 0.0 for one in parts) == exactly
        cameras = simulation.groups["camera"]
        uploads = cameras["upload"]["goodput_bps"].mean
        assert uploads == pytest.approx(cameras["all"]["goodput_bps"].mean, rel=1e-9)
        flow_goodput = simulation.metrics["flow_goodput_bps"].mean
        assert flow_goodput * len(simulation.flows) == exactly


def test_a_bound_is_not_below_zero() -> None:
    """One far laptop finishes few pages: an interval that reaches below zero gives no bound."""
    short = {"stations.desk.count": 30, "run.duration": "30 s", "run.replications": 4}

    groups = simulate(example("office-wifi6", **short)).simulation.groups

    bounds = [one.low for one in groups["far"]["all"].values() if one.mean is None]
    assert bounds
    assert all(low is None or low >= 0.0 for low in bounds)
