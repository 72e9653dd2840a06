"""Workers on this machine: threads of this process, and other processes.

The core runs without Python's global lock, but the code around it does not. A few threads are as
fast as the same number of processes and start at once; many threads would wait for each other. A
worker process ends with the process that it works for, however that ends.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any, Final, Protocol

from airtcp.sweep.chunk import run_chunk
from airtcp.sweep.work import Chunk, Done, Work

#: The most threads. Of a run of a third of a millisecond, the shortest in practice, some 30 us are
#: outside the core: up to this number threads seldom wait for each other.
THREADS: Final = 4
#: With less work than this, starting a process does not pay off.
WORTH_A_PROCESS_S: Final = 1.0
#: The time that a process takes to start.
_START_S: Final = 0.4


class Lost(Exception):  # noqa: N818  # not an error of anyone's
    """A worker has died. Another one must run its chunk."""


#: A worker with the result of its chunk.
Ended = SimpleQueue[tuple["Worker", Done | BaseException]]


class Worker(Protocol):
    """Runs chunks in order, and puts each result into the queue `Ended`.

    A worker has `places` for chunks: one to run, and others queued so that it never waits. A
    `lasting` worker can continue after its chunk was lost.
    """

    lasting: bool
    places: int

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk."""

    def stop(self) -> None:
        """Stop at once; the chunk under way is lost."""


class Crew(Protocol):
    """The workers of a sweep."""

    @property
    def threads(self) -> int:
        """The number of chunks that run at a time."""

    def more(
        self, hired: int, work: Work, ended: Ended, left_s: float | None, elapsed_s: float
    ) -> list[Worker]:
        """Return workers to add to the `hired` ones; `left_s` is the remaining work, if known."""


class LocalCrew(Crew):
    """Threads of this process, and other processes once they pay off."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    @property
    def threads(self) -> int:
        """The number of chunks that run at a time."""
        return self._workers

    def more(
        self, hired: int, work: Work, ended: Ended, left_s: float | None, elapsed_s: float
    ) -> list[Worker]:
        """Return the threads first, then processes if there is enough work."""
        threads = min(self._workers, THREADS)
        if hired < threads:
            return [Thread(work, ended) for _ in range(threads - hired)]
        # While the first chunk is still running: it is a long one.
        worth = elapsed_s > _START_S if left_s is None else left_s > WORTH_A_PROCESS_S
        return [Process(work, ended) for _ in range(self._workers - hired)] if worth else []


class Thread(Worker):
    """A thread of this process."""

    lasting = True
    places = 2

    def __init__(self, work: Work, ended: Ended) -> None:
        from airtcp import _core

        self._work, self._ended = work, ended
        self._control = _core.RunControl()
        self._chunks: SimpleQueue[Chunk | None] = SimpleQueue()
        # A daemon thread, so that the process can exit without waiting for a run.
        threading.Thread(target=self._run, name="airtcp-sweep", daemon=True).start()

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        self._chunks.put(chunk)

    def stop(self) -> None:
        """Stop at once; the chunk under way is lost."""
        self._control.cancel()
        self._chunks.put(None)

    def _run(self) -> None:
        while (chunk := self._chunks.get()) is not None:
            try:
                self._ended.put((self, run_chunk(self._work, chunk, self._control)))
            except BaseException as error:
                self._ended.put((self, error))


class Process(Worker):
    """Another process."""

    lasting = False
    places = 2

    def __init__(self, work: Work, ended: Ended) -> None:
        self._ended = ended
        # Not multiprocessing: it would import the user's own script again.
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Only the main process receives Ctrl-C, and stops the others.
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert self._process.stdin is not None
        self._to: IO[bytes] = self._process.stdin
        self._said: SimpleQueue[Work | Chunk | None] = SimpleQueue()
        self._said.put(work)
        for target in (self._talk, self._listen):
            threading.Thread(target=target, name="airtcp-sweep", daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        self._said.put(chunk)

    def stop(self) -> None:
        """Stop at once; the chunk under way is lost."""
        self._process.kill()
        self._said.put(None)
        self._process.wait()

    def _talk(self) -> None:
        """Send queued chunks.

        A thread, because a starting process reads less than the pipe can hold.
        """
        # A dead process is detected by `_listen`.
        with suppress(OSError), self._to:
            while (value := self._said.get()) is not None:
                pickle.dump(value, self._to)
                self._to.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as said:
            while True:
                try:
                    ended = pickle.load(said)
                except (EOFError, OSError, pickle.UnpicklingError):
                    self._ended.put((self, Lost(f"the worker process {self.pid} has died")))
                    return
                self._ended.put((self, ended))


def main() -> None:
    """Run chunks for the process at the other end of stdin and stdout, as long as it exists."""
    from airtcp import _core

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sink = os.fdopen(os.dup(1), "wb")
    # Redirect printed text to stderr: stdout carries the results.
    os.dup2(2, 1)
    control = _core.RunControl()
    heard: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_hear, args=(heard,), daemon=True).start()
    work: Work = heard.get()
    with suppress(BrokenPipeError):
        while True:
            chunk: Chunk = heard.get()
            ended: Done | BaseException
            try:
                ended = run_chunk(work, chunk, control)
            except Exception as error:
                ended = error
            pickle.dump(ended, sink)
            sink.flush()


def _hear(heard: SimpleQueue[Any]) -> None:
    """Read chunks as they arrive, so that the sender need not wait for a run.

    If the sender is gone, the process ends at once.
    """
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            heard.put(pickle.load(sys.stdin.buffer))
    os._exit(0)


if __name__ == "__main__":
    main()
