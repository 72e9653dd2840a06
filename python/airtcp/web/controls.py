"""The controls of a page: a choice or a slider at a key path of the scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Field = dict[str, Any]


def stops(values: Sequence[Any], present: Any) -> list[Any]:
    """Return the values of a slider in order, including the current one."""
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
    """Whether a key path exists in the written form, with groups by name."""
    here: Any = written
    for part in path.split("."):
        if isinstance(here, list):
            here = next((one for one in here if one.get("name") == part), None)
        else:
            here = here.get(part) if isinstance(here, Mapping) else None
    return here is not None


def choice(
    section: str, path: str, label: str, value: Any, text: str, options: Sequence[tuple[Any, str]]
) -> Field:
    """Return a choice. Each option is a value and its label."""
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
    most: str | None = None,
    present: Any = None,
    axis: bool = True,
) -> Field:
    """Return a slider; `most` is the word for a value above all others."""
    there = value if value is not None else present
    there = None if there == most else there
    options: list[dict[str, Any]] = [
        {"value": one, "text": f"{one}", "number": _magnitude(one)} for one in stops(values, there)
    ]
    if most is not None:
        options.append({"value": most, "text": most, "number": None})
    return {
        "section": section,
        "path": path,
        "label": label,
        "kind": "stops",
        "value": value if value is not None else there,
        "text": text,
        "options": options,
        "axis": axis,
    }
