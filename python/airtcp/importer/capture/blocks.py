"""pcap and pcapng files as a stream of records, plain or compressed with gzip.

A damaged file yields the records before the damage, and the damage is recorded.

No library is used; benches/README.md lists the existing ones and the reasons. Both formats take a
page of text (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Final, NamedTuple

from airtcp.importer.source import phrase

#: Magic numbers of pcap: byte order, time unit in nanoseconds, size of a record's header.
_PCAP: Final = {
    b"\xa1\xb2\xc3\xd4": (">", 1000, 16),
    b"\xd4\xc3\xb2\xa1": ("<", 1000, 16),
    b"\xa1\xb2\x3c\x4d": (">", 1, 16),
    b"\x4d\x3c\xb2\xa1": ("<", 1, 16),
    # A variant with 8 more bytes in each record header.
    b"\xa1\xb2\xcd\x34": (">", 1000, 24),
    b"\x34\xcd\xb2\xa1": ("<", 1000, 24),
}
_PCAPNG: Final = b"\x0a\x0d\x0d\x0a"
_GZIP: Final = b"\x1f\x8b"
_CHUNK: Final = 1 << 20
#: No link has longer frames; a longer record is damage.
_MOST_RECORD: Final = 1 << 20
_MOST_BLOCK: Final = 1 << 24
_MOST_INTERFACES: Final = 4096
_INTERFACE, _PACKET, _SIMPLE, _ENHANCED = 1, 2, 3, 6
_TSRESOL, _TSOFFSET = 9, 14


#: Called with the fraction of the file that was read.
Progress = Callable[[float], None] | None


class Record(NamedTuple):
    """A captured frame: link type, time in ns (-1: unknown), captured bytes, original length."""

    link: int
    time_ns: int
    data: bytes
    length: int


@dataclass
class Damage:
    """Sentences about parts of a file that were not read."""

    told: list[str] = field(default_factory=list)
    _counts: Counter[tuple[str, object]] = field(default_factory=Counter)

    def tell(self, name: str, **values: object) -> None:
        """Record the reason why reading ended."""
        self.told.append(phrase(f"capture.{name}", **values))

    def count(self, name: str, of: object = None) -> None:
        """Count a problem that may occur more than once."""
        self._counts[name, of] += 1

    def counted(self) -> list[str]:
        """Return a sentence for each problem that was counted."""
        return [f"{n} {phrase(f'capture.{one}', of=of)}" for (one, of), n in self._counts.items()]


def is_capture(path: Path) -> bool:
    """Whether a file begins as pcap or pcapng, plain or gzip; False if it cannot be read."""
    try:
        with path.open("rb") as file:
            first = file.read(4)
            if first[:2] == _GZIP:
                file.seek(0)
                with gzip.open(file) as unpacked:
                    first = unpacked.read(4)
    except (OSError, EOFError, zlib.error, ValueError):
        return False
    return first in _PCAP or first == _PCAPNG


def records(path: Path, damage: Damage, progress: Progress = None) -> Iterator[Record]:
    """Yield the records of a capture file, as far as they can be read. Raises OSError.

    `progress` is called with the fraction of the file that was read, once per chunk.
    """
    with path.open("rb") as file:
        size = max(path.stat().st_size, 1)
        tell = None if progress is None else lambda: progress(min(file.tell() / size, 1.0))
        compressed = file.read(2) == _GZIP
        file.seek(0)
        buffer = _Buffer(gzip.GzipFile(fileobj=file) if compressed else file, damage, tell)
        magic = buffer.take(4)
        if magic == _PCAPNG:
            yield from _pcapng(buffer, damage)
        elif magic in _PCAP:
            yield from _pcap(buffer, damage, *_PCAP[magic])


class _Buffer:
    """The bytes of a file in order."""

    def __init__(
        self,
        file: BufferedReader | gzip.GzipFile,
        damage: Damage,
        tell: Callable[[], None] | None,
    ) -> None:
        self._file = file
        self._tell = tell
        self._damage = damage
        self.data = b""
        self.at = 0
        #: The offset of `data` in the uncompressed file.
        self._begin = 0

    @property
    def place(self) -> str:
        """The position of the next byte, for messages."""
        return f"at byte {self._begin + self.at}"

    def has(self, count: int) -> bool:
        """Read ahead; return whether at least `count` bytes are left."""
        left = len(self.data) - self.at
        if left >= count:
            return True
        self._begin += self.at
        parts, self.at = [self.data[self.at :]], 0
        while left < count:
            try:
                more = self._file.read1(max(_CHUNK, count - left))
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self._damage.tell("gzip_damaged", error=error)
                more = b""
            if not more:
                break
            parts.append(more)
            left += len(more)
        self.data = b"".join(parts)
        if self._tell is not None:
            self._tell()
        return left >= count

    def take(self, count: int) -> bytes:
        """Return the next bytes, fewer at the end of the file."""
        self.has(count)
        found = self.data[self.at : self.at + count]
        self.at += len(found)
        return found

    @property
    def is_over(self) -> bool:
        """Whether no bytes are left."""
        return not self.has(1)


def _pcap(
    buffer: _Buffer, damage: Damage, order: str, unit_ns: int, header_bytes: int
) -> Iterator[Record]:
    head = buffer.take(20)
    if len(head) < 20:
        damage.tell("ends_in_header", place=buffer.place)
        return
    link = struct.unpack(order + "HHiIII", head)[5] & 0xFFFF
    unpack = struct.Struct(order + "IIII").unpack_from
    has = buffer.has
    while has(header_bytes):
        seconds, parts, kept, length = unpack(buffer.data, buffer.at)
        if kept > _MOST_RECORD or length > _MOST_BLOCK or parts * unit_ns >= 2_000_000_000:
            damage.tell("bad_record", place=buffer.place)
            return
        if not has(header_bytes + kept):
            damage.tell("cut_record", place=buffer.place)
            return
        begin = buffer.at + header_bytes
        buffer.at = begin + kept
        yield Record(
            link, seconds * 10**9 + parts * unit_ns, buffer.data[begin : begin + kept], length
        )
    if not buffer.is_over:
        damage.tell("cut_record", place=buffer.place)


class _Interface(NamedTuple):
    link: int
    snaplen: int
    #: Nanoseconds are units * numerator / denominator.
    numerator: int
    denominator: int
    offset_ns: int


def _pcapng(buffer: _Buffer, damage: Damage) -> Iterator[Record]:
    order, interfaces = "<", list[_Interface]()
    kind_bytes = _PCAPNG
    while kind_bytes:
        if kind_bytes == _PCAPNG:
            if not buffer.has(8):
                damage.tell("ends_in_section", place=buffer.place)
                return
            magic = buffer.data[buffer.at + 4 : buffer.at + 8]
            if magic not in (b"\x1a\x2b\x3c\x4d", b"\x4d\x3c\x2b\x1a"):
                damage.tell("bad_section", place=buffer.place)
                return
            order, interfaces = (">" if magic == b"\x1a\x2b\x3c\x4d" else "<"), []
        if len(kind_bytes) < 4 or not buffer.has(4):
            damage.tell("cut_block", place=buffer.place)
            return
        (kind,) = struct.unpack(order + "I", kind_bytes)
        (total,) = struct.unpack_from(order + "I", buffer.data, buffer.at)
        if total < 12 or total % 4 or total > _MOST_BLOCK:
            damage.tell("bad_block", place=buffer.place)
            return
        if not buffer.has(total - 4):
            damage.tell("cut_block", place=buffer.place)
            return
        begin, end = buffer.at + 4, buffer.at + total - 8
        buffer.at += total - 4
        if kind == _INTERFACE:
            one = _interface(buffer.data[begin:end], order)
            if one is None or len(interfaces) >= _MOST_INTERFACES:
                damage.tell("bad_interface", place=buffer.place)
                return
            interfaces.append(one)
        elif kind in (_ENHANCED, _PACKET, _SIMPLE):
            record = _packet(kind, buffer.data[begin:end], order, interfaces)
            if record is None:
                damage.count("bad_packet_block")
            else:
                yield record
        kind_bytes = buffer.take(4)


def _interface(body: bytes, order: str) -> _Interface | None:
    if len(body) < 8:
        return None
    link, _, snaplen = struct.unpack_from(order + "HHI", body)
    numerator, denominator, offset_ns, at = 1000, 1, 0, 8
    while at + 4 <= len(body):
        code, size = struct.unpack_from(order + "HH", body, at)
        value = body[at + 4 : at + 4 + size]
        if code == 0:
            break
        if code == _TSRESOL and len(value) == 1:
            power = value[0] & 0x7F
            # Powers of two or ten. No clock is finer than 10^-18.
            base = 2 if value[0] & 0x80 else 10
            numerator, denominator = 10**9, base ** min(power, 63 if base == 2 else 18)
        elif code == _TSOFFSET and len(value) == 8:
            offset_ns = struct.unpack(order + "q", value)[0] * 10**9
        at += 4 + (size + 3) // 4 * 4
    return _Interface(link, snaplen, numerator, denominator, offset_ns)


def _packet(kind: int, body: bytes, order: str, interfaces: list[_Interface]) -> Record | None:
    """Return the record of a block; None if it is damaged."""
    if kind == _SIMPLE:
        if len(body) < 4 or not interfaces:
            return None
        (length,) = struct.unpack_from(order + "I", body)
        kept = min(length, interfaces[0].snaplen or length)
        data = body[4 : 4 + kept]
        return Record(interfaces[0].link, -1, data, length) if len(data) == kept else None
    if len(body) < 20:
        return None
    shape = "IIIII" if kind == _ENHANCED else "HHIIII"
    number, *_, high, low, kept, length = struct.unpack_from(order + shape, body)
    if number >= len(interfaces) or kept > len(body) - 20 or length > _MOST_BLOCK:
        return None
    one = interfaces[number]
    time_ns = (high << 32 | low) * one.numerator // one.denominator + one.offset_ns
    return Record(one.link, max(time_ns, 0), body[20 : 20 + kept], length)
