"""What goes to workers and comes back: plain values, and nothing that takes time to import.

Knows how points, runs and rows are written. Does not know scenarios, nor the simulator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: What the holes of a template are filled with: JSON texts.
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


@dataclass(frozen=True, slots=True)
class Task:
    """Runs of one point: its number, what fills the template, and which replications.

    Where a precision is wanted, `replications` are none, and `have` holds the rows of those that
    there are, from 0 on.
    """

    number: int
    filling: Filling
    replications: tuple[int, ...] = ()
    have: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Tasks for one worker, which stops taking up runs after `seconds`."""

    tasks: tuple[Task, ...]
    seconds: float


@dataclass(slots=True)
class Done:
    """What has become of a chunk: (point, replication, seed, metrics) of each run that ended.

    `left` is what there was no time for, `failed` says of points why they have no row, `finished`
    counts the tasks that nothing is left of.
    """

    rows: list[tuple[int, int, int, Row]] = field(default_factory=list)
    left: list[Task] = field(default_factory=list)
    failed: list[tuple[int, str]] = field(default_factory=list)
    finished: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
