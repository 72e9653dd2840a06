"""Model paper B: how many stations should contend at once so that TCP ACKs are fastest.

The model has m stations that each transmit once in the next w slots, the three kinds of slot and
their durations, and the law by which an access point sizes its bursts. Windows never double, and
there are no queues. Of TCP there is only the number of TCP ACKs that a burst causes.

R. Bruno, M. Conti, E. Gregori, "Throughput evaluation and enhancement of TCP clients in Wi-Fi hot
spots", WONS 2004. Its symbols: w slots (w = 32 is the standard's aCWmin + 1), m stations that have
a TCP ACK to send, N_s, N_c, N_i slots with one, several and no station, T_s, T_c and t_slot their
durations. Ids (B1, ...) are those of the errata.

- `attempt_distribution`: (2), who transmits in the next slot
- `lemma_1`: (3) to (7) by the matrix iteration; `expected_slots`: the same in closed form
- `success_rate`: (1); `best_stations`: m*; `best_share`: m*/w in a wide window
- `maximum_goodput`, `theoretical_limit`: the 7.28 Mb/s of section 2
- `burst_size`: the burst law (8)

>>> best_stations([8, 16, 32, 64, 128], Overheads.hot_spot())  # w/4, for these overheads
array([ 2.,  4.,  8., 16., 32.])
>>> slots = expected_slots(32, 8)
>>> print(f"{slots.success:.2f} {slots.collision:.2f} {slots.idle:.2f}")
6.41 0.77 24.82
"""

import math
from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
from airtcp.models import checks
from airtcp.models.airtime import HOT_SPOT, Phy, Rate, collision_time_ns, exchange_time_ns
from airtcp.models.checks import Values
from airtcp.models.roots import increasing_root
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

__all__ = [
    "Limit",
    "Overheads",
    "Slots",
    "attempt_distribution",
    "best_share",
    "best_stations",
    "burst_size",
    "expected_slots",
    "lemma_1",
    "maximum_goodput",
    "success_rate",
    "theoretical_limit",
]

_MOST_STATIONS = 2048
"""Lemma 1 holds 8 m^2 bytes; w = m = 1024 takes a second, m = 2048 three."""

_MOST_ROWS = 8192
_MOST_SLOTS = 2**20

_NEGLIGIBLE = 1e-20

_SHARE_SERIES: Final = [(k - 1) / math.factorial(k) for k in range(32, 1, -1)]
"""1 - (1-a) e^a = a^2 sum (k-1)/k! a^(k-2), whose terms all have one sign; up to a = 2."""

_TCP_ACK_BITS = 320
"""The 40-byte packets that the stations send (section 3.1, footnote 6)."""


@dataclass(frozen=True, slots=True)
class Overheads:
    """The durations of the three kinds of slot, in seconds: t_slot, T_s and T_c.

    T_s and T_c include the waits after the frame. A collision lasts at least a slot.

    Raises `ValueError` with the name of an invalid field.
    """

    slot_s: float
    success_s: float
    collision_s: float

    def __post_init__(self) -> None:
        checks.scalar("slot_s", self.slot_s, above=0.0)
        checks.scalar("success_s", self.success_s, above=0.0)
        checks.scalar("collision_s", self.collision_s, at_least=self.slot_s)

    @classmethod
    def from_phy(
        cls,
        phy: Phy,
        *,
        msdu_bits: int = _TCP_ACK_BITS,
        collision: Literal["as-success", "difs", "eifs"] = "as-success",
        data_rate: Rate | None = None,
        control_rate: Rate | None = None,
    ) -> Self:
        """Derive them from a PHY: stations send MSDUs of `msdu_bits` bits without RTS/CTS.

        T_s is the exchange and DIFS. The paper does not define T_c (B5). It is "as-success", T_s
        itself (the frame, and an EIFS based on an ACK at the control rate); the frame and "difs";
        or the frame and the PHY's "eifs".

        Raises `ValueError` like `airtcp.models.airtime`.

        >>> Overheads.from_phy(HOT_SPOT, collision="difs")
        Overheads(slot_s=2e-05, success_s=0.000553819, collision_s=0.000295819)
        """
        checks.choice("collision", collision, ("as-success", "difs", "eifs"))
        rates = {"data_rate": data_rate, "control_rate": control_rate}
        success = int(exchange_time_ns(phy, msdu_bits, rts=False, **rates)) + phy.difs_ns
        frame = int(collision_time_ns(phy, msdu_bits, rts=False, **rates))
        lasts = {
            "as-success": success,
            "difs": frame + phy.difs_ns,
            "eifs": frame + phy.eifs_ns,
        }
        return cls(phy.slot_time_ns / 1e9, success / 1e9, lasts[collision] / 1e9)

    @classmethod
    def hot_spot(cls, *, collision: Literal["as-success", "difs", "eifs"] = "as-success") -> Self:
        """Return those of 802.11b: 40-byte packets, 34-byte MAC header, MAC ACK at 2 Mb/s (B5).

        With T_c = T_s, the default, m* = w/4 for w = 8 to 128, and within 2 % of it beyond.

        >>> Overheads.hot_spot(collision="eifs")
        Overheads(slot_s=2e-05, success_s=0.000553819, collision_s=0.000609819)
        """
        return cls.from_phy(HOT_SPOT, collision=collision)


