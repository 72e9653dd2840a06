"""Congestion epochs: the windows at losses, and the number of epochs until flows converge.

A congestion epoch is the time between two losses (D. J. Leith, P. Clifford, "Using the 802.11e EDCF
to achieve TCP upload fairness over WLAN links", 2005, section 5). Flows that share a bottleneck
queue share its overflows, which end the epochs of all of them. An upload over the wireless link
loses in its own station's queue, and has its own epochs. `aimd` has the theoretical values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.results.trace import Trace
    from numpy.typing import ArrayLike, NDArray

#: The number of final epochs over which the converged state is averaged.
_LATE = 20
#: Distances below this fraction of the first one count as noise.
_NOISE = 0.1
_CONVERGED = 0.95


@dataclass(frozen=True, eq=False)
class Epochs:
    """The congestion epochs of some flows; one row per epoch, one column per flow.

    `end_s` is the end of an epoch, since the start of the run. `cwnd_bytes` are the congestion
    windows at that time, which are the peaks of the epoch. `lost` says which flows lost.
    """

    flows: tuple[str, ...]
    end_s: NDArray[np.float64]
    cwnd_bytes: NDArray[np.float64]
    lost: NDArray[np.bool_]

    @property
    def loss_probability(self) -> NDArray[np.float64]:
        """The fraction of epochs in which each flow lost: lambda of section 5.1.

        NaN without epochs.
        """
        if not len(self.end_s):
            return np.full(len(self.flows), np.nan)
        return np.asarray(self.lost.mean(axis=0))


def epochs_of_queue(
    trace: Trace,
    queue: str,
    flows: Sequence[str],
    *,
    apart_s: float,
    from_s: float = 0.0,
) -> Epochs:
    """Return the epochs that overflows of a queue end, for flows that share it.

    Drops that follow each other within `apart_s` count as one overflow: two round trips, since
    senders learn of a loss a round trip later. Windows are those of the last sample before the
    first drop, before any sender knows of it, so the interval of the trace should be less than a
    round trip. Overflows before `from_s`, and those at which a flow has no connection, are left
    out.

    Raises ValueError if the trace has no such queue or flow.
    """
    drops = trace.events("queue_drop")
    there = drops.queue == trace.queue_names[trace.queue_number(queue)]
    times, losers = drops.time_s[there], drops.flow[there]
    windows = np.array([trace.flow(name).cwnd_bytes for name in flows]).T
    ends, peaks, lost = [], [], []
    # An overflow begins with each drop that follows the one before after more than `apart_s`.
    starts = np.flatnonzero(np.diff(times, prepend=-np.inf) > apart_s)
    for first, last in pairwise([*starts, len(times)]):
        # The last sample before the drop; -1 if there is none.
        at = int(times[first] / trace.interval_s) - 1
        if times[first] < from_s or at < 0 or np.isnan(windows[at]).any():
            continue
        ends.append(times[first])
        peaks.append(windows[at])
        lost.append([name in losers[first:last] for name in flows])
    return Epochs(
        flows=tuple(flows),
        end_s=np.array(ends),
        cwnd_bytes=np.array(peaks).reshape(len(ends), len(flows)),
        lost=np.array(lost, dtype=np.bool_).reshape(len(ends), len(flows)),
    )


def epochs_of_flow(trace: Trace, flow: str) -> Epochs:
    """Return the epochs that a flow's own losses end: each fast recovery, and each timeout.

    The peak is the window when the sender learns of the loss. Use this for flows that do not share
    their losses, such as uploads that overflow the queue of their own station.

    Raises ValueError if the trace has no such flow.
    """
    events = trace.events(flow=flow)
    is_loss = np.isin(events.event, ("fast_retransmit", "timeout"))
    # A retransmitted SYN is not a loss of data, and has no window.
    wanted = is_loss & ~np.isnan(events.cwnd_bytes)
    peaks = events.cwnd_bytes[wanted]
    return Epochs(
        flows=(flow,),
        end_s=events.time_s[wanted],
        cwnd_bytes=peaks.reshape(-1, 1),
        lost=np.ones((len(peaks), 1), dtype=np.bool_),
    )


def epochs_to_converge(windows: ArrayLike, *, convergence: float = _CONVERGED) -> float:
    """Return the number of epochs in which a fraction of a disturbance vanishes, section 5.2.

    `windows` has one row for each epoch from the disturbance on (the start of a flow) and one
    column for each flow; for an ensemble of runs, the means. The shares of the windows converge to
    their mean over the last 20 epochs. Half the sum of their distances from it decays
    geometrically. Its rate is the slope of a straight line through its logarithms, over the epochs
    in which it is more than a tenth of its first value; the rest is noise.

    Raises ValueError unless there are more than 20 epochs, 0 < convergence < 1, and the
    distance falls.

    >>> history = [[30 + 30 * 0.5**epoch, 30 - 30 * 0.5**epoch] for epoch in range(60)]
    >>> round(epochs_to_converge(history), 3)
    4.322
    """
    rows = np.asarray(windows, dtype=np.float64)
    if not 0.0 < convergence < 1.0:
        raise ValueError(f"convergence must lie between 0 and 1, not {convergence}")
    if rows.ndim != 2 or len(rows) <= _LATE:
        raise ValueError(f"need windows of more than {_LATE} epochs, one row for each")
    share = rows / rows.sum(axis=1, keepdims=True)
    distance = np.abs(share - share[-_LATE:].mean(axis=0)).sum(axis=1) / 2.0
    noise = np.flatnonzero(distance < _NOISE * distance[0])
    count = max(2, int(noise[0]) if len(noise) else len(distance))
    with np.errstate(divide="ignore"):
        logarithms = np.log(distance[:count])
    if not np.isfinite(logarithms).all():
        raise ValueError("the flows have converged from the first epoch on")
    slope = float(np.polyfit(np.arange(count), logarithms, 1)[0])
    if slope >= 0.0:
        raise ValueError("the flows do not converge")
    return math.log(1.0 - convergence) / slope


def convergence_interval(runs: Sequence[ArrayLike], *, convergence: float = _CONVERGED) -> Interval:
    """Return `epochs_to_converge` of the mean over runs, and its confidence interval.

    Each run has its windows by epoch and flow; epochs that not all runs have are left out. The
    interval is from the jackknife: each pseudo-value n f - (n - 1) f_i, where f_i leaves out run i,
    counts as a sample (J. W. Tukey, 1958).

    Raises ValueError as `epochs_to_converge`, and without runs.
    """
    if not runs:
        raise ValueError("there are no runs")
    arrays = [np.asarray(run, dtype=np.float64) for run in runs]
    count = min(len(run) for run in arrays)
    stack = np.array([run[:count] for run in arrays])
    n, total = len(stack), stack.sum(axis=0)

    def of(sums: NDArray[np.float64], number: int) -> float:
        return epochs_to_converge(sums / number, convergence=convergence)

    whole = of(total, n)
    if n == 1:
        return Interval(whole, None, None, 1)
    without = [of(total - run, n - 1) for run in stack]
    spread = student_interval([n * whole - (n - 1) * one for one in without])
    half = spread.half_width or 0.0
    return Interval(whole, whole - half, whole + half, n)
