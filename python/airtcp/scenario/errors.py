"""Write messages about a scenario file, from pydantic's errors or from the resolver's.

Messages name the key path (`flows[0] (laptop).tcp.mss`) and say what is allowed. The reasons come
from the code that declares or resolves the key.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from .. import phrases
from ..amendments import AMENDMENTS
from ..choices import APPLICATIONS, meant, own_names
from ..exceptions import ScenarioError, UnitError, value_problem
from .neighbours import anywhere, meant_key
from .profiles import record

if TYPE_CHECKING:
    from .quantities import Written

#: Error types of a single value that is too small or too large.
_BOUNDS = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal"})

#: Keys for which users may register words of their own, with the kind of algorithm.
_OPEN = {
    "congestion": "congestion control",
    "discipline": "queue discipline",
    "scheduler": "scheduler",
}

#: Maximum number of problems reported for a file. Each takes a search for the intended key.
_MOST_PROBLEMS: Final = 1000
#: The path of a key: names of tables, indices of lists.
Path = tuple[str | int, ...]


class InvalidError(Exception):
    """A value that does not fit others: its path, what is wrong, and what is allowed."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def phrase(name: str, /, **values: object) -> str:
    """Return the sentence `scenario.NAME`."""
    return phrases.phrase(f"scenario.{name}", **values)


def invalid(path: Path, name: str, /, **values: object) -> InvalidError:
    """Return the error about a value whose sentence is `scenario.NAME`."""
    return InvalidError(path, phrase(name, **values))


def refuse_together(here: Path, key: str, others: Mapping[str, bool]) -> None:
    """Raise InvalidError if `key` is given with one of `others`, which are true if given."""
    for other, is_given in others.items():
        if is_given:
            raise invalid((*here, key), "errors.together", other=other)


def above(
    table: Written, here: Path, low: str, high: str, show: Callable[[Any], str] = str
) -> InvalidError:
    """Return the error of a key that is above another one. A default is not at fault."""
    values = [show(getattr(table, key)) for key in (low, high)]
    return invalid(
        (*here, low if table.given(low) else high),
        "errors.above",
        low=low,
        low_value=values[0],
        high=high,
        high_value=values[1],
    )


class UnknownKeyError(InvalidError):
    """A key path that leads to no key of the scenario."""


def scenario_error(
    file: str,
    data: Mapping[str, Any],
    error: ValidationError | InvalidError,
    *,
    table: Path = (),
) -> ScenarioError:
    """Return the error for the user; `data` is the written form as parsed.

    A ValidationError of a single table needs the path of this `table`.
    """
    if isinstance(error, InvalidError):
        is_unknown = isinstance(error, UnknownKeyError)
        path = key_path(data, error.path)
        return ScenarioError(file, path, error.message, is_unknown_key=is_unknown)
    details = [
        detail | {"loc": (*table, *detail["loc"])} for detail in error.errors(include_url=False)
    ]
    problems = (problem for detail in details for problem in _problems(data, detail))
    (key, message), *more = dict.fromkeys(islice(problems, _MOST_PROBLEMS))
    return ScenarioError(file, key, message, more)


def key_path(data: object, path: Path) -> str:
    """Return a path as text, with list items by index and name."""
    text = ""
    here: Any = data
    for part in path:
        here = _step(here, part)
        if isinstance(part, int):
            text += f"[{part}]" + _item_name(here)
        else:
            text += f".{part}" if text else part
    return text


def _item_name(item: object) -> str:
    if isinstance(item, dict):
        for key in ("name", "stations"):
            if isinstance(item.get(key), str):
                return f" ({item[key]})"
    return ""


def _step(here: Any, part: str | int) -> Any:
    if isinstance(here, Mapping):
        return here.get(part)
    if isinstance(here, list) and isinstance(part, int) and part < len(here):
        return here[part]
    return None


def _problems(data: object, detail: ErrorDetails) -> list[tuple[str, str]]:
    """Return the problems in one of pydantic's errors as pairs (key, message)."""
    path = _written_path(data, detail["loc"])
    context = detail.get("ctx", {})
    match detail["type"]:
        case "unknown_keys":
            allowed = context["allowed"]
            return [
                (key_path(data, (*path, name)), _unknown(name, allowed, path))
                for name in islice(context["unknown"], _MOST_PROBLEMS)
            ]
        case "missing_keys":
            return [
                (key_path(data, (*path, name)), f"required key is missing{what}")
                for name, what in context["missing"].items()
            ]
        case "no_tag":
            return [
                (
                    key_path(data, (*path, context["key"])),
                    phrase("errors.missing", allowed=context["allowed"]),
                )
            ]
        case "bad_tag":
            there = (*path, context["key"])
            message = _not_one_of(there, context["value"], context["allowed"])
            return [(key_path(data, there), message)]
        case _:
            value = value_at(data, path)
            if detail["type"] in _BOUNDS and isinstance(value, dict | list):
                # The number is computed, not written: report its own key and value.
                path, value = (*path, _written_name(str(detail["loc"][-1]))), detail["input"]
            if path[-1:] == ("mcs",) and "le" in context:
                amendment = AMENDMENTS.get(str(value_at(data, ("phy", "standard"))))
                context = {"le": amendment.highest_mcs if amendment else context["le"]}
            return [(key_path(data, path), _message(detail, context, path, value))]


