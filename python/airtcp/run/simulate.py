"""Packet-level simulation: replications on threads, combined into one result.

With `replications` and `warmup`, this is the only caller of the Rust core for packets. The result
depends only on scenario and seed: the decision to run more replications uses results only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from airtcp.choices import has_own
from airtcp.exceptions import OutputError
from airtcp.files import aside
from airtcp.phrases import phrase
from airtcp.results import Provenance, Replication, Simulation, SimulationResult, Stopped
from airtcp.results.cells import Alone
from airtcp.run import LEAST_SNAPLEN, MOST_SNAPLEN, SNAPLEN, core_of
from airtcp.run.interruption import Interruption
from airtcp.run.memory import refuse_too_large
from airtcp.run.precision import beforehand, headlines, outlook
from airtcp.run.processors import processors
from airtcp.run.replications import Capture, Replications, Runner
from airtcp.scenario.alone import cell_alone
from airtcp.scenario.load import as_scenario
from airtcp.stats import FIRST_ROUND, is_precise, next_round

if TYPE_CHECKING:
    from airtcp import _core
    from airtcp.results.trace_file import TraceFile
    from airtcp.scenario import ResolvedScenario

#: The default time between the samples of a trace.
TRACE_INTERVAL_S = 0.1

_File = TypeVar("_File")

#: More samples than this would fill the memory of an ordinary machine.
_MOST_ROWS = 2e7


def simulate(
    scenario: ResolvedScenario | str | Path,
    *,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
    trace: bool | str | Path = False,
    trace_interval_s: float = TRACE_INTERVAL_S,
    pcap: str | Path | None = None,
    snaplen: int = SNAPLEN,
    transfers: bool | str | Path = False,
) -> SimulationResult:
    """Simulate a scenario packet by packet, in independent replications.

    `scenario` is a scenario, or any argument of `airtcp.load`: a file name or a text.

    `seed` and `replications` override the scenario; the scenario in the result is the one
    that was run. A missing warm-up is first detected by pilots (`airtcp.run.warmup`). Without
    `replications`, a scenario with `precision` runs in rounds until the intervals of goodput and
    (if there are transfers) transfer time, by the improved estimates (`airtcp.estimates`), are
    within ±precision of their means, or until `max_replications`; `simulation.stopped` says which.
    `tell` receives an early warning if the precision is out of reach. `threads` is the number of
    replications to run at a time (default: one per processor) and does not change any number.
    `progress` is called regularly with the completed fraction, 0 to 1, of the replications planned
    so far.

    On Ctrl-C the replications under way are cancelled; the completed ones are returned with
    `stopped` set to "interrupted".

    `trace` records time series of flows and queues, with a sample every `trace_interval_s`, and
    events, of all replications. True keeps them as `simulation.runs[i].trace`
    (`airtcp.results.trace.Trace`); a path that ends in .parquet or .csv writes them there and keeps
    that of replication 0. `pcap` is a file for the frames of replication 0, as Wireshark reads it,
    with the first `snaplen` bytes of each frame; with several cells or hidden stations, it has what
    each node hears. `transfers` keeps each transfer that ended in the measured time
    (`simulation.transfers()`); a path that ends in .parquet or .csv also writes them there. None of
    them changes a number of the result.

    Raises SimulationError if a replication breaks a conservation law or the core rejects the
    scenario, ScenarioError if it may need more memory than available (`airtcp.run.memory`),
    ValueError for a number of replications or threads below one or an interval that is not
    positive, OutputError if a file cannot be written (if this is only detected during the run, it
    has the `result`), and KeyboardInterrupt if interrupted before the first replication ended.

    With the `cafe` of `airtcp.load`:

    >>> goodput = airtcp.simulate(cafe).metrics["goodput_bps"]
    >>> round(goodput.mean / 1e6, 1), goodput.n
    (24.7, 3)
    """
    from airtcp import _core
    from airtcp.run.warmup import with_warmup

    scenario = as_scenario(scenario)
    if not LEAST_SNAPLEN <= snaplen <= MOST_SNAPLEN:
        raise ValueError(
            phrase(
                "run.options.snaplen",
                least=LEAST_SNAPLEN,
                most=MOST_SNAPLEN,
                snaplen=snaplen,
            )
        )
    if threads is not None and threads < 1:
        raise ValueError(phrase("run.options.threads", threads=threads))
    if seed is not None or replications is not None:
        scenario = scenario.with_run(seed=seed, replications=replications)
    threads = threads or processors()
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    lost: list[OutputError] = []
    with Interruption() as interruption:
        with (
            _kept(_trace_file(trace), lost) as file,
            _kept(_capture_file(pcap), lost) as capture,
            _kept(_transfers_file(transfers), lost) as transferred,
        ):
            scenario = with_warmup(scenario, threads=threads, interruption=interruption)
            text = scenario.to_json()
            core = core_of(scenario.for_core())
            refuse_too_large(
                scenario,
                threads=threads,
                replications=_planned(scenario),
                sample_s=trace_interval_s if trace else None,
            )
            run = scenario.run
            interval_ns = _interval_ns(scenario, run.whole_ns, trace_interval_s) if trace else None
            runner = Runner(
                core, run.seed, interval_ns, capture, snaplen, transfers=transfers is not False
            )
            with Replications(
                runner, threads, progress, interruption, file, plugged=has_own(text)
            ) as done:
                try:
                    stopped = _run(scenario, done, tell)
                except KeyboardInterrupt:
                    if not done.finished:
                        raise
                    stopped = "interrupted"
            if capture is not None and 0 not in done.finished:
                # Interrupted: the capture is incomplete.
                capture.path.unlink()
            if transferred is not None:
                transferred(done.in_order())
        simulation = Simulation.gather(
            done.in_order(),
            confidence=run.confidence,
            simulated_s=len(done.finished) * run.whole_ns / 1e9,
            wall_s=time.perf_counter() - wall_start,
            cpu_s=time.process_time() - cpu_start,
            stopped=stopped,
            scenario=scenario,
        )
        provenance = Provenance.of(
            scenario,
            seed=run.seed,
            generator=_core.GENERATOR,
            text=text,
            engine=_engine(scenario, core),
        )
    if not interruption.asked and stopped != "interrupted":
        try:
            alone = goodputs_alone(scenario, simulation.replications, threads)
            simulation = replace(simulation, alone=alone)
        except KeyboardInterrupt:
            # All requested replications are complete; only the isolated cells are missing.
            simulation = replace(simulation, stopped="interrupted")
    if interruption.asked:
        # Report an interruption even if it came too late to stop anything.
        simulation = replace(simulation, stopped="interrupted")
    result = SimulationResult(scenario, provenance, simulation)
    if lost:
        raise OutputError("\n".join(map(str, lost)), result)
    return result


def _engine(scenario: ResolvedScenario, core: _core.Simulation) -> str:
    """Describe the engine of each cell with the reason; with several cells, name them."""
    names = [cell.name for cell in scenario.cells or ()]
    cells: dict[str, list[str]] = {}
    for number, (engine, reason) in enumerate(core.engines()):
        cells.setdefault(f"{engine} ({reason})", []).extend(names[number : number + 1])
    if len(cells) == 1:
        return next(iter(cells))
    return "; ".join(f"{', '.join(some)}: {engine}" for engine, some in cells.items())


def goodputs_alone(scenario: ResolvedScenario, replications: int, threads: int) -> Alone:
    """Return the isolated goodputs of each of several cells, by replication.

    The runs use common random numbers: nodes keep their names, and so their streams. Empty for a
    single cell.
    """
    if scenario.cells is None or len(scenario.cells) < 2:
        return {}
    found = {}
    for index, cell in enumerate(scenario.cells):
        result = simulate(cell_alone(scenario, index), replications=replications, threads=threads)
        found[cell.name] = [
            float(value or 0.0) for value in result.simulation.values("goodput_bps")
        ]
    return found


@contextmanager
def _kept(file: AbstractContextManager[_File], lost: list[OutputError]) -> Iterator[_File]:
    """Yield a file written during the run. If closing it fails, only append the error to `lost`.

    The computed result was costly, and other files may be complete.
    """
    entered = file.__enter__()
    try:
        yield entered
    except BaseException as error:
        file.__exit__(type(error), error, error.__traceback__)
        raise
    try:
        file.__exit__(None, None, None)
    except OutputError as error:
        lost.append(error)


@contextmanager
def _capture_file(path: str | Path | None) -> Iterator[Capture | None]:
    if path is None:
        yield None
        return
    with aside(Path(path)) as beside:
        capture = Capture(beside)
        yield capture
        if capture.error is not None:
            raise capture.error


@contextmanager
def _transfers_file(
    transfers: bool | str | Path,
) -> Iterator[Callable[[list[Replication]], None] | None]:
    """Yield a function that writes the transfers of replications, or None without a file."""
    if isinstance(transfers, bool):
        yield None
        return
    from airtcp.results.columns import check_ending
    from airtcp.results.transfers import write

    path = Path(transfers)
    check_ending(path, "a file of transfers")
    with aside(path) as beside:
        failure: list[OSError] = []

        def into_file(runs: list[Replication]) -> None:
            try:
                write(runs, beside, path.suffix)
            except OSError as error:
                # Do not raise: the other outputs must still be written.
                failure.append(error)

        yield into_file
        if failure:
            raise failure[0]


def _planned(scenario: ResolvedScenario) -> int:
    """Return the number of replications to begin with, which must be kept."""
    run = scenario.run
    return run.replications or min(FIRST_ROUND, run.max_replications)


def _interval_ns(scenario: ResolvedScenario, simulated_ns: int, interval_s: float) -> int:
    """Return the interval of samples in nanoseconds.

    Raises ValueError if it is invalid, OutputError if it gives too many samples.
    """
    if not 1e-9 <= interval_s < math.inf:
        raise ValueError(phrase("run.options.interval", interval=interval_s))
    counts = {group.name: group.count for group in scenario.stations}
    flows = sum(counts[flow.stations] * (1 + 2 * len(flow.path)) for flow in scenario.flows)
    queues = (1 + sum(counts.values())) * (4 if scenario.mac.edca else 1) + 2 * len(scenario.links)
    rows = simulated_ns / 1e9 / interval_s * (flows + queues)
    if rows > _MOST_ROWS:
        least = interval_s * rows / _MOST_ROWS
        raise OutputError(
            phrase("run.options.many_rows", interval=interval_s, rows=rows, least=least)
        )
    return round(interval_s * 1e9)


def _trace_file(trace: bool | str | Path) -> AbstractContextManager[TraceFile | None]:
    if isinstance(trace, bool):
        return nullcontext()
    from airtcp.results.trace_file import trace_file

    return trace_file(Path(trace))


def _run(
    scenario: ResolvedScenario, done: Replications, tell: Callable[[str], None] | None
) -> Stopped:
    run = scenario.run
    if run.precision is None:
        # The resolved form has exactly one of `precision` and `replications`.
        assert run.replications is not None
        done.run_until(run.replications)
        return "replications"
    told = tell is None
    if tell is not None and (words := beforehand(scenario)) is not None:
        tell(words)
    target = min(FIRST_ROUND, run.max_replications)
    while True:
        done.run_until(target)
        known = headlines(done.in_order(), scenario)
        if is_precise(known, run.precision):
            return "precision"
        if target >= run.max_replications:
            return "cap"
        if not told and tell is not None and (words := outlook(known, scenario, target)):
            tell(words)
            told = True
        target = next_round(known, run.precision, target, run.max_replications)
