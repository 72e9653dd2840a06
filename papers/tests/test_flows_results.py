"""Flow-level simulation: contents of a result, its dependencies, and invalid questions."""

import doctest
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from airtcp.distributions import (
    Deterministic,
    Empirical,
    Exponential,
    Lognormal,
    Uniform,
)
from airtcp.exceptions import SimulationError
from airtcp.run import flow_core
from airtcp_papers.common import flows
from airtcp_papers.common.flows import (
    FlowResult,
    closed_processor_sharing,
    processor_sharing,
)
from test_flows import HYPEREXPONENTIAL, PARETO

# Samples: histograms, jobs, seeds


def test_quantiles_are_exact_to_the_bins() -> None:
    result = processor_sharing(
        HYPEREXPONENTIAL, capacity=1.0, load=0.5, jobs=50_000, replications=3, keep_jobs=True
    )

    for q in (0.01, 0.5, 0.9, 0.999):
        each = [np.quantile(run.sojourns_s, q) for run in result.runs]
        assert result.sojourn_quantile_s(q).mean == pytest.approx(np.mean(each), rel=1 / 200)
    with pytest.raises(ValueError, match="q must lie between 0 and 1"):
        result.sojourn_quantile_s(1.1)
    times = [run.sojourns_s.mean() for run in result.runs]
    assert result.sojourn_s.mean == pytest.approx(np.mean(times))
    slowdowns = [(run.sojourns_s / run.sizes).mean() for run in result.runs]
    assert result.slowdown.mean == pytest.approx(np.mean(slowdowns))


def test_a_quantile_lies_within_its_bin() -> None:
    """The first of ten numbers ends the first bin; the seventh is half way through the last bin."""
    bins = {"low": [1.0, 2.0, 4.0], "high": [2.0, 3.0, 5.0], "counts": [1, 3, 6]}
    found = [flows._quantile(bins, q) for q in (0.0, 0.1, 0.4, 0.7, 1.0)]
    assert found == [1, 2, 3, 4.5, 5]


def test_answers_depend_on_the_seed_and_nothing_else() -> None:
    def run(**other: Any) -> list[dict[str, Any]]:
        arguments = {"capacity": 1.0, "load": 0.9, "jobs": 3000, "replications": 4} | other
        return [one.answer for one in processor_sharing(PARETO, **arguments).runs]

    first = run(threads=1)

    assert run(threads=4) == first
    assert run(keep_jobs=True) == first
    assert run(seed=2) != first


def test_the_nth_job_is_the_same_whatever_the_capacity() -> None:
    # Jobs ten seconds apart never overlap, so they end in the order of their arrivals.
    slow, fast = (
        processor_sharing(
            Uniform(low=1.0, high=2.0), capacity=capacity, interarrival=Deterministic(value=10.0),
            jobs=1000, replications=2, keep_jobs=True,
        ).runs
        for capacity in (1.0, 2.0)
    )  # fmt: skip

    for one, other in zip(slow, fast, strict=True):
        assert (one.sizes == other.sizes).all()
        np.testing.assert_allclose(one.sojourns_s, 2 * other.sojourns_s, rtol=1e-9)


def test_replications_are_independent_of_how_many_there_are() -> None:
    few, many = (
        processor_sharing(PARETO, capacity=1.0, load=0.5, jobs=100, replications=n) for n in (2, 5)
    )

    assert [run.answer for run in many.runs[:2]] == [run.answer for run in few.runs]
    assert len({run.answer["mean_sojourn_s"] for run in many.runs}) == 5


def test_warm_up_is_a_tenth_unless_said_otherwise() -> None:
    def run(warmup_jobs: int | None) -> FlowResult:
        return processor_sharing(
            PARETO, capacity=1.0, load=0.9, jobs=1000, warmup_jobs=warmup_jobs, replications=2
        )

    assert run(None).warmup_jobs == 100
    assert run(None).sojourn_s == run(100).sojourn_s != run(0).sojourn_s
    assert run(0).counts["completed"] == run(500).counts["completed"] == 2000
    # An arrival and a departure for each job.
    assert run(500).counts["events"] > run(0).counts["events"] + 1800


