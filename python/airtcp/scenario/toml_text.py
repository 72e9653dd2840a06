"""Read and write the written form of a scenario as TOML text.

Reading a written text returns the same data.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from airtcp.phrases import phrase

_BARE = re.compile(r"[A-Za-z0-9_-]+")
#: A text that TOML does not read as anything else: it begins with a letter and is no TOML word.
_BARE_VALUE = re.compile(r"(?!(true|false|inf|nan)\b)[A-Za-z][A-Za-z0-9_.-]*")

#: The maximum number of parts of a dotted key. Keys of a scenario have fewer than ten.
MOST_PARTS: Final = 32
#: Tokens: texts, comments, bare words and single signs. An unterminated multiline text counts as
#: signs.
_TOKENS: Final = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"""|\'\'\''''
    r"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[A-Za-z0-9_-]+|[ \t]+|.""",
    re.DOTALL,
)


def parse(text: str) -> dict[str, Any]:
    """Read TOML as `tomllib` does, with a limit on the parts of a key.

    The time of `tomllib` grows with the cube of the number of parts.

    Raises ValueError for invalid TOML, and for a key of more than `MOST_PARTS` parts;
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
            return  # `tomllib` reports the error, and reads nothing after it
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
            raise ValueError(phrase("scenario.file.long_key", most=MOST_PARTS, line=line))


def dumps(data: Mapping[str, Any]) -> str:
    """Return the TOML text of tables such as `tomllib` returns.

    Tables of tables, and lists of tables, have headers on the first level. Deeper ones are inline.
    """
    return "\n".join(_lines(data)).strip() + "\n"


def value_text(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # Python writes 1e-05 and inf as TOML does. A float without a decimal point remains a float.
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key_text(name)} = {value_text(one)}" for name, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(value_text(one) for one in value)}]"
    return str(value.isoformat())  # a date: no key takes one, and the scenario reports that


def option_text(value: Any) -> str:
    """Return a value for `--set`: a text that is no TOML stays bare, and "none" removes a key."""
    if value is None:
        return "none"
    if isinstance(value, str) and _BARE_VALUE.fullmatch(value):
        return value
    return value_text(value)


def option_value(text: str) -> Any:
    """Read a value of `--set`; one that is not TOML is a text."""
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
    """Return a key as TOML, quoted if necessary."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # JSON's escapes are valid in TOML, except that TOML requires DEL to be escaped and JSON does
    # not.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
