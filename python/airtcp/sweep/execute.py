"""Run the missing part of a sweep and write it to the store.

This module determines what is missing, sizes the chunks, estimates the remaining time, and handles
workers that die. `chunk` runs a chunk, `workers` and `cluster` provide the workers, and
`airtcp.results.table` stores the rows.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import OutputError, SimulationError
from airtcp.phrases import phrase
from airtcp.plugins import carried
from airtcp.results.provenance import core_digest
from airtcp.results.table import AxisColumn, Contents, Writer
from airtcp.run import HEADLINES
from airtcp.run.interruption import Interruption
from airtcp.run.numbers import metric_names, wanted
from airtcp.scenario.resolved import hash_of
from airtcp.sweep.decided import Decided
from airtcp.sweep.points import Points, points_of
from airtcp.sweep.spec import Sweep
from airtcp.sweep.work import Chunk, Done, Often, Row, Task, Work, pack
from airtcp.sweep.workers import Crew, Ended, Lost, Worker

if TYPE_CHECKING:
    import pyarrow as pa

#: The duration of the first chunk and of the longest one. This much work is lost if a worker dies.
_FIRST_S: Final = 0.2
_LONGEST_S: Final = 30.0
#: The duration of a chunk, as a fraction of the elapsed time of the sweep.
_SHARE: Final = 0.05
#: A chunk that has lost this many workers is the cause itself.
_MOST_LOSSES: Final = 3
#: Runs of one point stay together, as long as there are this many tasks per worker.
_TASKS_EACH: Final = 200
#: The shortest duration of a chunk, if there is enough to do.
_SHORTEST_S: Final = 0.01
_POLL_S: Final = 0.1
#: How long rows are buffered before writing; each file costs some milliseconds of CPU time.
_KEEP_EACH_S: Final = 0.5
#: How often to check for new workers.
_HIRE_EACH_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a sweep: the completed share of tasks, and the remaining time."""

    share: float
    left_s: float | None
    runs: int


@dataclass
class Swept:
    """The outcome of a sweep.

    `points` counts the points of the sweep, `runs` the new runs, and `there` the runs that the
    store already had. `failed` has the reason for each point without a result.
    """

    folder: Path
    points: int
    there: int = 0
    runs: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    wall_s: float = 0.0
    cpu_s: float = 0.0
    other_core: str | None = None


@dataclass
class _Plan:
    """The work to do: the points by number, and tasks for their missing runs."""

    points: Points
    hashes: list[str]
    tasks: deque[Task]
    there: int


def execute(
    sweep: Sweep,
    folder: Path,
    *,
    crew: Crew,
    progress: Callable[[Progress], None] | None = None,
) -> Swept:
    """Run the missing part of a sweep. After Ctrl-C, completed runs are in the store.

    Raises ScenarioError, OutputError, the errors of `crew`, and SimulationError if the workers die
    or a disk is full.
    """
    begin = time.perf_counter()
    points = points_of(sweep)
    about = contents_of(sweep, points)
    with Interruption() as interruption, Writer.open(folder, about) as writer:
        outcome = Swept(folder, len(points))
        if writer.contents.rows and (before := _other_core(writer)) is not None:
            outcome.other_core = before
        work = Work(writer.contents.metrics, sweep.often, carried())
        decided = Decided.of(folder, writer.contents)
        try:
            plan = _planned(points, work.often, writer, decided, crew.threads, interruption.check)
            outcome.there = plan.there
            run = _Run(plan, work, writer, decided, outcome, progress, interruption)
            try:
                run.all(crew)
            finally:
                run.stop()
        except KeyboardInterrupt:
            outcome.interrupted = True
        with _kept(folder):
            writer.compact()
    # Report an interruption even if it came too late to stop anything.
    outcome.interrupted |= interruption.asked
    outcome.wall_s = time.perf_counter() - begin
    return outcome


@contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """Raise SimulationError if the store cannot be written, because the input was valid.

    A disk may be full, or the store may have been removed.
    """
    try:
        yield
    except OutputError as error:
        there = phrase("sweep.points.kept") if Contents.read(folder) is not None else ""
        raise SimulationError(f"{error}{there}") from error


def contents_of(sweep: Sweep, points: Points) -> Contents:
    """Return the description of the tables of a sweep."""
    from airtcp._version import __version__

    metrics = sweep.metrics or metric_names()
    if sweep.often.precision is not None:
        metrics = tuple(dict.fromkeys((*metrics, *HEADLINES)))
    axes = [
        AxisColumn(column.name, axis.name, column.unit)
        for axis in sweep.axes
        for column in axis.columns
    ]
    core = core_digest()[:16]
    base = sweep.base.to_json()
    return Contents(__version__, core, tuple(axes), metrics, sweep.often.confidence, base)


