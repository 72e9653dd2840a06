"""Worker processes as the server sees them: started, asked, given up, ended.

Knows processes and lines of JSON. Does not know what is asked. A worker that dies or takes too long
costs the one question that it had.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import sys
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

from airtcp.web.limits import Limits

__all__ = ["Crew", "Worker"]

#: The longest line of a worker: all points of a plan, and more.
_LONGEST_LINE: Final = 64 * 2**20
_MOST_KNOWN: Final = 4000
#: Which questions come first; all others are in the middle.
_URGENCY: Final = {"predict": 0, "figure": 0, "point": 2}

_ENVIRONMENT: Final = {
    # Small matrices: threads of its own cost more than they bring, and each takes address space.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "PYDANTIC_DISABLE_PLUGINS": "1",
    "MPLBACKEND": "agg",
}


class Worker:
    """A process that answers in lines of JSON."""

    def __init__(self, process: asyncio.subprocess.Process, scratch: str) -> None:
        self._process, self._scratch = process, scratch
        self._began = False

    @classmethod
    async def start(
        cls, kind: str, folder: Path, memory_mib: int, stores: Mapping[str, Path] | None = None
    ) -> Worker:
        """A new worker of a kind, with a folder of its own; it may not be ready yet."""
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
            # Ctrl-C in the terminal of the server is the server's.
            start_new_session=True,
        )
        return cls(process, scratch)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    async def send(self, message: dict[str, Any]) -> None:
        """Ask something. Raises ConnectionError where nobody is there any more."""
        assert self._process.stdin is not None  # as it was started
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """What it tells, until it ends."""
        assert self._process.stdout is not None  # as it was started
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            if "began" in message:
                self._began = True
            else:
                yield message

    def interrupt(self) -> None:
        """Ask it to stop with what it has; end it where it has nothing yet."""
        self._signal(signal.SIGINT if self._began else signal.SIGKILL)

    async def end(self) -> int:
        """End it now, and wait until it is gone; its status."""
        self._signal(signal.SIGKILL)
        status = await self._process.wait()
        shutil.rmtree(self._scratch, ignore_errors=True)
        return status

    def _signal(self, number: signal.Signals) -> None:
        # Not through the process object: that would look for its end, which the loop waits for.
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


class Crew:
    """Workers that answer questions of models: the urgent ones first, known ones at once."""

    def __init__(
        self, size: int, folder: Path, limits: Limits, stores: Mapping[str, Path] | None = None
    ) -> None:
        self._size, self._folder, self._limits = size, folder, limits
        self._stores = stores or {}
        self._queue: asyncio.PriorityQueue[
            tuple[int, int, str, dict[str, Any], asyncio.Future[dict[str, Any]]]
        ] = asyncio.PriorityQueue()
        self._order = itertools.count()
        self._known: OrderedDict[str, dict[str, Any]] = OrderedDict()
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
        """What a worker says: `answer`, `problem` (of who asks) or `failed` (of ours).

        What one looks at while a slider moves comes first, points of curves come last. Who is
        cancelled while waiting takes the question back.
        """
        key = json.dumps([name, body], sort_keys=True)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        loop = asyncio.get_running_loop()
        future: asyncio.Future[dict[str, Any]] = loop.create_future()
        urgency = _URGENCY.get(name, 1)
        entry = (urgency, next(self._order), key, {"name": name, "body": body}, future)
        self._queue.put_nowait(entry)
        try:
            return await future
        except asyncio.CancelledError:
            future.cancel()
            raise

    async def _work(self) -> None:
        worker: Worker | None = None
        messages: AsyncIterator[dict[str, Any]] | None = None
        try:
            while True:
                if worker is None:
                    # Before there is a question, so that the first one need not wait for it.
                    worker = await Worker.start(
                        "models", self._folder, self._limits.memory_mib, self._stores
                    )
                    messages = worker.messages()
                _, _, key, request, future = await self._queue.get()
                if future.done():
                    continue
                if key in self._known:
                    future.set_result(self._known[key])
                    continue
                assert messages is not None  # there is a worker
                said = await self._answer(worker, messages, request)
                if said is None:
                    await worker.end()
                    worker = None
                    said = {"failed": "no answer: it takes too long, or too much memory"}
                elif "failed" not in said:
                    self._keep(key, said)
                if not future.done():
                    future.set_result(said)
        finally:
            if worker is not None:
                await worker.end()

    async def _answer(
        self, worker: Worker, messages: AsyncIterator[dict[str, Any]], request: dict[str, Any]
    ) -> dict[str, Any] | None:
        """What a worker says; None for one that has died or does not come to an end."""
        try:
            async with asyncio.timeout(self._limits.answer_s):
                await worker.send(request)
                return await anext(messages)
        except (TimeoutError, ConnectionError, StopAsyncIteration, ValueError):
            return None

    def _keep(self, key: str, said: dict[str, Any]) -> None:
        self._known[key] = said
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
