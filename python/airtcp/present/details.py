"""What is behind an answer: models, broken assumptions, cells, counters, cautions, measurements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from airtcp.document import Code, Heading, Items, Lines, Pairs, Part, Table, listing
from airtcp.present import measured, summary
from airtcp.present.cells import by_cell, sentences
from airtcp.present.subject import subject
from airtcp.present.testbed import lateness, trust
from airtcp.results import Comparison, Prediction, SimulationResult

if TYPE_CHECKING:
    from airtcp.document.tree import State
    from airtcp.results.measured import Gap, Measured
    from airtcp.results.testbed import TestbedResult

Result = Comparison | SimulationResult | Prediction
Simulated = Comparison | SimulationResult


def plain(texts: Iterable[str]) -> Iterator[Lines]:
    """Yield texts as lines, if there are any."""
    lines: list[tuple[str, State]] = [(text, "") for text in texts]
    if lines:
        yield Lines(lines)


def interruption(result: Simulated) -> Iterator[Part]:
    """Yield a notice if the run was interrupted."""
    if result.simulation.stopped == "interrupted":
        yield Lines([("INTERRUPTED: only finished runs are shown", "bad")])


def compared(result: Comparison, head: str = "simulation, {}") -> Table:
    """Return the values of models next to the simulation, and a testbed; the best models first.

    `head` is for the column of the simulation. On a narrow terminal, models are below its value.
    """
    simulated = head.format(_percent(result))
    heads = ["metric", "model", "source", simulated, "difference", ""]
    if result.testbed is not None:
        heads += ["testbed", "difference", ""]
    elif result.missing is not None:
        heads.append("testbed")
    return listing(
        heads,
        summary.comparison_rows(result),
        verdicts={5, 8},
        prose={0, 2} if result.testbed is not None else (),
        narrow=listing(("metric", simulated, "difference", ""), _stacked(result)),
    )


def _stacked(result: Comparison) -> list[Sequence[str]]:
    """Return the rows for narrow terminals, with models below the simulated value."""
    rows: list[Sequence[str]] = []
    for line in summary.comparison_lines(result):
        if line.metric:
            rows.append((line.metric, line.simulation, "", ""))
            if line.testbed:
                rows.append(("  testbed", *line.of_testbed))
            elif result.missing is not None:
                rows.append(("  testbed", "missing", "", ""))
        if line.source:
            rows.append((f"  {line.source}", line.model, line.difference, line.verdict))
    return rows


def _folded(count: int) -> list[tuple[str, State]]:
    return [(f"and {count} more values of models: --models", "dim")] if count else []


def _percent(result: Simulated) -> str:
    return f"{100 * result.simulation.confidence:g} %"


def simulated(result: Simulated, head: str = "mean, {} interval") -> Table:
    """Return every simulated metric that is not a detail; `head` is for the column of means."""
    simulation = result.simulation
    # A single run, such as a testbed run, may have no intervals.
    has_intervals = any(one.half_width for one in simulation.metrics.values())
    name = head.format(_percent(result)) if has_intervals else "mean"
    lines = summary.simulation_lines(simulation)
    return listing(("metric", name), [(line.metric, line.simulation) for line in lines])


def predicted(result: Prediction) -> Table:
    """Return the values of models and of a quick simulation."""
    lines = summary.prediction_lines(result)
    return listing(
        ("metric", "value", "source"), [(line.metric, line.model, line.source) for line in lines]
    )


def prediction(result: Prediction, *, models: bool, explain: bool) -> Iterator[Part]:
    """Yield the values of models and of a quick simulation, and what they assume wrongly."""
    if result.uncovered is not None and result.glance is None:
        yield from uncovered(result)
        return
    shown = result if models else summary.best_alone(result)
    table, told = predicted(shown), summary.glanced(result)
    folded = _folded(len(summary.prediction_lines(result)) - len(table.rows))
    if told is None:
        yield replace(table, foot=folded)
    else:
        yield table
        yield from plain(summary.glanced_cells(result))
        yield Lines([(told, "dim"), *folded])
    yield from broken(shown, explain=explain)
    yield from unanswered(result)


def comparison(result: Comparison, *, models: bool, explain: bool) -> Iterator[Part]:
    """Yield models next to a simulation, the testbed if there was one, and the scenario."""
    shown = result if models else summary.best_alone(result)
    folded = _folded(len(result.comparison) - len(shown.comparison))
    yield replace(compared(shown), foot=folded)
    yield from uncovered(result)
    yield from broken(shown, explain=explain)
    yield from unanswered(result)
    if result.testbed is not None:
        yield from trust_in(result.testbed)
    elif result.missing is not None:
        yield from (Heading("The testbed: missing"), Lines([(result.missing, "")], [""]))


def uncovered(result: Comparison | Prediction) -> Iterator[Part]:
    """Yield why no model applies."""
    if result.uncovered is not None:
        yield Lines([(f"No analytical model applies: {result.uncovered}", "")])


def broken(result: Comparison | Prediction, *, explain: bool) -> Iterator[Part]:
    """Yield the broken assumptions of models, with the effect of each if `explain`."""
    if not result.model:
        return
    told = summary.broken(result.model)
    if not told:
        yield Lines([("The scenario meets every assumption of the models.", "")])
        return
    yield Heading("The scenario breaks these assumptions of the models:")
    short = summary.shortened(told)
    yield Items(told) if explain else Items(short, "the effect of each: --explain")


def unanswered(result: Comparison | Prediction) -> Iterator[Part]:
    """Yield the models that could not answer; nothing if no model applies at all."""
    if result.uncovered is None and result.unanswered:
        yield Heading("These models have no answer:")
        yield Items([(reason, [source]) for source, reason in result.unanswered.items()])


def trust_in(result: TestbedResult) -> Iterator[Part]:
    """Yield how reliable a testbed run is, and how its kernel differs from the scenario."""
    yield Heading(f"The testbed: {trust(result.lag)}")
    lines: list[tuple[str, State]] = [(lateness(result.lag), "")]
    lines += [(text, "dim") for text in result.deviations]
    yield Lines(lines, [""] * len(lines))


def scenario(result: Result) -> Iterator[Part]:
    """Yield the description of the scenario."""
    lines: list[tuple[str, State]] = [(line, "dim") for line in subject(result.scenario)]
    yield from (Heading("The scenario"), Lines(lines, [""] * len(lines)))


def cells(result: Simulated) -> Iterator[Part]:
    """Yield several cells side by side, and why some get little."""
    table = by_cell(result.simulation.cells)
    if table is not None:
        yield table
    yield from plain(sentences(result.scenario, result.simulation.cells))


def counters(rows: Sequence[tuple[str, str]], cautions: Sequence[str]) -> Iterator[Part]:
    """Yield numbers that show whether a simulation makes sense, and its cautions."""
    yield from (Heading("Counters"), Pairs(rows), *care(cautions))


def care(cautions: Sequence[str]) -> Iterator[Part]:
    """Yield what a reader should know before trusting the numbers."""
    if cautions:
        yield Heading("Take care:", state="open")
        yield Items([(text, ()) for text in cautions])


def beside_measured(beside: Measured) -> Iterator[Part]:
    """Yield the measured values, the simulated and predicted ones, and explanations of a gap."""
    rows = [
        (f"  {by}" if by else name, value, off, verdict)
        for name, by, value, off, verdict in measured.rows(beside)
    ]
    if rows:
        yield listing(measured.head(beside), rows, verdicts={3})
    below: list[tuple[str, State]] = [(f"Not compared: {one}", "dim") for one in beside.without]
    below += [(line, "") for line in measured.unfollowed(beside)]
    if below:
        yield Lines(below)
    if beside.gap is not None:
        yield from _gap(beside.gap)


def _gap(gap: Gap) -> Iterator[Part]:
    """Yield possible explanations of a gap, with the scenario change for each."""
    yield from plain(measured.gap_lines(gap))
    for number, one in enumerate(gap.best, 1):
        yield Lines([(f"{number}. {measured.explanation_line(one)}", "")])
        yield Code(measured.how(one))
