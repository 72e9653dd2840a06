"""Recognize capture files that airtcp wrote.

Checks the format of the frames of simulations and the section header of testbeds. Only the
beginning of a file is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

#: pcap with nanoseconds, little-endian, version 2.4; LINKTYPE_IEEE802_11_RADIOTAP at its end.
_PCAP: Final = bytes.fromhex("4d3cb2a1 0200 0400 0000000000000000")
_RADIOTAP: Final = (127).to_bytes(4, "little")
_PCAP_BYTES: Final = 24
_RECORD_BYTES: Final = 16
#: The smallest radiotap header with a TSFT, which is its first field.
_LEAST_RADIOTAP: Final = 16
_HAS_TSFT: Final = 1
#: The first two octets of a node's address; the other four are the node number.
_NODE: Final = b"\x02\x00"
_GROUP: Final = 1
#: First octets of ACK and CTS, which have no transmitter address.
_ANSWERS: Final = (0xD4, 0xC4)
#: Upper limit for the time of a simulated frame. Simulations begin at 0; a real clock is past 2001.
_LATEST_S: Final = 1_000_000_000
#: The longest time from the start of a PPDU (the time of its record) to its first MPDU (the TSFT).
_LONGEST_PREAMBLE_US: Final = 1_000_000
#: The beginning of a pcapng section, little-endian, of unknown length, followed by its writer: a
#: testbed, or a simulation of several cells.
_SECTION: Final = bytes.fromhex("0a0d0d0a")
_SECTION_BODY: Final = bytes.fromhex("4d3c2b1a 0100 0000 ffffffffffffffff 0400")
_WRITERS: Final = tuple(
    _SECTION_BODY + len(name).to_bytes(2, "little") + name
    for name in (b"airtcp testbed", b"airtcp simulate")
)


class _Record(NamedTuple):
    """A record of a pcap file: the time of its frame and the captured bytes."""

    seconds: int
    nanos: int
    kept: bytes


def is_own_capture(head: bytes) -> bool:
    """Whether the beginning of a file shows a capture of `airtcp simulate` or `airtcp testbed`.

    Every frame must look simulated: it begins in simulated time, its TSFT follows its beginning,
    and its addresses are those of nodes. Linux's simulated radios (mac80211_hwsim) have such
    addresses too, but wall-clock time.
    """
    if head.startswith(_SECTION):
        return head[8:].startswith(_WRITERS)
    if not head.startswith(_PCAP) or head[_PCAP_BYTES - 4 : _PCAP_BYTES] != _RADIOTAP:
        return False
    if len(head) == _PCAP_BYTES:
        # An empty capture: overwriting it loses nothing.
        return True
    records = list(_records(head))
    return bool(records) and all(map(_is_simulated, records))


def _records(head: bytes) -> Iterator[_Record]:
    """Yield the complete records in the beginning of a file."""
    place = _PCAP_BYTES
    while place + _RECORD_BYTES <= len(head):
        seconds, nanos, kept, _ = struct.unpack_from("<IIII", head, place)
        place += _RECORD_BYTES + kept
        if place > len(head):
            return
        yield _Record(seconds, nanos, head[place - kept : place])


def _is_simulated(record: _Record) -> bool:
    kept = record.kept
    if len(kept) < _LEAST_RADIOTAP or kept[0] != 0 or record.seconds >= _LATEST_S:
        return False
    length, present, tsft_us = struct.unpack_from("<HIQ", kept, 2)
    begin_us = record.seconds * 1_000_000 + record.nanos // 1_000
    if not present & _HAS_TSFT or not 0 <= tsft_us - begin_us <= _LONGEST_PREAMBLE_US:
        return False
    frame = kept[length:]
    receiver, transmitter = frame[4:10], frame[10:16]
    to_group = len(receiver) == 6 and receiver[0] & _GROUP
    if not to_group and not receiver.startswith(_NODE):
        return False
    # The capture length may cut the second address.
    return frame[0] in _ANSWERS or transmitter.startswith(_NODE)
