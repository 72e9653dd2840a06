"""Make the tables of docs/scenario-files.md: all keys of scenario files.

Knows where each table of the schema stands in a file. Does not know keys: they are declared in
`airtcp.scenario.keys`.

    .venv/bin/python docs/make_keys.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tables
from airtcp.scenario import schema

PAGE = Path(__file__).parent / "scenario-files.md"

Schema = dict[str, Any]

# Where each table of the schema stands in a file; distributions of sizes stand for those of times.
SECTIONS = {
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


def keys() -> str:
    """Every key of the written form as Markdown: what it holds, its default, the source."""
    whole = schema()
    known = {"": whole, **whole["$defs"]}
    sections = [
        _section(heading, known[name], of_size=name.endswith("Size"))
        for name, heading in SECTIONS.items()
    ]
    return "\n\n".join(sections)


def _section(heading: str, table: Schema, *, of_size: bool) -> str:
    rows = []
    for name, key in table["properties"].items():
        source, meaning = key.get("x-source", ""), key.get("description", "")
        rows.append((f"`{name}`", _holds(key, of_size), _default(name, table), source, meaning))
    head = ("key", "holds", "default", "source", "meaning")
    return f"### {heading}\n\n{table['description']}\n\n{tables.markdown(head, rows)}"


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


TABLES = {"keys": keys}


def with_table(page: str, name: str) -> str:
    """The page with the table made anew."""
    return tables.put(page, name, TABLES[name]())


if __name__ == "__main__":
    tables.remake(PAGE, TABLES)
