"""Write a scenario as TOML for people: profiles replaced by their keys, with their sources.

The text loads to the resolved form from which it was made.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, Final

from .errors import Path
from .expand import applications_expanded
from .toml_text import key_text, value_text

_WIDTH: Final = 100
#: Columns that come first in a table of stations or flows.
_FIRST: Final = ("name", "count", "stations", "purpose", "direction", "connections", "kind")
#: Keys whose value is the name of a file.
_FILES: Final = ("file", "received")
#: The tables of a file in the order of the documentation. Others follow in their own order.
_SECTIONS: Final = (
    "title",
    "phy",
    "mac",
    "ap",
    "cells",
    "air",
    "links",
    "stations",
    "flows",
    "targets",
    "run",
)

#: Tables whose order sets the numbers of cells and links, and so affects results.
_IN_ORDER: Final = (("cells",), ("links",))


def shown(
    written: Mapping[str, Any], origins: Mapping[Path, str], *, title: str, base: FilePath
) -> str:
    """Return the TOML text of a written form without profiles.

    Args:
        written: the written form.
        origins: the sources of keys that are not from the file, by their path.
        title: the title of the scenario, also if the file has none.
        base: the directory that file names in it are relative to. In the text they are relative to
            the working directory.
    """
    data, more = applications_expanded(written)
    data = _ordered({**data, "title": title}, _SECTIONS)
    _with_paths(data, base)
    for path, origin in origins.items():
        more[path] = f"{origin}; {more[path]}" if path in more else origin
    lines = list(_Comments(more).table(data, (), ""))
    return "\n".join(lines).strip() + "\n"


@dataclass(frozen=True)
class _Comments:
    """The sources of keys by their path, which become comments of the text."""

    origins: Mapping[Path, str]

    @cached_property
    def _above(self) -> frozenset[Path]:
        """The paths of all tables in which a key has a comment."""
        ends = ((path, end) for path in self.origins for end in range(1, len(path)))
        return frozenset(path[:end] for path, end in ends)

    def table(self, table: Mapping[str, Any], path: Path, header: str) -> Iterator[str]:
        """Yield the lines of a table: its own keys first, then the tables in it."""
        inner: dict[str, Any] = {}
        before = ""
        keeps_order = path in _IN_ORDER
        for name, value in table.items():
            # TOML has inline tables before those with a header.
            follows = keeps_order and bool(inner)
            if follows or self._is_apart(name, value, (*path, name)):
                inner[name] = value
            else:
                origin = self.origins.get((*path, name), "")
                yield from _key(name, value, "as above" if origin == before != "" else origin)
                before = origin
        for name, value in inner.items():
            here, full = (*path, name), f"{header}{key_text(name)}"
            if isinstance(value, list):
                for index, one in enumerate(value):
                    yield from ("", *_comment(self.origins.get((*here, index), "")), f"[[{full}]]")
                    yield from self.table(_ordered(one, _FIRST), (*here, index), f"{full}.")
                continue
            yield ""
            lines = list(self.table(value, here, f"{full}."))
            if not lines or lines[0]:  # it has keys of its own
                yield from (*_comment(self.origins.get(here, "")), f"[{full}]")
            yield from lines

    def _is_apart(self, name: str, value: Any, path: Path) -> bool:
        """Return True if a value needs a header of its own: long, or with comments."""
        if not isinstance(value, Mapping):
            return path in (("stations",), ("flows",)) and isinstance(value, list)
        return len(path) == 1 or path in self._above or len(_assigned(name, value)) > _WIDTH


def _assigned(name: str, value: Any) -> str:
    return f"{key_text(name)} = {value_text(value)}"


def _key(name: str, value: Any, origin: str) -> Iterator[str]:
    """Yield a key with its comment after it, or before it if both are too long for a line."""
    line = _assigned(name, value)
    if origin and len(line) + len(origin) + 4 <= _WIDTH:
        yield f"{line}  # {origin}"
        return
    yield from _comment(origin)
    yield line


def _comment(origin: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(origin, _WIDTH - 2)]


def _ordered(table: Mapping[str, Any], first: tuple[str, ...]) -> dict[str, Any]:
    known = {name: table[name] for name in first if name in table}
    return {**known, **table}


def _with_paths(value: Any, base: FilePath) -> None:
    """Make names of files relative to the working directory."""
    if isinstance(value, dict):
        for key in _FILES:
            if isinstance(value.get(key), str) and base != FilePath():
                value[key] = os.fspath(base / value[key])
        for one in value.values():
            _with_paths(one, base)
    elif isinstance(value, list):
        for one in value:
            _with_paths(one, base)
