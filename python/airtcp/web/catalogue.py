"""The keys that a scenario has or may have, looked up by words.

Knows what the schema says of each key, and which stand in a file. Does not know how a key is
edited, nor what its value does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, get_args

from airtcp.scenario import Scenario, schema
from airtcp.scenario.expand import applications_expanded
from airtcp.scenario.schema import Schema, holds
from airtcp.scenario.toml_text import option_text
from airtcp.scenario.vary import Place, names_of, place_of, places
from airtcp.web.edits import at

#: So many keys are told at a time.
MOST: Final = 25
#: Keys that say which of several forms a table has.
_TAGS: Final = ("kind", "distribution")


def keys(scenario: Scenario, given: Mapping[str, Any], words: str) -> dict[str, Any]:
    """The keys that answer to all of the words, nearest first; without words those of the file.

    Args:
        scenario: the scenario.
        given: its written form as the file has it, in which groups have names.
        words: parts of key paths, or of what is said of keys.

    Returns:
        `keys`: the first of them, each with its `path`, `meaning`, what it `holds`, `default`,
        `source`, `options` (words to choose from, as a file has them), `text` (its value in force
        as `--set` has it, None where none is written), and whether it is in the `file`; `count`:
        how many there are.
    """
    data, _ = applications_expanded(scenario.written)
    wanted = words.lower().replace("_", " ").split()
    found: list[tuple[tuple[Any, ...], Place]] = []
    for place in _once(data):
        file = at(given, _steps(place.path, given)) is not None
        rank = _rank(place, wanted, file=file)
        if rank is not None:
            found.append(((*rank, len(found)), place))
    found.sort(key=lambda one: one[0])
    told = [_told(place, given) for _, place in found[:MOST]]
    return {"keys": told, "count": len(found)}


def _once(data: Mapping[str, Any]) -> Iterator[Place]:
    """Each key path once: of tables that may have several forms, in the form that it has."""
    seen = set()
    # An entry of a list may go by two names: it is told of once.
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
    """Tell whether a table is of the form that declares a key, by the words that say so."""
    assert place.form is not None  # asked of keys alone
    if not isinstance(place.table, Mapping):
        return True
    for tag in _TAGS:
        if tag in place.form.model_fields and tag in place.table:
            return place.table[tag] in get_args(place.form.model_fields[tag].annotation)
    return True


def _rank(place: Place, wanted: list[str], *, file: bool) -> tuple[int, ...] | None:
    """The place of a key among those that are found, None where it is not."""
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
        "file": at(given, _steps(place.path, given)) is not None,
    }


def _options(key: Schema) -> list[str]:
    """The words that a key is one of, as `--set` has them; none where it is not one of a few."""
    words = key.get("enum") or (["true", "false"] if key.get("type") == "boolean" else [])
    return [str(word) for word in words]


def _declared(place: Place) -> Schema:
    """Return the description of a key by the schema."""
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
    """The place of a key in a file; nowhere where a profile brings what it is of."""
    try:
        return place_of(path, given, checked=True)
    except (LookupError, StopIteration):
        return ("",)
