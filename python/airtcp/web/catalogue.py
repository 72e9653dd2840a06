"""Search the keys that a scenario has or may have.

Uses the schema's description of each key, and the keys that the file sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, get_args

from airtcp.scenario import Scenario, schema
from airtcp.scenario.errors import value_at
from airtcp.scenario.expand import applications_expanded
from airtcp.scenario.schema import Schema, holds
from airtcp.scenario.toml_text import option_text
from airtcp.scenario.vary import Place, names_of, place_of, places

#: The most keys returned at a time.
MOST: Final = 25
#: Keys that select one of several forms of a table.
_TAGS: Final = ("kind", "distribution")


def keys(scenario: Scenario, given: Mapping[str, Any], words: str) -> dict[str, Any]:
    """Return the keys that match all words, best match first; without words, the keys of the file.

    Args:
        scenario: the scenario.
        given: its written form as in the file, in which groups have names.
        words: parts of key paths, or of descriptions of keys.

    Returns:
        `keys`: the first matches, each with its `path`, `meaning`, what it `holds`, `default`,
        `source`, `options` (allowed words, as in a file), `text` (its current value in the syntax
        of `--set`, or None if no value is written), and whether it is in the `file`. `count`: the
        number of matches.
    """
    data, _ = applications_expanded(scenario.written)
    wanted = words.lower().replace("_", " ").split()
    found: list[tuple[tuple[Any, ...], Place]] = []
    for place in _once(data):
        file = value_at(given, _steps(place.path, given)) is not None
        rank = _rank(place, wanted, file=file)
        if rank is not None:
            found.append(((*rank, len(found)), place))
    found.sort(key=lambda one: one[0])
    told = [_told(place, given) for _, place in found[:MOST]]
    return {"keys": told, "count": len(found)}


def _once(data: Mapping[str, Any]) -> Iterator[Place]:
    """Yield each key path once; for tables with several forms, in the form in use."""
    seen = set()
    # An entry of a list may have two names; use only one.
    called = {table: set(names_of(data.get(table, []))) for table in ("stations", "flows")}
    for place in places(data):
        if place.form is None or place.path in seen or not _fits(place):
            continue
        table, _, rest = place.path.partition(".")
        if rest and table in called and rest.partition(".")[0] not in called[table]:
            continue
        seen.add(place.path)
        yield place


def _fits(place: Place) -> bool:
    """Whether a table has the form that declares a key, judged by its tag keys."""
    assert place.form is not None  # called only for keys
    if not isinstance(place.table, Mapping):
        return True
    for tag in _TAGS:
        if tag in place.form.model_fields and tag in place.table:
            return place.table[tag] in get_args(place.form.model_fields[tag].annotation)
    return True


def _rank(place: Place, wanted: list[str], *, file: bool) -> tuple[int, ...] | None:
    """Return the sort key of a matching key, or None if it does not match."""
    steps = place.path.lower().replace("_", " ").split(".")
    depth = len(steps)
    if not wanted:
        is_leaf = not isinstance(place.value, Mapping | list) or not place.value
        return (depth,) if file and is_leaf else None
    path = " ".join(steps)
    said = f"{path} {_declared(place).get('description', '')}".lower()
    if not all(word in said for word in wanted):
        return None
    last = steps[-1]
    return (
        -sum(word in last.split() for word in wanted),
        -sum(word in last for word in wanted),
        -sum(word in path for word in wanted),
        not file,
        depth,
    )


def _told(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    key = _declared(place)
    return {
        "path": place.path,
        "meaning": key.get("description", ""),
        "holds": holds(key, of_size=_form(place).endswith("Size")),
        "default": str(key.get("x-default", "must be given")),
        "source": key.get("x-source", ""),
        "options": _options(key),
        "text": None if place.value is None else option_text(place.value),
        "file": value_at(given, _steps(place.path, given)) is not None,
    }


def _options(key: Schema) -> list[str]:
    """Return the allowed words of a key, in the syntax of `--set`; empty if it has no fixed set."""
    words = key.get("enum") or (["true", "false"] if key.get("type") == "boolean" else [])
    return [str(word) for word in words]


def _declared(place: Place) -> Schema:
    """Return the schema's description of a key."""
    properties: Schema = _tables().get(_form(place), {}).get("properties", {})
    found: Schema = properties.get(place.path.rpartition(".")[2], {})
    return found


def _form(place: Place) -> str:
    assert place.form is not None  # entries of lists are left out
    return place.form.__name__


@lru_cache(maxsize=1)
def _tables() -> Schema:
    whole = schema()
    return {"ResolvedScenario": whole, **whole["$defs"]}


def _steps(path: str, given: Mapping[str, Any]) -> tuple[str | int, ...]:
    """Return the place of a key in a file; a nonexistent place if a profile defines its table."""
    try:
        return place_of(path, given, checked=True)
    except (LookupError, StopIteration):
        return ("",)
