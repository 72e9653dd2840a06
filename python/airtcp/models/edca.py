"""Model saturated EDCA: classes of nodes with their own CWmin, doublings, retries and AIFS.

Inputs are backoff stages, AIFS differences in slots, and the durations of `airtcp.models.bianchi`.
There is no TCP, no queue, no TXOP and no virtual collision: each class has its own nodes.

The fixed point is that of V. Ramaiyan, A. Kumar, E. Altman, "Fixed point analysis of single cell
IEEE 802.11e WLANs: uniqueness and multistability", IEEE/ACM Trans. Networking 16(5), 2008, here for
any number of classes. The contention zones (the slots after a busy period in which only classes
with a short AIFS may transmit) are due to J. W. Robinson, T. S. Randhawa, "Saturation throughput
analysis of IEEE 802.11e enhanced distributed coordination function", IEEE JSAC 22(5), 2004. Every
class behaves as in Bianchi 2000, with a collision probability averaged over the slots in which it
may transmit. With equal AIFS and windows this is `airtcp.models.bianchi`. Compared with backoffs
simulated slot by slot, p is up to 4 % low and the successes are up to 2 % high.

The last axis of every argument is the class. Slots count from the end of the smallest AIFS after a
busy period. A busy slot affects the counters as in Bianchi's chain: it counts as one slot for nodes
that might have transmitted in it, and not at all for those still waiting for their AIFS.

>>> point = fixed_point(n=[5, 5], w0=[16, 32], m=[1, 5], aifs=[2, 3])
>>> point.p.round(3), point.tau.round(3)
(array([0.355, 0.428]), array([0.088, 0.024]))
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from airtcp.exceptions import ConvergenceError
from airtcp.models import checks
from airtcp.models.bianchi import SlotTimes, attempt_probability
from airtcp.models.bianchi import fixed_point as bianchi_fixed_point
from airtcp.models.checks import Values
from airtcp.phrases import phrase

__all__ = ["FixedPoint", "Saturation", "Zones", "fixed_point", "saturation", "zones"]

_MOST_AIFS_SLOTS = 1e6
_MOST_STEPS = 500
_SHORT_STEP = 0.05
_RESIDUAL = 1e-14
_DIFFERENCE = 1e-7
"""Step of the numerical derivative: near the square root of a double's rounding error."""
_NOTHING = np.zeros(())


@dataclass(frozen=True, slots=True)
class Zones:
    """How attempts affect each other; one value per class.

    `p`: probability that a transmission of the class collides. `share`: fraction of slots in which
    the class may transmit because its AIFS has passed. `success`: probability that any slot has a
    success of the class. `idle` and `collision`: probabilities of an empty slot and of a collision,
    without the axis of classes.
    """

    p: Values
    share: Values
    success: Values
    idle: Values
    collision: Values


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """The solution; one value per class on the last axis.

    `tau` is the probability that a node transmits in a slot in which it may transmit. `p` is the
    probability that a transmission collides, and `drop` that a frame reaches the retry limit. `n`
    and `aifs` are the arguments. `zones` has the probabilities in each AIFS zone.
    """

    n: Values
    aifs: Values
    tau: Values
    p: Values
    drop: Values
    zones: Zones


@dataclass(frozen=True, slots=True)
class Saturation:
    """The channel in saturation; the first two have one value per class.

    `success_rate_per_s`: successes per second of all nodes of the class. `utilization`: fraction of
    time with their payload. `slot_s`: mean duration of a slot.
    """

    success_rate_per_s: Values
    utilization: Values
    slot_s: Values


