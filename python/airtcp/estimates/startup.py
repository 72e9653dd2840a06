"""The start-up of replications whose bytes are in few large transfers.

Few replications do not show this start-up, but the law of sizes predicts it.

A network that begins empty has filled up when large transfers have come and gone. Half of all bytes
are in transfers of the byte-weighted median size or more. Such a transfer takes tau: the mean
transfer time, times its size over the mean size. (That is exact for processor sharing.) After a
warm-up w, the remaining start-up lasts tau exp(-w / tau), as for a queue that approaches its mean
exponentially. On a shared processor with 20 replications, estimates of the mean time were off by .1
of their standard deviation if the start-up was .13 of the measured time, and by 1.2 if it was .36
(docs/explanation/intervals.md).

If the variance of sizes is infinite, many bytes are always in sizes larger than any drawn. A
regression extrapolates to them in a straight line, which is right on a shared processor. It is
wrong over radio: a long transfer fills queues and delays others more than in proportion, and a few
replications may contain no such transfer. On 802.11ax, estimates of the mean time were too low by
.2 to .9 of that share of the bytes, in windows of 40 to 500 s. So the half width includes the whole
share in addition to Student's. With 5 % or less in such sizes, intervals then held the mean time in
90 to 100 of 100 cases, and with 6 to 10 % in 88 to 98 (docs/explanation/intervals.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airtcp import distributions
from airtcp.amounts import duration, quantity
from airtcp.phrases import phrase

if TYPE_CHECKING:
    from airtcp.estimates.traffic import Traffic

#: The largest acceptable share of start-up in the measured time.
MOST: Final = 0.1
#: The largest acceptable share of bytes in sizes larger than any drawn, if the variance is
#: infinite.
MOST_UNSEEN: Final = 0.05
#: A measured time this many times as long as the runs' is not worth recommending.
_LONGEST: Final = 1e12
#: The fewest large transfers in all replications that show their variation.
FEWEST: Final = 20.0


@dataclass(frozen=True, slots=True)
class Startup:
    """The large transfers of some runs.

    Half of all bytes are in transfers of at least `large_bytes`. Such a transfer takes `takes_s`.
    `share` is the part of the measured time that is start-up. `expected` is the expected number of
    such transfers in all replications. `enough_s` is a measured time that would be long enough.
    """

    large_bytes: float
    takes_s: float
    share: float
    expected: float
    enough_s: float

    @property
    def is_short(self) -> bool:
        """True if too much of the measured time is start-up."""
        return self.share > MOST

    @property
    def reason(self) -> str:
        """The reason why the runs are too short."""
        if math.isinf(self.large_bytes):
            return phrase("estimates.startup.long")
        return phrase(
            "estimates.startup.start_up",
            size=_megabytes(self.large_bytes),
            time=duration(self.takes_s),
            share=self.share,
        )

    @property
    def rarity(self) -> str:
        """The reason why the runs contain too few large transfers."""
        if math.isinf(self.large_bytes):
            return self.reason
        return phrase(
            "estimates.startup.rare",
            size=_megabytes(self.large_bytes),
            expected=self.expected,
        )

    @property
    def is_rare(self) -> bool:
        """True if there are too few large transfers."""
        return self.expected < FEWEST


def startups(traffic: Traffic) -> list[Startup]:
    """Return the start-up of each entry whose law of sizes is known."""
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
    """Return how long a start-up with time constant `takes_s` lasts beyond the warm-up."""
    return takes_s * math.exp(-traffic.warmup_s / takes_s) if takes_s else 0.0


@dataclass(frozen=True, slots=True)
class Unseen:
    """The transfers of a law with infinite variance that the runs cannot show.

    `share` is the part of all bytes in sizes of which less than one is expected among the `begun`
    transfers. `enough_s` is a measured time that would be long enough.
    """

    begun: int
    share: float
    enough_s: float

    @property
    def is_much(self) -> bool:
        """True if the unseen share is too large for an interval."""
        return self.share > MOST_UNSEEN

    @property
    def reason(self) -> str:
        """The reason why no interval is reported."""
        return phrase("estimates.startup.infinite_variance", share=self.share, begun=self.begun)


def unseen(traffic: Traffic) -> list[Unseen]:
    """Return the unseen share of each law of sizes whose variance is infinite."""
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
    """Return the share of bytes in sizes above the largest expected of `begun`: N^(1/a - 1)."""
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
