"""Worker processes from the server's side: start, ask, time out, end.

Confined processes reply in lines of JSON, which are parsed, never unpickled like chunks of a sweep.
If a worker dies, its question is asked once more. A worker that takes too long loses its question.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import json
import os
import shutil
import signal
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from airtcp.web.limits import Limits

#: The maximum length of a line of output from a worker; all points of a plan fit.
_LONGEST_LINE: Final = 64 * 2**20
#: The overhead of a cached answer: its hash, and its place in the cache.
_BESIDE: Final = 400
#: How often to ask a question whose worker dies, and how many workers in a row may die without an
#: answer before the next one is started only for a question.
_MOST_TRIES: Final = 2
_MOST_DEATHS: Final = 3
#: Questions by urgency (lower first); all others are in the middle.
_URGENCY: Final = {"predict": 0, "figure": 0, "point": 2}

_ENVIRONMENT: Final = {
    # For small matrices, extra threads cost more than they gain, and each takes address space.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "PYDANTIC_DISABLE_PLUGINS": "1",
    "MPLBACKEND": "agg",
}


class WorkerProcess:
    """A process that replies in lines of JSON."""

    def __init__(self, process: asyncio.subprocess.Process, scratch: str) -> None:
        self._process, self._scratch = process, scratch
        #: Whether it has begun with a request, after which no other worker may repeat it.
        self.began = False
        #: Completes as soon as the process has ended.
        self.gone = asyncio.ensure_future(process.wait())

    @classmethod
    async def start(
        cls, kind: str, folder: Path, memory_mib: int, stores: Mapping[str, Path] | None = None
    ) -> WorkerProcess:
        """Start a worker of a kind with its own folder; it may not be ready yet."""
        scratch = tempfile.mkdtemp(dir=folder / "scratch")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "airtcp.web.worker",
            kind,
            str(folder / "uploads"),
            scratch,
            str(memory_mib),
            json.dumps({name: str(path) for name, path in (stores or {}).items()}),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | _ENVIRONMENT,
            limit=_LONGEST_LINE,
            # Ctrl-C in the server's terminal is for the server only.
            start_new_session=True,
        )
        return cls(process, scratch)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.returncode is None

    async def send(self, message: dict[str, Any]) -> None:
        """Send a request. Raises ConnectionError if the process has ended."""
        assert self._process.stdin is not None  # as it was started
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def line(self) -> bytes:
        """Read the next line of JSON; empty if the process has ended.

        Raises ValueError for a line that is too long.
        """
        assert self._process.stdout is not None  # as it was started
        return await self._process.stdout.readline()

    def interrupt(self) -> None:
        """Ask it to stop and report its results so far; kill it if it has not begun."""
        self._signal(signal.SIGINT if self.began else signal.SIGKILL)

    async def end(self) -> int:
        """Kill it, wait for its end, and return its exit status."""
        self._signal(signal.SIGKILL)
        status = await asyncio.shield(self.gone)
        shutil.rmtree(self._scratch, ignore_errors=True)
        return status

    def _signal(self, number: signal.Signals) -> None:
        # Not through the process object, which would reap the process that the loop waits for.
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


class Known:
    """A cache of answers by hash of the question: least recently used out, limited in bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._lines: OrderedDict[bytes, bytes] = OrderedDict()
        self.bytes = 0

    def get(self, key: bytes) -> dict[str, Any] | None:
        """Return the parsed answer to a question; None if it is not cached."""
        line = self._lines.get(key)
        if line is None:
            return None
        self._lines.move_to_end(key)
        return dict(json.loads(line))

    def keep(self, key: bytes, line: bytes) -> None:
        """Add an answer, and drop the least recently used ones."""
        if key in self._lines:
            self.bytes -= len(self._lines.pop(key)) + _BESIDE
        self._lines[key] = line
        self.bytes += len(line) + _BESIDE
        while self.bytes > self._most:
            _, first = self._lines.popitem(last=False)
            self.bytes -= len(first) + _BESIDE


