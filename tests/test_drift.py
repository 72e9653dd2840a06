"""Replications that are measured before their steady state: their two halves differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from airtcp.estimates.drift import Drift, Moved
from airtcp.estimates.steadiness import Steadiness
from airtcp.estimates.told import declined, plain_estimate
from airtcp.present.cautions import cautions
from airtcp.results import SimulationResult
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads
from airtcp.stats import Interval

CONFIDENCE = 0.95
#: Metrics that the core computes only at the end of a run.
AT_THE_END = {"tcp_retransmissions", "tcp_timeouts", "contention_free_share", "airtime_share"}


def office(traffic: str) -> str:
    return f"""
        phy = {{ standard = "802.11n" }}
        ap = {{ queue = {{ limit = 1000 }} }}
        stations = [{{ profile = "office-laptop", name = "desk", {traffic} }}]
    """


@dataclass
class Halves:
    """A replication with only an answer."""

    answer: dict[str, Any]
    transfer_times_s: Any = None
    accounts: Any = field(default=None)


def approach(tau: float, n: int, noise: float, seed: int, begin: float = 0.0) -> list[Halves]:
    """Make runs of unit time whose metrics approach 1 exponentially from `begin`."""

    def mean(to: float) -> float:
        return 1.0 + (begin - 1.0) * tau * -math.expm1(-to / tau) / to

    random = np.random.default_rng(seed)
    runs = []
    for _ in range(n):
        first, second = random.normal(0.0, noise, 2)
        whole = {"rtt_s": mean(1.0) + (first + second) / 2, "goodput_bps": 1e6}
        half = {"rtt_s": mean(0.5) + first, "goodput_bps": 1e6}
        told = {"metrics": whole, "groups": [], "halfway": {"metrics": half, "groups": []}}
        runs.append(Halves(told))
    return runs


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    """Return a scenario with one call, which has no congestion window."""
    return loads(office('traffic = ["call"]'))


def held(scenario: Scenario, tau: float, noise: float, **more: float) -> tuple[int, int]:
    """Of 200 intervals, count those that contain the steady state and those that were widened."""
    holds = wider = 0
    for seed in range(200):
        runs = approach(tau, 8, noise, seed, **more)
        told = Drift(runs, scenario, CONFIDENCE).of_everything({}).get("rtt_s")
        values = [run.answer["metrics"]["rtt_s"] for run in runs]
        half = 2.3646 * np.std(values, ddof=1) / np.sqrt(8)
        low, high = np.mean(values) - half, np.mean(values) + half
        if told is not None:
            wider += 1
            low = -np.inf if told.interval.low is None else told.interval.low
            high = np.inf if told.interval.high is None else told.interval.high
        holds += bool(low <= 1.0 <= high)
    return holds, wider


@pytest.mark.parametrize(
    ("tau", "noise", "begin", "least", "wider"),
    [
        # The false-alarm rate is 5 % over two metrics, of which one does not move at all.
        (0.1, 0.05, 1.0, 182, (0, 18)),
        (0.1, 0.02, 0.5, 190, (190, 200)),
        (0.3, 0.02, 0.5, 190, (190, 200)),
        (1.0, 0.02, 0.5, 190, (190, 200)),
    ],
)
def test_an_interval_reaches_to_where_halves_lead(scenario, tau, noise, begin, least, wider):
    holds, of_drift = held(scenario, tau, noise, begin=begin)

    assert holds >= least
    assert wider[0] <= of_drift <= wider[1]


def test_halves_that_are_far_apart_have_an_interval_as_wide_as_that(scenario: Scenario) -> None:
    up, down = (
        Drift(approach(1.0, 8, 0.01, 1, begin), scenario, CONFIDENCE).of_everything({})["rtt_s"]
        for begin in (0.0, 3.0)
    )

    # A falling metric gets a wider interval; a rising one gets a lower bound above all values seen.
    assert (down.interval.low or 0.0) < 1.0 < (down.interval.high or 0.0)
    assert up.interval.high is None
    assert 0.3 < (up.interval.low or 0.0) < 1.0
    assert {up.steadiness.state, down.steadiness.state} == {"unsteady"}
    assert up.steadiness.reason.values["first"] == "213 ms"


def test_one_replication_has_no_drift(scenario: Scenario) -> None:
    assert Drift(approach(1.0, 1, 0.01, 1), scenario, CONFIDENCE).of_everything({}) == {}


@pytest.mark.parametrize(("grow", "lasts"), [(True, 8.0), (True, 12.0), (False, 8.0)])
def test_pages_that_grow_leave_delays_one_end_and_losses_none(scenario, grow, lasts):
    """Later more pages are in progress: delays are longer, R is lower, and TCP loses more.

    This does not apply if a replication lasts ten times as long as the shortest page.
    """
    span_s = ((scenario.run.warmup_ns or 0) + scenario.run.duration_ns) / 1e9
    least_s = span_s / lasts
    runs = approach(0.1, 8, 0.02, 3, begin=1.0)
    for place, run in enumerate(runs):
        for metrics in (run.answer["metrics"], run.answer["halfway"]["metrics"]):
            metrics |= {"r_factor": 80.0 + place / 10, "tcp_timeouts": 0.0}
    short = Steadiness("unsteady", "pages may still rise", least_s, simulate_s=60.0)
    interval = Interval(None, least_s, None, 8) if grow else Interval(2.0, 1.5, 2.5, 8)
    pages = replace(plain_estimate("page_time_s", [2.0] * 8, CONFIDENCE), interval=interval)
    told = Drift(runs, scenario, CONFIDENCE).of_everything(
        {"page_time_s": replace(pages, steadiness=short)}
    )

    if not grow or lasts > 10.0:
        assert told.keys() == {"page_time_s"}
        return
    delay, r, timeouts = (told[name].interval for name in ("rtt_s", "r_factor", "tcp_timeouts"))
    assert (delay.mean, delay.high) == (None, None)
    assert 0.95 < delay.low < 1.0
    # The mean of .1 to .7 above 80 is 80.35, with a half width of 2.3646 x .2449 / sqrt(8) = .2048.
    assert (r.mean, r.low) == (None, None)
    assert r.high == pytest.approx(80.5548, abs=1e-4)
    assert timeouts == Interval(None, None, None, 8)
    assert told["rtt_s"].steadiness.simulate_s == 60.0


def test_a_bound_of_an_interval_that_reaches_below_zero_is_on_the_scale_of_the_metric() -> None:
    """The mean of 2, 21, 2 and 6 ms is 7.75, with a half width of 3.1824 x 9.03 / 2 = 14.37."""
    seen = plain_estimate("packet_delay_s", [0.002, 0.021, 0.002, 0.006], CONFIDENCE)
    why = Steadiness("unsteady", "pages may still rise", simulate_s=60.0)

    bound = declined(seen, why, seen.interval.low)

    assert seen.interval.low < 0.0
    assert bound.interval == Interval(None, bound.interval.low, None, 4)
    assert bound.interval.low == pytest.approx(0.00775 * math.exp(-14.37 / 7.75), rel=1e-3)
    # The steadiness keeps no bound: this one says little about the delays.
    assert bound.steadiness == why
    above = declined(seen, why, 0.001)
    assert (above.interval.low, above.steadiness.at_least) == (0.001, 0.001)
    # A half width of .00775 + .1 s is 13.9 times the mean: the value is hardly known.
    assert declined(seen, why, -0.1).interval.low is None
    # Three replications give no bound.
    few = plain_estimate("packet_delay_s", [0.002, 0.021, 0.002], CONFIDENCE)
    assert declined(few, why, few.interval.low).interval.low is None


def seconds(scenario: Scenario, duration_s: float, **run: Any) -> SimulationResult:
    return simulate(scenario.with_run(duration_ns=round(duration_s * 1e9), **run))


CELLS = """
phy = { standard = "802.11n" }
cells = { left = {}, right = {} }
air = { heard = [["left", "right"]] }
stations = [
    { profile = "office-laptop", name = "desk", cell = "left", traffic = ["web", "call"] },
    { profile = "office-laptop", name = "lab", cell = "right", traffic = ["backup"] },
]
"""
POLLED = """
phy = { standard = "802.11b" }
mac = { pcf = {} }
stations = [{ name = "desk", count = 3, traffic = ["web", "backup"] }]
"""


@pytest.mark.parametrize("text", [CELLS, POLLED])
def test_the_first_half_is_noted_as_a_run_of_half_the_time_has_it(text: str) -> None:
    """To the bit, for cells that share the medium and cells that hear each other, in each group."""
    scenario = loads(text).with_run(warmup_ns=10**9, replications=2)
    whole, half = seconds(scenario, 4.0), seconds(scenario, 2.0)

    for long, short in zip(whole.simulation.runs, half.simulation.runs, strict=True):
        noted, answer = long.answer["halfway"], short.answer
        assert noted["metrics"] == without(answer["metrics"])
        for one, other in zip(noted["groups"], answer["groups"], strict=True):
            assert one["name"] == other["name"]
            for part in ("all", "download", "upload"):
                assert one[part] == (other[part] and without(other[part]))


def without(metrics: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in metrics.items()
        if value is not None
        and name not in AT_THE_END
        and not name.startswith(("transfer_time", "page_time"))
    }


def test_windows_that_grow_in_replications_leave_the_lower_end_of_waits() -> None:
    scenario = loads(office('count = 6, traffic = ["backup", "call"]'))
    run = {"warmup_ns": 10**9, "replications": 4, "seed": 1}
    seen = seconds(scenario, 4.0, **run)
    longer = seconds(scenario, 40.0, **run | {"warmup_ns": 40 * 10**9})

    for metric in ("rtt_s", "ap_queue_delay_s"):
        told, truth = seen.metrics[metric], longer.metrics[metric].mean
        assert told.high is None
        assert told.low < truth
        assert longer.metrics[metric].half_width is not None
    assert any("TCP windows" in one for one in cautions(seen))
    assert not any("run too short" in one for one in cautions(longer))


@pytest.mark.parametrize(
    ("by", "error", "grows"),
    [(10.0, 0.1, True), (10.0, 4.0, False), (2.0, 0.01, False), (-10.0, 0.1, False)],
)
def test_growth_leaves_a_lower_bound_and_noise_a_wider_interval(by, error, grows):
    """Halves of 10 and 20 grow if they differ alike in all runs, not if they differ at random."""
    assert Moved(by=by, error=error, n=4).grows(15.0) == grows
