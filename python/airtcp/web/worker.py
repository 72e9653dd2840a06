"""A worker process: it answers questions or does one run, without network access.

    python -P -m airtcp.web.worker models|runs UPLOADS SCRATCH MEMORY_MIB STORES

Each input line is a request, and each output line a reply. The process ends when its input ends, so
that it never outlives the server. A run also ends on SIGINT, as on a terminal, and reports its
results so far.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

#: How much lower a run's priority is than the server's.
_NICE: Final = 10


def main(arguments: list[str]) -> None:
    """Answer requests until the input ends."""
    kind, uploads, scratch = arguments[0], Path(arguments[1]), Path(arguments[2])
    stores = {name: Path(path) for name, path in json.loads(arguments[4]).items()}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Redirect output printed by libraries to stderr.
    os.dup2(2, 1)
    _prepare(kind, (uploads, *stores.values()), scratch, int(arguments[3]))
    if kind == "models":
        for request in sys.stdin:
            _tell(output, answer(json.loads(request), uploads, stores))
        return
    request = sys.stdin.readline()
    if request:
        threading.Thread(target=_end_with_input, daemon=True).start()
        _run(json.loads(request), uploads, output)


def _prepare(kind: str, readable: Sequence[Path], scratch: Path, memory_mib: int) -> None:
    """Import everything needed, then restrict file access and memory.

    A run has a lower priority than questions, which users wait for while moving a slider.
    """
    if kind == "runs" and hasattr(os, "nice"):
        os.nice(_NICE)
    from airtcp.extensions import views
    from airtcp.web import work  # noqa: F401

    views()
    if kind == "models" and len(readable) > 1:
        import pyarrow.parquet

        # One thread: more would take address space and compete with other processes.
        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)
    if kind == "runs":
        import matplotlib.backends.backend_agg
        import matplotlib.backends.backend_svg
        import matplotlib.font_manager  # noqa: F401

        from airtcp.run import simulate  # noqa: F401
    limit_memory(memory_mib)
    tempfile.tempdir = str(scratch)
    confine(readable, scratch)


def answer(request: dict[str, Any], uploads: Path, stores: Mapping[str, Path]) -> dict[str, Any]:
    """Answer a question with `answer`, a `problem`, or `failed` for an internal error."""
    from airtcp.exceptions import AirtcpError
    from airtcp.web import work

    try:
        return {"answer": work.question(request["name"], request["body"], uploads, stores)}
    except AirtcpError as error:
        return {"problem": work.problem(error, request["body"])}
    except MemoryError:
        return {"failed": "it needs more memory than the server allows"}
    except Exception as error:
        return {"failed": _told(error)}


def _run(request: dict[str, Any], uploads: Path, output: IO[str]) -> None:
    from airtcp.scenario.declare import written
    from airtcp.scenario.resolved import ResolvedScenario
    from airtcp.web.bodies import Job

    # Pydantic builds validators on first use, and turns a KeyboardInterrupt during that into its
    # own error. So they are built before the run can be stopped.
    for form in (written(ResolvedScenario), ResolvedScenario, Job):
        form.model_rebuild()
    asked: list[bool] = []
    tell = partial(_tell, output)

    def stop(*_: object) -> None:
        # Only once: a second signal, or one after the run has ended, has no effect.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        asked.append(True)
        raise KeyboardInterrupt

    sys.unraisablehook = _dropped
    try:
        signal.signal(signal.SIGINT, stop)
        end = perform(request, uploads, tell, asked)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        end = {"stopped": True}
    if end:
        _tell(output, end)


def perform(
    request: dict[str, Any],
    uploads: Path,
    tell: Callable[[dict[str, Any]], None],
    asked: Sequence[bool] = (),
) -> dict[str, Any]:
    """Do a run, and `tell` its messages. Return its final message, empty if all went well.

    `asked` is not empty once the run is asked to stop.
    """
    from airtcp.exceptions import AirtcpError
    from airtcp.web import work
    from airtcp.web.bodies import Job

    last = -1.0

    def some(message: dict[str, Any]) -> None:
        nonlocal last
        if "progress" in message:
            if message["progress"] - last < 0.005 and message["progress"] >= last:
                return
            last = message["progress"]
        tell(message)

    try:
        tell({"began": True})
        work.run(Job.model_validate(request["body"]), uploads, request["limit_s"], some)
    except AirtcpError as error:
        return {"problem": work.problem(error, request["body"])}
    except MemoryError:
        return {"failed": "it needs more memory than the server allows"}
    except Exception as error:
        # Some libraries turn an interrupt into an error of their own.
        return {"stopped": True} if asked else {"failed": _told(error)}
    return {}


def _dropped(dropped: sys.UnraisableHookArgs) -> None:
    """Log an exception that Python drops, but no interrupt: the server then ends the process."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)


def _told(error: Exception) -> str:
    """Log an internal error with its traceback, and return a short message."""
    import traceback

    traceback.print_exc()
    return f"an internal error of airtcp ({type(error).__name__}); see the server's log"


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(1)


def line(message: dict[str, Any]) -> str:
    """Return a message as JSON, with null for numbers that JSON does not have."""
    try:
        return json.dumps(message, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(message))


def _tell(output: IO[str], message: dict[str, Any]) -> None:
    output.write(line(message) + "\n")
    output.flush()


def _finite(value: Any) -> Any:
    """Return `value` with null for floats that JSON cannot express."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value


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

    It cannot start processes. Any other access raises PermissionError, by Python's audit events.
    This is the second line of defense: the first is that a scenario from the network may only name
    uploaded files (`sources`).
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


if __name__ == "__main__":
    main(sys.argv[1:])
