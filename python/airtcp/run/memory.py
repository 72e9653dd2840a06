"""Estimate the memory that a simulation may need, and the available memory.

The upper estimate uses measured bytes per station, flow, segment and record; `tests/test_memory.py`
compares it with the memory of real processes. The available memory is read on Linux; elsewhere no
scenario is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from airtcp.exceptions import ScenarioError
from airtcp.phrases import phrase

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: Python with the imports of a command, and the scenario itself.
_PROCESS: Final = 110_000_000
#: A simulation that needs at most this much more than `_PROCESS` is not checked: a machine that can
#: start Python has it.
_SMALL: Final = 16_000_000
#: In an active run: a node with its queues, and the extra for a queue per access category.
_STATION: Final = 2_500
_CATEGORIES: Final = 1_500
#: A flow with both ends of a connection, and its record as JSON and as a dictionary.
_FLOW: Final = 4_000
#: A segment in flight with its packet, at most twice its record while a table grows.
_SEGMENT: Final = 250
#: A packet in a queue that no window limits.
_PACKET: Final = 200
#: A station group: delay histograms for both directions, metrics as JSON and dictionaries.
_GROUP: Final = 120_000
#: A transfer that has ended, and one that still has its connection.
_TRANSFER: Final = 100
_OPEN_TRANSFER: Final = 3_000
#: A sample of a trace, and a PPDU in it, in Rust and in Python.
_SAMPLE: Final = 250
_PPDU: Final = 120
#: The most samples in a trace of one replication.
_MOST_ROWS: Final = 2e7
#: The most PPDUs of a cell per second: the shortest exchange takes 100 us.
_PPDUS_A_SECOND: Final = 10_000
#: The received power between two classes of nodes: in Python, and in an active run.
_PAIR: Final = 60
_PAIR_UNDER_WAY: Final = 24
#: A slot of a contention window: who ends its backoff in it, and a bit.
_SLOT: Final = 4.125
#: Below this share of the data rate, offered traffic is served as it arrives.
_SERVED: Final = 0.3
#: Overhead of a packet in bits: headers, and its share of a channel access.
_OVERHEAD_BITS: Final = 1_600
#: More queued datagrams end a run (`world/sockets.rs`).
_MOST_DATAGRAMS: Final = 4_000_000
#: The bytes kept of a completed replication: per record of a flow or station, and per group.
_KEPT_RECORD: Final = 150
_KEPT_GROUP: Final = 20_000


@dataclass(frozen=True)
class Cost:
    """The bytes that a key of the scenario needs; None for the base cost of any scenario."""

    key: str | None
    size: float


def costs(
    scenario: ResolvedScenario,
    *,
    threads: int,
    replications: int,
    sample_s: float | None = None,
    samples_only: bool = False,
) -> list[Cost]:
    """Return upper estimates of the memory of a simulation in bytes, by key.

    At most `threads` replications run at a time. `sample_s` is the interval of a trace, if there is
    one; with `samples_only` it has no PPDUs.
    """
    under_way = min(threads, replications)
    counts = {group.name: group.count for group in scenario.stations}
    stations, groups = sum(counts.values()), len(counts)
    flows = sum(counts[flow.stations] for flow in scenario.flows)
    station = _STATION + (_CATEGORIES if scenario.mac.edca else 0)
    found = [
        Cost(None, _PROCESS),
        Cost("stations.count", (stations * station + flows * _FLOW) * under_way),
        Cost("stations", groups * _GROUP * under_way),
        Cost(
            "run.replications",
            replications * ((flows + stations) * _KEPT_RECORD + groups * _KEPT_GROUP),
        ),
    ]
    if scenario.air is not None:
        pairs = len(scenario.air.received_dbm) ** 2
        found.append(Cost("air", pairs * (_PAIR + _PAIR_UNDER_WAY * under_way)))
    # A node listens by itself, and next to that there are listeners of nodes that hear the same.
    nodes = stations + len(scenario.access_points)
    listeners = 1 if scenario.air is None else 2 * nodes
    windows = "mac.edca" if scenario.mac.edca else "phy.cw_max"
    found.append(Cost(windows, listeners * _slots(scenario) * _SLOT * under_way))
    found += _of_flows(scenario, counts, under_way, replications)
    # The trace code itself rejects invalid intervals and too many rows.
    if sample_s is not None and 1e-9 <= sample_s < math.inf:
        run = scenario.run
        simulated_s = run.whole_s
        series = flows + (1 + stations) * (4 if scenario.mac.edca else 1) + 2 * len(scenario.links)
        rows = min(simulated_s / sample_s * series, _MOST_ROWS)
        ppdus = 0.0 if samples_only else simulated_s * _PPDUS_A_SECOND
        # One completed trace is kept for pictures.
        traces = under_way + 1
        found.append(Cost("the trace", (rows * _SAMPLE + ppdus * _PPDU) * traces))
    return found


def _slots(scenario: ResolvedScenario) -> int:
    """Return the number of slots for which a node keeps who ends its backoff in them.

    For each AIFS these are as many as the longest contention window, a power of two.
    """
    longest = {scenario.phy.difs_ns: scenario.phy.cw_max}
    if edca := scenario.mac.edca:
        for one in (*edca.ap.values(), *edca.stations.values()):
            longest[one.aifs_ns] = max(longest.get(one.aifs_ns, 0), one.cw_max)
    return sum(1 << cw_max.bit_length() for cw_max in longest.values())


def _of_flows(
    scenario: ResolvedScenario, counts: dict[str, int], under_way: int, replications: int
) -> Iterator[Cost]:
    """Yield the cost of the windows, packets and transfers of each flow."""
    run = scenario.run
    simulated_s = run.whole_s
    rates = {group.name: group.data_rate.bps for group in scenario.stations}
    offered = sum(
        counts[flow.stations] * _arrivals(flow)[0] * _arrivals(flow)[1] / rates[flow.stations]
        for flow in scenario.flows
    )
    for flow in scenario.flows:
        count = counts[flow.stations]
        where = f"flows.{flow.name}"
        if flow.tcp is not None:
            segments = flow.tcp.receive_window_bytes / flow.tcp.mss_bytes
            yield Cost(f"{where}.tcp.receive_window", count * segments * _SEGMENT * under_way)
        a_second, _ = _arrivals(flow)
        number = count * a_second * simulated_s
        if flow.application.kind == "udp":
            limits = [one.queue.limit for one in scenario.access_points]
            limits += [one.queue.limit for one in scenario.stations]
            most = max((limit for limit in limits if limit is not None), default=0)
            piled = number if None in limits and offered > _SERVED else min(number, count * most)
            if flow.application.rate_bps is None:
                # A saturated sender prepares the next A-MPDU while one is being transmitted.
                aggregation = scenario.mac.aggregation
                piled = count * 2 * (1 if aggregation is None else aggregation.block_ack_window)
            piled = min(piled, _MOST_DATAGRAMS)
            yield Cost(f"{where}.application", piled * _PACKET * under_way)
        else:
            is_open = flow.application.kind == "ftp" and offered > _SERVED
            each = _OPEN_TRANSFER if is_open else _TRANSFER
            ended = min(number, simulated_s * _PPDUS_A_SECOND * count)
            yield Cost(f"{where}.application", number * each * under_way + ended * 8 * replications)


def _arrivals(flow: object) -> tuple[float, float]:
    """Return how many packets or transfers of a flow arrive per second, and their bits."""
    application = flow.application  # type: ignore[attr-defined]
    if application.kind == "udp":
        bits = 8 * application.packet_bytes + _OVERHEAD_BITS
        return (application.rate_bps or 0) / (8 * application.packet_bytes), bits
    if application.kind == "ftp":
        gap, size = application.interarrival, application.size
    elif application.kind == "web":
        gap, size = application.think_time, application.size
    else:
        return 0.0, 0.0
    if size is None:
        return 0.0, 0.0
    # A page without think time still needs a channel access. A transfer has a handshake, data, its
    # ACK and a FIN at least.
    return 1 / max(gap.mean(), 1e-4), 8 * size.mean() + 5 * _OVERHEAD_BITS


def refuse_too_large(
    scenario: ResolvedScenario,
    *,
    threads: int,
    replications: int,
    sample_s: float | None = None,
    samples_only: bool = False,
) -> None:
    """Raise ScenarioError if a simulation may need more memory than available.

    The message names the key that needs most of it.
    """
    found = costs(
        scenario,
        threads=threads,
        replications=replications,
        sample_s=sample_s,
        samples_only=samples_only,
    )
    total = sum(cost.size for cost in found)
    if total <= _PROCESS + _SMALL:
        return
    there = available_bytes()
    if there is None or total <= there:
        return
    most = max(found[1:], key=lambda cost: cost.size)
    fewer = ", or fewer threads" if min(threads, replications) > 1 else ""
    raise ScenarioError(
        scenario.called,
        most.key or "",
        phrase(
            "run.failed.memory",
            size=_gigabytes(most.size),
            total=_gigabytes(total),
            there=_gigabytes(there),
            fewer=fewer,
        ),
    )


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.2g} GB" if size < 1e10 else f"{size / 1e9:,.0f} GB"


def available_bytes() -> int | None:
    """Return the memory in bytes that this process may still use; None if unknown.

    This is the minimum of the machine's free memory, the limits of its control groups (versions 1
    and 2), and the rest of its own limit (`ulimit -v`).
    """
    found = [size for size in (_of_machine(), *_of_groups(), _of_limit()) if size is not None]
    return max(0, min(found)) if found else None


def _of_machine() -> int | None:
    return _field(Path("/proc/meminfo"), "MemAvailable:", 1024)


def _of_limit() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    taken = _field(Path("/proc/self/status"), "VmSize:", 1024)
    return None if limit == resource.RLIM_INFINITY or taken is None else limit - taken


def _of_groups() -> Iterator[int]:
    """Yield the memory left in the control group of the process and in each of its parents."""
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        _, controllers, own = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        version_2 = not controllers
        root = Path("/sys/fs/cgroup") if version_2 else Path("/sys/fs/cgroup/memory")
        most, taken = (
            ("memory.max", "memory.current")
            if version_2
            else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        )
        folder = root / own.lstrip("/")
        for group in (folder, *folder.parents):
            if not group.is_relative_to(root):
                break
            limit, used = _text(group / most).strip(), _text(group / taken).strip()
            if limit.isdigit() and used.isdigit():
                # Memory of the file cache can be reclaimed.
                cached = _field(group / "memory.stat", "inactive_file", 1) or 0
                yield int(limit) - int(used) + cached


def _field(path: Path, name: str, unit: int) -> int | None:
    """Return the number in the line of a file that begins with `name`."""
    for line in _text(path).splitlines():
        first, *rest = line.split()
        if first == name:
            return int(rest[0]) * unit
    return None


def _text(path: Path) -> str:
    """Return the text of a kernel file; "" if it does not exist."""
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
