"""Model TCP over A-MPDUs: endless transfers of n stations through one access point.

The results are how long A-MPDUs become, how many accesses TCP ACKs take, and who collides with
whom. Inputs are durations of PPDUs (from `airtcp.models.ampdu`). Packets are lost only in
collisions, and are then retransmitted until delivered. The derivation is in aggregation.md;
equation numbers (A1) to (A11) are those of that page. Symbols: n stations with a transfer each, a
window of W segments, an ACK per d segments, at most A segments in a PPDU, at most C segments
acknowledged by the ACKs of a PPDU.

1. A station's window circulates: segments wait at one end (data), are sent in PPDUs of A, and wait
   at the other end to be acknowledged (ACKs). Each node with something to send is equally likely to
   be next, so each has rate 1 in the chain of successes. The access point divides its rate among
   what waits there: one station against the mean of the others.
2. The number of stations with something to send is a birth-death chain, whose rates follow from 1.
3. In each of its states k nodes contend like Bianchi's saturated nodes; slots last as long as the
   PPDUs of 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from airtcp.models import checks
from airtcp.models._line import stationary_law
from airtcp.models._rounds import Rounds, rounds
from airtcp.models.ampdu import Exchange
from airtcp.models.bianchi import fixed_point
from airtcp.models.checks import Values
from airtcp.models.roots import increasing_root
from airtcp.phrases import phrase

__all__ = ["Throughput", "Times", "throughput"]

AckAccess = Literal["contends", "none"]

_MOST_PPDUS = 40
"""Larger windows are reduced to this many PPDUs, because beyond it results no longer change."""
_MOST_NODES = 4096
_PLENTY = 3.0
"""A wired path does not matter if it alone would allow this many times the Wi-Fi throughput."""
_FEW = 1e-9
_RARE = 1e-15


@dataclass(frozen=True, slots=True)
class Times:
    """The durations of PPDUs, in seconds: with k = 1, 2, ... segments, and with k ACKs.

    `data_s[k-1]` is the exchange of k segments and AIFS, `data_collision_s[k-1]` their PPDU and the
    wait after a collision; `ack_s` and `ack_collision_s` are the same for k ACKs. The lengths of
    the arrays are how many fit into one PPDU.

    Raises `ValueError` with the name of an invalid array.
    """

    data_s: Values
    data_collision_s: Values
    ack_s: Values
    ack_collision_s: Values

    def __post_init__(self) -> None:
        for name in ("data_s", "data_collision_s", "ack_s", "ack_collision_s"):
            array = checks.real(name, getattr(self, name), above=0.0)
            if array.ndim != 1:
                raise ValueError(phrase("models.input.one_dimension", name=name, ndim=array.ndim))
        if self.data_s.shape != self.data_collision_s.shape:
            raise ValueError(phrase("models.input.data_lengths"))
        if self.ack_s.shape != self.ack_collision_s.shape:
            raise ValueError(phrase("models.input.ack_lengths"))

    @classmethod
    def of(
        cls,
        data: Exchange,
        ack: Exchange,
        *,
        segment_bits: int,
        ack_bits: int,
        aifs_ns: int,
        after_collision_ns: int,
    ) -> Self:
        """Derive the durations from the exchange and the IP packet size of each direction.

        Raises `ValueError` like `Exchange`.

        >>> from airtcp.models.ampdu import HT_20MHZ
        >>> both = {"segment_bits": 12000, "ack_bits": 416}
        >>> times = Times.of(HT_20MHZ, HT_20MHZ, **both, aifs_ns=43_000, after_collision_ns=43_000)
        >>> len(times.data_s), len(times.ack_s), round(float(times.ack_s[15]) * 1e6, 1)
        (31, 64, 299.8)
        """
        times = []
        for exchange, bits in ((data, segment_bits), (ack, ack_bits)):
            counts = np.arange(1, exchange.most_mpdus(bits) + 1)
            times.append((exchange.exchange_time_ns(counts, bits) + aifs_ns) / 1e9)
            times.append((exchange.collision_time_ns(counts, bits) + after_collision_ns) / 1e9)
        return cls(*(np.asarray(one) for one in times))


@dataclass(frozen=True, slots=True)
class Throughput:
    """The throughput of `n` stations, and its parts.

    `segments_per_s`: total. `segments_per_ppdu`, `acks_per_ppdu`: mean contents of PPDUs.
    `ack_accesses`: successful PPDUs of ACKs per PPDU of data. Collision probabilities: per attempt
    of the access point, of stations, and of all. `backlogged`: mean number of nodes with something
    to send, over contention slots. `undisturbed`: the throughput of windows that never wait for
    each other, by (A11), over the Wi-Fi capacity without the wired link; infinite if (A11) does not
    apply. If it is below 1 the wired path is the limit; the collision probabilities and
    `backlogged` are then those without it.
    """

    n: Values
    segments_per_s: Values
    segments_per_ppdu: Values
    acks_per_ppdu: Values
    ack_accesses: Values
    collision_probability_ap: Values
    collision_probability_stations: Values
    collision_probability: Values
    backlogged: Values
    undisturbed: Values


def throughput(
    n: ArrayLike,
    window: ArrayLike,
    d: ArrayLike,
    times: Times,
    *,
    slot_s: float,
    w0: int,
    m: int,
    retries: int,
    direction: Literal["download", "upload"] = "download",
    acks: AckAccess = "contends",
    path_s: float = 0.0,
    aifs_s: float = 0.0,
    at_once: bool = False,
) -> Throughput:
    """Model endless transfers of `n` stations, (A9); arguments as in `bianchi.fixed_point`.

    `path_s` is the round trip on the wired links behind the access point. With such a path, one
    station is followed from PPDU to PPDU, (A10). Several stations get the smaller of two
    throughputs: (A9) without the path, and that of windows that circulate undisturbed, (A11); so
    does one station with too many PPDUs in flight for (A10). Packets that find the channel idle
    need no backoff if `at_once`, and no AIFS: `aifs_s` is subtracted from the `times`.

    `acks` "none" is the bound without any access for ACKs: they take no time and do not contend
    with the data. Vectorized over `n`, `window` and `d`.

    Raises `ValueError` with the name of an argument out of range (n, d >= 1, window >= d: below
    that the delayed-ACK timer would advance the window), and `ConvergenceError`.

    >>> from airtcp.models.ampdu import HT_20MHZ
    >>> both = {"segment_bits": 12000, "ack_bits": 416}
    >>> times = Times.of(HT_20MHZ, HT_20MHZ, **both, aifs_ns=43_000, after_collision_ns=43_000)
    >>> said = throughput([1, 20], 512, 2, times, slot_s=9e-6, w0=16, m=6, retries=6)
    >>> (said.segments_per_s * 8 * 1448 / 1e6).round(1), said.collision_probability_ap.round(3)
    (array([59.3, 56.4]), array([0.057, 0.095]))
    """
    checks.choice("direction", direction, ("download", "upload"))
    checks.choice("acks", acks, ("contends", "none"))
    nodes = checks.real("n", n, at_least=1, at_most=_MOST_NODES, whole=True)
    windows = checks.real("window", window, at_least=1, at_most=10**7, whole=True)
    every = checks.real("d", d, at_least=1, at_most=10**4, whole=True)
    nodes, windows, every = checks.broadcast(n=nodes, window=windows, d=every)
    if np.any(windows < every):
        raise ValueError(phrase("models.input.window_below_d"))
    slot = checks.scalar("slot_s", slot_s, above=0.0)
    path = checks.scalar("path_s", path_s, at_least=0.0)
    aifs = checks.scalar("aifs_s", aifs_s, at_least=0.0, at_most=float(min(times.data_s)))
    told = np.empty((9, *nodes.shape))
    for place in np.ndindex(nodes.shape):
        count, w, each = int(nodes[place]), int(windows[place]), int(every[place])
        if acks == "none":
            told[(slice(None), *place)] = (*_without_acks(w, times, slot, w0), math.inf)
            continue
        shared = _share(_Loop.of(w, each, times, direction), count)
        on_air = _slots(shared, count, times, direction, slot_s=slot, w0=w0, m=m, retries=retries)
        wire = _Wire(path, aifs, slot, w0, at_once)
        told[(slice(None), *place)] = _with_wire(on_air, count, w, each, times, direction, wire)
    return Throughput(nodes[()], *(np.asarray(row)[()] for row in told))


class _Wire(NamedTuple):
    """The round trip behind the access point, and what nodes wait for on an idle channel."""

    path_s: float
    aifs_s: float
    slot_s: float
    w0: int
    at_once: bool


def _with_wire(
    on_air: tuple[float, ...],
    n: int,
    window: int,
    every: int,
    times: Times,
    direction: str,
    wire: _Wire,
) -> tuple[float, ...]:
    """Apply (A10), (A11) to `on_air`, the result without a wired path; add undisturbed windows."""
    if wire.path_s == 0.0:
        return (*on_air, math.inf)
    size = min(window, len(times.data_s))
    acked = max(1, min(size // every, len(times.ack_s)))
    waits_s = wire.slot_s / 2 - wire.aifs_s if wire.at_once else (wire.w0 - 1) * wire.slot_s
    trip_s = wire.path_s + float(times.data_s[size - 1]) + float(times.ack_s[acked - 1]) + waits_s
    undisturbed = n * window / trip_s
    if n == 1 and undisturbed < _PLENTY * on_air[0]:
        said = rounds(
            window,
            every,
            times,
            wire.path_s,
            slot_s=wire.slot_s,
            aifs_s=wire.aifs_s,
            w0=wire.w0,
            download=direction == "download",
            at_once=wire.at_once,
        )
        if said is not None:
            return (*_of_rounds(said, every), math.inf)
    share = undisturbed / on_air[0]
    if share >= 1.0:
        return (*on_air, share)
    # Each PPDU is acknowledged before the next one arrives: no ACKs wait for others.
    per_ppdu = window / math.ceil(window / size)
    return (undisturbed, per_ppdu, per_ppdu / every, 1.0, *on_air[4:], share)


def _of_rounds(said: Rounds, every: int) -> tuple[float, ...]:
    met = said.collisions
    return (
        said.segments_per_s,
        said.segments_per_ppdu,
        said.acks_per_ppdu,
        said.segments_per_ppdu / (said.acks_per_ppdu * every),
        met / (said.by_ap + met),
        met / (said.by_station + met),
        2.0 * met / (said.by_ap + said.by_station + 2.0 * met),
        said.backlogged,
    )


@dataclass(frozen=True, slots=True)
class _Loop:
    """The states of one station's window, and the transitions between them.

    `states` are the segments x that the station has to send, as data (upload) or as ACKs
    (download). Of the other `window` - x, `ready` are those that the access point has to send,
    without those that an ACK leaves out. `source`, `target`, `by_ap` and `segments` describe each
    possible success.
    """

    window: int
    every: int
    states: Values
    able: np.ndarray
    ready: Values
    source: np.ndarray
    target: np.ndarray
    by_ap: np.ndarray
    segments: np.ndarray

    @classmethod
    def of(cls, window: int, every: int, times: Times, direction: str) -> _Loop:
        """Find all states reachable from the one in which the sender has everything."""
        data, most_acks = len(times.data_s), len(times.ack_s)
        window = min(window, _MOST_PPDUS * max(data, most_acks * every))

        def sends_data(waiting: int) -> int:
            return min(data, waiting)

        def acknowledges(waiting: int) -> int:
            return min(most_acks, waiting // every) * every

        download = direction == "download"
        ap, station = (sends_data, acknowledges) if download else (acknowledges, sends_data)
        begin = 0 if download else window
        index, order, ways = {begin: 0}, [begin], []
        for x in order:
            for by_ap, k in ((True, ap(window - x)), (False, station(x))):
                if k:
                    y = x + k if by_ap else x - k
                    if y not in index:
                        index[y] = len(order)
                        order.append(y)
                    ways.append((index[x], index[y], by_ap, k))
        source, target, by, segments = (np.array(column) for column in zip(*ways, strict=True))
        line = np.argsort(order)
        places = np.argsort(line)
        source, target = places[source], places[target]
        states = np.array(order, dtype=np.float64)[line]
        able = np.zeros(len(order), dtype=bool)
        able[source[~by.astype(bool)]] = True
        ready = window - states
        if not download:
            ready = ready // every * every
        return cls(window, every, states, able, ready, source, target, by.astype(bool), segments)

    def law(self, ap_rates: Values) -> Values:
        """Return the stationary distribution of x, (A2); the station has rate 1."""
        return stationary_law(len(self.states), self.source, self.target, self.rates(ap_rates))

    def rates(self, ap_rates: Values) -> Values:
        """Return the rate of each transition."""
        return np.where(self.by_ap, ap_rates[self.source], 1.0)


@dataclass(frozen=True, slots=True)
class _Shared:
    """A loop together with n - 1 others: distribution of x, flow of each transition."""

    loop: _Loop
    law: Values
    flow: Values

    def mean(self, of: Values, *, by_ap: bool) -> float:
        """Return the mean over successes of the access point, or of the station."""
        chosen = self.loop.by_ap == by_ap
        mean = self.flow[chosen] @ of[chosen] / self.flow[chosen].sum()
        # Rounding must not take it out of the range of values.
        return float(np.clip(mean, of[chosen].min(), of[chosen].max()))


def _share(loop: _Loop, n: int) -> _Shared:
    """Solve (A1) to (A3): one station's window, with the others at its mean."""
    window = float(loop.window)

    def given(mean_share: float) -> Values:
        waiting = loop.ready + (n - 1) * window * mean_share
        return np.where(loop.ready > 0.0, loop.ready / np.maximum(waiting, 1.0), 0.0)

    def excess(share: Values) -> Values:
        return np.asarray(share - loop.law(given(float(share))) @ loop.ready / window)

    share = 0.0
    if n > 1:
        share = float(increasing_root(excess, np.zeros(()), np.ones(()), what="share of a window"))
    rates = given(share)
    law = loop.law(rates)
    return _Shared(loop, law, law[loop.source] * loop.rates(rates))


