"""Files that a user asked for: whole or not at all, and a clear word when that is impossible."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from airtcp.exceptions import OutputError


def prepare(directory: Path) -> None:
    """Make the directory and see that files can be written there, before work is put into them.

    Raises OutputError if not.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise OutputError(_cannot_write(directory, error)) from error


def write_files(directory: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files by name into a directory that exists; each is written aside and renamed.

    Gives their paths. Raises OutputError; what was there before is then still there as a whole.
    """
    try:
        for name, content in files.items():
            _replace(directory / name, content)
    except OSError as error:
        raise OutputError(_cannot_write(directory, error)) from error
    return [directory / name for name in files]


def remove_files(directory: Path, names: Iterable[str]) -> None:
    """Remove files that an earlier result left; those that are not there do not matter."""
    try:
        for name in names:
            (directory / name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(_cannot_write(directory, error)) from error


def _replace(path: Path, content: bytes) -> None:
    """Write aside, then rename: the file is there as a whole, or as it was."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_bytes(content)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _cannot_write(directory: Path, error: OSError) -> str:
    if directory.exists() and not directory.is_dir():
        return f"cannot write to {directory}: it is not a directory"
    return f"cannot write to {directory}: {error.strerror or error}"
