"""Run replications on threads: submit, watch, cancel, and keep them by index.

The results depend only on scenario and seed, not on threads. Callers decide which replications to
run.
"""

from __future__ import annotations

import _thread
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from airtcp.estimates.accounts import Accounts
from airtcp.exceptions import SimulationError
from airtcp.results import Replication
from airtcp.results.records import kept
from airtcp.run.interruption import Interruption
from airtcp.run.processors import has_threads

if TYPE_CHECKING:
    from airtcp import _core
    from airtcp.results.trace_file import TraceFile

_POLL_S = 0.1
_PATIENCE_WITH_PLUGINS_S = 0.3

left_behind: set[int] = set()
"""Threads stuck in plug-in calls that do not return: the process must then exit immediately."""


@dataclass
class Capture:
    """A capture file, and the error if it could not be written."""

    path: Path
    error: OSError | None = None


class Work(Protocol):
    """Numbered runs."""

    def run(self, index: int, control: _core.RunControl) -> Replication:
        """Run one run to its end."""

    def name(self, index: int) -> str:
        """Return the name of a run for messages."""


@dataclass(frozen=True)
class Runner:
    """Runs single replications, with the requested recordings."""

    core: _core.Simulation
    seed: int
    trace_interval_ns: int | None = None
    capture: Capture | None = None
    snaplen: int = 0
    #: The number of replication 0 in the random streams.
    first: int = 0
    transfers: bool = False
    #: Leave events and PPDUs out of the trace.
    samples_only: bool = False

    def name(self, index: int) -> str:
        """Return the name of a replication for messages."""
        return f"replication {index} with seed {self.seed}"

    def run(self, index: int, control: _core.RunControl) -> Replication:
        """Run one replication to its end."""
        import numpy as np

        from airtcp.results.trace import Trace
        from airtcp.results.transfers import Transfers

        # One capture is enough, because the replications of a scenario are alike.
        capture = self.capture if index == 0 else None
        trace = None
        transfers = None
        if self.trace_interval_ns is None and capture is None and not self.transfers:
            text, times, accounts = self.core.run(self.seed, self.first + index, control)
        else:
            text, times, accounts, trace, transfers = self._recorded(index, control, capture)
        answer, times_s = kept(json.loads(text)), np.frombuffer(times, dtype="<f8")
        return Replication(
            index,
            answer,
            times_s,
            None if trace is None else Trace.of_core(trace),
            None if transfers is None else Transfers.of_core(transfers, answer, times_s),
            Accounts.of_core(accounts),
        )

    def _recorded(
        self, index: int, control: _core.RunControl, capture: Capture | None
    ) -> tuple[str, bytes, dict[str, bytes], dict[str, Any] | None, dict[str, bytes] | None]:
        try:
            return self.core.run_recorded(
                self.seed,
                self.first + index,
                control,
                sample_interval_ns=self.trace_interval_ns,
                pcap=None if capture is None else capture.path,
                snaplen=self.snaplen,
                transfers=self.transfers,
                samples_only=self.samples_only,
            )
        except OSError as error:
            if capture is None:
                raise
            # The capture failed. No number depends on it, so run again without it.
            capture.error = error
            return self._recorded(index, control, None)


