"""The workers of a sweep: those of this machine, or of a cluster. Knows which are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from airtcp.sweep.workers import Crew, LocalCrew


@contextmanager
def crew_of(workers: int, dask: str | None) -> Iterator[Crew]:
    """So many workers here, or those of a Dask cluster. Raises QuestionError."""
    if dask is None:
        yield LocalCrew(workers)
        return
    from airtcp.sweep.cluster import connected

    with connected(dask, workers) as crew:
        yield crew