@dataclass(slots=True)
class _Question:
    """A question as a worker reads it, and the future of its answer."""

    key: bytes
    message: dict[str, Any]
    future: asyncio.Future[dict[str, Any]]


class ModelPool:
    """Workers that answer questions with models: urgent ones first, cached ones at once."""

    def __init__(
        self, size: int, folder: Path, limits: Limits, stores: Mapping[str, Path] | None = None
    ) -> None:
        self._size, self._folder, self._limits = size, folder, limits
        self._stores = stores or {}
        self._queue: asyncio.PriorityQueue[tuple[int, int, _Question]] = asyncio.PriorityQueue()
        self._order = itertools.count()
        self._known = Known(limits.known_bytes)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start the workers."""
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._size)]

    async def stop(self) -> None:
        """End all workers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def ask(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return a worker's reply: `answer`, `problem` (a user error) or `failed` (a server error).

        Questions asked while a slider moves come first; points of curves come last. Cancelling the
        call withdraws the question.
        """
        message = {"name": name, "body": body}
        # Not with sorted keys: changes of a scenario apply in their order.
        key = hashlib.sha256(json.dumps(message).encode()).digest()
        known = self._known.get(key)
        if known is not None:
            return known
        question = _Question(key, message, asyncio.get_running_loop().create_future())
        self._queue.put_nowait((_URGENCY.get(name, 1), next(self._order), question))
        try:
            return await question.future
        finally:
            # A withdrawn question keeps its place in the queue, without its content.
            question.future.cancel()
            question.message = {}

    async def _work(self) -> None:
        """Answer questions one after the other, with a worker started in advance."""
        worker: WorkerProcess | None = None
        next_one: asyncio.Task[tuple[int, int, _Question]] | None = None
        deaths = 0
        try:
            while True:
                next_one = next_one or asyncio.create_task(self._queue.get())
                if worker is None and deaths >= _MOST_DEATHS:
                    await asyncio.wait([next_one])
                worker = worker or await self._start()
                await asyncio.wait([next_one, worker.gone], return_when=asyncio.FIRST_COMPLETED)
                if not worker.alive:
                    await worker.end()
                    worker, deaths = None, deaths + 1
                if not next_one.done():
                    continue
                _, _, question = next_one.result()
                next_one = None
                if question.future.done():
                    continue
                said = self._known.get(question.key)
                if said is None:
                    worker, said = await self._answer(worker or await self._start(), question)
                    deaths = 0 if worker is not None else deaths
                if not question.future.done():
                    question.future.set_result(said)
        finally:
            if next_one is not None:
                next_one.cancel()
            if worker is not None:
                await worker.end()

    async def _start(self) -> WorkerProcess:
        return await WorkerProcess.start(
            "models", self._folder, self._limits.memory_mib, self._stores
        )

    async def _answer(
        self, worker: WorkerProcess, question: _Question
    ) -> tuple[WorkerProcess | None, dict[str, Any]]:
        """Return the reply to a question, and the worker for the next one, None if it has ended.

        If a worker dies for any reason, another one is asked again.
        """
        status = 0
        for tries in range(_MOST_TRIES):
            if tries and question.future.done():
                break  # nobody waits for it any more
            if tries:
                worker = await self._start()
            try:
                async with asyncio.timeout(self._limits.answer_s):
                    await worker.send(question.message)
                    line = await worker.line()
                if line:
                    said = dict(json.loads(line))
                    # Cache only answers: a rejection is quickly computed again, and bad requests
                    # can be many.
                    if "answer" in said:
                        self._known.keep(question.key, line)
                    return worker, said
            except TimeoutError:
                await worker.end()
                why = f"no answer within {self._limits.answer_s:g} s, which is the limit"
                return None, {"failed": why}
            except ConnectionError:
                pass  # it has ended; without a line it has too
            except ValueError:
                await worker.end()
                return None, {"failed": "no answer: it exceeds the size limit"}
            status = await worker.end()
        why = (
            f"no answer: the worker process has ended {_MOST_TRIES} times (status {status}); "
            "it may need more memory than is available"
        )
        return None, {"failed": why}
