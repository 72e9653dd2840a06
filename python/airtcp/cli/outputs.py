"""Checks of output files before the work begins.

A file that airtcp wrote may be overwritten; `--force` overwrites any file. The scenario is never
overwritten, and no two outputs may be the same file. This module recognizes airtcp's own files,
which `results.trace_file`, `present.report` and the core write.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from airtcp.exceptions import OutputError
from airtcp.files import check_directory

#: Bytes to read at the beginning or end of a file to recognize it.
_LOOK: Final = 65_536
#: A trace column that other tables are unlikely to have.
_TRACE_COLUMN: Final = b"ssthresh_bytes"
#: Columns that only tables of transfers have all together.
_TRANSFER_COLUMNS: Final = (b"flow", b"start_s", b"size_bytes", b"time_s")


def check(
    scenario: Path,
    *,
    out: Path | None = None,
    trace: Path | None = None,
    pcap: Path | None = None,
    transfers: Path | None = None,
    force: bool = False,
) -> None:
    """Check that the outputs of a command can be written without losing foreign files.

    Creates no lasting directories, because the work may be interrupted. Raises OutputError.
    """
    files = {}
    if trace is not None:
        files["--trace"] = [trace]
    if pcap is not None:
        files["--pcap"] = [pcap]
    if transfers is not None:
        files["--transfers"] = [transfers]
    if out is not None:
        files["--out"] = [out / name for name in _names_of_a_report()]
    taken: list[tuple[str, Path]] = [("the scenario", scenario)]
    for option, paths in files.items():
        for path in paths:
            for what, other in taken:
                if _same(path, other):
                    raise OutputError(
                        f"cannot write to {path} ({option}): it is {what}; use another name"
                    )
        taken += [(f"the file of {option}", path) for path in paths]
    if not force:
        _refuse_foreign(
            [path for path in files.get("--trace", []) if _TRACE_COLUMN not in _names_in(path)]
        )
        _refuse_foreign(
            [path for path in files.get("--pcap", []) if not is_own_capture(_head(path))]
        )
        tables = [path for path in files.get("--transfers", []) if not _are_transfers(path)]
        _refuse_foreign(tables)
        if out is not None and not _is_page(out / "report.html"):
            # Files next to a report written by airtcp belong to it.
            _refuse_foreign(files["--out"])
    if out is not None:
        check_directory(out)


def check_pages(out: Path, *, force: bool) -> None:
    """Check a directory of HTML pages with an index.html, as `check` does."""
    index = out / "index.html"
    if not force and not _is_page(index):
        _refuse_foreign([index])
    check_directory(out)


def check_picture(path: Path, *, force: bool) -> None:
    """Check a picture file (PNG or SVG) as `check` does.

    Any existing picture may be overwritten.
    """
    if not force and not _head(path).startswith((b"\x89PNG", b"<?xml")):
        _refuse_foreign([path])
    check_directory(path.parent)


def check_table(path: Path, *, force: bool) -> None:
    """Check that a table can be written. No existing table is recognized as airtcp's own."""
    if not force:
        _refuse_foreign([path])
    check_directory(path.parent)


def _names_of_a_report() -> list[str]:
    from airtcp.present.plot import CAPTIONS

    names = (*CAPTIONS, "difference", "plan")
    pictures = [f"{name}.{suffix}" for name in names for suffix in ("svg", "png")]
    return ["report.html", "results.json", *pictures]


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        # One of the two does not exist yet.
        return os.path.realpath(one) == os.path.realpath(other)


def _refuse_foreign(paths: list[Path]) -> None:
    for path in paths:
        if os.path.isfile(path):
            raise OutputError(
                f"cannot write to {path}: file exists, and airtcp did not write it; use "
                "another name, or --force"
            )


def _are_transfers(path: Path) -> bool:
    return all(name in _names_in(path) for name in _TRANSFER_COLUMNS)


def _names_in(path: Path) -> bytes:
    """Return the part of a table with its column names: the head of a CSV, the tail of Parquet."""
    return _head(path) if path.suffix.lower() == ".csv" else _part(path, from_end=True)


def _is_page(path: Path) -> bool:
    from airtcp.document.page import GENERATOR

    return GENERATOR.encode() in _head(path)


def _head(path: Path) -> bytes:
    return _part(path, from_end=False)


def _part(path: Path, *, from_end: bool) -> bytes:
    """Return a part of a file; b"" if it cannot be read, and so is not recognized."""
    try:
        with path.open("rb") as file:
            if from_end:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - _LOOK))
            return file.read(_LOOK)
    except OSError:
        return b""


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
