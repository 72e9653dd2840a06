"""Replications on threads: handed in, watched, cancelled, and kept by their index.

Knows threads and the core; which replications are wanted is said in `airtcp.simulate`. What
comes out depends on scenario and seed alone: threads do not matter.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from airtcp.exceptions import SimulationError
from airtcp.results import Replication
from airtcp.results.records import kept
from airtcp.run.interruption import Interruption

if TYPE_CHECKING:
    from airtcp import _core
    from airtcp.results.trace_file import TraceFile

_POLL_S = 0.1


@dataclass
class Capture:
    """A file for what is on the air, and why it could not be written."""

    path: Path
    error: OSError | None = None


@dataclass(frozen=True)
class Runner:
    """Runs single replications, and has them write down what is asked for."""

    core: _core.Simulation
    seed: int
    trace_interval_ns: int | None
    capture: Capture | None
    snaplen: int
    #: The number of replication 0 for the random streams.
    first: int = 0

    def run(self, index: int, control: _core.RunControl) -> Replication:
        """One replication, to its end."""
        import numpy as np

        from airtcp.results.trace import Trace

        # The replications of a scenario are alike: one capture shows what there is to see.
        capture = self.capture if index == 0 else None
        trace = None
        if self.trace_interval_ns is None and capture is None:
            answer, times = self.core.run(self.seed, self.first + index, control)
        else:
            answer, times, trace = self._recorded(index, control, capture)
        return Replication(
            index,
            kept(json.loads(answer)),
            np.frombuffer(times, dtype="<f8"),
            None if trace is None else Trace.of_core(trace),
        )

    def _recorded(
        self, index: int, control: _core.RunControl, capture: Capture | None
    ) -> tuple[str, bytes, dict[str, Any] | None]:
        try:
            return self.core.run_recorded(
                self.seed,
                self.first + index,
                control,
                sample_interval_ns=self.trace_interval_ns,
                pcap=None if capture is None else capture.path,
                snaplen=self.snaplen,
            )
        except OSError as error:
            if capture is None:
                raise
            # No number depends on the capture: the same run, without it.
            capture.error = error
            return self._recorded(index, control, None)


class Replications:
    """Runs replications on threads and keeps those that ended, by their index."""

    def __init__(
        self,
        runner: Runner,
        threads: int,
        progress: Callable[[float], None] | None,
        interruption: Interruption,
        trace_file: TraceFile | None,
    ) -> None:
        self.finished: dict[int, Replication] = {}
        self._runner = runner
        self._progress = progress
        self._interruption = interruption
        self._trace_file = trace_file
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="airtcp")
        # Some more than there are threads, so that none waits for the next to be handed in.
        self._most_under_way = 4 * threads
        self._ended: SimpleQueue[Future[Replication]] = SimpleQueue()
        self._under_way: dict[Future[Replication], tuple[int, _core.RunControl]] = {}

    def __enter__(self) -> Replications:
        return self

    def __exit__(self, *_: object) -> None:
        self._cancel()

    def in_order(self) -> list[Replication]:
        """The replications that ended, by index."""
        return [self.finished[index] for index in sorted(self.finished)]

    def run_until(self, target: int) -> None:
        """Run those of the replications 0 .. target-1 that have not been run yet.

        Raises SimulationError if one fails; KeyboardInterrupt on Ctrl-C. Either way what is under
        way is cancelled, and what ended before is kept.
        """
        waiting = iter(range(len(self.finished), target))
        try:
            self._hand_in(waiting)
            while self._under_way:
                try:
                    self._keep(self._ended.get(timeout=_POLL_S))
                    self._hand_in(waiting)
                except Empty:
                    pass
                self._interruption.check()
                self._report(target)
        except BaseException:
            self._cancel()
            raise

    def _hand_in(self, waiting: Iterator[int]) -> None:
        from airtcp import _core

        for index in itertools.islice(waiting, self._most_under_way - len(self._under_way)):
            control = _core.RunControl()
            future = self._pool.submit(self._runner.run, index, control)
            self._under_way[future] = index, control
            future.add_done_callback(self._ended.put)

    def _keep(self, future: Future[Replication]) -> None:
        """Take the result of a future that ended. Raises SimulationError if its run failed."""
        from airtcp import _core

        index, _ = self._under_way.pop(future)
        try:
            self._finish(index, future.result())
        except _core.SimulationFailed as error:
            raise SimulationError(
                f"replication {index} with seed {self._runner.seed} failed: {error}"
            ) from error

    def _finish(self, index: int, run: Replication) -> None:
        if self._trace_file is not None and run.trace is not None:
            self._trace_file.add(index, run.trace)
            if index > 0:
                # One is kept for pictures; all of them may not fit into memory.
                run = replace(run, trace=None)
        self.finished[index] = run

    def _report(self, target: int) -> None:
        if self._progress is not None:
            running = sum(control.progress for _, control in self._under_way.values())
            self._progress(min(1.0, (len(self.finished) + running) / target))

    def _cancel(self) -> None:
        """Stop what is under way; keep what ended before it noticed."""
        for _, control in self._under_way.values():
            control.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for future, (index, _) in self._under_way.items():
            if not future.cancelled() and future.exception() is None:
                self._finish(index, future.result())
        self._under_way.clear()
