"""Receiver sensitivity by rate, and the rate that a signal level supports.

Contains the minimum input sensitivities of the standards: at 20 MHz a level for each modulation and
coding, and 3 dB more for each doubling of the width. Products differ: some are 5 to 10 dB better,
and fading takes about as much.

A second set of tables has the SINR that each rate needs, for scenarios with known powers.

IEEE Std 802.11-2020: Tables 17-18 (OFDM), 19-23 (HT) and 21-25 (VHT), 15.4.6.2 and 16.3.8.2 (2 and
11 Mb/s DSSS); IEEE Std 802.11ax-2021, Table 27-51; IEEE Std 802.11be-2024, Table 36-67.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BY_MCS_DBM: Final = (-82, -79, -77, -74, -70, -66, -65, -64, -59, -57, -54, -52, -49, -46)
"""At 20 MHz, by MCS: the level at which 10 % of the packets of 4096 bytes are lost (2048 bytes in
HE and later with BPSK). The tables of the amendments agree where they overlap."""

_OFDM_DBM: Final[Mapping[int, int]] = {
    6: -82, 9: -81, 12: -79, 18: -77, 24: -74, 36: -70, 48: -66, 54: -65,
}  # fmt: skip
#: The standard sets no level for 5.5 and 1 Mb/s.
_DSSS_DBM: Final[Mapping[int, int]] = {2: -80, 11: -76}

BY_RATE_DBM: Final[Mapping[str, Mapping[int, int]]] = {
    "802.11a": _OFDM_DBM,
    "802.11b": _DSSS_DBM,
    "802.11g": _OFDM_DBM,
}
"""By standard, and by rate in Mb/s."""


def needed_dbm(mcs: int, width_mhz: int) -> int:
    """Return the sensitivity of an MCS in dBm, in a channel of 20, 40, 80, 160 or 320 MHz.

    >>> needed_dbm(7, 40)
    -61
    """
    return BY_MCS_DBM[mcs] + 3 * ((width_mhz // 20).bit_length() - 1)


def mcs_at(signal_dbm: float, width_mhz: int, highest: int) -> int:
    """Return the highest MCS that a receiver must support at a signal level; 0 if there is none.

    >>> [mcs_at(-60, width, 11) for width in (20, 40, 80, 160)]
    [7, 7, 5, 4]
    """
    read = (mcs for mcs in range(highest + 1) if needed_dbm(mcs, width_mhz) <= signal_dbm)
    return max(read, default=0)


def rate_at(signal_dbm: float, standard: str) -> int:
    """Return the highest rate of 802.11b, a or g, in Mb/s, required at a signal level.

    Below all levels, it is the lowest rate that has a level.

    >>> rate_at(-67, "802.11g"), rate_at(-67, "802.11b")
    (36, 11)
    """
    levels = BY_RATE_DBM[standard]
    read = (rate for rate, level in levels.items() if level <= signal_dbm)
    return max(read, default=min(levels))


#: SINR in dB at which one frame in ten is lost, by MCS: for frames of 1458 bytes and, for control
#: frames, of 32 bytes. Interpolated from the tables of ns-3's `TableBasedErrorRateModel`
#: (convolutional codes up to MCS 9, LDPC above it), which R. Patidar, S. Roy, T. Henderson, A.
#: Chandramohan, "Link-to-system mapping for ns-3 Wi-Fi OFDM error models" (2017), explain. MCS 12
#: and 13 exceed 10 and 11 by the differences of the levels above.
_NEEDED_DB: Final = (
    0.9, 3.9, 6.4, 9.7, 12.8, 17.0, 18.4, 19.6, 23.7, 25.1, 26.8, 28.9, 31.8, 34.9,
)  # fmt: skip
_NEEDED_SHORT_DB: Final = (-0.4, 2.6, 5.1, 8.1, 11.3, 15.3, 16.6)
#: The MCS with the modulation and coding of a rate in Mb/s. 9 Mb/s is BPSK with the code of 18 Mb/s
#: and needs half its power.
_MCS_OF_OFDM: Final[Mapping[int, int]] = {6: 0, 9: 2, 12: 1, 18: 2, 24: 3, 36: 4, 48: 5, 54: 6}
_HALF_DB: Final = 3.0
#: DSSS: the levels above the noise that they assume, -101 dBm in 20 MHz with a noise figure of 10
#: dB and a margin of 5 dB (17.3.10.2). Rates without a level use that of the next higher rate.
_DSSS_NEEDED_DB: Final[Mapping[int, float]] = {1: 6.0, 2: 6.0, 5: 10.0, 11: 10.0}


def needed_db(mcs: int) -> float:
    """Return the SINR in dB that an MCS needs, at any width.

    >>> needed_db(0), needed_db(7)
    (0.9, 19.6)
    """
    return _NEEDED_DB[mcs]


def needed_db_at(rate_bps: int, *, short: bool = False) -> float:
    """Return the SINR in dB that a rate of 802.11b, a or g needs.

    With `short` the value is for control frames, otherwise for long frames.

    >>> needed_db_at(54_000_000), needed_db_at(24_000_000, short=True), needed_db_at(11_000_000)
    (18.4, 8.1, 10.0)
    """
    mbps = rate_bps // 1_000_000
    if mbps in _DSSS_NEEDED_DB:
        return _DSSS_NEEDED_DB[mbps]
    needed = (_NEEDED_SHORT_DB if short else _NEEDED_DB)[_MCS_OF_OFDM[mbps]]
    return round(needed - (_HALF_DB if mbps == 9 else 0.0), 1)
