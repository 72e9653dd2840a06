"""Processor sharing: tails against other computations, balance equations, and means.

test_coverage.py compares the distribution for few sources with a simulation.
"""

import math

import numpy as np
import pytest
from airtcp.models.checks import Values
from airtcp.models.processor_sharing import (
    conditional_mean_sojourn,
    engset,
    engset_distribution,
    engset_sojourn_quantile,
    engset_sojourn_tail,
    limited,
    limited_distribution,
    mean_sojourn,
    number_distribution,
    number_tail,
    sojourn_quantile,
    sojourn_tail,
)  # fmt: skip
from scipy.linalg import expm


def tail_by_the_chain(times: list[float], rho: float) -> list[float]:
    """Return Pr{S > t} of the M/M/1-PS queue as a phase-type distribution, by uniformization.

    The tagged flow finds n - 1 others with probability (1-rho) rho^(n-1) (PASTA) and then leaves at
    rate 1/n; others leave at (n-1)/n, new ones arrive at rho. `alive[k]` is the probability that it
    is still there after k jumps of a Poisson process of rate 1 + rho.
    """
    n = np.arange(1.0, 2.0 + math.ceil(-36.0 / math.log(rho)))
    state = (1 - rho) * rho ** (n - 1)
    up, down = np.full(n.shape, rho), (n - 1) / n
    up[-1] = 0.0  # truncated where the stationary probability is below 1e-15
    stay = 1 + rho - up - down - 1 / n
    jumps = int((1 + rho) * max(times) + 12 * math.sqrt((1 + rho) * max(times)) + 50)
    alive = [state.sum()]
    for _ in range(jumps):
        new = state * stay
        new[1:] += (state * up)[:-1]
        new[:-1] += (state * down)[1:]
        state = new / (1 + rho)
        alive.append(state.sum())
    k = np.arange(len(alive))
    log_factorial = np.array([math.lgamma(j + 1.0) for j in k])
    tails = []
    for t in times:
        mean = (1 + rho) * t
        poisson = np.exp(k * math.log(mean) - mean - log_factorial)
        tails.append(float(np.dot(poisson, alive)))
    return tails


@pytest.mark.parametrize("rho", [0.01, 0.3, 0.6, 0.78, 0.9, 0.97, 0.99])
def test_tail_of_the_markov_chain(rho: float) -> None:
    times = [0.01, 0.5, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0]
    assert sojourn_tail(times, rho) == pytest.approx(tail_by_the_chain(times, rho), abs=1e-12)
    assert sojourn_tail(0.0, rho) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(
    ("rho", "t", "expected"),
    [
        (1e-6, 600.0, 2.89826151338186e-261),
        (0.3, 3000.0, 1.35962208323698e-287),
        (0.5, 1000.0, 1.77073380960197e-51),
        (0.78, 10.0, 0.120949729176482),
        (0.78, 1000.0, 1.67601568767889e-17),
        (0.999, 1e6, 2.86542670139956e-27),
        (0.999999, 1e7, 0.00596768122624772),
        (0.999999, 1e11, 6.60086496900727e-274),
    ],
)
def test_reference_values(rho: float, t: float, expected: float) -> None:
    """mpmath at 50 digits; a step of 1/200 instead of 1/100 changes none of the digits.

    mp.dps = 50; rho, t = mpf(rho), mpf(t); a = acosh((1 + rho) / (1 - rho))
    def f(v):
        x, g = 2 * atan(exp(v - a)), sinh(v)
        late = (1 - rho) * t * cosh(v - a) / cosh(v)
        return exp(-x * g - late) / (1 + exp(-pi * g)) / cosh(v - a) ** 2
    2 / (1 - rho) * sum(f(-6 + k / mpf(100)) for k in range(4000)) / 100
    """
    assert sojourn_tail(t, rho) == pytest.approx(expected, rel=1e-12, abs=0.0)


def test_thousands_of_points_are_those_one_by_one() -> None:
    """More than one block of the sum, and separate axes of times and loads."""
    t = np.linspace(0.0, 50.0, 1001)
    tail = sojourn_tail(t[:, np.newaxis], [0.3, 0.78], 2.0)
    assert tail.shape == (1001, 2)
    assert tail[::250, 1].tolist() == [sojourn_tail(one, 0.78, 2.0) for one in t[::250].tolist()]


