"""The result of a testbed on a terminal."""

from __future__ import annotations

from airtcp.cli.show import result as show_simulation
from airtcp.results import SimulationResult, TestbedResult


def result(result: TestbedResult) -> None:
    """Print a result on stdout: the measured values, and how reliable they are."""
    measured = SimulationResult(result.scenario, result.provenance, result.testbed)
    show_simulation(measured, real=result)
