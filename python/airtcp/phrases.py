"""Sentences by identifier: the templates of `messages/ROOM.toml`, with quantities filled in.

Code names a sentence and passes numbers and names; editors change the English in the files. A
template formats a quantity after a colon: `{wait:time_ns}`, `{names:quoted}`, `{share:.3g}`.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

_MESSAGES: Final = Path(__file__).with_name("messages")


class Phrase(str):
    """A sentence that knows its identifier, such as `scenario.tcp.small_window`, and its values."""

    id: str = ""
    values: Mapping[str, Any] = {}


class _Formatter(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        own = _formats().get(format_spec)
        return format(value, format_spec) if own is None else own(value)


@cache
def _formats() -> Mapping[str, Callable[[Any], str]]:
    """Return what a template can write after a colon besides Python's format specifications.

    `import airtcp` imports this module, so slow imports are local.
    """
    from airtcp.amounts import percent
    from airtcp.units import format_rate, format_size, format_time_ns, format_time_s

    return {
        "time_ns": format_time_ns,
        "time_s": format_time_s,
        "rate": format_rate,
        "size": format_size,
        "percent": percent,
        "list": ", ".join,
        "and": " and ".join,
        "quoted": lambda values: ", ".join(f'"{value}"' for value in values),
    }


def phrase(identifier: str, /, **values: object) -> str:
    """Return the sentence `ROOM.SUBJECT.NAME` with its quantities, as a `Phrase`."""
    room, *keys = identifier.split(".")
    template: Any = _templates(room)
    for key in keys:
        template = template[key]
    found = Phrase(_Formatter().vformat(template, (), values))
    found.id, found.values = identifier, values
    return found


@cache
def _templates(room: str) -> dict[str, Any]:
    return tomllib.loads(_MESSAGES.joinpath(f"{room}.toml").read_text(encoding="utf-8"))
