"""The temporary folder of a server, and those that were left by servers that were killed.

Knows locks and names. Does not know what is in a folder. A folder has a lock that its process
holds; the system lets go of it however the process ends, so that a number of a process that is
used again misleads nobody.
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
    """A folder that goes with the block; before it those go whose processes have died.

    Raises OutputError where none can be made.
    """
    _clear(Path(tempfile.gettempdir()))
    try:
        made = tempfile.TemporaryDirectory(prefix=_PREFIX)
    except OSError as error:
        raise OutputError(f"cannot make a temporary folder: {error.strerror or error}") from error
    with made as name:
        folder = Path(name)
        # Under its own name only once it is held: until then nobody takes it for a dead one's.
        with locked(folder / "new", folder):
            # Where an open file keeps its name the folder is not known for what it is, and stays.
            with suppress(OSError):
                (folder / "new").rename(folder / _LOCK)
            yield folder


def _clear(parent: Path) -> None:
    """Take away the folders of this user's processes that have died."""
    for folder in parent.glob(f"{_PREFIX}*"):
        if not _is_own(folder) or not (folder / _LOCK).is_file():
            continue
        try:
            with locked(folder / _LOCK, folder):
                shutil.rmtree(folder, ignore_errors=True)
        except OutputError:
            continue  # its process lives


def _is_own(folder: Path) -> bool:
    """Whether it is a folder, no link to one, that belongs to this user and that no other reads."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    return not hasattr(os, "getuid") or (
        found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077
    )
