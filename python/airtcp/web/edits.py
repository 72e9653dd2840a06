"""Change values in the text of a scenario file, and keep its comments and order.

The edited text resolves to the same scenario as `Scenario.vary` with the same changes. If a text
cannot express a change (such as removing a key that a profile sets), profiles are replaced by the
keys that they stand for, without comments.
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
from airtcp.scenario.errors import InvalidError, Path, value_at
from airtcp.scenario.expand import expand, named
from airtcp.scenario.vary import has_word_none, place_of, varied_with_profiles

#: The longest text, in characters, whose comments are kept: parsing a longer one takes seconds.
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
        # Fall back to a text without comments.
        kept = False
    return new if kept else written_anew(expected)


def edited(text: str, changes: Mapping[str, Any]) -> str:
    """Return a text with other values at key paths; None removes a key.

    Raises:
        InvalidError: a path leads to no key, or a profile does not exist.
    """
    return _edited(text, json.dumps(changes)) if changes else text


def written_anew(data: Mapping[str, Any]) -> str:
    """Return tables as text, without comments."""
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
            and value_at(plain, place) == value
            and type(value_at(plain, place)) is type(value)
        ):
            continue
        is_out = value == "none" and not has_word_none(path, plain)
        put(document, place, None if is_out else value)
    return document.as_string()


def _own_flow(document: tomlkit.TOMLDocument, plain: dict[str, Any], path: str) -> Path:
    """Return the place of a key of a flow from a profile, after adding an entry with its name."""
    table, _, rest = path.partition(".")
    name = rest.partition(".")[0]
    flows = expand(plain).data.get("flows", [])
    if table != "flows" or name not in [one.get("name") for one in flows]:
        raise InvalidError((path,), "is not a key of this scenario")
    append(document, "flows", {"name": name})
    return place_of(path, named(document.unwrap()))


def line_of(text: str, key: str) -> int | None:
    """Return the line of a key in a text, from 1 on, or the line of its nearest table.

    Args:
        text: TOML.
        key: a key as in error messages: `stations[0] (laptop).count`.
    """
    steps = re.findall(r"\[(\d+)\](?: \([^)]*\))?|([^.\[\]]+)", key)
    place = tuple(int(index) if index else name for index, name in steps)
    try:
        # Shorten comments, which take most of the parsing time; the lines stay.
        document = tomlkit.parse(_COMMENTS.sub("#", text))
    except (TOMLKitError, ValueError, RecursionError):
        return None
    while place and value_at(document, place) is None:
        place = place[:-1]
    if not place:
        return None
    parent: Any = value_at(document, place[:-1])
    item = parent[place[-1]]
    if isinstance(item, AoT):
        item = item[0]
    # Mark the entry and find the mark in the output: the text before it is unchanged.
    if isinstance(item, Table):
        if item.is_super_table():
            return line_of(text, f"{key_text(place)}.{next(iter(item))}")
        item.trivia.comment_ws, item.trivia.comment = " ", f"# {_MARK}"
    else:
        parent[place[-1]] = _MARK
    before, mark, _ = document.as_string().partition(_MARK)
    return before.count("\n") + 1 if mark else None


def key_text(place: Path) -> str:
    """Format a place as in error messages."""
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in place).lstrip(".")


def put(document: tomlkit.TOMLDocument, place: Path, value: Any) -> None:
    """Set the value at a place, or remove it if the value is None."""
    *parents, last = place
    here: Any = document
    for depth, step in enumerate(parents):
        if isinstance(here, InlineTable) and step not in here:
            if value is None:
                return None
            # Write all missing levels of an inline table at once.
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
    """Add an entry to the list of tables `table`, in the notation that the file uses."""
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
    """Rewrite an inline table with one more key, or without the key if the value is None."""
    keys = {name: one for name, one in table.unwrap().items() if name != key}
    if value is not None:
        keys[key] = value
    here: Any = document
    for step in place[:-1]:
        here = here[step]
    _set(here, place[-1], keys, top=False)


def _set(table: Any, key: str | int, value: Any, *, top: bool) -> None:
    """Set a key. A new table at the top level gets its own header."""
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
    """Return a value in the project's notation."""
    return tomlkit.parse(f"x = {toml_text.value_text(value)}\n")["x"]


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two forms are equal, ignoring the order of flows."""

    def key(form: Mapping[str, Any]) -> dict[str, Any]:
        flows = form.get("flows", [])
        return {**form, "flows": sorted(json.dumps(flow, sort_keys=True) for flow in flows)}

    return key(one) == key(other)
