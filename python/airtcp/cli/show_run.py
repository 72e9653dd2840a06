"""The answer of `airtcp run` on a terminal: verdict, groups, problems and what was tried.

Knows the order in which a reader asks. Models beside the simulation, what they assume, counters and
the scenario in words are details, which are folded unless somebody wants them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from airtcp.advice.problems import PROBLEMS
from airtcp.cli import show
from airtcp.exceptions import one_line
from airtcp.present import measured
from airtcp.present import verdict as words
from airtcp.present.advice import effect_line, equipment, headline, others, settings, told
from airtcp.present.answer import experience
from airtcp.present.cautions import cautions
from airtcp.present.gaps import explanation_line, gap_lines
from airtcp.present.sense import extent

if TYPE_CHECKING:
    from rich.console import Console

    from airtcp.results import Comparison
    from airtcp.results.advice import Advice
    from airtcp.results.measured import Gap, Measured
    from airtcp.results.verdict import Verdict

_STATE_STYLES: Final = {"holds": "bold green", "fails": "bold red", "unknown": "bold yellow"}
_OUTCOME_STYLES: Final = {
    "helps": "green",
    "costs others": "yellow",
    "no gain": "dim",
    "cannot tell": "dim",
    "harms": "red",
}
_DETAILS: Final = "models beside it, assumptions, counters, the scenario in words: --details"


def run(
    result: Comparison, *, details: bool = False, models: bool = False, explain: bool = False
) -> None:
    """Print the answer of a run on stdout; `details` has what is folded otherwise."""
    console = show.new_console()
    console.print(Text(one_line(result.scenario.title) or "Untitled scenario", style="bold"))
    show.interruption(console, result)
    if result.verdict is not None:
        _verdict(console, result, result.verdict)
    felt = experience(result)
    for line in felt:
        console.print(Text(one_line(line)))
    if felt or result.verdict is None:
        console.print()
    show.groups(console, result)
    if result.measured is not None:
        _measured(console, result.measured)
    if result.advice is not None:
        _advice(console, result.advice)
    if details or models or explain or result.testbed is not None or result.missing is not None:
        show.comparison(console, result, models=models, explain=explain)
        return
    problems = () if result.advice is None else result.advice.problems
    said = [one.finding.evidence for one in problems]
    # Flows that get nothing through are a problem, which was told with what was tried.
    show.take_care(console, [one for one in cautions(result) if one not in said])
    console.print(Text(f"{extent(result.simulation)}.", style="dim"))
    console.print(Text(_DETAILS, style="dim"))


def _measured(console: Console, beside: Measured) -> None:
    """Print what was measured, and below each value the answers about it."""
    rows = [
        (Text(f"  {by}", style="dim") if by else name, value, off, verdict)
        for name, by, value, off, verdict in measured.rows(beside)
    ]
    if rows:
        show.print_table(console, tuple(map(one_line, measured.head(beside))), rows)
    for one_without in beside.without:
        console.print(Text(f"Nothing stands beside {one_line(one_without)}", style="dim"))
    console.print()
    if beside.gap is not None:
        _gap(console, beside.gap)


def _gap(console: Console, gap: Gap) -> None:
    """Print what would explain the gap, and how each is put into the scenario."""
    for line in gap_lines(gap):
        console.print(Text(one_line(line)))
    for number, one in enumerate(gap.best, 1):
        console.print(Padding(Text(f"{number}. {one_line(explanation_line(one))}"), (0, 0, 0, 2)))
        for line in measured.how(one):
            console.print(Text(f"     {line}", style="dim", overflow="ignore"), soft_wrap=True)
    console.print()


def _verdict(console: Console, result: Comparison, verdict: Verdict) -> None:
    """Print the verdict, a line for each target where there are several, and what fails first."""
    console.print(Text(one_line(words.headline(verdict)), style=_STATE_STYLES[verdict.state]))
    for line in words.lines(verdict, result):
        console.print(Text(one_line(line)))
    for line in words.growth_lines(verdict):
        console.print(Text(one_line(line)), soft_wrap="airtcp plan" in line)
    console.print()
    rows = words.rows(verdict)
    if len(rows) > 1:
        shown = rows[: words.MOST_ROWS]
        show.print_table(console, words.HEAD, shown, least_first=words.LEAST_NAME)
        if len(rows) > words.MOST_ROWS:
            more = len(rows) - words.MOST_ROWS
            console.print(Text(f"and {more} more: --json has all", style="dim"))
        console.print()


def _advice(console: Console, advice: Advice) -> None:
    """Print each problem with what was tried against it, and of the best remedy how to do it."""
    if not advice.problems:
        console.print(Text("Nothing stands out as wrong.\n"))
        return
    tried = told(advice)
    for advised in advice.problems:
        console.print(Text(one_line(headline(advised)), style="bold"))
        for trial in advised.remedies:
            style = _OUTCOME_STYLES[trial.outcome]
            shown = Text(one_line(effect_line(advised, trial)), style=style)
            console.print(Padding(shown, (0, 0, 0, 2)))
            if trial.outcome in ("helps", "costs others"):
                for more in others(trial):
                    console.print(Padding(Text(one_line(more), style="dim"), (0, 0, 0, 4)))
    if not tried and any(PROBLEMS[one.finding.problem].remedies for one in advice.problems):
        console.print(Text("What helps was not tried: run without --no-advice does.", style="dim"))
    elif any(not one.remedies for one in tried):
        console.print(Text("More remedies: --advice all tries them.", style="dim"))
    console.print()
    best = advice.best
    if best is not None:
        console.print(Text(f"Try it: {best.title}", style="bold"))
        for told_line in (settings(best.set), *equipment(best.apply, best.notes)):
            console.print(Text(f"  {told_line}", overflow="ignore"), crop=False, soft_wrap=True)
        console.print()
