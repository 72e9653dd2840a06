"""Processor sharing: the tail (26) against five other ways to it, and the means."""

import heapq
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from airtcp.models.checks import Values
from airtcp.models.processor_sharing import (
    conditional_mean_sojourn,
    mean_sojourn,
    number_distribution,
    number_tail,
    sojourn_quantile,
    sojourn_tail,
)

NEAREST_TO_1 = float(np.nextafter(1.0, 0.0))
LOADS = [0.0, 1e-30, 1e-6, 0.1, 0.5, 0.78, 0.95, 0.999, 1 - 1e-9, NEAREST_TO_1]


# ---- (26), the tail for exponential sizes ----


@pytest.mark.parametrize("rho", LOADS)
def test_mean_is_the_integral_of_the_tail(rho: float) -> None:
    """H4: Pr{S > 0} = 1, E[S] = 1/(1 - rho). With t = e^y / (1 - rho) the tails are smooth.

    In units of 1e-5 beta, so that the longest time is a number that is let in.
    """
    y, step = np.linspace(-45.0, 9.0, 4001, retstep=True)
    t = np.exp(y) / (1.0 - rho)

    mean = np.sum(sojourn_tail(t * 1e-5, rho, 1e-5) * t) * step
    assert mean == pytest.approx(1.0 / (1.0 - rho), rel=1e-12)
    assert sojourn_tail(0.0, rho) == pytest.approx(1.0, abs=1e-14)


def tail_by_the_chain(times: list[float], rho: float) -> list[float]:
    """Pr{S > t} of the M/M/1-PS queue as a phase-type law, by uniformization.

    The tagged flow finds n - 1 others with probability (1-rho) rho^(n-1) (PASTA) and then leaves
    at rate 1/n; others leave at (n-1)/n, new ones come at rho. `alive[k]` is the probability that
    it is still there after k jumps of a Poisson process of rate 1 + rho.
    """
    n = np.arange(1.0, 2.0 + math.ceil(-36.0 / math.log(rho)))
    state = (1 - rho) * rho ** (n - 1)
    up, down = np.full(n.shape, rho), (n - 1) / n
    up[-1] = 0.0  # cut where the stationary law is below 1e-15
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


def transform(s: Any, tau: Any, rho: float) -> Any:
    """E[exp(-s S) | tau] of the M/M/1-PS queue: Coffman, Muntz and Trotter (J. ACM 17(1), 1970)."""
    total = 1 + rho + s
    r = 2 / (total + np.sqrt(total * total - 4 * rho))
    leaves = (1 - rho) * (1 - rho * r * r) * np.exp(-(rho * (1 - r) + s) * tau)
    return leaves / ((1 - rho * r) ** 2 - rho * (1 - r) ** 2 * np.exp(-(1 - rho * r * r) / r * tau))


@pytest.mark.parametrize("tau", [0.1, 1.0, 4.0])
def test_conditional_mean_is_that_of_the_transform(tau: float) -> None:
    """(25): minus the derivative at zero, by a central difference."""
    slope = (transform(1e-5, tau, 0.78) - transform(-1e-5, tau, 0.78)) / 2e-5

    assert conditional_mean_sojourn(tau, 0.78) == pytest.approx(-slope, rel=1e-6)


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
    """More than one block of the sum, and axes of times and loads."""
    t = np.linspace(0.0, 50.0, 1001)

    tail = sojourn_tail(t[:, np.newaxis], [0.3, 0.78], 2.0)
    assert tail.shape == (1001, 2)
    assert tail[::250, 1].tolist() == [sojourn_tail(one, 0.78, 2.0) for one in t[::250].tolist()]


# ---- (23) to (25), and their insensitivity ----


