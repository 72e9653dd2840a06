"""`airtcp diff`: compare two scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp.cli.ask import answer
from airtcp.cli.options import Force, Json, Out, Quiet, Replications, Seed, Threads
from airtcp.cli.outcome import outcome, parsed
from airtcp.cli.process import Status, note
from airtcp.cli.progress import progress_bar
from airtcp.cli.scenarios import Set, check_standard_input, scenario_of, settings_of

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

First = Annotated[
    Path,
    typer.Argument(metavar="A", help="A scenario file, or - for standard input.", allow_dash=True),
]
Details = Annotated[
    bool, typer.Option("--details", help="Also show metrics of queues, TCP and the MAC.")
]
Second = Annotated[
    Path | None,
    typer.Argument(metavar="[B]", help="A second scenario file; without it, B is A with --set."),
]

Precision = Annotated[
    str | None,
    typer.Option(
        metavar="PERCENT",
        help="Keep adding pairs of runs until the differences of goodput and transfer time are "
        "known to this percentage of A, such as '2 %', or until A's run.max_replications.",
    ),
]


def diff(
    a: First,
    b: Second = None,
    set_: Set = None,
    details: Details = False,
    json: Json = False,
    out: Out = None,
    seed: Seed = None,
    replications: Replications = None,
    precision: Precision = None,
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
            raise typer.BadParameter("is missing; give a second file B, or --set", param_hint="B")
        check_standard_input([a] if b is None else [a, b])
        wanted = _precision(precision, replications)
        first, _ = scenario_of(a, set_ if b is not None else None)
        if b is None:
            second = first.vary(settings_of(set_))
        else:
            second, _ = scenario_of(b, set_)
        if _network(first) == _network(second):
            raise typer.BadParameter(
                "A and B are the same network; change a key with --set",
                param_hint="--set" if b is None else "B",
            )
        for scenario in (a, *([] if b is None else [b])):
            check(scenario, out=out, force=force)
        with progress_bar(quiet) as progress:
            found = difference_of(
                first,
                second,
                seed=seed,
                replications=replications,
                precision=wanted,
                threads=threads,
                progress=progress,
            )
        answer(found, json=json, out=out, quiet=quiet, details=details)
        if found.b.simulation.stopped == "interrupted":
            note(f"interrupted: the result has {found.replications} pairs of replications")
            raise typer.Exit(Status.INTERRUPTED)


def _network(scenario: Scenario) -> dict[str, object]:
    """Return everything that affects results: all keys except the title, plus the targets."""
    return {**scenario.to_dict(), "title": None, "targets": scenario.targets}


def _precision(written: str | None, replications: int | None) -> float | None:
    """Parse `--precision`. Ends the command if it is invalid or used with `--replications`."""
    if written is None:
        return None
    from airtcp.units import parse_percent

    hint = "--precision"
    if replications is not None:
        raise typer.BadParameter("cannot be combined with --replications", param_hint=hint)
    precision = parsed(written, parse_percent, hint)
    if not 0.0 < precision < 1.0:
        raise typer.BadParameter(
            f"must be above 0 % and below 100 % (got {written!r})", param_hint=hint
        )
    return precision
