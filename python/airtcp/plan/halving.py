"""Which of many candidates may still be the best, by few samples of each: successive halving.

Knows samples of candidates on common random numbers, each as a difference from what is there
already, of which less is better. Does not know what was measured, nor runs anything.

The idea is that of successive halving (Jamieson and Talwalkar, AISTATS 2016): few samples of all,
more of those that may still win. A candidate goes only if it surely loses, as in procedures that
select the best with an indifference zone (Kim and Nelson, ACM TOMACS 11(3), 2001): the end of the
one-sided interval of what it lies behind the leader, or before what is there, says that it is not
better by `margin` or more. Two samples say next to nothing of their own spread; but candidates are
alike in it. So each variance is moderated by that which is usual among them, which counts as
`PRIOR` degrees of freedom (Smyth, Stat. Appl. Genet. Mol. Biol. 3(1), 2004). It is the median, for
one that changes all, or nothing, varies as no other does.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from airtcp.stats import Interval

_Key = TypeVar("_Key", bound=Hashable)

#: The degrees of freedom that the mean variance of all counts for.
PRIOR: Final = 4
#: The chance with which a candidate that is better by the margin is dropped in one look.
_ERROR: Final = 0.01
#: From so many samples on the worse half goes, whatever is sure, ...
_HALVED_FROM: Final = 2
#: ... but so many stay.
_KEPT: Final = 6


class Spread(NamedTuple):
    """A variance that is known beforehand, by so many degrees of freedom."""

    variance: float
    degrees: float


#: The spread of candidates that have none.
NONE: Final = Spread(0.0, PRIOR)


def survivors(
    samples: Mapping[_Key, Mapping[int, float]], margin: float, *, keep: int, spread: Spread = NONE
) -> list[_Key]:
    """The candidates that may still be the best by `margin` or more, the best first.

    `samples` has of each candidate, by replication, how far it lies from what is there already; a
    candidate without any stays. The best `keep` stay as long as they may be better than that by
    `margin`. `spread` is that of a sample where no candidate has two.
    """
    means = {key: _mean(list(one.values())) for key, one in samples.items() if one}
    if not means:
        return list(samples)
    order = sorted(means, key=lambda key: means[key])
    lead = order[0]
    behind = {key: _paired(samples[key], samples[lead]) for key in order if key != lead}
    below = {key: list(samples[key].values()) for key in order}
    spread_below = pooled(list(below.values()), spread)
    spread_behind = pooled(list(behind.values()), spread)
    left = []
    for place, key in enumerate(order):
        if _least(below[key], spread_below) > -margin:
            continue
        if place >= keep and _least(behind[key], spread_behind) > -margin:
            continue
        left.append(key)
    if max(map(len, below.values())) >= _HALVED_FROM:
        left = left[: max(_KEPT, (len(samples) + 1) // 2)]
    return left + [key for key in samples if not samples[key]]


def pooled(samples: Sequence[Sequence[float]], otherwise: Spread = NONE) -> Spread:
    """The spread that is usual among several samples; `otherwise` if none has two values.

    The median of the variances, each over the median of its law: that of n normal values has the
    chi-squared law of k = n - 1 degrees of freedom over k, whose median is about (1 - 2 / 9k)^3
    (Wilson and Hilferty, Proc. Natl. Acad. Sci. 17, 1931).
    """
    variances = [
        _variance(one) / (1.0 - 2.0 / (9.0 * (len(one) - 1))) ** 3
        for one in samples
        if len(one) > 1
    ]
    return Spread(statistics.median(variances), PRIOR) if variances else otherwise


def of_two(samples: Sequence[float]) -> Spread:
    """The spread of the difference of two numbers as these are, which have nothing in common."""
    if len(samples) < 2:
        return NONE
    return Spread(2.0 * _variance(samples), len(samples) - 1)


def moderated(samples: Sequence[float], spread: Spread, confidence: float) -> Interval:
    """The interval of the mean of few samples, their variance moderated by a spread.

    Student's law with so many degrees of freedom more than the samples have. `samples` are not
    empty.
    """
    mean, half = _mean(samples), _half_width(samples, spread, 0.5 + confidence / 2.0)
    return Interval(mean, mean - half, mean + half, len(samples))


def _least(samples: Sequence[float], spread: Spread) -> float:
    """The lower end of the one-sided interval of a mean; minus infinity without samples."""
    if not samples:
        return -math.inf
    return _mean(samples) - _half_width(samples, spread, 1.0 - _ERROR)


def _half_width(samples: Sequence[float], spread: Spread, level: float) -> float:
    from scipy.special import stdtrit

    n = len(samples)
    own = (n - 1) * _variance(samples) if n > 1 else 0.0
    degrees = n - 1 + spread.degrees
    variance = (own + spread.degrees * spread.variance) / degrees
    return float(stdtrit(degrees, level)) * math.sqrt(variance / n)


def _paired(one: Mapping[int, float], other: Mapping[int, float]) -> list[float]:
    return [one[run] - other[run] for run in sorted(one.keys() & other.keys())]


def _mean(samples: Sequence[float]) -> float:
    return math.fsum(samples) / len(samples)


def _variance(samples: Sequence[float]) -> float:
    mean = _mean(samples)
    return math.fsum((one - mean) ** 2 for one in samples) / (len(samples) - 1)
