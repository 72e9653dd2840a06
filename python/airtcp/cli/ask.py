"""`airtcp run`, `predict` and `simulate`: answer questions about one scenario."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from airtcp.cli import options
from airtcp.cli.outcome import outcome, parsed
from airtcp.cli.process import Status, forget_stdout, note
from airtcp.cli.progress import progress_bar
from airtcp.cli.scenarios import Set, scenario_of
from airtcp.exceptions import AirtcpError, OutputError, QuestionError, one_line
from airtcp.run import SNAPLEN

if TYPE_CHECKING:
    from airtcp.present.report import Answer
    from airtcp.results import Comparison, Prediction, SimulationResult, TestbedResult
    from airtcp.scenario import ResolvedScenario

#: The largest `--effort` of `run`, as a multiple of the work of the run.
_MOST_EFFORT = 1000.0
#: The exit status of `run --check` by verdict.
_STATUSES = {
    "holds": Status.DONE,
    "fails": Status.TARGET_FAILS,
    "unknown": Status.CANNOT_TELL,
}


def run(
    scenario: options.Scenario,
    set_: Set = None,
    with_: options.With = None,
    measured_: options.Measured = None,
    simulated: options.Simulated = None,
    gro: options.Gro = False,
    details: options.Details = False,
    models: options.Models = False,
    explain: options.Explain = False,
    advice: options.Advice = "tried",
    no_advice: options.NoAdvice = False,
    effort: options.Effort = None,
    check: options.Check = False,
    json: options.Json = False,
    out: options.Out = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    threads: options.Threads = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate a scenario, check it against targets, and recommend fixes."""
    with outcome():
        from airtcp.cli.outputs import check as check_outputs
        from airtcp.compare import compare, with_measured, with_testbed
        from airtcp.judge.recommend import advise

        _check_witnesses(with_, simulated, gro)
        trying, everything = _effort("none" if no_advice else advice, effort)
        loaded, text = scenario_of(scenario, set_)
        real = None
        if measured_:
            from airtcp.importer.files import measurement_of_all

            real = measurement_of_all(measured_)
        if check and not loaded.targets:
            raise QuestionError(
                f"--check needs targets, and {loaded.called} has none; add a table [targets], "
                'such as "call p95 packet_delay" = "< 50 ms"'
            )
        check_outputs(scenario, out=out, force=force)
        measured = missing = None
        if with_:
            # Report unsupported kernel features before the simulation, not after it.
            try:
                measured = _measured(scenario, loaded, seed, simulated, gro=gro, quiet=quiet)
            except QuestionError as error:
                missing = str(error)
                note(f"no testbed: {missing}")
        with progress_bar(quiet) as progress:
            result = compare(
                loaded if measured is None else measured.scenario,
                seed=seed,
                replications=replications,
                threads=threads,
                progress=progress,
                tell=None if quiet else partial(_of_file, scenario),
            )
        if measured is not None:
            result = with_testbed(result, measured)
        elif missing is not None:
            result = replace(result, missing=missing)
        if real is not None:
            result = with_measured(result, real)
        from airtcp.judge.verdicts import verdict

        finished = result.simulation.stopped != "interrupted"
        if finished and trying and result.measured is not None:
            result = _explained(result, threads, quiet=quiet)
        result = replace(result, verdict=verdict(result, growth=finished and trying > 0.0))
        if finished:
            with progress_bar(quiet, "trying changes") as progress:
                found = advise(
                    result,
                    effort=trying,
                    everything=everything,
                    threads=threads,
                    progress=progress,
                )
            result = replace(result, advice=found)
        _tell_warmup(loaded, result, quiet=quiet)
        _answer(
            result,
            text,
            json=json,
            out=out,
            quiet=quiet,
            details=details,
            models=models,
            explain=explain,
        )
        gap = None if result.measured is None else result.measured.gap
        for what, tried in (("explanations", gap), ("changes", result.advice)):
            if tried is not None and tried.interrupted:
                note(f"interrupted: some {what} were not tried")
                raise typer.Exit(Status.INTERRUPTED)
        if check and result.verdict is not None:
            raise typer.Exit(_STATUSES[result.verdict.state])


