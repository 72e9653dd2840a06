"""Grids of scenarios into one table that can be asked: what varies, who runs it, what is kept.

    axes, spec          what varies, and sweep files
    points              every combination, each with its resolved form
    chunk               runs of some points, and what is left when the time is over
    workers, cluster    who makes them: here, and on a cluster
    execute             what is missing, in chunks, into the store

Knows scenarios, the simulator and tables of results. Does not know terminals or pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    """Run every combination of the steps of `axes`, and give the table of results.

    What is in the store already is not run again: more steps, more axes and more replications go on
    with it, and so does the same call after it was interrupted.

    Args:
        base: the scenario that is varied, or what `airtcp.load` takes.
        axes: what varies, as in a sweep file (sweeps.md): `{"stations.laptop.count": [1, 2]}`.
        to: the directory of the store.
        replications: runs of each point; without it and `precision`, as the scenario says.
        precision: instead, go on until the intervals of each point are this narrow ("2 %").
        max_replications: give up the precision after so many.
        metrics: the metrics to keep; all, if left out.
        threads: processors to use at a time; it changes no number.
        dask: the address of a Dask scheduler, or "local" (docs/guide/cluster.md).
        progress: whether to show a bar, or what to call with how far it is.

    Raises:
        ScenarioError: an axis names no key, is empty, or makes a point that is no scenario.
        OutputError: the store cannot be written, is of another version, or the directory has files
            of others.
        QuestionError: the cluster cannot be reached, or has another airtcp.
        SimulationError: some points have no result; all others are in the store.
        KeyboardInterrupt: what had ended before is in the store.

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
    from airtcp.sweep.crews import crew_of
    from airtcp.sweep.execute import execute
    from airtcp.sweep.spec import sweep_of

    wanted = sweep_of(
        as_scenario(base),
        axes,
        replications=replications,
        precision=precision,
        max_replications=max_replications,
        metrics=metrics,
    )
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    check_own(Path(to))
    with crew_of(threads or processors(), dask) as crew, shown(progress) as report:
        outcome = execute(wanted, Path(to), crew=crew, progress=report)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failed:
        point, why = next(iter(outcome.failed.items()))
        raise SimulationError(
            f"{len(outcome.failed)} points have no result, such as {point}: {why}"
        )
    return opened(to)
