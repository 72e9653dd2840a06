"""The trace of one replication: flows and queues at equal intervals, and events.

Every value is the state just before its time, which counts from the start of the run, warm-up
included. `trace_file` writes traces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Integer columns as the core returns them; -1 marks a missing value.
Table = Mapping[str, "NDArray[np.int64]"]

_PPDU_COLUMNS = (
    "time_ns",
    "queue",
    "receiver",
    "mpdus",
    "bytes",
    "rate_bps",
    "airtime_ns",
    "failed",
)


@dataclass(frozen=True, slots=True)
class FlowSeries:
    """One flow at the ends of equal intervals; NaN marks a missing value.

    `delivered_bytes` is the payload delivered to the application since the start of the run, and
    `goodput_bps` the rate in the interval that ends at `time_s`. The other values are those of the
    TCP senders of its data: `connections` with data to send or unacknowledged, `cwnd_bytes` and
    `flight_size_bytes` (sent and not acknowledged) summed over them, `ssthresh_bytes` if there is
    one connection with a threshold, `srtt_s` of the latest connection.
    """

    time_s: NDArray[np.float64]
    delivered_bytes: NDArray[np.int64]
    goodput_bps: NDArray[np.float64]
    connections: NDArray[np.int64]
    cwnd_bytes: NDArray[np.float64]
    ssthresh_bytes: NDArray[np.float64]
    flight_size_bytes: NDArray[np.float64]
    srtt_s: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueueSeries:
    """One queue at the ends of equal intervals: packets, including the one being sent."""

    time_s: NDArray[np.float64]
    packets: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a run, in order of time.

    `event` is one of `Trace.event_names`, `flow` the flow it concerns, and `queue` the place of a
    packet loss (empty otherwise). Events of the sender of a flow's data also have its `cwnd_bytes`,
    `ssthresh_bytes` and `flight_size_bytes` just before, and its window `cwnd_after_bytes`; NaN
    otherwise.
    """

    time_s: NDArray[np.float64]
    event: NDArray[np.str_]
    flow: NDArray[np.str_]
    queue: NDArray[np.str_]
    cwnd_bytes: NDArray[np.float64]
    ssthresh_bytes: NDArray[np.float64]
    flight_size_bytes: NDArray[np.float64]
    cwnd_after_bytes: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ppdus:
    """PPDUs with packets, in order of time; empty without aggregation.

    A PPDU started at `time_s`, from `queue` to the node `receiver`, with this number of `mpdus` of
    `size_bytes` in total (headers included, without delimiters and padding) at `rate_bps`, the rate
    chosen by rate control if there is one. Its duration was `airtime_s`. It had no response if it
    `failed`.
    """

    time_s: NDArray[np.float64]
    queue: NDArray[np.str_]
    receiver: NDArray[np.str_]
    mpdus: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    rate_bps: NDArray[np.int64]
    airtime_s: NDArray[np.float64]
    failed: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trace:
    """The trace of one replication.

    `flow_names`, `queue_names` and `event_names` are the available names. A queue is named `ap` or
    `group/index`, with EDCA `ap AC_BE` etc. Queues of wired links are named `link to server` and
    `link to ap`; a link without a name is named after its flow: `flow/index hop 0`.
    """

    interval_s: float
    flow_names: tuple[str, ...]
    queue_names: tuple[str, ...]
    event_names: tuple[str, ...]
    flow_table: Table
    queue_table: Table
    event_table: Table
    node_names: tuple[str, ...] = ()
    ppdu_table: Table = field(default_factory=lambda: _columns(dict.fromkeys(_PPDU_COLUMNS, b"")))

    @classmethod
    def of_core(cls, answer: Mapping[str, Any]) -> Trace:
        """Create a trace from the core's result."""
        return cls(
            interval_s=answer["interval_ns"] / 1e9,
            flow_names=tuple(answer["flow_names"]),
            queue_names=tuple(answer["queue_names"]),
            event_names=tuple(answer["event_names"]),
            flow_table=_columns(answer["flows"]),
            queue_table=_columns(answer["queues"]),
            event_table=_columns(answer["events"]),
            node_names=tuple(answer["node_names"]),
            ppdu_table=_columns(answer["ppdus"]),
        )

    def flow(self, name: str) -> FlowSeries:
        """Return the samples of a flow, by name `flow/index`.

        Raises ValueError if there is none.
        """
        rows = _rows(self.flow_table, "flow", _number(name, self.flow_names, "flow"))
        return FlowSeries(
            time_s=rows["time_ns"] / 1e9,
            delivered_bytes=rows["delivered_bytes"],
            goodput_bps=_rates(rows["delivered_bytes"], self.interval_s),
            connections=rows["connections"],
            cwnd_bytes=_floats(rows["cwnd_bytes"]),
            ssthresh_bytes=_floats(rows["ssthresh_bytes"]),
            flight_size_bytes=_floats(rows["flight_size_bytes"]),
            srtt_s=_floats(rows["srtt_ns"]) / 1e9,
        )

    def queue(self, name: str) -> QueueSeries:
        """Return the samples of a queue, by name. Raises ValueError if there is none."""
        rows = _rows(self.queue_table, "queue", self.queue_number(name))
        return QueueSeries(rows["time_ns"] / 1e9, rows["packets"])

    def queue_number(self, name: str) -> int:
        """Return the index of a queue in `queue_names`. Raises ValueError if there is none."""
        return _number(name, self.queue_names, "queue")

    def events(self, event: str | None = None, *, flow: str | None = None) -> Events:
        """Return all events, the events named `event`, or the events of a flow.

        Raises ValueError if there is no such event or flow.
        """
        rows = self.event_table
        if event is not None:
            rows = _rows(rows, "event", _number(event, self.event_names, "event"))
        if flow is not None:
            rows = _rows(rows, "flow", _number(flow, self.flow_names, "flow"))
        return Events(
            time_s=rows["time_ns"] / 1e9,
            event=named(self.event_names, rows["event"]),
            flow=named(self.flow_names, rows["flow"]),
            queue=named(self.queue_names, rows["queue"]),
            cwnd_bytes=_floats(rows["cwnd_bytes"]),
            ssthresh_bytes=_floats(rows["ssthresh_bytes"]),
            flight_size_bytes=_floats(rows["flight_size_bytes"]),
            cwnd_after_bytes=_floats(rows["cwnd_after_bytes"]),
        )

    def ppdus(self, queue: str | None = None) -> Ppdus:
        """Return the PPDUs with packets, of all queues or of one.

        Raises ValueError if there is no such queue.
        """
        rows = self.ppdu_table
        if queue is not None:
            rows = _rows(rows, "queue", self.queue_number(queue))
        return Ppdus(
            time_s=rows["time_ns"] / 1e9,
            queue=named(self.queue_names, rows["queue"]),
            receiver=named(self.node_names, rows["receiver"]),
            mpdus=rows["mpdus"],
            size_bytes=rows["bytes"],
            rate_bps=rows["rate_bps"],
            airtime_s=rows["airtime_ns"] / 1e9,
            failed=rows["failed"] > 0,
        )

    def goodput_bps(self) -> NDArray[np.float64]:
        """Return the goodput of all flows in every interval, one row per flow."""
        delivered = self.flow_table["delivered_bytes"].reshape(-1, max(1, len(self.flow_names)))
        return np.apply_along_axis(_rates, 0, delivered, self.interval_s).T


def named(names: Sequence[str], numbers: NDArray[np.int64]) -> NDArray[np.str_]:
    """Return the names for indices; -1 is the empty name."""
    return np.array([*names, ""], dtype=np.str_)[numbers]


def _columns(table: Mapping[str, bytes]) -> Table:
    return {name: np.frombuffer(column, dtype="<i8") for name, column in table.items()}


def _rows(table: Table, column: str, number: int) -> Table:
    wanted = table[column] == number
    return {name: values[wanted] for name, values in table.items()}


def _number(name: str, names: Sequence[str], noun: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        known = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise ValueError(f"the trace has no {noun} {name!r}, only {known}") from None


def _floats(column: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(column < 0, np.nan, column)


def _rates(delivered: NDArray[np.int64], interval_s: float) -> NDArray[np.float64]:
    return np.diff(delivered, prepend=0) * (8.0 / interval_s)
