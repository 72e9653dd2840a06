"""A result on disk: results.json, report.html and the pictures.

Knows files and the page. The page stands alone: pictures are inline, nothing is loaded, so it can
be mailed and read offline. Does not know what is in the pictures (`airtcp.plot`) or how results
are put in words (`airtcp.summary`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp import plot, summary
from airtcp.exceptions import OutputError
from airtcp.report_style import STYLE
from airtcp.results import Comparison, Prediction, SimulationResult, canonical_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = Comparison | SimulationResult | Prediction


def prepare(directory: Path) -> None:
    """Make the directory and see that files can be written there, before work is put into them.

    Raises OutputError if not.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise OutputError(_cannot_write(directory, error)) from error


def write(result: Result, directory: Path, written: str | None = None) -> list[Path]:
    """Write results.json, report.html and the pictures (PNG and SVG) of a result.

    `written` is the text of the scenario file. Each file is written aside and renamed, so a reader
    never sees half of one; pictures of an earlier result that this one does not have are removed.
    Gives the paths, report first. Raises OutputError.
    """
    prepare(directory)
    figures = {} if isinstance(result, Prediction) else plot.pictures(result)
    files = {
        "report.html": html(result, figures, written).encode(),
        "results.json": (result.to_json() + "\n").encode(),
    }
    for name, figure in figures.items():
        files[f"{name}.svg"] = plot.svg(figure).encode()
        files[f"{name}.png"] = plot.png(figure)
    try:
        for name, content in files.items():
            _replace(directory / name, content)
        for name in set(plot.CAPTIONS) - set(figures):
            for suffix in ("svg", "png"):
                (directory / f"{name}.{suffix}").unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(_cannot_write(directory, error)) from error
    return [directory / name for name in files]


def html(result: Result, figures: Mapping[str, Figure], written: str | None = None) -> str:
    """The report as one HTML document that loads nothing."""
    scenario = result.scenario
    title = escape(scenario.title or "Untitled scenario")
    parts = [
        f"<h1>{title}</h1>",
        "<ul class='subject'>",
        *(f"<li>{escape(line)}</li>" for line in summary.subject(scenario)),
        "</ul>",
    ]
    if not isinstance(result, Prediction):
        if result.simulation.stopped == "interrupted":
            parts.append("<p class='warning'>Interrupted: only what had ended is shown.</p>")
        parts.append(f"<p class='muted'>{escape(summary.extent(result.simulation))}</p>")
        parts += [
            f"<p class='note'>Take care: {escape(sentence)}.</p>"
            for sentence in summary.cautions(result)
        ]
    parts += _tables(result)
    parts += _assumptions(result)
    for name, figure in figures.items():
        caption = plot.CAPTIONS[name]
        parts.append(
            f"<figure id='{name}'>{plot.inline_svg(figure, name, caption)}"
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
    if not isinstance(result, Prediction):
        parts += ["<h2>Does it make sense?</h2>", _definitions(summary.sanity(result))]
        lines = summary.simulation_lines(result.simulation)
        parts += ["<details><summary>All metrics</summary>", _metrics(lines, result), "</details>"]
    parts += _scenario(result, written)
    body = "\n".join(parts)
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        "<meta name='color-scheme' content='light dark'>\n"
        f"<title>{title} - airtcp</title>\n<style>\n{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _tables(result: Result) -> list[str]:
    if isinstance(result, SimulationResult):
        return [
            "<h2>What the simulation measured</h2>",
            _metrics(summary.simulation_lines(result.simulation), result),
        ]
    if isinstance(result, Prediction):
        rows = [[line.metric, line.model, line.source] for line in summary.prediction_lines(result)]
        head = ["metric", "model", "source"]
        return ["<h2>What models say</h2>", _table(head, rows, numbers={1})]
    confidence = f"simulation ({100 * result.simulation.confidence:g} % interval)"
    head = ["metric", "model", "source", confidence, "difference", ""]
    rows = [
        [line.metric, line.model, line.source, line.simulation, line.difference, line.verdict]
        for line in summary.comparison_lines(result)
    ]
    return ["<h2>Model and simulation</h2>", _table(head, rows, numbers={1, 3, 4}, verdict=5)]


def _assumptions(result: Result) -> list[str]:
    if isinstance(result, SimulationResult):
        return []
    if result.uncovered is not None:
        return [f"<p class='note'>No model covers this scenario: {escape(result.uncovered)}</p>"]
    parts = []
    broken = summary.broken(result.model)
    if broken:
        parts += ["<h2>What the scenario breaks of the models' assumptions</h2>", _items(broken)]
    else:
        parts.append("<p class='note'>The scenario meets every assumption of the models.</p>")
    parts += [
        "<details><summary>What the models assume</summary>",
        _items(summary.assumed(result.model)),
        "</details>",
    ]
    return parts


def _scenario(result: Result, written: str | None) -> list[str]:
    provenance = result.to_dict()["provenance"]
    parts = ["<h2>The scenario</h2>"]
    if written is not None:
        parts += [
            "<details open><summary>As it was written</summary>",
            f"<pre>{escape(written)}</pre></details>",
        ]
    resolved = canonical_json(result.to_dict()["scenario"])
    parts += [
        "<details><summary>As it was run: every default filled in, SI units</summary>",
        f"<pre>{escape(resolved)}</pre></details>",
        "<h2>Where this comes from</h2>",
        _definitions(
            (key.replace("_", " "), str(value))
            for key, value in provenance.items()
            if value is not None
        ),
    ]
    return parts


def _metrics(lines: Iterable[summary.Line], result: Comparison | SimulationResult) -> str:
    head = ["metric", f"mean ({100 * result.simulation.confidence:g} % interval)"]
    return _table(head, [[line.metric, line.simulation] for line in lines], numbers={1})


def _table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: set[int],
    verdict: int | None = None,
) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        shown = []
        for column, cell in enumerate(cells):
            kind = " class='number'" if column in numbers else " class='nowrap'"
            if column == verdict and tag == "td" and cell:
                # A class from a closed list of words, for the colour.
                kind = f" class='verdict {cell.replace(' ', '-')}'"
            shown.append(f"<{tag}{kind}>{escape(cell)}</{tag}>")
        first = " class='again'" if tag == "td" and not cells[0] else ""
        return f"<tr{first}>{''.join(shown)}</tr>"

    body = "\n".join(row(cells, "td") for cells in rows)
    return (
        f"<div class='scroll'><table>\n<thead>{row(head, 'th')}</thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _items(sentences: Iterable[tuple[str, Sequence[str]]]) -> str:
    items = []
    for sentence, sources in sentences:
        about = f" <span class='muted'>({escape('; '.join(sources))})</span>" if sources else ""
        items.append(f"<li>{escape(sentence)}{about}</li>")
    return "<ul>\n" + "\n".join(items) + "\n</ul>"


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    items = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in pairs
    )
    return f"<dl>\n{items}\n</dl>"


def _replace(path: Path, content: bytes) -> None:
    """Write aside, then rename: the file is there as a whole, or as it was."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_bytes(content)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _cannot_write(directory: Path, error: OSError) -> str:
    if directory.exists() and not directory.is_dir():
        return f"cannot write to {directory}: it is not a directory"
    return f"cannot write to {directory}: {error.strerror or error}"
