"""Flow-level simulation against queueing theory, paper M's closed system, and Ciw.

Seeds are fixed, so a passing test keeps passing. Some 300 numbers are compared, so intervals have
99.99 %. Tests also limit their width, because a wide interval would prove nothing.
"""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

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
from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from airtcp.stats import Interval, student_interval
from airtcp_papers.common.flows import FlowResult, closed_processor_sharing, processor_sharing
from scipy import optimize

pytestmark = pytest.mark.slow

CONFIDENCE = 0.9999
#: Mean 1, E[X^2] = 7.5.
HYPEREXPONENTIAL = Hyperexponential(probability=1 / 12, mean_1=6.5, mean_2=0.5)
#: Mean 1; the variance is infinite.
PARETO = Pareto(shape=1.5, scale=1 / 3)
LAWS: list[Any] = [
    pytest.param(Deterministic(value=1.0), id="deterministic"),
    pytest.param(Exponential(mean=1.0), id="exponential"),
    # Two distributions show that the answer does not depend on it; `make verify` has all four.
    pytest.param(HYPEREXPONENTIAL, id="hyperexponential", marks=pytest.mark.verify),
    pytest.param(PARETO, id="pareto", marks=pytest.mark.verify),
]


def contains(interval: Interval, value: float, *, width: float) -> bool:
    """Whether the value lies in the interval, whose half width is at most `width` times it."""
    assert interval.high - interval.low <= 2 * width * abs(value), (interval, width)
    return interval.low <= value <= interval.high


def wide(sizes: Distribution) -> float:
    """How much wider intervals may be: with infinite variance, samples vary that much more."""
    return 3.0 if sizes == PARETO else 1.0