@dataclass(frozen=True, slots=True)
class Slots:
    """Mean numbers of the `w` slots, with `m` stations: `idle` N_i, `success` N_s, `collision` N_c.

    The three add up to w.
    """

    w: Values
    m: Values
    idle: Values
    success: Values
    collision: Values


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit: `goodput_bps` of TCP payload, its `utilization`, and `cycle_s` per segment.

    `utilization` is the goodput over the data rate.
    """

    goodput_bps: float
    utilization: float
    cycle_s: float


def attempt_distribution(w: int, m: int) -> Values:
    """Return (2): the probabilities that k = 0 .. m of `m` stations use the first of `w` slots.

    Each of them transmits in one of the w slots, p_w = 1/w. Element 0 is P_i (2c), element 1 P_s
    (2a) with exponent m - 1 (B1), and element k >= 2 P_c(w, m, k) (2b). They add up to one.

    Raises `ValueError` unless w is whole, >= 1 and <= 2^20, and m whole, >= 0 and <= 2048.

    >>> attempt_distribution(2, 3)
    array([0.125, 0.375, 0.375, 0.125])
    """
    slots, stations = _whole("w", w, 1, _MOST_SLOTS), _whole("m", m, 0, _MOST_STATIONS)
    chance = _attempts(slots, _log_ways(stations)[-1:], np.array([float(stations)]))
    return np.asarray(chance[0])


def lemma_1(w: int, m: int) -> Slots:
    """Apply Lemma 1 by the matrix iteration (4) to (7): `m` stations transmit once in `w` slots.

    Return the last row of the three matrices: arrays over j = 0 .. m stations. Row i follows from
    row i - 1 with p = 1/i, the *remaining* window (B2), and the sum in (4) runs to j (B3).
    Collisions of more stations, with a probability below 1e-20, are ignored.

    Raises `ValueError` unless w is whole, >= 1 and <= 8192, and m whole, >= 0 and <= 2048.

    >>> slots = lemma_1(2, 2)
    >>> slots.success, slots.collision, slots.idle
    (array([0., 1., 1.]), array([0. , 0. , 0.5]), array([2. , 1. , 0.5]))
    """
    last, stations = _whole("w", w, 1, _MOST_ROWS), _whole("m", m, 0, _MOST_STATIONS)
    j = np.arange(stations + 1.0)
    # Row i = 1 of (5), (6), (7): the remaining stations transmit in the one remaining slot.
    success = np.where(j == 1.0, 1.0, 0.0)
    collision = np.where(j > 1.0, 1.0, 0.0)
    idle = np.where(j == 0.0, 1.0, 0.0)
    ways = _log_ways(stations)
    for i in range(2, last + 1):
        likely = np.flatnonzero(_attempts(i, ways[-1:], j[-1:])[0] > _NEGLIGIBLE)
        chance = _attempts(i, ways[:, : max(int(likely[-1]), 1) + 1], j)
        success = chance[:, 1:2].sum(axis=1) + _after(chance, success)
        collision = np.asarray(chance[:, 2:].sum(axis=1) + _after(chance, collision))
        idle = chance[:, 0] + _after(chance, idle)
    return Slots(
        w=np.full(j.shape, float(last)), m=j, idle=idle, success=success, collision=collision
    )


def expected_slots(w: ArrayLike, m: ArrayLike) -> Slots:
    """Return the sums of Lemma 1 in closed form: N_s = m (1-1/w)^(m-1), N_i = w (1-1/w)^m.

    `m` stations choose among `w` slots independently and uniformly, so each slot has a binomial
    number of them; N_c is w times the probability of two or more.

    Raises `ValueError` unless w is whole, >= 1 and <= 2^20, and m whole and >= 0.

    >>> expected_slots(32, [1, 8, 32]).collision.round(2)
    array([0.  , 0.77, 8.45])
    """
    slots = checks.real("w", w, at_least=1.0, at_most=_MOST_SLOTS, whole=True)
    stations = checks.real("m", m, at_least=0.0, whole=True)
    slots, stations = checks.broadcast(w=slots, m=stations)
    return Slots(w=slots[()], m=stations[()], **_binomial_slots(slots, stations))


def success_rate(w: ArrayLike, m: ArrayLike, overheads: Overheads) -> Values:
    """Return (1): successes per second in w slots, N_s / (N_i t + N_s T_s + N_c T_c).

    Raises `ValueError` like `expected_slots`.

    >>> success_rate(32, [1, 8, 16], Overheads.hot_spot()).round(0)
    array([ 852., 1433., 1335.])
    """
    slots = expected_slots(w, m)
    lasts = (
        slots.idle * overheads.slot_s
        + slots.success * overheads.success_s
        + slots.collision * overheads.collision_s
    )
    return np.asarray(slots.success / lasts)[()]


def best_stations(w: ArrayLike, overheads: Overheads) -> Values:
    """Return m*, the number of stations with the largest success rate in `w` slots.

    The smallest one wins a tie. It does not depend on T_s (B5): it minimizes (N_i t_slot + N_c T_c)
    / N_s. All m up to w are compared; with T_c >= t_slot no larger m is better.

    Raises `ValueError` unless w is whole, >= 1 and <= 2^20.

    >>> best_stations(32, Overheads.hot_spot(collision="difs"))
    np.float64(10.0)
    """
    windows = checks.real("w", w, at_least=1.0, at_most=_MOST_SLOTS, whole=True)
    best = np.empty(windows.shape)
    for window in checks.different(windows):
        stations = np.arange(1.0, window + 1.0)
        slots = _binomial_slots(np.asarray(window), stations)
        lost = slots["idle"] * overheads.slot_s + slots["collision"] * overheads.collision_s
        with np.errstate(divide="ignore"):
            lost = lost / slots["success"]
        # With T_c = t_slot, w - 1 and w stations are equally good, except for rounding.
        best[windows == window] = stations[np.argmax(lost <= lost.min() * (1.0 + 1e-12))]
    return best[()]


def best_share(overheads: Overheads) -> float:
    """Return m*/w for large w: the root a of (T_c/t_slot) (1 - (1-a) e^a) = 1.

    The slots then have a Poisson number of stations with mean a = m/w, and the derivative of the
    quotient of `best_stations` vanishes there. So m* = w/4 is not a law of the protocol; it
    corresponds to T_c/t_slot = 27.04 (540.8 us for slots of 20 us), which is close to T_c = T_s of
    the paper (B5).

    Raises `ConvergenceError`.

    >>> round(best_share(Overheads(20e-6, 1e-3, 540.8e-6)), 5)
    0.25
    >>> round(best_share(Overheads.hot_spot()), 4)
    0.2473
    """
    ratio = overheads.collision_s / overheads.slot_s

    def excess(share: Values) -> Values:
        return ratio * share**2 * np.polyval(_SHARE_SERIES, share) - 1.0

    # The root is at most 1; rounding may return slightly more.
    root = increasing_root(excess, np.zeros(()), np.full((), 2.0), what="share of a wide window")
    return min(float(root), 1.0)


def maximum_goodput(
    payload_bits: ArrayLike,
    data_s: ArrayLike,
    tcp_ack_s: ArrayLike = 0.0,
    acks_per_segment: ArrayLike = 0.0,
) -> Values:
    """Return the goodput without waits: payload / (data + share of a TCP ACK), in bit/s.

    `data_s` and `tcp_ack_s` are exchanges including the DIFS before them, without backoff. The
    paper neglects TCP ACKs (`acks_per_segment` 0); delayed ACK sends 1/2 per segment, standard TCP
    1.

    Raises `ValueError` with the name of an argument that is negative, not finite or (`data_s`)
    zero.

    >>> float(maximum_goodput(12000, 1650e-6).round(-4))
    7270000.0
    """
    payload = checks.real("payload_bits", payload_bits, at_least=0.0)
    data = checks.real("data_s", data_s, above=0.0)
    tcp_ack = checks.real("tcp_ack_s", tcp_ack_s, at_least=0.0)
    share = checks.real("acks_per_segment", acks_per_segment, at_least=0.0, at_most=1.0)
    payload, data, tcp_ack, share = checks.broadcast(
        payload_bits=payload, data_s=data, tcp_ack_s=tcp_ack, acks_per_segment=share
    )
    return np.asarray(payload / (data + share * tcp_ack))[()]


def theoretical_limit(
    phy: Phy = HOT_SPOT,
    *,
    payload_bits: int = 12_000,
    header_bits: int = _TCP_ACK_BITS,
    acks_per_segment: float = 0.0,
    data_rate: Rate | None = None,
    control_rate: Rate | None = None,
) -> Limit:
    """Return the theoretical maximum throughput of section 2 on a PHY, without RTS/CTS.

    7.28 Mb/s and 0.66 of 11 Mb/s in the paper. B6: basic access, no backoff, 12000 bits of TCP
    payload with 40 bytes of headers, MAC ACK at 2 Mb/s; 7.30 without propagation delay, 7.28 with 2
    us per frame. `acks_per_segment` as in `maximum_goodput`: what TCP itself could reach.

    Raises `ValueError` like `maximum_goodput` and `airtcp.models.airtime`.

    >>> round(theoretical_limit().utilization, 2)
    0.66
    >>> round(theoretical_limit(acks_per_segment=0.5).goodput_bps / 1e6, 2)  # delayed ACK
    6.24
    """
    checks.scalar("payload_bits", payload_bits, above=0.0, whole=True)
    checks.scalar("header_bits", header_bits, at_least=0.0, whole=True)
    share = checks.scalar("acks_per_segment", acks_per_segment, at_least=0.0, at_most=1.0)
    sizes = np.array([payload_bits + header_bits, header_bits])
    exchanges = exchange_time_ns(
        phy, sizes, rts=False, data_rate=data_rate, control_rate=control_rate
    )
    data, tcp_ack = ((exchanges + phy.difs_ns) / 1e9).tolist()
    goodput = float(maximum_goodput(payload_bits, data, tcp_ack, share))
    return Limit(
        goodput_bps=goodput,
        utilization=goodput / (data_rate or phy.data_rate).bps,
        cycle_s=data + share * tcp_ack,
    )


def burst_size(
    burst: ArrayLike,
    successes: ArrayLike,
    collisions: ArrayLike,
    target: ArrayLike,
    *,
    floor: Literal["one-ack", "zero", "none"] = "one-ack",
    collided: Literal["twice", "once"] = "twice",
) -> Values:
    """Return l_(i+1) of (8): how many TCP packets the access point sends next.

    `burst` l_i is the number of packets in the last burst, floor(l_i/2) that of the stations that
    it triggered; `successes` ns_i and `collisions` nc_i are the slots of either kind since;
    `target` is m*.

    The paper gives no lower limit, and the printed law can be zero or negative (B7). `floor`:
    "one-ack", at least two packets, which cause one TCP ACK under delayed ACK, so the cycle
    continues; "zero"; or "none", the printed value. `collided` "twice" is the printed law: stations
    that collided are among the floor(l_i/2) - ns_i without a success, and their nc_i slots are
    subtracted as well; "once" subtracts nc_i only if all triggered stations have transmitted.

    Raises `ValueError` unless all numbers are whole and >= 0 and `target` >= 1.

    >>> burst_size([16, 16, 16], [8, 6, 2], [0, 1, 3], 8)
    array([16., 10.,  2.])
    >>> burst_size(16, 2, 3, 8, floor="none")
    np.float64(-2.0)
    """
    checks.choice("floor", floor, ("one-ack", "zero", "none"))
    checks.choice("collided", collided, ("twice", "once"))
    packets = checks.real("burst", burst, at_least=0.0, whole=True)
    done = checks.real("successes", successes, at_least=0.0, whole=True)
    lost = checks.real("collisions", collisions, at_least=0.0, whole=True)
    wanted = checks.real("target", target, at_least=1.0, whole=True)
    packets, done, lost, wanted = checks.broadcast(
        burst=packets, successes=done, collisions=lost, target=wanted
    )
    left = np.maximum(np.floor(packets / 2.0) - done, 0.0)
    counted = lost if collided == "twice" else np.where(left > 0.0, 0.0, lost)
    least = {"one-ack": 2.0, "zero": 0.0, "none": -np.inf}[floor]
    return np.maximum(2.0 * (wanted - left - counted), least)[()]


def _binomial_slots(slots: Values, stations: Values) -> dict[str, Values]:
    """Return N_i, N_s and N_c; N_c as a binomial tail, which keeps its precision if small."""
    return {
        "idle": np.asarray(slots * (1.0 - 1.0 / slots) ** stations)[()],
        "success": np.asarray(stations * (1.0 - 1.0 / slots) ** np.maximum(stations - 1.0, 0.0))[
            ()
        ],
        "collision": np.asarray(slots * _two_or_more(slots, stations))[()],
    }


#: Terms of a sum whose k-th is less than 0.1^k / k!: further ones change no digit.
_FEW_TERMS = 12


def _two_or_more(slots: Values, stations: Values) -> Values:
    """Return the probability that two or more of `stations` choose a given one of `slots`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = 1.0 / (slots - 1.0)
        nobody = stations * np.log1p(-1.0 / slots)
        likely = -np.expm1(nobody + np.log1p(stations * odds))
        # A small probability would be a difference of nearly equal numbers: sum two, three and so
        # on.
        ratio = np.ones_like(odds * stations)
        total = ratio.copy()
        for k in range(2, _FEW_TERMS):
            ratio = ratio * (stations - k) / (k + 1.0) * odds
            total = total + ratio
        unlikely = stations * (stations - 1.0) / 2.0 * odds**2 * np.exp(nobody) * total
        chance = np.where(stations * odds < 0.1, unlikely, likely)
    # A single station never collides, whatever the rounding. With one slot all choose it.
    return np.where(stations < 2.0, 0.0, np.where(slots > 1.0, chance, 1.0))


