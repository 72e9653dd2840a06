"""Model downloads through an access point with paper B's bursts: goodput and collisions.

The model has cycles of a burst and w virtual slots (paper B, section 3.2), the DCF backoff of
stations that have TCP ACKs to send, and the law (8) for the next burst. It has no losses, and a
retry limit only in the mean backoff. The number of stations with a TCP ACK is a mean.

The paper leaves "a more precise characterization" of the stations to further work: this form is
airtcp's own. A simple cycle of m* stations that each transmit once is 6 % too low with one station,
and 3 to 6 % too high from ten on: stations that collided stay, with larger windows, and (8) reacts
to that.

>>> from airtcp.models.airtime import HOT_SPOT
>>> said = goodput([1, 5, 20], Exchanges.from_phy(HOT_SPOT, payload_bits=12_000))
>>> (said.goodput_bps / 1e6).round(2), said.contending.round(1)
(array([5.7 , 5.88, 5.86]), array([1. , 5. , 7.1]))
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from airtcp.models import checks
from airtcp.models.airtime import Phy, Rate, collision_time_ns, exchange_time_ns
from airtcp.models.checks import Values
from airtcp.models.roots import increasing_root
from numpy.typing import ArrayLike

from airtcp_papers.bruno.model import burst_size

__all__ = ["Cycle", "Exchanges", "Observed", "bursts_of_law", "goodput", "observed"]

_MOST = 2.0**20
_PLAYED = 64
"""Simulate (8) up to this number of slots and stations; beyond it, fluctuations are small."""

_MOST_STATIONS = 1e6
_TAIL = 1e-15
"""Outcomes of a window that are less likely are left out."""

_ANEW = 1e-5
"""Once in this number of windows: too rare to change a displayed digit."""


@dataclass(frozen=True, slots=True)
class Exchanges:
    """The durations in a cycle, in seconds, including the wait after each.

    `slot_s` is an idle slot; `data_s` and `tcp_ack_s` are exchanges of a segment and of a TCP ACK;
    `collision_s` is a collision of stations; `data_collision_s` one of the access point with
    stations; `payload_bits` is the payload of a segment.

    Raises `ValueError` with the name of an invalid field.
    """

    slot_s: float
    data_s: float
    tcp_ack_s: float
    collision_s: float
    data_collision_s: float
    payload_bits: float

    def __post_init__(self) -> None:
        for name in ("slot_s", "data_s", "tcp_ack_s", "payload_bits"):
            checks.scalar(name, getattr(self, name), above=0.0)
        for name in ("collision_s", "data_collision_s"):
            checks.scalar(name, getattr(self, name), at_least=0.0)

    @classmethod
    def from_phy(
        cls,
        phy: Phy,
        *,
        payload_bits: int,
        header_bits: int = 320,
        after_collision: Literal["difs", "eifs"] = "eifs",
        rts: tuple[bool, bool] = (False, False),
        data_rate: Rate | None = None,
        control_rate: Rate | None = None,
    ) -> Self:
        """Derive them from a PHY; `rts`: whether an RTS precedes a segment and a TCP ACK.

        Raises `ValueError` like `airtcp.models.airtime`.

        >>> from airtcp.models.airtime import HOT_SPOT
        >>> Exchanges.from_phy(HOT_SPOT, payload_bits=12_000).collision_s
        0.000609819
        """
        checks.choice("after_collision", after_collision, ("difs", "eifs"))
        rates = {"data_rate": data_rate, "control_rate": control_rate}
        wait = {"difs": phy.difs_ns, "eifs": phy.eifs_ns}[after_collision]
        bits = (payload_bits + header_bits, header_bits)
        lasts, lost = [], []
        for size, before in zip(bits, rts, strict=True):
            exchange = int(exchange_time_ns(phy, size, rts=before, **rates))
            lasts.append((exchange + phy.difs_ns) / 1e9)
            lost.append((int(collision_time_ns(phy, size, rts=before, **rates)) + wait) / 1e9)
        return cls(
            phy.slot_time_ns / 1e9, lasts[0], lasts[1], lost[1], lost[0], float(payload_bits)
        )


@dataclass(frozen=True, slots=True)
class Observed:
    """The mean slots that the access point observes in its window, and a station's collisions.

    `success`, `collision` and `idle` are the probabilities of the kinds of virtual slot; `access`
    is the probability that a contending station transmits after an idle slot, `p` that its
    transmission collides.
    """

    success: Values
    collision: Values
    idle: Values
    access: Values
    p: Values


@dataclass(frozen=True, slots=True)
class Cycle:
    """A mean cycle of the access point; see `goodput`. Numbers are per cycle.

    `contending` is the mean number of stations that have a TCP ACK to send; `packets` is the burst;
    `successes`, `collisions` and `idle` are the slots of the window; `lasts_s` is the whole cycle.
    `p_ap` and `p_stations` are the collision probabilities per attempt.
    """

    goodput_bps: Values
    contending: Values
    packets: Values
    successes: Values
    collisions: Values
    idle: Values
    lasts_s: Values
    p_ap: Values
    p_stations: Values


def observed(
    contending: ArrayLike, *, cw_min: int = 31, cw_max: int = 1023, attempts: int = 7
) -> Observed:
    """Return the mean virtual slots that `contending` stations produce, without the access point.

    A virtual slot is an idle slot or a transmission. Counters decrease only in idle slots: a
    station with a frozen counter waits for an idle slot after each transmission, unlike in
    Bianchi's chain. It therefore transmits with `access` = attempts of a frame over the idle slots
    waited for them, both summed over stages of geometric retries (`attempts` at most), and has p =
    1 - (1 - access)^(B - 1).

    Raises `ValueError` unless contending >= 1, 1 <= cw_min <= cw_max and attempts >= 1 and whole,
    and `ConvergenceError`.

    >>> said = observed([1, 5])
    >>> said.p.round(3), (32 * said.success).round(2), (32 * said.collision).round(2)
    (array([0.   , 0.184]), array([1.94, 5.29]), array([0.  , 0.58]))
    """
    stations = checks.real("contending", contending, at_least=1.0, at_most=_MOST_STATIONS)
    first = checks.scalar("cw_min", cw_min, at_least=1.0, whole=True)
    last = checks.scalar("cw_max", cw_max, at_least=first, whole=True)
    tries = int(checks.scalar("attempts", attempts, at_least=1.0, at_most=1000.0, whole=True))
    stage = np.arange(tries)
    # From here on no window grows, whatever the exponent.
    doublings = np.minimum(stage, 64)
    waits = (np.minimum((first + 1.0) * 2.0**doublings, last + 1.0) - 1.0) / 2.0

    def access(p: Values) -> Values:
        chance = p[..., np.newaxis] ** stage
        return np.asarray(np.minimum(chance.sum(axis=-1) / (chance * waits).sum(axis=-1), 1.0))

    def excess(p: Values) -> Values:
        return np.asarray(p - (1.0 - (1.0 - access(p)) ** (stations - 1.0)))

    nothing = np.zeros(stations.shape)
    p = increasing_root(excess, nothing, nothing + 1.0, what="collisions of stations")
    tau = access(p)
    busy = 1.0 - (1.0 - tau) ** stations
    idle = 1.0 / (1.0 + busy)
    success = idle * stations * tau * (1.0 - tau) ** (stations - 1.0)
    collision = np.maximum(1.0 - idle - success, 0.0)
    return Observed(success[()], collision[()], idle[()], tau[()], p[()])


def bursts_of_law(success: float, collision: float, *, window_slots: int, target: int) -> float:
    """Return the mean burst, in packets, that (8) yields for independent, identical slots.

    Each of the `window_slots` slots of a window is a success or a collision with the given
    probabilities; bursts are a Markov chain, whose stationary mean is returned. The law has at
    least two packets and subtracts collided stations twice, as in `model.burst_size`.
    Above 64 slots or stations mean numbers are used in (8), which gives up to 6 % more.

    Raises `ValueError` with the name of an invalid argument.

    >>> round(bursts_of_law(0.0, 0.0, window_slots=32, target=8), 2)  # nobody answers: 14, 2, 14
    8.0
    >>> round(bursts_of_law(0.2, 0.03, window_slots=32, target=8), 2)
    12.16
    """
    slots = int(
        checks.scalar("window_slots", window_slots, at_least=1.0, at_most=_MOST, whole=True)
    )
    wanted = int(checks.scalar("target", target, at_least=1.0, at_most=_MOST, whole=True))
    checks.scalar("success", success, at_least=0.0, at_most=1.0)
    checks.scalar("collision", collision, at_least=0.0, at_most=1.0)
    if max(slots, wanted) > _PLAYED:
        left = wanted - slots * collision
        return 2.0 * max(min(left, (left + slots * success) / 2.0), 1.0)
    done, lost, chance = _outcomes(slots, success, collision)
    size = np.arange(1, wanted + 1)
    step = np.zeros((wanted, wanted))
    following = burst_size(2.0 * size[:, np.newaxis], done, lost, wanted)
    half = np.asarray(following, dtype=np.int64) // 2 - 1
    for row, to in enumerate(half):
        np.add.at(step[row], to, chance)
    # The long run from 2 m* packets on, from which few outcomes may reach several sets of states.
    # The chain therefore restarts there now and then.
    equations = np.eye(wanted) - (1.0 - _ANEW) * step.T
    found = np.linalg.solve(equations, _ANEW * np.eye(wanted)[-1])
    return float(2.0 * (found @ size))


def goodput(
    stations: ArrayLike,
    exchanges: Exchanges,
    *,
    window_slots: int = 32,
    target: int = 8,
    acks_per_segment: float = 0.5,
    cw_min: int = 31,
    cw_max: int = 1023,
    attempts: int = 7,
) -> Cycle:
    """Return the goodput of endless downloads of `stations` stations, and a mean cycle.

    As many TCP ACKs are sent as are caused: successes = `acks_per_segment` packets. The burst of
    law (8) falls with the number of contending stations, while successes grow with it; the solution
    is where both agree. If all `stations` contend and (8) would send more, the TCP windows limit
    the access point, and ACKs determine the burst. The access point collides if a station's backoff
    ends together with its window of slots, and then retransmits.

    Raises `ValueError` like `observed` and `bursts_of_law`, unless stations >= 1 and whole and
    acks_per_segment in (0, 1], and `ConvergenceError`.

    >>> from airtcp.models.airtime import HOT_SPOT
    >>> said = goodput(10, Exchanges.from_phy(HOT_SPOT, payload_bits=12_000))
    >>> round(float(said.packets), 1), round(float(said.p_stations), 2)
    (11.9, 0.27)
    """
    counts = checks.real("stations", stations, at_least=1.0, at_most=_MOST_STATIONS, whole=True)
    share = checks.scalar("acks_per_segment", acks_per_segment, above=0.0, at_most=1.0)
    # Check these arguments even if the law is not needed.
    bursts_of_law(0.0, 0.0, window_slots=window_slots, target=target)
    backoff = {"cw_min": cw_min, "cw_max": cw_max, "attempts": attempts}

    def lacking(contending: Values) -> Values:
        """Return successes minus those that the bursts cause."""
        seen = observed(contending, **backoff)
        asked = [
            bursts_of_law(float(s), float(c), window_slots=window_slots, target=target)
            for s, c in zip(np.ravel(seen.success), np.ravel(seen.collision), strict=True)
        ]
        caused = share * np.reshape(asked, np.shape(contending))
        return np.asarray(window_slots * seen.success - caused)

    contending = np.empty(counts.shape)
    for count in checks.different(counts):
        contending[counts == count] = _contending(count, lacking)
    seen = observed(contending, **backoff)
    successes, collisions, idle = (
        window_slots * part for part in (seen.success, seen.collision, seen.idle)
    )
    packets = successes / share
    # Only the first packet of a burst can collide with stations: the others follow after DIFS.
    meets = 1.0 - (1.0 - seen.access) ** contending
    met = contending * seen.access
    lasts = (
        packets * exchanges.data_s
        + successes * exchanges.tcp_ack_s
        + collisions * exchanges.collision_s
        + idle * exchanges.slot_s
        + meets * exchanges.data_collision_s
    )
    sent = idle * contending * seen.access
    return Cycle(
        goodput_bps=np.asarray(packets * exchanges.payload_bits / lasts)[()],
        contending=contending[()],
        packets=packets,
        successes=successes,
        collisions=collisions,
        idle=idle,
        lasts_s=lasts,
        p_ap=meets / (packets + meets),
        p_stations=(sent * seen.p + met) / (sent + met),
    )


def _contending(count: float, lacking: Callable[[Values], Values]) -> float:
    """Return the smallest number of stations for which bursts cause as many ACKs as are sent."""
    low = high = 1.0
    while high < count:
        low, high = high, min(2.0 * high, count)
        if float(lacking(np.asarray(high))) > 0.0:
            ends = (np.full((), low), np.full((), high))
            return float(increasing_root(lacking, *ends, what="stations that contend"))
    return float(count)


def _outcomes(slots: int, success: float, collision: float) -> tuple[Values, Values, Values]:
    """Return the numbers of successes and collisions in a window, with probabilities."""
    from scipy.special import gammaln, xlogy

    done, lost = np.indices((slots + 1, slots + 1)).reshape(2, -1)
    possible = done + lost <= slots
    done, lost = done[possible], lost[possible]
    rest = slots - done - lost
    ways = gammaln(slots + 1) - gammaln(done + 1) - gammaln(lost + 1) - gammaln(rest + 1)
    empty = max(1.0 - success - collision, 0.0)
    log = ways + xlogy(done, success) + xlogy(lost, collision) + xlogy(rest, empty)
    chance = np.exp(log)
    likely = chance > _TAIL
    kept = chance[likely]
    return done[likely].astype(float), lost[likely].astype(float), kept / kept.sum()
