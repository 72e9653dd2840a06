"""Read files with size limits, and write files atomically with clear errors."""

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
    """Return the content of a file of at most `most` bytes.

    The file may be a device or a pipe: at most one more byte is read. Raises OSError (EFBIG) if the
    file is larger.
    """
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _larger(most)
    return content


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """Return the text (UTF-8) of a file of at most `most` bytes.

    Raises OSError as `read_bytes`, and UnicodeDecodeError.
    """
    return read_bytes(path, most).decode("utf-8-sig")


def unpacked(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a gzip file of at most `most` bytes uncompressed.

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
    """Create a directory and check that it is writable, before any work is done.

    Raises OutputError if it is not writable.
    """
    # Not with pathlib, which raises if the parent directory cannot be entered.
    if os.path.exists(directory) and not os.path.isdir(directory):
        raise OutputError(f"cannot write to {directory}: it is not a directory")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise OutputError(_cannot_write(directory, error)) from error


def check_directory(directory: Path) -> None:
    """Check that a directory can be created and written to, and leave nothing behind.

    Raises OutputError if it is not writable.
    """
    made = [one for one in (directory, *directory.parents) if not os.path.exists(one)]
    prepare(directory)
    for one in made:
        with suppress(OSError):
            one.rmdir()


def write_files(directory: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files by name into an existing directory, each through a temporary file and a rename.

    Returns their paths. Raises OutputError; a file that existed before is then still complete.
    """
    try:
        for name, content in files.items():
            _replace(directory / name, content)
    except OSError as error:
        raise OutputError(_cannot_write(directory, error)) from error
    return [directory / name for name in files]


def remove_files(directory: Path, names: Iterable[str]) -> None:
    """Remove files that an earlier result left; missing files are ignored."""
    try:
        for name in names:
            (directory / name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(_cannot_write(directory, error)) from error


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Write to a temporary file and rename it: `path` ends up either complete or unchanged.

    Yields the temporary name of an empty file. The rename happens only if the block ends without an
    error and has not removed the file. Raises OutputError if the file cannot be written, before the
    block where possible.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        # Renaming over a device would remove it for all other users.
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
