"""The parts of airtcp's HTML pages: the document, a tree, tables, lists.

Pages are self-contained, so they can be mailed and read offline. They use the CSS classes of
`style.css`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from airtcp.document.tree import Code, Heading, Items, Lines, Note, Pairs, Part, Table

#: Marks every page written by airtcp, to recognize it later.
GENERATOR: Final = "<meta name='generator' content='airtcp'>"


def document(title: str, parts: Iterable[str]) -> str:
    """Return a page with its parts, which are HTML. The title is plain text."""
    body = "\n".join(parts)
    style = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        "<meta name='color-scheme' content='light dark'>\n"
        f"{GENERATOR}\n"
        f"<title>{escape(title)} - airtcp</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def headed(title: str, stopped: str | None) -> list[str]:
    """Return the heading of a page of runs that `stopped` for a reason."""
    parts = [f"<h1>{escape(title)}</h1>"]
    if stopped == "interrupted":
        parts.append("<p class='warning'>Interrupted: only finished runs are shown.</p>")
    return parts


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: set[int],
    verdict: Container[int] = (),
    prose: Container[int] = (),
) -> str:
    """Return a table of plain text.

    Columns in `numbers` are set as numbers, and columns in `verdict` in the color of their word.
    Columns in `prose` wrap.
    """

    def row(cells: Sequence[str], tag: str) -> str:
        shown = []
        for column, cell in enumerate(cells):
            kind = " class='number'" if column in numbers else " class='nowrap'"
            if column in prose:
                kind = ""
            if column in verdict and tag == "td" and cell:
                # A class from a closed list of words sets the color.
                kind = f" class='verdict {cell.replace(' ', '-')}'"
            # On a narrow screen each cell shows the name of its column.
            named = tag == "td" and column > 0 and head[column] and cell
            name = f" data-head='{escape(head[column])}'" if named else ""
            shown.append(f"<{tag}{kind}{name}>{escape(cell)}</{tag}>")
        first = " class='again'" if tag == "td" and not cells[0] else ""
        return f"<tr{first}>{''.join(shown)}</tr>"

    body = "\n".join(row(cells, "td") for cells in rows)
    return (
        f"<div class='scroll'><table>\n<thead>{row(head, 'th')}</thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def items(sentences: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a list of sentences, each followed by its sources."""
    shown = []
    for sentence, sources in sentences:
        about = f" <span class='muted'>({escape('; '.join(sources))})</span>" if sources else ""
        shown.append(f"<li>{escape(sentence)}{about}</li>")
    return "<ul>\n" + "\n".join(shown) + "\n</ul>"


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a definition list of names and descriptions."""
    rows = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in pairs
    )
    return f"<dl>\n{rows}\n</dl>"


def origin(title: str, provenance: Mapping[str, Any]) -> list[str]:
    """Return the provenance of a result under a heading."""
    packages = ", ".join(f"{name} {number}" for name, number in provenance["packages"].items())
    told = {**provenance, "packages": packages, "file": None}
    parts = [
        f"<h2>{escape(title)}</h2>",
        definitions(
            (key.replace("_", " "), str(value)) for key, value in told.items() if value is not None
        ),
    ]
    if provenance["file"] is not None:
        parts += [
            "<details><summary>As a file, with the changes of the command line</summary>",
            f"<pre>{escape(provenance['file'])}</pre></details>",
        ]
    return parts


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
        elif isinstance(part, Pairs):
            yield definitions(part.rows)
        elif isinstance(part, Items):
            yield items(part.rows)
        else:
            yield _table(part)
            yield from (f"<p class='muted'>{escape(text)}</p>" for text, _ in part.foot)


def _table(part: Table) -> str:
    columns = list(enumerate(part.columns))
    # Blanks at the beginning of a row say that it belongs to the row above.
    rows = [(first.replace("  ", "\N{NO-BREAK SPACE} ", 1), *more) for first, *more in part.rows]
    return table(
        [column.head.strip() for column in part.columns],
        rows,
        {place for place, column in columns if column.right},
        {place for place, column in columns if column.verdict},
        {place for place, column in columns if column.prose},
    )
