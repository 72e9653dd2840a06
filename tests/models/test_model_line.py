"""The stationary distribution of a chain on a line, against balance equations and products."""

import numpy as np
import pytest
from airtcp.models._line import stationary_law
from hypothesis import given
from hypothesis import strategies as st


def balanced(size: int, source: np.ndarray, target: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Solve the balance equations with the sum of probabilities by least squares."""
    balance = np.zeros((size, size))
    np.add.at(balance, (target, source), rates)
    np.add.at(balance, (source, source), -rates)
    right = np.append(np.zeros(size), 1.0)
    return np.asarray(np.linalg.lstsq(np.vstack([balance, np.ones(size)]), right, rcond=None)[0])


@given(
    size=st.integers(2, 40),
    up=st.integers(1, 9),
    down=st.integers(1, 9),
    seed=st.integers(0, 10_000),
)
def test_it_balances(size: int, up: int, down: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    ways = [
        (one, other)
        for one in range(size)
        for other in (min(one + up, size - 1), one + 1, max(one - down, 0), one - 1)
        if other != one and 0 <= other < size
    ]
    source, target = (np.array(column) for column in zip(*ways, strict=True))
    rates = random.uniform(0.1, 10.0, len(ways))
    law = stationary_law(size, source, target, rates)
    assert law == pytest.approx(balanced(size, source, target, rates), abs=1e-9)
    assert law.sum() == pytest.approx(1.0)


def test_the_rarest_state_is_known_to_its_last_digits() -> None:
    size, ratio = 60, 1e-5
    lower = np.arange(size - 1)
    source, target = np.concatenate([lower, lower + 1]), np.concatenate([lower + 1, lower])
    rates = np.concatenate([np.full(size - 1, ratio), np.ones(size - 1)])
    law = stationary_law(size, source, target, rates)
    assert law[-1] / law[0] == pytest.approx(ratio ** (size - 1), rel=1e-12)
    # 0 -> 1 <-> 2 <- 3: states to which the chain never returns have probability 0. A single state
    # has 1.
    ways = np.array([0, 1, 2, 3]), np.array([1, 2, 1, 2]), np.array([1.0, 3.0, 1.0, 5.0])
    assert stationary_law(4, *ways) == pytest.approx([0.0, 0.25, 0.75, 0.0])
    none = np.array([], dtype=int)
    assert stationary_law(1, none, none, np.array([])).tolist() == [1.0]
    mirrored = stationary_law(size, size - 1 - source, size - 1 - target, rates)
    assert mirrored == pytest.approx(law[::-1], rel=1e-12, abs=0.0)
