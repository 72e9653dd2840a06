"""Statistics: intervals against SciPy, the number of further runs, elimination of candidates."""

import math
import random
from collections.abc import Iterator
from statistics import fmean

import pytest
from airtcp.plan.halving import survivors, typical
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
    """The denominator is exponential, the numerator some 60 % of it: a mean of ratios is biased."""
    source = random.Random(11)
    held = 0
    for _ in range(2000):
        below = [source.expovariate(1.0) for _ in range(10)]
        above = [max(0.0, 0.6 * one + source.gauss(0.0, 0.1)) for one in below]
        interval = ratio_interval(above, below, 0.9)
        held += interval.low <= 0.6038 <= interval.high

    assert 0.86 < held / 2000 < 0.94


@pytest.mark.parametrize(
    ("above", "below", "told"),
    [
        ([1.0, 2.0], [2.0, 4.0], Interval(0.5, 0.5, 0.5, 2)),
        ([3.0], [4.0], Interval(0.75, None, None, 1)),
        ([0.0, 0.0], [0.0, 0.0], Interval(None, None, None, 0)),
        ([], [], Interval(None, None, None, 0)),
    ],
)
def test_a_ratio_of_constants_is_exact_and_one_of_nothing_is_not_known(above, below, told):
    assert ratio_interval(above, below) == told


def test_intervals_hold_the_mean_and_one_more_sample_as_often_as_they_say() -> None:
    # 4000 intervals of 5 samples at 90 %: the share is binomial with standard deviation 0.0047.
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
def test_missing_samples_are_left_out_and_equal_ones_are_exact(samples, told):
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


@pytest.mark.parametrize(
    ("interval", "relative"),
    [
        ((10.0, 9.0, 11.0), pytest.approx(0.1)),
        ((-10.0, -11.0, -9.0), pytest.approx(0.1)),
        ((0.0, 0.0, 0.0), 0.0),
        ((0.0, -1.0, 1.0), math.inf),
        ((10.0, None, None), None),
    ],
)
def test_precision_asks_every_interval(interval, relative):
    mean, low, high = interval
    one, narrow = Interval(mean, low, high, 5), Interval(10.0, 9.9, 10.1, 5)
    assert one.relative_half_width == relative
    assert is_precise([one], 0.1 + 1e-12) == (relative not in (None, math.inf))
    assert is_precise([narrow, one], 0.1 - 1e-12) == (relative == 0.0)


NARROW, WIDE = Interval(1.0, 0.999, 1.001, 50), Interval(1.0, 0.5, 1.5, 500)
UNKNOWN = Interval(None, None, None, 0)


@pytest.mark.parametrize(
    ("known", "done", "most", "wanted"),
    [
        # Half width 3 % where 2 % is asked: 40 * 1.5^2 = 90 replications plus a tenth are 99, but a
        # round at most doubles the number.
        ([Interval(100.0, 97.0, 103.0, 40)], 40, 1000, 80),
        # Half width 2.2 %: 1.1 * 40 * 1.21 = 53.24.
        ([Interval(100.0, 97.8, 102.2, 40)], 40, 1000, 54),
        # Always one more at least, and never more than the limit.
        ([NARROW], 50, 1000, 51),
        ([NARROW, WIDE], 500, 600, 600),
        # Nothing is known.
        ([UNKNOWN], FIRST_ROUND, 1000, 2 * FIRST_ROUND),
        ([Interval(0.0, -1.0, 1.0, 5)], 5, 1000, 10),
    ],
)
def test_next_round_follows_the_square_root_law(known, done, most, wanted):
    assert next_round(known, 0.02, done, most) == wanted


#: Effects of remedies, as logarithms of a metric where less is better: the winner, two that are as
#: good within the margin, some that help a little, many that do nothing, and some that harm.
EFFECTS = [-0.42, -0.36, -0.34, -0.20, -0.18, -0.12, *[0.0] * 9, 0.1, 0.15, 0.4, 0.6, 0.7]
MARGIN = 0.15
LOOKS = (2, 3, 5, 8)


def experiment(seed: int, effects: list[float]) -> list[dict[int, float]]:
    """Paired differences over 8 replications: noise of .14 +- a third, more for harmful effects.

    A third of the noise is common to all: it comes from the unchanged scenario.
    """
    draw = random.Random(seed)
    common = [draw.gauss(0.0, 0.08) for _ in range(8)]
    found = []
    for effect in effects:
        spread = draw.uniform(0.08, 0.16) * (1.5 if effect > 0.3 else 1.0)
        found.append({run: effect + common[run] + draw.gauss(0.0, spread) for run in range(8)})
    return found


def halved(samples: list[dict[int, float]], margin: float) -> Iterator[list[int]]:
    """Yield the numbers of the candidates that are left after each round."""
    left = list(range(len(samples)))
    for n in LOOKS:
        shown = {one: {run: samples[one][run] for run in range(n)} for one in left}
        left = survivors(shown, margin)
        yield left


def test_a_candidate_that_wins_is_hardly_ever_dropped() -> None:
    """The winner leads by .22, .07 more than the margin. If it led by just the margin, each round
    would drop it with probability .01: 40 of 1000 experiments.
    """
    effects = [EFFECTS[0], *EFFECTS[3:]]
    each = [list(halved(experiment(seed, effects), MARGIN)) for seed in range(1000)]
    assert sum(any(0 not in left for left in looks) for looks in each) <= 40


def test_of_several_that_are_as_good_one_is_always_left() -> None:
    """Three are within .08, less than the margin, so any of them may stay."""
    for seed in range(1000):
        for left in halved(experiment(seed, EFFECTS), MARGIN):
            assert {0, 1, 2} & set(left)


@pytest.mark.parametrize(
    ("effects", "margin", "after_two", "after_eight"),
    [
        # Three of the 20 candidates are equally good.
        (EFFECTS, MARGIN, (3.0, 8.0), (1.0, 3.0)),
        # If no candidate helps, eight samples drop nearly all of them.
        ([0.0] * 20, 2 * MARGIN, (0.0, 20.0), (0.0, 0.2)),
    ],
)
def test_most_that_do_not_win_go(effects, margin, after_two, after_eight):
    """On average over 200 experiments."""
    each = [list(halved(experiment(seed, effects), margin)) for seed in range(200)]
    assert after_two[0] <= fmean(len(looks[0]) for looks in each) <= after_two[1]
    assert after_eight[0] <= fmean(len(looks[-1]) for looks in each) <= after_eight[1]


def test_a_candidate_without_samples_stays() -> None:
    assert survivors({"a": {0: 1.0, 1: 1.1}, "b": {}}, 0.1) == ["b"]
    assert survivors({"a": {}, "b": {}}, 0.1) == ["a", "b"]


def test_the_usual_spread_is_not_that_of_one_that_is_unlike_all() -> None:
    """A tenth of 2000 pairs have variance 400, the others 4.

    The estimate is about 4, not the mean of 44.
    """
    draw = random.Random(3)
    samples = [
        [draw.gauss(0.0, 20.0 if number % 10 == 0 else 2.0) for _ in range(2)]
        for number in range(2000)
    ]
    assert 4.0 <= typical(samples) <= 6.0
    assert typical([[1.0], []]) == 0.0
