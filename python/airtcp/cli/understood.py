"""`airtcp show`: print the expanded scenario, with the keys of its profiles filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.outcome import outcome
from airtcp.cli.scenarios import Set, scenario_of


def show(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The scenario file, or - for standard input.")
    ],
    changes: Set = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print it resolved, every default included, as JSON."),
    ] = False,
) -> None:
    """Print the expanded scenario with the source of each value."""
    with outcome():
        scenario, _ = scenario_of(file, changes)
        if not json:
            print(scenario.to_toml(), end="")
            return
        from airtcp.results import canonical_json

        sources = {".".join(map(str, path)): one for path, one in scenario.origins.items()}
        print(
            canonical_json(
                {
                    "written": scenario.written,
                    "sources": sources,
                    "purposes": scenario.purposes,
                    "scenario": scenario.to_dict(),
                }
            )
        )
