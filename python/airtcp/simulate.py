"""Packet-level simulation: replications on threads, put together to one result.

The only caller of the Rust core for packets. Knows seeds, threads, rounds and interruption; knows
nothing about packets. The answer depends on scenario and seed alone: replications are gathered by
their index, and whether more are needed is decided from results, so threads do not matter.
"""

from __future__ import annotations

import itertools
import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING

from airtcp.exceptions import OutputError, SimulationError
from airtcp.files import aside
from airtcp.processors import processors
from airtcp.results import Provenance, Replication, Simulation, SimulationResult, Stopped
from airtcp.stats import FIRST_ROUND, Interval, is_precise, next_round, student_interval

if TYPE_CHECKING:
    from airtcp import _core
    from airtcp.scenario import ResolvedScenario
    from airtcp.trace_file import TraceFile

#: The metrics whose intervals `precision` is about. One without a value in any replication (no
#: transfers) does not count.
HEADLINES = ("goodput_bps", "transfer_time_s")

#: How many bytes of each frame a capture has: all headers, and the messages of FTP.
SNAPLEN = 256
LEAST_SNAPLEN = 64
MOST_SNAPLEN = 65_535

#: How far apart the samples of a trace are, if the caller does not say.
TRACE_INTERVAL_S = 0.1

#: More samples than this would fill the memory of an ordinary machine.
_MOST_ROWS = 2e7

_POLL_S = 0.1


def simulate(
    scenario: ResolvedScenario,
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    trace: bool | str | Path = False,
    trace_interval_s: float = TRACE_INTERVAL_S,
    pcap: str | Path | None = None,
    snaplen: int = SNAPLEN,
) -> SimulationResult:
    """Simulate a scenario packet by packet, in independent replications.

    `seed` and `replications` replace those of the scenario; the scenario in the result is the one
    that was run. Without `replications`, a scenario with `precision` goes on, in rounds, until the
    intervals of goodput and (where there are transfers) transfer time are within +-precision of
    their means or `max_replications` is reached; `simulation.stopped` says which. `threads` is
    the number of replications under way at a time (default: one per processor) and does not
    change any number. `progress` is called now and then with the fraction done, 0 to 1, of the
    replications planned so far.

    On Ctrl-C the replications under way are cancelled; those that had ended are reported with
    `stopped` set to "interrupted".

    `trace` asks for time series of flows and queues, a sample every `trace_interval_s`, and for
    what happened, of all replications: True keeps them as `simulation.runs[i].trace`
    (`airtcp.trace.Trace`), a path that ends in .parquet or .csv writes them there and keeps that of
    replication 0 (docs/traces.md). `pcap` is a file for what was on the air in replication 0, as
    Wireshark reads it, of each frame the first `snaplen` bytes. Neither changes a number of the
    result.

    Raises SimulationError if a replication breaks a conservation law or the core does not take
    the scenario, ValueError for a number of replications or threads below one or an interval that
    is not positive, OutputError if the file cannot be written, and KeyboardInterrupt if
    interrupted before the first replication ended.
    """
    from airtcp import _core

    if not LEAST_SNAPLEN <= snaplen <= MOST_SNAPLEN:
        raise ValueError(f"snaplen must be {LEAST_SNAPLEN} to {MOST_SNAPLEN}, not {snaplen}")
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    scenario = scenario.with_run(seed=seed, replications=replications)
    interval_ns = _interval_ns(scenario, trace_interval_s) if trace else None
    try:
        core = _core.Simulation(scenario.to_json())
    except ValueError as error:
        raise SimulationError(f"the simulator does not take this scenario: {error}") from error

    wall_start, cpu_start = time.perf_counter(), time.process_time()
    threads = threads or processors()
    with (
        _Interruption() as interruption,
        _trace_file(trace) as file,
        nullcontext() if pcap is None else aside(Path(pcap)) as capture,
        _Replications(
            _Runner(core, scenario.run.seed, interval_ns, capture, snaplen),
            threads,
            progress,
            interruption,
            file,
        ) as done,
    ):
        try:
            stopped = _run(scenario, done)
        except KeyboardInterrupt:
            if not done.finished:
                raise
            stopped = "interrupted"
        if file is not None:
            file.finish()
        if capture is not None and 0 not in done.finished:
            # Interrupted: there is half a capture at most.
            capture.unlink()
    run = scenario.run
    simulation = Simulation.gather(
        done.in_order(),
        confidence=run.confidence,
        simulated_s=len(done.finished) * (run.warmup_ns + run.duration_ns) / 1e9,
        wall_s=time.perf_counter() - wall_start,
        cpu_s=time.process_time() - cpu_start,
        stopped=stopped,
    )
    provenance = Provenance.of(scenario, seed=run.seed, generator=_core.GENERATOR)
    return SimulationResult(scenario, provenance, simulation)


