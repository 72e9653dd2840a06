"""Results on a terminal: tables and sentences, without control codes in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, cast

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from airtcp.document import Column, terminal
from airtcp.document import Table as DocumentTable
from airtcp.exceptions import one_line
from airtcp.present import measured, summary
from airtcp.present.cautions import cautions
from airtcp.present.cells import by_cell, sentences
from airtcp.present.sense import sanity
from airtcp.present.subject import subject
from airtcp.present.testbed import cautions_of, lateness, sanity_of, trust
from airtcp.results import Comparison, Prediction, SimulationResult, TestbedResult
from airtcp.results.channel_plans import ChannelPlan
from airtcp.results.differences import Difference
from airtcp.results.plans import Plan

if TYPE_CHECKING:
    from airtcp.present.report import Answer
    from airtcp.results.measured import Gap, Measured

#: The least width of a column of words other than the first before a table becomes lines.
_LEAST_WORDS: Final = 20
#: Width of output to a pipe if COLUMNS is not set.
_PIPE_WIDTH: Final = 120


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Raise, so that the command ends quietly. Rich would exit with a failure."""
        raise BrokenPipeError


class _Stripped:
    """Standard output without trailing blanks, which pad the cells of tables."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write text that consists of complete lines, as Rich's does."""
        return self._file.write("\n".join(line.rstrip(" ") for line in text.split("\n")))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def show(result: Answer, **parts: Any) -> None:
    """Print any answer on stdout, with the `parts` that were asked for."""
    printers: dict[type, Callable[..., None]] = {
        Comparison: run,
        Difference: difference,
        Plan: plan,
        ChannelPlan: channels,
    }
    printers.get(type(result), simulated)(result, **parts)


def simulated(
    result: SimulationResult | Prediction,
    *,
    models: bool = False,
    explain: bool = False,
    real: TestbedResult | None = None,
) -> None:
    """Print a simulation or a prediction on stdout, the answer first.

    `models`: list every model's value, not only the best. `explain`: describe the effect of broken
    assumptions. `real`: the values come from this testbed.
    """
    from airtcp.messages import run as words

    console = new_console()
    if isinstance(result, Prediction):
        terminal.show(console, list(words.predicted(result)))
        console.print()
        _prediction(console, result, models=models, explain=explain)
        if models or explain:
            _subject(console, result)
        return
    interruption(console, result)
    if real is not None:
        console.print(
            Text(f"Real TCP over the simulated channel, in real time: {trust(real.lag)}.")
        )
    terminal.show(console, list(words.simulated(result)))
    console.print()
    cells(console, result)
    _simulation(console, result)
    if real is not None:
        trust_in(console, real)
        console.print()
    _subject(console, result)
    _sanity(console, result, real)


def comparison(console: Console, result: Comparison, *, models: bool, explain: bool) -> None:
    """Print models next to a simulation, the testbed if there was one, and the scenario."""
    _comparison(console, result, models=models, explain=explain)
    if result.testbed is not None:
        trust_in(console, result.testbed)
        console.print()
    elif result.missing is not None:
        console.print(Text("The testbed: missing", style="bold"))
        console.print(Padding(Text(one_line(result.missing)), (0, 0, 0, 2)))
        console.print()
    _subject(console, result)
    _sanity(console, result, None)


def trust_in(console: Console, result: TestbedResult) -> None:
    """Print how reliable a testbed run is, and how its kernel differs from the scenario."""
    console.print(Text(f"The testbed: {trust(result.lag)}", style="bold"))
    console.print(Padding(Text(lateness(result.lag)), (0, 0, 0, 2)))
    for text in result.deviations:
        console.print(Padding(Text(one_line(text), style="dim"), (0, 0, 0, 2)))


def _subject(console: Console, result: Comparison | SimulationResult | Prediction) -> None:
    """Print the description of the scenario."""
    console.print(Text("The scenario", style="bold"))
    for line in subject(result.scenario):
        console.print(Padding(Text(line, style="dim"), (0, 0, 0, 2)))
    console.print()


def difference(found: Difference, *, details: bool = False) -> None:
    """Print the difference of two simulations on stdout.

    `details` adds imperceptible differences.
    """
    from airtcp.messages import diff as words
    from airtcp.present.cells import by_cell_of_both
    from airtcp.present.difference import changed_lines

    console = new_console()
    terminal.show(console, list(words.parts(found, changed_lines(found), everything=details)))
    of_cells = by_cell_of_both(found.a.simulation, found.b.simulation)
    if of_cells is not None:
        console.print(Text("\nCells, A → B", style="bold"))
        terminal.show(console, [of_cells])


def pairs(lines: Iterable[tuple[str, str]]) -> None:
    """Print names with their descriptions on stdout."""
    _pairs(new_console(), ((name, one_line(text)) for name, text in lines))


