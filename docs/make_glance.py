"""Make the table of docs/explanation/intervals.md: quick simulations against stored long runs.

    .venv/bin/python docs/make_glance.py

The CPU time of a quick simulation depends on the machine; it is printed, not stored.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from airtcp import glance
from airtcp.metrics import METRICS
from tables import markdown, remake

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).parent / "explanation" / "intervals.md"

sys.path.insert(0, str(ROOT / "validation"))
from accuracy import glances as beside  # noqa: E402

#: Minimum number of points of a summary.
_LEAST: Final = 5


@cache
def seen() -> tuple[beside.Point, ...]:
    """Return all points, with one quick simulation of each scenario."""
    return tuple(beside.points())


def glances() -> str:
    """Return per metric the number, the coverage, and the width of intervals."""
    head = ["metric", "scenarios", "without an interval", "judged", "hold", "half width", "error"]
    rows = []
    for metric in beside.METRICS:
        points = [point for point in seen() if point.metric == metric]
        told = [point for point in points if point.seen.half_width is not None]
        judged = [point for point in told if point.is_judged]
        widths = [width for one in told if (width := one.seen.relative_half_width) is not None]
        means = [(one.seen.mean, one.mean) for one in told if one.seen.mean is not None]
        errors = [abs(seen / mean - 1.0) for seen, mean in means if mean]
        rows.append(
            [
                METRICS[metric].label,
                str(len(points)),
                str(len(points) - len(told)),
                str(len(judged)),
                _percent(sum(point.holds for point in judged) / len(judged)) if judged else "–",
                _median(widths),
                _median(errors),
            ]
        )
    return markdown(head, rows)


def processor_ms() -> list[float]:
    """Measure the CPU time of each quick simulation, after one that imports modules."""
    scenarios = list(beside.scenarios().values())
    glance(scenarios[0])
    found = []
    for scenario in scenarios:
        begun = time.process_time()
        _ = glance(scenario).metrics
        found.append(1e3 * (time.process_time() - begun))
    return found


def _median(values: Sequence[float]) -> str:
    return "–" if len(values) < _LEAST else _percent(statistics.median(values))


def _percent(part: float) -> str:
    return f"{100 * part:.3g} %"


TABLES = {"glances": glances}

if __name__ == "__main__":
    remake(PAGE, TABLES)
    times = processor_ms()
    print(f"processor time: median {statistics.median(times):.0f} ms, most {max(times):.0f} ms")
