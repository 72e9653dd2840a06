"""Compute frame durations for models: `airtcp.airtime` over arrays, with checked arguments.

Input is the `phy` section of a resolved scenario. The arithmetic, with its clauses of IEEE Std
802.11-2020, is in `airtcp.airtime`.

With 34 bytes of MAC header, a packet of 1500 bytes takes 1308 us at 11 Mb/s, and 1566 us including
SIFS and a MAC ACK at 2 Mb/s.

>>> int(frame_time_ns(HOT_SPOT, 8 * 1500))
1307637
>>> exchange_time_ns(HOT_SPOT, [8 * 40, 8 * 1500], rts=False)
array([ 503819, 1565637])
"""

from dataclasses import dataclass, fields
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from airtcp import airtime
from airtcp.airtime import Rate
from airtcp.high_rate import HighRateParts, HighRateTiming
from airtcp.models import checks
from airtcp.standards import DsssTiming, OfdmTiming

__all__ = [
    "HOT_SPOT",
    "DsssTiming",
    "HighRateParts",
    "HighRateTiming",
    "OfdmTiming",
    "Phy",
    "Rate",
    "collision_time_ns",
    "exchange_time_ns",
    "frame_time_ns",
    "mpdu_bits",
    "ppdu_time_ns",
]

Nanoseconds: TypeAlias = NDArray[np.int64]