def _states(shared: _Shared, n: int) -> list[tuple[int, int, float]]:
    """Return (A4), (A5): how many stations have something to send, and whether the AP has."""
    loop, law = shared.loop, shared.law
    has = loop.able
    if n == 1:
        full = loop.ready <= 0.0
        idle, alone = float(law[~has].sum()), float(law[has & full].sum())
        return [(0, 1, idle), (1, 1, 1.0 - idle - alone), (1, 0, alone)]
    left = ~loop.by_ap
    clears = float(shared.flow[left & ~has[loop.target]].sum() / shared.flow[left].sum())
    comes = loop.by_ap & ~has[loop.source]
    opens = float(shared.flow[comes & has[loop.target]].sum() / shared.flow[comes].sum())
    stations = np.arange(n + 1.0)
    fresh = (n - stations) * _mean(law, loop.ready, ~has)
    waiting = fresh + stations * _mean(law, loop.ready, has)
    some = waiting > _FEW * loop.window
    birth = np.where(some, opens * fresh / np.where(some, waiting, 1.0), 0.0)
    # In logarithms: with 4096 stations many states have almost no weight.
    with np.errstate(divide="ignore"):
        steps = np.log(birth[:-1]) - np.log(clears * stations[1:])
    weights = np.exp(np.concatenate([[0.0], np.cumsum(steps)]))
    weights /= weights.sum()
    return [(j, int(some[j]), float(weights[j])) for j in range(n + 1) if weights[j] > _RARE]


