"""Captures of scenarios, and functions that write odd captures."""

from __future__ import annotations

import struct
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from airtcp.exceptions import ScenarioError
from airtcp.importer.draft import Draft
from airtcp.importer.files import drafts_of
from airtcp.importer.source import Source

_BULK = 'application = { kind = "bulk" }'


def written(directory: Path, text: str, name: str = "file") -> Path:
    """Write a text to a file in a directory, and return its path."""
    path = directory / name
    path.write_text(text)
    return path


def draft_of(paths: Sequence[Path], radio: str | None = None) -> Draft:
    """Return the only scenario that the files give."""
    (draft,) = drafts_of(paths, radio)
    return draft


def scenario_of(paths: Sequence[Path], radio: str | None = None) -> str:
    """Return the text of the only scenario that the files give."""
    return draft_of(paths, radio).text()


def read(directory: Path, *texts: str) -> dict[str, Any]:
    """Write texts to files, import them, and return the scenario's tables."""
    paths = [written(directory, text, f"file-{n}") for n, text in enumerate(texts)]
    return tomllib.loads(scenario_of(paths))


def outcome(reader: Callable[[Source], Draft], name: str, text: str) -> tuple[dict[str, Any], str]:
    """Return the keys that are written and the lines of the header, or the key of the error."""
    try:
        draft = reader(Source(name, text))
    except ScenarioError as error:
        return {"refused": error.key}, ""
    keys = {
        header: {key: said.value for key, said in table.items()}
        for header, table in draft.tables.items()
    }
    return keys, "\n".join([*draft.unknown, *draft.unread])


def _web(mean: str, think: str, more: str = "") -> str:
    size = f'{{ distribution = "exponential", mean = "{mean}" }}'
    pause = f'{{ distribution = "exponential", mean = "{think}" }}'
    return f'application = {{ kind = "web", size = {size}, think_time = {pause}{more} }}'


def _phy(standard: str, *keys: str) -> str:
    return "\n".join(["[phy]", f'standard = "{standard}"', *keys])


def _stations(name: str, count: int, *keys: str) -> str:
    return "\n".join(["[[stations]]", f'name = "{name}"', f"count = {count}", *keys])


def _flow(stations: str, direction: str, *keys: str) -> str:
    head = ["[[flows]]", f'stations = "{stations}"', f'direction = "{direction}"']
    return "\n".join([*head, *keys])


