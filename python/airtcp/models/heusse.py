"""Model the performance anomaly: one slow host lowers the throughput of all hosts to its own.

All hosts always have a frame, each at its own rate, and the DCF gives them equally many
transmissions. Windows do not double; there are no queues and no errors. Of TCP there is only our
form `tcp_downloads`, in which every d segments cause a TCP ACK.

M. Heusse, F. Rousseau, G. Berger-Sabbatel, A. Duda, "Performance anomaly of 802.11b", IEEE INFOCOM
2003. Its symbols: N hosts, s_d bits of a frame, R and r the rates of fast and slow hosts, T_f and
T_s the durations of their frames including the mean wait t_cont, P_c collisions per delivered
frame, t_jam the duration of a collision, U the time share of a host, X its throughput. CWmin is the
standard's (31).

The published wait, SLOT (1 + P_c)/(2N) CWmin/2, gives a single host half of the standard's mean
backoff; `backoff` "whole" is twice that (ours).

>>> fast, slow = published_exchange_s(11e6), published_exchange_s(1e6)
>>> hosts = anomaly([fast, slow], [[1, 1], [2, 1], [4, 1]], 12272, cw_min=31, slot_s=20e-6)
>>> (hosts.host_throughput_bps / 1e6).round(2)  # of each fast host, of the slow one
array([[0.81, 0.81],
       [0.7 , 0.7 ],
       [0.55, 0.55]])
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from airtcp.models import checks
from airtcp.models.airtime import Phy, Rate, exchange_time_ns
from airtcp.models.checks import Values
from airtcp.phrases import phrase

__all__ = [
    "Anomaly",
    "TcpDownloads",
    "anomaly",
    "collision_probability",
    "contention_time_s",
    "frame_exchange_s",
    "phy_exchange_s",
    "published_exchange_s",
    "tcp_downloads",
]

Backoff: TypeAlias = Literal["published", "whole"]

_MOST_HOSTS = 1e6


@dataclass(frozen=True, slots=True)
class Anomaly:
    """The shares of hosts of several classes; the classes are the last axis.

    Per class: `host_throughput_bps` (X) of each host, and `host_share` (U), the fraction of time
    for its frames including their waits. In total: `n` hosts, `p_c`, `contention_s` (t_cont),
    `collision_s` (t_jam), `cycle_s` in which every host delivers one frame, `throughput_bps` of all
    hosts, and `collision_share`, the fraction of time for collisions. The shares of all hosts and
    of collisions add up to one.
    """

    host_throughput_bps: Values
    host_share: Values
    n: Values
    p_c: Values
    contention_s: Values
    collision_s: Values
    cycle_s: Values
    throughput_bps: Values
    collision_share: Values


@dataclass(frozen=True, slots=True)
class TcpDownloads:
    """Endless TCP downloads: `goodput_bps` of all connections, `flow_goodput_bps` of each.

    `contenders` (N) is the number of contending nodes; `p_c`, `contention_s` and `collision_s` are
    at that N; `cycle_s` is the time of a segment including its share of a TCP ACK.
    """

    n_c: Values
    goodput_bps: Values
    flow_goodput_bps: Values
    contenders: Values
    p_c: Values
    contention_s: Values
    collision_s: Values
    cycle_s: Values


def collision_probability(n: ArrayLike, cw_min: ArrayLike) -> Values:
    """Return P_c(N) = 1 - (1 - 1/CWmin)^(N-1): one of the N - 1 others drew the same slot.

    `n` need not be whole; `cw_min` is the standard's aCWmin (31 for 802.11b).

    Raises `ValueError` unless 1 <= n <= 1e6 and cw_min >= 1.

    >>> collision_probability([1, 2, 5], 31).round(4)
    array([0.    , 0.0323, 0.1229])
    """
    hosts, window = _contenders(n, cw_min)
    return _collision(hosts, window)[()]


def contention_time_s(
    n: ArrayLike, cw_min: ArrayLike, slot_s: float, *, backoff: Backoff = "published"
) -> Values:
    """Return t_cont(N) = SLOT (1 + P_c(N)) / (2N) CWmin/2: the mean wait before a frame.

    The frame is that of any of N hosts. `backoff` "published" is this formula; "whole" is twice
    that (ours), so that a single host waits CWmin/2 slots, the mean of a backoff uniform over 0 ..
    CWmin.

    Raises `ValueError` like `collision_probability`, and unless slot_s > 0.

    >>> (contention_time_s([1, 2], 31, 20e-6) * 1e6).round(1)
    array([155.,  80.])
    >>> (contention_time_s([1, 2], 31, 20e-6, backoff="whole") * 1e6).round(1)
    array([310., 160.])
    """
    hosts, window = _contenders(n, cw_min)
    slot = _slot(slot_s, backoff)
    return (slot * (1.0 + _collision(hosts, window)) / (2.0 * hosts) * window)[()]


def frame_exchange_s(
    frame_bits: ArrayLike,
    rate_bps: ArrayLike,
    *,
    preamble_s: ArrayLike,
    ack_bits: float,
    ack_rate_bps: ArrayLike,
    sifs_s: float,
    difs_s: float,
) -> Values:
    """Return T without t_cont: DIFS + t_pr + s_d/R + SIFS + t_pr + t_ack, in seconds.

    `frame_bits` s_d is the whole MPDU; `preamble_s` t_pr is the PLCP preamble and header, before
    the frame and before the MAC ACK.

    Raises `ValueError` with the name of an argument out of range.

    >>> times = {"preamble_s": 192e-6, "sifs_s": 10e-6, "difs_s": 50e-6}
    >>> round(float(frame_exchange_s(12272, 1e6, ack_bits=112, ack_rate_bps=1e6, **times)), 6)
    0.012828
    """
    bits = checks.real("frame_bits", frame_bits, at_least=0.0)
    rate = checks.real("rate_bps", rate_bps, above=0.0)
    preamble = checks.real("preamble_s", preamble_s, at_least=0.0)
    ack = checks.scalar("ack_bits", ack_bits, at_least=0.0)
    ack_rate = checks.real("ack_rate_bps", ack_rate_bps, above=0.0)
    gaps = checks.scalar("sifs_s", sifs_s, at_least=0.0)
    gaps += checks.scalar("difs_s", difs_s, at_least=0.0)
    bits, rate, preamble, ack_rate = checks.broadcast(
        frame_bits=bits, rate_bps=rate, preamble_s=preamble, ack_rate_bps=ack_rate
    )
    return np.asarray(gaps + 2.0 * preamble + bits / rate + ack / ack_rate)[()]


def published_exchange_s(rate_bps: ArrayLike, frame_bits: ArrayLike = 12_272) -> Values:
    """Return `frame_exchange_s` with the paper's times for 802.11b hosts.

    SIFS is 10 us and DIFS 50 us; t_pr is 192 us at 1 Mb/s and 96 us (short preamble) above; a MAC
    ACK has 112 bits at the host's rate; 1500 bytes are in a frame of 1534. With these, and with all
    of s_d counted as throughput at the MAC layer, one host at 1 Mb/s leaves 0.81, 0.70 and 0.55
    Mb/s to each of 2, 3 and 5 hosts.

    Raises `ValueError` like `frame_exchange_s`.

    >>> (published_exchange_s([11e6, 1e6]) * 1e6).round(1)
    array([ 1377.8, 12828. ])
    """
    rate = checks.real("rate_bps", rate_bps, above=0.0)
    return frame_exchange_s(
        frame_bits,
        rate,
        preamble_s=np.where(rate <= 1e6, 192e-6, 96e-6),
        ack_bits=112.0,
        ack_rate_bps=rate,
        sifs_s=10e-6,
        difs_s=50e-6,
    )


def phy_exchange_s(
    phy: Phy,
    msdu_bits: ArrayLike,
    *,
    rts: bool,
    data_rate: Rate | None = None,
    control_rate: Rate | None = None,
) -> Values:
    """Return T without t_cont on any PHY: DIFS and the exchange of an MSDU, in seconds.

    Raises `ValueError` like `airtcp.models.airtime`.

    >>> from airtcp.models.airtime import HOT_SPOT
    >>> round(float(phy_exchange_s(HOT_SPOT, 12000, rts=False)) * 1e6, 1)
    1615.6
    """
    exchange = exchange_time_ns(
        phy, msdu_bits, rts=rts, data_rate=data_rate, control_rate=control_rate
    )
    return np.asarray((np.asarray(exchange) + phy.difs_ns) / 1e9)[()]


def anomaly(
    exchange_s: ArrayLike,
    count: ArrayLike,
    frame_bits: ArrayLike,
    *,
    cw_min: ArrayLike,
    slot_s: float,
    collision_s: float | None = None,
    backoff: Backoff = "published",
) -> Anomaly:
    """Return the throughput of N saturated hosts of several classes of rates and frames.

    The last axis of `exchange_s` (T without t_cont, see `frame_exchange_s`), `count` (hosts of the
    class) and `frame_bits` (s_d, or the part of a frame that counts as throughput) is the class;
    the axes before it, and `cw_min`, broadcast. Every host delivers as many frames as any other:
    U_i = T_i / cycle and X_i = s_d,i / cycle, with::

        cycle = sum of all T_i + P_c(N) t_jam N,    T_i = exchange_s_i + t_cont(N).

    t_jam is the mean over all pairs of hosts of the longer T. For N - 1 fast hosts and one slow
    host that is the published (2/N) T_s + (1 - 2/N) T_f. `collision_s` replaces it (RTS/CTS: ours).
    A single host has no collisions. As published, every collision is charged to every host in it,
    which makes the throughput of many hosts too low.

    Raises `ValueError` unless `exchange_s` > 0, `count` is whole and >= 0 and adds up to 1 .. 1e6,
    `frame_bits` >= 0, and like `contention_time_s`.

    >>> hosts = anomaly([1.4e-3, 13e-3], [9, 1], 12272, cw_min=31, slot_s=20e-6)
    >>> hosts.host_share.round(3)
    array([0.04 , 0.368])
    """
    time = np.atleast_1d(checks.real("exchange_s", exchange_s, above=0.0))
    hosts = np.atleast_1d(checks.real("count", count, at_least=0.0, whole=True))
    bits = np.atleast_1d(checks.real("frame_bits", frame_bits, at_least=0.0))
    window = checks.real("cw_min", cw_min, at_least=1.0)[..., np.newaxis]
    time, hosts, bits, window = checks.broadcast(
        exchange_s=time, count=hosts, frame_bits=bits, cw_min=window
    )
    n, window = hosts.sum(axis=-1), window[..., 0]
    if np.any(n < 1.0) or np.any(n > _MOST_HOSTS):
        raise ValueError(phrase("models.input.hosts", most=_MOST_HOSTS))
    p_c = _collision(n, window)
    wait = contention_time_s(n, window, slot_s, backoff=backoff)
    total = time + np.asarray(wait)[..., np.newaxis]
    if collision_s is None:
        jam = _longer_of_a_pair(total, hosts)
    else:
        jam = np.full(n.shape, checks.scalar("collision_s", collision_s, at_least=0.0))
    cycle = (hosts * total).sum(axis=-1) + p_c * jam * n
    rate = bits / cycle[..., np.newaxis]
    return Anomaly(
        host_throughput_bps=rate[()],
        host_share=(total / cycle[..., np.newaxis])[()],
        n=n[()],
        p_c=p_c[()],
        contention_s=np.asarray(wait)[()],
        collision_s=jam[()],
        cycle_s=cycle[()],
        throughput_bps=np.asarray((hosts * rate).sum(axis=-1))[()],
        collision_share=(p_c * jam * n / cycle)[()],
    )


def tcp_downloads(
    n_c: ArrayLike,
    payload_bits: ArrayLike,
    *,
    data_s: ArrayLike,
    tcp_ack_s: ArrayLike,
    cw_min: ArrayLike,
    slot_s: float,
    d: ArrayLike = 1.0,
    contenders: Literal["backlogged", "all"] = "backlogged",
    collision_s: float | None = None,
    backoff: Backoff = "published",
) -> TcpDownloads:
    """Apply Heusse's reasoning to n_c endless TCP downloads with delayed ACK (d): ours (M17).

    Paper M compares its Fig. 5 with "a modified" version of this model that it does not give. Here
    a segment (exchange `data_s`, from the access point) and 1/d of a TCP ACK (`tcp_ack_s`, from a
    station) make a cycle, and every frame costs t_cont(N) and P_c(N) t_jam:

        cycle = data + ack/d + (1 + 1/d) (t_cont(N) + P_c(N) t_jam).

    `contenders`: with "backlogged" N is 1 + 1/d, the mean of M (11) for any n_c; with "all" it is
    n_c + 1, as if every station always had a TCP ACK. t_jam is the longer exchange of a random
    pair, which includes the access point with probability 2/N, or `collision_s` (with RTS/CTS, the
    duration of a collided RTS).

    Raises `ValueError` unless n_c is whole and 1 <= n_c < 1e6, d >= 1, and like `anomaly`.

    >>> result = tcp_downloads(
    ...     [1, 20], 8000, data_s=1.83e-3, tcp_ack_s=1.1e-3, collision_s=342e-6,
    ...     cw_min=31, slot_s=20e-6, contenders="all", backoff="whole",
    ... )
    >>> result.goodput_bps.round(-4)
    array([2440000., 2420000.])
    """
    checks.choice("contenders", contenders, ("backlogged", "all"))
    connections = checks.real("n_c", n_c, at_least=1.0, at_most=_MOST_HOSTS - 1.0, whole=True)
    payload = checks.real("payload_bits", payload_bits, at_least=0.0)
    data = checks.real("data_s", data_s, above=0.0)
    ack = checks.real("tcp_ack_s", tcp_ack_s, above=0.0)
    every = checks.real("d", d, at_least=1.0)
    window = checks.real("cw_min", cw_min, at_least=1.0)
    connections, payload, data, ack, every, window = checks.broadcast(
        n_c=connections, payload_bits=payload, data_s=data, tcp_ack_s=ack, d=every, cw_min=window
    )
    nodes = connections + 1.0 if contenders == "all" else 1.0 + 1.0 / every
    p_c = _collision(nodes, window)
    wait = np.asarray(contention_time_s(nodes, window, slot_s, backoff=backoff))
    if collision_s is None:
        with_access_point = np.minimum(2.0 / nodes, 1.0)
        jam = with_access_point * np.maximum(data, ack) + (1.0 - with_access_point) * ack + wait
    else:
        jam = np.full(nodes.shape, checks.scalar("collision_s", collision_s, at_least=0.0))
    cycle = data + ack / every + (1.0 + 1.0 / every) * (wait + p_c * jam)
    goodput = payload / cycle
    return TcpDownloads(
        n_c=connections[()],
        goodput_bps=goodput[()],
        flow_goodput_bps=(goodput / connections)[()],
        contenders=nodes[()],
        p_c=p_c[()],
        contention_s=wait[()],
        collision_s=jam[()],
        cycle_s=cycle[()],
    )


def _collision(n: Values, window: Values) -> Values:
    """Return P_c(N), with 0^0 = 1: a single host has no others even if CWmin = 1."""
    return np.asarray(1.0 - (1.0 - 1.0 / window) ** (n - 1.0))


def _longer_of_a_pair(time: Values, hosts: Values) -> Values:
    """Return the mean over all pairs of distinct hosts of the longer `time`; 0 without pairs."""
    order = np.argsort(time, axis=-1)
    up_to = np.cumsum(np.take_along_axis(hosts, order, axis=-1), axis=-1)
    pairs = up_to * (up_to - 1.0) / 2.0
    # A pair whose longer member is of class i is within the i shortest classes, but not within i -
    # 1.
    new = np.diff(pairs, axis=-1, prepend=0.0)
    longer = (new * np.take_along_axis(time, order, axis=-1)).sum(axis=-1)
    return np.asarray(longer / np.maximum(pairs[..., -1], 1.0))


def _contenders(n: ArrayLike, cw_min: ArrayLike) -> tuple[Values, Values]:
    hosts = checks.real("n", n, at_least=1.0, at_most=_MOST_HOSTS)
    window = checks.real("cw_min", cw_min, at_least=1.0)
    hosts, window = checks.broadcast(n=hosts, cw_min=window)
    return hosts, window


def _slot(slot_s: float, backoff: str) -> float:
    """Return the slot that makes SLOT (1 + P_c)/(2N) CWmin the wait of either reading."""
    checks.choice("backoff", backoff, ("published", "whole"))
    slot = checks.scalar("slot_s", slot_s, above=0.0)
    return slot if backoff == "whole" else slot / 2.0
