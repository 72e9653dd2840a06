"""Times of transfers by block, and intervals of skewed numbers."""

from __future__ import annotations

from functools import cache
from math import factorial

import numpy as np
import pytest
from airtcp import load, simulate
from airtcp.distributions import Empirical, Pareto
from airtcp.estimates import estimate
from airtcp.estimates.laws import moments
from airtcp.estimates.limits import confined
from airtcp.estimates.skewness import Law, skewed_interval, with_longer_upper_arm
from airtcp.estimates.told import pooled_interval, reaching
from airtcp.estimates.traffic import Traffic
from airtcp.results import SimulationResult
from airtcp.stats import Interval, student_interval

FLOW = """
[[flows]]
stations = "{group}"
direction = "{direction}"
application = {{ kind = "web", size = {size}, think_time = {think} }}
"""
TWO_GROUPS = """
phy = { standard = "802.11b" }
stations = [{ name = "near", count = 3 }, { name = "far", count = 2 }]
run = { warmup = "10 s", duration = "100 s", replications = 6, seed = 5 }
"""
THINK = '{ distribution = "exponential", mean = "1 s" }'


SIZES = {
    "light": '{ distribution = "exponential", mean = "30 kB" }',
    "heavy": '{ distribution = "pareto", mean = "30 kB", shape = 2.1 }',
}


@cache
def simulated(size: str) -> SimulationResult:
    text = TWO_GROUPS
    for group, direction in (("near", "download"), ("far", "upload")):
        text += FLOW.format(group=group, direction=direction, size=SIZES[size], think=THINK)
    return simulate(load(text), threads=1)


def traffic(group: str | None = None, part: str = "all") -> Traffic:
    result = simulated("light")
    return Traffic(result.simulation.runs, result.scenario, group, part)


def test_the_times_of_a_group_are_those_that_ended_in_each_block() -> None:
    # Two groups, of which one only uploads. Together they have all transfers, and each block has as
    # many as the accounts count.
    (run, *_) = traffic().runs
    every, near, far, uploads, none = (
        traffic(*of).times_s(run) or []
        for of in ((), ("near",), ("far",), (None, "upload"), ("far", "download"))
    )

    assert np.concatenate(every) == pytest.approx(run.transfer_times_s)
    assert [len(part) for part in every] == run.accounts.column("ended").sum(axis=1).tolist()
    assert [len(part) for part in far] == run.accounts.column("ended")[:, 1].tolist()
    assert [len(part) for part in near] == run.accounts.column("ended")[:, 0].tolist()
    assert np.concatenate(uploads) == pytest.approx(np.concatenate(far))
    assert sum(map(len, none)) == 0


def test_skewed_numbers_have_both_arms_as_long_as_the_longer_of_hall() -> None:
    # 0, 0, 0, 0, 5: mean 1, variance 5, standard error 1, skewness 12 / 4^1.5 = 1.5. With
    # a = 1.5 / (3 sqrt 5) = 0.2236 and t = 2.7764: y = -2.7764 - a / 2 = -2.8883, and
    # (cbrt(1 + 3 a y) - 1) / a = (cbrt(-0.9376) - 1) / a = (-0.9788 - 1) / 0.2236 = -8.849.
    values = np.array([0.0, 0.0, 0.0, 0.0, 5.0])

    for mirrored in (values, -values):
        interval = skewed_interval(mirrored, 0.95, None)
        assert interval.mean == pytest.approx(abs(1.0) * np.sign(mirrored.sum()))
        assert interval.half_width == pytest.approx(8.849, abs=0.01)
    assert skewed_interval(values, 0.95, 4.0).half_width == pytest.approx(4.0)
    assert skewed_interval(values, 0.95, 1.0) == student_interval(values, 0.95)


def test_a_skewness_that_is_known_counts_where_numbers_tell_less() -> None:
    # With h = .1 / (3 sqrt 5) = .01491 the longer arm of 2.7764 standard errors is (1 - (1 - 3 h
    # (2.7764 + h / 2))^(1/3)) / h = 2.9081 of them, 1.0474 times as long. A skewness of 2 exceeds
    # what five numbers can show, sqrt(6 / 5), so their own is used.
    values = np.array([0.0, 0.0, 1.0, 1.0, 4.0])
    student = student_interval(values, 0.95).half_width
    known = skewed_interval(values, 0.95, None, 0.1).half_width
    assert known == pytest.approx(student * 1.0474, rel=1e-4)
    assert skewed_interval(values, 0.95, None, 2.0) == skewed_interval(values, 0.95, None)


