"""A chunk of work: runs of some points, made one after the other where the processor is.

What is done here is the same in a thread, in a process beside and on a cluster: a chunk in, rows
out, and what was left when the time was over. Knows templates of points, metrics and rounds. Does
not know stores, nor who else works.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from airtcp.exceptions import SimulationError
from airtcp.run import HEADLINES
from airtcp.run.numbers import Numbers, wanted
from airtcp.sweep.work import Chunk, Done, Row, Task, Work


def run_chunk(work: Work, chunk: Chunk, control: Any) -> Done:
    """Make the runs of a chunk. At least one is made, however long it takes.

    `control` is a `RunControl`. Raises `_core.Cancelled`.
    """
    done = Done()
    begin, cpu_begin = time.perf_counter(), time.thread_time()
    end = begin + chunk.seconds
    for index, task in enumerate(chunk.tasks):
        if done.rows and time.perf_counter() > end:
            done.left += chunk.tasks[index:]
            break
        try:
            rest = _run(work, task, control, end, done.rows)
        except SimulationError as error:
            done.failed.append((task.number, str(error)))
            done.finished += 1
            continue
        if rest is None:
            done.finished += 1
        else:
            done.left.append(rest)
    done.wall_s = time.perf_counter() - begin
    done.cpu_s = time.thread_time() - cpu_begin
    return done


def _run(
    work: Work, task: Task, control: Any, end: float, rows: list[tuple[int, int, int, Row]]
) -> Task | None:
    """Make the runs of a task; what is left of it when the time is over."""
    numbers = Numbers(work.template.filled(task.filling), work.metrics)

    def one(replication: int) -> Row:
        row = numbers.row(replication, control)
        rows.append((task.number, replication, numbers.seed, row))
        return row

    if work.often.precision is None:
        for at, replication in enumerate(task.replications):
            if at and time.perf_counter() > end:
                return replace(task, replications=task.replications[at:])
            one(replication)
        return None
    have = list(task.have)
    while len(have) < wanted_of(work, have):
        if len(have) > len(task.have) and time.perf_counter() > end:
            return replace(task, have=tuple(have))
        have.append(one(len(have)))
    return None


def wanted_of(work: Work, have: Sequence[Row]) -> int:
    """Tells how many runs a point shall have, by the runs that it has."""
    often = work.often
    assert often.precision is not None
    at = [work.metrics.index(name) for name in HEADLINES]
    return wanted(have, at, often.precision, often.confidence, often.most)
