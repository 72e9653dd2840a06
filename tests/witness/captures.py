"""Scenarios to capture, and a reader of captures that shares no code with the writer.

Airtimes are computed here a second time, from the standard.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airtcp import simulate
from airtcp.scenario import loads

WARMUP_S, DURATION_S = 1, 4

UPLINK = """
[links.uplink]
rate = "3 Mb/s"
delay = "20 ms"
queue = 8
"""
LOSSY = 'path = ["uplink"]'


def scenario_text(
    standard: str,
    count: int,
    flows: str,
    *,
    phy: str = "",
    mac: str = "",
    links: str = "",
    warmup_s: int = WARMUP_S,
    duration_s: int = DURATION_S,
) -> str:
    return f"""
[phy]
standard = "{standard}"
{phy}
[mac]
{mac}
[[stations]]
name = "a"
count = {count}
{links}
{flows}
[run]
warmup = "{warmup_s} s"
duration = "{duration_s} s"
replications = 2
seed = 7
"""


def flow(
    direction: str, *keys: str, application: str = 'kind = "bulk"', name: str = "f", tcp: str = ""
) -> str:
    return "\n".join(
        [
            "[[flows]]",
            f'name = "{name}"',
            'stations = "a"',
            f'direction = "{direction}"',
            f"application = {{ {application} }}",
            f"tcp = {{ {tcp} }}" if tcp else "",
            *keys,
        ]
    )


EDCA = """
[mac.edca.ap.AC_VO]
aifsn = 2
[mac.edca.stations.AC_BE]
txop_limit = "5 ms"
[mac.classify]
tcp_ack = "AC_VO"
"""
PAGES = """kind = "web", size = { distribution = "pareto", mean = "30 kB", shape = 1.5 },
think_time = { distribution = "exponential", mean = "200 ms" }, request = "300 B" """.replace(
    "\n", " "
)

FILES = """kind = "ftp", size = { distribution = "exponential", mean = "50 kB" },
interarrival = { distribution = "exponential", mean = "1 s" }, control = true """.replace("\n", " ")

#: The scenarios of the tests: every kind of frame and header.
SCENARIOS = {
    "downloads": scenario_text("802.11b", 5, flow("download")),
    "uploads, some with RTS": scenario_text(
        "802.11g", 5, flow("upload", LOSSY), mac='rts_threshold = "500 B"', links=UPLINK
    ),
    "RTS for all, 802.11a": scenario_text(
        "802.11a", 5, flow("upload"), mac='rts_threshold = "0 B"'
    ),
    "EDCA, SACK, losses": scenario_text(
        "802.11b", 5, flow("upload", LOSSY, tcp='variant = "sack"'), mac=EDCA, links=UPLINK
    ),
    "UDP both ways, short preamble": scenario_text(
        "802.11b",
        4,
        flow("upload", application='kind = "udp", packet = "1500 B", rate = "saturated"')
        + "\n"
        + flow(
            "download", application='kind = "udp", packet = "200 B", rate = "500 kb/s"', name="g"
        ),
        phy='preamble = "short"\ncontrol_rate = "2 Mb/s"',
    ),
    "small datagrams": scenario_text(
        "802.11b",
        2,
        flow("upload", application='kind = "udp", packet = "29 B", rate = "saturated"')
        + "\n"
        + flow("download", application='kind = "udp", packet = "40 B", rate = "50 kb/s"', name="g"),
    ),
    "scaled windows, longer headers": scenario_text(
        "802.11g",
        2,
        flow(
            "upload",
            LOSSY,
            tcp='variant = "sack", receive_window = "4 MiB", header_bits = 416',
        ),
        links=UPLINK,
    ),
    "other handshakes": scenario_text(
        "802.11b",
        4,
        flow("download", tcp='handshake = "two-way"')
        + "\n"
        + flow("upload", tcp='handshake = "none"', name="g"),
    ),
    "web pages": scenario_text("802.11b", 8, flow("download", application=PAGES)),
    "FTP": scenario_text(
        "802.11b",
        6,
        flow("download", application=FILES) + "\n" + flow("upload", application=FILES, name="g"),
    ),
    "bursts": scenario_text(
        "802.11b", 6, flow("download"), links='[ap]\naccess = { scheme = "adaptive-burst" }'
    ),
    "beacons": scenario_text("802.11b", 6, flow("download"), mac="beacon = {}"),
    "beacons of 802.11a, EDCA": scenario_text(
        "802.11a",
        4,
        flow("upload"),
        mac='beacon = { interval = "3 ms", size_bits = 2000, rate = "12 Mb/s" }\n' + EDCA,
    ),
    "few retries": scenario_text(
        "802.11b", 12, flow("upload"), mac="short_retry_limit = 2\nlong_retry_limit = 2"
    ),
}


#: The scenarios that tshark reads in `make test`: each PHY, EDCA, SACK, UDP, beacons, a dialogue.
#: `make verify` reads all.
FOR_TSHARK = (
    "RTS for all, 802.11a",
    "EDCA, SACK, losses",
    "UDP both ways, short preamble",
    "scaled windows, longer headers",
    "FTP",
    "beacons of 802.11a, EDCA",
)


def capture(text: str, path: Path, **options: Any) -> dict[str, Any]:
    """Capture replication 0 of a scenario, and return its answer."""
    result = simulate(loads(text), threads=1, replications=1, pcap=path, **options)
    return dict(result.simulation.runs[0].answer)


#: The size of each radiotap field, and its alignment, equal to the size except for the last.
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
#: Frames by the first octet of their header (9.2.4.1).
KINDS = {
    0x80: "beacon", 0x08: "data", 0x88: "data", 0xC8: "null", 0xB4: "rts", 0xC4: "cts", 0xD4: "ack",
    0x84: "request", 0x94: "block ack", 0xE4: "cf-end", 0x24: "trigger",
}  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """A record: start of its PPDU, radiotap's fields by bit, and the frame without FCS.

    `length` includes the FCS, which is None if the record was cut before it. `header_bytes` is
    `header_bits` of the scenario.
    """

    start_ns: int
    fields: dict[int, bytes]
    mpdu: bytes
    fcs: int | None
    length: int
    header_bytes: int

    @property
    def kind(self) -> str:
        return KINDS[self.mpdu[0]]

    @property
    def tsft_us(self) -> int:
        return int.from_bytes(self.fields[0], "little")

    @property
    def short_preamble(self) -> bool:
        return bool(self.fields[1][0] & 0x02)

    @property
    def bad(self) -> bool:
        return bool(self.fields[1][0] & 0x40)

    @property
    def rate_bps(self) -> int:
        return 500_000 * self.fields[2][0]

    @property
    def channel_flags(self) -> int:
        return int.from_bytes(self.fields[3][2:], "little")

    @property
    def ampdu(self) -> tuple[int, int] | None:
        """A-MPDU reference number and flags."""
        field = self.fields.get(20)
        return struct.unpack("<IH", field[:6]) if field else None

    @property
    def duration_us(self) -> int:
        return int.from_bytes(self.mpdu[2:4], "little")

    @property
    def retry(self) -> bool:
        return bool(self.mpdu[1] & 0x08)

    @property
    def receiver(self) -> bytes:
        return self.mpdu[4:10]

    @property
    def transmitter(self) -> bytes:
        return self.mpdu[10:16]

    @property
    def number(self) -> int:
        """Sequence number of data and beacons; starting sequence number of the others."""
        place = 22 if self.kind in ("data", "beacon") else 18
        return int.from_bytes(self.mpdu[place : place + 2], "little") >> 4

    @property
    def received(self) -> set[int]:
        """Sequence numbers that a Block ACK acknowledges."""
        bits = int.from_bytes(self.mpdu[20:], "little")
        return {(self.number + bit) % 4096 for bit in range(bits.bit_length()) if bits >> bit & 1}

    @property
    def packet(self) -> bytes:
        """The IP packet after the MAC header, LLC and SNAP."""
        assert self.kind == "data"
        return self.mpdu[34 if self.mpdu[0] == 0x88 else 32 :]

    @property
    def ip_length(self) -> int:
        return int.from_bytes(self.packet[2:4], "big")

    @property
    def payload(self) -> int:
        """Bytes of TCP or UDP payload."""
        if self.packet[9] == 17:
            return self.ip_length - 28
        return self.ip_length - 20 - 4 * (self.packet[32] >> 4)

    @property
    def syn_options(self) -> int:
        """Bytes of SYN options, which `header_bits` does not count."""
        is_syn = self.packet[9] == 6 and self.packet[33] & 0x02
        return 20 + 4 * (self.packet[32] >> 4) - self.header_bytes if is_syn else 0

    @property
    def air_ns(self) -> int:
        """IEEE 802.11-2020, 16.3.4 (HR/DSSS), 17.4.3 and 18.5.3.2 (OFDM, ERP-OFDM)."""
        length = self.length - (self.syn_options if self.kind == "data" else 0)
        bits = 8 * length
        if self.channel_flags & 0x20:
            return (96_000 if self.short_preamble else 192_000) + 1000 * -(
                -bits * 1_000_000 // self.rate_bps
            )
        symbols = -(-(16 + bits + 6) * 1_000_000 // (4 * self.rate_bps))
        erp = self.channel_flags & 0x80
        return 20_000 + 4_000 * symbols + (6_000 if erp else 0)

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.air_ns


def records(content: bytes, header_bytes: int = 40) -> Iterator[Frame]:
    """Return all frames of a capture with timestamps in nanoseconds and radiotap headers."""
    magic, major, minor, _, _, snaplen, link = struct.unpack_from("<IHHIIII", content)
    assert (magic, major, minor, link) == (0xA1B23C4D, 2, 4, 127)
    place = 24
    while place < len(content):
        seconds, nanos, kept, length = struct.unpack_from("<IIII", content, place)
        record = content[place + 16 : place + 16 + kept]
        place += 16 + kept
        assert len(record) == kept == min(length, snaplen)
        assert nanos < 1_000_000_000
        version, header, present = struct.unpack_from("<BxHI", record)
        fields, at = {}, 8
        for bit, (size, alignment) in FIELDS.items():
            if present >> bit & 1:
                at += -at % alignment
                fields[bit] = record[at : at + size]
                at += size
        assert (version, at) == (0, header)
        assert present == sum(1 << bit for bit in fields)
        # The record has an FCS, and the frequency is in the band.
        assert fields[1][0] & 0x10
        megahertz, channel = struct.unpack("<HH", fields[3])
        assert channel & 0x180 == (0x80 if megahertz < 5000 else 0x100)
        start_ns = seconds * 1_000_000_000 + nanos
        fcs = int.from_bytes(record[-4:], "little") if kept == length else None
        mpdu = record[header:] if fcs is None else record[header:-4]
        yield Frame(start_ns, fields, mpdu, fcs, length - header, header_bytes)


def read(path: Path, header_bytes: int = 40) -> list[Frame]:
    """Return all records of a capture without aggregates.

    `header_bytes` is the size of IP and TCP headers.
    """
    frames = list(records(path.read_bytes(), header_bytes))
    assert all(frame.fields.keys() == {0, 1, 2, 3} for frame in frames)
    assert {int.from_bytes(frame.fields[3][:2], "little") for frame in frames} <= {2412, 5180}
    return frames


def airtime_ns(frames: list[Frame]) -> dict[str, int]:
    """Return the airtime by use within the measured time, like `airtime` of a result."""
    begin, end = WARMUP_S * 1_000_000_000, (WARMUP_S + DURATION_S) * 1_000_000_000

    def measured(start: int, finish: int) -> int:
        return max(0, min(finish, end) - max(start, begin))

    parts = {"data": 0, "tcp_ack": 0, "control": 0, "collision": 0}
    collided_until = 0
    for frame in frames:
        if frame.bad:
            # Frames of a collision begin together; time that they share counts once.
            start = max(frame.start_ns, collided_until)
            parts["collision"] += measured(start, frame.end_ns)
            collided_until = max(collided_until, frame.end_ns)
            continue
        cargo = "control"
        if frame.kind == "data":
            cargo = "data" if frame.payload else "tcp_ack"
        parts[cargo] += measured(frame.start_ns, frame.end_ns)
    return parts
