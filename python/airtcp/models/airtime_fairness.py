"""Model stations at different rates behind one A-MPDU sender, with or without fairness.

There is no contention and there are no queues; the sizes of A-MPDUs are given. (`heusse` has the
same anomaly among contending hosts, one frame at a time.)

T. Hoeiland-Joergensen, M. Kazior, D. Taht, P. Hurtig, A. Brunstrom, "Ending the anomaly: achieving
low latency and airtime fairness in WiFi", USENIX ATC 2017, 2.2.1, equations (1) to (5). With n
packets of l bytes in an A-MPDU at the rate r: its bytes L (1), its duration T_data = T_phy + 8 L /
r (2), the rate of a station alone R_0 = 8 n l / (T_data + T_oh) (3), its airtime share T (4), and
its rate R = T R_0 (5). The paper was not available when this was written: the numbers in the tests
and the sum of its overheads are as cited elsewhere.

>>> alone = station_rate([6892, 7833, 2914], [144.4e6, 144.4e6, 7.2e6])
>>> (alone / 1e6).round(1)
array([ 97.4, 101.1,   6.5])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from airtcp.models import checks
from airtcp.models.checks import Values

__all__ = ["Shares", "aggregate_time_s", "shares", "station_rate"]

Sharing = Literal["packets", "ppdus", "airtime"]
"""The quantity of which all stations get the same amount."""

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
    """`airtime` shares and payload rates `rate_bps` per station, and `total_bps`."""

    airtime: Values
    rate_bps: Values
    total_bps: float


def aggregate_time_s(payload_bytes: ArrayLike, rate_bps: ArrayLike) -> Values:
    """Return T_data of (2) for A-MPDUs with this many bytes in packets of 1500.

    Raises `ValueError` unless both are above 0, or for shapes that do not broadcast.

    >>> aggregate_time_s([6892, 2914], [144.4e6, 7.2e6]).round(6)
    array([0.000425, 0.003365])
    """
    payload, rate = _aggregates(payload_bytes, rate_bps)
    return np.asarray(PREAMBLE_S + 8.0 * payload * SUBFRAME_BYTES / PACKET_BYTES / rate)[()]


def station_rate(payload_bytes: ArrayLike, rate_bps: ArrayLike) -> Values:
    """Return R_0 of (3), a station's rate alone. Raises `ValueError` like `aggregate_time_s`.

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
    """Return (4) and (5) for stations whose PPDU carries `payload_bits` in `cycle_s`.

    `busy_s` is the part of a cycle that counts as airtime (T_data in the paper). `sharing` is one
    of: "ppdus", one PPDU per station in turn, so each has T_data over the sum of all (the paper's
    assumption for a FIFO queue); "packets", as many packets each, `packets` of them per PPDU, which
    a queue in order of arrival gives if all have as much waiting; "airtime", 1/n each, or in
    proportion to `weight`.

    Time shares are of whole cycles. With `busy_s` = T_data and `cycle_s` = T_data + T_oh the result
    is the paper's approximation by T_data.

    Raises `ValueError` for an unknown sharing, or an argument that is not above 0.

    >>> payload, rate = np.array([6892, 7833, 2914]), np.array([144.4e6, 144.4e6, 7.2e6])
    >>> data = aggregate_time_s(payload, rate)
    >>> cycle = 8 * payload / station_rate(payload, rate)
    >>> fifo = shares(8 * payload, data, cycle, "ppdus")
    >>> (fifo.rate_bps / 1e6).round(1), round(fifo.total_bps / 1e6)
    (array([ 9.7, 11.3,  5.2]), 26)
    """
    checks.choice("sharing", sharing, ("packets", "ppdus", "airtime"))
    payload, busy, cycle, count, share = checks.broadcast(
        payload_bits=checks.real("payload_bits", payload_bits, above=0.0),
        busy_s=checks.real("busy_s", busy_s, above=0.0),
        cycle_s=checks.real("cycle_s", cycle_s, above=0.0),
        packets=checks.real("packets", packets, above=0.0),
        weight=checks.real("weight", weight, above=0.0),
    )
    part = {"packets": busy / count, "ppdus": busy, "airtime": share}[sharing]
    airtime = part / part.sum()
    rate = airtime * payload / cycle
    return Shares(airtime=airtime, rate_bps=rate, total_bps=float(rate.sum()))


def _aggregates(payload_bytes: ArrayLike, rate_bps: ArrayLike) -> tuple[Values, Values]:
    payload, rate = checks.broadcast(
        payload_bytes=checks.real("payload_bytes", payload_bytes, above=0.0),
        rate_bps=checks.real("rate_bps", rate_bps, above=0.0),
    )
    return payload, rate
