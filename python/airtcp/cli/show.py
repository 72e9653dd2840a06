"""Results on a terminal: tables and sentences, without control codes in a pipe."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NoReturn

from rich.console import Console

from airtcp.document import Heading, Lines, Part, terminal
from airtcp.messages import run as words
from airtcp.present import details as more
from airtcp.present.cautions import cautions
from airtcp.present.sense import sanity
from airtcp.present.testbed import cautions_of, sanity_of, trust
from airtcp.results import Comparison, Prediction, SimulationResult, TestbedResult
from airtcp.results.channel_plans import ChannelPlan
from airtcp.results.differences import Difference
from airtcp.results.plans import Plan

if TYPE_CHECKING:
    from airtcp.present.report import Answer

#: Width of output to a pipe if COLUMNS is not set.
_PIPE_WIDTH: Final = 120


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Raise, so that the command ends quietly. Rich would exit with a failure."""
        raise BrokenPipeError


def new_console() -> Console:
    """Return a console as wide as the terminal. Output to a pipe has no control codes."""
    console = _Console(highlight=False, emoji=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PIPE_WIDTH
    if not console.width:
        # COLUMNS is 0 if a terminal does not report its width; Rich would print nothing.
        console.width = _PIPE_WIDTH
    return console


def parts(shown: Iterable[Part]) -> None:
    """Print the parts of an answer on stdout."""
    terminal.show(new_console(), list(shown))


def show(result: Answer, **wanted: Any) -> None:
    """Print any answer on stdout, with the parts that are `wanted`."""
    parts(_SCREENS[type(result)](result, **wanted))
    if isinstance(result, SimulationResult | Prediction):
        print()


def _predicted(
    result: Prediction, *, models: bool = False, explain: bool = False
) -> Iterator[Part]:
    """Yield a prediction, the answer first.

    `models`: list every model's value, not only the best. `explain`: describe the effect of broken
    assumptions.
    """
    yield from words.predicted(result)
    yield from more.prediction(result, models=models, explain=explain)
    if models or explain:
        yield from more.scenario(result)


def _simulated(result: SimulationResult, *, real: TestbedResult | None = None) -> Iterator[Part]:
    """Yield a simulation. `real`: the values come from this testbed."""
    yield from more.interruption(result)
    if real is not None:
        told = f"Real TCP over the simulated channel, in real time: {trust(real.lag)}."
        yield Lines([(told, "")])
    yield from words.simulated(result)
    yield from more.cells(result)
    yield more.simulated(result)
    if real is not None:
        yield from more.trust_in(real)
    yield from more.scenario(result)
    if real is None:
        yield from more.counters(sanity(result), cautions(result))
    else:
        yield from more.counters(sanity_of(real, result), cautions_of(real, result))


def _run(
    result: Comparison, *, details: bool = False, models: bool = False, explain: bool = False
) -> Iterator[Part]:
    folded = not (
        details or models or explain or result.testbed is not None or result.missing is not None
    )
    yield from more.interruption(result)
    yield from words.parts(result, everything=not folded)
    yield from more.cells(result)
    if result.measured is not None:
        yield from more.beside_measured(result.measured)
    if folded:
        yield from (*words.notes(cautions(result)), words.footer(result))
        return
    yield from more.comparison(result, models=models, explain=explain)
    yield from more.scenario(result)
    yield from more.counters(sanity(result), cautions(result))
    yield from words.engine(result)


def _difference(found: Difference, *, details: bool = False) -> Iterator[Part]:
    """Yield the difference of two simulations; `details` adds imperceptible ones."""
    from airtcp.messages import diff
    from airtcp.present.cells import by_cell_of_both
    from airtcp.present.difference import changed_lines

    yield from diff.parts(found, changed_lines(found), everything=details)
    of_cells = by_cell_of_both(found.a.simulation, found.b.simulation)
    if of_cells is not None:
        yield from (Heading("Cells, A → B"), of_cells)


def _plan(found: Plan, *, details: bool = False) -> Iterator[Part]:
    """Yield a plan; `details` adds long configurations."""
    from airtcp.messages import plan

    return plan.parts(found, everything=details)


def _channels(found: ChannelPlan) -> Iterator[Part]:
    from airtcp.present import channel_plan

    return channel_plan.parts(found)


_SCREENS: Final[dict[type, Callable[..., Iterator[Part]]]] = {
    Comparison: _run,
    SimulationResult: _simulated,
    Prediction: _predicted,
    Difference: _difference,
    Plan: _plan,
    ChannelPlan: _channels,
}