# Invalid questions


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"load": 1.0}, "limit: required at a load of 1 "),
        ({"load": 1.2, "capacity": [5.0, 1.0]}, "limit: required at a load of 1.2 "),
        ({"load": 0.0}, "load must be positive"),
        ({"load": math.nan}, "load must be positive"),
        ({"arrival_rate": -1.0, "load": None}, "arrival_rate must be positive"),
        ({"load": None}, "exactly one of load"),
        ({"arrival_rate": 1.0}, "exactly one of load"),
        ({"capacity": 0.0}, "capacity must be positive"),
        ({"capacity": [1.0, math.inf]}, "capacity must be positive"),
        ({"capacity": []}, "capacity must be a number"),
        ({"capacity": [[1.0]]}, "capacity must be a number"),
        ({"capacity": "fast"}, "capacity must be a number"),
        ({"capacity": 1e-200}, r"capacity\[0\] must be between"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"limit": 2.5}, "limit must be a whole number"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"jobs": 2**64}, "jobs must be .* below"),
        ({"warmup_jobs": -1}, "warmup_jobs must be at least 0"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"replications": 0}, "replications must be at least 1"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"confidence": 1.0}, "confidence must lie between"),
        ({"sizes": Deterministic(value=0.0)}, "the mean of sizes must be positive"),
        ({"sizes": Lognormal(mu=1e4, sigma=1.0)}, "the mean of sizes is beyond"),
        ({"sizes": Lognormal(mu=0.0, sigma=25.0)}, "sizes: the mean must be between"),
        ({"sizes": Empirical(values=(0.0, 1.0), counts=(1, 1))}, "sizes: values must be between"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"sizes": PARETO, "capacity": 1.0, "load": 0.5, "jobs": 10}

    with pytest.raises(ValueError, match=message):
        processor_sharing(**good | arguments)


def test_bad_arguments_of_the_closed_system_are_named() -> None:
    good: dict[str, Any] = {
        "sizes": PARETO, "sources": 2, "think_times": Exponential(mean=1.0), "capacity": 1.0,
    }  # fmt: skip

    with pytest.raises(ValueError, match="sources must be at least 1"):
        closed_processor_sharing(**good | {"sources": 0})
    with pytest.raises(ValueError, match="think_times: value must be between"):
        closed_processor_sharing(**good | {"think_times": Deterministic(value=0.0)})
    with pytest.raises(TypeError, match="think_times must be a distribution"):
        closed_processor_sharing(**good | {"think_times": 1.0})


@pytest.mark.parametrize("sizes", [1.0, "exponential", {"kind": "exponential", "mean": 1.0}, None])
def test_sizes_must_be_a_law(sizes: Any) -> None:
    with pytest.raises(TypeError, match="sizes must be a distribution"):
        processor_sharing(sizes, capacity=1.0, load=0.5)


def test_a_violated_law_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, _: str) -> None: ...

        def run(self, *_: object) -> None:
            raise flow_core.SimulationFailed("3 jobs, 4 found")

    monkeypatch.setattr(flow_core, "FlowSimulation", Broken)

    with pytest.raises(SimulationError, match="3 jobs, 4 found"):
        processor_sharing(PARETO, capacity=1.0, load=0.5)


@pytest.mark.slow
def test_an_interrupted_run_stops_soon() -> None:
    # In a process of its own, because the interrupt goes to the main thread.
    code = (
        "import _thread, threading\n"
        "from airtcp_papers.common.flows import processor_sharing\n"
        "from airtcp.distributions import Exponential\n"
        "threading.Timer(0.5, _thread.interrupt_main).start()\n"
        "try:\n"
        "    processor_sharing(Exponential(mean=1.0), capacity=1.0, load=0.5, jobs=10**13)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "stopped\n"


def test_examples_of_the_documentation_hold() -> None:
    tried = doctest.testmod(flows)

    assert tried.attempted >= 6
    assert tried.failed == 0
