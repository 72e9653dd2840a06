"""Goodputs of users who think, load a page, and think again, by the renewal identity.

Long runs and quick simulations of an office with page times of a second and think times of half a
minute, and of one whose link is too slow for its readers.
"""

from functools import cache

import airtcp
import pytest
from airtcp.estimates import Estimate, estimate, laws
from airtcp.estimates.loops import loops, renewal
from airtcp.estimates.traffic import Traffic
from airtcp.results import SimulationResult
from airtcp.run.glance import glance
from airtcp.scenario import Scenario, loads
from bases import example


def office(
    count: int = 20, rate: str = "1 Gb/s", duration: int = 100, replications: int = 8
) -> Scenario:
    text = f"""
    phy = {{ standard = "802.11ax", channel_width = "40 MHz" }}
    stations = [
      {{ profile = "office-laptop", name = "laptop", count = {count}, traffic = ["web"] }},
      {{ profile = "office-laptop", name = "caller", count = 4, traffic = ["call"] }},
    ]
    links = {{ line = {{ rate = "{rate}" }} }}
    run = {{ warmup = "20 s", duration = "{duration} s", replications = {replications}, seed = 5 }}
    """
    return loads(text).vary({"flows.laptop-web.path": ["line"], "ap.queue.limit": "unlimited"})


@cache
def long() -> SimulationResult:
    """Return a run of thirty times the length."""
    return airtcp.simulate(office(duration=3000, replications=4))


@cache
def simulated() -> SimulationResult:
    return airtcp.simulate(office())


def of(result: SimulationResult, metric: str, group: str | None, part: str = "all") -> Estimate:
    runs = result.simulation.runs
    return estimate(runs, result.scenario, metric, group=group, part=part)


def traffic(result: SimulationResult) -> Traffic:
    return Traffic(result.simulation.runs, result.scenario, None, "all")


def paged(count: int, **page: int | str) -> Scenario:
    """Return the office with pages of this number of objects, loaded one after the other."""
    keys = {"connections": 2} | page
    return office(count).vary({"flows.laptop-web.application.page": keys})


def test_a_page_with_a_size_of_its_own_is_rounded_up_by_half_a_byte_an_object() -> None:
    scenario = paged(5, objects=7, size="1 MB")
    loop = traffic(airtcp.simulate(scenario, replications=3))
    mean = laws.unit_bytes(scenario.flows[0])
    units, drawn = (loop.sums(name, loop.recurrent).sum() for name in ("units", "unit_bytes"))

    assert mean == 1_000_003.5
    # The sum of seven roundings has a standard deviation of .76 bytes.
    assert abs(drawn / units - mean) < 4 * 0.76 / units**0.5
    # Small pages with many objects have an unknown mean.
    assert laws.unit_bytes(paged(20, objects=70, size="1 kB").flows[0]) is None


@pytest.mark.slow
@pytest.mark.parametrize(("group", "part"), [(None, "all"), ("laptop", "download")])
def test_a_goodput_of_pages_is_that_of_a_run_of_thirty_times_the_length(group, part):
    short = of(simulated(), "goodput_bps", group, part)
    whole = of(long(), "goodput_bps", group, part)
    told, true, about = short.interval, whole.plain, whole.interval

    assert short.estimator == whole.estimator == "closed loop"
    assert short.gain > 100.0
    # Compared with the measured value, and with a very precise interval of the identity.
    assert abs(told.mean - true.mean) < 1.5 * true.half_width
    assert abs(told.mean - about.mean) < 1.5 * told.half_width


def test_few_page_times_that_are_alike_make_no_narrow_interval() -> None:
    found = loops(traffic(simulated()))
    loop = found[0]
    few, many = (loop.__class__(20, 4e6, 30.0, (0.8, 0.8), pages) for pages in (4.0, 400.0))

    assert few.least_half_width_bps(0.95) > 10.0 * many.least_half_width_bps(0.95) > 0.0


def test_a_goodput_of_pages_that_take_long_is_not_told_by_those_that_ended() -> None:
    """On a 20 Mb/s link forty readers wait longer than they think."""
    slow = airtcp.simulate(office(count=40, rate="20 Mb/s", replications=4))
    found = renewal(traffic(slow), 0.95)

    assert found.page_time_s is None or found.page_time_s > 0.1 * 120.0
    assert of(slow, "goodput_bps", "laptop", "download").estimator != "closed loop"


@pytest.mark.slow
def test_glances_at_readers_hold_what_a_long_run_says() -> None:
    """At least sixteen of twenty seeds: with 95 % intervals fewer have a chance of 1 in 400."""
    true = of(long(), "goodput_bps", None).interval.mean or 0.0
    seen = [glance(office(), seed=seed).interval("goodput_bps") for seed in range(20)]

    hold = sum(
        one.mean is not None and abs(one.mean - true) <= (one.half_width or 0.0) for one in seen
    )
    widths = sorted((one.half_width or 0.0) / true for one in seen)
    assert hold >= 16
    assert widths[10] < 0.5


@pytest.mark.slow
def test_glances_at_a_slow_wire_bracket_its_goodput() -> None:
    """No slow page has ended yet: delivered bytes give too little, the identity too much."""
    slow = office(count=40, rate="20 Mb/s", duration=300, replications=2)
    true = of(airtcp.simulate(slow), "goodput_bps", "laptop", "download").plain
    seen = [glance(slow, seed=seed) for seed in range(10)]
    told = [one.interval("goodput_bps", "laptop", "download") for one in seen]

    known = [(one.low, one.high or 0.0) for one in told if one.low is not None]
    assert sum(low <= true.high and true.low <= high for low, high in known) >= 8
    # If hardly a page has ended, nothing is known of their time.
    assert sum(one.settled for one in seen) <= 4


def test_glances_that_see_a_page_or_two_tell_of_them() -> None:
    """With so few pages, their draws would explain away all of the goodput."""
    cafe = example("cafe-wifi6")
    for seed in (302, 308, 321, 330):
        seen = glance(cafe, seed=seed)
        found = seen.interval("goodput_bps", "laptop", "download")
        runs = seen.simulation.runs
        came = estimate(runs, seen.scenario, "goodput_bps", group="laptop", part="download").plain
        loop = renewal(Traffic(runs, seen.scenario, "laptop", "download"), 0.95)

        assert came.mean is not None
        assert found.high is None or found.high >= min(came.mean, loop.most_bps)
