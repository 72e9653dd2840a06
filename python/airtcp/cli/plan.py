"""`airtcp plan`: find the capacity of a scenario under a stop condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airtcp.cli.ask import answer
from airtcp.cli.options import Force, Json, Out, Quiet, Replications, Scenario, Seed, Threads
from airtcp.cli.outcome import outcome, parsed
from airtcp.cli.process import Status, note
from airtcp.cli.progress import bar
from airtcp.cli.scenarios import Set, scenario_of

if TYPE_CHECKING:
    pass

Vary = Annotated[
    str,
    typer.Option(
        "--vary",
        metavar="PATH",
        help="What to increase: stations (all groups in proportion), or a key; or channels, "
        "powers, positions (with commas between), to find the best of several cells.",
    ),
]
Until = Annotated[
    list[str] | None,
    typer.Option(
        "--until",
        metavar="CONDITION",
        help='Stop condition: "p90 transfer_time > 2 s", "call p95 delay > 50 ms". Repeatable.',
    ),
]
Channels = Annotated[
    str | None,
    typer.Option(
        "--channels",
        metavar="NUMBERS",
        help="With --vary channels: the channels that cells may use, such as 36,40,44.",
    ),
]
Powers = Annotated[
    str | None,
    typer.Option(
        "--powers",
        metavar="POWERS",
        help='With --vary powers: the powers that access points may use, such as "11 dBm, 14 dBm".',
    ),
]
Grid = Annotated[
    str | None,
    typer.Option(
        "--grid",
        metavar="LENGTH",
        help='With --vary positions: the spacing of allowed positions, such as "5 m".',
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(
        "--objective",
        metavar="WHAT",
        help="With --vary channels, powers or positions: what to improve: least, sum, targets, or "
        'a metric such as "p90 transfer_time".',
    ),
]
Begin = Annotated[
    str | None, typer.Option("--from", metavar="VALUE", help="Start of the search range.")
]
Remedies = Annotated[
    bool,
    typer.Option("--remedies/--no-remedies", help="Also try which changes raise the capacity."),
]
Remedy = Annotated[
    list[str] | None,
    typer.Option("--remedy", metavar="NAME", help="Try only this change. Repeatable."),
]
Details = Annotated[
    bool, typer.Option("--details", help="Also print long configurations of the best change.")
]
Limit = Annotated[
    str,
    typer.Option(
        "--limit", metavar="TIME", help="Stop after this time and print what is known by then."
    ),
]
End = Annotated[str | None, typer.Option("--to", metavar="VALUE", help="End of the search range.")]


def plan(
    scenario: Scenario,
    until: Until = None,
    vary: Vary = "stations",
    channels: Channels = None,
    powers: Powers = None,
    grid: Grid = None,
    objective: Objective = None,
    begin: Begin = None,
    end: End = None,
    remedies: Remedies = True,
    remedy: Remedy = None,
    limit: Limit = "8 min",
    details: Details = False,
    set_: Set = None,
    json: Json = False,
    out: Out = None,
    seed: Seed = None,
    replications: Replications = None,
    threads: Threads = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Find how many stations the network supports, or how far another key can be raised.

    The answer is the last value that meets all conditions, and the changes that raise it. With
    --vary channels, powers or positions it is the best assignment for several cells.
    """
    with outcome():
        from airtcp.cli.outputs import check
        from airtcp.plan import plan as plan_of
        from airtcp.results.channel_plans import ChannelPlan
        from airtcp.scenario.toml_text import option_value
        from airtcp.units import parse_time_s

        limit_s = parsed(limit, parse_time_s, "--limit")
        loaded, _ = scenario_of(scenario, set_)
        check(scenario, out=out, force=force)
        with _progress(quiet) as (progress, tell):
            found = plan_of(
                loaded,
                vary=vary,
                until=until or (),
                channels=None if channels is None else _channels(channels),
                powers=None if powers is None else [one.strip() for one in powers.split(",")],
                grid=grid,
                objective=objective,
                begin=None if begin is None else option_value(begin),
                end=None if end is None else option_value(end),
                seed=seed,
                replications=replications,
                threads=threads,
                remedies=remedies and (remedy or True),
                limit_s=limit_s,
                progress=progress,
                tell=tell,
            )
        parts: dict[str, Any] = {} if isinstance(found, ChannelPlan) else {"details": details}
        answer(found, json=json, out=out, quiet=quiet, **parts)
        if found.stopped == "interrupted":
            note("interrupted: the answer uses the runs that had ended")
            raise typer.Exit(Status.INTERRUPTED)
        if found.stopped == "time":
            note(f"stopped after {limit}: the answer may improve with a longer --limit")


def _channels(text: str) -> list[int]:
    """Parse `--channels`. Ends the command if an entry is not a number."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f'"{text}" is not a list of channels; use a form such as 36,40,44',
            param_hint="--channels",
        ) from None


@contextmanager
def _progress(
    quiet: bool,
) -> Iterator[tuple[Callable[[float], None] | None, Callable[[str], None] | None]]:
    """Show a progress bar with the current step, if stderr is a terminal."""
    with bar(quiet, "looking", "{task.description}", "short bar", "elapsed") as update:
        if update is None:
            yield None, None
            return
        yield (
            lambda fraction: update(completed=fraction),
            lambda words: update(description=words, completed=0.0),
        )
