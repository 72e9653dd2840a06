"""The scenario that a command is about: a file or standard input, with keys as `--set` wants them.

Knows how a value on a command line is read. Does not know key paths (`airtcp.scenario.vary`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a key of the scenario: stations.laptop.count=40; none takes it out. "
        "Repeatable.",
    ),
]


def scenario_of(path: Path, changes: Sequence[str] | None) -> tuple[Scenario, str]:
    """The scenario, and its text with what was changed in the first lines.

    Both are of one reading, for the file may be a pipe, or `-`: standard input.

    Raises ScenarioError, and BadParameter for what is no PATH=VALUE.
    """
    from airtcp.scenario import loads
    from airtcp.scenario.load import STDIN, read

    name = "standard input" if path == STDIN else str(path)
    settings = settings_of(changes)
    text = read(path)
    scenario = loads(text, name=name, base=path.parent)
    if settings:
        scenario = scenario.vary(settings)
    return scenario, "".join(f"# --set {change!r}\n" for change in changes or []) + text


def check_standard_input(paths: Sequence[Path]) -> None:
    """Raise BadParameter where two scenarios would come from standard input, read once."""
    from airtcp.scenario.load import STDIN

    if sum(path == STDIN for path in paths) > 1:
        raise typer.BadParameter(
            "- is given twice, and standard input is read once; allowed: one -, and files"
        )


def settings_of(changes: Sequence[str] | None) -> dict[str, Any]:
    """Key paths and values of `--set`. Raises BadParameter for what is no PATH=VALUE."""
    return dict(_setting(change, "--set", "40") for change in changes or [])


def axes_of(given: Sequence[str], *, option: str) -> dict[str, Any]:
    """Key paths and values of `option`, each key once: of two axes one would be lost.

    Raises BadParameter.
    """
    axes: dict[str, Any] = {}
    for one in given:
        path, values = _setting(one, option, "[1, 2, 5]")
        if path in axes:
            raise typer.BadParameter(
                f"{path} is given twice; allowed: once, with all of its values", param_hint=option
            )
        axes[path] = values
    return axes


def _setting(change: str, option: str, example: str) -> tuple[str, Any]:
    """The path and the value of PATH=VALUE; a value that is not TOML is a text.

    `example` is the value that a message has for one.
    """
    from airtcp.scenario.toml_text import option_value

    path, equals, value = change.partition("=")
    if not equals:
        raise typer.BadParameter(
            f"{change!r} has no value; allowed: such as stations.laptop.count={example}",
            param_hint=option,
        )
    return path.strip(), option_value(value)
