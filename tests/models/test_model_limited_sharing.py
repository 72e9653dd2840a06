"""Processor sharing with a limit, and of few sources: numbers and losses, by balance equations."""

import math

import numpy as np
import pytest
from airtcp.models.checks import Values
from airtcp.models.processor_sharing import (
    engset,
    engset_distribution,
    limited,
    limited_distribution,
)


def balance(rates_up: list[float], rates_down: list[float]) -> Values:
    """Stationary law of a birth-death chain, from its generator as a linear system."""
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
    """8 sources, 3 places: time congestion C(8, 3) a^3 / sum, call congestion that of 7 sources."""

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
