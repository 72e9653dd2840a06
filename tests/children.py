"""Processes that tests start: with the signal handling of a terminal, and ended with their test."""

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

#: Signals that `nohup`, or a shell for its background jobs, ignores.
IGNORED_IN_BACKGROUND = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
#: How long a killed process may take to disappear.
_PATIENCE_S = 10.0


def stay_deaf_alone() -> None:
    """Replace ignored signals by empty handlers.

    A child inherits ignored signals, but not handlers. So children react to signals as from a
    terminal, while the tests themselves still ignore them in the background.
    """

    def nothing(number: int, frame: FrameType | None) -> None:
        """Do nothing, like an ignored signal."""

    for number in IGNORED_IN_BACKGROUND:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, nothing)


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process so far, over all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class CpuOfChildren:
    """The CPU time of children that end in this context, without what they had used before.

    Wall-clock time means nothing while other processes compete for the processors.
    """

    def __enter__(self) -> "CpuOfChildren":
        self._begin_s, self._before_s = self._ended_s(), 0.0
        return self

    def mark(self, pid: int) -> None:
        """Count a child that is still running only from now on."""
        self._before_s += cpu_s(pid)

    def __exit__(self, *_: object) -> None:
        self.spent_s = self._ended_s() - self._begin_s - self._before_s

    def _ended_s(self) -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime


class Children:
    """Processes with a mark in the environment, which finds them and their children at the end."""

    def __init__(self) -> None:
        self._mark = f"AIRTCP_TEST_CHILD=airtcp-test-{uuid.uuid4()}"
        self._started: list[subprocess.Popen[Any]] = []

    def start(self, command: Sequence[str | Path], **options: Any) -> "subprocess.Popen[Any]":
        """Start a process in a group of its own; `options` are those of Popen, text by default.

        No `with`: it would wait for the process after a test has failed.
        """
        name, _, mark = self._mark.partition("=")
        environment = {**(options.pop("env", None) or os.environ), name: mark}
        options = {"text": True, "process_group": 0, **options}
        process = subprocess.Popen([str(word) for word in command], env=environment, **options)
        self._started.append(process)
        return process

    def left(self, patience_s: float = 0.0) -> list[str]:
        """Return the commands of processes that still run after at most `patience_s`."""
        until = time.monotonic() + patience_s
        while (found := self._marked()) and time.monotonic() < until:
            time.sleep(0.05)
        return list(found.values())

    def end(self) -> None:
        """Kill all processes and wait for their end. Raises RuntimeError if one stays."""
        for process in self._started:
            # An ended process may have passed its group's number on to another one.
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
        """Return processes that began with the mark in their environment."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            # Other processes may end meanwhile, or belong to other users.
            with suppress(OSError):
                if self._mark.encode() in (path / "environ").read_bytes().split(b"\0"):
                    words = (path / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(path.name)] = words.decode(errors="replace").strip()
        return found


@contextmanager
def children() -> Iterator[Children]:
    """Yield children that are ended on exit, even after an error."""
    mine = Children()
    try:
        yield mine
    finally:
        mine.end()
