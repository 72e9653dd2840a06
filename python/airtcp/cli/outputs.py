"""Checks of output files before the work begins.

A file that airtcp wrote may be overwritten; `--force` overwrites any file. The scenario is never
overwritten, and no two outputs may be the same file. This module recognizes airtcp's own files
(captures: `captures`); `results.trace_file`, `present.report` and the core write them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from airtcp.cli.captures import is_own_capture
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
