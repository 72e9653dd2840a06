"""Key paths: `stations.laptop.count`, `flows.laptop.tcp.mss`, and how they change a scenario.

A path leads through the tables of a file. It addresses groups, flows and links by name. Values are
checked when the changed file is resolved.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, get_args, get_origin

from airtcp.phrases import phrase

from .declare import written
from .errors import UnknownKeyError
from .expand import Expanded, copied, expand, has_profiles, is_of_profiles, named
from .neighbours import meant_key
from .quantities import Written
from .resolved import ResolvedScenario

#: The largest association identifier: stations of one access point (IEEE 802.11-2020, 9.4.1.8).
MOST_STATIONS: Final = 2007


def varied(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the written form of a scenario with other values at some key paths.

    Values are as in a file: texts with units, numbers, tables. None removes a key, and so does the
    text "none" unless it is a word of the key. Missing tables are created. They replace a text that
    stands for a table.

    Args:
        data: the written form, as `tomllib` returns it; it stays unchanged.
        changes: values by key paths. A group is addressed by its name. A flow is addressed by its
            own name, by its stations if no other flow has them, else by its index from 0. A link of
            a `path` is addressed by its index, too.

    Raises:
        InvalidError: a path that leads to no key of this scenario.
    """
    changed = copied(dict(data))
    for path, value in changes.items():
        _check(path, changed)
        *parents, last = path.split(".")
        here: Any = changed
        for parent in parents:
            here = _entry(here, parent) if isinstance(here, list) else _table(here, parent)
        if isinstance(here, list):
            here[here.index(_entry(here, last))] = copied(value)
        elif value is None or (value == "none" and not has_word_none(path, changed)):
            here.pop(last, None)
        else:
            here[last] = copied(value)
    return changed


def varied_with_profiles(given: Mapping[str, Any], changes: Mapping[str, Any]) -> Expanded:
    """Return a scenario without profiles, with other values at some key paths.

    Keys that profiles depend on are changed before profiles are replaced, all others after that. So
    a path may also lead to a key or to a flow that a profile sets.

    Raises:
        InvalidError: a path that leads to no key, or there is no such profile.
    """
    among = has_profiles(given)
    first = {key: one for key, one in changes.items() if is_of_profiles(key, among=among)}
    expanded = expand(varied(named(given), first) if first else given)
    others = {key: one for key, one in changes.items() if key not in first}
    return expanded.changed(varied(expanded.data, others))


def shared_out(total: int, counts: Sequence[int]) -> list[int]:
    """Divide `total` stations in proportion to `counts`, at least one for each group.

    By Sainte-Laguë's divisors, so that no group shrinks when the total grows.
    """
    shares = [1] * len(counts)
    for _ in range(total - len(counts)):
        quotients = [count / (2 * share + 1) for count, share in zip(counts, shares, strict=True)]
        shares[quotients.index(max(quotients))] += 1
    return shares


def place_of(path: str, data: Mapping[str, Any], *, checked: bool = False) -> tuple[str | int, ...]:
    """Return the keys and indices of a key path in a written form.

    `checked` says that the path is already known to be valid.

    Raises:
        InvalidError: a path that leads to no key of this scenario.
        KeyError: with `checked`, an entry that is not in this form.
    """
    if not checked:
        _check(path, data)
    place: list[str | int] = []
    here: Any = data
    for step in path.split(".") if not path.startswith("targets.") else path.split(".", 1):
        if isinstance(here, list):
            entry = _entry(here, step)
            place.append(next(n for n, other in enumerate(here) if other is entry))
            here = entry
        else:
            place.append(step)
            here = here.get(step) if isinstance(here, Mapping) else None
    return tuple(place)


def key_paths(data: Mapping[str, Any]) -> list[str]:
    """Return all key paths of a written scenario, including keys that the file omits."""
    return list(dict.fromkeys(_paths(data)))


@dataclass(frozen=True, slots=True)
class Place:
    """A key path, and the form that declares its last key; None for an entry of a list."""

    path: str
    form: type[Written] | None
    #: The table of the scenario that has the key, and the value of the key; None if missing.
    table: Any
    value: Any


def places(data: Mapping[str, Any]) -> Iterator[Place]:
    """Yield all key paths of a written scenario with their declarations; a path may come twice."""
    return _places(written(ResolvedScenario), data, "")


def _paths(data: Any, sought: str = "") -> Iterator[str]:
    """Yield the paths of a scenario; with `sought` only those that lead to it, which is faster."""
    return (one.path for one in _places(written(ResolvedScenario), data, "", sought))


def _places(form: type[Written], data: Any, prefix: str, sought: str = "") -> Iterator[Place]:
    """Yield the paths of keys of a table, and of the entries that `data` has in lists."""
    for name, forms in _forms_of(form).items():
        path = prefix + name
        if sought and not f"{sought}.".startswith(f"{path}."):
            continue
        value = data.get(name) if isinstance(data, Mapping) else None
        yield Place(path, form, data, value)
        for inner, within in forms:
            for entry, content in _entries(value, within):
                if entry:
                    yield Place(f"{path}.{entry}", None, value, content)
                begin = f"{path}.{entry}." if entry else f"{path}."
                yield from _places(inner, content, begin, sought)


def _forms(kind: Any, within: Any = None) -> Iterator[tuple[type[Written], Any]]:
    """Yield the tables that a key may contain, and their container: list, dictionary or None."""
    if isinstance(kind, type) and issubclass(kind, Written):
        yield kind, within
    origin = get_origin(kind)
    for part in get_args(kind):
        yield from _forms(part, origin if origin in (list, dict) else within)


