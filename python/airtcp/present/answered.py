"""The answer of a report in HTML: the document of `airtcp.messages.run`, and measured values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from airtcp.document.markup import html
from airtcp.document.page import table
from airtcp.messages import run as words
from airtcp.present import measured
from airtcp.present.gaps import explanation_line, gap_lines
from airtcp.results import Comparison, SimulationResult
from airtcp.results.advice import Advice
from airtcp.results.measured import Gap, Measured


def answered(result: Comparison | SimulationResult, picture: Sequence[str] = ()) -> list[str]:
    """Return the decision, a picture below it, and the targets."""
    verdict = result.verdict if isinstance(result, Comparison) else None
    advice = result.advice if isinstance(result, Comparison) else None
    parts = [*html([words.decision(result, verdict, advice)]), *picture]
    if verdict is not None and verdict.targets:
        parts += ["<h2 id='targets'>Targets</h2>", *html(words.targets(verdict, everything=True))]
    return parts


def grouped(result: Comparison | SimulationResult) -> list[str]:
    """Return the results of every group, and how airtime is used."""
    return ["<h2 id='groups'>Groups</h2>", *html([words.groups(result)])]


def beside_measured(beside: Measured) -> list[str]:
    """Return the measured values, the simulated and predicted ones, and explanations of the gap."""
    parts = ["<h2 id='measured'>Measured values</h2>"]
    rows = [
        (f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{by}" if by else name, value, off, verdict)
        for name, by, value, off, verdict in measured.rows(beside)
    ]
    if rows:
        parts.append(table(measured.head(beside), rows, numbers={1, 2}, verdict={3}))
    parts += [f"<p class='muted'>Not compared: {escape(one)}</p>" for one in beside.without]
    parts += [f"<p>{escape(line)}</p>" for line in measured.unfollowed(beside)]
    return parts if beside.gap is None else [*parts, *_gap(beside.gap)]


def _gap(gap: Gap) -> Iterator[str]:
    yield from (f"<p>{escape(line)}</p>" for line in gap_lines(gap))
    if not gap.best:
        return
    yield "<ol>"
    for one in gap.best:
        lines = "\n".join(measured.how(one))
        yield f"<li>{escape(explanation_line(one))}<pre>{escape(lines)}</pre></li>"
    yield "</ol>"


def advised(advice: Advice) -> list[str]:
    """Return the changes that were tried, and how to apply the best one."""
    parts = list(html(words.changes(advice, everything=True)))
    return ["<h2 id='wrong'>Changes tried</h2>", *parts] if parts else []
