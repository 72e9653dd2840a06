"""JSON Schema of scenario files.

Knows how to present the written form. Does not know its keys: the schema is made from the tables
themselves, so that it cannot say anything else than what is accepted.
"""

from __future__ import annotations

from typing import Any

from .declare import written
from .resolved import ResolvedScenario

Schema = dict[str, Any]


def schema() -> Schema:
    """JSON Schema (draft 2020-12) of the written form.

    Each key has a `description`; `x-unit`, `x-default`, `x-presets` and `x-source` say unit,
    default, what presets set, and the document and clause that the default comes from.

    >>> from airtcp.scenario import schema
    >>> sorted(schema()["properties"])[:4]
    ['ap', 'flows', 'links', 'mac']
    """
    generated = written(ResolvedScenario).model_json_schema(by_alias=True)
    _tidy(generated)
    _with_profiles(generated)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **generated}


#: What holds where keys that must be given are left out beside a profile, by table.
_BY_PROFILES = {
    "StationGroup": {"name": "with `profile` its name", "count": "with `profile` 1"},
    "Flow": {
        "stations": "above a flow of `traffic` its stations",
        "direction": "with `profile` that of the profile",
        "application": "with `profile` that of the profile",
    },
}


def _with_profiles(generated: Schema) -> None:
    """Says which keys need not be there where a profile brings them."""
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
    """Drops what is true of pydantic's models and not of TOML: null, titles."""
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
