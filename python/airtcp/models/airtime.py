"""How long frames are on the air, for models: `airtcp.airtime` with arguments checked, over arrays.

Knows the `phy` section of a resolved scenario and nothing of contention, queues or TCP. The
arithmetic, with its clauses of IEEE Std 802.11-2020, is that of `airtcp.airtime`.

With 34 bytes of MAC header, a packet of 1500 bytes is 1308 us on the air at 11 Mb/s, and 1566 us
with SIFS and a MAC ACK at 2 Mb/s.

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
from airtcp.models import _checks
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
    """What a model needs of the `phy` section of a resolved scenario. Times in nanoseconds.

    `mac_header_bits` includes the FCS; `propagation_delay_ns` passes once after every frame.
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
            _checks.scalar("symbol_time_ns", self.ofdm.symbol_time_ns, above=0)
        _checks.scalar("cw_max", self.cw_max, at_least=self.cw_min, whole=True)

    @classmethod
    def of(cls, phy: airtime.PhyTiming) -> Self:
        """Takes the attributes of these names from the `phy` of a resolved scenario.

        Raises `ValueError` naming one that cannot be.

        >>> Phy.of(HOT_SPOT) == HOT_SPOT
        True
        """
        return cls(**{field.name: getattr(phy, field.name) for field in fields(cls)})


def mpdu_bits(phy: Phy, msdu_bits: ArrayLike) -> NDArray[np.int64]:
    """Bits of the MPDU that carries an MSDU (an IP packet): MAC header, FCS and LLC are added.

    Raises `ValueError` unless `msdu_bits` is whole and >= 0.

    >>> mpdu_bits(HOT_SPOT, [0, 12000])
    array([  272, 12272])
    """
    return airtime.mpdu_bits(phy, _bits("msdu_bits", msdu_bits))[()]


def ppdu_time_ns(phy: Phy, rate: Rate, bits: ArrayLike) -> Nanoseconds:
    """Duration of the PPDU that carries an MPDU (or control frame) of `bits` bits, nanoseconds.

    DSSS (16.3.4): preamble + header + payload, the payload rounded up to a whole microsecond
    (`symbol_rounding`) or to a whole nanosecond. OFDM (17.4.3): preamble + SIGNAL +
    ceil((service + tail + bits) / bits per symbol) symbols (or (service + tail + bits) / rate
    rounded up to a nanosecond without `symbol_rounding`), and the signal extension of ERP-OFDM.
    802.11n and later: as `airtcp.high_rate` says.

    Raises `ValueError` if `bits` is not whole and >= 0, or if `phy` lacks the modulation.

    >>> ppdu_time_ns(HOT_SPOT, HOT_SPOT.control_rate, [112, 160])
    array([248000, 272000])
    """
    return airtime.ppdu_ns(phy, _bits("bits", bits), rate)[()]


def frame_time_ns(phy: Phy, msdu_bits: ArrayLike, *, data_rate: Rate | None = None) -> Nanoseconds:
    """Duration of the data frame that carries an MSDU of `msdu_bits` bits, nanoseconds.

    `data_rate` defaults to that of `phy`. Errors as `ppdu_time_ns`.

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
    """Duration of a successful exchange from its first bit to the end of the MAC ACK, nanoseconds.

    Basic access: DATA, SIFS, ACK. With `rts`: RTS, SIFS, CTS, SIFS before it (10.3.2).
    A propagation delay follows each frame. DIFS and backoff are not included. The rates
    default to those of `phy`. Errors as `ppdu_time_ns`.

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
    """Time from the start of a collision to the end of its longest frame at the receivers, ns.

    `msdu_bits` is the longest MSDU among those that collide; with `rts` all of them are RTS. What
    everyone waits after that (EIFS, ACK timeout, DIFS) is not included. Errors as `ppdu_time_ns`.

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
    checked = _checks.real(name, value, at_least=0, at_most=_MOST_BITS, whole=True)
    return checked.astype(np.int64)


def _not_negative(section: object, *names: str) -> None:
    for name in names:
        _checks.scalar(name, getattr(section, name), at_least=0, at_most=10**12, whole=True)


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
