"""The page and the pictures of a result, and the files of both: results.json, report.html, ...

The page is self-contained, with inline pictures, so it can be mailed and read offline. `plot` draws
the pictures, and `summary` puts results into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.document import Pairs
from airtcp.document.page import document, headed, items, origin
from airtcp.document.page import html as html_of
from airtcp.exceptions import QuestionError
from airtcp.files import prepare, remove_files, write_files
from airtcp.messages import run as words
from airtcp.present import details, drawing, plot, summary
from airtcp.present.cautions import cautions
from airtcp.present.cells import by_cell, sentences
from airtcp.present.sense import extent, sanity
from airtcp.present.subject import subject
from airtcp.present.testbed import lateness, trust
from airtcp.results import Comparison, Prediction, Results, SimulationResult, canonical_json
from airtcp.results.advice import Advice
from airtcp.results.channel_plans import ChannelPlan
from airtcp.results.differences import Difference
from airtcp.results.plans import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = Comparison | SimulationResult | Prediction
Planned = Difference | Plan | ChannelPlan
Answer = Result | Planned

#: The pictures of a result, the best first.
_FIRST: Final = ("comparison", "transfer-times", "stations", "airtime")
_MEANS: Final = "mean ({} interval)"


def figure(result: Any, /, **options: Any) -> Figure:
    """Return a picture of a result.

    Raises QuestionError if there is none, TypeError for an object that is not a result.
    """
    if isinstance(result, Results):
        from airtcp.present import plot_table

        return plot_table.picture(result, **options)[0]
    if not isinstance(result, Comparison | SimulationResult | Planned):
        raise TypeError(f"a {type(result).__name__} has no pictures")
    return _named(pictures(result), **options)


def _named(figures: Mapping[str, Figure], name: str | None) -> Figure:
    if not figures:
        raise QuestionError("plot: the result has no numbers to draw")
    names = [one for one in _FIRST if one in figures]
    names += [one for one in figures if one not in names]
    if name is not None and name not in figures:
        raise QuestionError(
            f"plot: there is no picture {name!r} of this result; allowed: {', '.join(names)}"
        )
    return figures[name or names[0]]


def pictures(result: Answer) -> dict[str, Figure]:
    """Return the pictures of a result, by name."""
    if isinstance(result, Prediction):
        return {}
    module = plot if isinstance(result, Comparison | SimulationResult) else _module(result)
    found: dict[str, Figure] = module.pictures(result)
    return found


def _module(result: Planned) -> Any:
    """Return the module with the pictures and the page of a difference or plan."""
    from airtcp.present import channel_plan, difference, plan

    return {Difference: difference, Plan: plan, ChannelPlan: channel_plan}[type(result)]


def write(
    result: Answer,
    directory: Path,
    written: str | None = None,
    command: Sequence[str] | None = None,
) -> list[Path]:
    """Write report.html, results.json and the pictures (PNG and SVG) into a directory.

    `written` is the text of the scenario file. `command` is the command line to record in the
    provenance. Pictures of an earlier result are removed. Each file is written to a temporary name
    and renamed, so a reader never sees a partial file. Returns the paths, report first. Raises
    OutputError.
    """
    figures = pictures(result)
    told = result.to_dict()
    if command is not None:
        told["provenance"]["command"] = list(command)
    prepare(directory)
    drawn = drawing.svgs(figures)
    gone: set[str] = set()
    if isinstance(result, Planned):
        page = _module(result).html(result, drawn)
    else:
        page = html(result, drawn, written)
        gone = set(plot.CAPTIONS) - set(figures)
    files = {"report.html": page.encode(), "results.json": (canonical_json(told) + "\n").encode()}
    for name, one in figures.items():
        files[f"{name}.svg"] = drawn[name].encode()
        files[f"{name}.png"] = drawing.png(one)
    paths = write_files(directory, files)
    remove_files(directory, (f"{name}.{suffix}" for name in gone for suffix in ("svg", "png")))
    return paths


def html(result: Result, svgs: Mapping[str, str], written: str | None = None) -> str:
    """Return the report as a self-contained HTML document, with the pictures of `drawing.svgs`."""
    scenario = result.scenario
    title = scenario.title or "Untitled scenario"
    stopped = None if isinstance(result, Prediction) else result.simulation.stopped
    parts = headed(title, stopped)
    # The first picture is above the fold.
    first, *more = [_figure(name, svg) for name, svg in svgs.items()] or [""]
    if not isinstance(result, Prediction):
        parts += _answered(result, [first])
        notes = [escape(sentence.removesuffix(".")) for sentence in cautions(result)]
        parts += [f"<p class='note'>! {note}.</p>" for note in notes]
        parts.append(_contents(result, has_pictures=bool(more)))
        parts += ["<h2 id='groups'>Groups</h2>", *html_of([words.groups(result)])]
        of_cells = by_cell(result.simulation.cells)
        if of_cells is not None:
            parts += ["<h2 id='cells'>Cells</h2>", *html_of([of_cells])]
        parts += [f"<p>{escape(one)}</p>" for one in sentences(scenario, result.simulation.cells)]
    if isinstance(result, Comparison) and result.measured is not None:
        parts.append("<h2 id='measured'>Measured values</h2>")
        parts += html_of(details.beside_measured(result.measured))
    if isinstance(result, Comparison) and result.advice is not None:
        parts += _advised(result.advice)
    if not isinstance(result, Comparison):
        parts += [*_tables(result), *_assumptions(result)]
    if more:
        parts += ["<h2 id='pictures'>Pictures</h2>", *more]
    if isinstance(result, Comparison):
        parts += [*_tables(result), *_assumptions(result)]
    if not isinstance(result, Prediction):
        parts += ["<h2 id='sense'>Counters</h2>", *html_of([Pairs(sanity(result))])]
        parts.append(_folded("All metrics", *html_of([details.simulated(result, _MEANS)])))
        parts.append(f"<p class='muted'>{escape(extent(result.simulation))}</p>")
    parts += _scenario(result, written)
    return document(title, parts)


def _figure(name: str, svg: str) -> str:
    framed = drawing.framed(svg, name, plot.CAPTIONS[name])
    return framed.replace("<figure>", f"<figure id='{name}'>", 1)


def _contents(result: Comparison | SimulationResult, *, has_pictures: bool) -> str:
    """Return links to the sections of the page."""
    names = {"groups": "Groups"}
    if isinstance(result, SimulationResult):
        names |= {"models": "Metrics", "pictures": "Pictures"}
    else:
        beside = {} if result.measured is None else {"measured": "Measured"}
        wrong = {} if result.advice is None or not result.advice.trials else {"wrong": "Changes"}
        names |= beside | wrong | {"pictures": "Pictures", "models": "Models"}
    if not has_pictures:
        names.pop("pictures")
    names |= {"sense": "Sense", "scenario": "Scenario"}
    links = (f"<a href='#{anchor}'>{name}</a>" for anchor, name in names.items())
    return f"<nav>{' '.join(links)}</nav>"


def _tables(result: Result) -> Iterator[str]:
    if isinstance(result, SimulationResult):
        yield "<h2 id='models'>Models and simulation</h2>"
        yield from html_of([details.simulated(result, _MEANS)])
        return
    if isinstance(result, Prediction):
        told = summary.glanced(result)
        yield f"<h2>{'Models' if told is None else 'Models and a quick simulation'}</h2>"
        yield from html_of([details.predicted(result)])
        yield from (f"<p>{escape(one)}</p>" for one in summary.glanced_cells(result))
        if told is not None:
            yield f"<p class='note'>{escape(told)}</p>"
        return
    testbed = result.testbed
    # Column headings are short to save space.
    head = "simulation ({} interval)" if testbed is None else "simulation, {}"
    heading = "Model and simulation" if testbed is None else "Model, simulation and testbed"
    best = summary.best_alone(result)
    yield f"<h2 id='models'>{heading}</h2>"
    yield from html_of([details.compared(best, head)])
    if testbed is not None:
        yield (
            "<p class='note'>The testbed, real TCP and real programs over the same MAC, is "
            f"{escape(trust(testbed.lag))}: {escape(lateness(testbed.lag))}.</p>"
        )
        if testbed.deviations:
            told = items((text, []) for text in testbed.deviations)
            yield _folded("How the kernel differs from the scenario", told)
    if result.missing is not None:
        yield f"<p class='note'>The testbed is missing: {escape(result.missing)}</p>"
    if len(best.comparison) < len(result.comparison):
        yield _folded("All models", *html_of([details.compared(result, head)]))


def _folded(summary: str, *parts: str) -> str:
    lines = "\n".join(parts)
    return f"<details><summary>{summary}</summary>\n{lines}\n</details>"


def _assumptions(result: Result) -> Iterator[str]:
    if isinstance(result, SimulationResult):
        return
    if result.uncovered is not None:
        if not (isinstance(result, Prediction) and result.glance is not None):
            yield f"<p class='note'>No analytical model applies: {escape(result.uncovered)}</p>"
        return
    broken = summary.broken(result.model)
    if broken:
        best = {name: entries[:1] for name, entries in result.model.items()}
        yield "<h2 id='broken'>Broken assumptions of the models</h2>"
        yield items(summary.shortened(summary.broken(best)))
        yield _folded("The effect of each, for all models", items(broken))
    else:
        yield "<p class='note'>The scenario meets every assumption of the models.</p>"
    if result.unanswered:
        reasons = [(reason, [source]) for source, reason in result.unanswered.items()]
        yield from ("<h2>Models without an answer</h2>", items(reasons))
    yield _folded("What the models assume", items(summary.assumed(result.model)))


def _scenario(result: Result, written: str | None) -> list[str]:
    parts = [
        "<h2 id='scenario'>The scenario</h2>",
        "<ul class='subject'>",
        *(f"<li>{escape(line)}</li>" for line in subject(result.scenario)),
        "</ul>",
    ]
    if written is not None:
        parts += [
            "<details open><summary>As written</summary>",
            f"<pre>{escape(written)}</pre></details>",
        ]
    resolved = f"<pre>{escape(canonical_json(result.to_dict()['scenario']))}</pre>"
    return [
        *parts,
        _folded("As simulated: with all defaults, in SI units", resolved),
        *origin("Where this comes from", result.to_dict()["provenance"]),
    ]


def _answered(result: Comparison | SimulationResult, picture: Sequence[str] = ()) -> list[str]:
    """Return the decision, a picture below it, and the targets."""
    verdict = result.verdict if isinstance(result, Comparison) else None
    advice = result.advice if isinstance(result, Comparison) else None
    parts = [*html_of([words.decision(result, verdict, advice)]), *picture]
    if verdict is not None and verdict.targets:
        parts += [
            "<h2 id='targets'>Targets</h2>",
            *html_of(words.targets(verdict, everything=True)),
        ]
    return parts


def _advised(advice: Advice) -> list[str]:
    """Return the changes that were tried, and how to apply the best one."""
    parts = list(html_of(words.changes(advice, everything=True)))
    return ["<h2 id='wrong'>Changes tried</h2>", *parts] if parts else []
