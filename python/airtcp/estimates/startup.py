"""The start-up of replications whose bytes are in few large transfers.

Knows laws of sizes, and how long transfers take. Does not know what grows in a run (`steadiness`):
few replications do not show it, but the law says what they have not seen.

A network that begins empty is as full as in the steady state when it has seen large transfers come
and go. Half of all bytes are in transfers of the byte-weighted median or more; one of these takes
tau, as many times a mean transfer time as it is mean sizes large (of processor sharing exactly).
After a warm-up w the start-up that is left lasts for tau exp(-w / tau), as of a queue that nears
its mean exponentially. On a shared processor estimates of the mean time were off by .1 of their
standard deviation, for 20 replications, where that was .13 of the measured time, and by 1.2 where
it was .36 (docs/laboratory/coverage.md).

Where the variance of sizes is infinite, there are always transfers that take longer than a window
lasts: in a run that began empty none is in progress that is older than the run. A regression goes
on with what the largest transfers that were seen did to others, which is enough on a shared
processor; over radios it is not, perhaps as a transfer that lasts fills queues, and holds others up
more than in proportion. The
limit was chosen by the blocks that it was measured by. On 802.11ax intervals of the mean time held
it in 70 to 72 of 100 where 3.5 % of the bytes went unseen so, and in 87 to 92 where 4.3 % did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airtcp import distributions
from airtcp.amounts import duration, percent, quantity

if TYPE_CHECKING:
    from airtcp.estimates.traffic import Traffic

#: The share of the measured time that start-up may have.
MOST: Final = 0.1
#: The share of bytes that may be in transfers older than their run, of an infinite variance.
MOST_UNSEEN: Final = 0.032
#: Times of a window at which the share is taken, and doublings of a window that is sought.
_TIMES: Final = 1000
_DOUBLINGS: Final = 40
#: Large transfers in all replications, of which fewer do not tell how much they differ.
FEWEST: Final = 20.0


@dataclass(frozen=True, slots=True)
class Startup:
    """The large transfers of some runs.

    `large_bytes` is the size from which on half of all bytes are, `takes_s` the time that such a
    transfer takes, `share` of the measured time is start-up; `expected` is the number of such
    transfers in all replications. `enough_s` would be measured time enough.
    """

    large_bytes: float
    takes_s: float
    share: float
    expected: float
    enough_s: float

    @property
    def is_short(self) -> bool:
        """Tell whether too much of the measured time is start-up."""
        return self.share > MOST

    @property
    def reason(self) -> str:
        """The reason for which the runs are too short."""
        if math.isinf(self.large_bytes):
            return "half of all bytes are in transfers larger than any that a run could carry"
        return (
            f"half of all bytes are in transfers of {_megabytes(self.large_bytes)} or more, which "
            f"take some {duration(self.takes_s)}: {percent(self.share)} of the measured time is "
            "start-up"
        )

    @property
    def rarity(self) -> str:
        """The reason for which the runs tell too little."""
        if math.isinf(self.large_bytes):
            return self.reason
        return (
            f"half of all bytes are in transfers of {_megabytes(self.large_bytes)} or more, of "
            f"which some {self.expected:.0f} are to be expected in these replications"
        )

    @property
    def is_rare(self) -> bool:
        """Tell whether there are too few large transfers."""
        return self.expected < FEWEST


def startups(traffic: Traffic) -> list[Startup]:
    """Return the start-up of each kind of transfers whose law of sizes is known."""
    found = []
    warmup_s = (traffic.scenario.run.warmup_ns or 0) / 1e9
    for entry in traffic.recurrent:
        law: Any = getattr(traffic.scenario.flows[entry].application, "size", None)
        active_s, ended = (traffic.sums(name, [entry]).sum() for name in ("active_s", "ended"))
        if law is None or not ended:
            continue
        large = byte_median(law)
        takes_s = float(large / law.mean() * active_s / ended)
        left_s = takes_s * math.exp(-warmup_s / takes_s) if takes_s else 0.0
        expected = float(ended * law.survival(np.nextafter(large, 0.0)))
        share = left_s / traffic.measured_s
        found.append(Startup(large, takes_s, share, expected, left_s / MOST))
    return found


@dataclass(frozen=True, slots=True)
class Unseen:
    """The transfers that take longer than a run has lasted, which no window of it can show.

    `share` of the bytes would be in these, on average over the measured time; `enough_s` would be
    measured time enough.
    """

    share: float
    enough_s: float

    @property
    def is_much(self) -> bool:
        """Tell whether so much is not seen that an interval cannot know it."""
        return self.share > MOST_UNSEEN

    @property
    def reason(self) -> str:
        """The reason for which no interval is told."""
        return (
            f"the variance of sizes is infinite, and {percent(self.share)} of all bytes are in "
            "transfers that would have begun before the run did"
        )


def unseen(traffic: Traffic) -> list[Unseen]:
    """Return what runs cannot show of each kind of transfers whose variance is infinite."""
    found = []
    warmup_s = (traffic.scenario.run.warmup_ns or 0) / 1e9
    for entry in traffic.recurrent:
        law: Any = getattr(traffic.scenario.flows[entry].application, "size", None)
        if not isinstance(law, distributions.Pareto) or math.isfinite(law.scv()):
            continue
        median_s = _median_s(traffic, entry)
        if median_s is None:
            continue
        # The time that the smallest transfer takes, if times are as sizes. Not by the mean time:
        # runs that saw no large transfer would look as if they had missed less than others.
        least_s = median_s / 2.0 ** (1.0 / law.shape)
        measured_s = traffic.measured_s
        share = _older(law, least_s, warmup_s, measured_s)
        enough_s = measured_s
        for _ in range(_DOUBLINGS):
            if _older(law, least_s, warmup_s, enough_s) <= MOST_UNSEEN:
                break
            enough_s *= 2.0
        else:
            enough_s = math.inf
        found.append(Unseen(share, enough_s))
    return found


def _median_s(traffic: Traffic, entry: int) -> float | None:
    """The median time of the transfers that go as those of an entry; None if none has ended."""
    flow = traffic.flow(entry)
    scope = type(traffic)(traffic.runs, traffic.scenario, flow.stations, flow.direction)
    of_runs = [parts for run in traffic.runs if (parts := scope.times_s(run)) is not None]
    times_s = [part for parts in of_runs for part in parts if len(part)]
    return float(np.median(np.concatenate(times_s))) if times_s else None


def _older(law: distributions.Pareto, least_s: float, warmup_s: float, measured_s: float) -> float:
    """The share of bytes in transfers that take longer than a run has lasted, over its window."""
    at_s = warmup_s + measured_s * (np.arange(_TIMES) + 0.5) / _TIMES
    return float(np.mean(np.minimum(1.0, least_s / at_s) ** (law.shape - 1.0)))


@cache
def byte_median(law: distributions.Distribution) -> float:
    """Return the least size such that half of all bytes are in sizes up to it."""
    if isinstance(law, distributions.Deterministic):
        return law.value
    if isinstance(law, distributions.Empirical):
        values, counts = np.asarray(law.values), np.asarray(law.counts, dtype=float)
        order = np.argsort(values)
        up_to = np.cumsum(values[order] * counts[order])
        return float(values[order][np.searchsorted(up_to, up_to[-1] / 2.0)])
    # E[X; X <= x] is the integral of the survival function up to x, less x P(X > x).
    mean = law.mean()
    sizes = mean * np.concatenate([[0.0], np.geomspace(1e-4, 1e9, 20_001)])
    beyond = law.survival(sizes)
    steps = np.diff(sizes) * (beyond[1:] + beyond[:-1]) / 2.0
    up_to = np.concatenate([[0.0], np.cumsum(steps)]) - sizes * beyond
    if up_to[-1] < mean / 2.0:
        return math.inf
    return float(sizes[np.searchsorted(up_to, mean / 2.0)])


def _megabytes(size: float) -> str:
    return quantity(size / 1e6, "MB", 3)