def test_the_skewness_of_what_is_drawn_is_that_of_its_sum() -> None:
    # E[X^2] = 2 m^2 and E[X^3] = 6 m^3 of an exponential law: 3 / sqrt(2 N) of N transfers.
    of = traffic()
    begun = float(of.sums("begun", of.recurrent).sum()) / len(of.runs)
    assert of.skewness == pytest.approx(3.0 / np.sqrt(2.0 * begun), rel=1e-3)
    second, third = moments(Empirical(values=(1.0, 10.0), counts=(9, 1)))
    assert (second, third) == pytest.approx((10.9, 100.9))
    assert np.isinf(moments(Pareto(shape=2.5, scale=1.0))[1])
    # a / (a - 3) for a scale of 1.
    assert moments(Pareto(shape=4.0, scale=1.0))[1] == pytest.approx(4.0)


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0, 4.0, 5.0], [1.0] * 4])
def test_numbers_without_skewness_have_students_interval(values: list[float]) -> None:
    assert skewed_interval(np.array(values), 0.95, None) == student_interval(values, 0.95)


@pytest.mark.parametrize("size", ["light", "heavy"])
def test_intervals_are_students_of_the_values_unless_sizes_are_heavy(size: str) -> None:
    result = simulated(size)

    one = estimate(result.simulation.runs, result.scenario, "transfer_time_s")

    student = student_interval(one.values)
    if size == "light":
        assert one.interval == student
    else:
        assert student.half_width < one.interval.half_width <= one.plain.half_width


@pytest.mark.parametrize(("power", "number"), [(2, 2), (3, 4)])
def test_a_longer_upper_arm_holds_the_mean_of_skewed_delays(power: int, number: int) -> None:
    """Four replications of a few bursts; the delay of a burst is a power of an exponential number.

    E[X^k] = k!. Student's interval on the scale of a delay misses the mean in 10 and 14 of 100
    cases (10,000 each), with the longer arm in 6 and 7. 1.4 % is two standard errors of 1,500
    cases."""
    random = np.random.default_rng(7)
    held = np.zeros(2)
    for _ in range(1500):
        bursts = random.exponential(size=(4, number)) ** power
        off = bursts - bursts.mean()
        law = Law(float(off.std()), float(np.mean(off**3) / off.std() ** 3))
        values = bursts.mean(axis=1).tolist()
        student = student_interval(values)
        longer = with_longer_upper_arm(values, student, 0.95, law)
        assert (longer.mean, longer.low) == (student.mean, student.low)
        both = [confined("rtt_s", one) for one in (student, longer)]
        held += [(one.low or 0.0) <= factorial(power) <= (one.high or 0.0) for one in both]

    of_student, of_longer = held / 1500
    assert of_student < 0.915
    assert of_longer > 0.915


def test_a_mean_over_all_packets_counts_each_replication_by_its_packets() -> None:
    # (1 x 30 + 2 x 10 + 4 x 10) / 50 = 1.8; without each 3, 1.75 and 1.25, of mean 2: the error is
    # sqrt(2/3 (1 + .0625 + .5625)) = 1.0408, Student's factor with 2 degrees of freedom 4.3027.
    values, counts = np.array([1.0, 2.0, 4.0, 0.0]), np.array([30.0, 10.0, 10.0, 0.0])
    interval = pooled_interval(values, counts, 0.95)
    assert interval.mean == pytest.approx(1.8)
    assert interval.half_width == pytest.approx(4.3027 * 1.0408, rel=1e-4)
    assert pooled_interval(values[2:], counts[2:], 0.95) == Interval(4.0, None, None, 2)
    # The interval of the mean over replications reaches the mean over all packets.
    assert reaching(Interval(2.25, 1.0, 3.5, 3), 1.75) == Interval(2.25, 0.5, 3.5, 3)
