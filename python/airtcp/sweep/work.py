"""The messages between a sweep and its workers: plain values without slow imports."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airtcp.run.numbers import Recorded

#: The metrics of a run: float64, little-endian; NaN if a metric does not exist.
Row = bytes


@dataclass(frozen=True, slots=True)
class Often:
    """How often to run a point: `replications` times, or until `precision` is reached."""

    replications: int | None
    precision: float | None = None
    most: int = 1000
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class Work:
    """The data shared by all chunks of a sweep."""

    metrics: tuple[str, ...]
    often: Often
    #: Plug-ins by file name, as `airtcp.plugins.carried` returns them.
    plugins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """Runs of one point: its number, its resolved form (`pack`), and the replications to run.

    With a precision, `replications` is empty. Of the replications from 0 on, `there` have a row in
    the store, `have` holds the estimate data of the first of them, and `widths` the half widths by
    number of replications. Replications missing in `have` are run again, because a row does not
    contain this data.
    """

    number: int
    packed: bytes
    replications: tuple[int, ...] = ()
    there: int = 0
    have: tuple[Recorded, ...] = ()
    widths: Mapping[int, float] = field(default_factory=dict)


def pack(resolved: str) -> bytes:
    """Compress a resolved form: a sweep may hold a hundred thousand of them."""
    return zlib.compress(resolved.encode(), 1)


def unpack(packed: bytes) -> str:
    """Return the resolved form that `pack` has compressed."""
    return zlib.decompress(packed).decode()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Tasks for one worker. It starts no further run after `seconds`."""

    tasks: tuple[Task, ...]
    seconds: float


@dataclass(slots=True)
class Done:
    """The result of a chunk: (point, replication, seed, metrics) of each completed run.

    `widths` has the half widths by number of replications, for each point whose precision was
    checked. `left` holds the tasks for which there was no time, `failed` the reasons of points
    without a row. `finished` counts the completed tasks.
    """

    rows: list[tuple[int, int, int, Row]] = field(default_factory=list)
    widths: dict[int, dict[int, float]] = field(default_factory=dict)
    left: list[Task] = field(default_factory=list)
    failed: list[tuple[int, str]] = field(default_factory=list)
    finished: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
