"""Table of resolved-form.md: every field of the resolved form."""

from __future__ import annotations

import types
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import tables
from airtcp.scenario import ResolvedScenario
from airtcp.scenario.declare import Key, Table, declarations, name_in_files
from pydantic import BaseModel


def scenario() -> str:
    """List the fields of all tables, each table after its first reference."""
    known: dict[type, None] = {ResolvedScenario: None}
    queue: list[type] = [ResolvedScenario]
    while queue:
        found = [
            table
            for field in _fields(queue.pop(0))
            for table in _tables(field.holds)
            if table not in known
        ]
        known |= dict.fromkeys(found)
        queue += found
    rows = [row for table in known for row in _rows(table)]
    return tables.markdown(["table", "field", "holds", "key of files", "meaning"], rows)


class _Field(NamedTuple):
    """A field of a table or of a dataclass."""

    name: str
    holds: Any
    meaning: str
    key: Key | None = None


def _fields(table: type) -> list[_Field]:
    if not issubclass(table, BaseModel):
        hints = get_type_hints(table, include_extras=True)
        return [_Field(name, *get_args(hint)) for name, hint in hints.items()]
    declared = declarations(table) if issubclass(table, Table) else {}
    return [
        _Field(field.alias or name, field.annotation, key.meaning if key else "", key)
        for name, field in table.model_fields.items()
        for key in [declared.get(name)]
    ]


def _rows(table: type) -> list[list[str]]:
    rows = []
    for name, holds, meaning, key in _fields(table):
        in_files = f"`{name_in_files(name)}`" if key and key.forms == "both" else ""
        shown = _shown(holds)
        if key and key.default.words.startswith("none: ") and shown.endswith("null"):
            shown += key.default.words.removeprefix("none")
        rows.append([table.__name__, f"`{name}`", shown, in_files, meaning])
    return rows


def _tables(kind: Any) -> list[type]:
    """Find the tables in a type, and the dataclasses whose fields have descriptions."""
    if isinstance(kind, type) and (issubclass(kind, BaseModel) or is_dataclass(kind)):
        return [kind]
    return [table for part in get_args(kind) for table in _tables(part)]


def _shown(kind: Any) -> str:
    """Return the JSON name of a type."""
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


DOCS = Path(__file__).parents[1]
PAGE = DOCS / "reference" / "resolved-form.md"
TABLES = {"resolved-form": scenario}
