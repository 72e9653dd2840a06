"""The results of models and simulation.

    objects                   results of simulations; attributes are the keys of their JSON
    compared                  values of models, and models next to simulation
    glance                    results of quick simulations
    transfers                 single transfers, and their file
    averages                  flows, stations and groups over replications
    testbed                   results of a testbed, and how reliable they are
    trace, trace_file         the trace of a run, and its file
    table, query              the table of a sweep on disk, and queries; `open`
    records                   compact records of flows and stations

This package defines the form of results; it neither computes nor displays them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from airtcp.results.averages import Flow, Groups, Station
from airtcp.results.compared import Comparison, Model, Predicted, Prediction, Row
from airtcp.results.glance import Glance
from airtcp.results.objects import Replication, Simulation, SimulationResult, Stopped
from airtcp.results.provenance import Provenance, canonical_json

if TYPE_CHECKING:
    from airtcp.results.query import Results, open  # noqa: A004  # airtcp.results.open(DIR)
    from airtcp.results.testbed import Lag, TestbedResult

__all__ = [
    "Comparison",
    "Flow",
    "Glance",
    "Groups",
    "Lag",
    "Model",
    "Predicted",
    "Prediction",
    "Provenance",
    "Replication",
    "Results",
    "Row",
    "Simulation",
    "SimulationResult",
    "Station",
    "Stopped",
    "TestbedResult",
    "canonical_json",
    "open",
]

#: Names that commands on a scenario rarely need, imported on first access.
_LATER: Final = {"Results": "query", "open": "query", "Lag": "testbed", "TestbedResult": "testbed"}


def __getattr__(name: str) -> Any:
    """Import a name of `_LATER`."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value
