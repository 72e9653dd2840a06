"""The answer of `airtcp run` on a terminal: the document of `airtcp.messages.run`, then details."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from airtcp.cli import show
from airtcp.document import terminal
from airtcp.exceptions import one_line
from airtcp.messages import run as words
from airtcp.present import measured
from airtcp.present.cautions import cautions
from airtcp.present.gaps import explanation_line, gap_lines

if TYPE_CHECKING:
    from rich.console import Console

    from airtcp.results import Comparison
    from airtcp.results.measured import Gap, Measured


def run(
    result: Comparison, *, details: bool = False, models: bool = False, explain: bool = False
) -> None:
    """Print the answer of a run on stdout.

    `details` shows the parts that are otherwise left out.
    """
    console = show.new_console()
    show.interruption(console, result)
    folded = not (
        details or models or explain or result.testbed is not None or result.missing is not None
    )
    terminal.show(console, list(words.parts(result, everything=not folded)))
    console.print()
    show.cells(console, result)
    if result.measured is not None:
        _measured(console, result.measured)
    if not folded:
        show.comparison(console, result, models=models, explain=explain)
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
        show.print_table(console, tuple(map(one_line, measured.head(beside))), rows)
    for one_without in beside.without:
        console.print(Text(f"Not compared: {one_line(one_without)}", style="dim"))
    for line in measured.unfollowed(beside):
        console.print(Text(one_line(line)))
    console.print()
    if beside.gap is not None:
        _gap(console, beside.gap)


def _gap(console: Console, gap: Gap) -> None:
    """Print possible explanations of the gap, with the scenario change for each."""
    for line in gap_lines(gap):
        console.print(Text(one_line(line)))
    for number, one in enumerate(gap.best, 1):
        console.print(Padding(Text(f"{number}. {one_line(explanation_line(one))}"), (0, 0, 0, 2)))
        for line in measured.how(one):
            console.print(Text(f"     {line}", style="dim", overflow="ignore"), soft_wrap=True)
    console.print()
