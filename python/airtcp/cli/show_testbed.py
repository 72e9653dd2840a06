"""The answer of a testbed on a terminal."""

from __future__ import annotations

from airtcp.cli.show import new_console, trust_in
from airtcp.cli.show import result as show_simulation
from airtcp.results import SimulationResult, TestbedResult


def result(result: TestbedResult) -> None:
    """Print a result on stdout: what was measured, and how far it is to be trusted."""
    show_simulation(SimulationResult(result.scenario, result.provenance, result.testbed))
    trust_in(new_console(), result)
