"""Goodputs of users who think, load a page, and think again, by the renewal identity.

Long runs and glances of an office in which pages take a second and thoughts half a minute, and of
one in which the wire is too slow for its readers.
"""

from functools import cache
from pathlib import Path

import airtcp
import pytest
from airtcp.estimates import Estimate, estimate, laws
from airtcp.estimates.loops import loops, renewal
from airtcp.estimates.traffic import Traffic
from airtcp.examples import directory
from airtcp.results import SimulationResult
from airtcp.run.glance import glance
from airtcp.scenario import Scenario, loads

OFFICE = """
title = "Readers and callers"
phy = {{ standard = "802.11ax", channel_width = "40 MHz" }}
stations = [
  {{ profile = "office-laptop", name = "laptop", count = {count}, traffic = ["web"] }},
  {{ profile = "office-laptop", name = "caller", count = 4, traffic = ["call"] }},
]
links = {{ line = {{ rate = "{rate}" }} }}
run = {{ warmup = "20 s", duration = "{duration} s", replications = {replications}, seed = 5 }}
"""


def office(
    count: int = 20, rate: str = "1 Gb/s", duration: int = 100, replications: int = 8
) -> Scenario:
    text = OFFICE.format(count=count, rate=rate, duration=duration, replications=replications)
    scenario = loads(text)
    changes = {"flows.laptop-web.path": ["line"], "ap.queue.limit": "unlimited"}
    return scenario.vary(changes)


@cache
def long() -> SimulationResult:
    """A run of thirty times the length."""
    return airtcp.simulate(office(duration=3000, replications=4))


@cache
def simulated() -> SimulationResult:
    return airtcp.simulate(office())


def of(result: SimulationResult, metric: str, group: str | None, part: str = "all") -> Estimate:
    runs = result.simulation.runs
    return estimate(runs, result.scenario, metric, group=group, part=part)


def traffic(result: SimulationResult) -> Traffic:
    return Traffic(result.simulation.runs, result.scenario, None, "all")


def test_a_page_with_a_size_of_its_own_is_rounded_up_by_half_a_byte_an_object() -> None:
    page = '{ objects = 7, size = "1 MB", connections = 2 }'
    scenario = office(count=5).vary(
        {"flows.laptop-web.application.page": {"objects": 7, "size": "1 MB", "connections": 2}}
    )
    found = airtcp.simulate(scenario, replications=3)
    loop = traffic(found)
    mean = laws.unit_bytes(scenario.flows[0])

    units = loop.sums("units", loop.recurrent).sum()
    assert mean == 1_000_003.5, page
    # The sum of seven roundings has a standard deviation of .76 bytes.
    drawn = loop.sums("unit_bytes", loop.recurrent).sum() / units
    assert abs(drawn - mean) < 4 * 0.76 / units**0.5


def test_small_pages_of_many_objects_have_no_mean_that_is_known() -> None:
    small = office().vary(
        {"flows.laptop-web.application.page": {"objects": 70, "size": "1 kB", "connections": 6}}
    )
    assert laws.unit_bytes(small.flows[0]) is None


@pytest.mark.slow
@pytest.mark.parametrize(("group", "part"), [(None, "all"), ("laptop", "download")])
def test_a_goodput_of_pages_is_that_of_a_run_of_thirty_times_the_length(
    group: str | None, part: str
) -> None:
    short = of(simulated(), "goodput_bps", group, part)
    whole = of(long(), "goodput_bps", group, part)
    true, about = whole.plain, whole.interval

    assert short.estimator == whole.estimator == "closed loop"
    assert short.gain > 100.0
    assert None not in (true.mean, true.half_width, about.mean, about.half_width)
    # Beside what was measured, and beside an interval of the identity that is as sure as it can be.
    assert abs((short.interval.mean or 0.0) - (true.mean or 0.0)) < 1.5 * (true.half_width or 0.0)
    distance = abs((short.interval.mean or 0.0) - (about.mean or 0.0))
    assert distance < 1.5 * (short.interval.half_width or 0.0)


def test_few_page_times_that_are_alike_make_no_narrow_interval() -> None:
    found = loops(traffic(simulated()))
    loop = found[0]
    few, many = (loop.__class__(20, 4e6, 30.0, (0.8, 0.8), pages) for pages in (4.0, 400.0))

    assert few.least_half_width_bps(0.95) > 10.0 * many.least_half_width_bps(0.95) > 0.0


def test_a_goodput_of_pages_that_take_long_is_not_told_by_those_that_ended() -> None:
    """On a wire of 20 Mb/s forty readers wait longer than they think."""
    slow = airtcp.simulate(office(count=40, rate="20 Mb/s", replications=4))
    found = renewal(traffic(slow), 0.95)

    assert found.page_time_s is None or found.page_time_s > 0.1 * 120.0
    assert of(slow, "goodput_bps", "laptop", "download").estimator != "closed loop"


@pytest.mark.slow
def test_glances_at_readers_hold_what_a_long_run_says() -> None:
    """Of twenty seeds at least sixteen: of 95 % less are a chance in 400."""
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
    """As none has ended yet that takes long: what came is too little, the identity too much."""
    slow = office(count=40, rate="20 Mb/s", duration=300, replications=2)
    true = of(airtcp.simulate(slow), "goodput_bps", "laptop", "download").plain
    least, most = true.low or 0.0, true.high or 0.0
    seen = [glance(slow, seed=seed) for seed in range(10)]
    goodputs = [one.interval("goodput_bps", "laptop", "download") for one in seen]

    hold = sum(
        one.low is not None and one.low <= most and (one.high or 0.0) >= least for one in goodputs
    )
    assert hold >= 8
    # If hardly a page has ended, nothing is known of their time.
    assert sum(one.settled for one in seen) <= 4


def test_glances_that_see_a_page_or_two_tell_of_them() -> None:
    """Of so few pages their draws explain all that came, and nothing would be left of it."""
    cafe = airtcp.load(Path(str(directory() / "cafe-wifi6.toml")))
    for seed in (302, 308, 321, 330):
        seen = glance(cafe, seed=seed)
        found = seen.interval("goodput_bps", "laptop", "download")
        runs = seen.simulation.runs
        came = estimate(runs, seen.scenario, "goodput_bps", group="laptop", part="download").plain
        loop = renewal(Traffic(runs, seen.scenario, "laptop", "download"), 0.95)

        assert came.mean is not None
        assert found.high is None or found.high >= min(came.mean, loop.most_bps)
