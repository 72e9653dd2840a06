"""A process that opens nothing but its own program, the folder of uploads and named stores.

Knows Python's audit events. It is the second wall: the first is that no scenario from the network
is read whose files were not uploaded (`sources`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: What Python and its libraries look at by themselves.
_SYSTEM: Final = (
    "/proc/self/",
    "/sys/fs/cgroup",
    "/sys/devices/system/cpu",
    "/dev/null",
    "/dev/urandom",
)


def confine(folders: Sequence[Path], scratch: Path) -> None:
    """From now on this process reads its program and `folders`, writes to `scratch` alone.

    It starts nothing. What it tries besides raises PermissionError.
    """
    program: set[str] = {sys.prefix, sys.base_prefix, *(path for path in sys.path if path)}
    program.add(str(Path(__file__).parents[1]))
    readable = tuple(os.path.realpath(path) + os.sep for path in (*program, *map(str, folders)))
    own = os.path.realpath(scratch) + os.sep

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, int) or path is None:
                return  # what is open already
            real = os.path.realpath(os.fsdecode(path))
            if real.startswith(own):
                return
            if (isinstance(flags, int) and flags & _WRITES) or (
                isinstance(mode, str) and set(mode) & set("wax+")
            ):
                raise PermissionError("nothing may be written here")
            if not real.startswith(readable) and not real.startswith(_SYSTEM):
                raise PermissionError("no such file may be read here")
        elif event in ("subprocess.Popen", "os.system", "os.exec", "os.fork", "socket.connect"):
            raise PermissionError("nothing may be started here")

    sys.addaudithook(watch)


def limit_memory(mebibytes: int) -> None:
    """Bound the address space of this process and the files that it makes, where that can be."""
    try:
        import resource
    except ImportError:
        return
    size = mebibytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Of a capture of a few seconds; more would fill the disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 4, size // 4))
