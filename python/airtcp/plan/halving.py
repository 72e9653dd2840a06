"""Which of many candidates may still be the best, from few samples of each: successive halving.

Samples of candidates are on common random numbers, each as a difference from the current plan;
lower is better.

The method is successive halving (Jamieson and Talwalkar, AISTATS 2016): few samples of all
candidates, more of those that may still win. A candidate is dropped only if it loses with
certainty, as in procedures that select the best with an indifference zone (Kim and Nelson, ACM
TOMACS 11(3), 2001): the one-sided interval of its distance to the leader, or of its lead over the
current plan, shows that it is not better by `margin` or more. Two samples hardly determine their
own variance, but candidates have similar variances. So each variance is moderated by a typical
variance of all candidates, which counts as `PRIOR` degrees of freedom (Smyth, Stat. Appl. Genet.
Mol. Biol. 3(1), 2004). The typical variance is the median, because a candidate that changes
everything, or nothing, has an unusual variance.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

_Key = TypeVar("_Key", bound=Hashable)

#: The degrees of freedom of the typical variance.
PRIOR: Final = 4
#: The probability to drop a candidate that is better by the margin, per round.
_ERROR: Final = 0.01
#: From this many samples on, the worse half is dropped in any case, ...
_HALVED_FROM: Final = 2
#: ... but this many candidates stay.
_KEPT: Final = 6


class Spread(NamedTuple):
    """A prior variance with its degrees of freedom."""

    variance: float
    degrees: float


#: The prior variance if there is none.
NONE: Final = Spread(0.0, PRIOR)


def survivors(
    samples: Mapping[_Key, Mapping[int, float]], margin: float, *, keep: int, spread: Spread = NONE
) -> list[_Key]:
    """Return the candidates that may still be the best by `margin` or more, best first.

    `samples` has the difference of each candidate from the current plan, by replication; a
    candidate without samples stays. The best `keep` candidates stay as long as they may beat the
    current plan by `margin`. `spread` is the prior variance if no candidate has two samples.
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
    """Return the typical variance of several samples, or `otherwise` if none has two values.

    It is the median of the variances, each divided by the median of its distribution: the sample
    variance of n normal values, relative to the true one, is chi-squared with k = n - 1 degrees of
    freedom over k, whose median is about (1 - 2 / 9k)^3 (Wilson and Hilferty, Proc. Natl. Acad.
    Sci. 17, 1931).
    """
    variances = [
        _variance(one) / (1.0 - 2.0 / (9.0 * (len(one) - 1))) ** 3
        for one in samples
        if len(one) > 1
    ]
    return Spread(statistics.median(variances), PRIOR) if variances else otherwise


def _least(samples: Sequence[float], spread: Spread) -> float:
    """Return the lower end of the one-sided interval of a mean; minus infinity without samples."""
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
