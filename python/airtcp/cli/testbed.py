"""`airtcp testbed` and `airtcp shell`: real TCP and real programs over the simulated network."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airtcp.cli.options import Force, Gro, Json, Quiet, Scenario, Seed, Simulated, Snaplen
from airtcp.cli.outcome import outcome
from airtcp.cli.process import Status, note
from airtcp.cli.progress import bar
from airtcp.cli.scenarios import Set, scenario_of
from airtcp.exceptions import OutputError
from airtcp.run import SNAPLEN

if TYPE_CHECKING:
    pass

#: Live counters: update interval, and the largest number of flows listed by name.
_TOLD_EVERY_S = 0.5
_MOST_NAMED = 3


Results = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Write results.json and scenario.toml into this directory."
    ),
]
Pcap = Annotated[
    Path | None,
    typer.Option(
        "--pcap",
        metavar="FILE",
        help="Write the packets of each node and the frames on the air (with several cells those "
        "that each node hears) to this pcapng file.",
    ),
]


def bench(
    scenario: Scenario,
    set_: Set = None,
    json: Json = False,
    out: Results = None,
    seed: Seed = None,
    simulated: Simulated = None,
    gro: Gro = False,
    pcap: Pcap = None,
    snaplen: Snaplen = SNAPLEN,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Measure real TCP and real programs over the simulated network, in real time (Linux)."""
    with outcome():
        from airtcp.cli import show
        from airtcp.cli.outputs import check
        from airtcp.present.testbed import lateness
        from airtcp.results import SimulationResult, TestbedResult
        from airtcp.testbed.bench import measure

        loaded, text = scenario_of(scenario, set_)
        check(scenario, out=out, pcap=pcap, force=force)
        lost: OutputError | None = None
        with testbed_bar(quiet, [flow.name for flow in loaded.flows]) as progress:
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
            measured = SimulationResult(result.scenario, result.provenance, result.testbed)
            show.show(measured, real=result)
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
    """Report an output that could not be written, after everything else. The command then fails."""
    if lost is not None:
        note(str(lost))
        raise typer.Exit(Status.FAILED)


Node = Annotated[
    str | None,
    typer.Option(
        metavar="STATION",
        help="Run the command at this station, or at server; by default at the first station.",
    ),
]


def shell(
    scenario: Scenario,
    command: Annotated[
        list[str] | None, typer.Argument(help="The command, after --; your shell by default.")
    ] = None,
    set_: Set = None,
    node: Node = None,
    server: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Start this at the server first.")
    ] = None,
    client: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="The command as one text, for sh.")
    ] = None,
    simulated: Simulated = None,
    with_simulated: Annotated[
        bool,
        typer.Option("--with-simulated", help="Simulate the flows of all other stations as load."),
    ] = False,
    gro: Gro = False,
    pcap: Pcap = None,
    snaplen: Snaplen = SNAPLEN,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Run any program over the simulated network (Linux); ends with its exit status."""
    with outcome():
        from airtcp.cli.outputs import check
        from airtcp.present.testbed import lateness, trust
        from airtcp.testbed.shell import Ended, default_command
        from airtcp.testbed.shell import shell as run_shell

        if command and client is not None:
            raise typer.BadParameter(
                "a command is already given as an argument; use one of them", param_hint="--client"
            )
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
def testbed_bar(
    quiet: bool, flows: Sequence[str]
) -> Iterator[Callable[[float, dict[str, Any]], None] | None]:
    """Show progress and current traffic, if stderr is a terminal.

    `flows` are the names of the flow entries.
    """
    with bar(quiet, "", "short bar", "share", "{task.fields[now]}", now="") as update:
        if update is None:
            yield None
            return
        last: dict[str, Any] = {"elapsed_s": 0.0, "payload_bytes": [0] * len(flows)}

        def tell(share: float, so_far: dict[str, Any]) -> None:
            if so_far["elapsed_s"] > last["elapsed_s"] + _TOLD_EVERY_S:
                update(now=what_goes_on(flows, so_far, last))
                last.update(so_far)
            update(completed=share)

        yield tell


def what_goes_on(flows: Sequence[str], so_far: dict[str, Any], last: dict[str, Any]) -> str:
    """Describe the traffic between two moments in one line."""
    seconds = so_far["elapsed_s"] - last["elapsed_s"]
    pairs = zip(so_far["payload_bytes"], last["payload_bytes"], strict=True)
    rates = [8e-6 * (now - before) / seconds for now, before in pairs]
    parts = [f"{sum(rates):.2f} Mb/s"]
    if 1 < len(rates) <= _MOST_NAMED:
        named = zip(flows, rates, strict=True)
        parts = [f"{name} {rate:.2f}" for name, rate in named]
        parts[-1] += " Mb/s"
    # Narrow terminals cut off the end.
    parts.append(f"lag p99 {1e6 * (so_far['lag_p99_s'] or 0.0):.0f} us")
    parts.append(f"AP queue {so_far['ap_queue_packets']}")
    if so_far["ap_mpdus_per_ppdu"] is not None:
        parts.append(f"{so_far['ap_mpdus_per_ppdu']:.1f} frames at once")
    parts.append(f"{so_far['collisions']} collisions")
    return ", ".join(parts)
