"""A tree as elements, and elements as HTML.

`airtcp web` gets elements as JSON. Reports are HTML, self-contained, so that they can be mailed and
read offline; they use the CSS classes of `style.css`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final, TypeAlias

from airtcp.document.tree import Code, Column, Heading, Items, Lines, Note, Pairs, Part, Table

#: `[tag, attributes, *children]`. A child is an element or a text.
Element: TypeAlias = list[Any]

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


def element(tag: str, attributes: Mapping[str, Any] | None = None, *children: Any) -> Element:
    """Return an element: `[tag, attributes, *children]`, of elements and texts.

    Children may be lists of children. Those that are None or False are left out, and so are
    attributes.
    """
    kept = {name: one for name, one in (attributes or {}).items() if one not in (None, False)}
    return [tag, kept, *_flat(children)]


def _flat(children: Iterable[Any]) -> Iterator[Any]:
    for child in children:
        if isinstance(child, list) and not _is_element(child):
            yield from _flat(child)
        elif child is not None and child is not False:
            yield child if isinstance(child, list) else str(child)


def _is_element(child: Element) -> bool:
    return len(child) > 1 and isinstance(child[0], str) and isinstance(child[1], dict)


def written(one: Element | str) -> str:
    """Return an element as HTML; its texts are escaped."""
    if isinstance(one, str):
        return escape(one)
    tag, attributes, *children = one
    named = "".join(
        f" {name}" if value is True else f" {name}='{escape(str(value))}'"
        for name, value in attributes.items()
    )
    return f"<{tag}{named}>{''.join(map(written, children))}</{tag}>"


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: set[int],
    verdict: Container[int] = (),
    prose: Container[int] = (),
) -> str:
    """Return a table of plain text as HTML; columns are described by their places."""
    columns = [
        Column(name, right=place in numbers, prose=place in prose, verdict=place in verdict)
        for place, name in enumerate(head)
    ]
    return written(tabled(Table(columns, list(rows))))


def tabled(found: Table, caption: str = "") -> Element:
    """Return a table, with a `caption` for screen readers.

    On a narrow screen each cell shows the name of its column.
    """
    heads = [one.head.strip() for one in found.columns]

    def cell(place: int, text: str) -> Element:
        column = found.columns[place]
        kind = "number" if column.right else None if column.prose else "nowrap"
        if column.verdict and text:
            # A class from a closed list of words sets the color.
            kind = f"verdict {text.replace(' ', '-')}"
        named = heads[place] if place and text else None
        return element("td", {"class": kind, "data-head": named or None}, text)

    # A column without a name has no header: screen readers would announce an empty one.
    named = [
        element("th", {"class": "number" if column.right else "nowrap", "scope": "col"}, head)
        if head
        else element("td")
        for column, head in zip(found.columns, heads, strict=True)
    ]
    # Blanks at the beginning of a row say that it belongs to the row above.
    rows = [(first.replace("  ", "\N{NO-BREAK SPACE} ", 1), *more) for first, *more in found.rows]
    body = [
        element(
            "tr",
            {"class": None if row[0] else "again"},
            [cell(place, text) for place, text in enumerate(row)],
        )
        for row in rows
    ]
    region = {"tabindex": "0", "role": "region", "aria-label": caption} if caption else {}
    return element(
        "div",
        {"class": "scroll"} | region,
        element(
            "table",
            {},
            element("caption", {"class": "visually-hidden"}, caption) if caption else None,
            element("thead", {}, element("tr", {}, named)),
            element("tbody", {}, body),
        ),
    )


def listed(lines: Iterable[Any]) -> Element:
    """Return a list with bullets."""
    return element("ul", {}, [element("li", {}, one) for one in lines])


def sourced(found: Items) -> Element:
    """Return a list of sentences, each followed by its sources."""
    return listed(
        [one, element("span", {"class": "muted"}, f" ({'; '.join(of)})") if of else None]
        for one, of in found.rows
    )


def items(sentences: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a list of sentences, each followed by its sources, as HTML."""
    return written(sourced(Items(list(sentences))))


def pairs(found: Pairs) -> Element:
    """Return a definition list of names and descriptions."""
    rows = [
        element("div", {}, element("dt", {}, name), element("dd", {}, text))
        for name, text in found.rows
    ]
    return element("dl", {}, rows)


def definitions(rows: Iterable[tuple[str, str]]) -> str:
    """Return a definition list of names and descriptions as HTML."""
    return written(pairs(Pairs(list(rows))))


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
    return map(written, elements(parts))


def elements(parts: Iterable[Part], caption: str = "") -> Iterator[Element]:
    """Yield each part as an element; `caption` describes tables to screen readers."""
    for part in parts:
        if isinstance(part, Heading):
            yield element("h2", {}, part.text)
        elif isinstance(part, Lines):
            yield _lines(part)
        elif isinstance(part, Note):
            yield element("p", {"class": "muted"}, part.text)
        elif isinstance(part, Code):
            yield element("pre", {}, "\n".join(part.lines))
        elif isinstance(part, Pairs):
            yield pairs(part)
        elif isinstance(part, Items):
            yield sourced(part)
        else:
            yield tabled(part, caption)
            yield from (element("p", {"class": "muted"}, text) for text, _ in part.foot)


def _lines(part: Lines) -> Element:
    rows = []
    labels = part.labels or [None] * len(part.lines)
    for (text, state), label in zip(part.lines, labels, strict=True):
        kind = f"state {_CLASSES[state]}" if state in _CLASSES else None
        name = (label or "").strip()
        rows.append(
            element("li", {"class": kind}, [element("b", {}, name), " "] if name else None, text)
        )
    return element("ul", {"class": "answer note"}, rows)
