"""Start-up bias left in the measured time, and large transfers that are too rare."""

from __future__ import annotations

import math

import pytest
from airtcp import load, simulate
from airtcp.distributions import (
    Deterministic,
    Empirical,
    Exponential,
    Pareto,
    Uniform,
)
from airtcp.estimates import Estimate, estimate
from airtcp.estimates.startup import Startup, _larger, byte_median, startups, unseen
from airtcp.estimates.traffic import Traffic
from airtcp.results import SimulationResult
from airtcp.stats import student_interval
from bases import said

SCENARIO = """
phy = {{ standard = "802.11b" }}
stations = [{{ name = "laptop", count = 4 }}]
run = {{ warmup = "{warmup_s} s", duration = "{measured_s} s", replications = 5, seed = 2 }}
[[flows]]
stations = "laptop"
direction = "download"
[flows.application]
kind = "web"
size = {{ {size} }}
think_time = {{ distribution = "exponential", mean = "1 s" }}
"""


def of(size: str, *, warmup_s: int, measured_s: int) -> tuple[SimulationResult, Startup]:
    text = SCENARIO.format(size=size, warmup_s=warmup_s, measured_s=measured_s)
    result = simulate(load(text), threads=1)
    (one,) = startups(Traffic(result.simulation.runs, result.scenario, None, "all"))
    return result, one


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One of 200 transfers has 2 MB, the others 5 kB: mean 14,975 B, 2/3 of it in large ones."""
    path = tmp_path_factory.mktemp("sizes") / "sizes.csv"
    path.write_text("size\n" + "5000\n" * 199 + "2000000\n", encoding="utf-8")
    return f'distribution = "empirical", file = "{path.as_posix()}", column = "size"'


@pytest.mark.parametrize(
    ("law", "median"),
    [
        # Half of all bytes are in exponential sizes beyond x means: (1 + x) exp(-x) = 1/2.
        (Exponential(mean=2.0), 2 * 1.67835),
        # (scale / x)^(shape - 1) = 1/2: 4 scales; with a shape of 1.01 it counts as infinite.
        (Pareto(shape=1.5, scale=3.0), 12.0),
        (Pareto(shape=1.01, scale=3.0), math.inf),
        # x^2 = 1/2: half of all bytes are in sizes below x.
        (Uniform(low=0.0, high=1.0), 0.5**0.5),
        (Deterministic(value=7.0), 7.0),
        # 99 transfers of 1 kB, and one of a megabyte, which carries 91 % of the bytes.
        (Empirical(values=(1e3, 1e6), counts=(99, 1)), 1e6),
    ],
)
def test_half_of_all_bytes_are_in_sizes_up_to_the_byte_median(law, median):
    assert byte_median(law) == pytest.approx(median, rel=2e-3)


def test_the_start_up_is_what_large_transfers_take_less_what_the_warm_up_has_seen(large):
    result, one = of(large, warmup_s=5, measured_s=40)
    accounts = [run.accounts for run in result.simulation.runs]
    active_s, ended = (
        sum(each.column(name).sum() for each in accounts) for name in ("active_s", "ended")
    )

    assert one.large_bytes == 2e6
    assert one.takes_s == pytest.approx(2e6 / 14_975 * active_s / ended)
    assert one.share == pytest.approx(one.takes_s * math.exp(-5.0 / one.takes_s) / 40.0)
    assert one.enough_s * 0.1 == pytest.approx(one.share * 40.0)
    assert one.expected == pytest.approx(ended / 200)


def estimates(result: SimulationResult) -> tuple[Estimate, Estimate]:
    """Return the estimates of the transfer time and of goodput."""
    runs, scenario = result.simulation.runs, result.scenario
    return estimate(runs, scenario, "transfer_time_s"), estimate(runs, scenario, "goodput_bps")


def test_runs_that_are_short_beside_large_transfers_give_a_bound_of_their_time(large: str) -> None:
    result, one = of(large, warmup_s=1, measured_s=20)
    assert one.is_short

    time_s, goodput = estimates(result)

    bound, steadiness = time_s.interval, time_s.steadiness
    assert (bound.mean, bound.high, steadiness.state) == (None, None, "unsteady")
    assert steadiness.at_least == bound.low is not None
    assert steadiness.simulate_s >= one.enough_s
    # Goodput is still estimated, but no more precisely than by plain means.
    assert goodput.interval.half_width == pytest.approx(goodput.plain.half_width)
    assert goodput.steadiness.state == "unsteady"


def test_few_large_transfers_say_nothing_of_the_mean_and_much_of_goodput(large: str) -> None:
    # The run is long compared with a large transfer; five replications have some ten of them.
    result, one = of(large, warmup_s=100, measured_s=100)
    assert (one.is_short, one.is_rare) == (False, True)

    time_s, goodput = estimates(result)

    assert time_s.interval.mean is None
    assert time_s.steadiness.state == "cannot tell"
    assert "half of all bytes" in (time_s.steadiness.reason or "")
    assert goodput.interval.mean is not None


def test_runs_of_equal_transfers_are_neither_short_nor_rare() -> None:
    size = 'distribution = "exponential", mean = "30 kB"'
    result, one = of(size, warmup_s=5, measured_s=40)

    assert (one.is_short, one.is_rare) == (False, False)
    assert one.large_bytes == pytest.approx(1.67835 * 30e3, rel=2e-3)
    assert estimates(result)[0].interval.mean


def test_what_draws_cannot_show_is_in_sizes_beyond_the_largest() -> None:
    # One of 1,000 transfers of shape 1.5 is larger than 1000^(2/3) = 100 scales, and larger ones
    # hold sqrt(1 / 100) of all bytes. 5 % are in sizes that only one of .05^-3 = 8,000 exceeds.
    assert _larger(Pareto(shape=1.5, scale=7.0), 1000) == pytest.approx(0.1)
    size = 'distribution = "pareto", mean = "30 kB", shape = 1.5'
    result, _ = of(size, warmup_s=2, measured_s=10)
    (missing,) = unseen(Traffic(result.simulation.runs, result.scenario, None, "all"))
    begun = sum(run.accounts.column("begun").sum() for run in result.simulation.runs)
    assert missing.begun == begun
    assert missing.enough_s == pytest.approx(10.0 * 8000.0 / begun)


@pytest.mark.parametrize(
    ("shape", "measured_s", "is_told"), [(1.5, 10, False), (1.5, 900, True), (2.5, 10, True)]
)
def test_no_mean_time_is_told_where_much_of_an_infinite_variance_goes_unseen(
    shape: float, measured_s: int, is_told: bool
) -> None:
    size = f'distribution = "pareto", mean = "30 kB", shape = {shape}'
    result, _ = of(size, warmup_s=2, measured_s=measured_s)
    one, goodput = estimates(result)

    assert (one.interval.mean is not None) == is_told
    assert goodput.interval.mean is not None
    missing = unseen(Traffic(result.simulation.runs, result.scenario, None, "all"))
    assert [each.is_much for each in missing] == ([not is_told] if shape < 2.0 else [])
    if not is_told:
        assert one.interval.low is not None
        assert one.steadiness.simulate_s > measured_s
        assert said(one.steadiness.reason) == "estimates.startup.infinite_variance"
    elif missing:
        # The half width includes the bytes of sizes that were not drawn.
        beside = student_interval(one.values).half_width + missing[0].share * one.interval.mean
        assert one.interval.half_width >= beside * (1.0 - 1e-9)
