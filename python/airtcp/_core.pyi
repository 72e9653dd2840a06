"""The Rust core: the packet-level and the flow-level simulator.

Called by `airtcp.run` alone.
"""

from os import PathLike
from typing import Any, Final, Self, final

__all__ = [
    "GENERATOR",
    "Cancelled",
    "ConcurrentFlows",
    "FlowControl",
    "FlowSimulation",
    "RunControl",
    "Simulation",
    "SimulationFailed",
    "__version__",
    "airtime_ns",
]

__version__: Final[str]
GENERATOR: Final[str]
"""Name of the random generator; it travels with every result."""

class SimulationFailed(RuntimeError):  # noqa: N818 (the core names it)
    """A replication broke a conservation law: its numbers are not to be trusted."""

class Cancelled(Exception):  # noqa: N818
    """The replication was cancelled through its `RunControl` or `FlowControl`."""

@final
class RunControl:
    """A handle on a replication that runs in another thread."""

    def __new__(cls) -> Self: ...
    def cancel(self) -> None:
        """Ask the replication to stop; it raises `Cancelled` soon after."""
    @property
    def progress(self) -> float:
        """The fraction of its time that has been simulated, 0 to 1."""

@final
class Simulation:
    """A scenario, parsed once and run as often as wanted, from any thread."""

    def __new__(cls, resolved_json: str) -> Self:
        """Raises ValueError if the resolved form is not what the core takes."""
    def run(self, seed: int, replication: int, control: RunControl) -> tuple[str, bytes]:
        """Simulate one replication, without the GIL.

        Gives the answer as JSON (docs/resolved-form.md) and the transfer times in seconds as the
        bytes of a little-endian float64 array. Raises `SimulationFailed` or `Cancelled`.
        """
    def run_recorded(
        self,
        seed: int,
        replication: int,
        control: RunControl,
        *,
        sample_interval_ns: int | None,
        pcap: str | PathLike[str] | None,
        snaplen: int,
    ) -> tuple[str, bytes, dict[str, Any] | None]:
        """The same with a trace, which `airtcp.results.trace` takes apart, and a capture file.

        `pcap` is overwritten with what is on the air, the first `snaplen` bytes of each frame.
        With a sample interval there is a trace: a dictionary with `interval_ns`; `flow_names`,
        `queue_names`, `event_names` and `node_names`; and the tables `flows`, `queues`, `events`
        and `ppdus`, each a dictionary of columns as the bytes of little-endian int64 arrays, in
        which -1 stands for what does not exist. Raises ValueError if `sample_interval_ns` is 0,
        OSError if the file cannot be written.
        """

@final
class FlowControl:
    """A handle on runs of `FlowSimulation` in other threads."""

    def __new__(cls) -> Self: ...
    def cancel(self) -> None:
        """Ask the runs to stop; they raise `Cancelled` soon after."""

@final
class ConcurrentFlows:
    """Processor-sharing servers side by side, parsed once and run from any thread."""

    def __new__(cls, system_json: str) -> Self:
        """Raises ValueError if the JSON is not a system, or one that cannot be simulated."""
    def run(
        self,
        seed: int,
        replication: int,
        warmup_jobs: int,
        jobs: int,
        control: FlowControl,
    ) -> str:
        """The outcomes of the servers of one replication as JSON.

        Raises SimulationFailed and Cancelled.
        """

@final
class FlowSimulation:
    """A processor-sharing system, parsed once and run as often as wanted, from any thread."""

    def __new__(cls, system_json: str) -> Self:
        """Raises ValueError if the JSON is not a system, or one that cannot be simulated."""
    def run(
        self,
        seed: int,
        replication: int,
        warmup_jobs: int,
        jobs: int,
        keep_jobs: bool,
        control: FlowControl,
    ) -> tuple[str, bytes, bytes]:
        """Simulate one replication, without the GIL.

        Gives the answer as JSON, then sojourn times in seconds and sizes of the measured jobs as
        the bytes of little-endian float64 arrays, empty unless `keep_jobs`. Raises
        `SimulationFailed` or `Cancelled`.
        """

def airtime_ns(resolved_json: str, bits: int, rate_bps: int) -> int:
    """Time on the air in nanoseconds of a frame of `bits` bits, MAC header and FCS included.

    Raises ValueError if `rate_bps` is none of the scenario's data and control rates.
    """
