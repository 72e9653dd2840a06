"""The start-up of replications whose bytes are in few large transfers.

Knows laws of sizes, and how long transfers take. Does not know what grows in a run (`steadiness`):
few replications do not show it, but the law says what they have not seen.

A network that begins empty is as full as in the steady state when it has seen large transfers come
and go. Half of all bytes are in transfers of the byte-weighted median or more; one of these takes
tau, as many times a mean transfer time as it is mean sizes large (of processor sharing exactly).
After a warm-up w the start-up that is left lasts for tau exp(-w / tau), as of a queue that nears
its mean exponentially. On a shared processor estimates of the mean time were off by .1 of their
standard deviation, for 20 replications, where that was .13 of the measured time, and by 1.2 where
it was .36 (docs/explanation/intervals.md).

Where the variance of sizes is infinite, a good part of the bytes is always in sizes larger than any
that was drawn. A regression goes on to them in a straight line, which is right on a shared
processor. Over radios it is not: a transfer that lasts fills queues and holds others up more than
in proportion, and few replications have not seen any that did. On 802.11ax estimates of the mean
time were below it by .2 to .9 of that share of the bytes, in windows of 40 to 500 s, so that a half
width has all of it beside Student's. With 5 % or less in such sizes intervals then held the mean
time in 90 to 100 of 100, and with 6 to 10 % in 88 to 98 (docs/explanation/intervals.md).
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
#: The share of bytes that may be in sizes larger than any that was drawn, of an infinite variance.
MOST_UNSEEN: Final = 0.05
#: A window so many times as long as that of the runs is one that nobody would wait for.
_LONGEST: Final = 1e12
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
    for entry in traffic.recurrent:
        law: Any = getattr(traffic.scenario.flows[entry].application, "size", None)
        active_s, ended = (traffic.sums(name, [entry]).sum() for name in ("active_s", "ended"))
        if law is None or not ended:
            continue
        large = byte_median(law)
        takes_s = float(large / law.mean() * active_s / ended)
        start_up_s = left_s(traffic, takes_s)
        expected = float(ended * law.survival(np.nextafter(large, 0.0)))
        share = start_up_s / traffic.measured_s
        found.append(Startup(large, takes_s, share, expected, start_up_s / MOST))
    return found


def left_s(traffic: Traffic, takes_s: float) -> float:
    """Return how long a start-up lasts beyond the warm-up, of something that takes so long."""
    return takes_s * math.exp(-traffic.warmup_s / takes_s) if takes_s else 0.0


@dataclass(frozen=True, slots=True)
class Unseen:
    """The transfers of an infinite variance that some runs cannot show.

    Of all bytes `share` is in sizes of which less than one is to be expected among the `begun`
    transfers; `enough_s` would be measured time enough.
    """

    begun: int
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
            f"transfers larger than any to be expected among {self.begun:,}"
        )


def unseen(traffic: Traffic) -> list[Unseen]:
    """Return what runs cannot show of each law of sizes whose variance is infinite."""
    entries: dict[distributions.Pareto, list[int]] = {}
    for entry in traffic.recurrent:
        law: Any = getattr(traffic.scenario.flows[entry].application, "size", None)
        if isinstance(law, distributions.Pareto) and math.isinf(law.scv()):
            entries.setdefault(law, []).append(entry)
    found = []
    for law, alike in entries.items():
        begun = int(traffic.sums("begun", alike).sum())
        if begun:
            further = MOST_UNSEEN ** (law.shape / (1.0 - law.shape)) / begun
            enough_s = traffic.measured_s * further if further < _LONGEST else math.inf
            found.append(Unseen(begun, _larger(law, begun), enough_s))
    return found


def _larger(law: distributions.Pareto, begun: int) -> float:
    """The share of bytes in sizes beyond that which one of so many exceeds: N^(1/a - 1)."""
    return float(begun ** (1.0 / law.shape - 1.0))


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