@pytest.mark.parametrize("rho", [0.0, 1e-6, 0.1, 0.78, 0.999, 1 - 1e-9])
def test_means_are_those_of_the_tail(rho: float) -> None:
    """The mean by H4, E[S] = 1/(1 - rho), is the integral of Pr{S > t}.

    It holds for any distribution of sizes, as for exponential ones (24). The substitution t = e^y /
    (1 - rho) makes the tails smooth. In units of 1e-5 the longest time is allowed.
    """
    y, step = np.linspace(-45.0, 9.0, 4001, retstep=True)
    t = np.exp(y) / (1.0 - rho)
    mean = np.sum(sojourn_tail(t * 1e-5, rho, 1e-5) * t) * step
    assert mean == pytest.approx(1.0 / (1.0 - rho), rel=1e-12)
    assert mean_sojourn(2.5, rho) == pytest.approx(2.5 * mean)
    # (25): the stretch of a flow does not depend on its size.
    assert conditional_mean_sojourn([1.0, 4.0], rho) == pytest.approx([mean, 4.0 * mean])


def test_numbers_of_flows_add_up() -> None:
    """(23) and (30): sum 1, mean rho / (1 - rho), tails by summation, Little's formula."""
    n = np.arange(200)
    pi = number_distribution(n, 0.78)
    assert pi.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.dot(n, pi) == pytest.approx(0.78 / 0.22)
    assert number_tail(n, 0.78) == pytest.approx(1.0 - np.cumsum(pi), abs=1e-14)
    assert np.dot(n, pi) == pytest.approx(mean_sojourn(0.312, 0.78) * 0.78 / 0.312)
    assert [*number_distribution([0, 1], 0.0), number_tail(0, 0.0)] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.78, 0.999])
def test_a_quantile_is_where_the_tail_is_what_is_left(rho: float) -> None:
    probability = np.array([0.0, 1e-9, 0.1, 0.5, 0.9, 0.99, 1.0 - 1e-9])
    times = sojourn_quantile(probability, rho, 2.5)
    assert sojourn_tail(times, rho, 2.5) == pytest.approx(1.0 - probability, rel=1e-10)
    if rho == 0.0:  # without other flows: the exponential distribution
        assert times == pytest.approx(-2.5 * np.log1p(-probability), rel=1e-6)
    with pytest.raises(ValueError, match="probability"):
        sojourn_quantile(1.0, rho)


def balance(rates_up: list[float], rates_down: list[float]) -> Values:
    """Return the stationary distribution of a birth-death chain, from its generator."""
    size = len(rates_up) + 1
    generator = np.diag(rates_up, 1) + np.diag(rates_down, -1)
    generator -= np.diag(generator.sum(axis=1))
    system = np.vstack([generator.T, np.ones(size)])
    solution = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0]
    return np.asarray(solution, dtype=np.float64)


@pytest.mark.parametrize("rho", [0.2, 0.999999, 1.0, 3.0])
@pytest.mark.parametrize("limit", [1, 2, 7])
def test_limit_against_the_balance_equations(rho: float, limit: int) -> None:
    pi = balance([rho] * limit, [1.0] * limit)
    flows = float(np.dot(np.arange(limit + 1), pi))
    result = limited(rho, limit, 0.5)
    assert limited_distribution(rho, limit) == pytest.approx(pi, abs=1e-12)
    assert result.blocking == pytest.approx(pi[-1], rel=1e-9)
    assert result.mean_flows == pytest.approx(flows, rel=1e-9)
    assert result.carried == pytest.approx(1.0 - pi[0], rel=1e-9)  # served whenever not empty
    assert result.mean_sojourn_s == pytest.approx(0.5 * flows / (rho * (1 - pi[-1])), rel=1e-9)


