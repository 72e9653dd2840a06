"""Shared by tests of the testbed: its scenario, and whether this machine can run one."""

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from airtcp.exceptions import QuestionError
from airtcp.scenario import Scenario, loads
from airtcp.testbed.network import Network, check_machine
from airtcp.testbed.programs import Iperf
from airtcp.testbed.site import site_of
from airtcp.testbed.transfers import Ftp, Http
from bases import cell

TEXT = """
title = "Downloads beside an upload"
phy = { standard = "802.11b" }
ap = { queue = { discipline = "fifo", limit = 100 } }
stations = [{ name = "laptop", count = 2 }, { name = "sensor", count = 1 }]
run = { warmup = "500 ms", duration = "2 s", replications = 3 }
[[flows]]
name = "download"
stations = "laptop"
direction = "download"
application = { kind = "bulk" }
tcp = { preset = "linux", congestion = "reno" }
[[flows]]
name = "upload"
stations = "sensor"
direction = "upload"
application = { kind = "bulk" }
"""


@pytest.fixture(scope="session")
def text() -> str:
    return TEXT


@pytest.fixture(scope="session")
def scenario() -> Scenario:
    return loads(TEXT)


@pytest.fixture(scope="session")
def web() -> Scenario:
    return loads(WEB)


@pytest.fixture(scope="session")
def ftp() -> Scenario:
    return loads(FTP)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(TEXT)
    return path


WEB = cell(
    2,
    title="Web users",
    flow='name = "web"\ntcp = { preset = "linux" }',
    application='{ kind = "web", size = "20 kB", think_time = "100 ms", request = "300 B" }',
    warmup="500 ms",
    duration="4 s",
    replications=1,
)
FTP = cell(
    title="Users of FTP",
    name="client",
    flow='name = "file"\ntcp = { preset = "linux", receive_window = "8760 B" }',
    application='{ kind = "ftp", interarrival = { distribution = "exponential", mean = "200 ms" }, '
    'size = { distribution = "exponential", mean = "20 kB" }, control = true }',
    warmup="3 s",
    duration="5 s",
    replications=1,
)


@cache
def missing() -> str | None:
    """Return why this machine cannot run a testbed, or None."""
    try:
        packages = Iperf.packages | Http.packages | Ftp.packages
        check_machine(packages)
        site = site_of(loads(TEXT), name="test")
        with Network(site.nodes):
            return None
    except QuestionError as error:
        return str(error)


@pytest.fixture(scope="session")
def machine() -> None:
    """Skip tests that need network namespaces if the machine has none."""
    why = missing()
    if why is not None:
        pytest.skip(why)


@pytest.fixture(scope="session")
def left() -> Callable[[str, float], list[str]]:
    """Return the processes of any namespace with a mark in their environment.

    Wait some seconds at most for them to end.
    """

    def after_a_while(mark: str, most_s: float) -> list[str]:
        deadline = time.monotonic() + most_s
        while (found := _marked(mark)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    return after_a_while


def _marked(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found
