"""Runs: a bounded queue. Each run is its own process, can be stopped, and is kept for a while.

Several browsers that request equal runs share one run. Each browser has its own question with an
unguessable identifier, with which it can watch the run and leave it. A run is stopped when all have
left. `turns` decides whose run is next.

Runs that pages start by themselves give way: they wait behind all requested runs, and return to the
queue when a requested run finds no free process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from airtcp.web.limits import Limits
from airtcp.web.pool import WorkerProcess
from airtcp.web.turns import Asker, Shares

State = Literal["waiting", "running", "done", "stopped", "failed"]

#: The time that a stopped run has to report its results.
_PATIENCE_S: Final = 5.0


class FullError(Exception):
    """The queue is full; the message says so."""


@dataclass(eq=False)
class Job:
    """One run, its messages so far as JSON, and its state."""

    id: str
    body: dict[str, Any]
    held: int = 0
    state: State = "waiting"
    progress: float = 0.0
    words: str = ""
    messages: list[bytes] = field(default_factory=list)
    ended_at: float | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    #: Set when the run has to return to the queue.
    yields: asyncio.Event = field(default_factory=asyncio.Event)
    #: The questions of browsers that have not left, by identifier.
    questions: dict[str, Question] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """The size of its messages."""
        return sum(map(len, self.messages))

    @property
    def ended(self) -> bool:
        """Whether the run has ended."""
        return self.state not in ("waiting", "running")

    @property
    def auto(self) -> bool:
        """Whether only pages want the run, and nobody requested it."""
        return all(one.auto for one in self.questions.values())

    @property
    def askers(self) -> dict[Asker, int]:
        """The browsers that wait for it, each with the number of its first question."""
        found: dict[Asker, int] = {}
        for one in self.questions.values():
            found.setdefault(one.asker, one.number)
        return found


@dataclass(eq=False)
class Question:
    """A run as one browser requested it."""

    id: str
    asker: Asker
    number: int
    job: Job
    asked_at: float
    auto: bool = False
    left: bool = False

    @property
    def state(self) -> State:
        """The state of its run, or "stopped" if this browser left while others still wait."""
        return "stopped" if self.left and self.job.questions else self.job.state


class Jobs:
    """All runs of a server."""

    def __init__(
        self, folder: Path, limits: Limits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._limits, self._clock = folder, limits, clock
        #: All runs, latest request last; and by key those that others may share.
        self._jobs: dict[str, Job] = {}
        self._alike: dict[str, Job] = {}
        self._questions: dict[str, Question] = {}
        self._asked = 0
        #: The turns of requested runs, and of those that pages start by themselves.
        self._turns = {False: Shares(), True: Shares()}
        self._line: list[str] | None = None
        self._come = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start taking runs from the queue."""
        self._tasks = [asyncio.create_task(self._serve()) for _ in range(self._limits.workers)]
        self._tasks.append(asyncio.create_task(self._sweep()))

    async def close(self) -> None:
        """End all runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def add(
        self,
        body: dict[str, Any],
        *,
        key: str = "",
        address: str = "",
        browser: str = "",
        auto: bool = False,
    ) -> Question:
        """Request a run. A running or completed run with an equal `key` is shared.

        `browser` identifies a browser at `address`, if it has a name. If the queue is full, a run
        of the asker with most runs is dropped in favor of an asker with fewer. An `auto` run was
        started by the page itself: it drops no other run, and is dropped first.

        Raises FullError.
        """
        if len(self._questions) >= self._limits.questions:
            raise FullError("too many users request runs at a time; try again in a moment")
        asker = Asker(address, browser)
        self._asked += 1
        job = self._alike.get(key)
        if job is None or job.id not in self._jobs or not _shareable(job):
            job = self._new(body, asker, auto)
            if key:
                self._alike[key] = job
        if job.ended:
            job.ended_at = self._clock()
        self._jobs[job.id] = self._jobs.pop(job.id, job)
        question = Question(secrets.token_urlsafe(18), asker, self._asked, job, self._clock(), auto)
        self._questions[question.id] = job.questions[question.id] = question
        self._changed()
        return question

    def get(self, identifier: str) -> Question | None:
        """Return the question with an identifier, and mark it as recently used; None if unknown."""
        question = self._questions.get(identifier)
        if question is not None:
            question.asked_at = self._clock()
        return question

    def place(self, question: Question) -> int:
        """Return the number of runs ahead of a waiting one."""
        line = self._waiting()
        return line.index(question.job.id) if question.job.id in line else 0

    def stop(self, question: Question) -> None:
        """Leave a run. It stops and keeps its results so far if nobody else waits for it."""
        question.left = True
        job = question.job
        job.questions.pop(question.id, None)
        if not job.questions:
            job.stop.set()
            if job.state == "waiting":
                self._end(job, "stopped")
        self._changed()

    def _new(self, body: dict[str, Any], asker: Asker, auto: bool) -> Job:
        """Create a waiting run. Raises FullError if there is no room."""
        waiting = [job for job in self._jobs.values() if job.state == "waiting"]
        own = sum(asker in job.askers for job in waiting)
        if own >= self._limits.own:
            raise FullError(
                f"{_runs(own, ' of this browser')} already, which is the limit; stop one, or "
                "try again when one has ended"
            )
        if len(waiting) >= self._limits.queue:
            last = next((self._jobs[one] for one in reversed(self._waiting())), None)
            if auto:
                giving = None
            elif last is not None and last.auto:
                giving = last
            else:
                giving = self._most_of(waiting, asker)
            if giving is None:
                raise FullError(
                    f"{_runs(len(waiting))} already, which is the limit; the page keeps your "
                    "input: try again in a moment"
                )
            waiting.remove(giving)
            why = (
                "the server is busy" if giving.auto else "users with fewer waiting runs come first"
            )
            self._fail(giving, f"{why}; try again in a moment")
        job = Job(str(self._asked), body, held=len(json.dumps(body)))
        if job.held + sum(one.held for one in waiting) > self._limits.held_bytes:
            raise FullError("the waiting runs are too large together; try again in a moment")
        return job

    def _most_of(self, waiting: Sequence[Job], asker: Asker) -> Job | None:
        """Return the run to drop for `asker`: the last one of the asker with most waiting runs.

        The comparison is between addresses, or between browsers of the same address. None if nobody
        has more.
        """
        of_address = Counter(one.address for job in waiting for one in job.askers)
        of_browser = Counter(one for job in waiting for one in job.askers)
        address, most = of_address.most_common(1)[0]
        if of_address[asker.address] + 1 < most:
            chosen = [job for job in waiting if {one.address for one in job.askers} == {address}]
        else:
            at_own = [one for one in of_browser if one.address == asker.address]
            largest = max(at_own, key=of_browser.__getitem__, default=asker)
            if of_browser[asker] + 1 >= of_browser[largest]:
                return None
            chosen = [job for job in waiting if set(job.askers) == {largest}]
        places = {name: place for place, name in enumerate(self._waiting())}
        return max(chosen, key=lambda job: places[job.id], default=None)

    def _waiting(self) -> list[str]:
        """Return the identifiers of waiting runs, next one first."""
        if self._line is None:
            waiting = [job for job in self._jobs.values() if job.state == "waiting"]
            self._line = [
                name
                for auto, turns in self._turns.items()
                for name in turns.order({one.id: one.askers for one in waiting if one.auto == auto})
            ]
        return self._line

    def _changed(self) -> None:
        self._line = None
        self._give_way()
        self._come.set()

    def _give_way(self) -> None:
        """Return as many automatic runs to the queue as requested runs find no free process."""
        jobs = self._jobs.values()
        running = [one for one in jobs if one.state == "running"]
        wanted = sum(one.state == "waiting" and not one.auto for one in jobs)
        free = self._limits.workers - sum(not one.yields.is_set() for one in running)
        giving = [
            one for one in running if one.auto and not (one.yields.is_set() or one.stop.is_set())
        ]
        for job in sorted(giving, key=lambda one: one.progress)[: max(0, wanted - free)]:
            job.yields.set()

    async def _next(self) -> Job:
        """Wait for the next run, and return it."""
        while not (line := self._waiting()):
            for turns in self._turns.values():
                turns.rest()
            self._come.clear()
            await self._come.wait()
        job = self._jobs[line[0]]
        job.state = "running"
        self._turns[job.auto].took(job.askers)
        self._changed()
        return job

    async def _serve(self) -> None:
        """Process runs one after the other, with the next worker started in advance."""
        spare: WorkerProcess | None = None
        try:
            while True:
                if spare is None or not spare.alive:
                    spare = await WorkerProcess.start("runs", self._folder, self._limits.memory_mib)
                job = await self._next()
                if not spare.alive:
                    spare = await WorkerProcess.start("runs", self._folder, self._limits.memory_mib)
                worker, spare = spare, None
                await self._do(job, worker)
        finally:
            if spare is not None:
                await spare.end()

    async def _do(self, job: Job, worker: WorkerProcess) -> None:
        """Process a run to its end; if its worker dies before it begins, try another one."""
        try:
            status = await self._attend(job, worker)
            if not (job.ended or worker.began or job.stop.is_set() or job.yields.is_set()):
                worker = await WorkerProcess.start("runs", self._folder, self._limits.memory_mib)
                status = await self._attend(job, worker)
            if job.yields.is_set() and not (job.ended or job.stop.is_set()):
                job.state, job.progress, job.yields = "waiting", 0.0, asyncio.Event()
                self._changed()
            elif not job.ended:
                # The worker ended without a result, as a killed process does.
                self._fail(job, f"the run has ended by itself (status {status})")
        finally:
            if job.state == "running":
                self._fail(job, "the server stopped")

    async def _attend(self, job: Job, worker: WorkerProcess) -> int:
        """Handle the messages of a worker until it ends. Return its exit status."""
        stoppers = [
            asyncio.create_task(self._stop_when_told(job, worker)),
            asyncio.create_task(self._yield_when_told(job, worker)),
        ]
        try:
            async with asyncio.timeout(self._limits.run_s):
                # A worker that has already ended has no messages.
                with contextlib.suppress(ConnectionError):
                    await worker.send({"body": job.body, "limit_s": self._limits.run_s})
                while line := await worker.line():
                    self._take(job, worker, line)
        except TimeoutError:
            self._fail(job, f"it took longer than the limit of {self._limits.run_s:g} s")
        except ValueError:
            self._fail(job, "the output of the run exceeds the limit")
        finally:
            for stopper in stoppers:
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

    async def _yield_when_told(self, job: Job, worker: WorkerProcess) -> None:
        await job.yields.wait()
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
            self._changed()

    async def _sweep(self) -> None:
        """Leave runs that nobody asks about any more, and forget runs that ended long ago."""
        while True:
            await asyncio.sleep(1.0)
            self.forget()

    def forget(self) -> None:
        """Do one round of the cleanup."""
        now = self._clock()
        for question in list(self._questions.values()):
            if now - question.asked_at > self._limits.forgotten_s and not question.job.ended:
                self.stop(question)
        for job in list(self._jobs.values()):
            if job.ended_at is not None and now - job.ended_at > self._limits.kept_s:
                del self._jobs[job.id]
        kept, size = 0, 0
        for job in reversed([one for one in self._jobs.values() if one.ended]):
            kept, size = kept + 1, size + job.bytes
            # Keep the last run, because its asker must still get the result.
            if kept > 1 and (kept > self._limits.most_kept or size > self._limits.known_bytes):
                del self._jobs[job.id]
        self._questions = {
            name: one for name, one in self._questions.items() if one.job.id in self._jobs
        }
        self._alike = {key: job for key, job in self._alike.items() if job.id in self._jobs}
        for turns in self._turns.values():
            turns.forget({one.asker for one in self._questions.values()})


def _shareable(job: Job) -> bool:
    """Whether this run can serve another request for an equal run."""
    return job.state == "done" or not (job.ended or job.stop.is_set())


def _runs(count: int, whose: str = "") -> str:
    """Describe a number of waiting runs."""
    return f"1 run{whose} waits" if count == 1 else f"{count} runs{whose} wait"
