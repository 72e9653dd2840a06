"""Rows that a peer has made.

tests/reference holds what others made, validation more.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

VALIDATION = Path(__file__).parents[1]
REFERENCE = VALIDATION.parent / "tests" / "reference"


class Reference(NamedTuple):
    """One row of a peer: the mean and the half width of its 95 % interval over `runs` runs.

    The half width is NaN where a single figure was given.
    """

    mean: float
    half_width: float
    runs: int


class Point(NamedTuple):
    """One scenario of a peer: its group, and its parameters as the rows spell them."""

    group: str
    parameters: str

    @property
    def settings(self) -> dict[str, str]:
        """`nc=5 W=1 d=1` as a dictionary."""
        return dict(re.findall(r"(\S+?)=(\S+)", self.parameters))


class Row(NamedTuple):
    """A row as it stands in a file."""

    point: Point
    metric: str
    reference: Reference


Rows = dict[Point, dict[str, Reference]]


def read(path: Path) -> list[Row]:
    """All rows of a file in their order. A point can be there twice, from fewer or more runs."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                Point(row["group"], row["parameters"]),
                row["metric"],
                Reference(
                    float(row["mean"]), float(row["ci95_half_width"] or "nan"), int(row["runs"])
                ),
            )
            for row in csv.DictReader(file)
        ]


def by_point(rows: Iterable[Row]) -> Rows:
    """Rows by point and by metric; of two for the same, the one of more runs."""
    points: Rows = {}
    for point, metric, reference in sorted(rows, key=lambda row: row.reference.runs):
        points.setdefault(point, {})[metric] = reference
    return points
