"""Moments and tails against numeric integration, segments against brute force and sampling."""

import math
from itertools import pairwise

import numpy as np
import pytest
from airtcp.distributions import (
    Deterministic,
    Distribution,
    Empirical,
    Exponential,
    Hyperexponential,
    Lognormal,
    Pareto,
    Uniform,
)
from pydantic import ValidationError
from scipy import integrate

LAWS: dict[str, Distribution] = {
    "deterministic": Deterministic(value=30_000.0),
    "a byte more than 20 segments of 1460": Deterministic(value=29_201.0),
    "exponential": Exponential(mean=30_000.0),
    "exponential, below a segment": Exponential(mean=100.0),
    "pareto, infinite variance": Pareto(shape=1.5, scale=10_000.0),
    "pareto, below a segment": Pareto(shape=2.5, scale=300.0),
    "hyperexponential": Hyperexponential(probability=0.9, mean_1=17_000.0, mean_2=150_000.0),
    "lognormal": Lognormal(mu=9.5, sigma=1.2),
    "lognormal, narrow": Lognormal(mu=10.0, sigma=0.01),
    "uniform": Uniform(low=0.0, high=60_000.0),
    "uniform, narrow": Uniform(low=14_000.0, high=14_700.0),
    "empirical": Empirical(values=(1.0, 1460.0, 1461.0, 40_000.0), counts=(3, 1, 1, 2)),
}
CONTINUOUS = {
    name: law for name, law in LAWS.items() if law.kind not in ("deterministic", "empirical")
}
MSS = (1, 536, 1000, 1460)


def integral(function, start: float, breaks: list[float]) -> float:
    """Integrate a function from `start` to infinity.

    In pieces between `breaks`, then over the logarithm of x up to a factor of e^120: even the tail
    x^-1.5 has only e^-60 of its integral left there.
    """
    edges = sorted({start, *[x for x in breaks if x > start]})
    last = math.log(edges[-1])
    logarithms = [last + 3 * step for step in range(41)]

    def stretched(t: float) -> float:
        return float(function(math.exp(t))) * math.exp(t)

    pieces = [quad(function, a, b) for a, b in pairwise(edges)]
    return math.fsum(pieces + [quad(stretched, a, b) for a, b in pairwise(logarithms)])


def quad(function, low: float, high: float) -> float:
    return integrate.quad(function, low, high, limit=500, epsabs=1e-30, epsrel=1e-11)[0]


def breaks_of(law) -> list[float]:
    corners = {"pareto": "scale", "uniform": "low"}
    extra = [getattr(law, corners[law.kind])] if law.kind in corners else []
    extra += [law.high] if law.kind == "uniform" else []
    return extra + [law.mean() * factor for factor in (0.5, 0.9, 1, 1.1, 2, 5, 20, 100, 1000)]


@pytest.mark.parametrize("law", CONTINUOUS.values(), ids=CONTINUOUS.keys())
def test_moments_are_integrals_of_the_tail(law) -> None:
    """E[X] = int_0^inf P(X > x) dx, each piece to 1e-11, and E[X^2] with 2 x P(X > x)."""
    mean = integral(lambda x: float(law.survival(x)), 0.0, breaks_of(law))
    assert law.mean() == pytest.approx(mean, rel=1e-9)
    if law.kind == "pareto" and law.shape <= 2:
        assert law.second_moment() == law.scv() == math.inf
        return
    moment = integral(lambda x: 2 * x * float(law.survival(x)), 0.0, breaks_of(law))
    assert law.second_moment() == pytest.approx(moment, rel=1e-9)
    assert law.scv() == pytest.approx(moment / law.mean() ** 2 - 1, rel=1e-4)


@pytest.mark.parametrize("mss", MSS)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_segments_are_the_sum_of_the_tail(law, mss: int) -> None:
    """E[ceil(X/mss)] = sum_{k>=0} P(X > k mss): term by term, then an integral for the rest."""
    n = max(2000, math.ceil(200 * law.mean() / mss))
    survival = law.survival(mss * np.arange(n, dtype=float))
    # The rest lies between int_n^inf P(X > k mss) dk and that plus the integrand at n.
    rest = 0.0
    if law.kind not in ("deterministic", "empirical") and survival[-1] > 0:
        rest = integral(lambda x: float(law.survival(x)), n * mss, breaks_of(law)) / mss
    first = float(law.survival(n * mss))
    brute_force = math.fsum(survival)
    expected = law.expected_segments(mss)
    slack = 1e-9 * brute_force
    assert brute_force + rest - slack <= expected <= brute_force + rest + first + slack


def test_segments_with_an_exponent_beyond_a_float() -> None:
    """A Pareto of shape 1000 is nearly constant: 1e6 <= X/mss, and E[X/mss] = 1e6 * 1000/999."""
    law = Pareto(shape=1000.0, scale=1e9)
    # E[N] = E[X/mss] + 1/2, because the size spreads over 1001 segments; the curvature of the
    # density adds less than (1/12) shape / 1e6 segments.
    assert law.expected_segments(1000) == pytest.approx(1e6 * 1000 / 999 + 0.5, abs=1e-3)


def test_segments_between_the_two_ways_to_sum() -> None:
    """The Hurwitz zeta function and its replacement agree where both can be computed."""
    for shape in (90.0, 300.0, 900.0):
        for scale in (3_000.0, 500_000.0, 20_000_000.0):
            law = Pareto(shape=shape, scale=scale)
            k = np.arange(0, math.ceil(1.8 * scale / 1000), dtype=float)
            assert law.expected_segments(1000) == pytest.approx(
                math.fsum(law.survival(1000 * k)), rel=1e-9
            )


def test_survival_of_data_counts_what_is_above() -> None:
    law = LAWS["empirical"]
    assert law.survival([0.5, 1.0, 1460.0, 1460.5, 40_000.0]) == pytest.approx(
        [7 / 7, 4 / 7, 3 / 7, 3 / 7, 0]
    )
    assert law.mean() == pytest.approx((3 * 1 + 1460 + 1461 + 2 * 40_000) / 7)
    assert law.second_moment() == pytest.approx((3 + 1460**2 + 1461**2 + 2 * 40_000**2) / 7)
    assert LAWS["deterministic"].second_moment() == 30_000**2
    # A transfer of 0 bytes also takes one segment.
    assert Deterministic(value=0.0).expected_segments(1000) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pareto(shape=1.0, scale=1.0),
        lambda: Exponential(mean=0.0),
        lambda: Uniform(low=2.0, high=1.0),
        lambda: Lognormal(mu=0.0, sigma=0.0),
        lambda: Deterministic(value=math.nan),
        lambda: Hyperexponential(probability=1.0, mean_1=1.0, mean_2=1.0),
        lambda: Empirical(values=(), counts=()),
        lambda: Empirical(values=(2.0, 1.0), counts=(1, 1)),
        lambda: Empirical(values=(1.0, 2.0), counts=(1,)),
        lambda: Deterministic(value=1.0).expected_segments(0),
    ],
)
def test_impossible_parameters_are_refused(make) -> None:
    with pytest.raises((ValidationError, ValueError)):
        make()