def new_console() -> Console:
    """Return a console as wide as the terminal. Output to a pipe has no control codes."""
    console = _Console(highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.file = cast("IO[str]", _Stripped(sys.stdout))
        if "COLUMNS" not in os.environ:
            console.width = _PIPE_WIDTH
    if not console.width:
        # COLUMNS is 0 if a terminal does not report its width; Rich would print nothing.
        console.width = _PIPE_WIDTH
    return console


def _comparison(console: Console, result: Comparison, *, models: bool, explain: bool) -> None:
    percent = f"{100 * result.simulation.confidence:g} %"
    shown = result if models else summary.best_alone(result)
    head = ["metric", "model", "source", f"simulation, {percent}", "difference", ""]
    if result.testbed is not None:
        head += ["testbed", "difference", ""]
    elif result.missing is not None:
        head.append("testbed")
    if not _printed(console, head, summary.comparison_rows(shown)):
        stacked = ("metric", f"simulation, {percent}", "difference", "")
        print_table(console, stacked, _stacked(shown))
    folded = len(result.comparison) - len(shown.comparison)
    if folded:
        console.print(Text(f"and {folded} more values of models: --models", style="dim"))
    console.print()
    if result.uncovered is not None:
        console.print(Text(f"No analytical model applies: {result.uncovered}\n"))
    _broken(console, shown, explain=explain)
    _unanswered(console, result)


def cells(console: Console, result: Comparison | SimulationResult) -> None:
    """Print several cells side by side, and the properties of cells that are missing."""
    table = by_cell(result.simulation.cells)
    if table is not None:
        terminal.show(console, [table])
        console.print()
    told = sentences(result.scenario, result.simulation.cells)
    for sentence in told:
        console.print(Text(one_line(sentence)))
    if told:
        console.print()


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


def _simulation(console: Console, result: SimulationResult) -> None:
    lines = summary.simulation_lines(result.simulation)
    head = ("metric", "mean")
    # A single run, such as a testbed run, may have no intervals.
    if any(one.half_width for one in result.simulation.metrics.values()):
        head = ("metric", f"mean, {100 * result.simulation.confidence:g} % interval")
    print_table(console, head, [(line.metric, line.simulation) for line in lines])
    console.print()


def _prediction(console: Console, result: Prediction, *, models: bool, explain: bool) -> None:
    if result.uncovered is not None and result.glance is None:
        console.print(Text(f"No analytical model applies: {result.uncovered}"))
        return
    shown = result if models else summary.best_alone(result)
    lines = summary.prediction_lines(shown)
    rows = [(line.metric, line.model, line.source) for line in lines]
    print_table(console, ("metric", "value", "source"), rows)
    of_cells = summary.glanced_cells(result)
    if of_cells:
        console.print()
    for sentence in of_cells:
        console.print(Text(one_line(sentence)))
    told = summary.glanced(result)
    if told is not None:
        console.print(Text(f"\n{one_line(told)}", style="dim"))
    folded = len(summary.prediction_lines(result)) - len(lines)
    if folded:
        console.print(Text(f"and {folded} more values of models: --models", style="dim"))
    console.print()
    _broken(console, shown, explain=explain)
    _unanswered(console, result)


def _unanswered(console: Console, result: Comparison | Prediction) -> None:
    """Print the models that could not answer; nothing if no model applies at all."""
    if result.uncovered is not None or not result.unanswered:
        return
    console.print(Text("These models have no answer:", style="bold"))
    for source, reason in result.unanswered.items():
        _bullet(console, reason, [source])
    console.print()


def print_table(
    console: Console,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    least_first: int | None = None,
) -> None:
    """Print a table. If it is too wide, print its rows as lines: numbers are never cut.

    With `least_first` the first column, which holds words, may wrap.
    """
    if _printed(console, head, rows, least_first=least_first):
        return
    console.print(Text("; ".join(name for name in head if name), style="dim"))
    for first, *more in rows:
        if first:
            console.print(Text(first))
        if any(more):
            console.print(Padding(Text("  ".join(filter(None, more))), (0, 0, 0, 4)))


def _printed(
    console: Console,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    least_first: int | None = None,
) -> bool:
    """Print a table if it fits the terminal. Return whether it was printed.

    The longest column of words may shrink, the first one to `least_first`; numbers never do.
    """
    columns, lengths = [], []
    for place, column in enumerate(zip(head, *rows, strict=True)):
        longest = max(len(one) for one in column)
        right = place > 0 and _is_number(column[1:])
        least = least_first if place == 0 and least_first is not None else _LEAST_WORDS
        keeps = right or (place == 0 and least_first is None)
        columns.append(Column(column[0], right=right, least=longest if keeps else least))
        lengths.append(longest)
    spare = max(length - column.least for length, column in zip(lengths, columns, strict=True))
    if sum(lengths) + 2 * (len(lengths) - 1) - max(spare, 0) > console.width:
        return False
    terminal.show(console, [DocumentTable(columns, rows)])
    return True


def _is_number(cells: Iterable[str]) -> bool:
    """Return whether every non-empty cell begins like a number."""
    return all(cell[0].isdigit() or cell[0] in "≥≤<>+-−–±~" for cell in cells if cell)


def interruption(console: Console, result: Comparison | SimulationResult) -> None:
    """Print a notice if the run was interrupted."""
    if result.simulation.stopped == "interrupted":
        console.print(Text("INTERRUPTED: only finished runs are shown\n", style="bold red"))


def _broken(console: Console, result: Comparison | Prediction, *, explain: bool) -> None:
    if not result.model:
        return
    broken = summary.broken(result.model)
    if not broken:
        console.print(Text("The scenario meets every assumption of the models.\n"))
        return
    console.print(Text("The scenario breaks these assumptions of the models:", style="bold"))
    for sentence, sources in broken if explain else summary.shortened(broken):
        _bullet(console, sentence, sources)
    if not explain:
        console.print(Text("the effect of each: --explain", style="dim"))
    console.print()


def _bullet(console: Console, sentence: str, sources: Sequence[str]) -> None:
    text = Text.assemble(sentence, (f"  [{'; '.join(sources)}]" if sources else "", "dim"))
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    grid.add_row("-", text)
    console.print(grid)


def _sanity(
    console: Console, result: Comparison | SimulationResult, real: TestbedResult | None
) -> None:
    console.print(Text("Counters", style="bold"))
    _pairs(console, sanity(result) if real is None else sanity_of(real, result))
    console.print()
    take_care(console, cautions(result) if real is None else cautions_of(real, result))


def take_care(console: Console, sentences: Sequence[str], begin: str = "") -> None:
    """Print what a reader should know before trusting the numbers."""
    if sentences:
        console.print(Text(f"{begin}Take care:", style="bold yellow"))
        for sentence in sentences:
            _bullet(console, sentence, ())


def _pairs(console: Console, pairs: Iterable[tuple[str, str]]) -> None:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in pairs:
        grid.add_row(name, text)
    console.print(Padding(grid, (0, 0, 0, 2)))


def run(
    result: Comparison, *, details: bool = False, models: bool = False, explain: bool = False
) -> None:
    """Print the answer of a run on stdout.

    `details` shows the parts that are otherwise left out.
    """
    from airtcp.messages import run as words

    console = new_console()
    interruption(console, result)
    folded = not (
        details or models or explain or result.testbed is not None or result.missing is not None
    )
    terminal.show(console, list(words.parts(result, everything=not folded)))
    console.print()
    cells(console, result)
    if result.measured is not None:
        _measured(console, result.measured)
    if not folded:
        comparison(console, result, models=models, explain=explain)
        terminal.show(console, words.engine(result))
        return
    terminal.show(console, [*words.notes(cautions(result)), words.footer(result)])


def _measured(console: Console, beside: Measured) -> None:
    """Print the measured values, each with the simulated and predicted ones below it."""
    rows = [
        (f"  {by}" if by else name, value, off, verdict)
        for name, by, value, off, verdict in measured.rows(beside)
    ]
    if rows:
        print_table(console, tuple(map(one_line, measured.head(beside))), rows)
    for one_without in beside.without:
        console.print(Text(f"Not compared: {one_line(one_without)}", style="dim"))
    for line in measured.unfollowed(beside):
        console.print(Text(one_line(line)))
    console.print()
    if beside.gap is not None:
        _gap(console, beside.gap)


def _gap(console: Console, gap: Gap) -> None:
    """Print possible explanations of the gap, with the scenario change for each."""
    for line in measured.gap_lines(gap):
        console.print(Text(one_line(line)))
    for number, one in enumerate(gap.best, 1):
        console.print(
            Padding(Text(f"{number}. {one_line(measured.explanation_line(one))}"), (0, 0, 0, 2))
        )
        for line in measured.how(one):
            console.print(Text(f"     {line}", style="dim", overflow="ignore"), soft_wrap=True)
    console.print()


def plan(found: Plan, *, details: bool = False) -> None:
    """Print a plan on stdout; `details` adds long configurations."""
    from airtcp.messages import plan as words

    terminal.show(new_console(), list(words.parts(found, everything=details)))


def channels(found: ChannelPlan) -> None:
    """Print a channel plan on stdout."""
    from airtcp.present import channel_plan

    console = new_console()
    console.print(Text(one_line(channel_plan.answer_line(found)), style="bold"))
    for line in (channel_plan.today_line(found), channel_plan.second_line(found)):
        if line is not None:
            console.print(Text(one_line(line)))
    console.print(Text(one_line(channel_plan.depth_line(found)), style="dim"))
    left_out = channel_plan.left_out_line(found)
    if left_out is not None:
        console.print(Text(one_line(left_out), style="dim"))
    console.print()
    print_table(console, channel_plan.CELLS_HEAD, channel_plan.cell_rows(found))
    console.print()
    print_table(console, channel_plan.PLANS_HEAD, channel_plan.plan_rows(found), least_first=12)
    lines = channel_plan.apply_lines(found)
    if lines:
        console.print(Text("\nApply it", style="bold"))
    for line in lines:
        # Text to copy never wraps.
        console.print(Text(line, no_wrap=True, overflow="ignore"), crop=False, soft_wrap=True)
