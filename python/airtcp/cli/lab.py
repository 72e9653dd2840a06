"""`airtcp lab` and `airtcp lab check`: write lab sheets and check answers.

`airtcp.labs` defines the sheets and judges the answers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.options import Force, Json, Threads
from airtcp.cli.outcome import outcome
from airtcp.cli.process import Status
from airtcp.exceptions import QuestionError

_CHECK = "check"


def lab(
    name: Annotated[
        str | None,
        typer.Argument(help="The sheet to write or check. Default: list the sheets."),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="With check: files with answers. Default: the files in the current directory.",
        ),
    ] = None,
    to: Annotated[
        Path,
        typer.Option("--to", metavar="DIR", help="Directory to write to.", show_default=False),
    ] = Path(),
    threads: Threads = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a lab sheet of the course, or check answers to its questions by simulation."""
    with outcome():
        if name == _CHECK:
            _check(files or sorted(Path().glob("*.answers.toml")), threads, json=json)
            return
        if files:
            raise QuestionError(f"{files[0]}: only `airtcp lab check` takes files")
        if name is None:
            _list(json=json)
            return
        from airtcp.labs import write

        for path in write(name, to, force=force):
            print(f"wrote {path}")
        print(f"read {to / f'{name}.md'}, then: airtcp lab check")


def _list(*, json: bool) -> None:
    from airtcp.labs import sheets
    from airtcp.results import canonical_json

    known = sheets()
    if json:
        rows = [
            {"name": one.name, "title": one.title, "questions": len(one.questions)} for one in known
        ]
        print(canonical_json(rows))
        return
    width = max(len(one.name) for one in known)
    for one in known:
        print(f"{one.name:{width}}  {one.title}")
    print("\nairtcp lab NAME writes one to the current directory; airtcp lab check judges answers.")


def _check(files: list[Path], threads: int | None, *, json: bool) -> None:
    """Print the result for each answer. Exits with status 3 if any is wrong or open."""
    from airtcp.labs import check
    from airtcp.results import canonical_json

    if not files:
        raise QuestionError(
            "no file with answers found here; `airtcp lab` writes NAME.answers.toml"
        )
    judged = [one for file in files for one in check(file, threads=threads)]
    if json:
        print(canonical_json([one.to_dict() for one in judged]))
    else:
        for one in judged:
            print(f"{one.sheet} {one.question}: {one.state}; {one.why}")
        right = sum(one.state == "right" for one in judged)
        print(f"{right} of {len(judged)} right")
    if any(one.state != "right" for one in judged):
        raise typer.Exit(Status.TARGET_FAILS)
