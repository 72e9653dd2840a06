"""The records of a capture of several cells combined: each frame once, and who heard it.

Reads pcapng with one interface per node, as `airtcp.simulate` writes it. The first record of a
frame is the sender's; the records of other nodes follow, with a wrong FCS if they could not decode
it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_PACKET: Final = 6
_RECEIVER: Final = slice(4, 10)
_TRANSMITTER: Final = slice(10, 16)
#: First octets of frames without a transmitter address: CTS and ACK.
_WITHOUT: Final = (0xC4, 0xD4)


@dataclass
class Heard:
    """A frame or an aggregate: its sender, its records there, and the nodes that heard it.

    `came` are the other nodes that received at least one of its MPDUs. `lost` are nodes that heard
    the preamble but received none.
    """

    start_ns: int
    node: int
    records: list[tuple[int, bytes]] = field(default_factory=list)
    came: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)


def heard(content: bytes) -> Iterator[Heard]:
    """Yield the PPDUs of a capture, in the order of their start."""
    now: dict[tuple[bytes, ...], Heard] = {}
    at = -1
    for start, node, length, record in _records(content):
        if start != at:
            yield from _settled(now)
            now, at = {}, start
        header, bad = struct.unpack_from("<H", record, 2)[0], bool(record[16] & 0x40)
        frame = record[header:]
        transmitter = b"" if frame[0] in _WITHOUT else frame[_TRANSMITTER]
        # A transmitter sends one PPDU at a time; concurrent responses go to different receivers.
        key = (transmitter,) if transmitter else (frame[:1], frame[_RECEIVER])
        one = now.setdefault(key, Heard(start, node))
        if node == one.node:
            one.records.append((length, record))
        else:
            (one.lost if bad else one.came).add(node)
    yield from _settled(now)


def _settled(now: dict[tuple[bytes, ...], Heard]) -> Iterator[Heard]:
    for one in now.values():
        one.lost -= one.came
        yield one


def _records(content: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield time, interface, length and captured bytes of each packet of a file."""
    place = 0
    while place + 12 <= len(content):
        kind, size = struct.unpack_from("<II", content, place)
        if kind == _PACKET:
            node, high, low, kept, length = struct.unpack_from("<IIIII", content, place + 8)
            begin = place + 28
            yield high << 32 | low, node, length, content[begin : begin + kept]
        place += size
