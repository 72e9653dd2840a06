"""Shared setup: settings of property tests, and the start and end of processes.

Property tests have no deadline, because a busy machine would miss it. BLAS uses one thread: the
tests already occupy all processors, and threads that waited for each other made 400 equations take
a hundred times as long as one thread does.
"""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "validation" / "extremes"))
sys.path.append(str(Path(__file__).parents[1] / "validation"))

import children

# These files register plug-ins when they are loaded; tests of plug-ins load them.
collect_ignore = ["plugins"]

# Before anything imports NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

#: Folders whose tests all carry the marker `slow`: they need a browser, a server, namespaces,
#: captures, minutes of simulation, or run the commands of a page.
SLOW_FOLDERS = ("docs", "testbed", "web", "witness")
#: Fixtures that start processes, which makes a test slow: a process spends a second on imports.
SLOW_FIXTURES = frozenset({"namespace", "started"})

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# `nohup make test &` makes child processes inherit ignored signals, even those of tests.
children.stay_deaf_alone()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not collect slow folders if no slow tests run."""
    is_slow = (
        collection_path.name in SLOW_FOLDERS and collection_path.parent == Path(__file__).parent
    )
    return True if is_slow and "not slow" in config.option.markexpr else None


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    slow = tuple(f"tests/{name}/" for name in SLOW_FOLDERS)
    for item in items:
        if item.nodeid.startswith(slow) or SLOW_FIXTURES.intersection(item.fixturenames):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def started() -> Iterator[children.Children]:
    """Start processes for a test, which end with it even if it fails."""
    with children.children() as mine:
        yield mine


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt the test process itself, even in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
