"""The workers of a sweep: on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from airtcp.sweep.workers import Crew, LocalCrew


@contextmanager
def crew_of(workers: int, dask: str | None) -> Iterator[Crew]:
    """Yield this many local workers, or those of a Dask cluster. Raises QuestionError."""
    if dask is None:
        yield LocalCrew(workers)
        return
    from airtcp.sweep.cluster import connected

    with connected(dask, workers) as crew:
        yield crew
