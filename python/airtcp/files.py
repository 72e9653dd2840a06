"""Files that a user asked for: whole or not at all, and a clear word when that is impossible."""

from __future__ import annotations

import errno
import gzip
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from airtcp.exceptions import OutputError


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a file that has at most `most` bytes.

    The file may be a device or a pipe: not more than that is read. Raises OSError (EFBIG) if there
    is more.
    """
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _larger(most)
    return content


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """Return the text (UTF-8) of a file that has at most `most` bytes.

    Raises OSError as `read_bytes`, UnicodeDecodeError.
    """
    return read_bytes(path, most).decode("utf-8-sig")


def unpacked(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a gzip file that has at most `most` bytes when it is unpacked.

    Raises OSError as `read_bytes`, and gzip.BadGzipFile, EOFError or zlib.error for a damaged file.
    """
    with gzip.open(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _larger(most)
    return content


def _larger(most: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {most // 2**20} MiB")


def prepare(directory: Path) -> None:
    """Make the directory and see that files can be written there, before work is put into them.

    Raises OutputError if not.
    """
    # Not by pathlib, which raises where the directory above may not be entered.
    if os.path.exists(directory) and not os.path.isdir(directory):
        raise OutputError(f"cannot write to {directory}: it is not a directory")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise OutputError(_cannot_write(directory, error)) from error


def check_directory(directory: Path) -> None:
    """See that files can be written into a directory, and leave nothing behind: work comes first.

    Raises OutputError if not.
    """
    made = [one for one in (directory, *directory.parents) if not os.path.exists(one)]
    prepare(directory)
    for one in made:
        with suppress(OSError):
            one.rmdir()


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


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Write aside, then rename: the file is there as a whole, or as it was.

    Gives the name for now, under which there is an empty file. Only a block that ends without an
    error, and has not removed it, makes the file. Raises OutputError if it cannot be written,
    before the block if that can be known.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        # Renaming over a device would take it from everyone else.
        raise OutputError(f"cannot write to {path}: it is not a regular file")
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.touch()
        yield beside
        if beside.exists():
            beside.replace(path)
    except OSError as error:
        raise OutputError(_cannot_write(path, error)) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _replace(path: Path, content: bytes) -> None:
    with aside(path) as beside:
        beside.write_bytes(content)


def _cannot_write(path: Path, error: OSError) -> str:
    return f"cannot write to {path}: {error.strerror or error}"
