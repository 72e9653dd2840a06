"""Shared fixtures of sweep tests: a scenario of milliseconds."""

import sys
from pathlib import Path

import pytest
from airtcp.scenario import Scenario, loads
from bases import cell

sys.path.insert(0, str(Path(__file__).parent))

TEXT = cell(
    2,
    title="Downloads",
    tables='[ap]\nqueue = { discipline = "fifo", limit = 100 }',
    warmup="0 s",
    duration="100 ms",
    replications=2,
)


@pytest.fixture
def base() -> Scenario:
    return loads(TEXT)


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    (tmp_path / "base.toml").write_text(TEXT)
    file = tmp_path / "sweep.toml"
    file.write_text(
        'scenario = "base.toml"\n'
        "[axes]\n"
        '"stations.laptop.count" = [1, 2, 3]\n'
        '"ap.queue.limit" = [10, 100]\n'
    )
    return file
