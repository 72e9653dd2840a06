"""A server that all tests of the page share."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from serving import Web, ended, started


@pytest.fixture(scope="session")
def web() -> Iterator[Web]:
    """A server that all tests share; two runs at a time."""
    with tempfile.TemporaryDirectory() as folder:
        server = started("--runs", "2", folder=Path(folder))
        yield server
        said = ended(server)
        assert "Traceback" not in said, said
        assert not list(Path(folder).glob("airtcp-web-*"))
