"""A chunk of work: runs of some points, one after the other, on one worker.

The work is the same in a thread, in another process and on a cluster: the input is a chunk, and the
output has rows and the tasks left when the time is up.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from airtcp.exceptions import PluginFailedError, SimulationError
from airtcp.plugins import take
from airtcp.run.numbers import Numbers, wanted
from airtcp.sweep.work import Chunk, Done, Row, Task, Work, unpack


def run_chunk(work: Work, chunk: Chunk, control: Any) -> Done:
    """Run the tasks of a chunk, at least one run, however long it takes.

    `control` is a `RunControl`. Raises `_core.Cancelled`.
    """
    take(work.plugins)
    done = Done()
    begin, cpu_begin = time.perf_counter(), time.thread_time()
    end = begin + chunk.seconds
    for index, task in enumerate(chunk.tasks):
        if done.rows and time.perf_counter() > end:
            done.left += chunk.tasks[index:]
            break
        try:
            rest = _run(work, task, control, end, done)
        except PluginFailedError:
            raise
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


def _run(work: Work, task: Task, control: Any, end: float, done: Done) -> Task | None:
    """Run a task; return the part left when the time is up."""
    numbers = Numbers(unpack(task.packed), work.metrics)

    def keep(replication: int, row: Row) -> None:
        done.rows.append((task.number, replication, numbers.seed, row))

    often = work.often
    if often.precision is None or task.replications:
        for at, replication in enumerate(task.replications):
            if at and time.perf_counter() > end:
                return replace(task, replications=task.replications[at:])
            keep(replication, numbers.row(replication, control))
        return None
    have, widths = list(task.have), dict(task.widths)
    while True:
        target, enough = wanted(widths, often.precision, often.most)
        while len(have) < target:
            if len(have) > len(task.have) and time.perf_counter() > end:
                return replace(task, have=tuple(have), widths=widths)
            row, recorded = numbers.recorded(len(have), control)
            if len(have) >= task.there:
                keep(len(have), row)
            have.append(recorded)
        if enough:
            done.widths[task.number] = widths
            return None
        widths[target] = numbers.width(have[:target], often.confidence)
