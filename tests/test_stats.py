"""Statistics over replications: intervals against SciPy, and the rule that asks for more."""

import math
import random

import pytest
from airtcp.stats import (
    FIRST_ROUND,
    Interval,
    is_precise,
    next_round,
    of_one_more,
    ratio_interval,
    student_interval,
)
from scipy import stats


def samples_of(n: int, seed: int = 1) -> list[float]:
    source = random.Random(seed)
    return [source.gauss(2.4e6, 3e4) for _ in range(n)]


@pytest.mark.parametrize("n", [2, 3, 5, 10, 100])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_interval_is_that_of_scipy(n: int, confidence: float) -> None:
    samples = samples_of(n)
    low, high = stats.t.interval(confidence, n - 1, loc=sum(samples) / n, scale=stats.sem(samples))

    interval = student_interval(samples, confidence)

    assert interval.n == n
    assert interval.mean == pytest.approx(sum(samples) / n, rel=1e-14)
    assert interval.low == pytest.approx(low, rel=1e-12)
    assert interval.high == pytest.approx(high, rel=1e-12)


def test_a_ratio_is_held_as_often_as_it_says_though_what_is_below_is_uneven() -> None:
    """Goodputs alone are exponential, of which a cell keeps some 60 %: a mean of ratios errs."""
    source = random.Random(11)
    held = 0
    for _ in range(2000):
        below = [source.expovariate(1.0) for _ in range(10)]
        above = [max(0.0, 0.6 * one + source.gauss(0.0, 0.1)) for one in below]
        interval = ratio_interval(above, below, 0.9)
        held += interval.low <= 0.6038 <= interval.high

    assert 0.86 < held / 2000 < 0.94


def test_a_ratio_of_constants_is_exact_and_one_of_nothing_is_not_known() -> None:
    assert ratio_interval([1.0, 2.0], [2.0, 4.0]) == Interval(0.5, 0.5, 0.5, 2)
    assert ratio_interval([3.0], [4.0]) == Interval(0.75, None, None, 1)
    assert ratio_interval([0.0, 0.0], [0.0, 0.0]) == Interval(None, None, None, 0)
    assert ratio_interval([], []) == Interval(None, None, None, 0)


def test_intervals_hold_the_mean_and_one_more_sample_as_often_as_they_say() -> None:
    # 4000 intervals of 5 samples at 90 %: the count is binomial with deviation 0.0047 of the rate.
    source = random.Random(7)
    held = inside = 0
    for _ in range(4000):
        *known, next_one = (source.gauss(3.0, 1.0) for _ in range(6))
        interval = student_interval(known, 0.9)
        where = of_one_more(interval)
        held += interval.low <= 3.0 <= interval.high
        inside += where.low <= next_one <= where.high
    assert held / 4000 == pytest.approx(0.9, abs=4 * 0.0047)
    assert inside / 4000 == pytest.approx(0.9, abs=4 * 0.0047)


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        ([], Interval(None, None, None, 0)),
        ([None, None], Interval(None, None, None, 0)),
        ([None, 4.0, None], Interval(4.0, None, None, 1)),
        ([1.0, None, 2.0, 4.0], student_interval([1.0, 2.0, 4.0])),
        ([0.1] * 7, Interval(0.1, 0.1, 0.1, 7)),
        ([1e-300] * 7, Interval(1e-300, 1e-300, 1e-300, 7)),
    ],
)
def test_missing_samples_are_left_out_and_equal_ones_are_exact(
    samples: list[float | None], told: Interval
) -> None:
    assert student_interval(samples) == told
    if told.n <= 1:
        assert of_one_more(told) == told


@pytest.mark.parametrize("wrong", [0.0, 1.0, -1.0, math.nan, math.inf])
def test_confidence_must_be_a_probability_and_samples_finite(wrong: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        student_interval([1.0, 2.0], wrong)
    if not math.isfinite(wrong):
        with pytest.raises(ValueError, match="finite"):
            student_interval([1.0, wrong])


def test_relative_half_width() -> None:
    assert Interval(10.0, 9.0, 11.0, 3).relative_half_width == pytest.approx(0.1)
    assert Interval(-10.0, -11.0, -9.0, 3).relative_half_width == pytest.approx(0.1)
    assert Interval(0.0, 0.0, 0.0, 3).relative_half_width == 0.0
    assert Interval(0.0, -1.0, 1.0, 3).relative_half_width == math.inf
    assert Interval(10.0, None, None, 1).relative_half_width is None


def test_precision_asks_every_interval() -> None:
    narrow, wide = Interval(10.0, 9.9, 10.1, 5), Interval(10.0, 9.0, 11.0, 5)

    assert is_precise([narrow], 0.02)
    assert is_precise([narrow], 0.01 + 1e-12)
    assert not is_precise([narrow, wide], 0.02)
    assert not is_precise([Interval(10.0, None, None, 1)], 0.02)


NARROW, WIDE = Interval(1.0, 0.999, 1.001, 50), Interval(1.0, 0.5, 1.5, 500)
UNKNOWN = Interval(None, None, None, 0)


@pytest.mark.parametrize(
    ("known", "done", "most", "wanted"),
    [
        # Half width 3 % where 2 % is asked: 40 * 1.5^2 = 90 replications, and a tenth more, is 99;
        # but a round at most doubles.
        ([Interval(100.0, 97.0, 103.0, 40)], 40, 1000, 80),
        # Half width 2.2 %: 1.1 * 40 * 1.21 = 53.24.
        ([Interval(100.0, 97.8, 102.2, 40)], 40, 1000, 54),
        # On by one at least, and never past the limit.
        ([NARROW], 50, 1000, 51),
        ([NARROW, WIDE], 500, 600, 600),
        # Nothing is known.
        ([UNKNOWN], FIRST_ROUND, 1000, 2 * FIRST_ROUND),
        ([Interval(0.0, -1.0, 1.0, 5)], 5, 1000, 10),
    ],
)
def test_next_round_follows_the_square_root_law(
    known: list[Interval], done: int, most: int, wanted: int
) -> None:
    assert next_round(known, 0.02, done, most) == wanted
