"""Channel numbers: the channels of a band, and which channels overlap.

Contains centre frequencies and the 20 MHz channels that make up wider channels. National regulation
and adjacent-channel interference are not covered.

IEEE Std 802.11-2020, 17.3.8.4.2 (numbers in 5 GHz), 15.4.4.3 and Annex E (2.4 GHz); IEEE Std
802.11ax-2021, 27.3.23.2 (6 GHz); wider channels as in Annex E, Tables E-1 and E-4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

#: Difference between the numbers of adjacent 20 MHz channels. Each step of 1 is 5 MHz.
_STEP: Final = 4
_MHZ_A_STEP: Final = 5
#: Blocks of adjacent 20 MHz channels, first and last. A wider channel lies within one block.
_RUNS: Final[dict[float, tuple[tuple[int, int], ...]]] = {
    5: ((36, 64), (100, 144), (149, 177)),
    6: ((1, 233),),
}
#: Channels whose centre frequencies are this far apart do not interfere, at 20 MHz and wider
#: (15.4.4.3).
_APART_MHZ: Final = 25
_WIDE_APART_MHZ: Final = 45


def channels(band_ghz: float, width_mhz: int) -> list[int]:
    """Return the numbers of the 20 MHz channels that can be part of a channel of this width.

    >>> channels(5, 160)[-1], len(channels(5, 20)), channels(6, 320)[-1]
    (177, 28, 189)
    """
    if band_ghz == 2.4:
        return list(range(1, 15 if width_mhz == 20 else 14))
    return [number for block in _blocks(band_ghz, width_mhz) for number in block]


def share(band_ghz: float, width_mhz: int, one: int, other: int) -> bool | None:
    """Whether two channels share all of their spectrum; None if they overlap partially.

    Args:
        band_ghz: the band: 2.4, 5 or 6.
        width_mhz: the width of both channels.
        one: the number of a 20 MHz channel that is part of the first channel, from `channels`.
        other: the number of a 20 MHz channel that is part of the second channel.

    >>> share(5, 20, 36, 40), share(5, 80, 36, 40), share(2.4, 20, 1, 3), share(2.4, 20, 1, 6)
    (False, True, None, False)
    """
    if band_ghz == 2.4:
        if one == other:
            return True
        apart = abs(_centre_mhz(one) - _centre_mhz(other))
        return False if apart >= (_APART_MHZ if width_mhz == 20 else _WIDE_APART_MHZ) else None
    return any(one in block and other in block for block in _blocks(band_ghz, width_mhz))


def _blocks(band_ghz: float, width_mhz: int) -> Iterator[range]:
    """Iterate over the channels of this width, each as a range of 20 MHz channel numbers.

    There are two overlapping sets of 320 MHz channels; this yields the set that begins at channel
    1.
    """
    parts = width_mhz // 20
    for first, last in _RUNS[band_ghz]:
        for begin in range(first, last + 1, _STEP * parts):
            end = begin + _STEP * (parts - 1)
            if end <= last:
                yield range(begin, end + 1, _STEP)


def _centre_mhz(number: int) -> int:
    """Return the centre frequency of a 2.4 GHz channel. Channel 14 does not follow the raster."""
    return 2484 if number == 14 else 2407 + _MHZ_A_STEP * number
