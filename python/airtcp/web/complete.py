"""Completion in the text of a scenario: the keys and values that the schema allows at a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from airtcp.scenario import schema
from airtcp.scenario.schema import Schema, holds

#: The most completions returned.
MOST: Final = 60
#: The pieces of TOML that matter for a place: comments, strings, words, signs, ends of lines.
_TOKEN: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|#[^\n]*|[\w.+-]+|[\[\]{}=,\n]|[^\S\n]+|.',
    re.DOTALL,
)
_WORD: Final = re.compile(r"[\w+-]+")
_HEADER: Final = re.compile(r"\[\[?([^\[\]\n]*)\]{0,2}[^\S\n]*(?:#[^\n]*)?(?:\n|\Z)")


class _Place:
    """A place in a text: the key path of its table, and whether a key or a value is due."""

    def __init__(self, before: str) -> None:
        self.table: list[str] = []
        self.kind = "key"
        self.key: list[str] = []
        #: What is typed already, with its opening quote.
        self.typed = ""
        self._open: list[tuple[str, list[str]]] = []
        self._valued = False
        at, fresh = 0, True
        while at < len(before):
            if fresh and not self._open and (header := _HEADER.match(before, at)):
                self.table = _steps(header[1])
                self.kind, self.key = "key", []
                at = header.end()
                if not header[0].endswith("\n"):
                    self._in_header(header)
                continue
            token = _TOKEN.match(before, at)
            assert token is not None  # the last alternative matches any character
            at = token.end()
            fresh = token[0] == "\n" or (fresh and token[0].isspace())
            self._take(token[0])

    @property
    def path(self) -> list[str]:
        """The key path of the table around the place, or of the value that is due."""
        inner = self._open[-1][1] if self._open else self.table
        return [*inner, *self.key] if self.kind == "value" else inner

    def _in_header(self, header: re.Match[str]) -> None:
        if "]" in header[0]:
            self.kind = ""
            return
        *self.table, self.typed = header[1].strip().split(".") if header[1].strip() else [""]
        self.kind = "header"

    def _take(self, token: str) -> None:
        self.typed = ""
        valued, self._valued = self._valued, False
        if token.startswith("#"):
            self.kind, self.typed = ("", "") if not self._open else (self.kind, token)
        elif token in "{[":
            # An entry of a list has the path of the list.
            self._open.append((token, self.path))
            self.kind, self.key = ("key", []) if token == "{" else ("value", [])
        elif token in "}]":
            if self._open:
                self._open.pop()
            self.kind, self.key = "", []
        elif token == "=":
            self.kind = "value"
        elif token == ",":
            in_list = bool(self._open) and self._open[-1][0] == "["
            self.kind, self.key = ("value" if in_list else "key"), []
        elif token == "\n":
            if not self._open:
                self.kind, self.key = "key", []
        elif token.isspace():
            # A value that is followed by a space is finished.
            self.kind = "" if valued else self.kind
        else:
            self.typed = token
            self._valued = self.kind == "value"
            if self.kind == "key":
                self.key = _steps(token)


def complete(before: str) -> dict[str, Any]:
    """Return what may stand at the end of a text, as far as it is typed.

    Args:
        before: the text of a scenario up to the caret.

    Returns:
        `typed`: how many characters before the caret a completion replaces; `options`: each with
        `text`, `insert` and `about`.
    """
    place = _Place(before)
    typed = place.typed
    if not place.kind or typed.startswith("#") or (place.kind == "value" and not place.path):
        return {"typed": 0, "options": []}
    if place.kind == "value":
        found = list(_values(_at(place.path)))
    else:
        *inner, typed = typed.split(".")
        tables = _at([*place.path, *inner])
        found = list(_keys(tables, only_tables=place.kind == "header"))
    start = typed.strip("\"'").lower()
    fits = [one for one in found if start in one["text"].lower() and one["insert"] != typed]
    fits.sort(key=lambda one: not one["text"].lower().startswith(start))
    return {"typed": len(typed), "options": fits[:MOST]}


def _steps(path: str) -> list[str]:
    return [step.strip().strip("\"'") for step in path.split(".") if step.strip()]


@lru_cache(maxsize=1)
def _whole() -> Schema:
    return schema()


def _forms(node: Schema) -> Iterator[Schema]:
    """Yield the forms that a value may have, with references resolved."""
    if "$ref" in node:
        target = _whole()["$defs"][node["$ref"].rpartition("/")[2]]
        yield from _forms({**target, **{k: v for k, v in node.items() if k != "$ref"}})
        return
    choices = [*node.get("oneOf", ()), *(c for c in node.get("anyOf", ()) if "required" not in c)]
    if not choices:
        yield node
    for choice in choices:
        yield from _forms(choice)


def _at(path: list[str]) -> list[Schema]:
    """Return the forms of the schema at a key path; entries of lists stand for their list."""
    here = list(_forms(_whole()))
    for step in path:
        inner = []
        for form in _entries(here):
            others = [*form.get("patternProperties", {}).values()]
            child = form.get("properties", {}).get(step) or next(iter(others), None)
            if child is not None:
                inner.append(child)
        here = [form for child in inner for form in _forms(child)]
    return _entries(here)


def _entries(forms: list[Schema]) -> list[Schema]:
    """Replace lists by their entries."""
    return [
        entry for form in forms for entry in (_forms(form["items"]) if "items" in form else [form])
    ]


def _keys(forms: list[Schema], *, only_tables: bool) -> Iterator[dict[str, str]]:
    seen = set()
    for form in forms:
        for name, key in form.get("properties", {}).items():
            is_table = any("properties" in one for one in _entries(list(_forms(key))))
            if name in seen or (only_tables and not is_table):
                continue
            seen.add(name)
            default = key.get("x-default", "must be given")
            yield {
                "text": name,
                "insert": name if only_tables else f"{name} = ",
                "about": f"{key.get('description', '')} Default: {default}.",
            }


def _values(forms: list[Schema]) -> Iterator[dict[str, str]]:
    seen = set()
    for form in forms:
        words = form.get("enum") or [form["const"]] if "const" in form or "enum" in form else []
        if form.get("type") == "boolean":
            words = ["true", "false"]
        texts = [word if form.get("type") == "boolean" else _quoted(word) for word in words]
        if "properties" in form:
            texts = ["{ "]
        elif not texts:
            # The default is a better example than one of the unit.
            told = re.match(r'"[^"]*"|\d\S*', form.get("x-default", ""))
            texts = [told[0]] if told else [_quoted(one) for one in form.get("examples", [])]
        for text in texts:
            if text not in seen:
                seen.add(text)
                about = form.get("description", "") if "properties" in form else holds(form)
                if words:
                    about = "default" if text == form.get("x-default") else ""
                yield {"text": text.strip().strip('"'), "insert": text, "about": about}


def _quoted(word: Any) -> str:
    return f'"{word}"' if isinstance(word, str) else str(word)
