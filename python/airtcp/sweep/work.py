"""What goes to workers and comes back: plain values, and nothing that takes time to import.

Knows how points, runs and rows are written. Does not know scenarios, nor the simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airtcp.run.numbers import Booked

#: The fillings of the holes of a template: JSON texts.
Filling = tuple[str, ...]
#: The metrics of a run: float64, little-endian; NaN where one does not exist.
Row = bytes


@dataclass(frozen=True, slots=True)
class Template:
    """The resolved form as JSON with holes in it: `parts` is one longer than a filling."""

    parts: tuple[str, ...]

    def filled(self, filling: Filling) -> str:
        """The resolved form of a point, canonical JSON."""
        pieces = [self.parts[0]]
        for hole, part in zip(filling, self.parts[1:], strict=True):
            pieces += (hole, part)
        return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Often:
    """How often a point is run: `replications`, or until `precision` is reached."""

    replications: int | None
    precision: float | None = None
    most: int = 1000
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class Work:
    """What all chunks of a sweep share."""

    template: Template
    metrics: tuple[str, ...]
    often: Often
    #: Plug-ins by the names of their files, as `airtcp.plugins.carried` tells them.
    plugins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """Runs of one point: its number, what fills the template, and which replications.

    Where a precision is wanted, `replications` are none. Of those from 0 on `there` have a row in
    the store, `have` are what estimates need of the first of them, and `widths` how wide intervals
    of so many are. What is not in `have` is run again, for a row does not tell it.
    """

    number: int
    filling: Filling
    replications: tuple[int, ...] = ()
    there: int = 0
    have: tuple[Booked, ...] = ()
    widths: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Tasks for one worker, which stops taking up runs after `seconds`."""

    tasks: tuple[Task, ...]
    seconds: float


@dataclass(slots=True)
class Done:
    """What has become of a chunk: (point, replication, seed, metrics) of each run that ended.

    `widths` has of each point whose precision was looked at how wide intervals are, by numbers of
    replications. `left` is what there was no time for, `failed` says of points why they have no
    row, `finished` counts the tasks that nothing is left of.
    """

    rows: list[tuple[int, int, int, Row]] = field(default_factory=list)
    widths: dict[int, dict[int, float]] = field(default_factory=dict)
    left: list[Task] = field(default_factory=list)
    failed: list[tuple[int, str]] = field(default_factory=list)
    finished: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
