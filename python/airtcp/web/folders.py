"""The temporary folder of a server, and cleanup of folders of servers that were killed.

The process holds a lock on its folder, which the system releases however the process ends. A
process id could be reused and mislead.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from airtcp.exceptions import OutputError
from airtcp.results.lock import locked

_PREFIX: Final = "airtcp-web-"
_LOCK: Final = "lock"


@contextmanager
def temporary() -> Iterator[Path]:
    """Yield a temporary folder, removed at the end; first remove folders of dead processes.

    Raises OutputError if none can be created.
    """
    _clear(Path(tempfile.gettempdir()))
    try:
        made = tempfile.TemporaryDirectory(prefix=_PREFIX)
    except OSError as error:
        raise OutputError(f"cannot make a temporary folder: {error.strerror or error}") from error
    with made as name:
        folder = Path(name)
        # Rename the lock only once it is held: before, another process could take it for a dead
        # one's.
        with locked(folder / "new", folder):
            # If open files cannot be renamed, the folder is not recognized later, and stays.
            with suppress(OSError):
                (folder / "new").rename(folder / _LOCK)
            yield folder


def _clear(parent: Path) -> None:
    """Remove the folders of this user's dead processes."""
    for folder in parent.glob(f"{_PREFIX}*"):
        if not _is_own(folder) or not (folder / _LOCK).is_file():
            continue
        try:
            with locked(folder / _LOCK, folder):
                shutil.rmtree(folder, ignore_errors=True)
        except OutputError:
            continue  # its process is alive


def _is_own(folder: Path) -> bool:
    """Whether this is a folder, not a link, that belongs to this user and is private."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    return not hasattr(os, "getuid") or (
        found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077
    )
