"""Replications on threads: handed in, watched, interrupted, and kept by their index.

Knows threads, the core and Ctrl-C; which replications are wanted is said in `airtcp.simulate`. What
comes out depends on scenario and seed alone: threads do not matter.
"""

from __future__ import annotations

import itertools
import json
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING

from airtcp.exceptions import SimulationError
from airtcp.results import Replication

if TYPE_CHECKING:
    from airtcp import _core
    from airtcp.results.trace_file import TraceFile

_POLL_S = 0.1


class Interruption:
    """Ctrl-C as a question that is asked at safe points, not as an exception that comes anywhere.

    KeyboardInterrupt in the middle of a lock would leave it held for ever, and the threads that
    run replications need theirs. A second Ctrl-C is the usual exception. Only where the usual
    handler is in place, and only in the main thread, which alone gets signals.
    """

    def __init__(self) -> None:
        self._asked = False
        self._installed = False

    def __enter__(self) -> Interruption:
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._on_signal)
            self._installed = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def check(self) -> None:
        """Raise KeyboardInterrupt if the user has asked for it."""
        if self._asked:
            raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            signal.default_int_handler(number, frame)
        self._asked = True


@dataclass(frozen=True)
class Runner:
    """Runs single replications, and has them write down what is asked for."""

    core: _core.Simulation
    seed: int
    trace_interval_ns: int | None
    pcap: Path | None
    snaplen: int
    #: The number of replication 0 for the random streams.
    first: int = 0

    def run(self, index: int, control: _core.RunControl) -> Replication:
        """One replication, to its end."""
        import numpy as np

        from airtcp.results.trace import Trace

        trace = None
        # The replications of a scenario are alike: one capture shows what there is to see.
        pcap = self.pcap if index == 0 else None
        if self.trace_interval_ns is None and pcap is None:
            answer, times = self.core.run(self.seed, self.first + index, control)
        else:
            answer, times, trace = self.core.run_recorded(
                self.seed,
                self.first + index,
                control,
                sample_interval_ns=self.trace_interval_ns,
                pcap=pcap,
                snaplen=self.snaplen,
            )
        return Replication(
            index,
            json.loads(answer),
            np.frombuffer(times, dtype="<f8"),
            None if trace is None else Trace.of_core(trace),
        )


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