def test_no_load_and_no_limit_is_too_much() -> None:
    result = limited([1e-30, 1e15], [100_000, 100_000])
    assert result.mean_sojourn_s == pytest.approx([1.0, 1e5])
    assert result.blocking == pytest.approx([0.0, 1.0])
    assert result.carried == pytest.approx([1e-30, 1.0], rel=1e-12, abs=0.0)
    assert limited(np.array([[0.5], [2.0]]), [1, 3, 10]).blocking.shape == (2, 3)
    assert engset([2, 9], 0.3, [[1], [4], [20]]).full.shape == (3, 2)
    assert engset(9, 0.3, 20).full == engset(9, 0.3).full


@pytest.mark.parametrize("ratio", [0.1, 1.0, 5.0])
def test_engset_loss_formula(ratio: float) -> None:
    """8 sources, 3 places: time congestion C(8, 3) a^3 / sum; call congestion as with 7 sources."""

    def congestion(sources: int) -> float:
        terms = [math.comb(sources, k) * ratio**k for k in range(4)]
        return terms[3] / sum(terms)

    result = engset(8, ratio, 3, speeds=[1, 2, 3])
    assert result.full == pytest.approx(congestion(8))
    assert result.blocking == pytest.approx(congestion(7))
    assert result.mean_sojourn_s == pytest.approx(1.0)


@pytest.mark.parametrize("limit", [2, 5])
def test_few_sources_that_share_against_the_balance_equations(limit: int) -> None:
    ratio, sources = 0.4, 5
    pi = balance([ratio * (sources - k) for k in range(limit)], [1.0] * limit)
    result = engset(sources, ratio, limit)
    assert engset_distribution(sources, ratio, limit) == pytest.approx(pi, abs=1e-12)
    assert result.carried == pytest.approx(1.0 - pi[0])
    assert result.mean_flows == pytest.approx(np.dot(np.arange(limit + 1), pi))
    idle = sources - np.arange(limit + 1)
    assert result.blocking == pytest.approx(idle[-1] * pi[-1] / np.dot(idle, pi), abs=1e-12)


def test_the_mean_with_few_sources_is_the_integral_of_the_tail() -> None:
    for sources, ratio in ((1, 2.0), (2, 0.3), (10, 0.12), (40, 1.0)):
        mean = float(engset(sources, ratio).mean_sojourn_s)
        times = np.linspace(0.0, 60.0 * sources, 60_001)
        found = np.trapezoid(engset_sojourn_tail(times, sources, ratio), times)
        assert found == pytest.approx(mean, rel=1e-4)


def test_a_flow_beside_one_other_source_is_a_chain_of_two_states() -> None:
    ratio, times = 0.7, [0.0, 0.3, 2.0, 9.0]
    # Alone, another may come; two leave at half the rate each. An arrival sees the other alone.
    rates = np.array([[-1.0 - ratio, ratio], [0.5, -1.0]])
    found = np.array([1.0, ratio]) / (1.0 + ratio)
    tail = engset_sojourn_tail(times, 2, ratio)
    assert tail == pytest.approx([(found @ expm(rates * t)).sum() for t in times], rel=1e-12)


def test_the_tail_with_many_sources_is_that_of_a_poisson_process() -> None:
    times = np.array([0.5, 2.0, 10.0])
    tails = [engset_sojourn_tail(times, n, 0.6 / n) for n in (1_000, 10_000)]
    off = [np.abs(tail / sojourn_tail(times, 0.6) - 1.0).max() for tail in tails]
    assert off[0] < 0.02
    assert off[1] == pytest.approx(off[0] / 10.0, rel=0.1)


@pytest.mark.parametrize(("sources", "ratio"), [(1, 1.0), (7, 0.02), (30, 5.0), (400, 0.004)])
def test_a_quantile_with_few_sources_is_where_the_tail_is_what_is_left(
    sources: int, ratio: float
) -> None:
    probability = np.array([0.0, 0.1, 0.5, 0.9, 0.99])
    times = engset_sojourn_quantile(probability, sources, ratio, 2.5)
    tail = engset_sojourn_tail(times, sources, ratio, 2.5)
    assert tail == pytest.approx(1.0 - probability, rel=1e-9)
    if sources == 1:  # it shares with no other
        assert times == pytest.approx(-2.5 * np.log1p(-probability))
