"""Simulation: replications on threads, how many, and from when on they count.

    simulate, replications    a scenario through the packet-level core
    interruption              Ctrl-C, kept until it is asked for
    numbers                   single replications as rows, for sweeps
    warmup                    from when on a run is in its steady state
    flows                     the flow-level simulator, processor sharing

The only room that calls the compiled core. Knows no models and nothing of how results are shown.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from airtcp.results import Comparison

__all__ = ["HEADLINES", "LEAST_SNAPLEN", "MOST_SNAPLEN", "SNAPLEN"]

#: The metrics whose intervals `precision` is about. One without a value in any replication (no
#: transfers) does not count.
HEADLINES: Final = ("goodput_bps", "transfer_time_s")

#: The bytes of each frame that a capture has: all headers, and the messages of FTP.
SNAPLEN: Final = 256
LEAST_SNAPLEN: Final = 64
MOST_SNAPLEN: Final = 65_535


class _Verb(ModuleType):
    """The package as the verb `airtcp.run`."""

    def __call__(self, *arguments: Any, **options: Any) -> "Comparison":
        """Simulate a scenario, check it against targets, and recommend: `airtcp.answer`."""
        # The answer is made of what stands above this room.
        answer = import_module("airtcp.answer")
        result: Comparison = answer.run(*arguments, **options)
        return result


sys.modules[__name__].__class__ = _Verb
