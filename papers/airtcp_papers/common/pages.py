"""Pages of the results: one per paper, and an overview. Uses records and claims; makes no item.

Each figure has our caption, the paper's claim, the result, the verdicts, and its scenario. Pages
are self-contained: pictures are inline and nothing is loaded.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from airtcp.document.page import definitions, document, table
from airtcp.exceptions import OutputError
from airtcp.files import prepare, write_files
from airtcp.present.drawing import inlined

from airtcp_papers.common.catalogue import SOURCES, items
from airtcp_papers.common.claims import (
    REPORTED,
    Judgement,
    Rules,
    judge,
    load_claims,
    load_rules,
    tally,
)
from airtcp_papers.common.item import Item
from airtcp_papers.common.make import Record, record_of, value_of
from airtcp_papers.common.measure import words
from airtcp_papers.common.scoreboard import Row, picture, rows, thumbnail, with_kept

#: Longer tables are not shown; their rows are in the CSV.
_MOST_ROWS = 40


def judgements(out: Path) -> list[Judgement]:
    """Return the verdict on every claim from the records in `out`. Raises OutputError."""
    known = items()
    records = {name: record_of(item, out) for name, item in known.items()}
    return [judge(claim, _values(records.get(claim.item))) for claim in load_claims()]


def write_pages(out: Path, reasons: Mapping[str, str] | None = None) -> list[Path]:
    """Write the page of each paper, and the overview.

    Claims whose items were not made are judged by the numbers that airtcp has. `reasons` says by
    item name why an item could not be made. Raises OutputError.
    """
    known = items()
    records = {name: record_of(item, out) for name, item in known.items()}
    here = judgements(out)
    whole = with_kept(here)
    written = []
    for paper in SOURCES.values():
        mine = [item for item in known.values() if item.paper == paper.letter]
        page = _paper_page(paper.letter, mine, records, here, whole, out, reasons or {})
        prepare(out / paper.letter)
        written += write_files(out / paper.letter, {"index.html": page.encode()})
    top = _top_page(known, records, here, whole, out)
    return [*write_files(out, {"index.html": top.encode()}), *written]


def _values(record: Record | None) -> Mapping[str, Any] | None:
    if record is None:
        return None
    return {name: value_of(kept) for name, kept in record["values"].items()}


def _paper_page(
    letter: str,
    mine: Sequence[Item],
    records: Mapping[str, Record | None],
    here: Sequence[Judgement],
    whole: Sequence[Judgement],
    out: Path,
    reasons: Mapping[str, str],
) -> str:
    paper = SOURCES[letter]
    own = [verdict for verdict in whole if verdict.claim.paper == letter]
    rules = [one for one in load_rules().values() if one.paper == letter]
    title = f"{paper.heading}, made again" if rules else paper.heading
    above = "<a href='../index.html'>All papers</a>"
    parts = [f"<h1>{title}</h1>", f"<p>{escape(paper.citation)}</p>"]
    if rules:
        parts += [
            f"<p>{escape(tally(own))}. {above}</p>",
            _judged_here([verdict for verdict in here if verdict.claim.paper == letter]),
            _matrix(rows(mine, own), records, out, page=""),
            *_failures(own),
            *_rules(rules),
        ]
    else:
        parts.append(f"<p class='muted'>A study of our own: it makes no claims. {above}</p>")
    quick = [record for record in records.values() if record and record["paper"] == letter]
    if any(record["quick"] for record in quick):
        parts.append(
            "<p class='note'>Some items come from a quick run: a quarter of the measured time, "
            "fewer replications, wider intervals.</p>"
        )
    for item in mine:
        record = records[item.name]
        if record is not None:
            about = [verdict for verdict in own if verdict.claim.item == item.name]
            parts += _section(item, record, about, out / letter)
    missing = [item.name for item in mine if records[item.name] is None]
    waiting = [name for name in missing if name not in reasons]
    if waiting:
        parts.append(f"<p class='note'>Not made yet: {escape(', '.join(waiting))}.</p>")
    parts += [
        f"<p class='note'>{escape(name)} is not made: {escape(reasons[name])}.</p>"
        for name in missing
        if name in reasons
    ]
    return document(title, parts)


def _judged_here(here: Sequence[Judgement]) -> str:
    made = sum(one.verdict != "not made" for one in here)
    return (
        f"<p class='muted'>{made} of {len(here)} claims are judged by what was made in this "
        "folder; the others by the numbers that airtcp has with it.</p>"
    )


def _failures(own: Sequence[Judgement]) -> list[str]:
    """Return the list of claims that fail, with reasons; nothing if all are met."""
    failed = [
        one
        for verdict in ("not met", "at the bound", "untestable")
        for one in own
        if one.verdict == verdict
    ]
    if not failed:
        return []
    lines = []
    for one in failed:
        claim = one.claim
        ours = "" if one.ours is None else f"; here {words(one.ours, claim.unit)}"
        lines.append(
            f"<li><b>{escape(claim.id)}</b>, {one.verdict}: the paper says that "
            f"{escape(claim.says)} ({escape(claim.where)}). "
            f"{escape(_capital(claim.quantity))}: "
            f"wanted {escape(claim.states)}{escape(ours)}. {escape(one.about)}. "
            f"Made with {escape(claim.made_with)}.</li>"
        )
    return ["<h2>What does not come out, and why</h2>", "<ul>", *lines, "</ul>"]


def _rules(rules: Sequence[Rules]) -> list[str]:
    """Return the sets of rules that the claims of a paper use."""
    told = [
        (one.name, f"{_capital(one.uses)}. {'Fitted: ' if one.fitted else ''}{_capital(one.why)}.")
        for one in rules
    ]
    return ["<h2>The rules that claims are made with</h2>", definitions(told)]


def _section(item: Item, record: Record, about: Sequence[Judgement], folder: Path) -> list[str]:
    stem = item.stem
    parts = [f"<h2 id='{stem}'>{escape(item.name)}: {escape(item.title)}</h2>"]
    if record["figure"]:
        picture = inlined(_read(folder / f"{stem}.svg"), stem, item.title)
        text = f"{item.caption} {item.printed}".rstrip()
        caption = f"<figcaption>{escape(text)}</figcaption>"
        parts.append(f"<figure class='column'>{picture}{caption}</figure>")
    else:
        parts += [f"<p class='muted'>{escape(item.caption)}</p>", _rows(record)]
    told = [("the paper", item.states), ("here", record["found"])]
    parts.append(definitions(told))
    if about:
        parts.append(_claims(about))
    parts += _scenarios(record, item)
    links = " ".join(f"<a href='{escape(name)}'>{escape(name)}</a>" for name in record["files"])
    parts.append(f"<p class='muted'>Data: {links}</p>")
    return parts


def _rows(record: Record) -> str:
    rows = [[_cell(cell) for cell in row] for row in record["rows"][:_MOST_ROWS]]
    numbers = {
        index
        for index in range(len(record["columns"]))
        if any(isinstance(row[index], int | float) for row in record["rows"])
    }
    return table(record["columns"], rows, numbers)


def _cell(cell: Any) -> str:
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _claims(about: Sequence[Judgement]) -> str:
    head = ["claim", "the paper", "bound", "made with", "ours", "", ""]
    rows = [
        [
            f"{verdict.claim.id}: {verdict.claim.quantity}",
            f"{verdict.claim.says} ({verdict.claim.where})",
            f"{verdict.claim.states}: {verdict.claim.reason}",
            verdict.claim.made_with,
            "–" if verdict.ours is None else words(verdict.ours, verdict.claim.unit),
            verdict.verdict,
            verdict.about,
        ]
        for verdict in about
    ]
    return table(head, rows, numbers={4}, verdict={5}, prose={0, 1, 2, 3, 6})


def _scenarios(record: Record, item: Item) -> list[str]:
    folder = SOURCES[item.paper].folder
    parts = []
    for name, varied in record["scenarios"].items():
        keys = "".join(
            f"<li><code>{escape(path)}</code>: {escape(', '.join(map(_short, values)))}</li>"
            for path, values in varied.items()
        )
        text = _read(folder / f"{name}.toml")
        parts.append(
            f"<details><summary>The scenario: {escape(name)}.toml"
            f"{', varied' if varied else ''}</summary><ul>{keys}</ul><pre>{escape(text)}</pre>"
            "</details>"
        )
    return parts


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_short(part)}" for key, part in value.items()) + " }"
    return str(value)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot read {file}: {error.strerror or error}") from error


def _top_page(
    known: Mapping[str, Item],
    records: Mapping[str, Record | None],
    here: Sequence[Judgement],
    whole: Sequence[Judgement],
    out: Path,
) -> str:
    title = "Five papers, made again"
    judged = {one.paper for one in load_rules().values()}
    links = (f"<a href='#{one.letter}'>{one.heading}</a>" for one in SOURCES.values())
    parts = [
        f"<h1>{title}</h1>",
        f"<p>{' · '.join(links)} · <a href='#claims'>All claims</a></p>",
        f"<p>{escape(tally(whole))}.</p>",
        _judged_here(here),
    ]
    for paper in SOURCES.values():
        mine = [item for item in known.values() if item.paper == paper.letter]
        own = [verdict for verdict in whole if verdict.claim.paper == paper.letter]
        made = [item for item in mine if records[item.name]]
        heading = f"<a href='{paper.letter}/index.html'>{paper.heading}</a>"
        parts += [
            f"<h2 id='{paper.letter}'>{heading}</h2>",
            f"<p>{escape(paper.citation)}</p>",
            f"<p class='muted'>{len(made)} of {len(mine)} items made"
            f"{'; ' + escape(tally(own)) if paper.letter in judged else ''}.</p>",
            _matrix(rows(mine, own), records, out, page=f"{paper.letter}/index.html"),
        ]
    parts.append("<h2 id='claims'>All claims</h2>")
    for verdict in REPORTED:
        some = [judgement for judgement in whole if judgement.verdict == verdict]
        if some:
            summary = f"<summary>{len(some)} {verdict}</summary>"
            parts.append(f"<details>{summary}{_claims(some)}</details>")
    return document(title, parts)


def _matrix(
    some: Sequence[Row], records: Mapping[str, Record | None], out: Path, *, page: str
) -> str:
    """Return a table of figures and tables: picture, verdicts, and a line of reason.

    `page` has the items that were made. The picture is the one made in `out`, or else the one that
    airtcp has.
    """
    lines = []
    for row in some:
        item, record = row.item, records[row.item.name]
        name, drawn = escape(item.name), picture(item)
        if record is not None:
            name = f"<a href='{page}#{item.stem}'>{name}</a>"
            if record["figure"]:
                drawn = _made(out / item.paper / f"{item.stem}.png")
        small = "" if drawn is None else _inline(drawn, item.title)
        told = "<br>".join(
            f"<span class='verdict {verdict.replace(' ', '-')}' "
            f"title='{escape(', '.join(row.named(verdict)))}'"
            f">{count} {verdict}</span>"
            for verdict, count in row.counts.items()
        )
        lines.append(
            f"<tr><td>{name}<br>{escape(item.title)}</td><td>{small}</td>"
            f"<td class='nowrap'>{told}</td><td>{escape(row.line)}</td></tr>"
        )
    head = "".join(f"<th>{word}</th>" for word in ("", "ours", "claims", "number or reason"))
    return (
        f"<div class='scroll'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _made(file: Path) -> bytes:
    try:
        return thumbnail(file.read_bytes())
    except OSError as error:
        raise OutputError(f"cannot read {file}: {error.strerror or error}") from error


def _inline(png: bytes, title: str) -> str:
    small = base64.b64encode(png).decode()
    return f"<img alt='{escape(title)}' width='180' src='data:image/png;base64,{small}'>"
