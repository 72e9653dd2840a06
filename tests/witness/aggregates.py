"""A reader of captures of 802.11n and later, and the cells that it reads.

Shares nothing with the writer, nor with that of `captures`, which knows frames that go alone: it
knows radiotap's fields, and the frames of IEEE 802.11-2020, clause 9.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from airtcp import simulate
from airtcp.scenario import loads

WARMUP_S, DURATION_S = 0.2, 0.6

BASE = """
[phy]
standard = "{standard}"
{phy}
[mac]
{mac}
[[stations]]
name = "a"
count = 3
{errors}
[[flows]]
name = "down"
stations = "a"
direction = "download"
start_spread = "0 s"
application = {{ kind = "bulk" }}
[[flows]]
name = "up"
stations = "a"
direction = "upload"
start_spread = "0 s"
application = {{ kind = "bulk" }}
[run]
warmup = "200 ms"
duration = "600 ms"
replications = 1
seed = 11
"""

ERRORS = 'frame_errors = "5 %"'
SCENARIOS = {
    "n": BASE.format(standard="802.11n", phy="", mac="", errors=ERRORS),
    "n at 2.4 GHz, 40 MHz, two streams, A-MSDUs, RTS": BASE.format(
        standard="802.11n",
        phy='band = "2.4 GHz"\nchannel_width = "40 MHz"\nmcs = 3\nspatial_streams = 2',
        mac='rts_threshold = "2000 B"\naggregation = { amsdu = "7935 B" }',
        errors=ERRORS,
    ),
    "ac, Block ACK requests": BASE.format(
        standard="802.11ac", phy="", mac='rules = { preset = "ns-3" }', errors=ERRORS
    ),
    "ax, 256 frames": BASE.format(
        standard="802.11ax", phy='guard_interval = "1600 ns"', mac="", errors=ERRORS
    ),
    "be, 320 MHz, 1024 frames": BASE.format(
        standard="802.11be", phy='channel_width = "320 MHz"', mac="", errors=ERRORS
    ),
    "ac, few retries, TXOP": BASE.format(
        standard="802.11ac",
        phy="",
        mac='short_retry_limit = 2\nedca = { preset = "standard" }',
        errors='frame_errors = "30 %"',
    ),
}

#: PPDUs to two of three stations at once, in resource units of 242 tones.
OF_SEVERAL = {
    acknowledgment: BASE.format(
        standard="802.11ax",
        phy='channel_width = "40 MHz"',
        mac=f'ofdma = {{ acknowledgment = "{acknowledgment}" }}',
        errors=ERRORS,
    )
    for acknowledgment in ("mu-bar", "bar-sequence")
}

#: Of each field of radiotap its size, which is its alignment but for the last.
FIELDS = {
    0: (8, 8),
    1: (1, 1),
    2: (1, 1),
    3: (4, 2),
    19: (3, 1),
    20: (8, 4),
    21: (12, 2),
    23: (12, 2),
    24: (12, 2),
    # Two fields with type and length: U-SIG of 12 octets and EHT of 44.
    28: (4 + 12 + 4 + 44, 4),
}


@dataclass(frozen=True)
class Frame:
    """A record: when its PPDU began, radiotap's fields by their bits, the frame without its FCS."""

    start_ns: int
    fields: dict[int, bytes]
    mpdu: bytes
    fcs: int
    length: int

    @property
    def bad(self) -> bool:
        return bool(self.fields[1][0] & 0x40)

    @property
    def kind(self) -> str:
        names = {0x88: "data", 0x84: "request", 0x94: "block ack", 0xD4: "ack"}
        names |= {0xB4: "rts", 0xC4: "cts", 0xE4: "cf-end", 0x24: "trigger", 0xC8: "null"}
        return names[self.mpdu[0]]

    @property
    def receiver(self) -> bytes:
        return self.mpdu[4:10]

    @property
    def transmitter(self) -> bytes:
        return self.mpdu[10:16]

    @property
    def number(self) -> int:
        """Sequence number of a data frame; starting sequence number of the others."""
        place = 22 if self.kind == "data" else 18
        return int.from_bytes(self.mpdu[place : place + 2], "little") >> 4

    @property
    def retry(self) -> bool:
        return bool(self.mpdu[1] & 0x08)

    @property
    def ampdu(self) -> tuple[int, int] | None:
        """Reference number and flags."""
        field = self.fields.get(20)
        return struct.unpack("<IH", field[:6]) if field else None

    @property
    def received(self) -> set[int]:
        """The sequence numbers that a Block ACK tells of."""
        bits = int.from_bytes(self.mpdu[20:], "little")
        return {(self.number + bit) % 4096 for bit in range(bits.bit_length()) if bits >> bit & 1}


@cache
def captured(name: str) -> tuple[list[Frame], dict[str, Any], bytes]:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "air.pcap"
        result = simulate(
            loads((SCENARIOS | OF_SEVERAL)[name]), threads=1, pcap=path, snaplen=65_535
        )
        content = path.read_bytes()
    return list(records(content)), dict(result.simulation.runs[0].answer), content


def records(content: bytes) -> Iterator[Frame]:
    assert struct.unpack_from("<IHHIIII", content)[::6] == (0xA1B23C4D, 127)
    place = 24
    while place < len(content):
        seconds, nanos, kept, length = struct.unpack_from("<IIII", content, place)
        assert kept == length
        record = content[place + 16 : place + 16 + kept]
        place += 16 + kept
        header, present = struct.unpack_from("<xxHI", record)
        fields, at = {}, 8
        for bit, (size, alignment) in FIELDS.items():
            if present >> bit & 1:
                at += -at % alignment
                fields[bit] = record[at : at + size]
                at += size
        assert at == header
        assert present == sum(1 << bit for bit in fields)
        frame = record[header:]
        fcs = int.from_bytes(frame[-4:], "little")
        yield Frame(seconds * 10**9 + nanos, fields, frame[:-4], fcs, len(frame))


def ppdus(frames: list[Frame]) -> Iterator[list[Frame]]:
    """Frames that go at once: the subframes of an A-MPDU have its number."""
    group: list[Frame] = []
    for frame in frames:
        if group and (frame.ampdu is None or frame.ampdu[0] != group[0].ampdu[0]):
            yield group
            group = []
        if frame.ampdu is None:
            yield [frame]
        else:
            group.append(frame)
    if group:
        yield group


def window(name: str) -> int:
    """Return the number of frames that a Block ACK tells of."""
    return next((count for count in (1024, 256) if str(count) in name), 64)


def packets(frame: Frame) -> Iterator[bytes]:
    """The IP packets of a data frame, from the subframes of an A-MSDU (9.2.2) if it is one."""
    if not frame.mpdu[24] & 0x80:
        yield frame.mpdu[34:]
        return
    place = 26
    while place < len(frame.mpdu):
        place += -(place - 26) % 4
        length = int.from_bytes(frame.mpdu[place + 12 : place + 14], "big")
        llc, ip = frame.mpdu[place + 14 : place + 22], frame.mpdu[place + 22 : place + 14 + length]
        assert llc == bytes.fromhex("aaaa030000000800")
        assert int.from_bytes(ip[2:4], "big") == len(ip)
        yield ip
        place += 14 + length
    assert place == len(frame.mpdu)


def is_data(frame: Frame) -> bool:
    """Anything but a bare TCP ACK: payload behind the header of TCP, or a SYN."""
    return any(len(ip) > 20 + 4 * (ip[32] >> 4) or bool(ip[33] & 0x02) for ip in packets(frame))
