"""`airtcp example`, `show` and `schema`: starting points for scenario files, and what they mean."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.outcome import outcome
from airtcp.cli.scenarios import Set, scenario_of
from airtcp.examples import Example, directory, examples
from airtcp.exceptions import OutputError


def _names(incomplete: str) -> list[str]:
    """Complete the names of examples in the shell."""
    return [item.name for item in examples() if item.name.startswith(incomplete)]


def example(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The example to write. Default: list the examples.", autocompletion=_names
        ),
    ] = None,
    to: Annotated[
        Path,
        typer.Option("--to", metavar="DIR", help="Directory to write to.", show_default=False),
    ] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the list as JSON, and nothing else.")
    ] = False,
) -> None:
    """List the example scenarios, or write one to start from."""
    with outcome():
        known = {item.name: item for item in examples()}
        if name is None:
            _list(list(known.values()), json=json)
            return
        if name not in known:
            raise typer.BadParameter(
                f"there is no example {name!r}; examples: {', '.join(known)}", param_hint="NAME"
            )
        for path in _write(known[name], to, force=force):
            print(f"wrote {path}")
        print(f"try: airtcp run {to / f'{name}.toml'} --out report")


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    with outcome():
        _print_schema()


def _print_schema() -> None:
    from airtcp.results import canonical_json
    from airtcp.scenario import schema as scenario_schema

    print(canonical_json(scenario_schema()))


def _list(known: list[Example], *, json: bool) -> None:
    if json:
        from airtcp.results import canonical_json

        print(
            canonical_json(
                [
                    {
                        "name": item.name,
                        "title": item.title,
                        "description": item.description,
                        "files": item.files,
                    }
                    for item in known
                ]
            )
        )
        return
    width = max(len(item.name) for item in known)
    before = known[0].is_of_today
    for item in known:
        if item.is_of_today != before:
            print("\nOn 802.11b and g, as in the papers:")
        before = item.is_of_today
        print(f"{item.name:{width}}  {item.description}")
    print("\nairtcp example NAME writes one to the current directory.")


def _write(item: Example, to: Path, *, force: bool) -> list[Path]:
    packaged = directory()
    paths = [to / name for name in item.files]
    there = [str(path) for path in paths if os.path.exists(path)]
    if there and not force:
        raise OutputError(f"{', '.join(there)}: file exists; --force overwrites it")
    try:
        to.mkdir(parents=True, exist_ok=True)
        for path in paths:
            path.write_bytes((packaged / path.name).read_bytes())
    except OSError as error:
        raise OutputError(f"cannot write to {to}: {error.strerror or error}") from error
    return paths


def show(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The scenario file, or - for standard input."),
    ] = None,
    changes: Set = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print it resolved, every default included, as JSON."),
    ] = False,
    wants_schema: Annotated[
        bool,
        typer.Option("--schema", help="Print the JSON Schema of scenario files, for editors."),
    ] = False,
) -> None:
    """Print the expanded scenario with the source of each value."""
    with outcome():
        if wants_schema:
            _print_schema()
            return
        if file is None:
            raise typer.BadParameter("is missing; give a scenario file", param_hint="FILE")
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
