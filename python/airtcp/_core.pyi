"""The Rust core: the packet-level and the flow-level simulator.

Only `airtcp.run` calls it.
"""

from collections.abc import Callable, Sequence
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
    "TestbedCapture",
    "TestbedControl",
    "__version__",
    "airtime_ns",
    "run_testbed",
]

__version__: Final[str]
GENERATOR: Final[str]
"""Name of the random generator; every result contains it."""

class SimulationFailed(RuntimeError):  # noqa: N818 (the core names it)
    """A replication broke a conservation law: do not trust its numbers."""

class Cancelled(Exception):  # noqa: N818
    """The replication was cancelled through its `RunControl` or `FlowControl`."""

@final
class RunControl:
    """Controls a replication that runs in another thread or in this one.

    With `watch`, the thread of the replication handles signals and calls `watch` a few times a
    second. An exception from either ends the replication and propagates to the caller.
    """

    def __new__(cls, watch: Callable[[], object] | None = None) -> Self: ...
    def cancel(self) -> None:
        """Ask the replication to stop. It soon raises `Cancelled`."""
    @property
    def progress(self) -> float:
        """The simulated fraction of its time, 0 to 1."""

@final
class Simulation:
    """A parsed scenario, which any thread can run any number of times."""

    def __new__(cls, resolved_json: str) -> Self:
        """Parse the resolved form without the GIL. Raises ValueError if the core rejects it."""
    def engines(self) -> list[tuple[str, str]]:
        """Return the engine of each cell, and the reason for it, in the order of cells."""
    def run(
        self, seed: int, replication: int, control: RunControl
    ) -> tuple[str, bytes, dict[str, bytes]]:
        """Simulate one replication without the GIL.

        Returns three parts. The first is the answer as JSON (resolved-form.md). The second is the
        transfer times in seconds, as the bytes of a little-endian float64 array. The third is the
        accounts that `airtcp.estimates.accounts` parses. Raises `SimulationFailed` or `Cancelled`.
        """
    def run_metrics(
        self, seed: int, replication: int, control: RunControl, names: Sequence[str]
    ) -> bytes:
        """Simulate one replication as `run` does, and return some metrics of the whole network.

        The metrics are in the order of `names`, as the bytes of a little-endian float64 array, with
        NaN for a metric that does not exist. The rest of the answer is neither written nor read.
        For a short run, that would take half as long as the simulation. Raises `SimulationFailed`
        or `Cancelled`.
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
        transfers: bool,
        samples_only: bool,
    ) -> tuple[str, bytes, dict[str, bytes], dict[str, Any] | None, dict[str, bytes] | None]:
        """Simulate as `run` does, with a trace (see `airtcp.results.trace`) and a capture file.

        The capture overwrites `pcap` with the transmitted frames, the first `snaplen` bytes of
        each. With a sample interval there is a trace: a dictionary with `interval_ns`;
        `flow_names`, `queue_names`, `event_names` and `node_names`; and the tables `flows`,
        `queues`, `events` and `ppdus`. Each table is a dictionary of columns as the bytes of
        little-endian int64 arrays, in which -1 means that no value exists. With `samples_only`
        there are no events and PPDUs. If `transfers` is true, the measured transfers follow in the
        order of their times, with the columns `flow` (an index into the answer's flows), `began_ns`
        and `bytes`. Raises ValueError if `sample_interval_ns` is 0, OSError if the file cannot be
        written.
        """

@final
class FlowControl:
    """Controls runs of `FlowSimulation` in other threads."""

    def __new__(cls) -> Self: ...
    def cancel(self) -> None:
        """Ask the runs to stop. They soon raise `Cancelled`."""

@final
class ConcurrentFlows:
    """Parallel processor-sharing servers, parsed once, which any thread can run."""

    def __new__(cls, system_json: str) -> Self:
        """Read a system. Raises ValueError if the JSON is not one that can be simulated."""
    def run(
        self,
        seed: int,
        replication: int,
        warmup_jobs: int,
        jobs: int,
        control: FlowControl,
    ) -> str:
        """Return the results of the servers in one replication as JSON.

        Raises SimulationFailed and Cancelled.
        """

@final
class CoupledFlows:
    """Coupled processor-sharing servers, parsed once, which any thread can run."""

    def __new__(cls, system_json: str) -> Self:
        """Read a system. Raises ValueError if the JSON is not one that can be simulated."""
    def run(
        self,
        seed: int,
        replication: int,
        warmup_jobs: int,
        jobs: int,
        control: FlowControl,
    ) -> str:
        """Return the results of the servers in one replication as JSON.

        Raises SimulationFailed and Cancelled.
        """

@final
class FlowSimulation:
    """A processor-sharing system, parsed once, which any thread can run any number of times."""

    def __new__(cls, system_json: str) -> Self:
        """Read a system. Raises ValueError if the JSON is not one that can be simulated."""
    def run(
        self,
        seed: int,
        replication: int,
        warmup_jobs: int,
        jobs: int,
        keep_jobs: bool,
        control: FlowControl,
    ) -> tuple[str, bytes, bytes]:
        """Simulate one replication without the GIL.

        Returns the answer as JSON, then sojourn times in seconds and sizes of the measured jobs as
        the bytes of little-endian float64 arrays, empty unless `keep_jobs`. Raises
        `SimulationFailed` or `Cancelled`.
        """

@final
class TestbedCapture:
    """A capture file (pcapng) of a testbed's nodes and its wireless frames. Only on Linux.

    `nodes` names the interfaces for the packets of nodes. `air` names the interfaces for wireless
    frames: one, or one for each of the core's nodes if nodes hear different frames. A thread writes
    the file, with the priority of the thread that creates this object. Raises OSError if the file
    cannot be opened.
    """

    def __new__(cls, path: str, nodes: list[str], air: list[str], snaplen: int) -> Self: ...
    def finish(self) -> None:
        """Wait until everything is written. Raises OSError if writing failed."""

@final
class TestbedControl:
    """Controls a testbed that runs in another thread. Only on Linux."""

    def __new__(cls) -> Self: ...
    def stop(self) -> None:
        """Ask the testbed to stop soon."""
    def progress(self, bound_us: int) -> dict[str, Any]:
        """Return the state of the testbed, at most about 100 ms old.

        The keys are:

        - `elapsed_s`
        - `payload_bytes`: received by either end, by entry of flows
        - `ap_queue_packets`
        - `ap_mpdus_per_ppdu`: of data, None if nothing is aggregated or was sent
        - `successes` and `collisions`: of transmissions
        - `losses`: of packets
        - `packets`: number of packets that left
        - `lag_p50_s`, `lag_p99_s` (None without packets), `lag_max_s`: how late packets left
        - `lag_share_above`: the share of packets later than `bound_us` microseconds
        - `strays`: packets addressed to no node
        - `refused`: packets that a device did not accept
        """

def drawn(law_json: str, seed: int, replication: int, flow: str, purpose: str, count: int) -> bytes:
    """Return draws that the simulator makes for a flow from a law of the resolved form.

    Only on Linux.

    They are the first `count` draws of the stream of a purpose ("transfer size", "pause",
    "arrival") of a flow ("laptop/0") in a replication, as little-endian float64 numbers. Raises
    ValueError if `law_json` is not a law.
    """

def drawn_pages(
    application_json: str, seed: int, replication: int, flow: str, pad: int | None, count: int
) -> list[list[int]]:
    """Return the bytes of the objects of a flow's first pages, the document first. Only on Linux.

    The simulator draws the same pages for the flow ("laptop/0") in a replication.
    `application_json` is the application in the resolved form. If `pad` is given, object sizes are
    multiples of `pad` bytes. Raises ValueError if it is not an application, or one without pages.
    """

def run_testbed(
    simulation: Simulation,
    seed: int,
    devices: list[int],
    stations: list[str | None],
    servers: list[tuple[str, str, int | None] | None],
    epoch_ns: int,
    control: TestbedControl,
    capture: TestbedCapture | None = None,
) -> tuple[str, bytes] | None:
    """Simulate the wireless network of a scenario in real time without the GIL. Only on Linux.

    `devices` are descriptors of non-blocking TUN devices. The server's is first. Then follow those
    of the stations that have an IPv4 address in `stations`, in the order of the core. Other
    stations are fully simulated. `servers` has a tuple for each entry of flows, or None if the
    entry is simulated. The tuple has the address of the server, the use of its connections
    ("stream", "transfer", "part" of a transfer of FTP, "pages", "dialogue"), and the port for FTP.
    That port is None without FTP, and 0 if the first connection to each port is a dialogue.
    Simulated time zero is when the monotonic clock is at `epoch_ns`. A `capture` has the devices in
    the same order. Returns the same as `Simulation.run`, or None if it was stopped. Raises
    `SimulationFailed`, ValueError for an invalid address, and OSError for an invalid descriptor.
    """

def register_acks(name: str, class_: type) -> None:
    """Register a class of ACK policies (`airtcp.acks`), as `register_congestion` does."""

def register_discipline(name: str, class_: type) -> None:
    """Register a class of queue disciplines (`airtcp.queues`), as `register_congestion` does."""

def register_scheduler(name: str, class_: type) -> None:
    """Register a class of schedulers (`airtcp.schedulers`), as `register_congestion` does."""

def register_congestion(name: str, class_: type) -> None:
    """Register a class of congestion controls (`airtcp.congestion`) under a word for scenarios.

    Runs whose scenarios use the word create an object of the class for each connection, and call
    it. An exception in a call ends the run as an `airtcp.PluginFailedError`.
    """

def airtime_ns(resolved_json: str, bits: int, rate_bps: int) -> int:
    """Return the airtime in nanoseconds of a frame of `bits` bits, including MAC header and FCS.

    Raises ValueError if `rate_bps` is none of the scenario's data and control rates.
    """
