"""Simulation: replications on threads, their number, and the warm-up.

    simulate, replications    a scenario through the packet-level core
    interruption              keep Ctrl-C until a safe moment
    numbers                   single replications as rows, for sweeps
    warmup                    find the warm-up that reaches the steady state
    flows                     the flow-level simulator, processor sharing

This is the only package that calls the compiled core.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import SimulationError
from airtcp.phrases import phrase

if TYPE_CHECKING:
    from airtcp import _core
    from airtcp.results import Comparison

__all__ = ["HEADLINES", "LEAST_SNAPLEN", "MOST_SNAPLEN", "SNAPLEN"]

#: The metrics whose intervals must reach `precision`. A metric without a value in any replication
#: (no transfers) does not count.
HEADLINES: Final = ("goodput_bps", "transfer_time_s")

#: The bytes of each frame in a capture: all headers, and the messages of FTP.
SNAPLEN: Final = 256
LEAST_SNAPLEN: Final = 64
MOST_SNAPLEN: Final = 65_535


def core_of(resolved: str) -> "_core.Simulation":
    """Return the core's simulation of a resolved scenario as JSON. Raises SimulationError."""
    from airtcp import _core

    try:
        return _core.Simulation(resolved)
    except ValueError as error:
        raise SimulationError(phrase("run.failed.rejected", error=error)) from error


class _Verb(ModuleType):
    """Makes the package callable: `airtcp.run(...)`."""

    def __call__(self, *arguments: Any, **options: Any) -> "Comparison":
        """Simulate a scenario, check it against targets, and recommend changes: `airtcp.answer`."""
        # A late import, because `airtcp.answer` is above this package in the import order.
        answer = import_module("airtcp.answer")
        result: Comparison = answer.run(*arguments, **options)
        return result


sys.modules[__name__].__class__ = _Verb
