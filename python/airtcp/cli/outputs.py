"""Files that a command writes, looked at before the work: may it write them?

A file that is there is overwritten if airtcp has written it; with `--force`, whatever it is. The
scenario is never overwritten, and no two outputs are one file. Knows by what a file of airtcp is
told from others (a capture: `captures`); how one is written is the business of
`results.trace_file`, `present.report` and the core.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from airtcp.cli.captures import is_own_capture
from airtcp.exceptions import OutputError
from airtcp.files import check_directory

#: Enough of a file to know it by its beginning or its end.
_LOOK: Final = 65_536
#: A column of traces that no other table is likely to have.
_TRACE_COLUMN: Final = b"ssthresh_bytes"
#: Columns that transfers have; together they are in no other table of ours.
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
    """See that the outputs of a command can be written and that nothing is lost by it.

    Makes no directory that stays: work may be interrupted. Raises OutputError.
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
                        f"cannot write to {path} ({option}): it is {what}; allowed: another name"
                    )
        taken += [(f"the file of {option}", path) for path in paths]
    if not force:
        _refuse_foreign([path for path in files.get("--trace", []) if not _is_trace(path)])
        _refuse_foreign([path for path in files.get("--pcap", []) if not _is_capture(path)])
        tables = [path for path in files.get("--transfers", []) if not _are_transfers(path)]
        _refuse_foreign(tables)
        if out is not None and not _is_page(out / "report.html"):
            # Files beside a report of ours are ours.
            _refuse_foreign(files["--out"])
    if out is not None:
        check_directory(out)


def check_pages(out: Path, *, force: bool) -> None:
    """The same for a directory of pages that begin with index.html."""
    index = out / "index.html"
    if not force and not _is_page(index):
        _refuse_foreign([index])
    check_directory(out)


def check_picture(path: Path, *, force: bool) -> None:
    """The same for a picture, PNG or SVG: any picture there is gives way."""
    if not force and not _head(path).startswith((b"\x89PNG", b"<?xml")):
        _refuse_foreign([path])
    check_directory(path.parent)


def check_table(path: Path, *, force: bool) -> None:
    """See that a table can be written; by its columns none that is there is known for ours."""
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
        # One of them is not there yet.
        return os.path.realpath(one) == os.path.realpath(other)


def _refuse_foreign(paths: list[Path]) -> None:
    for path in paths:
        if os.path.isfile(path):
            raise OutputError(
                f"cannot write to {path}: it is there, and airtcp has not written it; "
                "allowed: another name, or --force"
            )


def _is_trace(path: Path) -> bool:
    return _TRACE_COLUMN in _names_in(path)


def _are_transfers(path: Path) -> bool:
    return all(name in _names_in(path) for name in _TRANSFER_COLUMNS)


def _names_in(path: Path) -> bytes:
    """What has the names of the columns of a table: CSV begins with them, Parquet ends."""
    return _head(path) if path.suffix.lower() == ".csv" else _tail(path)


def _is_page(path: Path) -> bool:
    from airtcp.document.page import GENERATOR

    return GENERATOR.encode() in _head(path)


def _is_capture(path: Path) -> bool:
    return is_own_capture(_head(path))


def _head(path: Path) -> bytes:
    return _part(path, from_end=False)


def _tail(path: Path) -> bytes:
    return _part(path, from_end=True)


def _part(path: Path, *, from_end: bool) -> bytes:
    """A part of a file; nothing of what cannot be read, which is not known to be ours."""
    try:
        with path.open("rb") as file:
            if from_end:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - _LOOK))
            return file.read(_LOOK)
    except OSError:
        return b""
