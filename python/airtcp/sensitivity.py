"""The weakest signal at which a receiver must still read each rate, and so the rate of a signal.

Knows the minimum input sensitivities of the standards: at 20 MHz a level for each modulation and
coding, and 3 dB more for each doubling of the width. Does not know where stations stand, nor what
products do better: some hear 5 to 10 dB more than they must, and fading takes about as much.

IEEE Std 802.11-2020: Tables 17-18 (OFDM), 19-23 (HT) and 21-25 (VHT), 15.4.6.2 and 16.3.8.2 (2 and
11 Mb/s DSSS); IEEE Std 802.11ax-2021, Table 27-51; IEEE Std 802.11be-2024, Table 36-67.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BY_MCS_DBM: Final = (-82, -79, -77, -74, -70, -66, -65, -64, -59, -57, -54, -52, -49, -46)
"""At 20 MHz, by MCS, of packets of 4096 bytes (2048 in HE and later with BPSK) of which 10 % are
lost; the tables agree as far as each goes."""

_OFDM_DBM: Final[Mapping[int, int]] = {
    6: -82, 9: -81, 12: -79, 18: -77, 24: -74, 36: -70, 48: -66, 54: -65,
}  # fmt: skip
#: 5.5 and 1 Mb/s have no level of their own.
_DSSS_DBM: Final[Mapping[int, int]] = {2: -80, 11: -76}

BY_RATE_DBM: Final[Mapping[str, Mapping[int, int]]] = {
    "802.11a": _OFDM_DBM,
    "802.11b": _DSSS_DBM,
    "802.11g": _OFDM_DBM,
}
"""By standard, and rate in Mb/s."""


def needed_dbm(mcs: int, width_mhz: int) -> int:
    """The level at which an MCS must be read in a channel of 20, 40, 80, 160 or 320 MHz.

    >>> needed_dbm(7, 40)
    -61
    """
    return BY_MCS_DBM[mcs] + 3 * ((width_mhz // 20).bit_length() - 1)


def mcs_at(signal_dbm: float, width_mhz: int, highest: int) -> int:
    """The highest MCS that a receiver must read at a level; 0 where it must read none.

    >>> [mcs_at(-60, width, 11) for width in (20, 40, 80, 160)]
    [7, 7, 5, 4]
    """
    read = (mcs for mcs in range(highest + 1) if needed_dbm(mcs, width_mhz) <= signal_dbm)
    return max(read, default=0)


def rate_at(signal_dbm: float, standard: str) -> int:
    """The highest rate of 802.11b, a or g, in Mb/s, that a receiver must read at a level.

    It is the lowest with a level where it must read none.

    >>> rate_at(-67, "802.11g"), rate_at(-67, "802.11b")
    (36, 11)
    """
    levels = BY_RATE_DBM[standard]
    read = (rate for rate, level in levels.items() if level <= signal_dbm)
    return max(read, default=min(levels))
