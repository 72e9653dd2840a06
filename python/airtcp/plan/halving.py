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
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

_Key = TypeVar("_Key", bound=Hashable)

#: The degrees of freedom of the typical variance.
PRIOR: Final = 4
#: The probability to drop a candidate that is better by the margin, per round.
_ERROR: Final = 0.01
#: From this many samples on, the worse half is dropped in any case, ...
_HALVED_FROM: Final = 2
#: ... but this many candidates stay.
_KEPT: Final = 6


def survivors(samples: Mapping[_Key, Mapping[int, float]], margin: float) -> list[_Key]:
    """Return the candidates that may still be the best by `margin` or more, best first.

    `samples` has the difference of each candidate from the current plan, by replication; a
    candidate without samples stays. The best candidate stays as long as it may beat the current
    plan by `margin`.
    """
    means = {key: _mean(list(one.values())) for key, one in samples.items() if one}
    if not means:
        return list(samples)
    order = sorted(means, key=lambda key: means[key])
    lead = order[0]
    behind = {key: _paired(samples[key], samples[lead]) for key in order if key != lead}
    below = {key: list(samples[key].values()) for key in order}
    typical_below, typical_behind = typical(below.values()), typical(behind.values())
    left = [
        key
        for key in order
        if _least(below[key], typical_below) <= -margin
        and (key == lead or _least(behind[key], typical_behind) <= -margin)
    ]
    if max(map(len, below.values())) >= _HALVED_FROM:
        left = left[: max(_KEPT, (len(samples) + 1) // 2)]
    return left + [key for key in samples if not samples[key]]


def typical(samples: Iterable[Sequence[float]]) -> float:
    """Return the typical variance of several samples; 0 if none has two values.

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
    return statistics.median(variances) if variances else 0.0


def _least(samples: Sequence[float], prior: float) -> float:
    """Return the lower end of the one-sided interval of a mean; minus infinity without samples."""
    from scipy.special import stdtrit

    if not samples:
        return -math.inf
    n = len(samples)
    own = (n - 1) * _variance(samples) if n > 1 else 0.0
    degrees = n - 1 + PRIOR
    variance = (own + PRIOR * prior) / degrees
    return _mean(samples) - float(stdtrit(degrees, 1.0 - _ERROR)) * math.sqrt(variance / n)


def _paired(one: Mapping[int, float], other: Mapping[int, float]) -> list[float]:
    return [one[run] - other[run] for run in sorted(one.keys() & other.keys())]


def _mean(samples: Sequence[float]) -> float:
    return math.fsum(samples) / len(samples)


def _variance(samples: Sequence[float]) -> float:
    mean = _mean(samples)
    return math.fsum((one - mean) ** 2 for one in samples) / (len(samples) - 1)
