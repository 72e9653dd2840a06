"""The written form of a scenario as TOML text.

Knows the tables, lists and values that `tomllib` reads. Does not know keys. What is read back is
what was written.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_BARE = re.compile(r"[A-Za-z0-9_-]+")
#: A text that TOML does not read as anything else: it begins with a letter, and is no word of it.
_BARE_VALUE = re.compile(r"(?!(true|false|inf|nan)\b)[A-Za-z][A-Za-z0-9_.-]*")

#: The parts of a dotted key: no key of a scenario has as many as ten.
MOST_PARTS: Final = 32
#: Texts, comments, bare words and single signs. Texts of several lines that do not end are signs.
_TOKENS: Final = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"""|\'\'\''''
    r"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[A-Za-z0-9_-]+|[ \t]+|.""",
    re.DOTALL,
)


def parse(text: str) -> dict[str, Any]:
    """Read TOML, as `tomllib` does, whose time grows with the cube of the parts of a key.

    Raises ValueError for what is no TOML, and for a key of more than `MOST_PARTS` parts;
    RecursionError for tables that are nested too deeply.
    """
    if max(line.count(".") for line in text.split("\n")) >= MOST_PARTS:
        _check_parts(text)
    return tomllib.loads(text)


def _check_parts(text: str) -> None:
    parts, after_dot = 0, False
    for found in _TOKENS.finditer(text):
        token = found[0]
        if token in ('"""', "'''"):
            return  # which `tomllib` says, and reads nothing after it
        if token[0] in " \t":
            continue
        if token == ".":
            after_dot = True
            continue
        is_part = token[0] in "\"'" or token[0].isalnum() or token[0] in "_-"
        parts = parts * after_dot + 1 if is_part else 0
        after_dot = False
        if parts > MOST_PARTS:
            line = text.count("\n", 0, found.start()) + 1
            raise ValueError(f"a key has more than {MOST_PARTS} parts (at line {line}, column 1)")


def dumps(data: Mapping[str, Any]) -> str:
    """The TOML text of tables such as `tomllib` reads them.

    Tables of tables and lists of tables have headers of their own on the first level; what is
    deeper stands in line.
    """
    return "\n".join(_lines(data)).strip() + "\n"


def value_text(value: Any) -> str:
    """A value as TOML has it on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # Python writes 1e-05 and inf as TOML reads them; a float without a point stays a float.
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key_text(name)} = {value_text(one)}" for name, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(value_text(one) for one in value)}]"
    return str(value.isoformat())  # a date, which no key takes, and the scenario says so


def option_text(value: Any) -> str:
    """A value as `--set` reads it: a text that is no TOML stands bare, and none takes a key out."""
    if value is None:
        return "none"
    if isinstance(value, str) and _BARE_VALUE.fullmatch(value):
        return value
    return value_text(value)


def option_value(text: str) -> Any:
    """A value as `--set` has it; one that is not TOML is a text."""
    try:
        read = parse(f"value = {text}")
    except ValueError:
        return text.strip()
    return read["value"] if len(read) == 1 else text


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    later = []
    for name, value in data.items():
        if isinstance(value, Mapping) or _is_tables(value):
            later.append((name, value))
        else:
            yield f"{key_text(name)} = {value_text(value)}"
    for name, value in later:
        for header, table in (
            [(f"[{key_text(name)}]", value)]
            if isinstance(value, Mapping)
            else [(f"[[{key_text(name)}]]", one) for one in value]
        ):
            yield ""
            yield header
            yield from (f"{key_text(key)} = {value_text(one)}" for key, one in table.items())


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def key_text(name: str) -> str:
    """A key as TOML has it, quoted where it must be."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped and JSON does not.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
