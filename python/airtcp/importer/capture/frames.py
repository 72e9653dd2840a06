"""Headers of IEEE 802.11 (clause 9), of the link types of captures, and of IP packets."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

#: Link types (https://www.tcpdump.org/linktypes.html).
ETHERNET, RAW, DOT11, COOKED = 1, 101, 105, 113
PRISM, RADIOTAP, AVS, PPI, COOKED2 = 119, 127, 163, 192, 276
IPV4_ALONE, IPV6_ALONE = 228, 229
#: Four octets with the address family before the packet, in host byte order.
LOOPBACK: Final = (0, 108)
WIRED: Final = frozenset(
    {*LOOPBACK, ETHERNET, RAW, 12, 14, COOKED, COOKED2, IPV4_ALONE, IPV6_ALONE}
)
WIRELESS: Final = frozenset({DOT11, PRISM, RADIOTAP, AVS, PPI})

_IPV4, _IPV6, _VLAN = 0x0800, 0x86DD, (0x8100, 0x88A8)
_SNAP: Final = b"\xaa\xaa\x03\x00\x00"
TCP, UDP = 6, 17


class Packet(NamedTuple):
    """An IP packet: addresses, protocol and offset of its payload, captured and total length."""

    source: bytes
    target: bytes
    protocol: int
    at: int
    length: int
    total: int


def before_frame(link: int, data: bytes) -> int:
    """Return the number of bytes before the MAC header, by link type; -1 if damaged."""
    if link == DOT11:
        return 0
    try:
        if link == PRISM:
            size = struct.unpack_from("<I", data, 4)[0]
            # The header may be AVS instead of Prism.
            if size > len(data):
                size = struct.unpack_from(">I", data, 4)[0]
        elif link == AVS:
            size = struct.unpack_from(">I", data, 4)[0]
        else:
            (size, inner) = struct.unpack_from("<HI", data, 2)
            if inner != DOT11:
                return -1
    except struct.error:
        return -1
    return int(size) if 8 <= size <= len(data) else -1


def network_layer(link: int, data: bytes) -> tuple[int, int]:
    """Return the EtherType of a wired frame and the offset of its packet; 0 if unknown."""
    if link in (RAW, 12, 14, IPV4_ALONE, IPV6_ALONE, *LOOPBACK):
        at = 4 if link in LOOPBACK else 0
        version = data[at] >> 4 if len(data) > at else 0
        return (_IPV4 if version == 4 else _IPV6 if version == 6 else 0), at
    at = {ETHERNET: 12, COOKED: 14, COOKED2: 0}[link]
    kind = data[at] << 8 | data[at + 1] if len(data) >= at + 2 else 0
    at = 20 if link == COOKED2 else at + 2
    while kind in _VLAN and len(data) >= at + 4:
        kind = data[at + 2] << 8 | data[at + 3]
        at += 4
    return kind, at


def snap_type(data: bytes, at: int) -> int:
    """Return the EtherType after LLC and SNAP; 0 if there are none."""
    if data[at : at + 5] == _SNAP and len(data) >= at + 8:
        return data[at + 6] << 8 | data[at + 7]
    return 0


def packet(kind: int, data: bytes, at: int) -> Packet | None:
    """Return the IP packet at an offset; None if there is none, a later fragment, or cut off."""
    if kind == _IPV4:
        if len(data) < at + 20 or data[at] >> 4 != 4:
            return None
        header = (data[at] & 15) * 4
        total = data[at + 2] << 8 | data[at + 3]
        if header < 20 or (data[at + 6] & 0x1F or data[at + 7]):
            return None
        if total < header:
            # Segmentation offload: a length of 0 means too large for the field.
            if total:
                return None
            total = len(data) - at
        return Packet(
            data[at + 12 : at + 16],
            data[at + 16 : at + 20],
            data[at + 9],
            at + header,
            total - header,
            total,
        )
    if kind == _IPV6:
        if len(data) < at + 40 or data[at] >> 4 != 6:
            return None
        payload = data[at + 4] << 8 | data[at + 5]
        return Packet(
            data[at + 8 : at + 24],
            data[at + 24 : at + 40],
            data[at + 6],
            at + 40,
            payload,
            payload + 40,
        )
    return None


def subframes(data: bytes, at: int, end: int) -> list[tuple[int, int]]:
    """Return offset and length of the packets of an A-MSDU, as far as captured."""
    found: list[tuple[int, int]] = []
    while at + 14 <= min(end, len(data)) and len(found) < 256:
        length = data[at + 12] << 8 | data[at + 13]
        if not length:
            break
        found.append((at + 14, length))
        at += (14 + length + 3) // 4 * 4
    return found


def beacon(data: bytes, at: int, end: int) -> tuple[int, set[int]]:
    """Return the interval of a beacon in time units, and the identifiers of its elements."""
    end = min(end, len(data))
    if end < at + 12:
        return 0, set()
    units = data[at + 8] | data[at + 9] << 8
    found: set[int] = set()
    at += 12
    while at + 2 <= end:
        kind, size = data[at], data[at + 1]
        if kind == 255 and size and at + 2 < end:
            kind = 256 + data[at + 2]
        found.add(kind)
        at += 2 + size
    return units, found


def shown(address: bytes) -> str:
    """Format an IP address."""
    return ".".join(map(str, address)) if len(address) == 4 else address.hex(":", 2)


def asks(data: bytes, packet: Packet) -> bool:
    """Whether the source is the client: it sends a SYN, or has the higher port."""
    at = packet.at
    if packet.protocol == TCP and len(data) > at + 13 and data[at + 13] & 2:
        return not data[at + 13] & 16
    return data[at : at + 2] > data[at + 2 : at + 4]
