"""Model one window over A-MPDUs with a wired link behind the access point: (A10).

(A10) is in aggregation.md. The state is what waits at the access point and at the station, and the
remaining times of segments or ACKs on the wired link. Segments that one PPDU acknowledges return
together, one round trip of the wired link later. Inputs are PPDU durations and Bianchi's CWmin.
There is a single station; `airtcp.models.tcp_ampdu` has several.

The states are followed from success to success. A node that lost a race for the channel continues
its countdown, so it is more likely to win the next one. All times equal their means. States whose
times on the wired link differ by less than a fraction of its round trip are merged, which keeps
them few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from airtcp.exceptions import ConvergenceError
from airtcp.phrases import phrase

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

    from airtcp.models.checks import Values
    from airtcp.models.tcp_ampdu import Times

Labels: TypeAlias = NDArray[np.signedinteger]

_PARTS = (96, 48, 16)
"""Resolutions of times on the wired link, in steps per round trip. If the finest one needs too many
states, the next coarser one is tried."""
_MOST_STATES = 3000
_MOST_LOSSES = 3
"""Races lost in a row after which the distribution of a node's counter no longer changes."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """The throughput of a window as rates of events per second, and successes of either node.

    `segments_per_s`; data PPDUs carry `segments_per_ppdu`, PPDUs of ACKs `acks_per_ppdu`;
    `collisions`, `by_ap` and `by_station` (successes) per second; `backlogged` is the mean number
    of nodes with something to send, over contention slots.
    """

    segments_per_s: float
    segments_per_ppdu: float
    acks_per_ppdu: float
    collisions: float
    by_ap: float
    by_station: float
    backlogged: float


class _Race(NamedTuple):
    """Two nodes contend, one of which has lost some races: probabilities and idle slots."""

    old_wins: float
    collision: float
    idle_slots: float
    old_alone_slots: float


class _State(NamedTuple):
    """`ap` and `station` segments wait there; `wire` has (seconds left, segments), soonest first.

    `lost` is the number of consecutive races that the station has lost or, if negative, the access
    point. `rested` has bit 1 if the access point's counter has expired since its last success, bit
    2 if the station's has.
    """

    ap: int
    station: int
    wire: tuple[tuple[float, int], ...]
    lost: int
    rested: int


class _Means(NamedTuple):
    """Means over the transitions from a state: seconds, data segments, ACKs, and event counts."""

    time_s: float
    data: float
    acked: float
    by_ap: float
    by_station: float
    collisions: float
    slots: float
    nodes: float


def rounds(
    window: int,
    every: int,
    times: Times,
    path_s: float,
    *,
    slot_s: float,
    aifs_s: float,
    w0: int,
    download: bool,
    at_once: bool,
) -> Rounds | None:
    """Solve for one station whose wired path has round trip `path_s`; None if too many states.

    `every` is d; `at_once` is whether a packet that finds the channel idle is sent without backoff.
    Such a packet has already waited for AIFS, which `times` includes in each PPDU.

    Raises `ConvergenceError` if the states have no stationary distribution.
    """
    for parts in _PARTS:
        found = _Walk(
            times, every, path_s, path_s / parts, slot_s, aifs_s, w0, download, at_once
        ).from_start(window)
        if found is not None:
            return found
    return None


class _Walk:
    """All reachable states, found one by one, and the transitions between them."""

    def __init__(
        self,
        times: Times,
        every: int,
        path_s: float,
        step_s: float,
        slot_s: float,
        aifs_s: float,
        w0: int,
        download: bool,
        at_once: bool,
    ) -> None:
        self.times, self.every, self.path_s, self.step_s = times, every, path_s, step_s
        self.slot_s, self.aifs_s, self.download, self.at_once = slot_s, aifs_s, download, at_once
        self.rest_s = aifs_s + (w0 - 1) * slot_s
        self.races = _races(w0)

    def from_start(self, window: int) -> Rounds | None:
        """Compute the result, starting with all segments at the sender's side of the channel."""
        start = _State(*((window, 0) if self.download else (0, window)), (), 0, 0)
        index, order = {self._key(start): 0}, [start]
        source: list[int] = []
        target: list[int] = []
        chances: list[float] = []
        means: list[_Means] = []
        for state in order:
            ways, mean = self._ways(state)
            for chance, after in ways:
                at = index.setdefault(self._key(after), len(order))
                if at == len(order):
                    order.append(after)
                    if at == _MOST_STATES:
                        return None
                source.append(len(means))
                target.append(at)
                chances.append(chance)
            means.append(mean)
        table = np.array(means)
        total = _Means(*(_visits_per_s(source, target, chances, table[:, 0]) @ table))
        data_ppdus, ack_ppdus = total.by_ap, total.by_station
        if not self.download:
            data_ppdus, ack_ppdus = ack_ppdus, data_ppdus
        return Rounds(
            segments_per_s=total.data,
            segments_per_ppdu=total.data / data_ppdus,
            acks_per_ppdu=total.acked / ack_ppdus,
            collisions=total.collisions,
            by_ap=total.by_ap,
            by_station=total.by_station,
            backlogged=total.nodes / total.slots,
        )

    def _key(self, state: _State) -> tuple[object, ...]:
        wire = tuple((round(left / self.step_s), size) for left, size in state.wire)
        return (state.ap, state.station, wire, state.lost, state.rested)

    def _sends(self, waiting: int, *, by_ap: bool) -> int:
        """Return the segments that one PPDU moves: data, or those that its ACKs acknowledge."""
        if by_ap == self.download:
            return min(len(self.times.data_s), waiting)
        return min(len(self.times.ack_s), waiting // self.every) * self.every

    def _lasts(self, segments: int, *, by_ap: bool, collides: bool = False) -> float:
        if by_ap == self.download:
            array = self.times.data_collision_s if collides else self.times.data_s
            return float(array[segments - 1])
        array = self.times.ack_collision_s if collides else self.times.ack_s
        return float(array[segments // self.every - 1])

    def _ways(self, state: _State) -> tuple[list[tuple[float, _State]], _Means]:
        """Return the next states with their probabilities, and the means over them."""
        ap = self._sends(state.ap, by_ap=True) > 0
        station = self._sends(state.station, by_ap=False) > 0
        if not ap and not station:
            wait_s = state.wire[0][0]
            # A station without a frame counts down while the channel is idle.
            rested = 3 if self.at_once and wait_s >= self.rest_s else 0
            after = _passes(state, wait_s)._replace(lost=0, rested=rested)
            return [(1.0, after)], _Means(wait_s, 0, 0, 0, 0, 0, 0, 0)
        if ap and station:
            return self._race(state)
        rested, lost = state.rested & (1 if ap else 2), -state.lost if ap else state.lost
        # Without backoff: AIFS passed while the access point had nothing, and on average half a
        # slot is left until the next begins (10.23.2.4). A station, in contrast, receives first.
        wait_s = self.slot_s / 2 - self.aifs_s if rested and ap else 0.0
        if not rested:
            wait_s = self.races[max(lost, 0)].old_alone_slots * self.slot_s
        after, mean = self._success(state, wait_s, by_ap=ap, lost=0)
        slots = max(wait_s, 0.0) / self.slot_s + 1.0
        return [(1.0, after)], mean._replace(slots=slots, nodes=slots)

    def _race(self, state: _State) -> tuple[list[tuple[float, _State]], _Means]:
        """Let both contend; the one that lost before has the smaller counter."""
        race = self.races[abs(state.lost)]
        old_is_ap = state.lost < 0
        more = min(abs(state.lost) + 1, _MOST_LOSSES)
        wait_s = race.idle_slots * self.slot_s
        old = self._success(state, wait_s, by_ap=old_is_ap, lost=1 if old_is_ap else -1)
        fresh = self._success(state, wait_s, by_ap=not old_is_ap, lost=-more if old_is_ap else more)
        met = _passes(state, wait_s)
        lasts = max(
            self._lasts(self._sends(met.ap, by_ap=True), by_ap=True, collides=True),
            self._lasts(self._sends(met.station, by_ap=False), by_ap=False, collides=True),
        )
        collided = _passes(met, lasts)._replace(lost=0)
        chances = (race.old_wins, 1.0 - race.old_wins - race.collision, race.collision)
        crash = _Means(wait_s + lasts, 0, 0, 0, 0, 1, 0, 0)
        mean = _Means(*(np.array(chances) @ np.array([old[1], fresh[1], crash])))
        slots = race.idle_slots + 1.0
        ways = list(zip(chances, (old[0], fresh[0], collided), strict=True))
        return ways, mean._replace(slots=slots, nodes=2.0 * slots)

    def _success(
        self, state: _State, wait_s: float, *, by_ap: bool, lost: int
    ) -> tuple[_State, _Means]:
        """Return the state after a PPDU, with packets that arrived during the wait, and means."""
        begins = _passes(state, max(wait_s, 0.0))
        segments = self._sends(begins.ap if by_ap else begins.station, by_ap=by_ap)
        lasts = self._lasts(segments, by_ap=by_ap)
        if by_ap:
            sent = begins._replace(ap=begins.ap - segments)
            after = _passes(sent, lasts)
            after = after._replace(station=after.station + segments, rested=state.rested & 2)
        else:
            sent = begins._replace(station=begins.station - segments)
            after = _passes(sent, lasts)
            wire = (*after.wire, (self.path_s, segments))
            after = after._replace(wire=wire, rested=state.rested & 1)
        is_data = by_ap == self.download
        return after._replace(lost=lost), _Means(
            time_s=wait_s + lasts,
            data=segments if is_data else 0.0,
            acked=0.0 if is_data else segments / self.every,
            by_ap=float(by_ap),
            by_station=float(not by_ap),
            collisions=0.0,
            slots=0.0,
            nodes=0.0,
        )


def _passes(state: _State, time_s: float) -> _State:
    """Return the state after some time, with arrivals from the wired link at the access point."""
    come = sum(size for left, size in state.wire if left <= time_s)
    wire = tuple((left - time_s, size) for left, size in state.wire if left > time_s)
    return state._replace(ap=state.ap + come, wire=wire)


def _races(w0: int) -> list[_Race]:
    """Compute race probabilities: the old counter, by races lost, against one drawn from CWmin.

    The loser's counter is reduced by the winner's slots plus one: it also counts down at the end of
    AIFS (IEEE 802.11-2020, 10.23.2.4).
    """
    fresh = np.full(w0, 1.0 / w0)
    old, drawn = np.indices((w0, w0))
    counters, races = fresh, []
    for _ in range(_MOST_LOSSES + 1):
        both = np.outer(counters, fresh)
        races.append(
            _Race(
                old_wins=float(both[old < drawn].sum()),
                collision=float(both[old == drawn].sum()),
                idle_slots=float((both * np.minimum(old, drawn)).sum()),
                old_alone_slots=float(counters @ np.arange(w0)),
            )
        )
        loses = old > drawn
        if not both[loses].sum() > 0.0:
            # With a window of one or two slots no node loses so many races; later entries of
            # `races` are never used.
            continue
        left = np.bincount((old - drawn - 1)[loses], weights=both[loses], minlength=w0)
        counters = left / left.sum()
    return races


def _visits_per_s(
    source: Sequence[int], target: Sequence[int], chances: Sequence[float], lasts_s: Values
) -> Values:
    """Return how often per second each state is left in the long run, starting in state 0."""
    from scipy.sparse import csc_matrix
    from scipy.sparse.csgraph import connected_components

    size = len(lasts_s)
    ways = csc_matrix((chances, (target, source)), shape=(size, size))
    count, labels = connected_components(ways, directed=True, connection="strong")
    # The chain ends in a set of states that no transition leaves.
    leaves = np.zeros(count, dtype=bool)
    leaves[labels[source][labels[source] != labels[target]]] = True
    lasting = np.flatnonzero(~leaves)
    come = np.ones(1) if len(lasting) == 1 else _absorbed(ways, labels, lasting)
    visits = np.zeros(size)
    for one, chance in zip(lasting, come, strict=True):
        members = np.flatnonzero(labels == one)
        law = _stationary(ways[members][:, members])
        if not np.isfinite(law).all() or law.min() < -1e-9 or abs(law.sum() - 1.0) > 1e-6:
            raise ConvergenceError(phrase("models.solver.no_stationary_law"))
        visits[members] = chance * law / (law @ lasts_s[members])
    return visits


def _stationary(ways: csc_matrix) -> Values:
    """Return the stationary distribution of states that all reach each other."""
    from scipy.sparse import identity
    from scipy.sparse.linalg import spsolve

    size = ways.shape[0]
    if size == 1:
        return np.ones(1)
    balance = (ways - identity(size)).tolil()
    # One balance equation is redundant; the probabilities add up to 1 instead.
    balance[0] = 1.0
    right = np.zeros(size)
    right[0] = 1.0
    return np.asarray(spsolve(balance.tocsc(), right))


def _absorbed(ways: csc_matrix, labels: Labels, lasting: Labels) -> Values:
    """Return the probability of ending in each recurrent set of states, from state 0."""
    from scipy.sparse import identity
    from scipy.sparse.linalg import spsolve

    passing = np.flatnonzero(~np.isin(labels, lasting))
    if not len(passing):
        return np.asarray(lasting == labels[0], dtype=float)
    among = ways[passing][:, passing]
    begin = (passing == 0).astype(float)
    visits = np.atleast_1d(spsolve((identity(len(passing)) - among).tocsc(), begin))
    return np.array([(ways[labels == one][:, passing] @ visits).sum() for one in lasting])
