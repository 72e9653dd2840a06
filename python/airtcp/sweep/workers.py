"""Workers on this machine: threads.

The core runs without Python's global lock, so threads are as fast as processes. What holds the lock
(plug-ins in Python) is faster in processes, which `--dask local` starts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Protocol

from airtcp.sweep.chunk import run_chunk
from airtcp.sweep.work import Chunk, Done, Work


class Lost(Exception):  # noqa: N818  # not an error of anyone's
    """A worker has died. Another one must run its chunk."""


#: A worker with the result of its chunk.
Ended = SimpleQueue[tuple["Worker", Done | BaseException]]


class Worker(Protocol):
    """Runs chunks in order, and puts each result into the queue `Ended`.

    A worker has `places` for chunks: one to run, and others queued so that it never waits. It can
    continue after a chunk was lost.
    """

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

    def more(self, hired: int, work: Work, ended: Ended) -> list[Worker]:
        """Return workers to add to the `hired` ones."""


class LocalCrew:
    """Threads of this process."""

    def __init__(self, workers: int) -> None:
        self.threads = workers

    def more(self, hired: int, work: Work, ended: Ended) -> list[Worker]:
        """Return the threads that are missing."""
        return [Thread(work, ended) for _ in range(self.threads - hired)]


class Thread(Worker):
    """A thread of this process."""

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


@contextmanager
def crew_of(workers: int, dask: str | None) -> Iterator[Crew]:
    """Yield this many local workers, or those of a Dask cluster. Raises QuestionError."""
    if dask is None:
        yield LocalCrew(workers)
        return
    from airtcp.sweep.cluster import connected

    with connected(dask, workers) as crew:
        yield crew
