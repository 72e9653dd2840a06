"""Compute rows of the reference tables from independent runs of a peer. Needs only Python.

Columns: group, parameters, metric, mean, half width of the 95 % interval, number of runs.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Sequence

# Student's t at 97.5 %, for 1 .. 30 degrees of freedom (any table).
STUDENT_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
#: Maximum number of runs in the table of quantiles.
MOST_RUNS = len(STUDENT_975) + 1


def print_rows(group: str, parameters: str, runs: Sequence[dict[str, float]]) -> None:
    """Print mean and half width of each metric; a single run has no half width."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for name in runs[0]:
        values = [run[name] for run in runs]
        mean = sum(values) / len(values)
        half = math.nan
        if len(values) > 1:
            variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
            half = STUDENT_975[len(values) - 2] * math.sqrt(variance / len(values))
        writer.writerow([group, parameters, name, f"{mean:.6g}", f"{half:.3g}", len(values)])
