"""Output of real iperf3 versions is imported: the installed one, and Debian's newer ones."""

import json
import shutil
import socket
import subprocess
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from airtcp.importer.files import measurement_of
from debian import fetch_program
from imported import scenario_of, written

pytestmark = [pytest.mark.verify, pytest.mark.timeout(1800)]

#: Options of iperf3, and the keys that they give a flow or another table.
REAL: dict[str, tuple[list[str], dict[str, Any]]] = {
    "rate": (["-b", "20M"], {"application.rate": "20000000 b/s"}),
    "streams": (["-P", "3"], {"connections": 3}),
    "reverse": (["-R"], {"direction": "download"}),
    "mark": (["-S", "0x20"], {"mac.classify.tcp_data": "AC_BK"}),
    "mss": (["-M", "1000"], {"tcp.mss": "988 B"}),
    "window": (["-w", "64K"], {"tcp.receive_window": "65536 B"}),
    "reno": (["-C", "reno"], {"tcp.congestion": "reno"}),
    "udp": (["-u", "-b", "5M", "-l", "1000"], {"application.rate": "5140000 b/s"}),
    "udp streams": (["-u", "-b", "2M", "-l", "1000", "-P", "2"],
     {"application.rate": "4112000 b/s"}),
    "bytes": (["-n", "64M", "-R"], {"application.size": "67108864 B"}),
    "omit": (["-O", "1"], {"run.warmup": "1 s"}),
    "both": (["--bidir"], {"direction": "both"}),
    "server's output": (["--get-server-output"], {"application.kind": "bulk"}),
}  # fmt: skip
#: Options that the JSON reports since a version.
SINCE: dict[str, tuple[tuple[int, int], list[str], dict[str, Any]]] = {
    "pacing": ((3, 18), ["--fq-rate", "20M"], {"application.rate": "20000000 b/s"}),
    "stream": ((3, 18), ["--json-stream", "-R"], {"direction": "download"}),
}


@pytest.fixture(scope="module", params=["installed", "trixie", "sid"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of one version of iperf3."""
    if request.param == "installed":
        found = shutil.which("iperf3")
        return [found] if found else pytest.skip("iperf3 is missing")
    packages = ["iperf3", "libiperf0", "libc6", "libssl3t64", "libsctp1", "zlib1g", "libzstd1"]
    directory = tmp_path_factory.mktemp("iperf3")
    return fetch_program(directory, request.param, "usr/bin/iperf3", *packages)


def printed(program: list[str], options: list[str]) -> str:
    """Return what a client prints after a test against a server of the same version."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    server = subprocess.Popen([*program, "-s", "-1", "-p", port], stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        client = [*program, "-c", "127.0.0.1", "-p", port, *options]
        client += [] if "--json-stream" in options else ["-J"]
        client += [] if "-n" in options else ["-t", "1"]
        return subprocess.run(
            client, capture_output=True, text=True, timeout=20, check=False
        ).stdout
    finally:
        server.kill()
        server.wait()


def check(directory: Path, text: str, wanted: dict[str, Any]) -> None:
    """Import what was printed, and compare keys of the scenario or of its flow."""
    path = written(directory, text)

    said = scenario_of([path])

    assert "unknown to iperf3" not in said
    found = tomllib.loads(said)
    for name, value in wanted.items():
        table: Any = found if name.split(".")[0] in found else found["flows"][0]
        for key in name.split("."):
            table = table[key]
        assert table == value, name
    assert measurement_of(path).values


@pytest.mark.parametrize("name", REAL)
def test_options_of_a_real_iperf3_are_followed(
    tmp_path: Path, program: list[str], name: str
) -> None:
    options, wanted = REAL[name]
    check(tmp_path, printed(program, options), wanted)


@pytest.mark.parametrize("name", SINCE)
def test_options_that_newer_versions_print_are_followed(
    tmp_path: Path, program: list[str], name: str
) -> None:
    since, options, wanted = SINCE[name]
    about = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True)
    version = tuple(map(int, about.stdout.split()[1].split(".")[:2]))
    if version < since:
        pytest.skip(f"iperf3 {version[0]}.{version[1]} does not print it")
    check(tmp_path, printed(program, options), wanted)


def test_the_keys_of_every_version_are_known(tmp_path: Path, program: list[str]) -> None:
    """`airtcp import` reports unknown keys, and there are none."""
    text = printed(program, [])

    assert json.loads(text)["start"]["version"].startswith("iperf 3.")
    assert "unknown" not in scenario_of([written(tmp_path, text)])
