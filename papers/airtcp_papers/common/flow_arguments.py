"""Arguments of the flow-level simulators: checks, and replications on threads."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, TypedDict, TypeVar

import numpy as np
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
from airtcp.exceptions import SimulationError
from airtcp.run import flow_core
from airtcp.run.processors import processors
from airtcp.stats import student_interval
from numpy.typing import ArrayLike

_LARGEST_COUNT = 2**63 - 1
_POLL_S = 0.1
_LAWS = (Deterministic, Empirical, Exponential, Hyperexponential, Lognormal, Pareto, Uniform)

Answer = TypeVar("Answer")


def replicate(
    one: Callable[[int], Answer], replications: int, threads: int, control: flow_core.FlowControl
) -> tuple[Answer, ...]:
    """Return the results of `one` for replications 0, 1, ..., on several threads.

    `control` cancels the replications under way. Raises SimulationError if the core reports a
    violated law.
    """
    with ThreadPoolExecutor(threads, thread_name_prefix="airtcp-flow") as pool:
        futures = [pool.submit(one, index) for index in range(replications)]
        try:
            pending = set(futures)
            while pending:  # in short waits, so that Ctrl-C works on every system
                done, pending = wait(pending, timeout=_POLL_S, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        except BaseException as error:
            control.cancel()
            pool.shutdown(cancel_futures=True)
            if isinstance(error, flow_core.SimulationFailed):
                raise SimulationError(f"the flow simulation failed: {error}") from error
            raise
    return tuple(future.result() for future in futures)


class Length(TypedDict, total=False):
    """How much a flow-level simulator simulates: the arguments that all of them have.

    - `jobs`: departures that each replication measures, over all servers (default: 1,000,000).
    - `warmup_jobs`: departures before the measurement, beginning with an empty system (default: a
      tenth of `jobs`).
    - `seed`: the seed of the whole experiment (default: 1). The n-th job of a replication has the
      same arrival time and size for any capacities and splits, so that these are compared on common
      random numbers.
    - `replications`: independent runs; the intervals are over them (default: 10).
    - `threads`: replications to run at a time (default: one per processor); does not change any
      number.
    - `confidence`: the level of the intervals (default: 0.95).
    """

    jobs: int
    warmup_jobs: int | None
    seed: int | None
    replications: int
    threads: int | None
    confidence: float


class Effort(NamedTuple):
    """A checked `Length`, with its defaults."""

    jobs: int
    warmup: int
    seed: int
    replications: int
    threads: int
    confidence: float


def law_of(name: str, law: object) -> dict[str, Any]:
    """Return the distribution as the resolved form writes it."""
    if not isinstance(law, _LAWS):
        raise TypeError(f"{name} must be a distribution of airtcp.scenario, not {law!r}")
    written: dict[str, Any] = law.model_dump(mode="json", by_alias=True)
    return written


def arrivals(
    sizes: Distribution,
    served: float,
    load: float | None,
    arrival_rate: float | None,
    interarrival: Distribution | None,
) -> dict[str, Any]:
    """Return the distribution of interarrival times from the one of the last three arguments set.

    `served` is the largest amount of work that can be done per second. Raises ValueError,
    TypeError.
    """
    if (load, arrival_rate, interarrival).count(None) != 2:
        raise ValueError("give exactly one of load, arrival_rate and interarrival")
    if load is not None:
        arrival_rate = positive("load", load) * served / mean_size(sizes)
    if arrival_rate is not None:
        interarrival = Exponential(mean=1.0 / positive("arrival_rate", arrival_rate))
    return law_of("interarrival", interarrival)


def effort(
    jobs: int = 1_000_000,
    warmup_jobs: int | None = None,
    seed: int | None = None,
    replications: int = 10,
    threads: int | None = None,
    confidence: float = 0.95,
) -> Effort:
    """Check the arguments of `Length`, and fill in defaults. Raises ValueError."""
    jobs = whole("jobs", jobs, 1)
    student_interval([], confidence)  # rejects an invalid confidence
    return Effort(
        jobs,
        jobs // 10 if warmup_jobs is None else whole("warmup_jobs", warmup_jobs, 0),
        1 if seed is None else whole("seed", seed, 0),
        whole("replications", replications, 1),
        processors() if threads is None else whole("threads", threads, 1),
        confidence,
    )


def mean_size(sizes: Distribution) -> float:
    """Return the mean of the sizes. Raises ValueError if it is not finite."""
    try:
        return positive("the mean of sizes", sizes.mean())
    except OverflowError:
        raise ValueError("the mean of sizes is beyond a float") from None


def capacities(capacity: ArrayLike) -> list[float]:
    """Return C_1, C_2, ... as a list. Raises ValueError."""
    array = np.asarray(capacity)
    if array.dtype.kind not in "iuf" or array.ndim > 1 or array.size == 0:
        raise ValueError(f"capacity must be a number or a list of numbers, not {capacity!r}")
    return [positive("capacity", value) for value in np.atleast_1d(array).tolist()]


def positive(name: str, value: float) -> float:
    """Return the number, which must be positive and finite. Raises ValueError."""
    number = float(value)
    if not (number > 0.0 and math.isfinite(number)):
        raise ValueError(f"{name} must be positive and finite, not {value!r}")
    return number


def whole(name: str, value: int, least: int) -> int:
    """Return the count, which must be at least `least`. Raises ValueError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}") from None
    if not least <= number <= _LARGEST_COUNT:
        raise ValueError(f"{name} must be at least {least} and below 2^63, not {value!r}")
    return number
