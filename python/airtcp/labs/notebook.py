"""A sheet as a notebook, with its commands as Python calls.

Converts Markdown, and the commands `airtcp simulate`, `diff` and `plan`. The notebook has no
outputs.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Final

from airtcp.scenario.toml_text import option_value

if TYPE_CHECKING:
    from airtcp.labs.sheet import Sheet

_BLOCK: Final = re.compile(r"(?ms)^```sh\n(.*?)^```\n")


def notebook(of: Sheet) -> str:
    """Return the notebook as JSON (nbformat 4.5)."""
    cells = [_code("import airtcp\nimport airtcp.labs")]
    for number, part in enumerate(_BLOCK.split(of.text)):
        if number % 2:
            cells += [_code(call_of(line)) for line in part.splitlines()]
        elif part.strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": part.strip()})
    text = (
        f'for one in airtcp.labs.check("{of.name}.answers.toml"):\n'
        "    print(one.question, one.state, one.why)"
    )
    cells.append(_code(text))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def _code(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def call_of(line: str) -> str:
    """Return the Python call for a command. Raises ValueError for an unsupported command."""
    _, verb, file, *options = shlex.split(line)
    changes: dict[str, Any] = {}
    others: dict[str, str] = {}
    for name, value in zip(options[::2], options[1::2], strict=True):
        if name == "--set":
            path, _, text = value.partition("=")
            changes[path] = option_value(text)
        else:
            others[name] = value
    base = f"airtcp.load({file!r})"
    varied = f"{base}.vary({changes!r})" if changes else base
    if verb == "simulate" and not others:
        return f"airtcp.simulate({varied})"
    if verb == "diff" and not others:
        return f"airtcp.diff({base}, {varied})"
    if verb == "plan" and set(others) == {"--vary", "--until"}:
        return f"airtcp.plan({varied}, vary={others['--vary']!r}, until={others['--until']!r})"
    raise ValueError(f"{line!r} has no call; allowed: simulate, diff with --set, plan")