def _message(detail: ErrorDetails, context: Mapping[str, Any], path: Path, value: object) -> str:
    """Return the message of an error about a single value, which is shown as written."""
    match detail["type"]:
        case "value_error" if isinstance(context["error"], UnitError):
            return str(context["error"])
        case "literal_error":
            return _not_one_of(
                path,
                value,
                [
                    part.strip().strip("'")
                    for part in context["expected"].replace(" or ", ", ").split(", ")
                ],
            )
        case "list_type":
            allowed = f"[[{path[0]}]]" if len(path) == 1 else "[ ... ]"
            return phrase("errors.not_a_list", value=_shown(value), allowed=allowed)
        case "dict_type":
            allowed = f"[{path[0]}.NAME]" if len(path) == 1 else "{ ... }"
            return phrase("errors.not_a_table", value=_shown(value), allowed=allowed)
        case "not_a_table":
            keys = ", ".join(context["keys"])
            one = phrase("errors.not_a_table_with", value=_shown(value), keys=keys)
            several = path == ("ap",) and isinstance(value, list)
            return f"{one}; of several: {anywhere()['access_points']}" if several else one
        case "not_an_application":
            return phrase(
                "errors.not_an_application",
                value=_shown(value),
                allowed=_application(value),
            )
        case "string_pattern_mismatch":
            # The checked value, which may be a key itself.
            name = _shown(detail["input"])
            return phrase("errors.not_a_name", name=name)
        case "string_too_short":
            return phrase("errors.empty_text")
        case "string_too_long":
            return phrase("errors.too_long", most=context["max_length"])
        case "too_short":
            return phrase("errors.empty_list")
        case "too_long":
            return phrase("errors.time_too_long", value=_shown(value))
        case kind:
            said = value_problem(kind, context)
            return f"{_shown(value)} {said}" if said else detail["msg"]


def _written_path(data: object, location: Sequence[str | int]) -> Path:
    """Return the path without pydantic's own steps (tags of unions), which are not in the file."""
    path: list[str | int] = []
    here: Any = data
    for part in location:
        if isinstance(here, dict) and (part in here or _written_name(str(part)) in here):
            part = part if part in here else _written_name(str(part))
            path.append(part)
            here = here[part]
        elif isinstance(here, list) and isinstance(part, int):
            path.append(part)
            here = _step(here, part)
    return tuple(path)


def _written_name(name: str) -> str:
    """Return the key in a file for a name of the resolved form, which has a unit suffix."""
    return re.sub(r"_(ns|bps|bytes|dbm|db)$", "", name)


def value_at(data: Any, path: Sequence[str | int]) -> Any:
    """Return the value at a path, None if there is none."""
    for part in path:
        data = _step(data, part)
    return data


def _unknown(name: str, allowed: Sequence[str], path: Path) -> str:
    from .declare import written
    from .resolved import ResolvedScenario

    table = next((part for part in reversed(path) if isinstance(part, str)), "")
    table = str(path[0]) if path[:1] in (("links",), ("cells",)) and len(path) == 2 else table
    near = difflib.get_close_matches(name, allowed, n=1)
    if said := meant_key(name, table, written(ResolvedScenario)):
        hint = f" (here: {said})"
    else:
        hint = f" (did you mean {near[0]}?)" if near else ""
    return f"unknown key{hint}; allowed: {', '.join(allowed)}"


def _not_one_of(path: Path, value: object, allowed: Sequence[str]) -> str:
    key = ".".join(part for part in path if isinstance(part, str))
    is_traffic = key.endswith("application.kind")
    near = _traffic(value) if is_traffic else _near(key, value, allowed)
    hint = f" (did you mean {near}?)" if near else ""
    # Plug-ins do not schedule OFDMA.
    kind = None if key.startswith("mac.ofdma") else _OPEN.get(key.rpartition(".")[2])
    if kind is None:
        return f"{_shown(value)} is unknown{hint}; allowed: {quoted(allowed)}"
    words = quoted([*allowed, *own_names(kind)])
    return phrase(
        "errors.unknown_algorithm", value=_shown(value), hint=hint, words=words, kind=kind
    )


def _application(value: object) -> str:
    """Suggest the table that a text given as an application may mean."""
    kind = _traffic(value)
    if kind.startswith("profile"):
        return kind
    return f"such as {{ kind = {kind or quoted(['bulk'])} }}"


def _traffic(value: object) -> str:
    """Suggest the application or the `profile` of a flow that a word may mean; else ""."""
    near = _near("application.kind", value, list(APPLICATIONS))
    name = record("traffic", value)
    if not name or (near and value != name):
        return near
    return f'"{name}"' if name in APPLICATIONS else f'profile = "{name}" of the flow'


def _near(key: str, value: object, allowed: Sequence[str]) -> str:
    """Suggest the word that a text at a key may mean; else ""."""
    return meant(key, value, allowed) if isinstance(value, str) else ""


def quoted(values: Iterable[object]) -> str:
    """Join values as a file writes texts: "a", "b", "c"."""
    return ", ".join(f'"{value}"' for value in values)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:60]}..."'
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else "this"
