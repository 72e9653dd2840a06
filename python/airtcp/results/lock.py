"""A file that one process at a time holds. Knows files and processes, not what they are about."""

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
    """Hold `file` for as long as the block lasts; it is free again when the process dies.

    Raises OutputError if another process holds it, which says who works on `what`.
    """
    try:
        # Not "w": who holds it has written there.
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
        # On a full disk nobody learns who it is, and the lock holds all the same.
        with suppress(OSError):
            opened.truncate(0)
            # Past the buffer, which would be written again, and fail again, when it is closed.
            os.write(opened.fileno(), f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[str]) -> bool:
        try:
            # Far behind the text, which others are to read.
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