class Replications:
    """Runs replications on threads and keeps the completed ones, by index."""

    def __init__(
        self,
        runner: Work,
        threads: int,
        progress: Callable[[float], None] | None,
        interruption: Interruption,
        trace_file: TraceFile | None,
        *,
        plugged: bool,
    ) -> None:
        """Initialize; `plugged` means that the runs may call a plug-in."""
        self.finished: dict[int, Replication] = {}
        self._runner = runner
        self._plugged = plugged
        self._progress = progress
        self._interruption = interruption
        self._trace_file = trace_file
        # Threads start only when there is work: a sweep makes ten thousand results of one
        # replication each.
        self._threads, self._started = threads, 0
        self._idents: list[int] = []
        # Submit more runs than threads, so that no thread waits for work. With a trace file, do
        # not: traces take more memory than results, and an interruption waits until all are
        # written.
        self._most_under_way = threads if trace_file is not None else 4 * threads
        self._handed_in: SimpleQueue[tuple[int, _core.RunControl] | None] = SimpleQueue()
        self._ended: SimpleQueue[tuple[int, Replication | BaseException]] = SimpleQueue()
        self._under_way: dict[int, _core.RunControl] = {}

    def __enter__(self) -> Replications:
        return self

    def __exit__(self, *_: object) -> None:
        self._cancel()

    def in_order(self) -> list[Replication]:
        """Return the completed replications, by index."""
        return [self.finished[index] for index in sorted(self.finished)]

    def run_until(self, target: int) -> None:
        """Run the replications below `target` that have not been run yet.

        Raises SimulationError if one fails, KeyboardInterrupt on Ctrl-C. In both cases the runs
        under way are cancelled, and completed runs are kept.
        """
        waiting = iter(range(len(self.finished), target))
        # A plug-in that never returns would block this thread, the only one that receives Ctrl-C.
        one = len(self.finished) == target - 1 and not self._plugged
        if one or not has_threads():
            for index in waiting:
                self._run_here(index, target)
                self._interruption.check()
                self._report(target)
            return
        try:
            self._hand_in(waiting)
            while self._under_way:
                try:
                    self._keep(*self._ended.get(timeout=_POLL_S))
                    self._hand_in(waiting)
                except Empty:
                    pass
                self._interruption.check()
                self._report(target)
        except BaseException:
            self._cancel()
            raise

    def _run_here(self, index: int, target: int) -> None:
        """Run a replication in this thread: a thread costs more than a single short run."""
        from airtcp import _core

        def look() -> None:
            self._interruption.check()
            self._report(target)

        self._under_way[index] = control = _core.RunControl(look)
        try:
            ended: Replication | BaseException = self._runner.run(index, control)
        except Exception as error:
            ended = error
        except BaseException:
            del self._under_way[index]
            raise
        self._keep(index, ended)

    def _hand_in(self, waiting: Iterator[int]) -> None:
        from airtcp import _core

        for index in itertools.islice(waiting, self._most_under_way - len(self._under_way)):
            control = _core.RunControl()
            self._under_way[index] = control
            self._handed_in.put((index, control))
            if self._started < self._threads:
                # A daemon thread, so that the process can exit without waiting for a run.
                # `threading` would wait for the thread to start, at each point of a sweep.
                self._idents.append(_thread.start_new_thread(self._work, ()))
                self._started += 1

    def _work(self) -> None:
        """Run replications in a worker thread until none is left."""
        while (task := self._handed_in.get()) is not None:
            index, control = task
            try:
                self._ended.put((index, self._runner.run(index, control)))
            except BaseException as error:
                self._ended.put((index, error))

    def _keep(self, index: int, ended: Replication | BaseException) -> None:
        """Store the result of a completed run. Raises SimulationError if it failed."""
        from airtcp import _core

        del self._under_way[index]
        if isinstance(ended, _core.SimulationFailed):
            raise SimulationError(f"{self._runner.name(index)} failed: {ended}") from ended
        if isinstance(ended, BaseException):
            raise ended
        self._finish(index, ended)

    def _finish(self, index: int, run: Replication) -> None:
        if self._trace_file is not None and run.trace is not None:
            self._trace_file.add(index, run.trace)
            if index > 0:
                # Keep only one trace, for pictures; all of them may not fit into memory.
                run = replace(run, trace=None)
        self.finished[index] = run

    def _report(self, target: int) -> None:
        if self._progress is not None:
            running = sum(control.progress for control in self._under_way.values())
            self._progress(min(1.0, (len(self.finished) + running) / target))

    def _keep_what_ends(self, patience_s: float | None) -> bool:
        """Keep results of cancelled runs until all have ended; False if that takes too long."""
        while self._under_way:
            try:
                index, ended = self._ended.get(timeout=patience_s)
            except Empty:
                return False
            del self._under_way[index]
            if isinstance(ended, Replication):
                self._finish(index, ended)
        return True

    def _cancel(self) -> None:
        """Cancel the runs under way, keep those that completed anyway, and end the threads."""
        for control in self._under_way.values():
            control.cancel()
        with suppress(Empty):
            while True:
                task = self._handed_in.get_nowait()
                if task is not None:
                    del self._under_way[task[0]]
        # A run notices the cancellation quickly. A plug-in call may never return: it is
        # interrupted, and abandoned if it does not react (a sleep, for example).
        if not self._plugged:
            self._keep_what_ends(None)
        elif not self._keep_what_ends(_PATIENCE_WITH_PLUGINS_S):
            import ctypes

            for thread in self._idents:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
                )
            if not self._keep_what_ends(_PATIENCE_WITH_PLUGINS_S):
                left_behind.update(self._idents)
        for _ in range(self._started):
            self._handed_in.put(None)
        self._started = 0
