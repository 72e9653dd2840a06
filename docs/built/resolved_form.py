"""The tables of docs/resolved-form.md: every field of the resolved form, and two whole scenarios.

Knows how JSON shows a type. Does not know fields: they are declared in `airtcp.scenario.keys` and
`airtcp.distributions`.
"""

from __future__ import annotations

import inspect
import json
import types
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import tables
from airtcp.scenario import ResolvedScenario, load
from airtcp.scenario.declare import Table, declarations, name_in_files
from pydantic import BaseModel

VALID = Path(__file__).parents[2] / "tests" / "scenarios" / "valid"


def scenario() -> str:
    """Lists the fields of all tables, each table after the one that first names it."""
    known: dict[type[BaseModel], None] = {ResolvedScenario: None}
    queue = [ResolvedScenario]
    while queue:
        found = [
            table
            for field in queue.pop(0).model_fields.values()
            for table in _tables(field.annotation)
            if table not in known
        ]
        known |= dict.fromkeys(found)
        queue += found
    return "\n\n".join(_section(table) for table in known)


def _section(table: type[BaseModel]) -> str:
    declared = declarations(table) if issubclass(table, Table) else {}
    rows = []
    for name, field in table.model_fields.items():
        key = declared.get(name)
        in_files = f"`{name_in_files(name)}`" if key and key.forms == "both" else ""
        meaning = key.meaning if key else ""
        holds = _shown(field.annotation)
        if key and key.default.words.startswith("none: ") and holds.endswith("null"):
            holds += key.default.words.removeprefix("none")
        rows.append((f"`{field.alias or name}`", holds, in_files, meaning))
    head = ("field", "holds", "key of files", "meaning")
    return f"### {table.__name__}\n\n{inspect.getdoc(table)}\n\n{tables.markdown(head, rows)}"


def _tables(kind: Any) -> list[type[BaseModel]]:
    """Finds the tables in a type."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    return [table for part in get_args(kind) for table in _tables(part)]


def _shown(kind: Any) -> str:
    """Names a type as JSON has it."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind in (None, type(None)):
        return "null"
    if origin is Annotated:
        return _shown(parts[0])
    if origin is Literal:
        return " or ".join(f'`"{value}"`' for value in parts)
    if origin in (Union, types.UnionType):
        return " or ".join(_shown(part) for part in parts)
    if origin is dict:
        return f"{{ {_shown(parts[0])}: {_shown(parts[1])}, ... }}"
    if origin is tuple:
        return f"[ {', '.join('...' if part is ... else _shown(part) for part in parts)} ]"
    return str(kind.__name__)


def whole(name: str) -> str:
    """Shows the resolved form of a scenario file of the tests."""
    return f"```json\n{json.dumps(load(VALID / name).to_dict(), indent=2)}\n```"


TABLES = {
    "resolved-form": scenario,
    "resolved-minimal": partial(whole, "minimal.toml"),
    "resolved-every-key": partial(whole, "every_key.toml"),
}
