"""Traces as a file: one table, Parquet or CSV depending on the file name.

`trace` defines the values. Replications follow each other in the order of their index, so that the
same scenario gives the same rows on any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from airtcp.files import aside
from airtcp.results.columns import (
    Column,
    Columns,
    CsvWriter,
    Kinds,
    ParquetWriter,
    check_ending,
    writer,
)
from airtcp.results.trace import Table, Trace


@contextmanager
def trace_file(path: Path) -> Iterator[TraceFile]:
    """Yield a file for traces. It ends up either complete or unchanged.

    Raises OutputError if it cannot be written.
    """
    check_ending(path, "a trace")
    with (
        aside(path) as beside,
        beside.open("wb") as bytes_,
        writer(path.suffix, bytes_, kinds()) as rows,
    ):
        file = TraceFile(rows)
        yield file
        file.finish()


class TraceFile:
    """Takes the traces of replications in any order and writes them in the order of their index.

    A full disk is only reported at the end, because callers have other work to finish.
    """

    def __init__(self, rows: CsvWriter | ParquetWriter) -> None:
        self._writer = rows
        self._error: OSError | None = None
        self._waiting: dict[int, Trace] = {}
        self._next = 0

    def add(self, replication: int, trace: Trace) -> None:
        """Take the trace of a replication, and write all that are next in order."""
        self._waiting[replication] = trace
        while self._next in self._waiting:
            self._write(self._next)
            self._next += 1

    def finish(self) -> None:
        """Write the remaining traces if replications before them are missing.

        Raises OSError if anything could not be written.
        """
        for replication in sorted(self._waiting):
            self._write(replication)
        if self._error is not None:
            raise self._error

    def _write(self, replication: int) -> None:
        trace = self._waiting.pop(replication)
        if self._error is not None:
            return
        try:
            self._writer.write(table(trace, replication))
        except OSError as error:
            self._error = error


def kinds() -> Kinds:
    """Return the columns of a trace file, with their types."""
    return {
        "replication": "int32",
        "time_s": "double",
        "record": "string",
        "flow": "string",
        "queue": "string",
        "event": "string",
        "goodput_bps": "double",
        "delivered_bytes": "int64",
        "connections": "int32",
        "cwnd_bytes": "int64",
        "ssthresh_bytes": "int64",
        "flight_size_bytes": "int64",
        "srtt_s": "double",
        "cwnd_after_bytes": "int64",
        "queue_packets": "int64",
        "receiver": "string",
        "mpdus": "int32",
        "bytes": "int64",
        "rate_bps": "int64",
        "airtime_s": "double",
        "failed": "bool",
    }


def table(trace: Trace, replication: int) -> Columns:
    """Return a trace as rows of a file: samples of flows and queues, events, and PPDUs, by time."""
    flows, queues, events = trace.flow_table, trace.queue_table, trace.event_table
    ppdus = trace.ppdu_table
    goodput = Column(trace.goodput_bps().T.ravel())
    parts = [
        _part(trace, replication, "flow", flows, {"goodput_bps": goodput}),
        _part(trace, replication, "queue", queues, {"queue_packets": Column(queues["packets"])}),
        _part(trace, replication, "event", events, {}),
        _part(trace, replication, "ppdu", ppdus, {"airtime_s": Column(ppdus["airtime_ns"] / 1e9)}),
    ]
    # At equal times, samples come first: they show the state before the event.
    times = np.concatenate([rows["time_ns"] for rows in (flows, queues, events, ppdus)])
    order = np.argsort(times, kind="stable")
    return {name: Column.joined([part[name] for part in parts]).take(order) for name in kinds()}


def _part(
    trace: Trace, replication: int, record: str, rows: Table, more: dict[str, Column]
) -> Columns:
    count = len(rows["time_ns"])
    known = {
        "replication": Column(np.full(count, replication, dtype=np.int32)),
        "time_s": Column(rows["time_ns"] / 1e9),
        "record": Column.named([record], np.zeros(count, dtype=np.int64)),
        **more,
    }
    for column, names in (
        ("flow", trace.flow_names),
        ("queue", trace.queue_names),
        ("event", trace.event_names),
        ("receiver", trace.node_names),
    ):
        if column in rows:
            known[column] = Column.named(names, rows[column])
    if "srtt_ns" in rows:
        known["srtt_s"] = Column(rows["srtt_ns"] / 1e9, rows["srtt_ns"] < 0)
    for name, kind in kinds().items():
        if name not in known:
            known[name] = Column.natural(rows[name]) if name in rows else Column.absent(count, kind)
    return known
