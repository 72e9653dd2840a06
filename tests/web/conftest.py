"""A server that all tests of the page share, a browser, and the pages that are open in it."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.examples import directory

sys.path.insert(0, str(Path(__file__).parent))

from browsing import CHROMIUM, Page, packed
from serving import Web, ended, started

#: The default start of a page in tests: the start page's own example would occupy all processors
#: for many seconds.
LIGHT = packed({"example": "persistent-downloads"})
#: Axes of the shared server's store: eight points, three replications of two seconds.
AXES = {
    "stations.station.count": [1, 2, 5, 10],
    "phy.data_rate": ["2 Mb/s", "11 Mb/s"],
}


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a small sweep."""
    folder = tmp_path_factory.mktemp("sweeps") / "small"
    changes = {"run.duration": "2 s", "run.warmup": "1 s", "run.replications": 3}
    base = airtcp.load(str(directory() / "persistent-downloads.toml")).vary(changes)
    airtcp.sweep(base, AXES, to=folder)
    return folder


@pytest.fixture(scope="session")
def web(store: Path) -> Iterator[Web]:
    """A server that all tests share, with two runs at a time and a store."""
    with tempfile.TemporaryDirectory() as folder:
        server = started("--runs", "2", "--store", str(store), folder=Path(folder))
        yield server
        said = ended(server)
        assert "Traceback" not in said, said
        assert not list(Path(folder).glob("airtcp-web-*"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("chromium is not here (make setup-system installs it)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any, web: Web) -> Iterator[Any]:
    """Opens pages, and checks at the end for console errors and requests to other hosts."""
    pages: list[Page] = []

    def open_page(fragment: str = LIGHT, **options: Any) -> Page:
        pages.append(Page(browser, web.url + fragment, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        assert not page.complaints
        assert page.hosts == {web.url.split("/")[2]}
        page.context.close()
