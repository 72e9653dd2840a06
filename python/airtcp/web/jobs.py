"""Runs: a bounded queue of them, each in a process of its own, watched, stopped, and kept a while.

Knows states, places in the queue and bounds. Does not know what a run does (`work`). A run goes by
an identifier that cannot be guessed: who has it may watch and stop it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from airtcp.web.limits import Limits
from airtcp.web.pool import WorkerProcess

State = Literal["waiting", "running", "done", "stopped", "failed"]

#: How long a run that was asked to stop may take to say what it has.
_PATIENCE_S: Final = 5.0


class FullError(Exception):
    """The queue is full; the text says so."""


@dataclass
class Job:
    """One run, what it has told so far, as JSON, and how it stands."""

    id: str
    body: dict[str, Any]
    state: State = "waiting"
    progress: float = 0.0
    words: str = ""
    messages: list[bytes] = field(default_factory=list)
    asked_at: float = 0.0
    ended_at: float | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def bytes(self) -> int:
        """The size of its messages."""
        return sum(map(len, self.messages))

    @property
    def ended(self) -> bool:
        """True if nothing more comes."""
        return self.state not in ("waiting", "running")


class Jobs:
    """All runs of a server."""

    def __init__(
        self, folder: Path, limits: Limits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._limits, self._clock = folder, limits, clock
        self._jobs: dict[str, Job] = {}
        self._queue: asyncio.Queue[Job] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start to take runs from the queue."""
        self._tasks = [asyncio.create_task(self._serve()) for _ in range(self._limits.workers)]
        self._tasks.append(asyncio.create_task(self._sweep()))

    async def close(self) -> None:
        """End all runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def add(self, body: dict[str, Any]) -> Job:
        """Put a run into the queue. Raises FullError."""
        waiting = sum(job.state == "waiting" for job in self._jobs.values())
        if waiting >= self._limits.queue:
            raise FullError(f"{waiting} runs wait already, and no more may; try again in a moment")
        job = Job(secrets.token_urlsafe(18), body, asked_at=self._clock())
        self._jobs[job.id] = job
        self._queue.put_nowait(job)
        return job

    def get(self, identifier: str) -> Job | None:
        """The run of an identifier, which is thereby not forgotten; None if there is none."""
        job = self._jobs.get(identifier)
        if job is not None:
            job.asked_at = self._clock()
        return job

    def place(self, job: Job) -> int:
        """Counts the runs before one that waits."""
        waiting = [one for one in self._jobs.values() if one.state == "waiting"]
        return waiting.index(job) if job in waiting else 0

    def stop(self, job: Job) -> None:
        """Stop a run, with what it has."""
        job.stop.set()
        if job.state == "waiting":
            self._end(job, "stopped")

    async def _serve(self) -> None:
        """Do one run after the other, with the next worker started before it is needed."""
        spare: WorkerProcess | None = None
        try:
            while True:
                if spare is None or not spare.alive:
                    spare = await WorkerProcess.start("runs", self._folder, self._limits.memory_mib)
                job = await self._queue.get()
                if job.ended:
                    continue
                if not spare.alive:
                    spare = await WorkerProcess.start("runs", self._folder, self._limits.memory_mib)
                worker, spare = spare, None
                await self._do(job, worker)
        finally:
            if spare is not None:
                await spare.end()

    async def _do(self, job: Job, worker: WorkerProcess) -> None:
        """Do a run to its end; a worker that dies before it has begun is followed by another."""
        job.state = "running"
        try:
            status = await self._attend(job, worker)
            if not (job.ended or worker.began or job.stop.is_set()):
                worker = await WorkerProcess.start("runs", self._folder, self._limits.memory_mib)
                status = await self._attend(job, worker)
            if not job.ended:
                # It said nothing to the end, as a process does that was killed.
                self._fail(job, f"the run has ended by itself (status {status})")
        finally:
            if not job.ended:
                self._fail(job, "the server stopped")

    async def _attend(self, job: Job, worker: WorkerProcess) -> int:
        """Hear what a worker tells of a run until it ends; its status."""
        stopper = asyncio.create_task(self._stop_when_told(job, worker))
        try:
            async with asyncio.timeout(self._limits.run_s):
                # Where it has ended already it has nothing to tell.
                with contextlib.suppress(ConnectionError):
                    await worker.send({"body": job.body, "limit_s": self._limits.run_s})
                while line := await worker.line():
                    self._take(job, worker, line)
        except TimeoutError:
            self._fail(job, f"it took longer than {self._limits.run_s:g} s, which is the most here")
        except ValueError:
            self._fail(job, "the run told more than any should")
        finally:
            stopper.cancel()
            status = await worker.end()
        return status

    async def _stop_when_told(self, job: Job, worker: WorkerProcess) -> None:
        await job.stop.wait()
        worker.interrupt()
        await asyncio.sleep(_PATIENCE_S)
        if not job.ended:
            self._end(job, "stopped")
        await worker.end()

    def _take(self, job: Job, worker: WorkerProcess, line: bytes) -> None:
        if job.ended:
            return
        message = json.loads(line)
        if "began" in message:
            worker.began = True
        elif "progress" in message:
            job.progress = float(message["progress"])
        elif "words" in message:
            job.words = str(message["words"])
        elif "failed" in message:
            self._fail(job, str(message["failed"]))
        elif "stopped" in message:
            self._end(job, "stopped")
        else:
            job.messages.append(line)
            if "problem" in message:
                self._end(job, "failed")
            elif "result" in message:
                self._end(job, "stopped" if job.stop.is_set() else "done")

    def _fail(self, job: Job, why: str) -> None:
        if job.stop.is_set():
            self._end(job, "stopped")
        elif not job.ended:
            problem = {"message": why, "key": "", "field": "", "more": []}
            job.messages.append(json.dumps({"problem": problem}).encode())
            self._end(job, "failed")

    def _end(self, job: Job, state: State) -> None:
        if not job.ended:
            job.state, job.ended_at, job.body = state, self._clock(), {}

    async def _sweep(self) -> None:
        """Stop runs that nobody watches, and forget those that ended long ago."""
        while True:
            await asyncio.sleep(1.0)
            self.forget()

    def forget(self) -> None:
        """One round of that."""
        now = self._clock()
        for job in list(self._jobs.values()):
            if not job.ended and now - job.asked_at > self._limits.forgotten_s:
                self.stop(job)
            if job.ended_at is not None and now - job.ended_at > self._limits.kept_s:
                del self._jobs[job.id]
        ended = [job for job in self._jobs.values() if job.ended]
        kept, size = 0, 0
        for job in reversed(ended):
            kept, size = kept + 1, size + job.bytes
            # Whoever asked for the last one still has to be told.
            if kept > 1 and (kept > self._limits.most_kept or size > self._limits.known_bytes):
                del self._jobs[job.id]
