"""Render a tree as HTML for reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Final

from airtcp.document.page import table
from airtcp.document.tree import Code, Heading, Lines, Note

if TYPE_CHECKING:
    from airtcp.document.tree import Part

#: CSS classes of lines by state.
_CLASSES: Final = {"good": "holds", "bad": "fails", "open": "unknown", "dim": "muted"}


def html(parts: Iterable[Part]) -> Iterator[str]:
    """Yield each part as HTML."""
    for part in parts:
        if isinstance(part, Heading):
            yield f"<h2>{escape(part.text)}</h2>"
        elif isinstance(part, Lines):
            yield "<ul class='answer note'>"
            for place, (text, state) in enumerate(part.lines):
                label = (part.labels[place] or "").strip() if part.labels else ""
                kind = f" class='state {_CLASSES[state]}'" if state in _CLASSES else ""
                named = f"<b>{escape(label)}</b> " if label else ""
                yield f"<li{kind}>{named}{escape(text)}</li>"
            yield "</ul>"
        elif isinstance(part, Note):
            yield f"<p class='muted'>{escape(part.text)}</p>"
        elif isinstance(part, Code):
            yield f"<pre>{escape(chr(10).join(part.lines))}</pre>"
        else:
            numbers = {place for place, column in enumerate(part.columns) if column.right}
            yield table([column.head.strip() for column in part.columns], part.rows, numbers)
            yield from (f"<p class='muted'>{escape(text)}</p>" for text, _ in part.foot)
