"""Runs: a bounded queue of them, each in a process of its own, watched, stopped, and kept a while.

Knows states, places in the queue and bounds. Does not know what a run does (`work`), nor whose turn
it is (`turns`). What several browsers ask for alike is run once: each of them has a question of its
own, by an identifier that cannot be guessed, with which it may watch the run and leave it. A run
ends when all have left.
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

#: The time that a run that was asked to stop may take to say what it has.
_PATIENCE_S: Final = 5.0


class FullError(Exception):
    """The queue is full; the text says so."""


@dataclass(eq=False)
class Job:
    """One run, what it has told so far, as JSON, and how it stands."""

    id: str
    body: dict[str, Any]
    held: int = 0
    state: State = "waiting"
    progress: float = 0.0
    words: str = ""
    messages: list[bytes] = field(default_factory=list)
    ended_at: float | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    #: The questions of those who have not left, by their identifiers.
    questions: dict[str, Question] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """The size of its messages."""
        return sum(map(len, self.messages))

    @property
    def ended(self) -> bool:
        """True if nothing more comes."""
        return self.state not in ("waiting", "running")

    @property
    def askers(self) -> dict[Asker, int]:
        """The browsers that wait for it, each with the number of its first question."""
        found: dict[Asker, int] = {}
        for one in self.questions.values():
            found.setdefault(one.asker, one.number)
        return found


@dataclass(eq=False)
class Question:
    """A run as one browser asked for it."""

    id: str
    asker: Asker
    number: int
    job: Job
    asked_at: float
    left: bool = False

    @property
    def state(self) -> State:
        """The state of its run, or that it was left while others still wait for it."""
        return "stopped" if self.left and self.job.questions else self.job.state


class Jobs:
    """All runs of a server."""

    def __init__(
        self, folder: Path, limits: Limits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._limits, self._clock = folder, limits, clock
        #: All runs, those last that were asked for last, and by key those that others may share.
        self._jobs: dict[str, Job] = {}
        self._alike: dict[str, Job] = {}
        self._questions: dict[str, Question] = {}
        self._asked = 0
        self._turns = Shares()
        self._line: list[str] | None = None
        self._come = asyncio.Event()
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

    def add(
        self, body: dict[str, Any], *, key: str = "", address: str = "", browser: str = ""
    ) -> Question:
        """Ask for a run; one of an equal `key` that is under way or done answers as well.

        `browser` is one at `address`, as far as it has a name. Where the queue is full, a run of
        whoever has most of it gives way to one who has less.

        Raises FullError.
        """
        if len(self._questions) >= self._limits.questions:
            raise FullError("too many have asked for runs at a time; try again in a moment")
        asker = Asker(address, browser)
        self._asked += 1
        job = self._alike.get(key)
        if job is None or job.id not in self._jobs or not _shareable(job):
            job = self._new(body, asker)
            if key:
                self._alike[key] = job
        if job.ended:
            job.ended_at = self._clock()
        self._jobs[job.id] = self._jobs.pop(job.id, job)
        question = Question(secrets.token_urlsafe(18), asker, self._asked, job, self._clock())
        self._questions[question.id] = job.questions[question.id] = question
        self._changed()
        return question

    def get(self, identifier: str) -> Question | None:
        """The question of an identifier, which is thereby not forgotten; None if there is none."""
        question = self._questions.get(identifier)
        if question is not None:
            question.asked_at = self._clock()
        return question

    def place(self, question: Question) -> int:
        """Counts the runs before one that waits."""
        line = self._waiting()
        return line.index(question.job.id) if question.job.id in line else 0

    def stop(self, question: Question) -> None:
        """Leave a run, which stops with what it has if nobody else waits for it."""
        question.left = True
        job = question.job
        job.questions.pop(question.id, None)
        if not job.questions:
            job.stop.set()
            if job.state == "waiting":
                self._end(job, "stopped")
        self._changed()

    def _new(self, body: dict[str, Any], asker: Asker) -> Job:
        """A run that waits. Raises FullError where one more may not."""
        waiting = [job for job in self._jobs.values() if job.state == "waiting"]
        own = sum(asker in job.askers for job in waiting)
        if own >= self._limits.own:
            raise FullError(
                f"{_runs(own, ' of this browser')} already, and no more may; stop one, or "
                "try again when one has ended"
            )
        if len(waiting) >= self._limits.queue:
            if (giving := self._most_of(waiting, asker)) is None:
                raise FullError(
                    f"{_runs(len(waiting))} already, and no more may; nothing is lost on the page: "
                    "try again in a moment"
                )
            waiting.remove(giving)
            self._fail(giving, "others asked for runs who had fewer; try again in a moment")
        job = Job(str(self._asked), body, held=len(json.dumps(body)))
        if job.held + sum(one.held for one in waiting) > self._limits.held_bytes:
            raise FullError("runs that wait are too large together; try again in a moment")
        return job

    def _most_of(self, waiting: Sequence[Job], asker: Asker) -> Job | None:
        """Return the run that gives way to one of `asker`: the last of who has most that wait.

        That is an address, or where it is the own one a browser at it. None where all have as few.
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
        """The runs that wait by their names, the next one first."""
        if self._line is None:
            waiting = [job for job in self._jobs.values() if job.state == "waiting"]
            self._line = self._turns.order({job.id: job.askers for job in waiting})
        return self._line

    def _changed(self) -> None:
        self._line = None
        self._come.set()

    async def _next(self) -> Job:
        """The run whose turn it is, as soon as there is one."""
        while not (line := self._waiting()):
            self._turns.rest()
            self._come.clear()
            await self._come.wait()
        job = self._jobs[line[0]]
        job.state = "running"
        self._turns.took(job.askers)
        self._changed()
        return job

    async def _serve(self) -> None:
        """Do one run after the other, with the next worker started before it is needed."""
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
        """Do a run to its end; a worker that dies before it has begun is followed by another."""
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
            self._changed()

    async def _sweep(self) -> None:
        """Leave runs for those who do not ask any more, and forget those that ended long ago."""
        while True:
            await asyncio.sleep(1.0)
            self.forget()

    def forget(self) -> None:
        """One round of that."""
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
            # Whoever asked for the last one still has to be told.
            if kept > 1 and (kept > self._limits.most_kept or size > self._limits.known_bytes):
                del self._jobs[job.id]
        self._questions = {
            name: one for name, one in self._questions.items() if one.job.id in self._jobs
        }
        self._alike = {key: job for key, job in self._alike.items() if job.id in self._jobs}
        self._turns.forget({one.asker for one in self._questions.values()})


def _shareable(job: Job) -> bool:
    """Returns true if one who asks for an equal run is served by this one."""
    return job.state == "done" or not (job.ended or job.stop.is_set())


def _runs(count: int, whose: str = "") -> str:
    """So many runs that wait, in words."""
    return f"1 run{whose} waits" if count == 1 else f"{count} runs{whose} wait"
