"""What a control of a page is: a choice, or a slider over values, at a key path of the scenario.

Knows nothing of keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Field = dict[str, Any]


def stops(values: Sequence[Any], present: Any) -> list[Any]:
    """The values of a slider with the present one among them, in their order."""
    if present is None or present in values:
        return list(values)
    numbers = [_magnitude(value) for value in values]
    mine = _magnitude(present)
    below = sum(number < mine for number in numbers)
    if below < len(values) and numbers[below] == mine:
        return [*values[:below], present, *values[below + 1 :]]
    return [*values[:below], present, *values[below:]]


def _magnitude(value: Any) -> float:
    from airtcp.exceptions import UnitError
    from airtcp.units import parse_rate_bps, parse_size_bytes, parse_time_s

    if isinstance(value, int | float):
        return float(value)
    for parse in (parse_time_s, parse_rate_bps, parse_size_bytes):
        try:
            return float(parse(value))
        except UnitError:
            continue
    return 0.0


def is_there(written: Mapping[str, Any], path: str) -> bool:
    """Whether something stands at a key path, in which groups go by their names."""
    here: Any = written
    for part in path.split("."):
        if isinstance(here, list):
            here = next((one for one in here if one.get("name") == part), None)
        else:
            here = here.get(part) if isinstance(here, Mapping) else None
    return here is not None


def at(data: Any, *path: str) -> Any:
    """What stands at a key path of tables; None if nothing does."""
    for part in path:
        data = data.get(part) if isinstance(data, Mapping) else None
    return data


def choice(
    section: str, path: str, label: str, value: Any, text: str, options: Sequence[tuple[Any, str]]
) -> Field:
    """A choice; each option is a value and what it is called."""
    return {
        "section": section,
        "path": path,
        "label": label,
        "kind": "choice",
        "value": value,
        "text": text,
        "options": [{"value": one, "text": words} for one, words in options],
        "axis": False,
    }


def slider(
    section: str,
    path: str,
    label: str,
    value: Any,
    text: str,
    values: Sequence[Any],
    *,
    none: str | None = None,
    present: Any = None,
    axis: bool = True,
) -> Field:
    """A slider; `none` is what the default is called where it lies above all values."""
    there = value if value is not None else present
    options: list[dict[str, Any]] = [
        {"value": one, "text": f"{one}", "number": _magnitude(one)} for one in stops(values, there)
    ]
    if none is not None:
        options.append({"value": None, "text": none, "number": None})
    return {
        "section": section,
        "path": path,
        "label": label,
        "kind": "stops",
        "value": value if value is not None or none is not None else there,
        "text": text,
        "options": options,
        "axis": axis,
    }
