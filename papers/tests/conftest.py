"""Setup that the tests of the papers share with those of airtcp: folders, properties, a server.

`tests/conftest.py` is the other one; this one makes its modules importable.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.extend(str(Path(__file__).parent / name) for name in ("", "predict"))
sys.path.extend(
    str(Path(__file__).parents[2] / name)
    for name in (
        "tests",
        "tests/models",
        "tests/web",
        "tests/witness",
        "tests/reference",
        "validation",
        "docs",
    )
)

from serving import Web, ended, started

# Before anything imports NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

#: Folders whose tests all carry the marker `slow`: minutes of simulation, documents.
SLOW_FOLDERS = ("pages", "witness")

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not collect slow folders if no slow tests run."""
    is_slow = (
        collection_path.name in SLOW_FOLDERS and collection_path.parent == Path(__file__).parent
    )
    return True if is_slow and "not slow" in config.option.markexpr else None


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    slow = tuple(f"papers/tests/{name}/" for name in SLOW_FOLDERS)
    for item in items:
        if item.nodeid.startswith(slow):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def web() -> Iterator[Web]:
    """A server of the web page."""
    with tempfile.TemporaryDirectory() as folder:
        server = started("--runs", "2", folder=Path(folder))
        yield server
        said = ended(server)
        assert "Traceback" not in said, said
