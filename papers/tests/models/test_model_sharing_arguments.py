"""Arguments of processor sharing out of range: the message says which one, and what is allowed."""

from collections.abc import Callable
from typing import Any

import pytest
from airtcp_papers.hoekstra.processor_sharing import (
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
    sojourn_tail,
    stable_load,
)
from test_model_arguments import NAN, Bad, is_named

INFINITE = float("inf")

CASES: list[tuple[Callable[..., Any], dict[str, Any], Bad]] = [
    (
        limited, {"rho": 0.5, "limit": 3},
        {
            "rho": [(0.0, "greater than 0")],
            "limit": [(0, "at least 1"), (2.5, "a whole number"), (10**6, "at most 100000")],
        },
    ),
    (engset, {"sources": 3, "ratio": 0.5, "limit": 2},
     {"sources": [(0, "at least 1")], "ratio": [(-0.5, "greater than 0")],
      "limit": [(0, "at least 1")]}),
    (engset_distribution, {"sources": 3, "ratio": 0.5}, {"ratio": []}),
    (
        engset_sojourn_tail, {"t_s": 1.0, "sources": 2, "ratio": 1.0},
        {"t_s": [(-1.0, "")], "sources": [(0, "at least 1")], "ratio": [(0.0, "")]},
    ),
    (
        engset_sojourn_quantile,
        {"probability": 0.5, "sources": 2, "ratio": 1.0, "mean_service_s": 1.0},
        {"probability": [(1.0, "less than 1")], "mean_service_s": [(0.0, "")]},
    ),
    (
        sojourn_tail, {"t_s": 1.0, "rho": 0.5, "mean_service_s": 1.0},
        {
            "t_s": [(-1.0, "at least 0"), ([1.0, INFINITE], "finite")],
            "mean_service_s": [(0.0, "greater than 0")],
        },
    ),
    (number_distribution, {"n": 0, "rho": 0.5}, {"n": [(0.5, "a whole number")]}),
    (number_tail, {"n": 0, "rho": 0.5}, {"n": [(-1, "at least 0")]}),
    (mean_sojourn, {"mean_service_s": 1.0, "rho": 0.5}, {"mean_service_s": [(-1.0, "at least 0")]}),
    (conditional_mean_sojourn, {"service_s": 1.0, "rho": 0.5},
     {"service_s": [(-1.0, "at least 0")]}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "good", "bad"), CASES)
def test_an_argument_out_of_range_is_named(
    function: Callable[..., Any], good: dict[str, Any], bad: Bad
) -> None:
    is_named(function, good, bad)


@pytest.mark.parametrize(
    "function",
    [
        lambda rho: stable_load("rho", rho),
        *(lambda rho, one=one: one(0, rho) for one in (number_distribution, number_tail)),
        *(
            lambda rho, one=one: one(1.0, rho)
            for one in (mean_sojourn, conditional_mean_sojourn, sojourn_tail)
        ),
    ],
)
@pytest.mark.parametrize(
    ("rho", "message"),
    [
        (1.0, r"^rho must be below 1, not 1.0: the system is unstable, .* exceeds .* by 0 %"),
        (1.25, r"^rho must be below 1, not 1.25: the system is unstable, .* by 25 %"),
        ([0.5, 3.0, 2.0], r"^rho must be below 1, not 3.0: the system is unstable, .* by 200 %"),
        (-0.1, r"^rho must be at least 0.0, not -0.1"),
        (NAN, r"^rho must be finite"),
        ("much", r"^rho must be a real number"),
    ],
)
def test_a_load_that_cannot_be_is_named(
    function: Callable[[Any], object], rho: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        function(rho)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: limited_distribution([0.1, 0.2], [1, 2, 3]), "do not broadcast: rho"),
        (lambda: engset([1, 2], 0.5, [1, 2, 3]), r"do not broadcast: sources \(2,\), limit"),
        (lambda: sojourn_tail([1.0, 2.0], [0.1, 0.2, 0.3]), r"do not broadcast: t_s \(2,\), rho"),
        (lambda: limited(0.5, 3, speeds=[1, 2]), "^speeds must have one dimension and 3 values"),
        (lambda: limited(0.5, 3, speeds=[[1, 2, 3]]), "^speeds must have one dimension"),
        (lambda: limited(0.5, 2, speeds=[1, 0]), "^speeds must be greater than 0"),
    ],
)
def test_arguments_that_do_not_go_together_are_named(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call()
