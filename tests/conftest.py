"""What all tests share: how properties are tried, and how processes begin and end.

Properties are not timed, for a busy machine proves nothing wrong. Nor has BLAS a thread for each
processor: the tests themselves have them all, and threads that wait for each other made 400
equations take a hundred times as long as one does.
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

# Files that register what they have when they are loaded, which tests of plug-ins do.
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

# `nohup make test &` passes on that signals are ignored, to the children of tests too.
children.stay_deaf_alone()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow folders unread on the rungs that run none of their tests."""
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
    """What a test uses to start processes: all have ended when the test has, also if it fails."""
    with children.children() as mine:
        yield mine


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Lets SIGINT interrupt the process of the tests itself, in the background too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
