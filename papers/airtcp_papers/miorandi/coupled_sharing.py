"""Model several processor-sharing queues whose speeds depend on which queues are busy.

Inputs are arrivals, mean service times and speeds: for example page load times in cells that slow
down while their neighbors transmit. The speeds come from `airtcp.models.cells`. Sizes are
exponential; unlike in a single shared queue, the mean depends on that.

The chain of the numbers of jobs is truncated where the rest has no weight, and solved as a sparse
system. If sources wait for their jobs, the number of sources limits it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from airtcp.exceptions import ConvergenceError
from airtcp.models import checks
from airtcp.models.checks import Values
from numpy.typing import ArrayLike
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

__all__ = [
    "MOST_QUEUES",
    "MOST_STATES",
    "CoupledQueues",
    "coupled_queues",
    "coupled_sources",
]

#: The maximum number of queues: one dimension of the chain each.
MOST_QUEUES: Final = 3
#: The largest truncation, in jobs, of a chain of one, two and three queues.
_MOST_JOBS: Final = {1: 4096, 2: 160, 3: 28}
_FIRST_JOBS: Final = 16
#: The maximum number of states of a chain with waiting sources.
MOST_STATES: Final = 10_000
#: The truncation is accepted if its states have less probability than this.
_CUT: Final = 1e-6


@dataclass(frozen=True, slots=True)
class CoupledQueues:
    """The queues in equilibrium; arrays with a value per queue.

    `mean_jobs` is the number in the system, `mean_sojourn_s` the sojourn time of a job, `busy` the
    fraction of time with a job.
    """

    mean_jobs: Values
    mean_sojourn_s: Values
    busy: Values


#: The speeds of all queues, by which of them are busy.
Speeds = Callable[[tuple[bool, ...]], Sequence[float]]


def coupled_queues(
    arrivals_per_s: ArrayLike,
    service_s: ArrayLike,
    speeds: Speeds,
    *,
    paces: Sequence[ArrayLike] | None = None,
) -> CoupledQueues:
    """Solve one to three queues that slow each other down.

    Args:
        arrivals_per_s: the jobs that arrive at each queue, a Poisson process.
        service_s: the mean duration of a job that shares with no other, at speed 1, in each queue.
        speeds: the speeds of all queues by which of them are busy; above 0 for busy ones.
        paces: for each queue, how fast 1, 2, ... jobs are served together, relative to one alone;
            the last value applies to more. Default: 1.

    Raises:
        ValueError: an argument out of range, or more than `MOST_QUEUES` queues.
        ConvergenceError: the queues are unstable, or so close to it that truncation fails.

    >>> def shared(busy):
    ...     return [1.0 / max(sum(busy), 1)] * len(busy)
    >>> coupled_queues([0.3, 0.3], [1.0, 1.0], shared).mean_sojourn_s.round(3)  # 1 / (1 - .6)
    array([2.5, 2.5])
    """
    arrivals = np.atleast_1d(checks.real("arrivals_per_s", arrivals_per_s, above=0.0))
    queues = len(arrivals)
    if arrivals.ndim != 1 or queues > MOST_QUEUES:
        raise ValueError(f"arrivals_per_s has shape {arrivals.shape}; allowed: 1 to 3 queues")
    service = np.broadcast_to(checks.real("service_s", service_s, above=0.0), (queues,))
    most = _MOST_JOBS[queues]
    jobs = min(_FIRST_JOBS, most)
    while True:
        shape = (jobs + 1,) * queues
        coming = [np.full(jobs + 1, rate) for rate in arrivals]
        law = _law(shape, coming, _served(service, paces, shape), speeds)
        at_cut = sum(law.take(jobs, axis=queue).sum() for queue in range(queues))
        if at_cut < _CUT:
            break
        if jobs == most:
            raise ConvergenceError(
                f"the queues have {jobs} jobs with probability {at_cut:.1e}: they are unstable, or "
                "nearly so"
            )
        jobs = min(2 * jobs, most)
    return _measured(law, coming)


def coupled_sources(
    sources: Sequence[int],
    away_s: ArrayLike,
    service_s: ArrayLike,
    speeds: Speeds,
    *,
    paces: Sequence[ArrayLike] | None = None,
) -> CoupledQueues:
    """Solve queues that slow each other down, with sources that think and wait for their job.

    For a single queue this is paper M's (16), where the distribution of think times does not
    matter.

    Args:
        sources: the number of sources of each queue.
        away_s: the mean time between a source's jobs, for each queue.
        service_s: as in `coupled_queues`.
        speeds: as in `coupled_queues`.
        paces: as in `coupled_queues`.

    Raises:
        ValueError: an argument out of range, or more than `MOST_STATES` numbers of jobs.

    >>> def apart(busy):
    ...     return [1.0] * len(busy)
    >>> coupled_sources([1, 1], [3.0, 1.0], [1.0, 1.0], apart).mean_sojourn_s.round(3)
    array([1., 1.])
    """
    shape = tuple(int(checks.scalar("sources", one, at_least=1.0)) + 1 for one in sources)
    queues = len(shape)
    if not queues or np.prod(shape, dtype=float) > MOST_STATES:
        raise ValueError(
            f"sources has {' x '.join(map(str, shape))} numbers of jobs; allowed: {MOST_STATES}"
        )
    away = np.broadcast_to(checks.real("away_s", away_s, above=0.0), (queues,))
    service = np.broadcast_to(checks.real("service_s", service_s, above=0.0), (queues,))
    coming = [(most - 1 - np.arange(most)) / time for most, time in zip(shape, away, strict=True)]
    return _measured(_law(shape, coming, _served(service, paces, shape), speeds), coming)


def _served(
    service: Values, paces: Sequence[ArrayLike] | None, shape: tuple[int, ...]
) -> list[Values]:
    """Return for each queue the service rate at speed 1, by the number of jobs."""
    found = []
    for queue, most in enumerate(shape):
        table = np.ones(1) if paces is None else np.atleast_1d(np.asarray(paces[queue], float))
        checks.real("paces", table, above=0.0)
        number = np.arange(most)
        rates = table[np.clip(number - 1, 0, len(table) - 1)] / service[queue]
        found.append(np.where(number > 0, rates, 0.0))
    return found


def _measured(law: Values, coming: Sequence[Values]) -> CoupledQueues:
    """Return the means of a distribution; arrival rates depend on the number of jobs."""
    queues = law.ndim
    marginals = [
        law.sum(axis=tuple(other for other in range(queues) if other != queue))
        for queue in range(queues)
    ]
    mean = np.array([float(np.arange(len(one)) @ one) for one in marginals])
    rate = np.array([float(of @ one) for of, one in zip(coming, marginals, strict=True)])
    busy = np.array([1.0 - float(one[0]) for one in marginals])
    return CoupledQueues(mean, mean / rate, busy)


def _law(
    shape: tuple[int, ...], coming: Sequence[Values], served: Sequence[Values], speeds: Speeds
) -> Values:
    """Return the distribution of the numbers of jobs, truncated at the end of each axis.

    `coming` and `served` have rates by the number of jobs of a queue.
    """
    queues = len(shape)
    index: Any = np.arange(np.prod(shape)).reshape(shape)
    numbers: Any = np.indices(shape)
    rates = np.zeros((queues, *shape))
    for mask in range(1, 1 << queues):
        busy = tuple(bool(mask >> queue & 1) for queue in range(queues))
        there = np.all([(numbers[q] > 0) == busy[q] for q in range(queues)], axis=0)
        found = speeds(busy)
        for queue in range(queues):
            if busy[queue]:
                speed = checks.scalar("speeds", found[queue], above=0.0)
                rates[queue][there] = speed * served[queue][numbers[queue][there]]
    entries: list[tuple[Values, Values, Values]] = []
    for queue, jobs in enumerate(shape):
        low = index.take(range(jobs - 1), axis=queue).ravel()
        high = index.take(range(1, jobs), axis=queue).ravel()
        entries.append((high, low, coming[queue][numbers[queue].ravel()[low]]))
        entries.append((low, high, rates[queue].ravel()[high]))
    into, leaving, flow = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    states = index.size
    leaves = np.bincount(leaving, flow, states)
    # The balance of the first state is redundant; its weight is set to 1.
    keep = into > 0
    rows = np.concatenate([into[keep], np.arange(states)])
    columns = np.concatenate([leaving[keep], np.arange(states)])
    values = np.concatenate([flow[keep], [1.0], -leaves[1:]])
    right = np.zeros(states)
    right[0] = 1.0
    law = spsolve(coo_matrix((values, (rows, columns)), (states, states)).tocsc(), right)
    return np.asarray((law / law.sum()).reshape(shape))
