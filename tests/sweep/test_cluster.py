"""A cluster of two processes gives the same rows as this process, even if a worker dies."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.scenario import Scenario
from airtcp.sweep import cluster
from airtcp.sweep.work import Chunk, Done, Work
from bases import refused

pytestmark = pytest.mark.slow

AXES: dict[str, Any] = {"run.seed": {"from": 1, "to": 80, "step": 1}, "run.duration": ["2 s"]}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    distributed = pytest.importorskip("distributed", reason="Dask is an optional extra")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=True
    ) as running:
        yield running.scheduler_address


def test_the_rows_are_the_same_to_the_last_bit(
    base: Scenario, tmp_path: Path, address: str
) -> None:
    here = airtcp.sweep(base, AXES, tmp_path / "here", threads=1)
    there = airtcp.sweep(base, AXES, tmp_path / "there", dask=address)

    assert there.table.equals(here.table)


def test_a_worker_that_is_killed_costs_its_chunk(
    base: Scenario, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, killed = cluster._made, tmp_path / "killed"

    # A nested function is sent by value: workers cannot import this module.
    def killed_once(work: Work, chunk: Chunk) -> Done:
        if not killed.exists():
            killed.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return made(work, chunk)

    monkeypatch.setattr(cluster, "_made", killed_once)
    found = airtcp.sweep(base, AXES, tmp_path / "store", replications=1, dask=address)

    assert int(killed.read_text()) != os.getpid()
    assert found.table["run.seed"].to_pylist() == list(range(1, 81))


def test_a_worker_with_another_airtcp_is_refused(
    base: Scenario, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Workers find their own function by name, so theirs is not changed.
    def init(self: Any, client: Any, address: str, probe: str) -> None:
        self._client, self._address, self._probe = client, address, probe
        self._checked, self._ours = set(), ("0.0.9", cluster._identity(probe)[1])

    monkeypatch.setattr(cluster.ClusterCrew, "__init__", init)
    with refused("sweep.cluster.other_version"):
        airtcp.sweep(base, AXES, tmp_path / "store", dask=address)

    assert not (tmp_path / "store").exists()


def test_a_scheduler_that_cannot_be_reached_is_said(
    base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE_S", 1.0)

    with refused("sweep.cluster.no_scheduler", address="tcp://127.0.0.1:9"):
        airtcp.sweep(base, AXES, tmp_path / "store", dask="tcp://127.0.0.1:9")

    assert not (tmp_path / "store").exists()
