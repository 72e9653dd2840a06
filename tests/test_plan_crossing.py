"""Crossings of a condition: where the mean line meets its bound, and how sure that is.

Knows samples by place and replication. Does not know scenarios, nor how places are chosen
(`test_plan`).
"""

import math
import random

import pytest
from airtcp.plan.crossing import cross, monotone_crossing, paired


def test_a_crossing_is_where_the_mean_line_is_zero() -> None:
    """y = 0.1 (x - 20) + e with e of -0.1, 0, 0.1: crosses at 20; parts are -e / 0.1."""
    samples = {x: {run: 0.1 * (x - 20) + 0.1 * (run - 1) for run in range(3)} for x in (17, 23)}

    found = cross(samples, 0.95)

    assert found is not None
    assert found.at == pytest.approx(20.0)
    assert found.parts == pytest.approx({0: 1.0, 1: 0.0, 2: -1.0})
    # Student's factor for 2 degrees of freedom, 4.303, over the root of 3.
    assert found.low is None or found.low == pytest.approx(20.0 - 4.303 / math.sqrt(3), abs=0.06)


def test_intervals_of_crossings_hold_the_truth_as_often_as_they_say() -> None:
    """200 made experiments, y = 0.05 (x - 31) + 0.004 (x - 31)^2 + N(0, 0.2^2) per replication.

    The truth is 31; 95 % of 200 are 190, and fewer than 180 come by chance once in a thousand.
    """
    draw = random.Random(5)
    inside = 0
    for _ in range(200):
        shift = [draw.gauss(0.0, 0.2) for _ in range(10)]
        samples = {
            x: {
                run: 0.05 * (x - 31)
                + 0.004 * (x - 31) ** 2 * (x > 28)
                + shift[run]
                + draw.gauss(0.0, 0.05)
                for run in range(10)
            }
            for x in (27, 30, 33, 36)
        }
        found = cross(samples, 0.95)
        assert found is not None
        inside += (found.low is None or found.low <= 31.0) and (
            found.high is None or found.high >= 31.0
        )
    assert inside >= 180


@pytest.mark.parametrize("places", [(26, 30, 35, 40), (28, 32, 38, 43), (23, 28, 31, 35)])
def test_a_curve_that_grows_ever_faster_crosses_where_it_does(places: tuple[int, ...]) -> None:
    """Transfer times that were measured, 1500 replications at each value: 0.464 s at 31, 0.512 s
    at 32. A parabola through their logarithms crosses 0.5 s within 0.3 of there; one through the
    values themselves is 1.5 off in the second case.
    """
    measured = {23: 0.250, 26: 0.305, 28: 0.355, 30: 0.422, 31: 0.464, 32: 0.512}
    measured |= {35: 0.734, 38: 1.151, 40: 1.614, 43: 2.746}
    spread = (-0.1, 0.0, 0.1)
    samples = {
        place: {run: measured[place] * (1.0 + part) - 0.5 for run, part in enumerate(spread)}
        for place in places
    }

    found, straight = cross(samples, 0.95, bound=0.5), cross(samples, 0.95)

    assert found is not None
    assert straight is not None
    truth = 31 + (0.5 - 0.464) / (0.512 - 0.464)
    assert found.at == pytest.approx(truth, abs=0.3)
    if places[0] == 28:
        assert straight.at - truth > 1.0
    # A metric moved by a tenth moves the crossing by as many logarithms over the slope.
    assert found.parts[0] == pytest.approx(-found.parts[2])
    assert found.parts[0] > 0.0


def test_a_metric_that_leaps_is_crossed_at_its_leap() -> None:
    """The delay of calls in 802.11b as it was measured: 15.8 ms with 11 of them, 2.06 s with 12.

    A parabola through the logarithms of the last four crosses 50 ms at 10.6, where each replication
    has some 15 ms.
    """
    measured = {8: 0.0125, 9: 0.0130, 11: 0.0158, 12: 2.06, 14: 9.9}
    spread = (-0.1, -0.05, 0.0, 0.05, 0.1)
    samples = {
        place: {run: value * (1.0 + part) - 0.05 for run, part in enumerate(spread)}
        for place, value in measured.items()
    }

    found = cross(samples, 0.95, bound=0.05)

    assert found is not None
    assert found.low == 11.0
    assert 11.0 < found.at < 12.0
    assert found.high == pytest.approx(12.0)
    assert found.high < 12.0


def test_a_leap_between_two_places_may_be_anywhere_between_them() -> None:
    """The delay of calls in 802.11g as it was measured: 13.9 ms with 46, 23.6 ms with 48.

    A parabola through the logarithms crosses 50 ms at 46.7, and is some .3 wide.
    """
    measured = {37: 0.0113, 42: 0.0121, 46: 0.0136, 50: 1.48, 53: 4.18}
    spread = (-0.1, -0.05, 0.0, 0.05, 0.1)
    samples = {
        place: {run: value * (1.0 + part) - 0.05 for run, part in enumerate(spread)}
        for place, value in measured.items()
    }

    found = cross(samples, 0.95, bound=0.05)

    assert found is not None
    assert found.low == 46.0
    assert found.high == pytest.approx(50.0)
    assert 46.0 < found.at < 50.0


def test_a_metric_that_falls_is_crossed_from_above() -> None:
    """Shares of 10 fall below 0.5 at 20: 1/n, whose logarithm is smooth; and what is zero somewhere
    has no logarithm."""
    samples = {n: dict.fromkeys(range(3), 0.5 - 10.0 / n) for n in (16, 18, 22, 25)}

    found = cross(samples, 0.95, bound=0.5, falls=True)

    assert found is not None
    assert found.at == pytest.approx(20.0, abs=0.01)
    samples[25] = dict.fromkeys(range(3), 0.5)
    assert cross(samples, 0.95, bound=0.5, falls=True) == cross(samples, 0.95)


def test_two_crossings_on_the_same_numbers_are_compared_in_pairs() -> None:
    """Both have the same noise: their difference is sure, each of them is not."""
    noise = [-0.3, 0.1, 0.2, 0.0]
    one, other = (
        cross({x: {r: 0.1 * (x - at) + e for r, e in enumerate(noise)} for x in (10, 30)}, 0.95)
        for at in (18, 21)
    )
    assert one is not None
    assert other is not None

    moved = paired(one, other, 0.95)

    assert moved.mean == pytest.approx(3.0)
    assert moved.half_width == pytest.approx(0.0, abs=1e-9)


def test_means_that_do_not_rise_everywhere_cross_where_the_nearest_rising_ones_do() -> None:
    """-1, 0.2, -0.4, 1: the middle two pool to -0.1; from there on to 1 zero is at 1/11."""
    assert monotone_crossing({0: -1.0, 1: 0.2, 2: -0.4, 3: 1.0}) == pytest.approx(2 + 1 / 11)
    assert monotone_crossing({0: -1.0, 1: -0.2}) is None
