"""Receiver sensitivity by rate, and the rate that a signal level supports.

Contains the minimum input sensitivities of the standards: at 20 MHz a level for each modulation and
coding, and 3 dB more for each doubling of the width. Products differ: some are 5 to 10 dB better,
and fading takes about as much.

For scenarios with known powers, `error_rates` has the SINR that each rate needs.

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
