"""The text of a scenario file under the changes of a page: comments and order stay.

Knows how values are put at key paths of a text, and which line a key stands on. Does not know what
keys mean: a text that comes out says, when it is read, what `Scenario.vary` says of the changes.
Where a text cannot say that (a key taken out that a profile brings), profiles give way to the keys
that they stand for, without comments.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, InlineTable, Table

from airtcp.scenario import toml_text
from airtcp.scenario.errors import InvalidError, Path
from airtcp.scenario.expand import expand, named
from airtcp.scenario.vary import has_word_none, place_of, varied_with_profiles

#: The most characters that comments are kept of: a longer text takes seconds to read with them.
MOST_KEPT: Final = 300_000
_MARK: Final = "the-line-that-is-sought"
_COMMENTS: Final = re.compile(r"^[ \t]*#.*$", re.MULTILINE)


@lru_cache(maxsize=64)
def _edited(text: str, changes: str) -> str:
    given = tomllib.loads(text)
    wanted = json.loads(changes)
    expected = varied_with_profiles(given, wanted).data
    if len(text) > MOST_KEPT:
        return written_anew(expected)
    try:
        new = _put_all(text, wanted)
        kept = _alike(expand(tomllib.loads(new)).data, expected)
    except (InvalidError, TOMLKitError, LookupError, TypeError, ValueError):
        # Then a text without comments says it.
        kept = False
    return new if kept else written_anew(expected)


def edited(text: str, changes: Mapping[str, Any]) -> str:
    """A text with other values at key paths, None to take a key out.

    Raises:
        InvalidError: a path that leads to no key, or there is no such profile.
    """
    return _edited(text, json.dumps(changes)) if changes else text


def written_anew(data: Mapping[str, Any]) -> str:
    """A text of tables, without comments."""
    return toml_text.dumps(data)


def _put_all(text: str, changes: Mapping[str, Any]) -> str:
    document = tomlkit.parse(text)
    for path, value in changes.items():
        plain = named(document.unwrap())
        try:
            place = place_of(path, plain)
        except InvalidError:
            place = _own_flow(document, plain, path)
        if (
            value is not None
            and at(plain, place) == value
            and type(at(plain, place)) is type(value)
        ):
            continue
        is_out = value == "none" and not has_word_none(path, plain)
        put(document, place, None if is_out else value)
    return document.as_string()


def _own_flow(document: tomlkit.TOMLDocument, plain: dict[str, Any], path: str) -> Path:
    """The place of a key of a flow that a profile brings: its own entry, which has its name."""
    table, _, rest = path.partition(".")
    name = rest.partition(".")[0]
    flows = expand(plain).data.get("flows", [])
    if table != "flows" or name not in [one.get("name") for one in flows]:
        raise InvalidError((path,), "is no key of this scenario")
    append(document, "flows", {"name": name})
    return place_of(path, named(document.unwrap()))


def at(data: Any, place: Path) -> Any:
    """The value at a place, None where there is none."""
    for step in place:
        try:
            data = data[step]
        except (LookupError, TypeError):
            return None
    return data


def line_of(text: str, key: str) -> int | None:
    """The line of a text that a key stands on, from 1 on, or the nearest table that it is in.

    Args:
        text: TOML.
        key: a key as messages call it: `stations[0] (laptop).count`.
    """
    steps = re.findall(r"\[(\d+)\](?: \([^)]*\))?|([^.\[\]]+)", key)
    place = tuple(int(index) if index else name for index, name in steps)
    try:
        # Comments take most of the time, and no line.
        document = tomlkit.parse(_COMMENTS.sub("#", text))
    except (TOMLKitError, ValueError, RecursionError):
        return None
    while place and at(document, place) is None:
        place = place[:-1]
    if not place:
        return None
    parent: Any = at(document, place[:-1])
    item = parent[place[-1]]
    if isinstance(item, AoT):
        item = item[0]
    # The marked entry is found in the text that comes out: all text before it stays as it is.
    if isinstance(item, Table):
        if item.is_super_table():
            return line_of(text, f"{key_text(place)}.{next(iter(item))}")
        item.trivia.comment_ws, item.trivia.comment = " ", f"# {_MARK}"
    else:
        parent[place[-1]] = _MARK
    before, mark, _ = document.as_string().partition(_MARK)
    return before.count("\n") + 1 if mark else None


def key_text(place: Path) -> str:
    """A place as messages call it."""
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in place).lstrip(".")


def put(document: tomlkit.TOMLDocument, place: Path, value: Any) -> None:
    """Put a value at a place, or take out what is there for None."""
    *parents, last = place
    here: Any = document
    for depth, step in enumerate(parents):
        if isinstance(here, InlineTable) and step not in here:
            if value is None:
                return None
            # All that is missing of a table in line is written in one go.
            rest = _nested(place[depth + 1 :], value)
            return _into_inline(document, place[:depth], here, str(step), rest)
        inside = here[step] if isinstance(step, int) or step in here else None
        if not isinstance(inside, dict | list):
            rest = _nested(place[depth + 1 :], value)
            if value is not None:
                _set(here, step, rest, top=here is document)
            return None
        here = inside
    if isinstance(here, InlineTable) and (value is None or last not in here):
        _into_inline(document, tuple(parents), here, str(last), value)
    elif value is None:
        if last in here:
            del here[last]
    else:
        _set(here, last, value, top=here is document)
    return None


def append(document: tomlkit.TOMLDocument, table: str, entry: Mapping[str, Any]) -> None:
    """Add an entry to the list of tables called `table`, in the way in which it is written."""
    there = document.get(table)
    if there is None or (isinstance(there, list) and not there):
        if there is not None:
            del document[table]
        document.append(table, tomlkit.aot())
        there = document[table]
    if isinstance(there, AoT):
        new = tomlkit.table()
        for key, value in entry.items():
            new.add(key, _item(value))
        before = there[-1].as_string() if there else document.as_string()
        if before.endswith("\n\n"):
            new.add(tomlkit.nl())
        else:
            new.trivia.indent = "\n"
        there.append(new)
        return
    there.append(_item(entry))


def _nested(steps: Sequence[str | int], value: Any) -> Any:
    for step in reversed(steps):
        value = {step: value}
    return value


def _into_inline(
    document: tomlkit.TOMLDocument, place: Path, table: InlineTable, key: str, value: Any
) -> None:
    """Write a table in line anew with one more key, or without one for None."""
    keys = {name: one for name, one in table.unwrap().items() if name != key}
    if value is not None:
        keys[key] = value
    here: Any = document
    for step in place[:-1]:
        here = here[step]
    _set(here, place[-1], keys, top=False)


def _set(table: Any, key: str | int, value: Any, *, top: bool) -> None:
    """Set a key; a new table of the first level has a header of its own."""
    if top and isinstance(value, Mapping) and key not in table:
        new = tomlkit.table()
        for name, one in value.items():
            new.add(name, _item(one))
        table.append(key, new)
        return
    item = _item(value)
    if key in table if isinstance(key, str) else True:
        old = table[key]
        if hasattr(old, "trivia") and not isinstance(old, Table):
            item.trivia.comment_ws = old.trivia.comment_ws
            item.trivia.comment = old.trivia.comment
            item.trivia.trail = old.trivia.trail
    table[key] = item


def _item(value: Any) -> Any:
    """A value as the project writes it."""
    return tomlkit.parse(f"x = {toml_text.value_text(value)}\n")["x"]


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether two forms say what the other says, in whatever order flows stand."""

    def key(form: Mapping[str, Any]) -> dict[str, Any]:
        flows = form.get("flows", [])
        return {**form, "flows": sorted(json.dumps(flow, sort_keys=True) for flow in flows)}

    return key(one) == key(other)
