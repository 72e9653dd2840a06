"""The answer of a report in HTML: verdict, targets, what was measured, problems and what was tried.

Knows the order in which a reader asks, and tags. Judges and tries nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from airtcp.present import measured
from airtcp.present import verdict as words
from airtcp.present.advice import effect_line, equipment, headline, others, settings
from airtcp.present.answer import experience, first_lines
from airtcp.present.gaps import explanation_line, gap_lines
from airtcp.present.markup import table
from airtcp.results import Comparison, SimulationResult
from airtcp.results.advice import Advice, Advised
from airtcp.results.measured import Gap, Measured


def answered(result: Comparison | SimulationResult) -> list[str]:
    """The first lines of a report: the verdict if there is one, and a row for each target."""
    verdict = result.verdict if isinstance(result, Comparison) else None
    judged = isinstance(result, Comparison) and result.advice is not None
    lines = experience(result) if judged else first_lines(result)
    parts = []
    if verdict is not None:
        lines = [*words.lines(verdict, result), *words.growth_lines(verdict), *lines]
        shown = escape(words.headline(verdict))
        parts.append(f"<p class='state {verdict.state} note'>{shown}</p>")
    parts += ["<ul class='answer note'>", *(f"<li>{escape(line)}</li>" for line in lines), "</ul>"]
    if verdict is not None and len(verdict.targets) > 1:
        parts += ["<h2 id='targets'>Targets</h2>", table(words.HEAD, words.rows(verdict), {1, 2})]
    return parts


def beside_measured(beside: Measured) -> list[str]:
    """The measured values with the answers about them, and what would explain the gap."""
    parts = ["<h2 id='measured'>Measured beside the answer</h2>"]
    rows = [
        (f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{by}" if by else name, value, off, verdict)
        for name, by, value, off, verdict in measured.rows(beside)
    ]
    if rows:
        parts.append(table(measured.head(beside), rows, numbers={1, 2}, verdict={3}))
    parts += [f"<p class='muted'>Nothing stands beside {escape(one)}</p>" for one in beside.without]
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
    """The problems, what was tried against each, and how to do what helps best."""
    parts = ["<h2 id='wrong'>What is wrong, and what was tried</h2>"]
    if not advice.problems:
        return [*parts, "<p>Nothing stands out as wrong.</p>"]
    for one in advice.problems:
        parts += _problem(one)
    best = advice.best
    if best is not None:
        lines = "\n".join([settings(best.set), *equipment(best.apply, best.notes)])
        parts += [f"<h3>Try it: {escape(best.title)}</h3>", f"<pre>{escape(lines)}</pre>"]
    return parts


def _problem(one: Advised) -> Iterator[str]:
    yield f"<h3>{escape(headline(one))}</h3>"
    if not one.remedies:
        yield "<p class='muted'>Nothing was tried against it.</p>"
        return
    yield "<ul>"
    for trial in one.remedies:
        more = "".join(f"<br><span class='muted'>{escape(line)}</span>" for line in others(trial))
        yield f"<li>{escape(effect_line(one, trial))}{more}</li>"
    yield "</ul>"
