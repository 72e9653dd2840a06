"""`airtcp traffic show` and `airtcp traffic scenario`: study a log of requests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.options import Force, Json
from airtcp.cli.outcome import outcome

app = typer.Typer(
    help="Turn a web server's access log into a scenario, or describe it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="An access log, JSON lines, or a CSV file of sizes.")
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="PNG", help="Draw the sizes and the fitted distributions to this file."
    ),
]
Target = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="TOML", help="Write the scenario to this file instead of stdout."
    ),
]


@app.command("show")
def show(file: File, out: Picture = None, json: Json = False, force: Force = False) -> None:
    """Describe the sizes and pauses in a log.

    That is: quantiles, fitted distributions, and the pauses of clients.
    """
    with outcome():
        from airtcp.scenario.requests import read_requests
        from airtcp.traffic.study import study

        requests = read_requests(file)
        found = study(requests)
        if json:
            print(found.to_json())
        else:
            from airtcp.cli.show import parts
            from airtcp.document import Pairs
            from airtcp.present.traffic import lines

            parts([Pairs(lines(found))])
        if out is not None:
            from airtcp.files import write_files
            from airtcp.present import drawing
            from airtcp.present.traffic import picture
            from airtcp.traffic.study import survivals

            _refuse(out, file, force=force)
            figure = picture(requests.sizes, survivals(found))
            write_files(out.parent, {out.name: drawing.png(figure)})


@app.command("scenario")
def scenario(file: File, out: Target = None, force: Force = False) -> None:
    """Write a scenario of web users from a log.

    Its files have the log's sizes, and its users the log's pauses.
    """
    with outcome():
        write_scenario(file, out, force=force)


def write_scenario(file: Path, out: Path | None, *, force: bool) -> None:
    """Write the scenario of a log to a file, or print it."""
    from airtcp.files import write_files
    from airtcp.scenario.requests import read_requests
    from airtcp.traffic.study import scenario_text, study

    # A scenario names files relative to its own directory.
    path = file if out is None or file.parent != out.parent else Path(file.name)
    path = path.resolve() if out is not None and file.parent != out.parent else path
    text = scenario_text(path, study(read_requests(file)))
    if out is None:
        print(text, end="")
        return
    _refuse(out, file, force=force)
    write_files(out.parent, {out.name: text.encode()})


def _refuse(out: Path, file: Path, *, force: bool) -> None:
    """Refuse to overwrite a file without `--force`. Raises OutputError."""
    from airtcp.exceptions import OutputError

    if os.path.exists(out) and (not force or out.samefile(file)):
        raise OutputError(f"cannot write to {out}: file exists; use another name, or --force")
