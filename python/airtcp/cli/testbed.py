"""`airtcp testbed` and `airtcp shell`: real TCP and real programs through the simulated air."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airtcp.cli.answers import (
    Force,
    Gro,
    Json,
    Out,
    Quiet,
    Scenario,
    Seed,
    Simulated,
    Snaplen,
)
from airtcp.cli.outcome import Status, note, outcome
from airtcp.cli.progress import bars
from airtcp.cli.scenarios import Set, scenario_of
from airtcp.exceptions import OutputError
from airtcp.run import SNAPLEN

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


Pcap = Annotated[
    Path | None,
    typer.Option(
        "--pcap", metavar="FILE", help="Write what each node sends and gets here (pcapng)."
    ),
]


def bench(
    scenario: Scenario,
    set_: Set = None,
    json: Json = False,
    out: Out = None,
    seed: Seed = None,
    simulated: Simulated = None,
    gro: Gro = False,
    pcap: Pcap = None,
    snaplen: Snaplen = SNAPLEN,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Real TCP and real programs through the simulated air, in real time."""
    with outcome():
        from airtcp.cli import show_testbed
        from airtcp.cli.outputs import check
        from airtcp.present.testbed import lateness
        from airtcp.results import TestbedResult
        from airtcp.testbed.bench import measure

        loaded, text = scenario_of(scenario, set_)
        check(scenario, out=out, pcap=pcap, force=force)
        lost: OutputError | None = None
        with testbed_bar(quiet) as progress:
            try:
                result = measure(
                    loaded,
                    seed=seed,
                    simulated=simulated or (),
                    gro=gro,
                    name=str(scenario),
                    progress=progress,
                    pcap=pcap,
                    snaplen=snaplen,
                )
            except OutputError as error:
                if not isinstance(error.result, TestbedResult):
                    raise
                result, lost = error.result, error
        if json:
            print(result.to_json())
        else:
            show_testbed.result(result)
        sys.stdout.flush()
        if out is not None:
            from airtcp.files import prepare, write_files

            prepare(out)
            written = {
                "results.json": (result.to_json() + "\n").encode(),
                "scenario.toml": text.encode(),
            }
            write_files(out, written)
            if not quiet:
                note(f"results: {out / 'results.json'}")
        if not result.lag.trusted and not quiet:
            note(f"not trusted: {lateness(result.lag)}")
        _tell(lost)


def _tell(lost: OutputError | None) -> None:
    """What could not be written, when all else is told: then the command has failed."""
    if lost is not None:
        note(str(lost))
        raise typer.Exit(Status.FAILED)


Node = Annotated[
    str | None,
    typer.Option(
        metavar="STATION", help="Where the command runs: a station, or server; default: the first."
    ),
]


def shell(
    scenario: Scenario,
    command: Annotated[
        list[str] | None, typer.Argument(help="The command, after --; default: your shell.")
    ] = None,
    set_: Set = None,
    node: Node = None,
    server: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Started at the server before.")
    ] = None,
    client: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="The command, for sh.")
    ] = None,
    simulated: Simulated = None,
    with_simulated: Annotated[
        bool,
        typer.Option(
            "--with-simulated", help="The flows of all other stations load the cell by simulation."
        ),
    ] = False,
    gro: Gro = False,
    pcap: Pcap = None,
    snaplen: Snaplen = SNAPLEN,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Any program over the simulated air: ends with the status of the command."""
    with outcome():
        from airtcp.cli.outputs import check
        from airtcp.present.testbed import lateness, trust
        from airtcp.testbed.shell import Ended, default_command
        from airtcp.testbed.shell import shell as run_shell

        if command and client is not None:
            raise typer.BadParameter("there is a command already", param_hint="--client")
        loaded, _ = scenario_of(scenario, set_)
        wanted = command or (default_command() if client is None else ["sh", "-c", client])
        check(scenario, pcap=pcap, force=force)
        lost: OutputError | None = None
        try:
            ended = run_shell(
                loaded,
                wanted,
                name=str(scenario),
                node=node,
                server=None if server is None else ["sh", "-c", f"exec {server}"],
                simulated=simulated or (),
                others=with_simulated,
                gro=gro,
                pcap=pcap,
                snaplen=snaplen,
            )
        except OutputError as error:
            if not isinstance(error.result, Ended):
                raise
            ended, lost = error.result, error
        if not quiet:
            note(f"{trust(ended.lag)}: {lateness(ended.lag)}")
        _tell(lost)
    raise typer.Exit(ended.status)


@contextmanager
def testbed_bar(quiet: bool) -> Iterator[Callable[[float, dict[str, Any]], None] | None]:
    """How far it is, and what goes over the air just now, if a person is looking."""
    with bars(quiet, _columns) as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task("", total=1.0, now="")
        last = {"at": 0.0, "bytes": 0}

        def tell(share: float, so_far: dict[str, Any]) -> None:
            elapsed, carried = so_far["elapsed_s"], sum(so_far["payload_bytes"])
            if elapsed > last["at"] + 0.5:
                rate = 8e-6 * (carried - last["bytes"]) / (elapsed - last["at"])
                lag_us = 1e6 * (so_far["lag_p99_s"] or 0.0)
                now = (
                    f"{rate:.2f} Mb/s, AP queue {so_far['ap_queue_packets']}, "
                    f"{so_far['collisions']} collisions, lag p99 {lag_us:.0f} us"
                )
                bar.update(task, now=now)
                last.update(at=elapsed, bytes=carried)
            bar.update(task, completed=share)

        yield tell


def _columns() -> tuple[ProgressColumn, ...]:
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn

    return (BarColumn(bar_width=20), TaskProgressColumn(), TextColumn("{task.fields[now]}"))
