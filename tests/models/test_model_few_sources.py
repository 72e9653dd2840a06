"""The law of sojourn times where few sources share a processor.

test_coverage.py has a simulation beside it.
"""

import numpy as np
import pytest
from airtcp.models.processor_sharing import (
    engset,
    engset_sojourn_quantile,
    engset_sojourn_tail,
    sojourn_tail,
)


def test_the_mean_with_few_sources_is_the_integral_of_the_tail() -> None:
    for sources, ratio in ((1, 2.0), (2, 0.3), (10, 0.12), (40, 1.0)):
        mean = float(engset(sources, ratio).mean_sojourn_s)
        times = np.linspace(0.0, 60.0 * sources, 60_001)

        found = np.trapezoid(engset_sojourn_tail(times, sources, ratio), times)

        assert found == pytest.approx(mean, rel=1e-4)


def test_a_flow_beside_one_other_source_is_a_chain_of_two_states() -> None:
    from scipy.linalg import expm

    ratio, times = 0.7, [0.0, 0.3, 2.0, 9.0]
    # Alone, another may come; two leave at half the rate each. The other is found as it is alone.
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
    if sources == 1:  # it shares with none
        assert times == pytest.approx(-2.5 * np.log1p(-probability))
