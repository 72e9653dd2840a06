"""Read the scenario of a command from a file or standard input, with `--set` applied.

`airtcp.scenario.vary` resolves key paths.
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
        help="Override a key of the scenario: stations.laptop.count=40; none removes it. "
        "Repeatable.",
    ),
]


def scenario_of(path: Path, changes: Sequence[str] | None) -> tuple[Scenario, str]:
    """Return the scenario, and its text with the changes listed in the first lines.

    The file is read once, because it may be a pipe or `-` (standard input).

    Raises ScenarioError, and BadParameter for a change that is not PATH=VALUE.
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
    """Raise BadParameter if two scenarios come from standard input, which is read only once."""
    from airtcp.scenario.load import STDIN

    if sum(path == STDIN for path in paths) > 1:
        raise typer.BadParameter("- is given twice, but standard input can be read only once")


def settings_of(changes: Sequence[str] | None) -> dict[str, Any]:
    """Parse `--set` into key paths and values. Raises BadParameter if one is not PATH=VALUE."""
    return dict(_setting(change, "--set", "40") for change in changes or [])


def axes_of(given: Sequence[str], *, option: str) -> dict[str, Any]:
    """Parse `option` into key paths and values. A key may occur only once.

    Raises BadParameter.
    """
    axes: dict[str, Any] = {}
    for one in given:
        path, values = _setting(one, option, "[1, 2, 5]")
        if path in axes:
            raise typer.BadParameter(
                f"{path} is given twice; give it once, with all its values", param_hint=option
            )
        axes[path] = values
    return axes


def _setting(change: str, option: str, example: str) -> tuple[str, Any]:
    """Parse PATH=VALUE. A value that is not TOML becomes a text.

    `example` is an example value for the error message.
    """
    from airtcp.scenario.toml_text import option_value

    path, equals, value = change.partition("=")
    if not equals:
        raise typer.BadParameter(
            f"{change!r} has no value; use a form such as stations.laptop.count={example}",
            param_hint=option,
        )
    return path.strip(), option_value(value)
