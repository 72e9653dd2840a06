"""Estimate the effort of a sweep by measuring a few of its points."""

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

#: A sweep with more runs needs `--yes`.
MANY_RUNS: Final = 100_000
#: The most points to measure, and the time after which no further point is started.
_MEASURED: Final = 12
_LONGEST_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """The effort that a sweep needs.

    `runs` runs of `points` points are wanted, of which `there` are already in the store. With a
    precision this is only the first round, and more may follow. `run_s` is the time of the core per
    run, averaged over the `measured` points. `cpu_s` is the time for all missing runs, and `wall_s`
    the same on `workers` workers.
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
    """Return the number of runs of a sweep; with a precision, the minimum."""
    often = sweep.often
    each = often.replications or min(FIRST_ROUND, often.most)
    return count_of(sweep) * each


def estimate(
    sweep: Sweep, points: Points, folder: Path, *, workers: int, on_run: Callable[[], None]
) -> Estimate:
    """Measure some points of a sweep, one replication each, and estimate the total effort.

    `on_run` is called before each run, and may raise. Raises SimulationError if none of them can
    run, OutputError if the store cannot be read.
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
    # The first measurement includes imports, so leave it out.
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
