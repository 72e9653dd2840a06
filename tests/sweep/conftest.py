"""What the tests of sweeps start from: a scenario of milliseconds."""

import sys
from pathlib import Path

import pytest
from airtcp.scenario import Scenario, loads

sys.path.insert(0, str(Path(__file__).parent))

TEXT = """
title = "Downloads"
[phy]
standard = "802.11b"
[ap]
queue = { discipline = "fifo", limit = 100 }
[[stations]]
name = "laptop"
count = 2
[[flows]]
stations = "laptop"
direction = "download"
application = { kind = "bulk" }
[run]
warmup = "0 s"
duration = "100 ms"
replications = 2
"""


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
