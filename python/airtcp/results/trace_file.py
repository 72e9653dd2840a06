"""Traces as a file: one table, Parquet or CSV by its ending.

Knows the columns of the file (docs/traces.md) and how it is written; what the numbers mean is said
in `trace`. Replications follow one another in the order of their index, so that the same
scenario gives the same rows on any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from airtcp.exceptions import OutputError
from airtcp.files import aside
from airtcp.results.trace import Table, Trace

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

#: The endings of a trace file.
ENDINGS = (".parquet", ".csv")


def check_ending(path: Path) -> None:
    """Raise OutputError if a trace cannot be written under this name."""
    if path.suffix.lower() not in ENDINGS:
        allowed = " or ".join(ENDINGS)
        raise OutputError(f"{path}: the name of a trace must end in {allowed}")


@contextmanager
def trace_file(path: Path) -> Iterator[TraceFile]:
    """A file that takes traces; it is there as a whole when the block ends, or as it was.

    Raises OutputError if it cannot be written.
    """
    check_ending(path)
    with (
        aside(path) as beside,
        beside.open("wb") as bytes_,
        _writer(path.suffix.lower(), bytes_) as writer,
    ):
        file = TraceFile(writer)
        yield file
        file.finish()


class TraceFile:
    """Takes the traces of replications in any order and writes them in that of their index.

    That a disk is full is told at the end: whoever hands in traces has other things to finish.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._error: OSError | None = None
        self._waiting: dict[int, Trace] = {}
        self._next = 0

    def add(self, replication: int, trace: Trace) -> None:
        """Take the trace of a replication, and write those whose turn it is."""
        self._waiting[replication] = trace
        while self._next in self._waiting:
            self._write(self._next)
            self._next += 1

    def finish(self) -> None:
        """Write what is left, where replications before it are missing.

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
            self._writer.write_table(table(trace, replication))
        except OSError as error:
            self._error = error


def schema() -> pa.Schema:
    """The columns of a trace file."""
    import pyarrow as pa

    return pa.schema(
        [
            ("replication", pa.int32()),
            ("time_s", pa.float64()),
            ("record", pa.string()),
            ("flow", pa.string()),
            ("queue", pa.string()),
            ("event", pa.string()),
            ("goodput_bps", pa.float64()),
            ("delivered_bytes", pa.int64()),
            ("connections", pa.int32()),
            ("cwnd_bytes", pa.int64()),
            ("ssthresh_bytes", pa.int64()),
            ("flight_size_bytes", pa.int64()),
            ("srtt_s", pa.float64()),
            ("cwnd_after_bytes", pa.int64()),
            ("queue_packets", pa.int64()),
            ("receiver", pa.string()),
            ("mpdus", pa.int32()),
            ("bytes", pa.int64()),
            ("rate_bps", pa.int64()),
            ("airtime_s", pa.float64()),
            ("failed", pa.bool_()),
        ]
    )


def table(trace: Trace, replication: int) -> pa.Table:
    """A trace as rows of a file: samples of flows and queues, events, and PPDUs, by time."""
    import pyarrow as pa

    flows, queues, events = trace.flow_table, trace.queue_table, trace.event_table
    ppdus = trace.ppdu_table
    goodput = trace.goodput_bps().T.ravel()
    airtime = {"airtime_s": pa.array(ppdus["airtime_ns"] / 1e9)}
    parts = [
        _part(trace, replication, "flow", flows, {"goodput_bps": pa.array(goodput)}),
        _part(trace, replication, "queue", queues, {"queue_packets": pa.array(queues["packets"])}),
        _part(trace, replication, "event", events, {}),
        _part(trace, replication, "ppdu", ppdus, airtime),
    ]
    # At the same time samples come first: they tell the state before what happens.
    times = np.concatenate([rows["time_ns"] for rows in (flows, queues, events, ppdus)])
    return pa.concat_tables(parts).take(pa.array(np.argsort(times, kind="stable")))


def _part(
    trace: Trace, replication: int, record: str, rows: Table, more: dict[str, pa.Array]
) -> pa.Table:
    import pyarrow as pa

    count = len(rows["time_ns"])
    known = {
        "replication": pa.array(np.full(count, replication, dtype=np.int32)),
        "time_s": pa.array(rows["time_ns"] / 1e9),
        "record": pa.array([record]).take(pa.array(np.zeros(count, dtype=np.int64))),
        **more,
    }
    for column, names in (
        ("flow", trace.flow_names),
        ("queue", trace.queue_names),
        ("event", trace.event_names),
        ("receiver", trace.node_names),
    ):
        if column in rows:
            known[column] = pa.array(names, pa.string()).take(_integers(rows[column]))
    if "srtt_ns" in rows:
        known["srtt_s"] = pa.array(rows["srtt_ns"] / 1e9, mask=rows["srtt_ns"] < 0)
    columns = []
    for field in schema():
        if field.name in known:
            column = known[field.name]
        elif field.name in rows:
            column = _integers(rows[field.name])
        else:
            column = pa.nulls(count)
        columns.append(column.cast(field.type))
    return pa.table(columns, schema=schema())


def _integers(column: NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    return pa.array(column, mask=column < 0)


def _writer(ending: str, file: BinaryIO) -> Any:
    """A writer of tables, a context manager; CSV leaves empty what does not exist."""
    if ending == ".parquet":
        from pyarrow import parquet

        return parquet.ParquetWriter(file, schema(), compression="zstd")
    from pyarrow import csv

    return csv.CSVWriter(file, schema())
