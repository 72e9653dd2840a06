"""Workers that die, and cached answers: the page's pool of workers without a page."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from airtcp.web.jobs import Job, Jobs
from airtcp.web.limits import Limits
from airtcp.web.pool import Known, ModelPool, WorkerProcess
from serving import LONG, QUICK
from wing import with_papers

_STARTED: list[WorkerProcess] = []
#: A run of one point without trials of changes, which takes only a moment.
POINT = {"kind": "points", "axis": "stations.sensor.count", "values": [2]}


def source(**changes: Any) -> dict[str, Any]:
    return {"source": {"example": "saturated-stations", "changes": changes}}


@pytest.fixture
def folder() -> Any:
    with tempfile.TemporaryDirectory() as name:
        for part in ("uploads", "scratch"):
            (Path(name) / part).mkdir()
        yield Path(name)


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[WorkerProcess]:
    """Return a list that collects all started workers in order."""
    found = _STARTED
    found.clear()
    start = WorkerProcess.start

    async def noted(*arguments: Any) -> WorkerProcess:
        found.append(await start(*arguments))
        return found[-1]

    monkeypatch.setattr(WorkerProcess, "start", noted)
    return found


def pool_of(
    size: int, folder: Path, ask: Callable[[ModelPool], Awaitable[Any]], **limits: Any
) -> Any:
    """Start a pool, ask it, stop it, and return the answer."""

    async def whole() -> Any:
        pool = ModelPool(size, folder, Limits(**limits))
        pool.start()
        try:
            return await ask(pool)
        finally:
            await pool.stop()
            await closed()

    return asyncio.run(whole())


async def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


async def closed() -> None:
    """Wait until the pipes of all workers are closed; otherwise the loop ends with open pipes."""

    def are_closed() -> bool:
        processes: list[Any] = [one._process for one in _STARTED]
        return all(process._transport.is_closing() for process in processes)

    await until(are_closed)


def test_workers_that_died_idle_cost_no_question(
    folder: Path, started: list[WorkerProcess]
) -> None:
    async def ask(pool: ModelPool) -> list[dict[str, Any]]:
        said = [await pool.ask("predict", source())]
        for seed in range(1, 4):
            for worker in started:
                if worker.alive:
                    os.kill(worker.pid, signal.SIGKILL)
            # Ask before the pool can notice the deaths; the second question is the second worker's.
            said += [
                await pool.ask("predict", source(**{"run.seed": seed + 10 * one})) for one in (1, 2)
            ]
        return said

    said = pool_of(2, folder, ask)
    assert all("answer" in one for one in said), said
    # The answers are equal except for their seeds.
    assert len({json.dumps(one) for one in said}) == 1


@with_papers
def test_a_worker_killed_over_a_question_is_asked_again(
    folder: Path, started: list[WorkerProcess]
) -> None:
    async def ask(pool: ModelPool) -> dict[str, Any]:
        await pool.ask("predict", source())
        # Listing all papers takes longer than killing the worker.
        asked = asyncio.create_task(pool.ask("papers", {}))
        await asyncio.sleep(0.02)
        assert not asked.done()
        os.kill(started[0].pid, signal.SIGKILL)
        return await asked

    assert "answer" in pool_of(1, folder, ask)
    assert len(started) == 2


def test_a_question_whose_workers_die_ends_with_the_reason(
    folder: Path, started: list[WorkerProcess]
) -> None:
    async def ask(pool: ModelPool) -> dict[str, Any]:
        asked = asyncio.create_task(pool.ask("predict", source()))
        await until(lambda: len(started) == 1)
        os.kill(started[-1].pid, signal.SIGKILL)
        await until(lambda: len(started) == 2)
        os.kill(started[-1].pid, signal.SIGKILL)
        said = await asked
        # The next question still gets an answer.
        assert "answer" in await pool.ask("predict", source())
        return said

    failed = pool_of(1, folder, ask)["failed"]
    assert "has ended 2 times (status -9)" in failed
    assert "too long" not in failed


def test_workers_that_cannot_live_are_not_started_for_ever(
    folder: Path, started: list[WorkerProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airtcp.web.pool.sys.executable", "/bin/false")

    async def ask(pool: ModelPool) -> dict[str, Any]:
        await asyncio.sleep(1.0)
        assert len(started) == 3
        return await pool.ask("predict", source())

    assert "has ended 2 times (status 1)" in pool_of(1, folder, ask)["failed"]
    assert len(started) < 8


@with_papers
def test_an_answer_that_takes_too_long_says_so(folder: Path) -> None:
    said = pool_of(1, folder, lambda pool: pool.ask("papers", {}), answer_s=0.01)
    assert said == {"failed": "no answer within 0.01 s, which is the limit"}


def test_answers_are_known_by_their_bytes_and_refusals_are_not(
    folder: Path, started: list[WorkerProcess]
) -> None:
    most = 200_000

    async def ask(pool: ModelPool) -> None:
        for seed in range(40):
            assert "answer" in await pool.ask("scenario", source(**{"run.seed": seed + 1}))
            assert 0 < pool._known.bytes <= most
        full = pool._known.bytes
        for seed in range(40):
            assert "problem" in await pool.ask("scenario", source(**{"run.seed": -1 - seed}))
        assert pool._known.bytes == full
        # The last answer is still cached, so no worker is asked.
        await started[0].end()
        assert "answer" in await pool.ask("scenario", source(**{"run.seed": 40}))

    pool_of(1, folder, ask, known_bytes=most)


def test_known_answers_go_by_when_they_were_asked_for_last() -> None:
    known = Known(3000)
    for name in b"abc":
        known.keep(bytes([name]), json.dumps({"answer": chr(name) * 500}).encode())
    assert known.get(b"a") == {"answer": "a" * 500}
    known.keep(b"d", b'{"answer": 1}')
    assert known.get(b"b") is None
    assert [known.get(bytes([name])) is not None for name in b"acd"] == [True] * 3
    # An equal answer is counted once, and one larger than the cache is not kept.
    size = known.bytes
    known.keep(b"d", b'{"answer": 2}')
    assert known.bytes == size
    known.keep(b"e", b'{"answer": "' + b"e" * 3000 + b'"}')
    assert known.get(b"e") is None
    assert known.bytes == 0


def test_changes_are_made_in_their_order(folder: Path) -> None:
    """The same changes in another order are another question."""
    table = {"kind": "udp", "packet": "500 B", "rate": "1 Mb/s"}
    one = {"flows.sensor.application": table, "flows.sensor.application.packet": "900 B"}

    async def ask(pool: ModelPool) -> list[str]:
        both = (one, dict(reversed(one.items())))
        said = [await pool.ask("scenario", source(**changes)) for changes in both]
        return ["; ".join(each["answer"]["subject"]) for each in said]

    first, second = pool_of(1, folder, ask)
    assert "900 bytes" in first
    assert "500 bytes" in second


def jobs_of(folder: Path, do: Callable[[Jobs], Awaitable[Any]], **limits: Any) -> Any:
    async def whole() -> Any:
        jobs = Jobs(folder, Limits(workers=1, **limits))
        jobs.start()
        try:
            return await do(jobs)
        finally:
            await jobs.close()
            await closed()

    return asyncio.run(whole())


def test_a_run_whose_worker_died_before_it_began_is_not_lost(
    folder: Path, started: list[WorkerProcess]
) -> None:
    async def do(jobs: Jobs) -> Job:
        await until(lambda: len(started) == 1)
        job = jobs.add(POINT | source(**QUICK)).job
        # Whether or not the worker knows of the run.
        os.kill(started[0].pid, signal.SIGKILL)
        await until(lambda: job.ended, 60.0)
        return job

    job = jobs_of(folder, do)
    assert job.state == "done", job.messages
    assert job.body == {}


def test_a_run_that_was_killed_is_lost_alone(folder: Path, started: list[WorkerProcess]) -> None:
    async def do(jobs: Jobs) -> list[Job]:
        first = jobs.add({"kind": "run"} | source(**LONG)).job
        second = jobs.add(POINT | source(**QUICK)).job
        await until(lambda: bool(started) and started[0].began)
        os.kill(started[0].pid, signal.SIGKILL)
        await until(lambda: first.ended and second.ended, 60.0)
        return [first, second]

    first, second = jobs_of(folder, do)
    assert (first.state, second.state) == ("failed", "done")
    assert b"ended by itself (status -9)" in first.messages[-1]


def test_a_run_that_a_page_started_goes_back_to_the_queue_for_a_requested_one(folder: Path) -> None:
    async def do(jobs: Jobs) -> tuple[Job, Job]:
        own = jobs.add({"kind": "run"} | source(**LONG), auto=True)
        await until(lambda: own.job.state == "running")
        asked = jobs.add(POINT | source(**QUICK)).job
        await until(lambda: asked.state == "running", 60.0)
        assert own.job.state == "waiting"
        await until(lambda: asked.ended, 60.0)
        await until(lambda: own.job.state == "running")
        jobs.stop(own)
        await until(lambda: own.job.ended, 60.0)
        return own.job, asked

    own, asked = jobs_of(folder, do)
    assert (own.state, asked.state) == ("stopped", "done")


def test_what_ended_runs_have_told_is_kept_up_to_its_bytes(folder: Path) -> None:
    jobs = Jobs(folder, Limits(known_bytes=10_000), clock=lambda: 0.0)
    for _ in range(30):
        job = Job(str(len(jobs._jobs)), {}, messages=[b"x" * 1000])
        jobs._jobs[job.id] = job
        jobs._end(job, "done")
    jobs.forget()
    assert list(jobs._jobs) == [str(number) for number in range(20, 30)]

    large = Job("large", {}, messages=[b"x" * 20_000])
    jobs._jobs["large"] = large
    jobs._end(large, "done")
    jobs.forget()
    # The last run still has a client to notify.
    assert list(jobs._jobs) == ["large"]


#: A worker's run that receives another stop request at each message to the server.
_INTERRUPTED = """
import io, json, os, signal, sys
from pathlib import Path
from airtcp.web import worker

class Wished(io.StringIO):
    def write(self, text):
        os.kill(os.getpid(), signal.SIGINT)
        return super().write(text)

output = Wished()
worker._run({"body": json.loads(sys.argv[1]), "limit_s": 60}, Path(sys.argv[2]), output)
print(output.getvalue(), end="")
"""


def test_a_run_that_is_interrupted_again_and_again_stops_once_and_quietly(folder: Path) -> None:
    body = json.dumps({"kind": "run", **source(**LONG)})
    done = subprocess.run(
        [sys.executable, "-P", "-c", _INTERRUPTED, body, str(folder / "uploads")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"stopped": True}]