LINUX = 'tcp = { preset = "linux" }'
ACKS = 'tcp = { variant = "sack", delayed_ack = { every = 1 } }'
FTP = (
    'application = { kind = "ftp", interarrival = { distribution = "exponential", mean = "500 ms" }'
    ', size = { distribution = "exponential", mean = "60 kB" } }'
)
_AX_80 = _phy("802.11ax", 'channel_width = "80 MHz"', "mcs = 9", "spatial_streams = 2")
_AC_80 = _phy("802.11ac", 'channel_width = "80 MHz"', "mcs = 4", "spatial_streams = 2")
#: The duration of each capture in seconds, and the scenario's tables.
_TABLES: dict[str, tuple[int, list[str]]] = {
    "b-web": (300, [
        _phy("802.11b", 'data_rate = "11 Mb/s"', 'control_rate = "2 Mb/s"'),
        _stations("s", 10),
        _flow("s", "download", _web("30 kB", "5 s", ', request = "300 B"')),
    ]),
    "b-two-rates": (300, [
        _phy("802.11b", 'preamble = "short"'),
        _stations("near", 3),
        _stations("far", 2, 'data_rate = "2 Mb/s"'),
        _flow("near", "download", _web("40 kB", "3 s")),
        _flow("far", "download", _web("40 kB", "3 s")),
    ]),
    "a-uploads": (8, [
        _phy("802.11a", 'data_rate = "24 Mb/s"'),
        _stations("s", 4),
        _flow("s", "upload", _BULK, 'tcp = { receive_window = "16 KiB" }'),
    ]),
    "g-downloads": (8, [
        _phy("802.11g"),
        "[ap]\nqueue = { limit = 60 }",
        _stations("s", 5),
        _flow("s", "download", _BULK, ACKS),
    ]),
    "g-calls": (8, [
        _phy("802.11g"),
        _stations("s", 4),
        _flow("s", "both", 'application = { kind = "call", codec = "G.711" }'),
    ]),
    "n-web": (100, [
        _phy("802.11n", "mcs = 5", 'channel_width = "40 MHz"'),
        _stations("s", 8),
        _flow("s", "download", _web("100 kB", "2 s"), LINUX),
    ]),
    "n-rts-ftp": (100, [
        _phy("802.11n", "mcs = 3", 'guard_interval = "800 ns"'),
        '[mac]\nrts_threshold = "500 B"\nbeacon = {}',
        _stations("s", 4),
        _flow("s", "upload", FTP),
    ]),
    "ac-mixed": (2, [
        _AC_80,
        _stations("s", 3),
        _stations("u", 2),
        _flow("s", "download", _BULK, LINUX),
        _flow("u", "upload", _BULK, LINUX),
    ]),
    "ax-web-two-rates": (100, [
        _AX_80,
        _stations("near", 5),
        _stations("far", 5, "mcs = 2", "spatial_streams = 1"),
        _flow("near", "download", _web("100 kB", "2 s"), LINUX),
        _flow("far", "download", _web("100 kB", "2 s"), LINUX),
    ]),
    "ax-lossy-uploads": (6, [
        _phy("802.11ax", 'channel_width = "20 MHz"', "mcs = 4"),
        _stations("s", 2, 'frame_errors = "5 %"'),
        _flow("s", "upload", _BULK),
    ]),
}  # fmt: skip
# A capture has no warm-up: all of it is measured.
SCENARIOS = {
    name: "\n".join([*tables, f'[run]\nwarmup = "0 s"\nduration = "{s} s"\nreplications = 1\n'])
    for name, (s, tables) in _TABLES.items()
}


def pcap_frames(path: Path) -> Iterator[tuple[int, bytes, int]]:
    """Yield the frames of a capture that airtcp wrote: nanoseconds, captured bytes, length."""
    data, at = path.read_bytes(), 24
    while at < len(data):
        seconds, nanoseconds, kept, length = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + nanoseconds, data[at + 16 : at + 16 + kept], length
        at += 16 + kept


def pcap(frames: list[tuple[int, bytes, int]], link: int = 127) -> bytes:
    """Return a big-endian pcap file in microseconds."""
    parts = [struct.pack(">IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)]
    for time_ns, frame, length in frames:
        seconds, rest = divmod(time_ns, 10**9)
        parts.append(struct.pack(">IIII", seconds, rest // 1000, len(frame), length) + frame)
    return b"".join(parts)


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng(frames: list[tuple[int, bytes, int]], link: int = 127) -> bytes:
    """Return a pcapng file with one interface in nanoseconds and one without packets."""
    parts = [_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    parts.append(_block(1, struct.pack("<HHI", 1, 0, 0)))
    parts.append(_block(1, struct.pack("<HHIHHB3x", link, 0, 0, 9, 1, 9)))
    # A block of unknown type.
    parts.append(_block(0x0BAD, b"?"))
    for time_ns, frame, length in frames:
        head = struct.pack("<IIIII", 1, time_ns >> 32, time_ns & 0xFFFFFFFF, len(frame), length)
        parts.append(_block(6, head + frame))
    return b"".join(parts)


def ethernet(frame: bytes, length: int) -> tuple[bytes, int] | None:
    """Convert an 802.11 frame without QoS to Ethernet; None if it has no IP packet."""
    at = frame[2] | frame[3] << 8
    if frame[at] != 0x08 or frame[at + 24 : at + 27] != b"\xaa\xaa\x03":
        return None
    begin = at + 24 + 6
    whole = bytes(12) + frame[begin:]
    return whole, length - begin - 4 + 12