def has_word_none(path: str, data: Mapping[str, Any]) -> bool:
    """Return True if "none" is one of the words that a key takes."""
    *_, last = path.split(".")
    return any(
        "none" in get_args(part)
        for form in _holders(written(ResolvedScenario), data, path.split("."))
        if last in form.model_fields
        for part in _parts(form.model_fields[last].annotation)
    )


def _holders(form: type[Written], data: Any, steps: list[str]) -> Iterator[type[Written]]:
    """Yield the forms of the table that has the key at the end of `steps`."""
    name, *rest = steps
    if not rest:
        yield form
        return
    value = data.get(name) if isinstance(data, Mapping) else None
    for inner, within in _forms_of(form).get(name, ()):
        if within is None:
            yield from _holders(inner, value, rest)
            continue
        for entry, content in _entries(value, within):
            if entry == rest[0] and len(rest) > 1:
                yield from _holders(inner, content, rest[1:])


def _parts(kind: Any) -> Iterator[Any]:
    """Yield a type and all its parts."""
    yield kind
    for part in get_args(kind):
        if get_origin(part) is not None:
            yield from _parts(part)


@cache
def _forms_of(form: type[Written]) -> dict[str, tuple[tuple[type[Written], Any], ...]]:
    """Return the result of `_forms` for each key of a table."""
    return {name: tuple(_forms(field.annotation)) for name, field in form.model_fields.items()}


def _entries(value: Any, within: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and contents of entries in a list or a dictionary of tables; "" for a table."""
    if within is None:
        yield "", value
    elif isinstance(value, list):
        yield from _by_name(value).items()
    elif isinstance(value, Mapping):
        yield from value.items()


def names_of(entries: list[Any]) -> list[str]:
    """Return the name of each entry of a list in key paths."""
    return [names[0] for names in _all_names(entries)]


def _all_names(entries: list[Any]) -> list[list[str]]:
    """Return the names of each entry: its own, its stations' if unique, or its index."""
    tables = [entry if isinstance(entry, Mapping) else {} for entry in entries]
    flows = Counter(table["stations"] for table in tables if _is_text(table, "stations"))
    found = []
    for place, table in enumerate(tables):
        names = [table["name"]] if _is_text(table, "name") else []
        if _is_text(table, "stations") and flows[table["stations"]] == 1:
            names.append(table["stations"])
        found.append(names or [str(place)])
    return found


def _is_text(table: Mapping[str, Any], key: str) -> bool:
    return isinstance(table.get(key), str)


def _by_name(entries: list[Any]) -> dict[str, Any]:
    """Return the entries of a list by name; an entry's own name takes precedence."""
    names = list(zip(_all_names(entries), entries, strict=True))
    found = {name: one for all_names, one in names for name in all_names}
    own = {
        one["name"]: one for one in entries if isinstance(one, Mapping) and _is_text(one, "name")
    }
    return found | own


def _entry(entries: list[Any], name: str) -> Any:
    """Return the entry with the name `name`. Raises KeyError."""
    return _by_name(entries)[name]


def _table(here: dict[str, Any], key: str) -> Any:
    """Return the list or table at a key on the way to another, creating a table if necessary."""
    if not isinstance(here.get(key), dict | list):
        here[key] = {}
    return here[key]


def _check(path: str, data: Mapping[str, Any]) -> None:
    if path in _paths(data, sought=path):
        return
    table, _, rest = path.partition(".")
    if table == "targets" and rest and "." not in rest:
        # Keys of [targets] are conditions, which are checked together with their bounds.
        return
    known = key_paths(data)
    name = rest.partition(".")[0]
    flows = [flow for flow in data.get("flows", []) if flow.get("stations") == name]
    if table == "flows" and len(flows) > 1:
        message = phrase("scenario.vary.several_flows", flows=len(flows), name=name)
        raise UnknownKeyError((path,), message)
    # What a key means does not depend on the name before it, which may be wrong as well.
    names = dict.fromkeys(one.split(".")[1] for one in known if one.startswith(f"{table}."))
    key = rest.partition(".")[2]
    others = [f"{table}.{one}.{key}" for one in names] if key else []
    others = [one for one in others if one not in _paths(data, sought=one)]
    if said := next(filter(None, (_meant(one, known) for one in (path, *others))), ""):
        raise UnknownKeyError((path,), phrase("scenario.vary.not_here", said=said))
    # A path without the name of its group or flow comes first, then paths with as many steps,
    # because most mistakes are in a name.
    steps = path.split(".")
    unnamed = [one for one in known if steps == [*one.split(".")[:1], *one.split(".")[2:]]]
    alike = unnamed or [other for other in known if other.count(".") == path.count(".")]
    nearest = difflib.get_close_matches(path, alike or known, n=1, cutoff=0)
    raise UnknownKeyError((path,), phrase("scenario.vary.nearest", nearest=nearest[0]))


def _meant(path: str, known: list[str]) -> str:
    """Return the key that the end of a path means, or why there is none; "" if unknown."""
    way, _, name = path.rpartition(".")
    if way and not any(one.startswith(f"{way}.") for one in known):
        return ""
    steps = way.split(".")
    # Names of list entries, and of tables that users name, are no names of tables.
    by_name = len(steps) == 2 and steps[0] in ("stations", "flows", "links", "cells")
    return meant_key(name, steps[0] if by_name else steps[-1], written(ResolvedScenario))
