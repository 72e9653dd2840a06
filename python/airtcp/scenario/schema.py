"""JSON Schema of scenario files, and the table of keys in their documentation.

Knows how to present the written form. Does not know its keys: both are made from the tables
themselves, so that they cannot say anything else than what is accepted.
"""

from __future__ import annotations

import inspect
import json
from typing import Any

from . import written_traffic
from .written import Scenario

__all__ = ["key_table", "schema"]

Schema = dict[str, Any]


def schema() -> Schema:
    """JSON Schema (draft 2020-12) of the written form.

    Each key has a `description`; `x-unit`, `x-default` and `x-source` say unit, default, and the
    document and clause that the default comes from.
    """
    generated = Scenario.model_json_schema(by_alias=True)
    _tidy(generated)
    named = _named_definitions(generated)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **named}


def _named_definitions(generated: Schema) -> Schema:
    """Names the distributions of sizes and of times apart: `ParetoSize`, `ParetoTime`."""
    names = {}
    for old, definition in generated["$defs"].items():
        tag = definition["properties"].get("distribution", {}).get("const")
        if tag is None or tag == "empirical":
            continue
        definition["description"] = inspect.getdoc(getattr(written_traffic, tag.capitalize()))
        of = "Size" if '"B, kB' in json.dumps(definition) else "Time"
        names[old] = tag.capitalize() + of
    text = json.dumps(generated)
    for old, new in names.items():
        text = text.replace(f'"{old}":', f'"{new}":').replace(f'/{old}"', f'/{new}"')
    named: Schema = json.loads(text)
    return named


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
    if node.get("default", ...) is None:
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


# Where each table of the schema stands in a file; distributions of sizes stand for those of times.
_SECTIONS = {
    "": "The whole file",
    "Phy": "`[phy]`",
    "Mac": "`[mac]`",
    "Rules": "`[mac.rules]`",
    "Beacon": "`beacon`, of `[mac]`",
    "Edca": "`[mac.edca]`",
    "EdcaCategories": "`[mac.edca.ap]` and `[mac.edca.stations]`",
    "EdcaCategory": "`[mac.edca.ap.AC_VO]`, `[mac.edca.stations.AC_BE]` and the like",
    "Classify": "`[mac.classify]`",
    "Ap": "`[ap]`",
    "Queue": "`queue`, of `[ap]` and of `[[stations]]`",
    "Access": "`access`, of `[ap]`",
    "Stations": "`[[stations]]`",
    "Flow": "`[[flows]]`",
    "Bulk": '`application`, `kind = "bulk"`',
    "Web": '`application`, `kind = "web"`',
    "Ftp": '`application`, `kind = "ftp"`',
    "Udp": '`application`, `kind = "udp"`',
    "Tcp": "`tcp`",
    "Aimd": "`aimd`, of `tcp`",
    "TcpRules": "`rules`, of `tcp`",
    "DelayedAck": "`delayed_ack`, of `tcp`",
    "AckSkip": "`ack_skip`, of `tcp`",
    "Segments": "`receive_window` and `initial_ssthresh`, of `tcp`, as tables",
    "Link": "`[links.NAME]`, and the tables of `path`",
    "Run": "`[run]`",
    "DeterministicSize": '`distribution = "deterministic"`',
    "ExponentialSize": '`distribution = "exponential"`',
    "ParetoSize": '`distribution = "pareto"`',
    "HyperexponentialSize": '`distribution = "hyperexponential"`',
    "LognormalSize": '`distribution = "lognormal"`',
    "UniformSize": '`distribution = "uniform"`',
    "Empirical": '`distribution = "empirical"`',
}


def key_table() -> str:
    """Every key of the written form as Markdown: what it holds, its default, the source."""
    whole = schema()
    tables = {"": whole, **whole["$defs"]}
    sections = [
        _section(heading, tables[name], of_size=name.endswith("Size"))
        for name, heading in _SECTIONS.items()
    ]
    return "\n\n".join(sections) + "\n"


def _section(heading: str, table: Schema, *, of_size: bool) -> str:
    rows = []
    for name, key in table["properties"].items():
        source, meaning = key.get("x-source", ""), key.get("description", "")
        cells = (f"`{name}`", _holds(key, of_size), _default(name, table), source, meaning)
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(
        [
            f"### {heading}",
            "",
            table["description"],
            "",
            "| key | holds | default | source | meaning |",
            "| --- | --- | --- | --- | --- |",
            *rows,
        ]
    )


def _default(name: str, table: Schema) -> str:
    default = table["properties"][name].get("x-default")
    if default is None:
        return "must be given"
    return f"`{default}`" if default.startswith('"') and default.count('"') == 2 else str(default)


def _holds(key: Schema, of_size: bool) -> str:
    """The type of a key in words: its unit, its values, its bounds."""
    if "x-unit" in key and key.get("type") != "integer":
        units = "a size, or a time" if of_size else f"text in {key['x-unit']}"
        if key.get("type") == "string":
            return units
        words = [f'`"{choice["const"]}"`' for choice in key["anyOf"] if "const" in choice]
        return f"{', '.join(words) or 'a distribution'}, or {units}"
    if "const" in key:
        return f'`"{key["const"]}"`'
    if "enum" in key:
        return ", ".join(f'`"{value}"`' for value in key["enum"])
    match key.get("type"):
        case "integer":
            return f"whole number{_bounds(key)}" + (
                f" of {key['x-unit']}" if "x-unit" in key else ""
            )
        case "number":
            return f"number{_bounds(key)}"
        case "boolean":
            return "`true`, `false`"
        case "array":
            return "list"
        case "string":
            return "text"
        case _:
            return "text or table" if "oneOf" in key or "anyOf" in key else "table"


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
