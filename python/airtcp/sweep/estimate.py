"""What a sweep will take, measured on a few of its points.

Knows how points are drawn and how their times are put together. Writes nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airtcp.exceptions import SimulationError
from airtcp.results.table import Contents, TableFiles
from airtcp.run import HEADLINES
from airtcp.run.numbers import Numbers, metric_names
from airtcp.stats import FIRST_ROUND
from airtcp.sweep.points import Points, count_of
from airtcp.sweep.spec import Sweep

#: More runs than this are asked for on purpose, or by mistake.
MANY_RUNS: Final = 100_000
#: Points that are measured, and the time after which no further one is.
_MEASURED: Final = 12
_LONGEST_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a sweep has before it.

    `runs` of its `points` are wanted, of which `there` are in the store; with a precision they are
    the first round, and there may be more. `run_s` is the time of the core for a run, mean over the
    `measured` points; `cpu_s` is that of all that are missing, and `wall_s` on so many `workers`.
    """

    points: int
    runs: int
    there: int
    measured: int
    run_s: float
    cpu_s: float
    wall_s: float
    workers: int
    at_least: bool


def runs_of(sweep: Sweep) -> int:
    """How many runs a sweep is about; at least, where it has a precision."""
    often = sweep.often
    each = often.replications or min(FIRST_ROUND, often.most)
    return count_of(sweep) * each


def estimate(
    sweep: Sweep, points: Points, folder: Path, *, workers: int, on_run: Callable[[], None]
) -> Estimate:
    """Measure some points of a sweep, one replication each, and say what all of them take.

    `on_run` is called in front of each, and may raise. Raises SimulationError if none of them can
    be run, OutputError if the store cannot be read.
    """
    from airtcp import _core

    there = _there(sweep, points, folder)
    wanted = runs_of(sweep)
    draw = random.Random(1)
    numbers = draw.sample(range(len(points)), min(_MEASURED, len(points)))
    metrics = sweep.metrics or (*metric_names(), *HEADLINES)
    times = []
    failed: SimulationError | None = None
    begin = time.perf_counter()
    for number in numbers:
        on_run()
        start = time.perf_counter()
        try:
            Numbers(points.json(number), metrics).row(0, _core.RunControl())
        except SimulationError as error:
            failed = SimulationError(f"{points.told(number)}: {error}")
            continue
        times.append(time.perf_counter() - start)
        if time.perf_counter() - begin > _LONGEST_S:
            break
    if failed is not None and not times:
        raise failed
    # The first one also pays for what is imported.
    run_s = _mean(times[1:] or times)
    cpu_s = (wanted - there) * run_s
    at_least = sweep.often.precision is not None
    busy = max(1, min(workers, wanted - there))
    return Estimate(
        len(points), wanted, there, len(times), run_s, cpu_s, cpu_s / busy, workers, at_least
    )


def _there(sweep: Sweep, points: Points, folder: Path) -> int:
    contents = Contents.read(folder)
    if contents is None or not contents.rows:
        return 0
    rows = TableFiles(folder, contents).rows(("point", "replication"))
    mine = set(points.hashes())
    most = sweep.often.replications or sweep.often.most
    pairs = zip(rows["point"].to_pylist(), rows["replication"].to_pylist(), strict=True)
    return sum(point in mine and replication < most for point, replication in pairs)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
