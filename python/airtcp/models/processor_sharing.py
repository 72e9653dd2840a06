"""Model processor sharing: n flows, each served at 1/n of the speed (or at C_n / n).

Inputs are loads, service times and limits as plain numbers. The models are the M/G/1-PS queue of
paper H, (23) to (26), and its variants with a limit on flows or with few sources (Engset).
Paper H has service times for it, paper M capacities C_k.

Everything except the distributions of sojourn times holds for any distribution of service times
with the same mean (insensitivity). `sojourn_tail`, `engset_sojourn_tail` and their quantiles are
for exponential service times. Times are in seconds; with a mean service time of 1 they are in units
of the mean service time.

>>> sojourn_tail([0.0, 1.0, 10.0], rho=0.78).round(6)
array([1.     , 0.69478, 0.12095])
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from airtcp.models import checks
from airtcp.models.checks import Values
from airtcp.models.roots import increasing_root
from airtcp.phrases import phrase

__all__ = [
    "Sharing",
    "conditional_mean_sojourn",
    "engset",
    "engset_distribution",
    "engset_sojourn_quantile",
    "engset_sojourn_tail",
    "limited",
    "limited_distribution",
    "mean_sojourn",
    "number_distribution",
    "number_tail",
    "sojourn_quantile",
    "sojourn_tail",
    "stable_load",
]

_MOST_FLOWS = 100_000
_STEP = 1.0 / 64.0
"""The step of the trapezoidal rule in `sojourn_tail`. Halving it changes results only by rounding,
down to the smallest probabilities that a double can hold. Four times the step is accurate to 1e-9.
"""
_LOWEST = -5.0
"""The lower limit of the integral in `sojourn_tail`. Below it, the integrand is less than e^-200 of
the result."""
_LARGEST_EXPONENT = 800.0
"""e^-800 is zero as a double, even when multiplied by 2 / (1 - rho)."""
_CHUNK = 256
_UNSEEN = 1e-18
"""`engset_sojourn_tail` ignores numbers of flows with a smaller probability."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """A limited number of flows in equilibrium.

    `blocking`: probability that a new flow is blocked. `full`: fraction of time in which it would
    be (equal with Poisson arrivals). `mean_flows`: mean number in service. `carried`: admitted
    load, flows per mean service time, which equals the mean speed at which they are served.
    `mean_sojourn_s`: mean sojourn time of an admitted flow.
    """

    blocking: Values
    full: Values
    mean_flows: Values
    carried: Values
    mean_sojourn_s: Values


def stable_load(name: str, rho: ArrayLike) -> Values:
    """Return `rho` as floats, 0 <= rho < 1; otherwise raise `ValueError` with the excess.

    >>> stable_load("rho", 1.25)
    Traceback (most recent call last):
    ValueError: rho must be below 1, not 1.25: the system is unstable, work exceeds capacity by 25 %
    """
    load = checks.real(name, rho, at_least=0.0)
    worst = float(load.max())
    if worst >= 1.0:
        raise ValueError(
            phrase("models.sharing.unstable", name=name, load=worst, excess=100.0 * (worst - 1.0))
        )
    return load


def number_distribution(n: ArrayLike, rho: ArrayLike) -> Values:
    """Return Pr{N = n} of H (23) and (30): (1 - rho) rho^n for n = 0, 1, ... flows.

    Raises `ValueError` unless n is whole and >= 0, and 0 <= rho < 1.

    >>> number_distribution([0, 1, 2], 0.5)
    array([0.5  , 0.25 , 0.125])
    """
    count, load = _count_and_load(n, rho)
    return np.asarray((1.0 - load) * load**count)[()]


def number_tail(n: ArrayLike, rho: ArrayLike) -> Values:
    """Return Pr{N > n} = rho^(n+1): H (23) and (30) summed; Fig. 5 of the paper.

    Raises `ValueError` unless n is whole and >= 0, and 0 <= rho < 1.

    >>> number_tail([0, 1, 2], 0.5)
    array([0.5  , 0.25 , 0.125])
    """
    count, load = _count_and_load(n, rho)
    return np.asarray(load ** (count + 1.0))[()]


def mean_sojourn(mean_service_s: ArrayLike, rho: ArrayLike) -> Values:
    """Return E[S] of H (24) and E[R] of (29), seconds: beta / (1 - rho), over all flows.

    Raises `ValueError` unless mean_service_s >= 0 and 0 <= rho < 1.

    >>> float(mean_sojourn(0.3, 0.75).round(6))
    1.2
    """
    return _stretched("mean_service_s", mean_service_s, rho)


def conditional_mean_sojourn(service_s: ArrayLike, rho: ArrayLike) -> Values:
    """Return E[S | tau] of H (25), seconds: tau / (1 - rho), where tau = `service_s` alone.

    It is proportional to tau: sharing slows short and long flows by the same factor.

    Raises `ValueError` unless service_s >= 0 and 0 <= rho < 1.

    >>> conditional_mean_sojourn([0.1, 2.0], 0.75)
    array([0.4, 8. ])
    """
    return _stretched("service_s", service_s, rho)


def sojourn_tail(t_s: ArrayLike, rho: ArrayLike, mean_service_s: ArrayLike = 1.0) -> Values:
    """Return Pr{S > t} of the M/M/1-PS queue, H (26) in the form of erratum H4.

    Exponential sizes only. `t_s` and the mean service time beta are in seconds (default: t in units
    of beta). The braces of the printed (26) do not pair; the meaning is::

        2/(1-rho) int_0^pi exp(-x g(x) - (1-rho)^2 t / (1+rho - 2 sqrt(rho) cos x))
                           sin x / (1 + exp(-pi g(x))) dx,
        g(x) = (2 sqrt(rho) - (1+rho) cos x) / ((1-rho) sin x).

    With tan(x/2) = e^(v-a) and cosh a = (1+rho)/(1-rho), g = sinh v, sin x dx = dv / cosh^2(v-a)
    and the factor of t is (1-sqrt(rho))^2 + 4 sqrt(rho) / (1 + e^(2v)). No difference of nearly
    equal numbers is left, however near rho is to 1. The integrand falls doubly exponentially on
    both sides, so the trapezoidal rule is as accurate as doubles allow. The only error is rounding:
    relative to the result about 1e-15 times (1 + t's exponent), down to 1e-300; below that, zero.

    Raises `ValueError` unless t_s >= 0, 0 <= rho < 1 and mean_service_s > 0.

    >>> sojourn_tail(1000.0, [0.0, 0.5, 0.999999])  # rho = 0: e^-t
    array([0.00000000e+00, 1.77073381e-51, 9.93243209e-01])
    """
    time = checks.real("t_s", t_s, at_least=0.0)
    load = stable_load("rho", rho)
    mean = checks.real("mean_service_s", mean_service_s, above=0.0)
    time, load, mean = checks.broadcast(t_s=time, rho=load, mean_service_s=mean)
    t, at = (time / mean).ravel(), load.ravel()
    tail = np.empty(t.shape)
    for one in checks.different(at):
        weight_log, rate = _tail_nodes(one)
        here = np.flatnonzero(at == one)
        for chunk in np.split(here, range(_CHUNK, here.size, _CHUNK)):
            tail[chunk] = np.exp(weight_log - np.multiply.outer(t[chunk], rate)).sum(axis=-1)
    return np.minimum(tail, 1.0).reshape(time.shape)[()]


def sojourn_quantile(
    probability: ArrayLike, rho: ArrayLike, mean_service_s: ArrayLike = 1.0
) -> Values:
    """Return the quantile `probability` of the sojourn time of `sojourn_tail`, in seconds.

    It is the median for 0.5. Exponential sizes only.

    Raises `ValueError` unless 0 <= probability < 1, 0 <= rho < 1 and mean_service_s > 0, and
    `ConvergenceError` if the probability is so near 1 that no digits are left.

    >>> sojourn_quantile([0.0, 0.5, 0.9, 0.99], rho=0.78).round(3)
    array([ 0.   ,  2.17 , 11.368, 33.196])
    """
    wanted = _probability(probability)
    load = stable_load("rho", rho)
    mean = checks.real("mean_service_s", mean_service_s, above=0.0)
    wanted, load, mean = checks.broadcast(probability=wanted, rho=load, mean_service_s=mean)

    def excess(t: Values) -> Values:
        tail = np.where(t == 0.0, 1.0, sojourn_tail(t, load))
        return np.asarray(1.0 - tail / (1.0 - wanted))

    # The slowest decay of the tail is exp(-(1 - sqrt(rho))^2 t), with a factor of 2/(1-rho).
    slowest = (1.0 - np.sqrt(load)) ** 2
    longest = np.log(2.0 / ((1.0 - load) * (1.0 - wanted))) / slowest
    t = increasing_root(excess, np.zeros(wanted.shape), longest, what="quantile of (26)")
    return np.asarray(t * mean)[()]


def limited(
    rho: ArrayLike,
    limit: ArrayLike,
    mean_service_s: ArrayLike = 1.0,
    *,
    speeds: ArrayLike | None = None,
) -> Sharing:
    """Model processor sharing with Poisson arrivals and at most `limit` flows.

    Further arrivals are blocked. `rho` is the offered load (arrival rate times mean service time)
    and may be 1 or more: a limit keeps any load stable. `speeds[n-1]` is the speed at which n flows
    are served together, default 1 for all n (M/G/1/K-PS); with 1, 2, 3, ... `blocking` is Erlang's
    loss formula. State weights are those of M (16) without the factor (n-1)(n-2)... of finitely
    many sources.

    Raises `ValueError` with the name of an argument out of range (rho > 0, limit whole, 1 to
    100000, speeds positive and at least as many as flows), or for shapes that do not broadcast.

    >>> ten = limited([0.8, 1.0, 2.0], 10)
    >>> ten.blocking.round(4), ten.mean_flows.round(3)
    (array([0.0235, 0.0909, 0.5002]), array([2.966, 5.   , 9.005]))
    """
    load, most, rate = _poisson(rho, limit, speeds)
    mean = checks.real("mean_service_s", mean_service_s, above=0.0)
    load, most, mean = checks.broadcast(rho=load, limit=most, mean_service_s=mean)
    return _sharing(_distribution(_offered(load, most), rate, most), load, most, mean)


def limited_distribution(
    rho: ArrayLike, limit: ArrayLike, *, speeds: ArrayLike | None = None
) -> Values:
    """Return the probabilities of 0, 1, ... flows in `limited`, along a new last axis.

    They are 0 above `limit`. Errors as in `limited`.

    >>> limited_distribution(1.0, 3)
    array([0.25, 0.25, 0.25, 0.25])
    """
    load, most, rate = _poisson(rho, limit, speeds)
    load, most = checks.broadcast(rho=load, limit=most)
    return _distribution(_offered(load, most), rate, most)


def engset(
    sources: ArrayLike,
    ratio: ArrayLike,
    limit: ArrayLike | None = None,
    mean_service_s: ArrayLike = 1.0,
    *,
    speeds: ArrayLike | None = None,
) -> Sharing:
    """Model processor sharing among finitely many sources that think between flows (Engset).

    Each of the `sources` has at most one flow; `ratio` is the mean service time over the mean think
    time of an idle source. At most `limit` flows (default: no limit) are admitted; a blocked source
    thinks again. `speeds` as in `limited`: 1 for all n is M (16) with a constant capacity, and 1,
    2, 3, ... the classical Engset loss system, with `blocking` its call congestion and `full` its
    time congestion.

    Raises `ValueError` with the name of an argument out of range (sources whole, 1 to 100000, ratio
    > 0, otherwise as in `limited`), or for shapes that do not broadcast.

    >>> two = engset(2, 1.0, mean_service_s=1.0)
    >>> float(two.mean_flows.round(6)), float(two.mean_sojourn_s.round(6))
    (1.2, 1.5)
    """
    count, load, most, rate = _finite(sources, ratio, limit, speeds)
    mean = checks.real("mean_service_s", mean_service_s, above=0.0)
    count, load, most, mean = checks.broadcast(
        sources=count, ratio=load, limit=most, mean_service_s=mean
    )
    offered = _offered(load, most, count)
    return _sharing(_distribution(offered, rate, most), load, most, mean, count)


def engset_distribution(
    sources: ArrayLike,
    ratio: ArrayLike,
    limit: ArrayLike | None = None,
    *,
    speeds: ArrayLike | None = None,
) -> Values:
    """Return the probabilities of 0, 1, ... flows in `engset`, along a new last axis.

    They are 0 above `limit`. Errors as in `engset`.

    >>> engset_distribution(2, 1.0)
    array([0.2, 0.4, 0.4])
    """
    count, load, most, rate = _finite(sources, ratio, limit, speeds)
    count, load, most = checks.broadcast(sources=count, ratio=load, limit=most)
    return _distribution(_offered(load, most, count), rate, most)


def engset_sojourn_tail(
    t_s: ArrayLike, sources: int, ratio: float, mean_service_s: float = 1.0
) -> Values:
    """Return Pr{S > t} of a flow of `engset` without a limit.

    Exponential sizes and think times only. `t_s` and the mean service time are in seconds (default:
    t in units of it). A new flow finds the others distributed as without its source (K. Sevcik and
    I. Mitrani, JACM 28(2), 1981). Until it ends, they come and go: with k others, another one comes
    at rate (sources - 1 - k) times the ratio, one of them leaves at k / (k + 1), and the flow
    itself at 1 / (k + 1), per mean service time. This chain is reversible, so the result is a sum
    of exponentials with real rates. The error is about 1e-12.

    Raises `ValueError` unless t_s >= 0, sources is whole and 1 to 100000, ratio and mean_service_s
    > 0.

    >>> engset_sojourn_tail([0.0, 1.0, 10.0], sources=2, ratio=1.0).round(6)
    array([1.      , 0.501231, 0.001647])
    """
    time = checks.real("t_s", t_s, at_least=0.0)
    mean = float(checks.real("mean_service_s", mean_service_s, above=0.0))
    weights, rates = _engset_exponentials(sources, ratio)
    tail = np.exp(-np.multiply.outer(time / mean, rates)) @ weights
    return np.asarray(np.clip(tail, 0.0, 1.0))[()]


def engset_sojourn_quantile(
    probability: ArrayLike, sources: int, ratio: float, mean_service_s: float = 1.0
) -> Values:
    """Return the quantile `probability` of the sojourn time of `engset_sojourn_tail`.

    In seconds; exponential sizes and think times only.

    Raises `ValueError` unless 0 <= probability < 1, the errors of `engset_sojourn_tail`, and
    `ConvergenceError` if the probability is so near 1 that no digits are left.

    >>> engset_sojourn_quantile([0.0, 0.5, 0.9], sources=1, ratio=3.0).round(6)
    array([0.      , 0.693147, 2.302585])
    """
    wanted = _probability(probability)
    mean = float(checks.real("mean_service_s", mean_service_s, above=0.0))
    weights, rates = _engset_exponentials(sources, ratio)

    def excess(t: Values) -> Values:
        tail = np.exp(-np.multiply.outer(t, rates)) @ weights
        return np.asarray(1.0 - np.where(t == 0.0, 1.0, tail) / (1.0 - wanted))

    longest = np.log(np.abs(weights).sum() / (1.0 - wanted)) / rates.min() + 1.0
    what = "quantile with few sources"
    return np.asarray(increasing_root(excess, np.zeros(wanted.shape), longest, what=what) * mean)[
        ()
    ]


def _engset_exponentials(sources: int, ratio: float) -> tuple[Values, Values]:
    """Return weights and rates, per mean service time, of `engset_sojourn_tail`'s exponentials."""
    from scipy.linalg import eigh_tridiagonal

    checked = checks.real("sources", sources, at_least=1.0, at_most=_MOST_FLOWS, whole=True)
    load = float(checks.real("ratio", ratio, above=0.0))
    others = int(checked) - 1
    found = engset_distribution(others, load) if others else np.ones(1)
    seen = np.flatnonzero(found > _UNSEEN)
    k = np.arange(seen[0], seen[-1] + 1, dtype=np.float64)
    found = found[seen[0] : seen[-1] + 1]
    up, down = (others - k) * load, k / (k + 1.0)
    up[-1] = down[0] = 0.0
    # Detailed balance: the chain of the others has the weights found (k + 1), which make it
    # symmetric.
    rates, vectors = eigh_tridiagonal(up + down + 1.0 / (k + 1.0), -np.sqrt(up[:-1] * down[1:]))
    begin, end = np.sqrt(found / (k + 1.0)), np.sqrt(found * (k + 1.0))
    return np.asarray((begin @ vectors) * (end @ vectors)), np.asarray(rates)


def _stretched(name: str, service_s: ArrayLike, rho: ArrayLike) -> Values:
    service = checks.real(name, service_s, at_least=0.0)
    load = stable_load("rho", rho)
    service, load = checks.broadcast(**{name: service, "rho": load})
    return np.asarray(service / (1.0 - load))[()]


def _probability(probability: ArrayLike) -> Values:
    wanted = checks.real("probability", probability, at_least=0.0, at_most=1.0)
    if np.any(wanted == 1.0):
        raise ValueError(phrase("models.sharing.certain"))
    return wanted


def _count_and_load(n: ArrayLike, rho: ArrayLike) -> tuple[Values, ...]:
    count = checks.real("n", n, at_least=0.0, whole=True)
    return checks.broadcast(n=count, rho=stable_load("rho", rho))


def _tail_nodes(rho: float) -> tuple[Values, Values]:
    """Return logarithms of the weights, and the factors of t, at the nodes of `sojourn_tail`."""
    root, gap = math.sqrt(rho), 1.0 - rho
    a = math.log((1.0 + root) ** 2 / gap)
    # x >= pi/2 min(1, e^(v-a)), so from here on x sinh v exceeds the largest exponent.
    reach = math.log(4.0 * _LARGEST_EXPONENT / math.pi) + 0.1
    v = np.arange(_LOWEST, max(reach, (a + reach) / 2.0), _STEP)
    x, g = 2.0 * np.arctan(np.exp(v - a)), np.sinh(v)
    # exp(-x g) / (1 + exp(-pi g)), without overflow if g is far below zero
    shape = -x * g + np.minimum(math.pi * g, 0.0) - np.log1p(np.exp(-math.pi * np.abs(g)))
    distance = np.abs(v - a)
    log_cosh = distance + np.log1p(np.exp(-2.0 * distance)) - math.log(2.0)
    weight_log = shape - 2.0 * log_cosh + math.log(2.0 * _STEP / gap)
    rate = (gap / (1.0 + root)) ** 2 + 4.0 * root / (1.0 + np.exp(2.0 * v))
    return weight_log, rate


def _poisson(
    rho: ArrayLike, limit: ArrayLike, speeds: ArrayLike | None
) -> tuple[Values, Values, Values]:
    load = checks.real("rho", rho, above=0.0)
    most = checks.real("limit", limit, at_least=1.0, at_most=_MOST_FLOWS, whole=True)
    return load, most, _speeds(speeds, int(most.max()))


def _finite(
    sources: ArrayLike, ratio: ArrayLike, limit: ArrayLike | None, speeds: ArrayLike | None
) -> tuple[Values, Values, Values, Values]:
    count = checks.real("sources", sources, at_least=1.0, at_most=_MOST_FLOWS, whole=True)
    load = checks.real("ratio", ratio, above=0.0)
    most = count
    if limit is not None:
        most = checks.real("limit", limit, at_least=1.0, whole=True)
        count, most = checks.broadcast(sources=count, limit=most)
        most = np.minimum(most, count)
    return count, load, most, _speeds(speeds, int(most.max()))


def _speeds(speeds: ArrayLike | None, flows: int) -> Values:
    if speeds is None:
        return np.ones(flows)
    checked = checks.real("speeds", speeds, above=0.0)
    if checked.ndim != 1 or checked.size < flows:
        raise ValueError(phrase("models.sharing.speeds", flows=flows, shape=checked.shape))
    return checked[:flows]


def _offered(load: Values, most: Values, sources: Values | None = None) -> Values:
    """Return the load offered while 0, 1, ... flows are in service, along a new last axis."""
    busy = np.arange(int(most.max()), dtype=np.float64)
    if sources is None:
        return load[..., np.newaxis] * np.ones(busy.shape)
    # A source with a flow in service offers no load; states above the limit get no weight.
    idle = np.maximum(sources[..., np.newaxis] - busy, 1.0)
    return np.asarray(load[..., np.newaxis] * idle)


def _distribution(offered: Values, speeds: Values, most: Values) -> Values:
    """Solve the balance of neighboring states in logarithms, so that nothing overflows."""
    log = np.cumsum(np.log(offered) - np.log(speeds), axis=-1)
    log = np.concatenate((np.zeros((*log.shape[:-1], 1)), log), axis=-1)
    log = np.where(np.arange(log.shape[-1]) <= most[..., np.newaxis], log, -np.inf)
    weight = np.exp(log - log.max(axis=-1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def _sharing(
    pi: Values, load: Values, most: Values, mean: Values, sources: Values | None = None
) -> Sharing:
    flows = np.arange(pi.shape[-1], dtype=np.float64)
    last = most[..., np.newaxis]
    full = np.sum(pi, axis=-1, where=flows == last)
    mean_flows = np.sum(flows * pi, axis=-1)
    if sources is None:
        offered, turned_away = load, load * full
        # 1 - full, summed by its terms: full may round to 1 at a huge load
        carried = load * np.sum(pi, axis=-1, where=flows < last)
    else:
        idle = sources[..., np.newaxis] - flows
        offered = load * np.sum(idle * pi, axis=-1, where=flows <= last)
        turned_away = load * (sources - most) * full
        carried = load * np.sum(idle * pi, axis=-1, where=flows < last)
    return Sharing(
        blocking=np.asarray(turned_away / offered)[()],
        full=np.asarray(full)[()],
        mean_flows=np.asarray(mean_flows)[()],
        carried=np.asarray(carried)[()],
        mean_sojourn_s=np.asarray(mean * mean_flows / carried)[()],
    )