def _log_ways(stations: int) -> Values:
    """Return the logarithm of C(j, k) for j and k = 0 .. `stations`, -inf for k > j."""
    j, k = np.ogrid[0.0 : stations + 1.0, 0.0 : stations + 1.0]
    with np.errstate(divide="ignore"):
        factors = np.log(np.maximum(j - k + 1.0, 0.0)) - np.log(np.maximum(k, 1.0))
    factors[:, 0] = 0.0
    return np.asarray(np.cumsum(factors, axis=1))


def _attempts(slots: int, log_ways: Values, stations: Values) -> Values:
    """Return (2) per number of `stations` (rows) and k: C(j,k) p^k (1-p)^(j-k), p = 1/w."""
    from scipy.special import xlog1py

    k = np.arange(float(log_ways.shape[1]))
    others = np.maximum(stations[:, np.newaxis] - k, 0.0)
    return np.asarray(np.exp(log_ways - k * np.log(slots) + xlog1py(others, -1.0 / slots)))


def _after(chance: Values, rest: Values) -> Values:
    """Return sums over k of `chance`[j, k] `rest`[j-k]: the mean over the remaining slots."""
    most = chance.shape[1]
    padded = np.concatenate([np.zeros(most - 1), rest])
    return np.asarray(np.einsum("jk,jk->j", chance, sliding_window_view(padded, most)[:, ::-1]))


def _whole(name: str, value: int, least: int, most: int) -> int:
    return int(checks.scalar(name, value, at_least=least, at_most=most, whole=True))
