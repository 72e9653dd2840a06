"""The results of models and simulation.

    objects                   what was simulated: attributes are the keys of the JSON they write
    compared                  what models say, and that beside simulation
    glance                    what a short run says
    transfers                 transfers one by one, and their file
    averages                  flows, stations and groups over replications
    testbed                   the same of a testbed, and how far it is to be trusted
    trace, trace_file         what happened during a run, and its file
    epochs                    congestion epochs in traces
    store                     finished simulations on disk, whole
    table, query              a row for each replication on disk, and questions to them; `open`
    records                   the flows and stations of a replication, in little memory

Knows the shape of answers. Does not know how they are computed or shown.
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

#: The names that a command on a scenario needs least, imported when they are first asked for.
_LATER: Final = {"Results": "query", "open": "query", "Lag": "testbed", "TestbedResult": "testbed"}


def __getattr__(name: str) -> Any:
    """Import a name of `_LATER`."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value