@dataclass(frozen=True, slots=True)
class _Ordered:
    """Classes sorted by AIFS; `order` is the result of `np.argsort`.

    Zone z is the slots from the AIFS of class z to that of class z + 1, `length` of them (the last
    one never ends); classes 0 to z may transmit in it.
    """

    order: NDArray[np.intp]
    n: Values
    log_silent: Values
    length: Values

    def log_none(self, z: int, but: int | None = None) -> Values:
        """Return the logarithm of the probability that nobody transmits in a slot of zone z.

        `but`: except one node of that class.
        """
        total = np.zeros(self.n.shape[:-1])
        for c in range(z + 1):
            nodes = self.n[..., c] - (c == but)
            # A single sender has no others: 0 * log 0 means 0 here.
            with np.errstate(invalid="ignore"):
                total = total + np.where(nodes == 0.0, 0.0, nodes * self.log_silent[..., c])
        return total

    def visits(self, start: int) -> list[Values]:
        """Return the mean number of slots of zones `start`, `start` + 1, ... from the first on."""
        reached = np.ones(self.n.shape[:-1])
        visits = []
        for z in range(start, self.n.shape[-1]):
            none, length = self.log_none(z), self.length[..., z]
            with np.errstate(invalid="ignore"):
                through = np.where(length == 0.0, 0.0, length * none)
            visits.append(reached * np.expm1(through) / np.expm1(none))
            reached = reached * np.exp(through)
        return visits

    def collide(self) -> Values:
        """Return the collision probability of each class, in the order of the classes."""
        p = []
        for c in range(self.n.shape[-1]):
            visits = self.visits(c)
            hits = sum(-v * np.expm1(self.log_none(c + i, c)) for i, v in enumerate(visits))
            p.append(hits / sum(visits))
        return np.stack(p, axis=-1)

    def restore(self, values: Values) -> Values:
        """Restore the order in which the classes were given."""
        return np.take_along_axis(values, np.argsort(self.order, axis=-1), axis=-1)


def zones(n: ArrayLike, tau: ArrayLike, aifs: ArrayLike) -> Zones:
    """Return collisions and successes of `n` nodes per class that transmit with `tau`.

    `aifs` is in slots; only differences count, so AIFSN works too. The number of idle slots since
    the last busy period is a renewal process: zone z continues from slot to slot with the
    probability that none of its classes transmits. p of a class is the mean over its slots of 1 -
    (1-tau)^(n-1) times prod (1-tau)^n over the other classes of the zone.

    Raises `ValueError` unless n >= 1, 0 < tau <= 1, and aifs is whole and >= 0.

    >>> zones([1, 1], [0.5, 0.5], [0, 1]).p.round(3)  # the first slot is free of the second class
    array([0.2, 0.5])
    """
    nodes = checks.real("n", n, at_least=1.0)
    attempts = checks.real("tau", tau, above=0.0, at_most=1.0)
    slots = _aifs(aifs)
    checks.broadcast(n=nodes, tau=attempts, aifs=slots)
    nodes, attempts, slots = np.broadcast_arrays(*np.atleast_1d(nodes, attempts, slots))
    return _zones(nodes, attempts, slots)


def fixed_point(
    n: ArrayLike, w0: ArrayLike, m: ArrayLike, aifs: ArrayLike, retries: ArrayLike | None = None
) -> FixedPoint:
    """Solve for tau and p of every class: `bianchi.attempt_probability` and `zones`.

    A class has `n` nodes, window `w0` = CWmin + 1, `m` doublings and `aifs` in slots, along the
    last axis; further axes are further scenarios. `retries` as in `bianchi.fixed_point`.

    All nodes of a class are assumed to have the same tau. With windows of a few slots there may be
    other solutions (Ramaiyan, Kumar, Altman 2008). The one returned is where the collision
    probabilities settle if they move towards the values that they cause.

    Raises `ValueError` with the name of an argument out of range (n >= 1, w0 >= 1, 0 <= m <= 60,
    aifs whole and >= 0), and `ConvergenceError`.

    >>> float(fixed_point([2, 3], 32, 5, 2).p.round(4)[0])  # equal AIFS: five nodes of one kind
    0.1781
    """
    nodes = checks.real("n", n, at_least=1.0)
    window = checks.real("w0", w0, at_least=1.0)
    doublings = checks.real("m", m, at_least=0.0, at_most=60.0, whole=True)
    slots = _aifs(aifs)
    given = {"n": nodes, "w0": window, "m": doublings, "aifs": slots}
    if retries is not None:
        given["retries"] = checks.real("retries", retries, at_least=0.0, whole=True)
    checks.broadcast(**given)
    shape = np.broadcast_shapes((1,), *(array.shape for array in given.values()))
    flat = {
        name: np.broadcast_to(array, shape).reshape(-1, shape[-1]) for name, array in given.items()
    }
    stages: dict[str, Values] = {
        name: flat[name] for name in ("w0", "m", "retries") if name in flat
    }
    p = _solve(flat["n"], flat["aifs"], stages)
    tau = np.asarray(attempt_probability(p, **stages))
    drop = p ** (flat["retries"] + 1.0) if "retries" in flat else np.zeros(p.shape)
    nodes, slots = flat["n"].reshape(shape), flat["aifs"].reshape(shape)
    tau = tau.reshape(shape)
    return FixedPoint(
        n=nodes,
        aifs=slots,
        tau=tau,
        p=p.reshape(shape),
        drop=drop.reshape(shape),
        zones=_zones(nodes, tau, slots),
    )


