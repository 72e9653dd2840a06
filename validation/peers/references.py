"""Read rows that a peer has produced, from tests/reference and validation."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

VALIDATION = Path(__file__).parents[1]
REFERENCE = VALIDATION.parent / "tests" / "reference"


class Reference(NamedTuple):
    """A row of a peer: the mean and the half width of its 95 % interval over `runs` runs.

    The half width is NaN for a single figure.
    """

    mean: float
    half_width: float
    runs: int


class Point(NamedTuple):
    """A scenario of a peer: its group, and its parameters as the rows spell them."""

    group: str
    parameters: str

    @property
    def settings(self) -> dict[str, str]:
        """Return the parameters as a dictionary: `nc=5 W=1 d=1`."""
        return dict(re.findall(r"(\S+?)=(\S+)", self.parameters))


class Row(NamedTuple):
    """A row of a file."""

    point: Point
    metric: str
    reference: Reference


Rows = dict[Point, dict[str, Reference]]


def read(path: Path) -> list[Row]:
    """Read all rows of a file in order. A point can occur twice, with different numbers of runs."""
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
    """Return rows by point and metric; of duplicates, the one with more runs."""
    points: Rows = {}
    for point, metric, reference in sorted(rows, key=lambda row: row.reference.runs):
        points.setdefault(point, {})[metric] = reference
    return points
