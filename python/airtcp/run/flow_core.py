"""The flow-level simulators of the Rust core, for packages that build on them (airtcp-papers)."""

from airtcp._core import (
    GENERATOR,
    ConcurrentFlows,
    CoupledFlows,
    FlowControl,
    FlowSimulation,
    SimulationFailed,
)

__all__ = [
    "GENERATOR",
    "ConcurrentFlows",
    "CoupledFlows",
    "FlowControl",
    "FlowSimulation",
    "SimulationFailed",
]
