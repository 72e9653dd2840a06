"""Results on a terminal: tables and sentences, without control codes when nobody is looking."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from airtcp.exceptions import one_line
from airtcp.present import summary
from airtcp.present.groups import by_group
from airtcp.results import Comparison, Prediction, SimulationResult

if TYPE_CHECKING:
    from airtcp.reproduce.claims import Judgement

#: Wider than any table: what a table would take if it could.
_ENDLESS_WIDTH: Final = 1000
#: Columns when the output is not a terminal and nothing says how wide it is.
_PIPE_WIDTH: Final = 120

_VERDICT_STYLES: Final = {
    "agrees": "green",
    "close": "cyan",
    "undecided": "dim",
    "too high": "yellow",
    "too low": "yellow",
    "far too high": "red",
    "far too low": "red",
}

_CLAIM_STYLES: Final = {
    "met": "green",
    "met with a named reading": "cyan",
    "not met": "yellow",
    "not made": "dim",
}


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the command, which ends quietly; Rich would end the process as failed."""
        raise BrokenPipeError


def result(result: Comparison | SimulationResult | Prediction) -> None:
    """Print a result on stdout."""
    console = _console()
    console.print(Text(one_line(result.scenario.title) or "Untitled scenario", style="bold"))
    for line in summary.subject(result.scenario):
        console.print(Padding(Text(line, style="dim"), (0, 0, 0, 2)))
    console.print()
    if isinstance(result, Comparison):
        _comparison(console, result)
    elif isinstance(result, SimulationResult):
        _simulation(console, result)
    else:
        _prediction(console, result)


def claims(judgements: Sequence[Judgement]) -> None:
    """Print verdicts on what papers state, on stdout."""
    from airtcp.reproduce.measure import words

    console = _console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("claim", "what", "paper", "ours", "verdict"):
        table.add_column(name, overflow="fold")
    for judged in judgements:
        claim = judged.claim
        ours = "–" if judged.ours is None else words(judged.ours, claim.unit)
        about = ". ".join(part for part in (judged.reading, judged.why) if part)
        table.add_row(
            claim.id,
            f"{claim.quantity} ({claim.where})",
            claim.states,
            ours,
            Text.assemble(
                (judged.verdict, _CLAIM_STYLES[judged.verdict]), f": {about}" if about else ""
            ),
        )
    console.print(table)


def _console() -> Console:
    console = _Console(highlight=False, emoji=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PIPE_WIDTH
    return console


def _comparison(console: Console, result: Comparison) -> None:
    _interruption(console, result)
    table = _side_by_side(result)
    if not _fits(console, table):
        table = _stacked(result)
    console.print(table)
    console.print()
    _groups(console, result)
    if result.uncovered is not None:
        console.print(Text(f"No model covers this scenario: {result.uncovered}\n"))
    _broken(console, result)
    _unanswered(console, result)
    _sanity(console, result)


def _fits(console: Console, table: Table) -> bool:
    roomy = console.options.update_width(_ENDLESS_WIDTH)
    return console.measure(table, options=roomy).maximum <= console.width


def _groups(console: Console, result: Comparison | SimulationResult) -> None:
    """Groups and directions side by side; one below the other where that is too wide."""
    groups = by_group(result.simulation)
    if groups is None:
        return
    table = _table(*groups.head)
    for row in groups.rows:
        table.add_row(*row)
    if not _fits(console, table):
        table = _table(groups.head[0], "")
        for scope, *values in groups.rows:
            table.add_row(scope)
            for name, value in zip(groups.head[1:], values, strict=True):
                if value != "–":
                    table.add_row(Text(f"  {name}", style="dim"), value)
    console.print(table)
    console.print()


def _side_by_side(result: Comparison) -> Table:
    percent = f"{100 * result.simulation.confidence:g} %"
    table = _table("metric", "model", "source", f"simulation, {percent}", "difference", "")
    for line in summary.comparison_lines(result):
        table.add_row(
            line.metric,
            line.model,
            line.source,
            line.simulation,
            line.difference,
            _verdict(line),
        )
    return table


def _stacked(result: Comparison) -> Table:
    """The same for narrow terminals: models below the simulation that they are about."""
    percent = f"{100 * result.simulation.confidence:g} %"
    table = _table("metric", f"simulation, {percent}", "difference", "")
    for line in summary.comparison_lines(result):
        if line.metric:
            table.add_row(line.metric, line.simulation)
        if line.source:
            model = Text(f"  {line.source}", style="dim")
            table.add_row(model, line.model, line.difference, _verdict(line))
    return table


def _verdict(line: summary.Line) -> Text:
    return Text(line.verdict, style=_VERDICT_STYLES.get(line.verdict, ""))


def _simulation(console: Console, result: SimulationResult) -> None:
    _interruption(console, result)
    table = _table("metric", f"mean, {100 * result.simulation.confidence:g} % interval")
    for line in summary.simulation_lines(result.simulation):
        table.add_row(line.metric, line.simulation)
    console.print(table)
    console.print()
    _groups(console, result)
    _sanity(console, result)


def _prediction(console: Console, result: Prediction) -> None:
    if result.uncovered is not None:
        console.print(Text(f"No model covers this scenario: {result.uncovered}"))
        return
    table = _table("metric", "model", "source")
    for line in summary.prediction_lines(result):
        table.add_row(line.metric, line.model, line.source)
    console.print(table)
    console.print()
    _broken(console, result)
    _unanswered(console, result)


def _unanswered(console: Console, result: Comparison | Prediction) -> None:
    """The models that might have an answer and have none; nothing where no model has one."""
    if result.uncovered is not None or not result.unanswered:
        return
    console.print(Text("These models have no answer:", style="bold"))
    for source, reason in result.unanswered.items():
        _bullet(console, reason, [source])
    console.print()


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=True, header_style="dim")
    return table


def _interruption(console: Console, result: Comparison | SimulationResult) -> None:
    if result.simulation.stopped == "interrupted":
        console.print(Text("INTERRUPTED: only what had ended is shown\n", style="bold red"))


def _broken(console: Console, result: Comparison | Prediction) -> None:
    if not result.model:
        return
    broken = summary.broken(result.model)
    if not broken:
        console.print(Text("The scenario meets every assumption of the models.\n"))
        return
    console.print(Text("The scenario breaks these assumptions of the models:", style="bold"))
    for sentence, sources in broken:
        _bullet(console, sentence, sources)
    console.print()


def _bullet(console: Console, sentence: str, sources: Sequence[str]) -> None:
    text = Text.assemble(sentence, (f"  [{'; '.join(sources)}]" if sources else "", "dim"))
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column()
    grid.add_row("-", text)
    console.print(grid)


def _sanity(console: Console, result: Comparison | SimulationResult) -> None:
    console.print(Text("Does it make sense?", style="bold"))
    _pairs(console, summary.sanity(result))
    cautions = summary.cautions(result)
    if cautions:
        console.print(Text("\nTake care:", style="bold yellow"))
        for sentence in cautions:
            _bullet(console, sentence, ())


def _pairs(console: Console, pairs: Iterable[tuple[str, str]]) -> None:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, text in pairs:
        grid.add_row(name, text)
    console.print(Padding(grid, (0, 0, 0, 2)))
