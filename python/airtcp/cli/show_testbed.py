"""The answer of a testbed on a terminal."""

from __future__ import annotations

from rich.padding import Padding
from rich.text import Text

from airtcp.cli.show import new_console
from airtcp.cli.show import result as show_simulation
from airtcp.cli.testbed import told
from airtcp.exceptions import one_line
from airtcp.results import SimulationResult
from airtcp.testbed.result import TestbedResult


def result(result: TestbedResult) -> None:
    """Print a result on stdout: what was measured, and how far it is to be trusted."""
    show_simulation(SimulationResult(result.scenario, result.provenance, result.testbed))
    console = new_console()
    trust = "trusted" if result.lag.trusted else "not trusted"
    console.print(Text(f"The testbed: {trust}", style="bold"))
    console.print(Padding(Text(told(result.lag)), (0, 0, 0, 2)))
    for text in result.deviations:
        console.print(Padding(Text(one_line(text), style="dim"), (0, 0, 0, 2)))