def test_numbers_of_flows_add_up() -> None:
    """(23) and (30): sum 1, mean rho / (1 - rho), tails as summed from above, Little's formula."""
    n = np.arange(200)
    pi = number_distribution(n, 0.78)

    assert pi.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.dot(n, pi) == pytest.approx(0.78 / 0.22)
    assert number_tail(n, 0.78) == pytest.approx(1.0 - np.cumsum(pi), abs=1e-14)
    assert np.dot(n, pi) == pytest.approx(mean_sojourn(0.312, 0.78) * 0.78 / 0.312)
    assert number_distribution([0, 1], 0.0).tolist() == [1.0, 0.0]
    assert number_tail(0, 0.0) == 0.0


def shared_sojourns(arrivals: Values, services: Values) -> Values:
    """Sojourn times of given flows under processor sharing: by attained service, exactly.

    While n flows are there, each gains service at rate 1/n; a flow leaves when the service that
    any flow has gained since it came reaches its own need.
    """
    sojourns = np.empty(arrivals.size)
    now = gained = 0.0
    present: list[tuple[float, int]] = []
    for k, (arrival, service) in enumerate(zip(arrivals, services, strict=True)):
        while present and now + (present[0][0] - gained) * len(present) <= arrival:
            need, leaver = heapq.heappop(present)
            now, gained = now + (need - gained) * (len(present) + 1), need
            sojourns[leaver] = now - arrivals[leaver]
        if present:
            gained += (arrival - now) / len(present)
        now = arrival
        heapq.heappush(present, (gained + service, k))
    while present:
        need, leaver = heapq.heappop(present)
        now, gained = now + (need - gained) * (len(present) + 1), need
        sojourns[leaver] = now - arrivals[leaver]
    return sojourns


def balanced_hyperexponential(rng: np.random.Generator, n: int) -> Values:
    """Two phases with balanced means, mean 1, squared coefficient of variation 4."""
    p = 0.5 * (1 + math.sqrt(3 / 5))
    fast = rng.random(n) < p
    return np.where(fast, rng.exponential(1 / (2 * p), n), rng.exponential(1 / (2 - 2 * p), n))


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: np.ones(n),
        lambda rng, n: rng.exponential(1.0, n),
        balanced_hyperexponential,
    ],
    ids=["deterministic", "exponential", "hyperexponential"],
)
def test_means_do_not_know_the_law_of_sizes(
    draw: Callable[[np.random.Generator, int], Values],
) -> None:
    """(24) and (25) for M/G/1-PS: 200 runs of 1000 flows (100 more to warm up), 4 standard errors.

    At rho = 0.6, whose relaxation time 1/(1 - sqrt(rho))^2 of 20 mean service times passes eight
    times while it warms up.
    """
    rng = np.random.default_rng(24)
    rho, runs, flows, warm_up = 0.6, 200, 1000, 100
    means, stretches = [], []
    for _ in range(runs):
        services = draw(rng, warm_up + flows)
        arrivals = np.cumsum(rng.exponential(1 / rho, warm_up + flows))
        sojourns = shared_sojourns(arrivals, services)
        means.append(sojourns[warm_up:].mean())
        large = services[warm_up:] >= 1.0
        stretches.append(sojourns[warm_up:][large].mean() / services[warm_up:][large].mean())

    error = np.std(means, ddof=1) / math.sqrt(runs)
    assert np.mean(means) == pytest.approx(mean_sojourn(1.0, rho), abs=4 * error)
    error = np.std(stretches, ddof=1) / math.sqrt(runs)
    assert np.mean(stretches) == pytest.approx(conditional_mean_sojourn(1.0, rho), abs=4 * error)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.78, 0.999])
def test_a_quantile_is_where_the_tail_is_what_is_left(rho: float) -> None:
    probability = np.array([0.0, 1e-9, 0.1, 0.5, 0.9, 0.99, 1.0 - 1e-9])

    times = sojourn_quantile(probability, rho, 2.5)

    assert sojourn_tail(times, rho, 2.5) == pytest.approx(1.0 - probability, rel=1e-10)
    if rho == 0.0:  # alone: the exponential law
        assert times == pytest.approx(-2.5 * np.log1p(-probability), rel=1e-6)
    with pytest.raises(ValueError, match="probability must be less than 1"):
        sojourn_quantile(1.0, rho)
