"""Workers that make chunks on this machine: threads of this process, and processes beside it.

The core lets other threads work while it runs, but what is around it does not. So a few threads are
as fast as so many processes, and take no time to start; of many threads each would wait for the
others. A process ends with the one that it works for, whatever has become of that. Knows threads,
processes and pipes. Does not know what is in a chunk.
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

#: Threads of this process. Of a run of a third of a millisecond, the shortest that sweeps are made
#: for, some 30 us are not the core's: up to here threads seldom wait for each other.
THREADS: Final = 4
#: Below this, a process beside this one takes longer to start than it helps.
WORTH_A_PROCESS_S: Final = 1.0
#: The time that a process takes to start.
_START_S: Final = 0.4


class Lost(Exception):  # noqa: N818  # not an error of anyone's
    """A worker has died; what it was working on is to be made by another."""


#: Which worker has ended its chunk, and how.
Ended = SimpleQueue[tuple["Worker", Done | BaseException]]


class Worker(Protocol):
    """Makes chunks in their order, and puts what has become of each where it was told.

    It has `places` for chunks: one to work on, and others that wait, so that it need not. One that
    is `lasting` can go on after what was under way is lost.
    """

    lasting: bool
    places: int

    def submit(self, chunk: Chunk) -> None:
        """Take a chunk."""

    def stop(self) -> None:
        """Stop at once; what is under way is lost."""


class Crew(Protocol):
    """The workers of a sweep."""

    @property
    def threads(self) -> int:
        """The number of chunks that are made at a time."""

    def more(
        self, hired: int, work: Work, ended: Ended, left_s: float | None, elapsed_s: float
    ) -> list[Worker]:
        """Workers to hire beside so many; `left_s` is what all that is left takes, if known."""


class LocalCrew(Crew):
    """Threads of this process, and processes beside it as soon as these are worth while."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    @property
    def threads(self) -> int:
        """The number of chunks that are made at a time."""
        return self._workers

    def more(
        self, hired: int, work: Work, ended: Ended, left_s: float | None, elapsed_s: float
    ) -> list[Worker]:
        """The threads at first; processes if there is enough to do for them."""
        threads = min(self._workers, THREADS)
        if hired < threads:
            return [Thread(work, ended) for _ in range(threads - hired)]
        # As long as the first chunk is not back: then it is a long one.
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
        # A daemon: who cannot wait for the end of a run need not wait for the thread.
        threading.Thread(target=self._run, name="airtcp-sweep", daemon=True).start()

    def submit(self, chunk: Chunk) -> None:
        """Take a chunk."""
        self._chunks.put(chunk)

    def stop(self) -> None:
        """Stop at once; what is under way is lost."""
        self._control.cancel()
        self._chunks.put(None)

    def _run(self) -> None:
        while (chunk := self._chunks.get()) is not None:
            try:
                self._ended.put((self, run_chunk(self._work, chunk, self._control)))
            except BaseException as error:
                self._ended.put((self, error))


class Process(Worker):
    """A process beside this one."""

    lasting = False
    places = 2

    def __init__(self, work: Work, ended: Ended) -> None:
        self._ended = ended
        # Not multiprocessing: it would import the user's own script again.
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for the one who is asked, and that stops the others.
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
        """The number of the process."""
        return self._process.pid

    def submit(self, chunk: Chunk) -> None:
        """Take a chunk."""
        self._said.put(chunk)

    def stop(self) -> None:
        """Stop at once; what is under way is lost."""
        self._process.kill()
        self._said.put(None)
        self._process.wait()

    def _talk(self) -> None:
        """Say what is to be said: a process that still starts hears less than a pipe can hold."""
        # One that has died says so by what it no longer says.
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
    """Work for the process at the other end of stdin and stdout, as long as it is there."""
    from airtcp import _core

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sink = os.fdopen(os.dup(1), "wb")
    # Printed text is no part of the answer.
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
    """Take what is said as it comes: who says it does not wait until a chunk is made.

    When there is nobody any more, the process ends at once.
    """
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            heard.put(pickle.load(sys.stdin.buffer))
    os._exit(0)


if __name__ == "__main__":
    main()
