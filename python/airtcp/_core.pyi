"""The Rust core: the packet-level and the flow-level simulator.

Called by `airtcp.run` alone.
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
"""Name of the random generator; it travels with every result."""

class SimulationFailed(RuntimeError):  # noqa: N818 (the core names it)
    """A replication broke a conservation law: its numbers are not to be trusted."""

class Cancelled(Exception):  # noqa: N818
    """The replication was cancelled through its `RunControl` or `FlowControl`."""

@final
class RunControl:
    """A handle on a replication that runs in another thread, or in this one.

    With `watch` its thread handles signals a few times a second and calls that; what either raises
    ends the replication and comes out of it.
    """

    def __new__(cls, watch: Callable[[], object] | None = None) -> Self: ...
    def cancel(self) -> None:
        """Ask the replication to stop; it raises `Cancelled` soon after."""
    @property
    def progress(self) -> float:
        """The fraction of its time that has been simulated, 0 to 1."""

@final
class Simulation:
    """A scenario, parsed once and run as often as wanted, from any thread."""

    def __new__(cls, resolved_json: str) -> Self:
        """Raises ValueError if the resolved form is not what the core takes. Without the GIL."""
    def engines(self) -> list[tuple[str, str]]:
        """The engine that plays each cell, in the order of cells, and the reason for it."""
    def run(
        self, seed: int, replication: int, control: RunControl
    ) -> tuple[str, bytes, dict[str, bytes]]:
        """Simulate one replication, without the GIL.

        Gives the answer as JSON (resolved-form.md), the transfer times in seconds as the
        bytes of a little-endian float64 array, and the books, which `airtcp.estimates.books` takes
        apart. Raises `SimulationFailed` or `Cancelled`.
        """
    def run_metrics(
        self, seed: int, replication: int, control: RunControl, names: Sequence[str]
    ) -> bytes:
        """Simulate one replication as `run` does, and give some of the metrics of everything.

        They are in the order of `names`, as the bytes of a little-endian float64 array; NaN where
        one does not exist. All the rest of the answer is neither written nor read: for a short run
        that takes half as long as to simulate it. Raises `SimulationFailed` or `Cancelled`.
        """
    def run_batches(
        self,
        seed: int,
        replication: int,
        control: RunControl,
        *,
        most: int,
        least: int,
        work: int,
    ) -> list[tuple[str, bytes, dict[str, bytes]]]:
        """Simulate the warm-up of one replication, and then several times the measured time.

        Of each time what `run` gives, but for the records of flows and stations; together they are
        the parts of one long measured time. `most` of them, or at least `least`, and until the work
        is `work`: events of the world, and twice the attempts on the air and the TCP segments in
        the measured times so far. Raises `SimulationFailed` or `Cancelled`.
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
        """The same with a trace, which `airtcp.results.trace` takes apart, and a capture file.

        `pcap` is overwritten with what is on the air, the first `snaplen` bytes of each frame.
        With a sample interval there is a trace: a dictionary with `interval_ns`; `flow_names`,
        `queue_names`, `event_names` and `node_names`; and the tables `flows`, `queues`, `events`
        and `ppdus`, each a dictionary of columns as the bytes of little-endian int64 arrays, in
        which -1 stands for what does not exist; with `samples_only` no events and PPDUs. Then the
        measured `transfers`, if they are asked for, in the order of their times: columns `flow` (a
        place in the answer's), `began_ns` and `bytes`. Raises ValueError if `sample_interval_ns`
        is 0, OSError if the file cannot be written.
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
class CoupledFlows:
    """Processor-sharing servers that slow each other down, parsed once and run from any thread."""

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

@final
class TestbedCapture:
    """A capture file (pcapng) of a testbed's nodes and its air. On Linux alone.

    It has interfaces of these names for the packets of nodes, and for the frames of the air: one,
    or where nodes hear different things one for each node that the core has.
    A thread writes it, with the priority of the one that makes this. Raises OSError if the file
    cannot be opened.
    """

    def __new__(cls, path: str, nodes: list[str], air: list[str], snaplen: int) -> Self: ...
    def finish(self) -> None:
        """Wait until all is written. Raises OSError if something could not be."""

@final
class TestbedControl:
    """A handle on a testbed that runs in another thread. On Linux alone."""

    def __new__(cls) -> Self: ...
    def stop(self) -> None:
        """Ask it to stop soon."""
    def progress(self, bound_us: int) -> dict[str, Any]:
        """What has been so far, some 100 ms ago at most.

        `elapsed_s`; `payload_bytes` that came to either end, by entry of flows; `ap_queue_packets`;
        `ap_mpdus_per_ppdu` of data, None where nothing is aggregated or was sent; `successes` and
        `collisions` of transmissions; `losses` of packets; `packets` that left, and of how late
        they did `lag_p50_s`, `lag_p99_s` (None without packets), `lag_max_s` and `lag_share_above`
        the bound in microseconds; `strays`, which were for no node, and `refused`, which a device
        did not take.
        """

def drawn(law_json: str, seed: int, replication: int, flow: str, purpose: str, count: int) -> bytes:
    """Draws of a law of the resolved form that the simulator makes for a flow. On Linux alone.

    Of the stream of a purpose ("transfer size", "pause", "arrival") of a flow ("laptop/0") in a
    replication the first `count`, as little-endian float64 numbers. Raises ValueError for no law.
    """

def drawn_pages(
    application_json: str, seed: int, replication: int, flow: str, pad: int | None, count: int
) -> list[list[int]]:
    """Bytes of the objects of a flow's first pages, the document of each first. On Linux alone.

    Those that the simulator draws for the flow ("laptop/0") in a replication. `application_json` is
    its application in the resolved form; objects are multiples of `pad` bytes where they are
    padded. Raises ValueError for no application, and for one without pages.
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
    """Let the air of a scenario go by in real time, without the GIL. On Linux alone.

    `devices` are descriptors of TUN devices that do not block, the server's first, then those of
    the stations that have an IPv4 address in `stations`, in the order of the core: all about the
    others is simulated. `servers` has for
    each entry of flows the address of its server, what its connections are for ("stream",
    "transfer", "part" of a transfer of FTP, "pages", "dialogue"), and the port where FTP is spoken:
    None if it is not, 0 if the first connection to each port is a dialogue; None if the entry is
    simulated. Time zero is when the monotonic clock says `epoch_ns`. A `capture` has the devices in
    the same order. Gives the same as `Simulation.run`, or None if it was stopped. Raises
    `SimulationFailed`, ValueError for an address that is none, and OSError for a descriptor that is
    none.
    """

def register_acks(name: str, class_: type) -> None:
    """Register a class of ACK policies (`airtcp.acks`), as `register_congestion` does."""

def register_discipline(name: str, class_: type) -> None:
    """Register a class of queue disciplines (`airtcp.queues`), as `register_congestion` does."""

def register_scheduler(name: str, class_: type) -> None:
    """Register a class of schedulers (`airtcp.schedulers`), as `register_congestion` does."""

def register_congestion(name: str, class_: type) -> None:
    """Register a class of congestion controls (`airtcp.congestion`) under a word of scenarios.

    Runs whose scenarios have the word make an object of it for each connection, and call it; what a
    call raises ends the run, as an `airtcp.PluginFailedError`.
    """

def airtime_ns(resolved_json: str, bits: int, rate_bps: int) -> int:
    """Time on the air in nanoseconds of a frame of `bits` bits, MAC header and FCS included.

    Raises ValueError if `rate_bps` is none of the scenario's data and control rates.
    """
