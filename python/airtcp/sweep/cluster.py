"""Workers on a Dask cluster.

A chunk is a task. If its worker dies, Dask reassigns it; results that have arrived are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from airtcp.exceptions import QuestionError, one_line
from airtcp.extras import needed
from airtcp.phrases import phrase
from airtcp.sweep.work import Chunk, Done, Work
from airtcp.sweep.workers import Crew, Ended, Lost, Worker

#: Dask's classes have few type annotations.
_Client = Any
_Future = Any

#: The longest time to wait for a scheduler, and for its first worker.
_PATIENCE_S: Final = 20.0
#: Chunks submitted per thread of the cluster: one being run, one queued.
_EACH: Final = 2
#: A scenario of two stations and 0.1 s. Workers with equal results have the same core.
_PROBE: Final = """
[phy]
standard = "802.11b"
[[stations]]
name = "a"
count = 2
[[flows]]
stations = "a"
direction = "download"
application = { kind = "bulk" }
[run]
warmup = "0 s"
duration = "100 ms"
replications = 1
"""


@contextmanager
def connected(address: str, processes: int) -> Iterator[ClusterCrew]:
    """Yield the workers of the scheduler at `address`; "local" starts `processes` workers here.

    Raises QuestionError if there is no Dask, scheduler or worker, or a worker has another version
    of airtcp.
    """
    distributed = needed("distributed", "cluster", "--dask")
    if address == "local":
        with (
            distributed.LocalCluster(
                n_workers=processes, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield _checked(client, address)
        return
    try:
        client = distributed.Client(address, timeout=_PATIENCE_S)
    except (OSError, ValueError) as error:
        raise QuestionError(
            phrase("sweep.cluster.no_scheduler", address=address, error=one_line(str(error)))
        ) from error
    with client:
        yield _checked(client, address)


def _checked(client: _Client, address: str) -> ClusterCrew:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_S)
    except TimeoutError as error:
        raise QuestionError(phrase("sweep.cluster.no_workers", address=address)) from error
    from airtcp.scenario import loads

    crew = ClusterCrew(client, address, loads(_PROBE).to_json())
    crew.check()
    return crew


class ClusterCrew(Crew):
    """The workers of a cluster. Workers that join later are checked and used too."""

    def __init__(self, client: _Client, address: str, probe: str) -> None:
        self._client, self._address, self._probe = client, address, probe
        self._checked: set[str] = set()
        self._ours = _identity(probe)

    @property
    def threads(self) -> int:
        """The number of chunks that the cluster runs at a time."""
        return sum(self._client.nthreads().values())

    def check(self) -> None:
        """Check that all workers have the same airtcp. Raises QuestionError."""
        there = set(self._client.nthreads())
        new = sorted(there - self._checked)
        if not new:
            return
        try:
            found: Mapping[str, Any] = self._client.run(
                _identity, self._probe, workers=new, on_error="return"
            )
        except OSError:
            # A worker has left in the meantime; check again next time.
            return
        for worker, identity in found.items():
            if identity != self._ours:
                raise QuestionError(
                    phrase(
                        "sweep.cluster.other_version",
                        address=self._address,
                        worker=worker,
                        identity=_told(identity),
                        ours=_told(self._ours),
                    )
                )
            self._checked.add(worker)

    def more(self, hired: int, work: Work, ended: Ended) -> list[Worker]:
        """Return a place for each further chunk that the cluster can hold."""
        self.check()
        return [
            _Place(self._client, work, ended) for _ in range(_EACH * max(1, self.threads) - hired)
        ]


class _Place(Worker):
    """Holds one task at a time, wherever Dask runs it."""

    # Dask queues the other chunks.
    places = 1

    def __init__(self, client: _Client, work: Work, ended: Ended) -> None:
        self._client, self._work, self._ended = client, work, ended
        self._task: _Future = None

    def submit(self, chunk: Chunk) -> None:
        """Submit a chunk."""
        self._task = self._client.submit(_made, self._work, chunk, pure=False)
        self._task.add_done_callback(self._end)

    def stop(self) -> None:
        """Stop at once; the chunk under way is lost."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _end(self, task: _Future) -> None:
        if task is not self._task:
            return
        self._task = None
        if task.status == "finished":
            self._ended.put((self, task.result()))
            return
        from distributed import KilledWorker

        error = task.exception() if task.status == "error" else None
        if error is None or isinstance(error, KilledWorker):
            self._ended.put((self, Lost(phrase("sweep.cluster.died", error=error))))
        else:
            self._ended.put((self, error))


def _made(work: Work, chunk: Chunk) -> Done:
    """Run a chunk on the worker."""
    from airtcp import _core
    from airtcp.sweep.chunk import run_chunk

    return run_chunk(work, chunk, _core.RunControl())


def _identity(probe: str) -> tuple[str, str]:
    """Return the version of airtcp, and a digest of its core's result for a scenario."""
    from airtcp import _core
    from airtcp._version import __version__

    answer, times, _ = _core.Simulation(probe).run(1, 0, _core.RunControl())
    return __version__, hashlib.sha256(answer.encode() + times).hexdigest()[:12]


def _told(identity: Any) -> str:
    if isinstance(identity, tuple | list):
        version, answer = identity
        return f"airtcp {version} (answer {answer})"
    return f"no airtcp that works ({type(identity).__name__}: {one_line(str(identity))})"