_MOST_BITS = 8 * 10**9
"""Well beyond this `bits * 10^9` would leave 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phy:
    """The part of a resolved scenario's `phy` section that models need. Times in nanoseconds.

    `mac_header_bits` includes the FCS; one `propagation_delay_ns` follows every frame.
    """

    data_rate: Rate
    control_rate: Rate
    slot_time_ns: int
    sifs_ns: int
    difs_ns: int
    eifs_ns: int
    dsss: DsssTiming | None
    ofdm: OfdmTiming | None
    symbol_rounding: bool
    propagation_delay_ns: int
    cw_min: int
    cw_max: int
    rts_bits: int
    cts_bits: int
    ack_bits: int
    mac_header_bits: int
    llc_bits: int
    high_rate: HighRateTiming | None = None

    def __post_init__(self) -> None:
        _not_negative(
            self,
            "slot_time_ns",
            "sifs_ns",
            "difs_ns",
            "eifs_ns",
            "propagation_delay_ns",
            "cw_min",
            "rts_bits",
            "cts_bits",
            "ack_bits",
            "mac_header_bits",
            "llc_bits",
        )
        for part in (self.dsss, self.ofdm, self.high_rate):
            if part is not None:
                names = (field.name for field in fields(part))
                _not_negative(part, *(name for name in names if name != "short_gi_rounding"))
        if self.ofdm is not None:
            checks.scalar("symbol_time_ns", self.ofdm.symbol_time_ns, above=0)
        checks.scalar("cw_max", self.cw_max, at_least=self.cw_min, whole=True)

    @classmethod
    def of(cls, phy: airtime.PhyTiming) -> Self:
        """Create it from the attributes of a resolved scenario's `phy`.

        Raises `ValueError` with the name of an invalid one.

        >>> Phy.of(HOT_SPOT) == HOT_SPOT
        True
        """
        return cls(**{field.name: getattr(phy, field.name) for field in fields(cls)})


def mpdu_bits(phy: Phy, msdu_bits: ArrayLike) -> NDArray[np.int64]:
    """Return the bits of an MPDU with an MSDU (an IP packet): adds MAC header, FCS and LLC.

    Raises `ValueError` unless `msdu_bits` is whole and >= 0.

    >>> mpdu_bits(HOT_SPOT, [0, 12000])
    array([  272, 12272])
    """
    return airtime.mpdu_bits(phy, _bits("msdu_bits", msdu_bits))[()]


def ppdu_time_ns(phy: Phy, rate: Rate, bits: ArrayLike) -> Nanoseconds:
    """Return the duration of the PPDU with an MPDU (or control frame) of `bits` bits, in ns.

    DSSS (16.3.4): preamble + header + payload, with the payload rounded up to a whole microsecond
    (`symbol_rounding`) or a whole nanosecond. OFDM (17.4.3): preamble + SIGNAL + ceil((service +
    tail + bits) / bits per symbol) symbols (without `symbol_rounding`: (service + tail + bits) /
    rate rounded up to a nanosecond), and the signal extension of ERP-OFDM. 802.11n and later: see
    `airtcp.high_rate`.

    Raises `ValueError` if `bits` is not whole and >= 0, or if `phy` lacks the modulation.

    >>> ppdu_time_ns(HOT_SPOT, HOT_SPOT.control_rate, [112, 160])
    array([248000, 272000])
    """
    return airtime.ppdu_ns(phy, _bits("bits", bits), rate)[()]


def frame_time_ns(phy: Phy, msdu_bits: ArrayLike, *, data_rate: Rate | None = None) -> Nanoseconds:
    """Return the duration of a data frame with an MSDU of `msdu_bits` bits, in nanoseconds.

    `data_rate` defaults to that of `phy`. Errors as in `ppdu_time_ns`.

    >>> int(frame_time_ns(HOT_SPOT, 12000, data_rate=Rate(1_000_000, "dsss")))
    12464000
    """
    return ppdu_time_ns(phy, data_rate or phy.data_rate, mpdu_bits(phy, msdu_bits))


def exchange_time_ns(
    phy: Phy,
    msdu_bits: ArrayLike,
    *,
    rts: bool,
    data_rate: Rate | None = None,
    control_rate: Rate | None = None,
) -> Nanoseconds:
    """Return the duration of a successful exchange up to the end of the MAC ACK, in ns.

    Basic access: DATA, SIFS, ACK. With `rts`, RTS, SIFS, CTS, SIFS precede it (10.3.2). A
    propagation delay follows each frame. DIFS and backoff are not included. The rates default to
    those of `phy`. Errors as in `ppdu_time_ns`.

    >>> int(exchange_time_ns(HOT_SPOT, 12000, rts=True))
    2105637
    """
    return airtime.exchange_ns(
        phy,
        _bits("msdu_bits", msdu_bits),
        data_rate or phy.data_rate,
        control_rate or phy.control_rate,
        rts=rts,
    )[()]


def collision_time_ns(
    phy: Phy,
    msdu_bits: ArrayLike,
    *,
    rts: bool,
    data_rate: Rate | None = None,
    control_rate: Rate | None = None,
) -> Nanoseconds:
    """Return the time from the start of a collision to the end of its longest frame, in ns.

    The end is at the receivers. `msdu_bits` is the longest colliding MSDU; with `rts` all frames
    are RTS. The wait after that (EIFS, ACK timeout, DIFS) is not included. Errors as in
    `ppdu_time_ns`.

    >>> [int(collision_time_ns(HOT_SPOT, 12000, rts=rts)) for rts in (False, True)]
    [1307637, 272000]
    """
    if rts:
        shape = np.shape(_bits("msdu_bits", msdu_bits))
        frame = np.broadcast_to(
            ppdu_time_ns(phy, control_rate or phy.control_rate, phy.rts_bits), shape
        )
    else:
        frame = frame_time_ns(phy, msdu_bits, data_rate=data_rate)
    return np.asarray(frame + phy.propagation_delay_ns)[()]


def _bits(name: str, value: ArrayLike) -> NDArray[np.int64]:
    checked = checks.real(name, value, at_least=0, at_most=_MOST_BITS, whole=True)
    return checked.astype(np.int64)


def _not_negative(section: object, *names: str) -> None:
    for name in names:
        checks.scalar(name, getattr(section, name), at_least=0, at_most=10**12, whole=True)


HOT_SPOT: Final = Phy(
    data_rate=Rate(11_000_000, "dsss"),
    control_rate=Rate(2_000_000, "dsss"),
    slot_time_ns=20_000,
    sifs_ns=10_000,
    difs_ns=50_000,
    eifs_ns=364_000,
    dsss=DsssTiming(preamble_time_ns=144_000, plcp_header_time_ns=48_000),
    ofdm=None,
    symbol_rounding=False,
    propagation_delay_ns=0,
    cw_min=31,
    cw_max=1023,
    rts_bits=160,
    cts_bits=112,
    ack_bits=112,
    mac_header_bits=272,
    llc_bits=0,
)
"""The 802.11b cell of papers M, B and L: long preamble, MAC ACK at 2 Mb/s, 34 bytes of header."""