def saturation(point: FixedPoint, times: SlotTimes | Sequence[SlotTimes]) -> Saturation:
    """Return the throughput of every class, with common durations or one per class.

    The waits in `times` end with the smallest AIFS, where slots begin. A collision lasts as long as
    its longest frame. The slots of `times` must be equal.

    Raises `ValueError` with `times` if their number is not that of the classes, or if their slots
    differ.

    >>> from airtcp.models.bianchi import FHSS_BASIC
    >>> point = fixed_point([5, 15], [32, 32], 3, [0, 0])
    >>> saturation(point, FHSS_BASIC).utilization.round(4)  # 20 nodes: 0.6788
    array([0.1697, 0.5091])
    """
    classes = point.tau.shape[-1]
    each = [times] * classes if isinstance(times, SlotTimes) else list(times)
    if len(each) != classes:
        raise ValueError(phrase("models.edca.times", classes=classes))
    slot = each[0].slot_s
    if any(other.slot_s != slot for other in each):
        raise ValueError(phrase("models.edca.slots"))
    success = np.array([one.success_s for one in each])
    payload = np.array([one.payload_s for one in each])
    lengths = np.array([one.collision_s for one in each])
    result = point.zones
    busy = np.sum(result.success * success, axis=-1) + _collision_s(point, lengths)
    mean = result.idle * slot + busy
    rate = result.success / mean[..., np.newaxis]
    return Saturation(
        success_rate_per_s=rate, utilization=rate * payload, slot_s=np.asarray(mean)[()]
    )


def _zones(n: Values, tau: Values, aifs: Values) -> Zones:
    ordered = _ordered(n, tau, aifs)
    shares = _shares(ordered)
    sends = np.take_along_axis(n * tau, ordered.order, axis=-1)
    classes = range(n.shape[-1])
    idle = sum((s * np.exp(ordered.log_none(z)) for z, s in enumerate(shares)), start=_NOTHING)
    success, share = [], []
    for c in classes:
        alone = [shares[z] * np.exp(ordered.log_none(z, c)) for z in classes[c:]]
        success.append(sends[..., c] * sum(alone, start=_NOTHING))
        share.append(sum(shares[c:], start=_NOTHING))
    each = np.stack(success, axis=-1)
    return Zones(
        p=ordered.restore(ordered.collide()),
        share=ordered.restore(np.stack(share, axis=-1)),
        success=ordered.restore(each),
        idle=idle[()],
        collision=np.asarray(np.maximum(1.0 - idle - each.sum(axis=-1), 0.0))[()],
    )


def _shares(ordered: _Ordered) -> list[Values]:
    """Return the fraction of slots in each zone."""
    visits = ordered.visits(0)
    total = sum(visits, start=_NOTHING)
    return [v / total for v in visits]


