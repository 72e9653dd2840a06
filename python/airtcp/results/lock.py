"""A lock file that one process at a time can hold."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from airtcp.exceptions import OutputError


@contextmanager
def locked(file: Path, what: Path) -> Iterator[None]:
    """Hold `file` during the block. It is released even if the process dies.

    Raises OutputError if another process holds it, with that process and `what` it works on.
    """
    try:
        # Not "w", which would erase the name of the process that holds the lock.
        opened = file.open("a+", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write to {file}: {error.strerror or error}") from error
    with opened:
        if not _take(opened):
            opened.seek(0)
            who = opened.read(200).strip() or "another process"
            raise OutputError(
                f"{what} is being written by {who}; allowed: wait for its end, or another directory"
            )
        # On a full disk the name of the process is missing, but the lock still works.
        with suppress(OSError):
            opened.truncate(0)
            # Unbuffered: closing would flush the buffer again, and fail again.
            os.write(opened.fileno(), f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[str]) -> bool:
        try:
            # Lock a byte far behind the text, so that others can read the text.
            file.seek(2**20)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
