"""`airtcp sweep`: simulate a grid of scenarios into a store for queries."""

from __future__ import annotations

import json as json_
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp.cli.options import Json, Quiet, Replications, Threads
from airtcp.cli.outcome import outcome
from airtcp.cli.process import Status, note
from airtcp.cli.progress import bar
from airtcp.cli.scenarios import Set, axes_of, scenario_of, settings_of
from airtcp.exceptions import one_line

if TYPE_CHECKING:
    from airtcp.sweep.estimate import Estimate
    from airtcp.sweep.execute import Swept
    from airtcp.sweep.spec import Sweep

SweepFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A sweep file (TOML), or a scenario file with --axis."),
]
Axes = Annotated[
    list[str] | None,
    typer.Option(
        "--axis",
        metavar="PATH=VALUES",
        help="A key to vary, and its values: stations.laptop.count=[1, 2, 5]. Repeatable.",
    ),
]
To = Annotated[
    Path | None,
    typer.Option("--to", metavar="DIR", help="The directory for the results, called a store."),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Print the number of points and the expected time; run nothing."
    ),
]
Yes = Annotated[
    bool, typer.Option("--yes", help="Don't ask for confirmation, however many runs there are.")
]

Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Run on the workers of a Dask scheduler (tcp://host:8786), or local.",
    ),
]

Optimise = Annotated[
    str | None,
    typer.Option(
        "--optimise",
        metavar="GOAL",
        help='Search for the best values instead: "max jain_index", "min transfer_time".',
    ),
]
Over = Annotated[
    list[str] | None,
    typer.Option(
        "--over",
        metavar="PATH=VALUES",
        help="A key to search, and its values: a list, or { from = 1, to = 9 }. Repeatable.",
    ),
]
Trials = Annotated[
    int, typer.Option("--trials", min=1, help="Number of points that the search tries.")
]

#: Failed points listed one by one.
_MOST_FAILED = 3


