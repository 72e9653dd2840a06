"""Processes that tests start: they begin as from a terminal, and none outlives who started it."""

import os
import resource
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

#: Signals that `nohup`, or a shell for what runs in its background, has ignored.
IGNORED_IN_BACKGROUND = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
#: How long what was killed may take to be gone.
_PATIENCE_S = 10.0


def stay_deaf_alone() -> None:
    """Handle, by doing nothing, what this process was started to ignore.

    A process that is started inherits what is ignored, but not what is handled: so children have
    the signals of a terminal, and the tests themselves go on in the background as they were told.
    """

    def nothing(number: int, frame: FrameType | None) -> None:
        """Does as an ignored signal does."""

    for number in IGNORED_IN_BACKGROUND:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, nothing)


def cpu_s(pid: int) -> float:
    """The CPU time that a process has taken so far, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class CpuOfChildren:
    """The CPU time of children that end while this is entered, beyond what they had taken before.

    A wall clock says nothing where other processes want the processors.
    """

    def __enter__(self) -> "CpuOfChildren":
        self._begin_s, self._before_s = self._ended_s(), 0.0
        return self

    def mark(self, pid: int) -> None:
        """Count from now on, for a child that has not ended."""
        self._before_s += cpu_s(pid)

    def __exit__(self, *_: object) -> None:
        self.spent_s = self._ended_s() - self._begin_s - self._before_s

    def _ended_s(self) -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime


class Children:
    """Processes with a mark that what they start inherits, and that is looked for at the end."""

    def __init__(self) -> None:
        self._mark = f"AIRTCP_TEST_CHILD=airtcp-test-{uuid.uuid4()}"
        self._started: list[subprocess.Popen[Any]] = []

    def start(self, command: Sequence[str | Path], **options: Any) -> "subprocess.Popen[Any]":
        """A process in a group of its own; `options` are those of Popen, text if not said.

        No `with`: that would wait for the process when a test has failed already.
        """
        name, _, mark = self._mark.partition("=")
        environment = {**(options.pop("env", None) or os.environ), name: mark}
        options = {"text": True, "process_group": 0, **options}
        process = subprocess.Popen([str(word) for word in command], env=environment, **options)
        self._started.append(process)
        return process

    def left(self, patience_s: float = 0.0) -> list[str]:
        """The commands of what still runs, of any process group, after so long at most."""
        until = time.monotonic() + patience_s
        while (found := self._marked()) and time.monotonic() < until:
            time.sleep(0.05)
        return list(found.values())

    def end(self) -> None:
        """Kill all that runs and wait until nothing does. Raises RuntimeError if one stays."""
        for process in self._started:
            # A group that is empty has no number; one that was reaped may have given it away.
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        until = time.monotonic() + _PATIENCE_S
        while found := self._marked():
            for number in found:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            if time.monotonic() > until:
                raise RuntimeError(f"cannot be ended: {found}")
            time.sleep(0.01)
        for process in self._started:
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            process.wait(timeout=_PATIENCE_S)
        self._started.clear()

    def _marked(self) -> dict[int, str]:
        """Processes that have the mark in the environment that they began with."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            # Others come and go, and belong to others.
            with suppress(OSError):
                if self._mark.encode() in (path / "environ").read_bytes().split(b"\0"):
                    words = (path / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(path.name)] = words.decode(errors="replace").strip()
        return found


@contextmanager
def children() -> Iterator[Children]:
    """Children that have ended when this is left, however it is left."""
    mine = Children()
    try:
        yield mine
    finally:
        mine.end()