def birth_death(weights: list[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """pi_k is proportional to the product of the first k ratios lambda_{j-1} / mu_j."""
    pi = np.cumprod([1.0, *weights])
    return np.asarray(pi / pi.sum())


def assert_distribution(result: FlowResult, expected: np.ndarray[Any, Any], width: float) -> None:
    """Every probability that is not small is within its interval."""
    for k, probability in enumerate(expected):
        if probability > 0.01:
            shares = [run.answer["active_distribution"] for run in result.runs]
            measured = student_interval(
                [one[k] if k < len(one) else 0.0 for one in shares], result.confidence
            )
            assert contains(measured, float(probability), width=width), (k, probability, measured)


# M/G/1-PS


def test_the_laws_have_mean_one() -> None:
    for law in (HYPEREXPONENTIAL, PARETO):
        assert law.mean() == pytest.approx(1.0)


@pytest.mark.parametrize("sizes", LAWS)
@pytest.mark.parametrize("load", [0.3, 0.8])
def test_mean_slowdown_depends_on_the_load_alone(sizes: Distribution, load: float) -> None:
    result = processor_sharing(
        sizes, capacity=1.0, load=load, jobs=400_000, confidence=CONFIDENCE, replications=20
    )

    assert contains(result.slowdown, 1 / (1 - load), width=0.06 * wide(sizes))
    # All arriving work is done, and all arriving jobs leave.
    assert contains(result.completed_per_s, load, width=0.002)
    assert contains(result.active, load / (1 - load), width=0.08 * wide(sizes))


@pytest.mark.parametrize("sizes", LAWS)
def test_number_in_the_system_is_geometric(sizes: Distribution) -> None:
    load = 0.7
    result = processor_sharing(
        sizes, capacity=5.0, load=load, jobs=400_000, confidence=CONFIDENCE, replications=20
    )

    assert_distribution(result, (1 - load) * load ** np.arange(60), width=0.1 * wide(sizes))
    assert result.active_distribution.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("sizes", [Exponential(mean=1.0), PARETO, HYPEREXPONENTIAL])
def test_a_job_waits_in_proportion_to_its_size(sizes: Distribution) -> None:
    result = processor_sharing(
        sizes, capacity=1.0, load=0.6, jobs=400_000, confidence=CONFIDENCE, replications=20
    )
    classes = [each for each in result.by_size if each.jobs >= 10_000]

    assert len(classes) >= 5
    for each in classes:
        assert contains(each.slowdown, 2.5, width=0.06 * wide(sizes)), each
        assert 2.3 * each.low < each.sojourn_s.mean < 2.7 * each.high


def test_variance_of_exponential_jobs() -> None:
    # Coffman, Muntz and Trotter (1970): Var[T] mu^2 = (2 + rho) / ((2 - rho) (1 - rho)^2).
    load = 0.5
    result = processor_sharing(
        Exponential(mean=1.0), capacity=1.0, load=load, jobs=200_000, replications=20,
        keep_jobs=True,
    )  # fmt: skip
    variances = [float(np.var(run.sojourns_s)) for run in result.runs]

    expected = (2 + load) / ((2 - load) * (1 - load) ** 2)
    assert contains(student_interval(variances, CONFIDENCE), expected, width=0.05)


def test_regular_arrivals_of_exponential_jobs() -> None:
    # The number of jobs is that of D/M/1, with sigma = exp(-(1 - sigma)/rho), because exponential
    # jobs leave at rate mu under any discipline: E[T] = 1 / (mu (1 - sigma)).
    load = 0.8
    sigma = optimize.brentq(lambda s: s - math.exp(-(1 - s) / load), 0.0, 0.999)
    result = processor_sharing(
        Exponential(mean=1.0), capacity=1.0, interarrival=Deterministic(value=1 / load),
        jobs=300_000, confidence=CONFIDENCE,
    )  # fmt: skip

    assert contains(result.sojourn_s, 1 / (1 - sigma), width=0.03)
    # Far below the 5 s of Poisson arrivals.
    assert result.sojourn_s.high < 3.5


# Limits and capacities that depend on the number of jobs


@pytest.mark.parametrize("sizes", LAWS)
@pytest.mark.parametrize("load", [0.9, 1.5])
def test_a_limit_blocks_what_theory_says(sizes: Distribution, load: float) -> None:
    limit = 5
    expected = birth_death([load] * limit)
    result = processor_sharing(
        sizes, capacity=2.0, load=load, limit=limit, jobs=200_000, confidence=CONFIDENCE
    )

    assert_distribution(result, expected, width=0.1 * wide(sizes))
    assert len(result.active_distribution) == limit + 1
    # Poisson arrivals see time averages.
    assert contains(result.blocked_fraction, expected[limit], width=0.06 * wide(sizes))
    assert result.counts["offered"] > result.counts["completed"] == 10 * 200_000


@pytest.mark.parametrize("sizes", LAWS)
def test_capacities_of_the_number_of_jobs(sizes: Distribution) -> None:
    # Like C_k of paper M, which falls. pi_k / pi_{k-1} = lambda E[X] / C_k for any distribution.
    capacity = [1.0, 0.9, 0.82, 0.8]
    offered = 0.6
    expected = birth_death([offered / capacity[min(k, 3)] for k in range(80)])
    result = processor_sharing(
        sizes, capacity=capacity, load=offered / 0.8, jobs=400_000, confidence=CONFIDENCE,
        replications=20,
    )  # fmt: skip

    assert_distribution(result, expected, width=0.15 * wide(sizes))
    mean = float(expected @ np.arange(81))
    # Little's law, and E[T | x] in proportion to x: C_1 E[N] / (lambda E[X]).
    assert contains(result.slowdown, mean / offered, width=0.06 * wide(sizes))
    assert contains(result.work_per_s, offered, width=0.02 * wide(sizes))


def test_load_is_counted_against_the_last_capacity() -> None:
    result = processor_sharing(Exponential(mean=3.0), capacity=[9.0, 6.0], load=0.5, jobs=10)
    same = processor_sharing(Exponential(mean=3.0), capacity=[9.0, 6.0], arrival_rate=1.0, jobs=10)

    assert result.system["interarrival"] == {"kind": "exponential", "mean": 1.0}
    assert same.system == result.system


# The closed system of paper M


def test_one_source_is_never_slowed_down() -> None:
    result = closed_processor_sharing(
        Uniform(low=1.0, high=2.0), sources=1, think_times=Exponential(mean=1.0),
        capacity=4.0, jobs=1000, keep_jobs=True,
    )  # fmt: skip

    for run in result.runs:
        np.testing.assert_allclose(run.sojourns_s, run.sizes / 4.0, rtol=1e-9)
    assert result.slowdown.mean == pytest.approx(1.0)


@pytest.mark.parametrize(
    "sizes",
    [
        Lognormal(mu=0.0, sigma=1.0),
        Uniform(low=0.0, high=2.0),
        Empirical(values=(1.0, 4.0, 6.0), counts=(2, 1, 1)),
    ],
)
def test_every_law_of_a_scenario_can_be_simulated(sizes: Distribution) -> None:
    result = processor_sharing(
        sizes, capacity=2.0, load=0.5, jobs=100_000, confidence=CONFIDENCE, keep_jobs=True
    )

    means = [float(run.sizes.mean()) for run in result.runs]
    assert contains(student_interval(means, CONFIDENCE), sizes.mean(), width=0.02)
    assert contains(result.slowdown, 2.0, width=0.03)


@pytest.mark.verify
def test_against_ciw() -> None:
    bench = Path(__file__).parents[2] / "benches" / "flow.py"
    done = subprocess.run(
        [sys.executable, str(bench), "--json"], capture_output=True, text=True, check=True
    )
    rows = json.loads(done.stdout)["rows"]

    assert {row["sizes"].split(",")[0] for row in rows} == {
        "deterministic", "exponential", "hyperexponential", "Pareto",
    }  # fmt: skip
    for row in rows:
        ciw, ours = Interval(**row["ciw"]), Interval(**row["airtcp"])
        assert ciw.half_width is not None
        assert ours.half_width is not None
        assert abs(ciw.mean - ours.mean) <= math.hypot(ciw.half_width, ours.half_width), row
        assert contains(ours, row["theory"], width=0.15)
        assert row["ratio"] >= 100, row


def test_packets_and_flows_carry_the_same_transfers() -> None:
    """Jobs of a flow in the packet simulator, at a load so low that they end in order."""
    law = Exponential(mean=20_000.0)
    scenario = loads(
        """
        stations = [{ name = "client", count = 1 }]
        run = { warmup = "0 s", duration = "1000 s", replications = 1, seed = 7 }
        [phy]
        standard = "802.11b"
        [[flows]]
        stations = "client"
        direction = "download"
        [flows.application]
        kind = "ftp"
        interarrival = { distribution = "exponential", mean = "5 s" }
        size = { distribution = "exponential", mean = "20 kB" }
        """
    )
    packets = simulate(scenario).simulation
    count = packets.counts["transfers"]

    flows = processor_sharing(
        law,
        capacity=1e6,
        arrival_rate=0.2,
        jobs=count,
        warmup_jobs=0,
        replications=1,
        seed=7,
        transfers_of="client/0",
        keep_jobs=True,
    )

    (run,) = flows.runs
    goodput = packets.metrics["goodput_bps"].mean
    assert sum(math.ceil(size) for size in run.sizes) == pytest.approx(goodput * 1000 / 8, abs=1)
    assert flows.work_per_s.mean == pytest.approx(goodput / 8, rel=0.02)
