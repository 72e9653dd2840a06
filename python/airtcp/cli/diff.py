"""`airtcp diff`: two scenarios in, what is different out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.ask import (
    Force,
    Json,
    Out,
    Quiet,
    Replications,
    Seed,
    Threads,
    progress_bar,
    tell_report,
    whole,
)
from airtcp.cli.outcome import outcome
from airtcp.cli.process import Status, note
from airtcp.cli.scenarios import Set, scenario_of, settings_of

First = Annotated[
    Path,
    typer.Argument(metavar="A", help="A scenario file, or - for standard input.", allow_dash=True),
]
Second = Annotated[
    Path | None,
    typer.Argument(metavar="[B]", help="A second scenario file; without it, B is A with --set."),
]


def diff(
    a: First,
    b: Second = None,
    set_: Set = None,
    json: Json = False,
    out: Out = None,
    seed: Seed = None,
    replications: Replications = None,
    threads: Threads = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Compare two scenarios, or one before and after a change, on the same random numbers.

    Without B, B is A with the keys of --set overridden. With B, --set overrides keys of both.
    """
    with outcome():
        from airtcp.cli.outputs import check
        from airtcp.difference import diff as difference_of

        if b is None and not set_:
            raise typer.BadParameter("nothing to compare A with; allowed: a file B, or --set")
        first, _ = scenario_of(a, set_ if b is not None else None)
        if b is None:
            second = first.vary(settings_of(set_))
        else:
            second, _ = scenario_of(b, set_)
        for scenario in (a, *([] if b is None else [b])):
            check(scenario, out=out, force=force)
        with progress_bar(quiet) as progress:
            found = difference_of(
                first,
                second,
                seed=seed,
                replications=replications,
                threads=threads,
                progress=progress,
            )

        def show() -> None:
            if json:
                print(found.to_json())
            else:
                from airtcp.cli import show

                show.difference(found)

        def write(to: Path) -> None:
            from airtcp.present.difference import write as write_difference

            write_difference(found, to)
            tell_report(to, json=json, quiet=quiet)

        whole(show, None if out is None else partial(write, out))
        if found.b.simulation.stopped == "interrupted":
            note(f"interrupted: shown is what {found.replications} pairs of replications say")
            raise typer.Exit(Status.INTERRUPTED)
