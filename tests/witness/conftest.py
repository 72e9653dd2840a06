"""Makes shared modules, the slow DCF, and the points of other simulators importable."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "reference", HERE.parents[1] / "validation"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@pytest.fixture(scope="session")
def air(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, dict[str, Any]]]:
    """Return the capture of a scenario of `captures.SCENARIOS`, and the answer of its run.

    Each capture has whole frames and is made only once.
    """
    from captures import SCENARIOS, capture

    @cache
    def captured(name: str) -> tuple[Path, dict[str, Any]]:
        path = tmp_path_factory.mktemp("air") / "air.pcap"
        return path, capture(SCENARIOS[name], path, snaplen=65_535)

    return captured
