"""`airtcp run`, `predict` and `simulate`: one scenario in, an answer out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp.cli.outcome import Status, note, outcome
from airtcp.cli.progress import bars
from airtcp.exceptions import OutputError
from airtcp.run.simulate import LEAST_SNAPLEN, MOST_SNAPLEN, SNAPLEN

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from airtcp.results import Comparison, Prediction, SimulationResult
    from airtcp.scenario import ResolvedScenario

_SEEDS = 2**63 - 1

Scenario = Annotated[Path, typer.Argument(help="The scenario file (TOML).")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write report.html, results.json and plots here."),
]
Seed = Annotated[
    int | None, typer.Option(min=0, max=_SEEDS, help="Instead of the scenario's seed.")
]
Replications = Annotated[
    int | None, typer.Option(min=1, help="Instead of the scenario's replications or precision.")
]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Replications at a time; no number depends on it.")
]
Trace = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Write time series of flows and queues here (.parquet or .csv).",
    ),
]
TraceInterval = Annotated[
    str | None,
    typer.Option("--trace-interval", metavar="TIME", help="Between samples; default 100 ms."),
]
Pcap = Annotated[
    Path | None,
    typer.Option("--pcap", metavar="FILE", help="Write what is on the air in replication 0 here."),
]
Snaplen = Annotated[
    int, typer.Option(min=LEAST_SNAPLEN, max=MOST_SNAPLEN, help="Bytes of each frame in a capture.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no notes.")]


def run(
    scenario: Scenario,
    json: Json = False,
    out: Out = None,
    seed: Seed = None,
    replications: Replications = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Models and simulation of a scenario, side by side."""
    with outcome():
        from airtcp.compare import compare
        from airtcp.scenario import load

        loaded = load(scenario)
        _prepare(out)
        with _progress(quiet) as progress:
            result = compare(
                loaded, seed=seed, replications=replications, threads=threads, progress=progress
            )
        _tell_warmup(loaded, result, quiet=quiet)
        _answer(result, scenario, json=json, out=out, quiet=quiet)


def predict(scenario: Scenario, json: Json = False, out: Out = None, quiet: Quiet = False) -> None:
    """What the models say about a scenario."""
    with outcome():
        from airtcp.predict import predict as predict_scenario
        from airtcp.scenario import load

        loaded = load(scenario)
        _prepare(out)
        _answer(predict_scenario(loaded), scenario, json=json, out=out, quiet=quiet)


def simulate(
    scenario: Scenario,
    json: Json = False,
    out: Out = None,
    seed: Seed = None,
    replications: Replications = None,
    threads: Threads = None,
    trace: Trace = None,
    trace_interval: TraceInterval = None,
    pcap: Pcap = None,
    snaplen: Snaplen = SNAPLEN,
    quiet: Quiet = False,
) -> None:
    """What the packet-level simulator says about a scenario."""
    with outcome():
        from airtcp.run.simulate import simulate as simulate_scenario
        from airtcp.scenario import load

        interval_s = _trace_interval_s(trace, trace_interval)
        loaded = load(scenario)
        _prepare(out)
        with _progress(quiet) as progress:
            result = simulate_scenario(
                loaded,
                seed=seed,
                replications=replications,
                threads=threads,
                progress=progress,
                trace=trace or False,
                trace_interval_s=interval_s,
                pcap=pcap,
                snaplen=snaplen,
            )
        _tell_warmup(loaded, result, quiet=quiet)
        _answer(result, scenario, json=json, out=out, quiet=quiet)


def _tell_warmup(
    asked: ResolvedScenario, result: Comparison | SimulationResult, *, quiet: bool
) -> None:
    """Say which warm-up was found, if it was left to us."""
    from airtcp.units import format_time_ns

    found = result.scenario.run.warmup_ns
    if asked.run.warmup_ns is None and found is not None and not quiet:
        note(f"warm-up: {format_time_ns(found)}, found by MSER-5")


def _trace_interval_s(trace: Path | None, interval: str | None) -> float:
    """Between samples of a trace. Ends the command if that is no time."""
    from airtcp.exceptions import UnitError
    from airtcp.run.simulate import TRACE_INTERVAL_S
    from airtcp.units import parse_time_s

    if interval is None:
        return TRACE_INTERVAL_S
    hint = "--trace-interval"
    if trace is None:
        raise typer.BadParameter("there is no --trace that it could be about", param_hint=hint)
    try:
        seconds = parse_time_s(interval)
    except UnitError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error
    if seconds < 1e-9:
        raise typer.BadParameter("allowed: 1 ns or more", param_hint=hint)
    return seconds


def _prepare(out: Path | None) -> None:
    """An output directory that cannot be written is wrong input: say so before the work."""
    if out is not None:
        from airtcp.files import prepare

        prepare(out)


def _answer(
    result: Comparison | SimulationResult | Prediction,
    scenario: Path,
    *,
    json: bool,
    out: Path | None,
    quiet: bool,
) -> None:
    """Write and print a result. Leaves with the status of an interruption if there was one."""
    from airtcp.cli import show
    from airtcp.results import Prediction

    lost: OutputError | None = None
    if out is not None:
        from airtcp.present.report import write

        try:
            write(result, out, scenario.read_text(encoding="utf-8"))
        except OutputError as error:
            # The answer was costly: print it, then say that the files are not there.
            lost = error
    if json:
        print(result.to_json())
    else:
        show.result(result)
    if lost is not None:
        raise lost
    if out is not None:
        where = f"report: {out / 'report.html'}"
        if not json:
            print(where)
        elif not quiet:
            note(where)
    if not isinstance(result, Prediction) and result.simulation.stopped == "interrupted":
        sys.stdout.flush()
        note(f"interrupted: shown is what {result.simulation.replications} replications say")
        raise typer.Exit(Status.INTERRUPTED)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A progress bar with the time left on stderr, if a person is looking there."""
    with bars(quiet, _columns) as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task("simulating", total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)


def _columns() -> tuple[ProgressColumn, ...]:
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    return (
        TextColumn("simulating"),
        BarColumn(),
        TaskProgressColumn(),
        TimeLeft(),
        TextColumn("left"),
    )