def _collision_s(point: FixedPoint, lengths: Values) -> Values:
    """Return the mean of (collision in a slot) times (duration of the longest frame in it)."""
    ordered = _ordered(point.n, point.tau, point.aifs)
    shares = _shares(ordered)
    success = np.take_along_axis(point.zones.success, ordered.order, axis=-1)
    of_class = lengths[ordered.order]
    time = np.zeros(point.tau.shape[:-1])
    before = np.asarray(point.zones.idle)
    for length in checks.different(lengths):
        # If no station sends a longer frame, the longest frame has this length or is shorter.
        longer = _Ordered(
            order=ordered.order,
            n=np.where(of_class > length, ordered.n, 0.0),
            log_silent=ordered.log_silent,
            length=ordered.length,
        )
        upto = sum((s * np.exp(longer.log_none(z)) for z, s in enumerate(shares)), start=_NOTHING)
        alone = np.where(of_class == length, success, 0.0).sum(axis=-1)
        time = time + length * np.maximum(upto - before - alone, 0.0)
        before = upto
    return time


def _solve(n: Values, aifs: Values, stages: dict[str, Values]) -> Values:
    """Return p of every class by implicit Euler steps on dp/dt = (collisions at p) - p.

    The steps grow: long ones are Newton's; short ones follow the flow where Newton's method would
    diverge.
    """

    def flow(p: Values) -> Values:
        tau = np.asarray(attempt_probability(p, **stages))
        ordered = _ordered(n, tau, aifs)
        return ordered.restore(ordered.collide()) - p

    # All nodes of all classes as if they were equal: exact if AIFS and windows are equal.
    crowd = np.broadcast_to(n.sum(axis=-1, keepdims=True), n.shape)
    p = np.array(bianchi_fixed_point(crowd, **stages).p)
    change = flow(p)
    size = np.abs(change).max(axis=-1)
    step = np.ones(size.shape)
    for _ in range(_MOST_STEPS):
        open_ = size > _RESIDUAL
        if not open_.any():
            return p
        slope = np.empty((*p.shape, p.shape[-1]))
        for c in range(p.shape[-1]):
            moved = p.copy()
            moved[:, c] += np.where(p[:, c] < 0.5, _DIFFERENCE, -_DIFFERENCE)
            slope[:, :, c] = (flow(moved) - change) / (moved[:, c] - p[:, c])[:, np.newaxis]
        system = np.eye(p.shape[-1]) / step[:, np.newaxis, np.newaxis] - slope
        new = np.clip(p + np.linalg.solve(system, change[..., np.newaxis])[..., 0], 0.0, 1.0)
        new_change = flow(new)
        new_size = np.abs(new_change).max(axis=-1)
        nearer = new_size < size
        # A short step follows the flow, which may first increase the residual.
        taken = open_ & (nearer | (step <= _SHORT_STEP))
        step = np.where(nearer, np.minimum(step * 10.0, 1e12), np.maximum(step / 4.0, _SHORT_STEP))
        p = np.where(taken[:, np.newaxis], new, p)
        change = np.where(taken[:, np.newaxis], new_change, change)
        size = np.where(taken, new_size, size)
    raise ConvergenceError(
        phrase(
            "models.edca.not_found",
            found=np.count_nonzero(size > _RESIDUAL),
            of=size.size,
            steps=_MOST_STEPS,
        )
    )


def _ordered(n: Values, tau: Values, aifs: Values) -> _Ordered:
    order = np.argsort(aifs, axis=-1, kind="stable")
    slots = np.take_along_axis(aifs, order, axis=-1)
    length = np.diff(slots, axis=-1, append=np.inf)
    with np.errstate(divide="ignore"):
        log_silent = np.log1p(-np.take_along_axis(tau, order, axis=-1))
    return _Ordered(
        order=order,
        n=np.take_along_axis(n, order, axis=-1),
        log_silent=log_silent,
        length=length,
    )


def _aifs(aifs: ArrayLike) -> Values:
    return checks.real("aifs", aifs, at_least=0.0, at_most=_MOST_AIFS_SLOTS, whole=True)