def sweep(
    file: SweepFile,
    to: To = None,
    axis: Axes = None,
    set_: Set = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    replications: Replications = None,
    threads: Threads = None,
    dask: Dask = None,
    optimise: Optimise = None,
    over: Over = None,
    trials: Trials = 100,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a grid of scenarios into a store; resume it if it was interrupted."""
    with outcome():
        from airtcp.results.table import check_own
        from airtcp.run.processors import processors

        workers = threads or processors()
        if optimise is not None or over:
            _search(file, optimise, over, set_, to, replications, trials, workers, dask, json=json)
            return
        wanted = _wanted(file, axis, set_).with_replications(replications)
        if to is None and not dry_run:
            raise typer.BadParameter(
                "is missing; give the directory of the store, or --dry-run", param_hint="--to"
            )
        if dry_run:
            _tell_estimate(_estimated(wanted, to or Path(), workers), json=json)
            return
        assert to is not None
        _refuse_many(wanted, yes=yes)
        check_own(to)
        from airtcp.sweep.bar import COLUMNS, on
        from airtcp.sweep.execute import execute
        from airtcp.sweep.workers import crew_of

        with crew_of(workers, dask) as crew, bar(quiet, "sweeping", *COLUMNS, left="") as update:
            done = execute(wanted, to, crew=crew, progress=on(update))
        _tell(done, wanted, json=json, quiet=quiet)


def _wanted(file: Path, axes: list[str] | None, changes: list[str] | None) -> Sweep:
    """Return the sweep of a file, or of a scenario and `--axis` options. Raises ScenarioError."""
    from airtcp.sweep.spec import load_sweep, sweep_of

    if axes:
        base, _ = scenario_of(file, changes)
        return sweep_of(base, axes_of(axes, option="--axis"))
    return load_sweep(file, settings_of(changes))


def _search(
    file: Path,
    optimise: str | None,
    over: list[str] | None,
    changes: list[str] | None,
    to: Path | None,
    replications: int | None,
    trials: int,
    workers: int,
    dask: str | None,
    *,
    json: bool,
) -> None:
    """Search for the best values of some keys, and print them."""
    from airtcp.amounts import quantity_with_interval
    from airtcp.metrics import metric
    from airtcp.results.table import check_own
    from airtcp.sweep.search import goal_of, search
    from airtcp.sweep.workers import crew_of

    if optimise is None or not over or to is None:
        raise typer.BadParameter("a search needs --optimise, --over and --to")
    check_own(to)
    goal = goal_of(optimise)
    base, _ = scenario_of(file, changes)
    with crew_of(workers, dask) as crew:
        found = search(
            base,
            axes_of(over, option="--over"),
            goal,
            to,
            crew=crew,
            trials=trials,
            replications=replications,
        )
    if json:
        told = asdict(found) | {"folder": str(found.folder), "changes": dict(found.changes)}
        print(json_.dumps(told, indent=2))
        return
    known = metric(goal.metric.split(".")[-1])
    print(f"best of {found.trials} trials: {quantity_with_interval(found.value, known.unit)}")
    for key, value in found.changes.items():
        print(f"  {key} = {json_.dumps(value)}")
    print(f"store: {one_line(str(found.folder))}")


def _refuse_many(wanted: Sweep, *, yes: bool) -> None:
    from airtcp.sweep.estimate import MANY_RUNS, runs_of

    runs = runs_of(wanted)
    if runs > MANY_RUNS and not yes:
        raise typer.BadParameter(
            f"{runs:,} runs exceed the limit of {MANY_RUNS:,} (--dry-run estimates the time); "
            "use --yes to run them"
        )


def _estimated(wanted: Sweep, to: Path, workers: int) -> Estimate:
    from airtcp.run.interruption import Interruption
    from airtcp.sweep.estimate import estimate
    from airtcp.sweep.points import points_of

    with Interruption() as interruption:
        points = points_of(wanted)
        return estimate(wanted, points, to, workers=workers, on_run=interruption.check)


def _tell_estimate(found: Estimate, *, json: bool) -> None:
    if json:
        print(json_.dumps(asdict(found), indent=2))
        return
    from airtcp.amounts import duration
    from airtcp.present.sense import many

    least = "at least " if found.at_least else ""
    there = f", {found.there:,} of them in the store" if found.there else ""
    print(f"{many(found.points, 'point')}, {least}{many(found.runs, 'run')}{there}")
    print(f"a run takes {duration(found.run_s)} (mean of {many(found.measured, 'point')})")
    workers = many(found.workers, "worker")
    print(f"the sweep takes {least}about {duration(found.wall_s)} with {workers}")


def _tell_points(done: Swept) -> None:
    """Print what the points measured, if the store has few."""
    from airtcp.cli import show
    from airtcp.messages.results import POINTS, table
    from airtcp.results.query import open as opened

    if done.points <= POINTS and (found := opened(done.folder)).points <= POINTS:
        show.parts([table(found)])


def _tell(done: Swept, wanted: Sweep, *, json: bool, quiet: bool) -> None:
    """Print the end of a sweep. Exits with a failure status if the sweep is incomplete."""
    from airtcp.amounts import duration
    from airtcp.present.sense import many

    if done.other_core is not None and not quiet:
        note(
            f"some rows of {done.folder} come from another build of airtcp's core "
            f"({done.other_core}); see the column `core`"
        )
    if json:
        told = asdict(done) | {"folder": str(done.folder)}
        print(json_.dumps(told, indent=2))
    else:
        there = f", {done.there:,} already in the store" if done.there else ""
        took = f" in {duration(done.wall_s)}" if done.runs else ""
        print(f"{many(done.points, 'point')}: {many(done.runs, 'run')} made{took}{there}")
        if not (done.interrupted or done.failed):
            _tell_points(done)
        print(f"store: {one_line(str(done.folder))}")
    sys.stdout.flush()
    for point, why in list(done.failed.items())[:_MOST_FAILED]:
        note(f"no result at {point}: {why}")
    if len(done.failed) > _MOST_FAILED:
        note(f"no result at {many(len(done.failed) - _MOST_FAILED, 'more point')}")
    if done.interrupted:
        note("interrupted: finished points are in the store; run the same command to continue")
        raise typer.Exit(Status.INTERRUPTED)
    if done.failed:
        raise typer.Exit(Status.FAILED)
