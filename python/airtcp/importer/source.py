"""A file as text: size limits, compression, JSON; and errors with file and place.

All errors are ScenarioError.
"""

from __future__ import annotations

import codecs
import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from airtcp import phrases
from airtcp.exceptions import ScenarioError, one_line


def phrase(name: str, /, **values: object) -> str:
    """Return the sentence `importer.NAME`."""
    return phrases.phrase(f"importer.{name}", **values)


#: The most bytes read from a file, after decompression.
MOST_BYTES: Final = 64 * 2**20

_GZIP: Final = b"\x1f\x8b"
KINDS: Final = phrase("source.kinds")
_SHOWN: Final = 40
#: A MAC address, an IPv6 address, an IPv4 address.
_ADDRESS: Final = re.compile(
    r"(?i)(?<![0-9a-f])(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}"
    r"|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:)+(?::[0-9a-f]{1,4})+|\d{1,3}(?:\.\d{1,3}){3})(?![0-9a-f])"
)


def without_addresses(text: str) -> str:
    """Return a text from a file, or a file's name, with the word "address" for each address."""
    return _ADDRESS.sub("address", text)


@dataclass(frozen=True)
class Source:
    """A file that was read: its name as given by the user, and its text."""

    name: str
    text: str

    @property
    def short(self) -> str:
        """The name without its directory and without addresses, for comments."""
        return without_addresses(one_line(Path(self.name).name))

    def lines(self) -> Iterator[tuple[int, str]]:
        """Iterate over the lines that are not blank, each with its number from 1."""
        numbered = enumerate(self.text.splitlines(), 1)
        return ((number, line) for number, line in numbered if line.strip())

    def error(self, place: str, message: str) -> ScenarioError:
        """Return an error about a place in the file: a line, or a path of keys."""
        return ScenarioError(self.name, place, message)


def read(path: Path) -> Source:
    """Return the text of a file, plain or compressed with gzip.

    Raises ScenarioError: unreadable, too large, damaged, or binary.
    """
    name = str(path)
    try:
        with path.open("rb") as file:
            first = file.peek(4)[:2] if hasattr(file, "peek") else b""
            if first == _GZIP:
                with gzip.open(file) as unpacked:
                    data = unpacked.read(MOST_BYTES + 1)
            else:
                data = file.read(MOST_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ScenarioError(name, "", phrase("source.damaged", error=error)) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ScenarioError(name, "", phrase("source.not_readable", reason=reason)) from error
    if len(data) > MOST_BYTES:
        raise ScenarioError(name, "", phrase("source.too_large", most=MOST_BYTES // 2**20))
    try:
        # PowerShell redirects as UTF-16.
        is_wide = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        # netsh and ping of a Windows that is not English write in the code page of their console.
        if re.search(rb"(?m)^ *BSSID 1 *: |\dms TTL=\d", data):
            return Source(name, data.decode("latin-1"))
        line = data[: error.start].count(b"\n") + 1
        raise ScenarioError(name, f"line {line}", phrase("source.not_utf8", kinds=KINDS)) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ScenarioError(name, f"line {line}", phrase("source.binary", kinds=KINDS))
    if not text.strip():
        raise ScenarioError(name, "", phrase("source.empty", kinds=KINDS))
    return Source(name, text)


def shown(value: object) -> str:
    """Format a value of a file for a message: short, texts in quotes."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = value if isinstance(value, str) else json.dumps(value)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return f'"{text}"' if isinstance(value, str) else text


def whole(source: Source, place: str, value: str, least: int, most: int) -> int:
    """Parse an integer of a configuration. Raises ScenarioError."""
    text = value.strip()
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise source.error(
            place, phrase("source.not_whole", value=shown(value), least=least, most=most)
        )
    if not least <= int(text) <= most:
        raise source.error(place, phrase("source.out_of_bounds", text=text, least=least, most=most))
    return int(text)


def word(source: Source, place: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return a word of a closed set. Raises ScenarioError."""
    if value not in allowed:
        words = ", ".join(allowed)
        raise source.error(place, phrase("source.unknown_word", value=shown(value), words=words))
    return value


def parse_json(source: Source) -> Node:
    """Parse the JSON of a file. Raises ScenarioError with the line of the error."""
    try:
        value = json.loads(source.text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and source.text[error.pos] in "{[":
            message = phrase("source.second_result")
            raise source.error(f"line {error.lineno}", message) from error
        raise source.error(
            f"line {error.lineno}", phrase("source.not_json", msg=error.msg)
        ) from error
    except RecursionError as error:
        raise source.error("", phrase("source.too_deep")) from error
    except ValueError as error:
        raise source.error("", phrase("source.long_number")) from error
    return Node(source, "", value)


@dataclass(frozen=True)
class Node:
    """A value in a JSON file, with its path of keys."""

    source: Source
    path: str
    value: Any

    def get(self, *keys: str) -> Node:
        """Return the value under keys, None if it is missing.

        Raises ScenarioError at a non-table.
        """
        node = self
        for key in keys:
            if node.value is None:
                return Node(self.source, f"{node.path}.{key}", None)
            table = node.table()
            node = Node(self.source, f"{node.path}.{key}".lstrip("."), table.get(key))
        return node

    def table(self) -> dict[str, Any]:
        """Return the value as a table; empty if it is missing. Raises ScenarioError."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.wrong("a table")
        return self.value

    def items(self) -> list[Node]:
        """Return the values of a list; empty if it is missing. Raises ScenarioError."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [Node(self.source, f"{self.path}[{i}]", one) for i, one in enumerate(self.value)]

    def text(self) -> str:
        """Return the value as text; "" if it is missing. Raises ScenarioError."""
        if self.value is None:
            return ""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def number(self, *, least: float = 0.0, most: float = 1e15) -> float | None:
        """Return the value as a finite number within bounds, None if it is missing.

        Raises ScenarioError.
        """
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong("a number")
        if not least <= self.value <= most or not math.isfinite(self.value):
            raise self.wrong(f"{least:g} to {most:g}")
        return float(self.value)

    def needed(self, *, least: float = 0.0, most: float = 1e15) -> float:
        """Return the value as a number, which must exist. Raises ScenarioError."""
        number = self.number(least=least, most=most)
        if number is None:
            raise self.source.error(self.path, phrase("source.no_number"))
        return number

    def wrong(self, allowed: str) -> ScenarioError:
        """Return the error that the value is not one of the allowed ones."""
        return self.source.error(
            self.path,
            phrase("source.not_allowed", value=shown(self.value), allowed=allowed),
        )