def _mean(law: Values, values: Values, where: np.ndarray) -> float:
    weight = float(law[where].sum())
    return float(law[where] @ values[where]) / weight if weight > 0.0 else 0.0


def _slots(
    shared: _Shared,
    n: int,
    times: Times,
    direction: str,
    *,
    slot_s: float,
    w0: int,
    m: int,
    retries: int,
) -> tuple[float, ...]:
    """Return (A6) to (A9): contention slots in each state, their durations and results."""
    loop = shared.loop
    download = direction == "download"
    data_by = loop.by_ap == download
    k = np.where(data_by, loop.segments, loop.segments // loop.every) - 1
    lasts = np.where(data_by, _at(times.data_s, k), _at(times.ack_s, k))
    lost = np.where(data_by, _at(times.data_collision_s, k), _at(times.ack_collision_s, k))
    ap_s, station_s = shared.mean(lasts, by_ap=True), shared.mean(lasts, by_ap=False)
    ap_lost, station_lost = shared.mean(lost, by_ap=True), shared.mean(lost, by_ap=False)
    longest = max(ap_lost, station_lost)

    states = [one for one in _states(shared, n) if one[2] > 0.0 and one[0] + one[1] > 0]
    stations = np.array([float(j) for j, _, _ in states])
    ap = np.array([float(a) for _, a, _ in states])
    tau = np.asarray(fixed_point(stations + ap, w0, m, retries).tau)
    quiet = 1.0 - tau
    alone = tau * quiet ** (stations + ap - 1.0)
    # The chain of successes leaves a state at the rate of its contending nodes; a slot leaves it
    # with the probability of a success.
    slots = np.array([weight for _, _, weight in states]) / alone
    none = quiet ** (stations + ap)
    by_ap, by_station = ap * alone, stations * alone
    with_ap = ap * tau * (1.0 - quiet**stations)
    among_stations = np.maximum(1.0 - none - by_ap - by_station - with_ap, 0.0)
    time = slots @ (
        none * slot_s
        + by_ap * ap_s
        + by_station * station_s
        + with_ap * longest
        + among_stations * station_lost
    )
    sends_data = by_ap if download else by_station
    per_ppdu = shared.mean(loop.segments.astype(float), by_ap=download)
    acked = shared.mean(loop.segments / loop.every, by_ap=not download)
    attempts_ap, attempts = slots @ (ap * tau), slots @ (stations * tau)
    lost_ap, lost_stations = slots @ with_ap, slots @ (stations * tau - by_station)
    return (
        per_ppdu * float(slots @ sends_data) / float(time),
        per_ppdu,
        acked,
        per_ppdu / (acked * loop.every),
        float(lost_ap / attempts_ap),
        float(lost_stations / attempts),
        float((lost_ap + lost_stations) / (attempts_ap + attempts)),
        float(slots @ (stations + ap) / slots.sum()),
    )


def _at(array: Values, index: np.ndarray) -> Values:
    """Return elements by index; beyond the end, which another branch uses, the last."""
    return np.asarray(array[np.minimum(index, len(array) - 1)])


def _without_acks(window: int, times: Times, slot_s: float, w0: int) -> tuple[float, ...]:
    """Return the bound: full PPDUs, a mean backoff before each, and no other traffic."""
    k = min(window, len(times.data_s))
    cycle = float(times.data_s[k - 1]) + (w0 - 1) / 2.0 * slot_s
    return (k / cycle, float(k), 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
