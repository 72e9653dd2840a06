"""Confine a process to its own program, the uploads, and named stores.

Uses Python's audit events. This is the second line of defense: the first is that a scenario from
the network may only name uploaded files (`sources`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Paths that Python and its libraries read on their own.
_SYSTEM: Final = (
    "/proc/self/",
    "/sys/fs/cgroup",
    "/sys/devices/system/cpu",
    "/dev/null",
    "/dev/urandom",
)


def confine(folders: Sequence[Path], scratch: Path) -> None:
    """Restrict this process to reading its program and `folders`, and writing to `scratch`.

    It cannot start processes. Any other access raises PermissionError.
    """
    program: set[str] = {sys.prefix, sys.base_prefix, *(path for path in sys.path if path)}
    program.add(str(Path(__file__).parents[1]))
    readable = tuple(os.path.realpath(path) + os.sep for path in (*program, *map(str, folders)))
    own = os.path.realpath(scratch) + os.sep

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, int) or path is None:
                return  # already open
            real = os.path.realpath(os.fsdecode(path))
            if real.startswith(own):
                return
            if (isinstance(flags, int) and flags & _WRITES) or (
                isinstance(mode, str) and set(mode) & set("wax+")
            ):
                raise PermissionError("a run may not write files outside its directory")
            if not real.startswith(readable) and not real.startswith(_SYSTEM):
                raise PermissionError("no such file may be read here")
        elif event in ("subprocess.Popen", "os.system", "os.exec", "os.fork", "socket.connect"):
            raise PermissionError("nothing may be started here")

    sys.addaudithook(watch)


def limit_memory(mebibytes: int) -> None:
    """Limit the address space and the file sizes of this process, if the system supports it."""
    try:
        import resource
    except ImportError:
        return
    size = mebibytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Enough for a capture of a few seconds; more would fill the disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 4, size // 4))
