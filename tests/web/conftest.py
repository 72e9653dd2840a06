"""A server that all tests of the page share."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import airtcp
import pytest
from airtcp.examples import directory

sys.path.insert(0, str(Path(__file__).parent))

from serving import Web, ended, started

#: Of the store that the server shows: eight points, three replications of two seconds.
AXES = {
    "stations.station.count": [1, 2, 5, 10],
    "phy.data_rate": ["2 Mb/s", "11 Mb/s"],
}


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a sweep."""
    folder = tmp_path_factory.mktemp("sweeps") / "small"
    changes = {"run.duration": "2 s", "run.warmup": "1 s", "run.replications": 3}
    base = airtcp.load(str(directory() / "persistent-downloads.toml")).vary(changes)
    airtcp.sweep(base, AXES, to=folder)
    return folder


@pytest.fixture(scope="session")
def web(store: Path) -> Iterator[Web]:
    """A server that all tests share; two runs at a time, and a store."""
    with tempfile.TemporaryDirectory() as folder:
        server = started("--runs", "2", "--store", str(store), folder=Path(folder))
        yield server
        said = ended(server)
        assert "Traceback" not in said, said
        assert not list(Path(folder).glob("airtcp-web-*"))