def _explained(result: Comparison, threads: int | None, *, quiet: bool) -> Comparison:
    """Return the result with possible explanations of its gap to the measurement."""
    from airtcp.gaps.explain import explain

    assert result.measured is not None
    with progress_bar(quiet, "trying explanations") as progress:
        gap = explain(result, threads=threads, progress=progress)
    return replace(result, measured=replace(result.measured, gap=gap))


def _effort(how: str, effort: float | None) -> tuple[float, bool]:
    """Return the effort to spend on trying changes, and True to give each as much as the run.

    Ends the command if `how` is not one of the allowed words.
    """
    from airtcp.judge.recommend import EFFORT

    ways = ("tried", "all", "none")
    if how not in ways:
        raise typer.BadParameter(
            f"must be one of {', '.join(ways)} (got {how!r})", param_hint="--advice"
        )
    if effort is not None and not 0.0 < effort <= _MOST_EFFORT:
        raise typer.BadParameter(
            f"must be above 0 and at most {_MOST_EFFORT:g} (got {effort:g}); "
            "--no-advice tries no change",
            param_hint="--effort",
        )
    return (0.0 if how == "none" else effort or EFFORT), how == "all"


def _check_witnesses(with_: list[str] | None, simulated: list[str] | None, gro: bool) -> None:
    """End the command for an unknown witness, or for testbed options without a testbed."""
    for one in with_ or ():
        if one != "testbed":
            raise typer.BadParameter(f"must be testbed (got {one!r})", param_hint="--with")
    for given, hint in ((simulated, "--simulated"), (gro, "--gro")):
        if given and not with_:
            raise typer.BadParameter("needs --with testbed", param_hint=hint)


def _measured(
    scenario: Path,
    loaded: ResolvedScenario,
    seed: int | None,
    simulated: list[str] | None,
    *,
    gro: bool,
    quiet: bool,
) -> TestbedResult:
    from airtcp.cli.testbed import testbed_bar
    from airtcp.testbed.bench import measure

    with testbed_bar(quiet, [flow.name for flow in loaded.flows]) as progress:
        return measure(
            loaded,
            seed=seed,
            simulated=simulated or (),
            gro=gro,
            name=str(scenario),
            progress=progress,
        )


