"""The radiotap header: rate and format of a frame, its channel, and whether its FCS is correct.

Reads the fields that radiotap.org defines, in the first namespace of a header.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final, NamedTuple

#: Alignment and size of each field, by its bit.
_FIELDS: Final = (
    *((8, 8), (1, 1), (1, 1), (2, 4), (1, 2), (1, 1), (1, 1), (2, 2), (2, 2), (2, 2)),
    *((1, 1), (1, 1), (1, 1), (1, 1), (2, 2), (2, 2), (1, 1), (1, 1), (4, 8), (1, 3)),
    *((4, 8), (2, 12), (8, 12), (2, 12), (2, 12), (2, 6), (1, 1), (2, 4)),
)
_TSFT, _FLAGS, _RATE, _CHANNEL, _MCS, _AMPDU, _VHT, _HE, _TLV = 0, 1, 2, 3, 19, 20, 21, 23, 28
_EXTENDED: Final = 1 << 31
_TLV_USIG, _TLV_EHT = 33, 34
_FLAG_SHORT_PREAMBLE, _FLAG_FCS, _FLAG_BAD_FCS = 0x02, 0x10, 0x40
#: Widths in MHz by VHT's field `bandwidth`; codes such as 20L are parts of a wider channel.
_VHT_MHZ: Final = (20, 40, 20, 20, 80, 40, 40, *(20,) * 4, 160, 80, 80, *(40,) * 4, *(20,) * 8)
_DSSS_KBPS: Final = (1000, 2000, 5500, 11000)
_MOST_CACHED: Final = 8192


class Sent(NamedTuple):
    """The rate of a frame: a rate of 802.11b, a or g in kb/s, or an MCS of a later format.

    `form` is "dsss", "ofdm", "ht", "vht", "he" or "eht"; `gi_ns` is 0 if unknown.
    """

    form: str
    kbps: int
    mcs: int = 0
    streams: int = 1
    width_mhz: int = 20
    gi_ns: int = 0


@dataclass(frozen=True)
class Radio:
    """A header. `sent` is None if it has no rate, and `mhz` is 0 if it has no channel."""

    sent: Sent | None
    mhz: int
    short_preamble: bool
    has_fcs: bool
    bad_fcs: bool


NOTHING: Final = Radio(None, 0, short_preamble=False, has_fcs=False, bad_fcs=False)


class Reader:
    """Reads headers, with a cache, since many differ only in times and counts."""

    def __init__(self) -> None:
        self._layouts: dict[int, dict[int, int]] = {}
        self._known: dict[bytes, Radio | None] = {}

    def read(self, data: bytes) -> tuple[Radio, int, int] | None:
        """Return the header, its length, and its A-MPDU reference (-1: none); None if damaged."""
        if len(data) < 8 or data[0]:
            return None
        length = data[2] | data[3] << 8
        present = data[4] | data[5] << 8 | data[6] << 16 | data[7] << 24
        if length < 8 or length > len(data):
            return None
        begin = 8
        if present & _EXTENDED:
            begin = _end_of_words(data, length)
            if not begin:
                return None
        layout = self._layouts.get(present if begin == 8 else present << 16 | begin)
        if layout is None:
            layout = _layout(present, begin)
            if len(self._layouts) < _MOST_CACHED:
                self._layouts[present if begin == 8 else present << 16 | begin] = layout
        # Two fields change from frame to frame: the time, and the A-MPDU number.
        ampdu = layout.get(_AMPDU, 0)
        rest = begin + 8 if _TSFT in layout else begin
        reference = -1
        if ampdu and ampdu + 8 <= length:
            (reference,) = struct.unpack_from("<I", data, ampdu)
            key = data[4:begin] + data[rest:ampdu] + data[ampdu + 4 : length]
        else:
            key = data[4:begin] + data[rest:length]
        if key in self._known:
            radio = self._known[key]
        else:
            radio = _radio(data[:length], layout)
            if len(self._known) >= _MOST_CACHED:
                self._known.clear()
            self._known[key] = radio
        return None if radio is None else (radio, length, reference)


def _end_of_words(data: bytes, length: int) -> int:
    """Return the offset after all present words; 0 if they do not end."""
    at = 4
    while at + 4 <= length:
        (word,) = struct.unpack_from("<I", data, at)
        at += 4
        if not word & _EXTENDED:
            return at
    return 0


def _layout(present: int, begin: int) -> dict[int, int]:
    """Return the offset of each field of the first word."""
    found, at = {}, begin
    for bit, (alignment, size) in enumerate(_FIELDS):
        if present >> bit & 1:
            at = (at + alignment - 1) // alignment * alignment
            found[bit] = at
            at += size
    if present >> _TLV & 1:
        found[_TLV] = (at + 3) // 4 * 4
    return found


def _radio(data: bytes, layout: dict[int, int]) -> Radio | None:
    """Parse the header; None if its fields exceed its length."""
    try:
        flags = data[layout[_FLAGS]] if _FLAGS in layout else 0
        mhz, channel = (
            struct.unpack_from("<HH", data, layout[_CHANNEL]) if _CHANNEL in layout else (0, 0)
        )
        sent = _sent(data, layout, channel)
    except (IndexError, struct.error):
        return None
    return Radio(
        sent,
        mhz,
        short_preamble=bool(flags & _FLAG_SHORT_PREAMBLE),
        has_fcs=bool(flags & _FLAG_FCS),
        bad_fcs=bool(flags & _FLAG_BAD_FCS),
    )


def _sent(data: bytes, layout: dict[int, int], channel: int) -> Sent | None:
    if _TLV in layout and (eht := _eht(data, layout[_TLV])):
        return eht
    if _HE in layout:
        return _he(struct.unpack_from("<6H", data, layout[_HE]))
    if _VHT in layout:
        known, flags, width, users = struct.unpack_from("<HBBB", data, layout[_VHT])
        mhz = _VHT_MHZ[width] if width < len(_VHT_MHZ) else 20
        gi_ns = (400 if flags & 4 else 800) if known & 4 else 0
        return Sent("vht", 0, users >> 4, max(users & 15, 1), mhz, gi_ns) if users & 15 else None
    if _MCS in layout:
        known, flags, index = struct.unpack_from("<BBB", data, layout[_MCS])
        if not known & 2 or index > 31:
            return None
        mhz = 40 if known & 1 and flags & 3 == 1 else 20
        gi_ns = (400 if flags & 4 else 800) if known & 4 else 0
        return Sent("ht", 0, index % 8, 1 + index // 8, mhz, gi_ns)
    if _RATE in layout and (rate := data[layout[_RATE]]):
        kbps = 500 * (rate & 0x7F)
        is_dsss = kbps in _DSSS_KBPS or (channel & 0x20 and not channel & 0x40)
        return Sent("dsss" if is_dsss else "ofdm", kbps)
    return None


def _he(words: tuple[int, ...]) -> Sent | None:
    if not words[0] & 0x20:
        return None
    width = words[4] & 15 if words[0] & 0x4000 else 0
    gi_ns = (800, 1600, 3200, 0)[words[4] >> 4 & 3] if words[1] & 2 else 0
    mhz = (20, 40, 80, 160)[width] if width < 4 else 20
    return Sent("he", 0, words[2] >> 8 & 15, max(words[5] & 15, 1), mhz, gi_ns)


def _eht(data: bytes, at: int) -> Sent | None:
    """Parse EHT and U-SIG, which are type-length-value fields."""
    mhz, gi_ns, user = 20, 0, None
    while at + 4 <= len(data):
        kind, size = struct.unpack_from("<HH", data, at)
        if kind == _TLV_USIG and size >= 4:
            (common,) = struct.unpack_from("<I", data, at + 4)
            if common & 2:
                mhz = (20, 40, 80, 160, 320, 320, 20, 20)[common >> 15 & 7]
        elif kind == _TLV_EHT and size >= 44:
            known, first = struct.unpack_from("<II", data, at + 4)
            (user,) = struct.unpack_from("<I", data, at + 4 + 40)
            gi_ns = (800, 1600, 3200, 0)[first >> 7 & 3] if known & 4 else 0
        at += 4 + (size + 3) // 4 * 4
    if user is None or not user & 2:
        return None
    return Sent("eht", 0, user >> 20 & 15, 1 + (user >> 24 & 15), mhz, gi_ns)
