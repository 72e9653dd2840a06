"""Compute the maximum throughput of a single sender without collisions or errors.

The sender always has a frame. Inputs are the duration of one exchange and the mean backoff. The
payload is that of a UDP-like source.

J. Jun, P. Peddabachagari, M. Sichitiu, "Theoretical maximum throughput of IEEE 802.11 and its
applications", IEEE NCA 2003: a cycle is DIFS, CWmin/2 slots of backoff on average, and the
exchange. If every frame takes bits/rate, the result is 8x/(ax + b) Mb/s for x bytes, with a and b
in microseconds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from airtcp.models import checks
from airtcp.models.airtime import Phy, Rate, exchange_time_ns
from airtcp.models.checks import Values

__all__ = ["LoneSender", "lone_sender", "maximum_throughput", "mean_backoff_s"]


@dataclass(frozen=True, slots=True)
class LoneSender:
    """`throughput_bps` of payload, and the parts of the cycle in seconds.

    `exchange_s` lasts from the start of the (RTS or data) frame to the end of the MAC ACK.
    """

    throughput_bps: Values
    cycle_s: Values
    backoff_s: Values
    exchange_s: Values


def mean_backoff_s(cw_min: ArrayLike, slot_s: ArrayLike) -> Values:
    """Return the mean of a backoff uniform over 0 .. `cw_min` slots of `slot_s` seconds.

    Raises `ValueError` for a negative argument, or shapes that do not broadcast.

    >>> round(float(mean_backoff_s(31, 20e-6)) * 1e6, 6)
    310.0
    """
    window = checks.real("cw_min", cw_min, at_least=0.0)
    slot = checks.real("slot_s", slot_s, at_least=0.0)
    window, slot = checks.broadcast(cw_min=window, slot_s=slot)
    return np.asarray(window * slot / 2.0)[()]


def maximum_throughput(
    payload_bits: ArrayLike, difs_s: ArrayLike, backoff_s: ArrayLike, exchange_s: ArrayLike
) -> Values:
    """Return the goodput of a single sender: payload / (DIFS + mean backoff + exchange).

    It is in bit/s.

    Raises `ValueError` with the name of an argument that is negative, not finite or (`exchange_s`)
    zero.

    >>> float(maximum_throughput(12000, 50e-6, 310e-6, 1568e-6).round(-3))
    6224000.0
    """
    payload = checks.real("payload_bits", payload_bits, at_least=0.0)
    difs = checks.real("difs_s", difs_s, at_least=0.0)
    backoff = checks.real("backoff_s", backoff_s, at_least=0.0)
    exchange = checks.real("exchange_s", exchange_s, above=0.0)
    payload, difs, backoff, exchange = checks.broadcast(
        payload_bits=payload, difs_s=difs, backoff_s=backoff, exchange_s=exchange
    )
    return np.asarray(payload / (difs + backoff + exchange))[()]


def lone_sender(
    phy: Phy,
    msdu_bits: ArrayLike,
    *,
    rts: bool,
    payload_bits: ArrayLike | None = None,
    data_rate: Rate | None = None,
    control_rate: Rate | None = None,
) -> LoneSender:
    """Return the theoretical maximum throughput on a PHY, for MSDUs of `msdu_bits` bits.

    An MSDU is an IP packet. `payload_bits` is what counts as throughput (default: the whole MSDU,
    as in the source). Frame durations are as in `airtcp.models.airtime`, in whole symbols if the
    PHY rounds.

    Raises `ValueError` with the name of an argument out of range, or for shapes that do not
    broadcast.

    >>> from airtcp.models.airtime import HOT_SPOT
    >>> lone_sender(HOT_SPOT, [320, 12000], rts=False).throughput_bps.round(-4)
    array([ 370000., 6230000.])
    """
    counted = msdu_bits if payload_bits is None else payload_bits
    exchange = np.asarray(
        exchange_time_ns(phy, msdu_bits, rts=rts, data_rate=data_rate, control_rate=control_rate)
        / 1e9
    )
    difs = phy.difs_ns / 1e9
    backoff = mean_backoff_s(phy.cw_min, phy.slot_time_ns / 1e9)
    return LoneSender(
        throughput_bps=maximum_throughput(counted, difs, backoff, exchange),
        cycle_s=np.asarray(difs + backoff + exchange)[()],
        backoff_s=backoff,
        exchange_s=exchange[()],
    )