def _other_core(writer: Writer) -> str | None:
    """Return a different core version that has made rows of the table, if there is one."""
    cores = writer.files().rows(("core",)).column("core").unique().to_pylist()
    return next((core for core in cores if core != writer.contents.core), None)


def _named(points: Points, hashes: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    names = [column.name for axis in points.sweep.axes for column in axis.columns]
    columns = zip(*(points.labels(number) for number in range(len(points))), strict=True)
    return pa.table({"point": list(hashes), **dict(zip(names, map(list, columns), strict=True))})


def _planned(
    points: Points,
    often: Often,
    writer: Writer,
    decided: Decided,
    workers: int,
    check: Callable[[], None],
) -> _Plan:
    """Plan the missing replications, in an order independent of the axes.

    The hash order mixes cheap and costly points, so that the remaining time can be predicted from
    the completed part. Raises ScenarioError if a point is invalid; `check` may raise at each.
    """
    have = writer.have()
    hashes, packed = [], []
    for number in range(len(points)):
        check()
        resolved = points.json(number)
        hashes.append(hash_of(resolved))
        packed.append(pack(resolved))
    # Of equal points, take the first one.
    first = dict(zip(reversed(hashes), reversed(range(len(hashes))), strict=True))
    numbers = [first[point] for point in sorted(first)]
    tasks: list[Task] = []
    there = 0
    if often.precision is None:
        assert often.replications is not None
        every = range(often.replications)
        together = max(1, len(numbers) * len(every) // (workers * _TASKS_EACH))
        for number in numbers:
            known = have.get(hashes[number], set())
            missing = [one for one in every if one not in known]
            there += len(every) - len(missing)
            tasks += (
                Task(number, packed[number], tuple(missing[at : at + together]))
                for at in range(0, len(missing), together)
            )
    else:
        for number in numbers:
            known = have.get(hashes[number], set())
            count = next(at for at in range(len(known) + 1) if at not in known)
            there += count
            widths = decided.widths(hashes[number])
            target, enough = wanted(widths, often.precision, often.most)
            if not enough:
                tasks.append(Task(number, packed[number], there=count, widths=widths))
            elif count < target:
                tasks.append(Task(number, packed[number], tuple(range(count, target))))
    return _Plan(points, hashes, deque(tasks), there)


def _columns(metrics: Sequence[str], rows: Sequence[Row]) -> dict[str, pa.Array]:
    """Return a column for each metric. Other threads of this process wait meanwhile."""
    import numpy as np
    import pyarrow as pa

    numbers = np.frombuffer(b"".join(rows), "<f8").reshape(len(rows), len(metrics))
    columns = zip(metrics, numbers.T.copy(), strict=True)
    # from_pandas turns NaN into missing values.
    return {name: pa.array(column, from_pandas=True) for name, column in columns}


class _Run:
    """An active sweep."""

    def __init__(
        self,
        plan: _Plan,
        work: Work,
        writer: Writer,
        decided: Decided,
        outcome: Swept,
        progress: Callable[[Progress], None] | None,
        interruption: Interruption,
    ) -> None:
        self._plan, self._work, self._writer, self._outcome = plan, work, writer, outcome
        self._progress, self._interruption, self._decided = progress, interruption, decided
        self._ended: Ended = SimpleQueue()
        #: The chunks of each worker: the active one, and queued ones.
        self._held: dict[Worker, deque[Chunk]] = {}
        self._losses: dict[int, int] = {}
        self._begin = self._kept = time.perf_counter()
        #: Rows that are not in the store yet.
        self._rows: list[tuple[int, int, int, Row]] = []
        self._tasks = len(plan.tasks)
        self._finished = 0
        #: The time that workers spent on completed tasks.
        self._worked_s = 0.0

    def all(self, crew: Crew) -> None:
        """Run all tasks. Raises KeyboardInterrupt, SimulationError, OutputError."""
        try:
            self._hire(crew)
            self._hand_out()
            # The store needs the names of points before rows; workers start before they are
            # written.
            with _kept(self._writer.folder):
                self._writer.add_points(_named(self._plan.points, self._plan.hashes))
            asked = self._begin
            while self._plan.tasks or self._busy:
                if self._plan.tasks and time.perf_counter() - asked > _HIRE_EACH_S:
                    asked = time.perf_counter()
                    self._hire(crew)
                self._hand_out()
                if time.perf_counter() - self._kept > _KEEP_EACH_S:
                    self._keep()
                self._wait()
                self._interruption.check()
                self._report()
        finally:
            self._keep()

    def _wait(self) -> None:
        """Wait for a chunk to end, and handle all that have ended."""
        wait: float | None = _POLL_S
        with suppress(Empty):
            while True:
                worker, ended = self._ended.get(timeout=wait) if wait else self._ended.get_nowait()
                wait = None
                self._take(worker, ended)

    def stop(self) -> None:
        """Stop the workers."""
        for worker in self._held:
            worker.stop()

    @property
    def _busy(self) -> bool:
        return any(self._held.values())

    def _hire(self, crew: Crew) -> None:
        for worker in crew.more(len(self._held), self._work, self._ended):
            self._held[worker] = deque()

    def _hand_out(self) -> None:
        """Fill the places of the workers, beginning with idle workers."""
        for place in range(max((worker.places for worker in self._held), default=0)):
            for worker, chunks in self._held.items():
                if self._plan.tasks and len(chunks) == place < worker.places:
                    chunks.append(self._chunk())
                    worker.submit(chunks[-1])

    def _chunk(self) -> Chunk:
        """Return tasks for one worker: as many as fit the target duration."""
        elapsed = time.perf_counter() - self._begin
        seconds = min(_LONGEST_S, max(_FIRST_S, _SHARE * elapsed))
        tasks = self._plan.tasks
        # Near the end, smaller chunks let all workers finish at the same time.
        most = len(tasks) // (2 * max(1, len(self._held)))
        if self._finished:
            each_s = max(self._worked_s / self._finished, 1e-6)
            most = min(max(most, int(_SHORTEST_S / each_s)), int(seconds / each_s))
        else:
            most = min(most, 64)
        return Chunk(tuple(tasks.popleft() for _ in range(min(max(most, 1), len(tasks)))), seconds)

    def _take(self, worker: Worker, ended: Done | BaseException) -> None:
        """Handle the result of a chunk. Raises the error of the worker."""
        chunks = self._held[worker]
        if isinstance(ended, Lost):
            self._held[worker] = deque()
            self._lose(chunks, ended)
            return
        if isinstance(ended, BaseException):
            raise ended
        chunks.popleft()
        self._plan.tasks.extendleft(reversed(ended.left))
        self._finished += ended.finished
        self._worked_s += ended.wall_s
        self._outcome.cpu_s += ended.cpu_s
        for number, why in ended.failed:
            self._outcome.failed[self._plan.points.told(number)] = why
        self._rows += ended.rows
        for number, widths in ended.widths.items():
            self._decided.add(self._plan.hashes[number], widths)

    def _keep(self) -> None:
        """Write the buffered rows to the store."""
        self._kept = time.perf_counter()
        with _kept(self._writer.folder):
            self._decided.write()
        if not self._rows:
            return
        made, self._rows = self._rows, []
        numbers, replications, seeds, rows = zip(*made, strict=True)
        columns: dict[str, Sequence[Any]] = {
            "point": [self._plan.hashes[number] for number in numbers],
            "replication": replications,
            "seed": seeds,
            **_columns(self._work.metrics, rows),
        }
        with _kept(self._writer.folder):
            self._writer.add(columns)
        self._outcome.runs += len(made)

    def _lose(self, chunks: Sequence[Chunk], lost: Lost) -> None:
        """Requeue the tasks of a dead worker. Only the active chunk is suspected."""
        for task in chunks[0].tasks if chunks else ():
            times = self._losses[task.number] = self._losses.get(task.number, 0) + 1
            if times >= _MOST_LOSSES:
                told = self._plan.points.told(task.number)
                raise SimulationError(
                    phrase("sweep.points.lost", lost=lost, before=times - 1, at=told)
                )
        for chunk in reversed(chunks):
            self._plan.tasks.extendleft(reversed(chunk.tasks))

    def _left_s(self, workers: int) -> float | None:
        if not self._finished:
            return None
        return self._worked_s / self._finished * (self._tasks - self._finished) / workers

    def _report(self) -> None:
        if self._progress is not None:
            left_s = self._left_s(max(1, len(self._held)))
            share = self._finished / self._tasks
            runs = self._outcome.runs + len(self._rows)
            self._progress(Progress(share, left_s, runs))
