"""JSON Schema of scenario files, made from the tables, so that it matches what is accepted."""

from __future__ import annotations

from typing import Any

from .declare import written
from .resolved import ResolvedScenario

Schema = dict[str, Any]


def schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of the written form.

    Each key has a `description`. `x-unit`, `x-default`, `x-presets` and `x-source` give unit,
    default, values set by presets, and document and clause of the default.

    >>> from airtcp.scenario import schema
    >>> sorted(schema()["properties"])[:4]
    ['air', 'ap', 'cells', 'flows']
    """
    generated = written(ResolvedScenario).model_json_schema(by_alias=True)
    _tidy(generated)
    _with_profiles(generated)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **generated}


#: Defaults of required keys that may be omitted if there is a profile, by table.
_BY_PROFILES = {
    "StationGroup": {"name": "with `profile` its name", "count": "with `profile` 1"},
    "Flow": {
        "stations": "for a flow of `traffic` its stations",
        "direction": "with `profile` the value of the profile",
        "application": "with `profile` the value of the profile",
    },
}


def _with_profiles(generated: Schema) -> None:
    """Make keys optional if a profile sets them."""
    tables = generated["$defs"]
    generated["required"].remove("flows")
    generated["properties"]["flows"]["x-default"] = "must be given, or `traffic` of a group"
    for name, without in (
        ("StationGroup", [["profile"]]),
        ("Flow", [["profile", "stations"], ["name"]]),
    ):
        required = tables[name].pop("required")
        tables[name]["anyOf"] = [{"required": keys} for keys in (required, *without)]
        for key, else_ in _BY_PROFILES[name].items():
            tables[name]["properties"][key]["x-default"] = f"must be given; {else_}"


def _tidy(node: Any) -> None:
    """Remove what applies to pydantic's models and not to TOML: null, titles."""
    if isinstance(node, list):
        for item in node:
            _tidy(item)
        return
    if not isinstance(node, dict):
        return
    if isinstance(node.get("title"), str):
        del node["title"]
    if node.get("default", ...) in (None, {}):
        del node["default"]
    choices = node.get("anyOf")
    if isinstance(choices, list):
        choices = [choice for choice in choices if choice != {"type": "null"}]
        if len(choices) == 1:
            del node["anyOf"]
            node.update({**choices[0], **node})
        else:
            node["anyOf"] = choices
    for value in node.values():
        _tidy(value)


def holds(key: Schema, *, of_size: bool = False) -> str:
    """Describe the values of a key of the schema: type, unit, words, bounds."""
    if "x-unit" in key and key.get("type") != "integer":
        units = "a size, or a time" if of_size else f"text in {key['x-unit']}"
        number = next((one for one in key.get("oneOf", ()) if one.get("type") == "integer"), None)
        if number is not None:
            return f'"unlimited", or whole number{_bounds(number)} of {key["x-unit"]}'
        if not key["x-unit"]:
            units = "a whole number"
        if key.get("type") == "string":
            return units
        words = [f'"{choice["const"]}"' for choice in key["anyOf"] if "const" in choice]
        return f"{', '.join(words) or 'a distribution'}, or {units}"
    if "const" in key:
        return f'"{key["const"]}"'
    if "enum" in key:
        return ", ".join(f'"{value}"' for value in key["enum"])
    match key.get("type"):
        case "integer":
            return f"whole number{_bounds(key)}" + (
                f" of {key['x-unit']}" if "x-unit" in key else ""
            )
        case "number":
            return f"number{_bounds(key)}"
        case "boolean":
            return "true, false"
        case "array":
            return "list"
        case "string":
            return "text"
        case _:
            forms = key.get("oneOf", key.get("anyOf"))
            if forms is None:
                return "table"
            unit = next((one["x-unit"] for one in forms if one.get("x-unit")), "")
            return f"text in {unit}, or a table" if unit else "text or table"


def _bounds(key: Schema) -> str:
    bounds = [
        f"{sign} {key[name]:g}" if key[name] < 10**6 else ""
        for name, sign in (
            ("exclusiveMinimum", ">"),
            ("minimum", ">="),
            ("exclusiveMaximum", "<"),
            ("maximum", "<="),
        )
        if name in key
    ]
    text = ", ".join(bound for bound in bounds if bound)
    return f" {text}" if text else ""
