"""Shares of stations at different rates of one sender of A-MPDUs, with airtime fairness or not.

Knows aggregates, rates and shares of time. Knows no contention and no queues: how long aggregates
are is given. (`heusse` is the same anomaly among contending hosts, one frame at a time.)

T. Hoeiland-Joergensen, M. Kazior, D. Taht, P. Hurtig, A. Brunstrom, "Ending the anomaly: achieving
low latency and airtime fairness in WiFi", USENIX ATC 2017, 2.2.1, equations (1) to (5). With
n packets of l bytes in an A-MPDU and the rate r: its bytes L (1), what it lasts T_data = T_phy +
8 L / r (2), the rate of a station alone R_0 = 8 n l / (T_data + T_oh) (3), its share of the airtime
T (4), and what it gets R = T R_0 (5). The paper could not be had when this was written: the figures
that the tests hold it to, and the sum of its overheads, are as cited elsewhere.

>>> alone = station_rate([6892, 7833, 2914], [144.4e6, 144.4e6, 7.2e6])
>>> (alone / 1e6).round(1)
array([ 97.4, 101.1,   6.5])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from airtcp.models import _checks
from airtcp.models._checks import Values

__all__ = ["Shares", "aggregate_time_s", "shares", "station_rate"]

Sharing = Literal["packets", "ppdus", "airtime"]
"""What all stations get alike: as many packets, as many PPDUs, or as much airtime."""

PACKET_BYTES: Final = 1500
SUBFRAME_BYTES: Final = 1544
"""A packet of 1500 bytes with delimiter, MAC header, FCS and padding: (1)."""
PREAMBLE_S: Final = 32e-6
"""T_phy: preamble and header of an HT PPDU, as the paper takes it."""
OVERHEAD_S: Final = 138e-6
"""T_oh without the bits of the Block ACK: spaces, mean backoff and the Block ACK's preamble; 170 us
with T_phy."""
BLOCK_ACK_BITS: Final = 464
"""58 bytes, sent at the data rate."""


@dataclass(frozen=True, slots=True)
class Shares:
    """By station `airtime`, a share of the time, and `rate_bps` of payload; `total_bps`."""

    airtime: Values
    rate_bps: Values
    total_bps: float


def aggregate_time_s(payload_bytes: ArrayLike, rate_bps: ArrayLike) -> Values:
    """T_data of (2) for aggregates that carry so many bytes of packets of 1500.

    Raises `ValueError` unless both are above 0, or for shapes that do not broadcast.

    >>> aggregate_time_s([6892, 2914], [144.4e6, 7.2e6]).round(6)
    array([0.000425, 0.003365])
    """
    payload, rate = _aggregates(payload_bytes, rate_bps)
    return np.asarray(PREAMBLE_S + 8.0 * payload * SUBFRAME_BYTES / PACKET_BYTES / rate)[()]


def station_rate(payload_bytes: ArrayLike, rate_bps: ArrayLike) -> Values:
    """R_0 of (3): what a station gets alone. Raises `ValueError` as `aggregate_time_s`.

    >>> (station_rate([28434, 2914], [144.4e6, 7.2e6]) / 1e6).round(1)
    array([126.7,   6.5])
    """
    payload, rate = _aggregates(payload_bytes, rate_bps)
    overhead = OVERHEAD_S + BLOCK_ACK_BITS / rate
    return np.asarray(8.0 * payload / (aggregate_time_s(payload, rate) + overhead))[()]


def shares(
    payload_bits: ArrayLike,
    busy_s: ArrayLike,
    cycle_s: ArrayLike,
    sharing: Sharing,
    *,
    packets: ArrayLike = 1.0,
    weight: ArrayLike = 1.0,
) -> Shares:
    """(4) and (5) for stations whose PPDU carries `payload_bits` and takes `cycle_s` in all.

    `busy_s` is what of a cycle counts as airtime (T_data in the paper). "ppdus": stations have one
    PPDU each in turn, so that each has T_data over the sum of all (what the paper takes a FIFO
    queue for); "packets": as many packets each, `packets` of them in a PPDU, which is what one
    queue in order of arrival gives where all have as much waiting; "airtime": 1/n each, or as their
    `weight` says.

    The shares of the time are of whole cycles, and the paper's approximation of them by T_data
    with `busy_s` = T_data and `cycle_s` = T_data + T_oh.

    Raises `ValueError` for an unknown sharing, or an argument that is not above 0.

    >>> payload, rate = np.array([6892, 7833, 2914]), np.array([144.4e6, 144.4e6, 7.2e6])
    >>> data = aggregate_time_s(payload, rate)
    >>> cycle = 8 * payload / station_rate(payload, rate)
    >>> fifo = shares(8 * payload, data, cycle, "ppdus")
    >>> (fifo.rate_bps / 1e6).round(1), round(fifo.total_bps / 1e6)
    (array([ 9.7, 11.3,  5.2]), 26)
    """
    _checks.choice("sharing", sharing, ("packets", "ppdus", "airtime"))
    payload, busy, cycle, count, share = _checks.broadcast(
        payload_bits=_checks.real("payload_bits", payload_bits, above=0.0),
        busy_s=_checks.real("busy_s", busy_s, above=0.0),
        cycle_s=_checks.real("cycle_s", cycle_s, above=0.0),
        packets=_checks.real("packets", packets, above=0.0),
        weight=_checks.real("weight", weight, above=0.0),
    )
    part = {"packets": busy / count, "ppdus": busy, "airtime": share}[sharing]
    airtime = part / part.sum()
    rate = airtime * payload / cycle
    return Shares(airtime=airtime, rate_bps=rate, total_bps=float(rate.sum()))


def _aggregates(payload_bytes: ArrayLike, rate_bps: ArrayLike) -> tuple[Values, Values]:
    payload, rate = _checks.broadcast(
        payload_bytes=_checks.real("payload_bytes", payload_bytes, above=0.0),
        rate_bps=_checks.real("rate_bps", rate_bps, above=0.0),
    )
    return payload, rate
