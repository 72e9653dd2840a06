"""Run grids of scenarios into one table for queries.

    axes, spec          what varies, and sweep files
    points              every combination, each with its resolved form
    chunk               run some points until the time is up
    workers, cluster    workers on this machine, and on a cluster
    execute             run what is missing, in chunks, into the store

Workers run on this machine or on a Dask cluster. `airtcp.results` has the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airtcp.phrases import phrase

if TYPE_CHECKING:
    from airtcp.results.query import Results
    from airtcp.scenario import Scenario
    from airtcp.sweep.execute import Progress

__all__ = ["sweep"]


def sweep(
    base: Scenario | str | Path,
    axes: Mapping[str, Any],
    to: str | Path,
    *,
    replications: int | None = None,
    precision: str | float | None = None,
    max_replications: int | None = None,
    metrics: Sequence[str] | None = None,
    threads: int | None = None,
    dask: str | None = None,
    progress: bool | Callable[[Progress], None] = False,
) -> Results:
    """Run every combination of the steps of `axes`, and return the table of results.

    Runs that are already in the store are not repeated: you can add steps, axes and replications,
    or repeat an interrupted call to resume it.

    Args:
        base: the scenario to vary, or any argument of `airtcp.load`.
        axes: what varies, as in a sweep file: `{"stations.laptop.count": [1, 2]}`.
        to: the directory of the store.
        replications: runs of each point; without it and `precision`, the scenario decides.
        precision: instead, run until the intervals of each point are this narrow ("2 %").
        max_replications: the most replications for the precision.
        metrics: the metrics to keep; all by default.
        threads: processors to use at a time; does not change any number.
        dask: the address of a Dask scheduler, or "local" (docs/howto/sweeps.md).
        progress: whether to show a progress bar, or a function to call with the progress.

    Raises:
        ScenarioError: an axis names no key, is empty, or makes an invalid scenario.
        OutputError: the store cannot be written, is of another version, or the directory has other
            files.
        QuestionError: the cluster cannot be reached, or has another airtcp.
        SimulationError: some points have no result; all others are in the store.
        KeyboardInterrupt: completed runs are in the store.

    With the `cafe` of `airtcp.load`:

    >>> store = airtcp.sweep(cafe, {"stations.laptop.count": [1, 2]}, to="store")
    >>> store.sql("SELECT count(*) AS rows FROM results").to_pylist()
    [{'rows': 6}]
    """
    from airtcp.exceptions import SimulationError
    from airtcp.results.query import open as opened
    from airtcp.results.table import check_own
    from airtcp.run.processors import processors
    from airtcp.scenario import as_scenario
    from airtcp.sweep.bar import shown
    from airtcp.sweep.execute import execute
    from airtcp.sweep.spec import sweep_of
    from airtcp.sweep.workers import crew_of

    wanted = sweep_of(
        as_scenario(base),
        axes,
        replications=replications,
        precision=precision,
        max_replications=max_replications,
        metrics=metrics,
    )
    if threads is not None and threads < 1:
        raise ValueError(phrase("sweep.points.threads", threads=threads))
    check_own(Path(to))
    with crew_of(threads or processors(), dask) as crew, shown(progress) as report:
        outcome = execute(wanted, Path(to), crew=crew, progress=report)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failed:
        point, why = next(iter(outcome.failed.items()))
        raise SimulationError(
            phrase("sweep.points.failed", failed=len(outcome.failed), point=point, why=why)
        )
    return opened(to)
