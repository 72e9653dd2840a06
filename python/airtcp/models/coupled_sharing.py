"""Several queues, each shared by its jobs, whose speeds depend on which of the queues are busy.

Knows arrivals, mean service times and speeds: page times of cells of which each is slowed down
while its neighbours send. Knows no Wi-Fi: the speeds come from `airtcp.models.cells`. The law of
sizes is exponential; unlike in one queue that is shared, the mean depends on it here.

The chain of the numbers of jobs is cut at so many that what is cut off has no weight, and solved as
a sparse system.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from airtcp.exceptions import ConvergenceError
from airtcp.models import _checks
from airtcp.models._checks import Values

__all__ = ["MOST_QUEUES", "CoupledQueues", "coupled_queues"]

#: The most queues: the chain has so many dimensions.
MOST_QUEUES: Final = 3
#: The numbers of jobs at which a chain of one, two and three queues is cut, at most.
_MOST_JOBS: Final = {1: 4096, 2: 160, 3: 28}
_FIRST_JOBS: Final = 16
#: The largest weight of states at the cut, and what it may change.
_CUT: Final = 1e-6


@dataclass(frozen=True, slots=True)
class CoupledQueues:
    """The queues in equilibrium; an array with a value for each.

    `mean_jobs` in the system, `mean_sojourn_s` of a job, `busy` the share of time with a job.
    """

    mean_jobs: Values
    mean_sojourn_s: Values
    busy: Values


def coupled_queues(
    arrivals_per_s: ArrayLike,
    service_s: ArrayLike,
    speeds: Callable[[tuple[bool, ...]], Sequence[float]],
) -> CoupledQueues:
    """Solve one to three queues that slow each other down.

    Args:
        arrivals_per_s: of each queue the jobs that arrive, a Poisson process.
        service_s: of each queue the mean time that a job takes alone, at speed 1.
        speeds: the speeds of all queues by which of them are busy; a queue that is busy has a speed
            above 0.

    Raises:
        ValueError: an argument out of range, or more than `MOST_QUEUES` queues.
        ConvergenceError: the queues are unstable, or so nearly that the chain cannot be cut.

    >>> def shared(busy):
    ...     return [1.0 / max(sum(busy), 1)] * len(busy)
    >>> coupled_queues([0.3, 0.3], [1.0, 1.0], shared).mean_sojourn_s.round(3)  # 1 / (1 - .6)
    array([2.5, 2.5])
    """
    arrivals = np.atleast_1d(_checks.real("arrivals_per_s", arrivals_per_s, above=0.0))
    queues = len(arrivals)
    if arrivals.ndim != 1 or queues > MOST_QUEUES:
        raise ValueError(f"arrivals_per_s has shape {arrivals.shape}; allowed: 1 to 3 queues")
    service = np.broadcast_to(_checks.real("service_s", service_s, above=0.0), (queues,))
    most = _MOST_JOBS[queues]
    jobs = min(_FIRST_JOBS, most)
    while True:
        law = _law(arrivals, service, speeds, jobs)
        at_cut = sum(law.take(jobs, axis=queue).sum() for queue in range(queues))
        if at_cut < _CUT:
            break
        if jobs == most:
            raise ConvergenceError(
                f"the queues have {jobs} jobs with probability {at_cut:.1e}: they are unstable, or "
                "nearly so"
            )
        jobs = min(2 * jobs, most)
    counts = np.arange(jobs + 1)
    marginals = [
        law.sum(axis=tuple(other for other in range(queues) if other != queue))
        for queue in range(queues)
    ]
    mean = np.array([float(counts @ one) for one in marginals])
    busy = np.array([1.0 - float(one[0]) for one in marginals])
    return CoupledQueues(mean, mean / arrivals, busy)


def _law(
    arrivals: Values,
    service: Values,
    speeds: Callable[[tuple[bool, ...]], Sequence[float]],
    jobs: int,
) -> Values:
    """Return the law of the numbers of jobs, of which none exceeds `jobs`."""
    queues = len(arrivals)
    shape = (jobs + 1,) * queues
    index = np.arange((jobs + 1) ** queues).reshape(shape)
    numbers = np.indices(shape)
    rates = np.zeros((queues, *shape))
    for mask in range(1, 1 << queues):
        busy = tuple(bool(mask >> queue & 1) for queue in range(queues))
        there = np.all([(numbers[q] > 0) == busy[q] for q in range(queues)], axis=0)
        found = speeds(busy)
        for queue in range(queues):
            if busy[queue]:
                speed = _checks.scalar("speeds", found[queue], above=0.0)
                rates[queue][there] = speed / service[queue]
    entries: list[tuple[Values, Values, Values]] = []
    for queue in range(queues):
        low = index.take(range(jobs), axis=queue).ravel()
        high = index.take(range(1, jobs + 1), axis=queue).ravel()
        entries.append((high, low, np.full(low.size, arrivals[queue])))
        entries.append((low, high, rates[queue].ravel()[high]))
    into, leaving, flow = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    states = index.size
    leaves = np.bincount(leaving, flow, states)
    # The balance of the first state follows from the others; its weight is set to 1.
    keep = into > 0
    rows = np.concatenate([into[keep], np.arange(states)])
    columns = np.concatenate([leaving[keep], np.arange(states)])
    values = np.concatenate([flow[keep], [1.0], -leaves[1:]])
    right = np.zeros(states)
    right[0] = 1.0
    law = spsolve(coo_matrix((values, (rows, columns)), (states, states)).tocsc(), right)
    return np.asarray((law / law.sum()).reshape(shape))
