"""`airtcp share` and `airtcp split`: flow-level models of transfers in one or several networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from airtcp.cli.options import Json, Scenario, Seed, Threads
from airtcp.cli.outcome import outcome, parsed
from airtcp.cli.scenarios import Set, check_standard_input, scenario_of

Jobs = Annotated[
    int, typer.Option("--transfers", min=100, help="Transfers that each replication measures.")
]
Replications = Annotated[int, typer.Option(min=1, help="Independent runs.")]
Capacity = Annotated[
    str | None,
    typer.Option(
        metavar="RATE",
        help='The goodput of a network, such as "25 Mb/s", instead of a model\'s.',
    ),
]
Networks = Annotated[
    list[Path],
    typer.Argument(metavar="A [B ...]", help="Scenario files: a network each; A has the traffic."),
]
Copies = Annotated[
    int | None, typer.Option(min=2, help="With only A: the number of networks like it.")
]
Shares = Annotated[
    str | None,
    typer.Option(
        metavar="P,Q,...", help="Also split at random with these probabilities, such as .7,.3."
    ),
]


def share(
    scenario: Scenario,
    set_: Set = None,
    capacity: Capacity = None,
    transfers: Jobs = 200_000,
    seed: Seed = None,
    replications: Replications = 10,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Estimate transfer times in a shared network, modelled as processor sharing."""
    with outcome():
        from airtcp_papers.common.sharing import share as share_of
        from airtcp_papers.common.sharing.cells import share_cells

        loaded, _ = scenario_of(scenario, set_)
        several = len(loaded.cells or ()) > 1
        found = (share_cells if several else share_of)(
            loaded,
            capacity_bps=_capacity(capacity),
            jobs=transfers,
            seed=seed,
            replications=replications,
            threads=threads,
        )
        if json:
            print(found.to_json())
            return
        from airtcp.cli import show
        from airtcp.document import Pairs, listing
        from airtcp.present.details import care

        from airtcp_papers.common.sharing.results import CellsShared
        from airtcp_papers.common.sharing.rows import CELLS_HEAD, cautions, cell_rows, lines

        if isinstance(found, CellsShared):
            show.parts([listing(CELLS_HEAD, cell_rows(found)), *care(list(cautions(found)))])
        else:
            show.parts([Pairs(lines(found)), *care(list(cautions(found)))])


def split(
    networks: Networks,
    set_: Set = None,
    copies: Copies = None,
    shares: Shares = None,
    capacity: Capacity = None,
    transfers: Jobs = 200_000,
    seed: Seed = None,
    replications: Replications = 10,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Estimate times of transfers that are split among several access points or bands."""
    with outcome():
        from airtcp_papers.common.sharing import split as split_of

        if copies is not None and len(networks) > 1:
            raise typer.BadParameter(
                "works only with one file; give one file, or no --copies", param_hint="--copies"
            )
        check_standard_input(networks)
        read = [(path, scenario_of(path, set_)[0]) for path in networks]
        loaded = {
            f"{number}: {path.stem}": scenario
            for number, (path, scenario) in enumerate(read * (copies or 1), start=1)
        }
        found = split_of(
            loaded,
            shares=_shares(shares),
            capacity_bps=_capacity(capacity),
            jobs=transfers,
            seed=seed,
            replications=replications,
            threads=threads,
        )
        if json:
            print(found.to_json())
            return
        from airtcp.cli import show
        from airtcp.document import listing
        from airtcp.present.details import care

        from airtcp_papers.common.sharing.rows import cautions, rows

        times = listing(("split", "mean transfer time", *found.networks), rows(found))
        show.parts([times, *care(list(cautions(found)))])


def _capacity(text: str | None) -> float | None:
    """Parse `--capacity` into bit/s. Raises BadParameter."""
    if text is None:
        return None
    from airtcp.units import parse_rate_bps

    return parsed(text, parse_rate_bps, "--capacity")


def _shares(text: str | None) -> list[float] | None:
    """Parse `--shares` into numbers. Raises BadParameter."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is not a list of numbers; use a form such as .7,.3", param_hint="--shares"
        ) from error
