"""Tables of docs/reference/commands.md: the options of each command, from its help."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import tables
from airtcp.cli.commands import app
from typer.main import get_command


@cache
def _commands() -> dict[str, tuple[Any, Any]]:
    """Map the path of each command, such as "traffic show", to itself and its context."""
    whole: Any = get_command(app)
    return dict(_below("", whole, whole.make_context("airtcp", [], resilient_parsing=True)))


def _below(path: str, group: Any, context: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command.hidden:
            continue
        inner = type(context)(command, info_name=name, parent=context)
        called = f"{path} {name}".strip()
        if hasattr(command, "list_commands"):
            yield from _below(called, command, inner)
        else:
            yield called, (command, inner)


def _file(path: str) -> str:
    return f"command-{path.replace(' ', '-')}"


def commands() -> str:
    """List the commands: what each does, its usage, its options, and its CSV file."""
    sections = []
    for path, (command, context) in _commands().items():
        does = " ".join((command.help or "").split())
        usage = " ".join(command.collect_usage_pieces(context))
        options = ", ".join(
            f"`{one.opts[0]}`"
            for one in command.get_params(context)
            if one.param_type_name == "option" and one.name != "help" and not one.hidden
        )
        said = f"## airtcp {path}\n\n{does}\n\n`{context.command_path} {usage}`"
        more = f": {options}.\n\n{tables.file(_file(path))}" if _records(path) else ""
        sections.append(said + more)
    return "\n\n".join(sections)


def _records(path: str) -> list[tuple[str, str]]:
    command, context = _commands()[path]
    parameters = (one for one in command.get_params(context) if one.name != "help")
    return [*filter(None, (one.get_help_record(context) for one in parameters))]


def options(path: str) -> str:
    """List arguments and options of a command with their meaning."""
    rows = [
        [f"`{term}`", " ".join(meaning.split()).replace("|", "\\|")]
        for term, meaning in _records(path)
    ]
    return tables.markdown(["option", "meaning"], rows)


DOCS = Path(__file__).parents[1]
PAGE = DOCS / "reference" / "commands.md"
TABLES = {
    "commands": commands,
    **{_file(path): partial(options, path) for path in _commands() if _records(path)},
}