def _interval_ns(scenario: ResolvedScenario, interval_s: float) -> int:
    """The interval of samples in nanoseconds.

    Raises ValueError if it is none, OutputError if it gives more samples than anyone can keep.
    """
    if not 1e-9 <= interval_s < math.inf:
        raise ValueError(f"trace_interval_s must be positive, not {interval_s}")
    run = scenario.run
    counts = {group.name: group.count for group in scenario.stations}
    flows = sum(counts[flow.stations] * (1 + 2 * len(flow.path)) for flow in scenario.flows)
    queues = (1 + sum(counts.values())) * (4 if scenario.mac.edca else 1) + 2 * len(scenario.links)
    rows = (run.warmup_ns + run.duration_ns) / 1e9 / interval_s * (flows + queues)
    if rows > _MOST_ROWS:
        least = interval_s * rows / _MOST_ROWS
        raise OutputError(
            f"a sample every {interval_s:g} s makes up to {rows:.1e} rows for each replication, "
            f"and a trace has {_MOST_ROWS:.0e} at most: take an interval of {least:.2g} s or more"
        )
    return round(interval_s * 1e9)


def _trace_file(trace: bool | str | Path) -> AbstractContextManager[TraceFile | None]:
    if isinstance(trace, bool):
        return nullcontext()
    from airtcp.trace_file import trace_file

    return trace_file(Path(trace))


def _run(scenario: ResolvedScenario, done: _Replications) -> Stopped:
    run = scenario.run
    if run.precision is None:
        # The resolved form has exactly one of the two.
        assert run.replications is not None
        done.run_until(run.replications)
        return "replications"
    target = min(FIRST_ROUND, run.max_replications)
    while True:
        done.run_until(target)
        headlines = _headlines(done.in_order(), run.confidence)
        if is_precise(headlines, run.precision):
            return "precision"
        if target >= run.max_replications:
            return "cap"
        target = next_round(headlines, run.precision, target, run.max_replications)


def _headlines(runs: list[Replication], confidence: float) -> list[Interval]:
    intervals = [
        student_interval([run.answer["metrics"].get(name) for run in runs], confidence)
        for name in HEADLINES
    ]
    return [interval for interval in intervals if interval.n > 0]


class _Interruption:
    """Ctrl-C as a question that is asked at safe points, not as an exception that comes anywhere.

    KeyboardInterrupt in the middle of a lock would leave it held for ever, and the threads that
    run replications need theirs. A second Ctrl-C is the usual exception. Only where the usual
    handler is in place, and only in the main thread, which alone gets signals.
    """

    def __init__(self) -> None:
        self._asked = False
        self._installed = False

    def __enter__(self) -> _Interruption:
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
class _Runner:
    """Runs single replications, and has them write down what is asked for."""

    core: _core.Simulation
    seed: int
    trace_interval_ns: int | None
    pcap: Path | None
    snaplen: int

    def run(self, index: int, control: _core.RunControl) -> Replication:
        """One replication, to its end."""
        import numpy as np

        from airtcp.trace import Trace

        trace = None
        # The replications of a scenario are alike: one capture shows what there is to see.
        pcap = self.pcap if index == 0 else None
        if self.trace_interval_ns is None and pcap is None:
            answer, times = self.core.run(self.seed, index, control)
        else:
            answer, times, trace = self.core.run_recorded(
                self.seed,
                index,
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


class _Replications:
    """Runs replications on threads and keeps those that ended, by their index."""

    def __init__(
        self,
        runner: _Runner,
        threads: int,
        progress: Callable[[float], None] | None,
        interruption: _Interruption,
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

    def __enter__(self) -> _Replications:
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
