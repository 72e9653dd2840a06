"""Keys under the names that other simulators, tools and devices use (`neighbours.toml`).

A name leads to the key of this program, or to the reason why it is not modelled and what comes
nearest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, get_args

from ..data import beside
from .quantities import Written

#: A name that is a key in more tables than these gives no hint.
_FEW: Final = 2
#: Keys of a group that apply to its flows.
_OF_FLOWS: Final = (("stations", "tcp"), ("stations", "path"))


@cache
def _meanings() -> Mapping[str, str]:
    """Return the meanings of names, and of names in a table by `TABLE.NAME`."""
    return {
        name: one["means"]
        for one in beside(__file__)["name"]
        for name in (*one.get("names", ()), *one.get("in", ()))
    }


def anywhere() -> Mapping[str, str]:
    """Return the meanings of names that are a key in no table."""
    return {name: means for name, means in _meanings().items() if "." not in name}


def meant_key(name: str, table: str, form: type[Written]) -> str:
    """Return the key that a name means, or why there is none; "" if nothing is known.

    Args:
        name: the name that was written.
        table: the name of the table in which it was written, "" for the whole file.
        form: the written form of the file, whose other tables are searched for the key.
    """
    plain = name.lower().replace("-", "_").replace(" ", "_")
    if said := _meanings().get(f"{table}.{plain}") or _meanings().get(plain):
        return said
    found = [path[:-1] for path in _paths(form) if path[-1] == plain]
    # Leave out the same table: the key may belong to another kind of it.
    places = list(dict.fromkeys(_place(path) for path in found if path[-1:] != (table,)))
    return f"a key of {' and of '.join(places)}" if 0 < len(places) <= _FEW else ""


def _place(path: tuple[str, ...]) -> str:
    """Return a table as a file heads it, or a description of a nested table."""
    if not path:
        return "the whole file"
    if path[0] in ("stations", "flows"):
        inner = f"{'.'.join(path[1:])} of " if path[1:] else ""
        return f"{inner}[[{path[0]}]]"
    return f"[{'.'.join(path)}]"


@cache
def _paths(form: type[Written]) -> tuple[tuple[str, ...], ...]:
    """Return the paths of all keys, shortest first; a path enters each table only once."""
    found = list(_walk(form, (), frozenset()))
    return tuple(sorted(dict.fromkeys(found), key=lambda path: (len(path), path)))


def _walk(
    form: type[Written], path: tuple[str, ...], above: frozenset[type]
) -> Iterator[tuple[str, ...]]:
    for name, field in form.model_fields.items():
        yield (*path, name)
        if (*path, name) in _OF_FLOWS:
            continue
        for inner in _forms(field.annotation):
            if inner not in above:
                yield from _walk(inner, (*path, name), above | {inner})


def _forms(kind: Any) -> Iterator[type[Written]]:
    if isinstance(kind, type) and issubclass(kind, Written):
        yield kind
    for part in get_args(kind):
        yield from _forms(part)
