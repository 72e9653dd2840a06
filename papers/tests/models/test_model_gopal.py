"""Equation (1) of paper G against its stated numbers, enumeration, and random backoffs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from airtcp_papers.gopal.model import (
    any_two_coincide,
    next_transmission_collides,
    simultaneous_send,
)


def test_two_nodes_have_one_probability() -> None:
    """The paper's own formula, (1/CW)(1/CW) CW; two nodes can only meet each other (G2)."""
    windows = np.array([1, 2, 16, 32, 1024, 2**20])

    assert any_two_coincide(1, windows) == pytest.approx(1 / windows, rel=1e-12)
    assert next_transmission_collides(1, windows) == pytest.approx(1 / windows, rel=1e-12)


@pytest.mark.parametrize(("others", "w0"), [(0, 3), (1, 4), (2, 3), (3, 4), (4, 3), (5, 2), (3, 1)])
def test_enumeration(others: int, w0: int) -> None:
    """Enumerate the w0^(N+1) draws."""
    draws = list(itertools.product(range(w0), repeat=others + 1))
    any_two = sum(len(set(draw)) < len(draw) for draw in draws) / len(draws)
    collides = sum(draw.count(min(draw)) > 1 for draw in draws) / len(draws)

    result = simultaneous_send(others, w0)
    assert result.any_two == pytest.approx(any_two, abs=1e-14)
    assert result.next_transmission == pytest.approx(collides, abs=1e-14)


@pytest.mark.parametrize(
    ("others", "w0"),
    [(1, 32), (3, 32), (30, 32), (31, 32), (32, 32), (33, 32), (200, 32), (23, 24), (60, 1024)],
)
def test_exact_fractions(others: int, w0: int) -> None:
    """The factorials of (1) and the sum over powers, in integers, for N below and above CW."""
    distinct = math.perm(w0 - 1, others) if others < w0 else 0
    alone = (others + 1) * sum(j**others for j in range(w0))

    result = simultaneous_send(others, w0)
    assert result.any_two == pytest.approx(float(1 - Fraction(distinct, w0**others)), rel=1e-12)
    assert result.next_transmission == pytest.approx(
        float(1 - Fraction(alone, w0 ** (others + 1))), rel=1e-12
    )


def test_ends() -> None:
    assert any_two_coincide(0, 32) == next_transmission_collides(0, 32) == 0
    assert any_two_coincide([31, 32, 10**15], 32) == pytest.approx([1, 1, 1], abs=1e-12)
    assert next_transmission_collides(10**15, [1, 32]).tolist() == [1, 1]
    assert next_transmission_collides(1000, 2**20) == pytest.approx(1001 / 2**21, rel=1e-3)