def predict(
    scenario: options.Scenario,
    set_: Set = None,
    models: options.Models = False,
    glance: options.Glance = None,
    explain: options.Explain = False,
    json: options.Json = False,
    out: options.Out = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Estimate performance in under a second."""
    with outcome():
        from airtcp.cli.outputs import check
        from airtcp.prediction import predict as predict_scenario

        loaded, text = scenario_of(scenario, set_)
        check(scenario, out=out, force=force)
        _answer(
            predict_scenario(loaded, glance=glance),
            text,
            json=json,
            out=out,
            quiet=quiet,
            models=models,
            explain=explain,
        )


def simulate(
    scenario: options.Scenario,
    set_: Set = None,
    json: options.Json = False,
    out: options.Out = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    threads: options.Threads = None,
    trace: options.Trace = None,
    trace_interval: options.TraceInterval = None,
    pcap: options.Pcap = None,
    snaplen: options.Snaplen = SNAPLEN,
    transfers: options.Transfers = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate packet by packet, without models or advice; write traces and captures."""
    with outcome():
        from airtcp.cli.outputs import check
        from airtcp.results import SimulationResult
        from airtcp.run.simulate import simulate as simulate_scenario

        interval_s = _trace_interval_s(trace, trace_interval)
        loaded, text = scenario_of(scenario, set_)
        check(scenario, out=out, trace=trace, pcap=pcap, transfers=transfers, force=force)
        lost: AirtcpError | None = None
        with progress_bar(quiet) as progress:
            try:
                result = simulate_scenario(
                    loaded,
                    seed=seed,
                    replications=replications,
                    threads=threads,
                    progress=progress,
                    tell=None if quiet else partial(_of_file, scenario),
                    trace=trace or False,
                    trace_interval_s=interval_s,
                    pcap=pcap,
                    snaplen=snaplen,
                    transfers=transfers or False,
                )
            except OutputError as error:
                if not isinstance(error.result, SimulationResult):
                    raise
                result, lost = error.result, error
        _tell_warmup(loaded, result, quiet=quiet)
        _answer(result, text, json=json, out=out, quiet=quiet, lost=lost)


def _of_file(scenario: Path, words: str) -> None:
    """Print a note about a scenario file on stderr."""
    note(f"{scenario}: {words}")


def _tell_warmup(
    asked: ResolvedScenario, result: Comparison | SimulationResult, *, quiet: bool
) -> None:
    """Print the detected warm-up, unless the scenario sets it."""
    from airtcp.units import format_time_ns

    found = result.scenario.run.warmup_ns
    if asked.run.warmup_ns is None and found is not None and not quiet:
        note(f"warm-up: {format_time_ns(found)}, found by MSER-5")


def _trace_interval_s(trace: Path | None, interval: str | None) -> float:
    """Return the time between trace samples in seconds. Ends the command if the text is invalid."""
    from airtcp.run.simulate import TRACE_INTERVAL_S
    from airtcp.units import parse_time_s

    if interval is None:
        return TRACE_INTERVAL_S
    hint = "--trace-interval"
    if trace is None:
        raise typer.BadParameter("needs --trace", param_hint=hint)
    seconds = parsed(interval, parse_time_s, hint)
    if seconds < 1e-9:
        raise typer.BadParameter("allowed: 1 ns or more", param_hint=hint)
    return seconds


def _answer(
    result: Comparison | SimulationResult | Prediction,
    text: str,
    *,
    json: bool,
    out: Path | None,
    quiet: bool,
    lost: AirtcpError | None = None,
    **parts: Any,
) -> None:
    """Print a result with the `parts` that were asked for, and write its report.

    `lost` is an earlier failure, reported after the result. Exits with the status of a failure or
    interruption if there was one.
    """
    from airtcp.results import Prediction

    answer(result, json=json, out=out, quiet=quiet, lost=lost, text=text, **parts)
    if not isinstance(result, Prediction) and result.simulation.stopped == "interrupted":
        note(f"interrupted: the result has {result.simulation.replications} replications")
        raise typer.Exit(Status.INTERRUPTED)


def answer(
    result: Answer,
    *,
    json: bool,
    out: Path | None,
    quiet: bool,
    lost: AirtcpError | None = None,
    text: str | None = None,
    **parts: Any,
) -> None:
    """Print a result as JSON or with its `parts`, and write its report.

    The result was costly to compute, so later failures and interruptions must not lose it. `lost`
    is an earlier failure, reported after the result. `text` is the scenario file. Exits with the
    status of a failure or interruption if there was one.
    """
    from airtcp.run.interruption import Interruption

    failures = [] if lost is None else [lost]
    with Interruption() as interruption:
        try:
            if json:
                print(result.to_json())
            else:
                from airtcp.cli.show import show

                show(result, **parts)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has read enough.
            forget_stdout()
        except AirtcpError as error:
            forget_stdout()
            failures.append(error)
    try:
        interruption.check()
        if out is not None:
            from airtcp.present.report import write

            write(result, out, text, None if text is None else ["airtcp", *sys.argv[1:]])
            _tell_report(out, json=json, quiet=quiet)
    except OutputError as error:
        failures.append(error)
    except KeyboardInterrupt:
        about = "" if out is None else ": the result is complete, but the report was not written"
        note(f"interrupted{about}")
        raise typer.Exit(Status.INTERRUPTED) from None
    for failure in failures:
        note(str(failure))
    if failures:
        raise typer.Exit(Status.FAILED)


def _tell_report(out: Path, *, json: bool, quiet: bool) -> None:
    """Print the location of the report: after the answer, or on stderr if stdout has JSON."""
    where = f"report: {one_line(str(out / 'report.html'))}"
    if not json:
        print(where)
        sys.stdout.flush()
    elif not quiet:
        note(where)
